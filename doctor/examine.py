"""One examination, of a host or of a text: facts, verdicts, causes. What every face of doctor shows comes from here."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from typing import TYPE_CHECKING

from doctor import checkup, diagnosis
from doctor.checkup import FactSet
from doctor.facts import Facts, FixedFacts, HostFacts
from doctor.finding import Outcome, Verdict
from doctor.firsterror import PATTERNS, FirstError, explained, first_error
from doctor.host import Host
from doctor.logscan.literals import required
from doctor.logscan.scan import Chunk, Scan, Scanner
from doctor.record import dataclass
from doctor.rule import Role, Rule
from doctor.rulebook import Rulebook, patterns_of

if TYPE_CHECKING:
    from doctor.facts.streams import Streams

Listener = Callable[[Verdict], None]


@dataclass(frozen=True)
class Selection:
    """Which rules run: globs on ids and areas. `matches_nothing` is a usage error that the command line tells."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()

    def chosen(self, rules: Iterable[Rule]) -> list[Rule]:
        """The rules that are selected, in order."""
        return [rule for rule in rules if (not self.only or _named(rule, self.only)) and not _named(rule, self.skip)]


def _named(rule: Rule, globs: Sequence[str]) -> bool:
    names = (rule.id, rule.area, *rule.formerly)
    return any(fnmatchcase(name, glob) for glob in globs for name in names)


@dataclass(frozen=True)
class Examination:
    """The whole result. `kind` is "host" or "text"; `facts` are those of the first target."""

    kind: str
    label: str
    facts: Facts
    sets: tuple[FactSet, ...]
    verdicts: tuple[Verdict, ...]
    causes: tuple[diagnosis.Cause, ...]
    book: Rulebook
    scan: Scan
    seconds: float
    first_error: FirstError | None = None
    """The first error of a log that no rule explains."""


def examine_host(
    host: Host,
    book: Rulebook,
    selection: Selection,
    *,
    python: str | None = None,
    chunks: Iterable[Chunk] = (),
    heard: Listener | None = None,
) -> Examination:
    """Looks at a host: discovers its targets, judges every selected rule. `chunks` are logs that belong to it."""
    from doctor.facts.target import discover

    start = time.perf_counter()
    shared = HostFacts(host)
    targets = discover(host, python)
    sets = tuple(FactSet(target.python, HostFacts(host, target, shared)) for target in targets) or (FactSet("", shared),)
    rules = selection.chosen(book.rules.values())
    return _finish("host", host.label, sets, rules, book, _scan(rules, book, chain(chunks, _printed(host))), heard, start)


def _printed(host: Host) -> Iterator[Chunk]:
    """The logs that a recording's transcript holds."""
    printed = getattr(host, "printed_logs", None)
    if printed is not None:
        from doctor.logscan.sources import text_chunk

        for command, text in printed():
            yield text_chunk(text, command)


def examine_text(label: str, chunks: Iterable[Chunk], book: Rulebook, selection: Selection, size: int = -1, heard: Listener | None = None) -> Examination:
    """Judges logs or a pasted report: the same rules, on the facts that the text tells."""
    from doctor.facts.report import report_facts
    from doctor.facts.streams import Streams
    from doctor.logscan.heads import Heads

    start = time.perf_counter()
    rules = selection.chosen(book.rules.values())
    heads, streams = Heads(), Streams()
    scan = _scan(rules, book, heads.passing(chunks), size, streams)
    facts = FixedFacts(*report_facts([line for chunk in heads.chunks() for line in _lines(chunk)]), *streams.facts())
    return _finish("text", label, (FactSet("", facts),), rules, book, scan, heard, start)


def _finish(
    kind: str, label: str, sets: tuple[FactSet, ...], rules: Sequence[Rule], book: Rulebook, scan: Scan, heard: Listener | None, start: float
) -> Examination:
    verdicts = []
    for verdict in checkup.run(rules, sets, scan):
        verdicts.append(verdict)
        if heard is not None:
            heard(verdict)
    for problem in book.problems:
        verdicts.append(Verdict(problem.name, Outcome.BROKEN, problem.why))
    causes = diagnosis.diagnose(verdicts, book.rules)
    # "The engine died" alone is no answer: what it died of stands before it, and may be what no rule knows.
    known = explained((cause.finding.basis, cause.finding.severity) for cause in causes if cause.rule.role is not Role.SYMPTOM)
    unexplained = None if known else first_error(scan)
    if unexplained is not None and (unexplained.evidence.source, unexplained.evidence.line) in {
        (item.source, item.line) for cause in causes for finding in (cause.finding, *cause.symptoms) for item in finding.evidence
    }:
        unexplained = None  # a rule tells it already
    return Examination(kind, label, sets[0].facts, sets, tuple(verdicts), causes, book, scan, time.perf_counter() - start, unexplained)


def _scan(rules: Iterable[Rule], book: Rulebook, chunks: Iterable[Chunk], size: int = -1, streams: Streams | None = None) -> Scan:
    """Scans for the patterns of the rules; without a log nothing is made ready for it."""
    pieces = iter(chunks)
    first = next(pieces, None)
    if first is None:
        return Scan()
    literals = {pattern: required(pattern) for pattern in PATTERNS}
    literals |= {pattern: book.literals[pattern] for rule in rules for pattern in patterns_of(rule)}
    if streams is None:
        return Scanner(literals).scan(chain((first,), pieces), size)
    feed = streams.feed
    told = lambda chunk, signs: feed(chunk.source, chunk.first, chunk.data, signs)  # noqa: E731
    return Scanner(literals, streams.signs).scan(chain((first,), pieces), size, told)


def _lines(chunk: Chunk) -> Iterator[tuple[str, int, str]]:
    for number, line in enumerate(chunk.data.decode("utf-8", "replace").split("\n"), chunk.first):
        yield chunk.source, number, line
