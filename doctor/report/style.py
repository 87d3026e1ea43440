"""How text is laid out: colour only where a terminal shows it, lines wrapped to cells of which a Chinese character takes two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.record import dataclass
from doctor.regex import regex
from doctor.text import cell_width, clean, clean_line

NARROWEST = 40
"""Cells; on a smaller screen lines are not wrapped at all, since words would be torn apart."""

WIDEST = 110
"""Cells of prose: longer lines are hard to read."""

LEAST = 8
"""Cells that a part of a line has at least, however little room there is beside it."""

_SGR = {"FAIL": "1;31", "WARN": "1;33", "NOTE": "1;36", "SKIP": "2", "BROKEN": "1;35", "strong": "1", "faint": "2"}

_PIECE = regex(r"\s+|[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]|[^\s\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60]+")
"""A run of blanks, one wide character, or a word: lines break between these."""

_NOT_FIRST = frozenset("，。、；：？！）》」』】〉”’…—％")
"""Marks that may not begin a line."""

_NOT_LAST = frozenset("（《「『【〈“‘")
"""Marks that may not end a line."""


@dataclass(frozen=True)
class Style:
    """`width` in cells, 0 for no wrapping (a pipe, a file); `colour` only for a terminal that shows it."""

    width: int = 0
    colour: bool = False

    @classmethod
    def of(cls, environ: Mapping[str, str], columns: int, *, allowed: bool) -> Style:
        """The style for a terminal of so many columns, 0 where the output goes elsewhere. `allowed`: no --no-color was given."""
        if not columns:
            return cls()
        plain = environ.get("NO_COLOR") or environ.get("TERM", "dumb") == "dumb"
        return cls(min(columns, WIDEST) if columns >= NARROWEST else 0, allowed and not plain)

    def paint(self, kind: str, text: str) -> str:
        """The text in the colour of a state or emphasis; unchanged where there is no colour."""
        return f"\x1b[{_SGR[kind]}m{text}\x1b[0m" if self.colour else text

    def lines(self, text: str, indent: str, first: str | None = None) -> Iterator[str]:
        """The text from outside, cleaned and wrapped. Its own line ends stay; `first` stands before the first line (default: `indent`)."""
        lead = indent if first is None else first
        room = self.width - cell_width(indent)
        if self.width and lead != indent and self.width - cell_width(clean(lead)) < 2 * LEAST and cell_width(indent) < cell_width(clean(lead)):
            yield lead.rstrip()
            lead = indent
        for line in clean(text).expandtabs(4).split("\n"):
            for part in wrap(line.rstrip(), room, self.width - cell_width(clean(lead))) if self.width else (line.rstrip(),):
                yield (lead + part).rstrip()
                lead = indent

    def verbatim(self, text: str, indent: str) -> Iterator[str]:
        """A command or a log line, cleaned, never wrapped by us: what a terminal wraps by itself is still copied whole."""
        for line in clean(text).split("\n"):
            yield indent + line.rstrip()


def wrap(line: str, cells: int, first: int | None = None) -> Iterator[str]:
    """Parts of one cleaned line that fit into so many cells, the first of them into `first`; a word that is longer than a line is cut."""
    room = cells if first is None else first
    if cell_width(line) <= room or cells < LEAST:
        yield line
        return
    room, used = max(room, LEAST), 0
    now: list[str] = []  # the pieces of this line
    for piece in _PIECE.findall(line):
        size = cell_width(piece)
        if used + size <= room:
            now.append(piece)
            used += size
            continue
        rest = _taken_along(now) if piece in _NOT_FIRST else _opened(now)
        if done := "".join(now).rstrip():
            yield done
            room = cells
        now, used = rest, sum(map(cell_width, rest))
        if piece.isspace():
            continue
        now.append("")
        for char in piece:
            if used + (wide := cell_width(char)) > room:
                yield "".join(now)
                now, used, room = [""], 0, cells
            now[-1] += char
            used += wide
    if last := "".join(now).rstrip():
        yield last


def _taken_along(now: list[str]) -> list[str]:
    """What goes to the next line with a mark that may not begin it: the word or the character before it, whole. Nothing where that is all there is."""
    at = len(now) - 1
    while at > 0 and (now[at] in _NOT_FIRST or now[at].isspace()):
        at -= 1
    if at <= 0:
        return []
    rest = now[at:]
    del now[at:]
    return rest


def _opened(now: list[str]) -> list[str]:
    """An opening mark at the end goes to the next line with what it opens. Nothing where that is all there is."""
    at = len(now)
    while at > 1 and now[at - 1] in _NOT_LAST:
        at -= 1
    rest = now[at:]
    del now[at:]
    return rest


def padded(text: str, cells: int) -> str:
    """The text with blanks behind it up to so many cells."""
    return text + " " * max(0, cells - cell_width(text))


def short(text: str, characters: int) -> str:
    """One cleaned line, cut where it is longer."""
    line = clean_line(text)
    return line if len(line) <= characters else line[: characters - 1] + "…"
