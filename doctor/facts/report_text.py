"""What the readers of a pasted text share: the text with its line numbers, and the sightings of values, the strongest of which wins.

Contract: every reader takes a `Text` and tells `Sightings`; it never raises and takes time linear in the text.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field

from doctor.record import dataclass
from doctor.regex import regex
from doctor.text import docker_message

LINE_CAP = 8192
"""Characters of a line that are looked at: longer than any LD_LIBRARY_PATH or docker command that people paste."""

TEXT_CAP = 8_000_000
"""Characters that are looked at in all."""

HITS_CAP = 4000
"""Occurrences of one literal that are looked at: a log repeats itself."""

VERSION = (
    r"\d{1,9}(?:\.\d{1,9}){1,3}(?:[._-]?(?:rc|post|dev|alpha|beta|spc)\.?\d{1,12}|\.[bt]\d{1,6}){0,3}(?:\.\d{1,6}){0,2}(?:\+[a-z0-9]{1,40}(?:\.[a-z0-9]{1,40}){0,3})?"
)
"""A version of any of the products, in lower case: 0.9.1rc2, 8.0.rc3.alpha003, 24.1.rc3.b999, 2.5.1.post1.dev20250528, 0.11.1+empty."""

_FIRST_VERSION = regex(VERSION, re.IGNORECASE)
_QUOTE = regex(r"[ \t]*(?:>[ \t]?)*[ \t]*")
_CARRIER = regex(
    r"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d) (?:(?:stdout|stderr) [FP] )?"  # kubectl, docker, CRI
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d:\d\d(?:\.\d{1,6})? [\w.-]{1,64} [\w.@/-]{1,64}(?:\[\d{1,10}\])?: "  # journald
    r"|\[(?:pod|container)/[\w./-]{1,200}\] )",
    re.ASCII,
)
"""What carried a line here writes before it, up to the blank. vLLM's own prefix is not of these: it belongs to the line."""
_SERVICE = regex(r"([\w.-]{1,63} {1,24}\| )", re.ASCII)
"""docker compose: `vllm-1  | `. A table may look like it, so that it counts only where the next or the last line has the same."""
_NUMBERED = regex(r"[\w.-]{1,60}[-_]\d{1,3} {1,24}\| ", re.ASCII)
_PROMPT = regex(r"(?:\([\w.-]{1,40}\) ?)?(?:\[?[\w.-]{1,40}@[\w.-]{1,60}[^#$\n]{0,80}[#$]|[$#%](?= )|>>>)[ \t]*")


class Strength(enum.IntEnum):
    """How far a mention is to be trusted, strongest last."""

    INSTALL = 1
    """A command that may or may not have been run, and may have failed."""
    PROSE = 2
    """A sentence, an image's tag."""
    PATH = 3
    """A version in a path that a program printed."""
    KEYED = 4
    """"CANN: 8.0.RC2", a row of a table."""
    LOG = 5
    """A line in which a program tells its own version."""
    OUTPUT = 6
    """The output of a command, or a file."""


@dataclass(frozen=True)
class Sighting:
    """One value as the text told it; `at` is the index of the line in the `Text`."""

    value: str
    strength: Strength
    at: int
    detail: object = None
    """The whole fact, where a block told more than one value."""


class Sightings:
    """The best sighting of each kind: the strongest, then the first."""

    def __init__(self) -> None:
        self._best: dict[str, Sighting] = {}

    def tell(self, kind: str, value: str | None, strength: Strength, at: int, detail: object = None) -> None:
        if not value:
            return
        best = self._best.get(kind)
        if best is None or strength > best.strength or (strength == best.strength and at < best.at):
            self._best[kind] = Sighting(value, strength, at, detail)

    def best(self, kind: str) -> Sighting | None:
        return self._best.get(kind)

    def value(self, kind: str) -> str | None:
        best = self._best.get(kind)
        return best.value if best else None

    def number(self, kind: str) -> int | None:
        value = self.value(kind)
        return int(value) if value is not None and value.isascii() and value.isdecimal() and len(value) < 20 else None

    def under(self, prefix: str) -> dict[str, Sighting]:
        """Sightings whose kind starts with `prefix`, by the rest of the kind, in the order of the text."""
        found = [(kind[len(prefix) :], seen) for kind, seen in self._best.items() if kind.startswith(prefix)]
        return dict(sorted(found, key=lambda pair: pair[1].at))


@dataclass
class Text:
    """The lines of a report. Between two sources stands an empty line, so that no block crosses."""

    lines: list[str] = field(default_factory=list)
    """Without quote marks and indentation of quotes, capped."""
    places: list[tuple[str, int]] = field(default_factory=list)
    """(source label, line number) of each line."""
    lower: str = ""
    """All lines in lower case, joined by newlines; same offsets as `joined`."""
    joined: str = ""
    starts: list[int] = field(default_factory=list)

    def at(self, offset: int) -> int:
        """Index of the line that holds this offset of `joined`."""
        return bisect_right(self.starts, offset) - 1

    def place(self, at: int) -> tuple[str, int]:
        return self.places[at]

    def having(self, *literals: str) -> Iterator[int]:
        """Indexes of the lines that contain one of the lower-case literals, once for each line and literal."""
        for literal in literals:
            offset, hits = self.lower.find(literal), 0
            while offset >= 0 and hits < HITS_CAP:
                at = self.at(offset)
                yield at
                hits += 1
                following = self.starts[at + 1] if at + 1 < len(self.starts) else len(self.lower)
                offset = self.lower.find(literal, following)

    def line(self, at: int) -> str:
        """The line, or an empty one beyond either end."""
        return self.lines[at] if 0 <= at < len(self.lines) else ""


def text_of(lines: Sequence[tuple[str, int, str]]) -> Text:
    """The `Text` of (source label, line number, line) of one or several files."""
    text = Text()
    room, last = TEXT_CAP, None
    service = ""
    for at, (source, number, raw) in enumerate(lines):
        if last is not None and source != last:
            text.lines.append("")
            text.places.append((last, 0))
        last = source
        line = unquoted(docker_message(raw[:LINE_CAP]))
        following = lines[at + 1][2][:100] if at + 1 < len(lines) else ""
        service = _service(line, following, service)
        line = uncarried(line[len(service) :])
        text.lines.append(line)
        text.places.append((source, number))
        room -= len(line)
        if room < 0:
            break
    text.joined = "\n".join(text.lines)
    text.lower = _lowered(text.joined)
    offset = 0
    for line in text.lines:
        text.starts.append(offset)
        offset += len(line) + 1
    return text


def _lowered(joined: str) -> str:
    """In lower case, with every character where it was: the dotted capital I is the one that would grow."""
    lower = joined.replace("\u0130", "I").lower()
    return lower if len(lower) == len(joined) else joined


def _service(line: str, following: str, before: str) -> str:
    """The prefix of docker compose on this line; "" for none. `before` is that of the line before."""
    found = _SERVICE.match(line) if "| " in line[:90] else None
    if found is None:
        return ""
    sure = found[1] == before or following.startswith(found[1]) or _NUMBERED.match(line)
    return found[1] if sure else ""


def uncarried(line: str) -> str:
    """Without the prefixes of kubectl, docker, journald and the container runtime; what the program itself wrote stays, indentation too."""
    for _ in range(3):
        found = _CARRIER.match(line)
        if found is None:
            break
        line = line[found.end() :]
    return line


def unquoted(line: str) -> str:
    """Without the marks of a Markdown quote and what follows a stray newline; indentation stays where there is no quote."""
    line = line.rstrip().replace("\n", " ").replace("\r", " ")
    if line.lstrip()[:1] == ">" and not line.lstrip().startswith(">>>"):
        quote = _QUOTE.match(line)
        return line[quote.end() :] if quote else line
    return line


def bare(line: str) -> tuple[str, bool]:
    """The line without indentation and shell prompt, and whether there was a prompt."""
    line = line.strip().strip("`").strip()
    prompt = _PROMPT.match(line)
    return (line[prompt.end() :], True) if prompt else (line, False)


def first_version(value: str) -> str | None:
    """The first version in a value as a person or a program wrote it: "v0.9.1rc2 (git sha: …)" -> "0.9.1rc2"."""
    found = _FIRST_VERSION.search(value[:400])
    return found[0] if found else None


def continued(text: Text, at: int, limit: int = 120) -> tuple[str, int]:
    """The command that starts on this line, with lines joined that end in a backslash; and the index after it."""
    parts: list[str] = []
    for index in range(at, min(at + limit, len(text.lines))):
        line = text.lines[index].rstrip()
        if not line.endswith("\\"):
            parts.append(line)
            return " ".join(parts), index + 1
        parts.append(line[:-1])
    return " ".join(parts), min(at + limit, len(text.lines))
