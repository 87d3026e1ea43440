"""Gathers what goes into a bundle, shows it, and packs it: the engine behind `doctor bundle` and the app's preview.

    gathered = gather(host, book, Gathering(profile="support"), sources)
    gathered.items                       what it holds: size in bytes, what was masked, what could not be had
    gathered.without({"files:/home"})    the same without some items
    gathered.members()                   name and bytes of every member, for `archive.write`

Contract: everything is masked before it is handed out; a text that cannot be masked makes the whole fail (`RedactionError`), and the finished
members are searched once more for every secret that was recognised anywhere. Nothing here writes to a disk.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from doctor.bundle.logs import Kept, found_logs, keep
from doctor.bundle.redact import Redactor
from doctor.bundle.seen import Masked, Seen, SeenHost, learn
from doctor.examine import Examination, Selection, examine_host
from doctor.finding import Evidence, Finding, Verdict
from doctor.host import Host, Output, Unavailable, Why
from doctor.host.recording import RecordingHost
from doctor.host.snapshot import MANIFEST, RECORDS, unavailable_to_json
from doctor.logscan.sources import Source, all_chunks
from doctor.report import json_format, model, text_format
from doctor.report.style import Style
from doctor.rulebook import Rulebook

LEFT_OUT = "left out of this bundle"
MOST_TOLD = 300
"""Questions without an answer that the manifest names."""


class RedactionError(RuntimeError):
    """Something could not be masked: nothing may be written."""


@dataclass(frozen=True)
class Gathering:
    """What is asked for. `extra` are (item, name, text) of results to put in: smoke test, watch."""

    profile: str = "support"
    python: str | None = None
    selection: Selection = Selection()
    language: str = "en"
    extra: tuple[tuple[str, str, str], ...] = ()
    find_logs: bool = True
    started: str = ""
    key: bytes | None = None
    """Of the pseudonyms; random where None. Only tests set it."""


@dataclass(frozen=True)
class Item:
    """One thing that can be left out. `masked` counts by kind; `lacking` counts answers that could not be had, by reason; `left_out` lines of a log."""

    id: str
    size: int
    masked: Mapping[str, int] = field(default_factory=dict)
    lacking: Mapping[str, int] = field(default_factory=dict)
    left_out: int = 0


@dataclass(frozen=True)
class _Part:
    item: str
    name: str
    text: str


@dataclass(frozen=True)
class _Line:
    """A record, and what stands in its place where its item is left out."""

    item: str
    line: str
    instead: str


@dataclass(frozen=True)
class Gathered:
    """What a bundle would hold, masked."""

    profile: str
    examination: Examination
    items: tuple[Item, ...]
    gone: frozenset[str]
    """Items that were left out."""
    problems: tuple[str, ...]
    time: datetime
    _manifest: Mapping[str, Any]
    _logs: Mapping[str, str]
    _parts: tuple[_Part, ...]
    _lines: tuple[_Line, ...]
    _lacking: tuple[Mapping[str, str], ...]
    _redactor: Redactor
    _gathering: Gathering
    _source_items: Mapping[str, str]

    @property
    def masked(self) -> Mapping[str, int]:
        """What was masked in all that is left, by kind."""
        return sum((Counter(dict(item.masked)) for item in self.items if item.id not in self.gone), Counter())

    def without(self, globs: Iterable[str]) -> Gathered:
        """The same without the items of these ids or patterns (`log:*`). Raises ValueError for one that names nothing."""
        gone = set(self.gone)
        for glob in globs:
            named = [item.id for item in self.items if fnmatch.fnmatchcase(item.id, glob)]
            if not named:
                raise ValueError(glob)
            gone.update(named)
        return dataclasses.replace(self, gone=frozenset(gone))

    def members(self) -> list[tuple[str, bytes]]:
        """Every member of the archive, in order. Raises `RedactionError`."""
        written: dict[str, str] = {}
        records = "".join(line.instead if line.item in self.gone else line.line for line in self._lines)
        reports = {} if "report" in self.gone else self._reports()
        written[MANIFEST] = json.dumps({**self._manifest, "bundle": self._told()}, indent=1, ensure_ascii=True) + "\n"
        written.update(reports)
        written[RECORDS] = records
        written.update((part.name, part.text) for part in self._parts if part.item not in self.gone)
        members = [(name, text.encode("utf-8", "surrogatepass")) for name, text in written.items()]
        for name, text in written.items():
            if self._redactor.leaks(name) or self._redactor.leaks(text):
                raise RedactionError(name.partition("/")[0])
        return members

    def _told(self) -> dict[str, Any]:
        kept = [item for item in self.items if item.id not in self.gone]
        return {
            "profile": self.profile,
            "masked": dict(self.masked),
            "items": [
                {"id": item.id, "bytes": item.size, "masked": dict(item.masked), "lacking": dict(item.lacking), "lines_left_out": item.left_out} for item in kept
            ],
            "left_out": sorted(self.gone),
            "lacking": list(self._lacking),
            "problems": [self._redactor.text(problem) for problem in self.problems],
            "logs": {name: label for name, label in self._logs.items() if f"log:{label}" not in self.gone},
        }

    def _reports(self) -> dict[str, str]:
        try:
            return _reports(self.examination, self._gathering, self._redactor, self.gone, self._source_items, self.problems)
        except Exception as problem:  # noqa: BLE001  whatever it is, nothing unmasked may go out
            raise RedactionError("report") from problem


class _Members:
    """Where `RecordingHost` writes: names and texts in memory, each under the item that is being written."""

    def __init__(self) -> None:
        self.item = "snapshot"
        self.parts: dict[str, _Part] = {}
        self.lines: list[str] = []

    def write(self, name: str, text: str) -> None:
        if name in self.parts:
            raise FileExistsError(17, "name taken")
        if name != RECORDS:
            self.parts[name] = _Part(self.item, name, text)

    def holds(self, name: str, text: str) -> bool:
        return name in self.parts and self.parts[name].text == text

    def append(self, name: str, line: str) -> None:
        self.lines.append(line)


def gather(
    host: Host,
    book: Rulebook,
    wanted: Gathering,
    sources: Sequence[Source] = (),
    heard: Callable[[Verdict], None] | None = None,
    read: Callable[[int], None] = lambda _: None,
) -> Gathered:
    """Looks at the host and its logs, judges them, and masks everything. Raises `RedactionError`."""
    seen_host, problems = SeenHost(host), list[str]()
    sources = [*sources, *(source for source in (found_logs(host) if wanted.find_logs else ()) if source.label not in {each.label for each in sources})]
    examination = examine_host(
        seen_host, book, wanted.selection, python=wanted.python, chunks=all_chunks(sources, problems, read), heard=heard
    )
    model.summarise_host(examination)  # what the report asks is kept as well
    evidence = [item for cause in examination.causes for finding in (cause.finding, *cause.symptoms) for item in finding.evidence]
    if examination.first_error is not None:
        evidence.append(examination.first_error.evidence)
    logs = keep(sources, evidence, problems)
    try:
        return _masked(host, seen_host, examination, logs, wanted, problems)
    except Exception as problem:  # noqa: BLE001  fails closed, whatever it is
        raise RedactionError(type(problem).__name__) from problem


def _masked(host: Host, seen_host: SeenHost, examination: Examination, logs: Sequence[Kept], wanted: Gathering, problems: Sequence[str]) -> Gathered:
    redactor = Redactor(wanted.profile, wanted.key)
    seen, time = seen_host.seen(), seen_host.now()
    plain = _reports(examination, wanted, Redactor("raw"), frozenset(), {}, problems)
    learn(redactor, host, seen, [*(text for kept in logs for text in (kept.text, kept.label)), *(text for _, _, text in wanted.extra), *plain.values()])
    masked = Masked(seen, seen_host.infos(), seen_host.label, time, redactor)
    members, items = _Members(), _Items()
    recording = RecordingHost(masked, members)
    lines: list[_Line] = []
    lacking: list[Mapping[str, str]] = []
    for each in seen:
        members.item = item_of(each)
        before, count = Counter(redactor.counts), len(members.lines)
        masked.ask(each, recording)
        new = members.lines[count:]
        items.add(members.item, sum(map(len, new)), redactor.counts - before, each.answer)
        lines += [_Line(members.item, line, _instead(line)) for line in new]
        if isinstance(each.answer, Unavailable) and each.answer.why not in (Why.MISSING, Why.NOT_RECORDED) and len(lacking) < MOST_TOLD:
            lacking.append({"what": redactor.text(each.answer.what), "why": each.answer.why.value})
    labels: dict[str, str] = {}
    extra = [_log_part(index, kept, redactor, items, labels) for index, kept in enumerate(logs, 1)]
    for item, name, text in wanted.extra:
        before = Counter(redactor.counts)
        extra.append(_Part(item, name, _masked_text(name, text, redactor)))
        items.add(item, len(extra[-1].text), redactor.counts - before)
    manifest = json.loads(members.parts.pop(MANIFEST).text)
    parts = (*members.parts.values(), *extra)
    for part in members.parts.values():
        items.add(part.item, len(part.text.encode("utf-8", "surrogatepass")))
    sources = {part_label: f"log:{label}" for part_label, label in ((kept.label, redactor.text(kept.label)) for kept in logs)}
    before = Counter(redactor.counts)
    reports = _reports(examination, wanted, redactor, frozenset(), sources, problems)
    items.add("report", sum(map(len, reports.values())), redactor.counts - before)
    return Gathered(
        wanted.profile, examination, items.all(), frozenset(), tuple(problems), time, manifest, labels, parts, tuple(lines), tuple(lacking), redactor, wanted, sources
    )  # fmt: skip


def _log_part(index: int, kept: Kept, redactor: Redactor, items: _Items, labels: dict[str, str]) -> _Part:
    before = Counter(redactor.counts)
    label, text = redactor.text(kept.label), redactor.text(kept.text)
    short = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in posixpath.basename(label))[-80:]
    part = _Part(f"log:{label}", f"logs/{index:02}-{short or 'log'}", text)
    labels[part.name] = label
    items.add(part.item, len(text.encode("utf-8", "surrogatepass")), redactor.counts - before, left_out=kept.left_out)
    return part


def _masked_text(name: str, text: str, redactor: Redactor) -> str:
    if name.endswith(".json"):
        try:
            return json.dumps(redactor.json(json.loads(text)), indent=1, ensure_ascii=True) + "\n"
        except (ValueError, RecursionError):
            pass
    return redactor.text(text)


class _Items:
    """Sizes and counts by item, in the order in which they are first met."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._masked: dict[str, Counter[str]] = {}
        self._lacking: dict[str, Counter[str]] = {}
        self._left_out: Counter[str] = Counter()

    def add(self, item: str, size: int, masked: Mapping[str, int] | None = None, answer: object = None, left_out: int = 0) -> None:
        self._sizes[item] = self._sizes.get(item, 0) + size
        self._masked.setdefault(item, Counter()).update(masked or {})
        lacking = self._lacking.setdefault(item, Counter())
        if isinstance(answer, Unavailable):
            lacking[answer.why.value] += 1
        elif isinstance(answer, Output) and answer.truncated:
            lacking["cut"] += 1
        self._left_out[item] += left_out

    def all(self) -> tuple[Item, ...]:
        return tuple(
            Item(id, size, dict(+self._masked[id]), dict(self._lacking[id]), self._left_out[id])
            for id, size in sorted(self._sizes.items(), key=lambda item: (item[0].partition(":")[0], -item[1]))
        )


def item_of(seen: Seen) -> str:
    """The item that a question belongs to: files by folder, commands by program."""
    if seen.kind == "run":
        return "commands:" + posixpath.basename(seen.arguments[0][0] if seen.arguments[0] else "")
    if seen.kind in ("read", "read_raw", "list", "stat", "resolve"):
        return _item_of_path(seen.arguments[0])
    return {"processes": "processes", "environ": "environment", "listening": "sockets"}.get(seen.kind, "clock")


def _item_of_path(path: str) -> str:
    if path.startswith("/usr/local/Ascend"):
        return "files:/usr/local/Ascend"
    first = path.split("/")[1:2]
    return "files:/" + (first[0] if first and not set(first[0]) & set("*?[") else "")


def _instead(line: str) -> str:
    record = json.loads(line)
    asked = record["question"]
    what = asked[1] if len(asked) > 1 and isinstance(asked[1], str) else asked[0]
    return json.dumps({"question": asked, "answer": unavailable_to_json(Unavailable(what, Why.LEFT_OUT, LEFT_OUT))}) + "\n"


def _reports(
    examination: Examination, wanted: Gathering, redactor: Redactor, gone: frozenset[str], sources: Mapping[str, str], problems: Sequence[str]
) -> dict[str, str]:
    """The report in JSON and text, masked; what it quotes of left-out items is left out of it too."""
    shown = _unquoted(examination, gone, sources) if gone else examination
    run = model.Run("bundle", wanted.started, wanted.language, wanted.selection)
    report = model.build(run, shown, model.summarise_host(examination), list(problems))
    value = redactor.json(json.loads(json_format.render(report)))
    return {
        "report.json": json.dumps(value, indent=1, ensure_ascii=False) + "\n",
        "report.txt": redactor.text(text_format.render(report, Style(), 0)),
    }


def _unquoted(examination: Examination, gone: frozenset[str], sources: Mapping[str, str]) -> Examination:
    def quoted(item: Evidence) -> Evidence:
        belongs = sources.get(item.source) or (_item_of_path(item.source) if item.source.startswith("/") else f"commands:{item.source.split(' ')[0].rpartition('/')[2]}")
        return dataclasses.replace(item, text=f"({LEFT_OUT})") if belongs in gone else item

    def plain(finding: Finding) -> Finding:
        return dataclasses.replace(finding, evidence=tuple(map(quoted, finding.evidence)))

    causes = tuple(dataclasses.replace(cause, finding=plain(cause.finding), symptoms=tuple(map(plain, cause.symptoms))) for cause in examination.causes)
    error = examination.first_error
    return dataclasses.replace(examination, causes=causes, first_error=dataclasses.replace(error, evidence=quoted(error.evidence)) if error else None)


__all__ = ["Gathered", "Gathering", "Item", "RedactionError", "gather"]
