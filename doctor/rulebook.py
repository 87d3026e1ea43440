"""The rules that doctor knows: built in, and from installed rule packs (entry points `doctor.rules`).

Contract: `load()` gives every rule once; a pack or file that cannot be read becomes a `Problem`, told as a BROKEN verdict, and never
stops the others. Parsed cause files are kept in the user's cache (checked against every file's size and time), so that
hundreds of YAML files cost milliseconds.
"""

from __future__ import annotations

import functools
import hashlib
import marshal
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from doctor import __version__, causefile
from doctor.conditions import Trace, compile_condition
from doctor.facts import FixedFacts
from doctor.fields import field_fact
from doctor.knownrule import Known, KnownRule, rule_of
from doctor.logic import LazyLogic, Needs, needs_of
from doctor.logscan import cache
from doctor.logscan.literals import required
from doctor.logscan.signature import Matches
from doctor.record import dataclass
from doctor.rule import Rule, Silent
from doctor.rulepackage import ENTRY_POINTS, packs_installed, rules_package

CACHE_FORMAT = 8
NO_FACTS = FixedFacts()


@dataclass(frozen=True)
class Problem:
    """Something that should have been a rule: `name` of the pack or file, and what is wrong with it."""

    name: str
    why: str


@dataclass(frozen=True)
class Rulebook:
    """All rules by id, the literals of their patterns, and what could not be loaded."""

    rules: Mapping[str, Rule]
    literals: Mapping[str, frozenset[str]]
    problems: tuple[Problem, ...] = ()


class _Literals(Mapping[str, frozenset[str]]):
    """The literals of all rules, read when the first is asked for: without a log nobody does."""

    def __init__(self, rules: Mapping[str, KnownRule]) -> None:
        self._rules = rules

    @functools.cached_property
    def _all(self) -> dict[str, frozenset[str]]:
        return {pattern: found for rule in self._rules.values() for pattern, found in rule.literals.items()}

    def __getitem__(self, pattern: str) -> frozenset[str]:
        return self._all[pattern]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def load() -> Rulebook:
    """Everything that is installed."""
    rules: dict[str, KnownRule] = {}
    problems: list[Problem] = []
    for origin, package in _packages(problems):
        for rule in _read_package(package, origin, problems):
            if rule.id in rules:
                problems.append(Problem(f"{origin}: {rule.id}", f"the id is taken by a rule that is {rules[rule.id].origin}"))
            else:
                rules[rule.id] = rule
    return Rulebook(rules, _Literals(rules), tuple(problems))


def _packages(problems: list[Problem]) -> Iterator[tuple[str, ModuleType]]:
    yield "built in", rules_package()
    if not packs_installed():
        return
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINTS):
        try:
            loaded = point.load()
        except Exception as problem:  # noqa: BLE001  whatever a third-party pack raises is told, and costs only that pack
            problems.append(Problem(f"rule pack {point.name}", f"{type(problem).__name__}: {problem}"))
            continue
        if isinstance(loaded, ModuleType):
            yield point.name, loaded
        else:
            problems.append(Problem(f"rule pack {point.name}", "the entry point does not name a package"))


def _read_package(package: ModuleType, origin: str, problems: list[Problem]) -> Iterator[KnownRule]:
    folder = next(iter(package.__path__))
    files = _files(folder)
    cached = _Cache(folder, files)
    for name in files:
        if not name.endswith(".yaml"):
            continue
        entry = cached.entry(Path(folder, name), name)
        if isinstance(entry, str):
            problems.append(Problem(f"{origin}: {name}", entry))
            continue
        area, _, file = name.partition("/")
        logic = LazyLogic(f"{package.__name__}.{area}.{_module(file)}", entry.needs) if entry.logic else None
        yield rule_of(entry.known, logic, origin)
    cached.save()


def _module(file: str) -> str:
    """The name of the module beside a cause file."""
    return file.removesuffix(".yaml").replace("-", "_")


def _files(folder: str) -> dict[str, tuple[int, int]]:
    """Every cause file and module, "area/name", with its size and time; in order."""
    found: dict[str, tuple[int, int]] = {}
    with os.scandir(folder) as areas:
        names = [area.name for area in areas if area.is_dir() and area.name != "data"]
    for area in names:
        with os.scandir(os.path.join(folder, area)) as files:
            for file in files:
                if file.name.endswith((".yaml", ".py")):
                    info = file.stat()
                    found[f"{area}/{file.name}"] = info.st_size, info.st_mtime_ns
    return dict(sorted(found.items()))


def check(plain: Mapping[str, Any], area: str, name: str) -> tuple[Rule, dict[str, frozenset[str]]]:
    """The rule without its logic, and the literals of its patterns. Raises `CauseFileError`."""
    rule = causefile.build(plain, area, name)
    try:
        for decision in rule.decisions:
            if decision.when is not None:
                compile_condition(decision.when)
        return rule, {pattern: required(pattern) for pattern in rule.scanned}
    except ValueError as problem:
        raise causefile.CauseFileError(name, 0, str(problem)) from None


def patterns_of(rule: Rule) -> Iterator[str]:
    """Every pattern that the rule needs scanned."""
    yield from rule.scanned


@dataclass(frozen=True)
class _Entry:
    """A good file: what is known of it, whether it has a module beside it, and what that wants."""

    known: Known
    logic: bool
    needs: Needs | None


class _Cache:
    """Checked cause files of one package, kept between runs; without a writable cache every run parses them again.

    What every run asks of a file is kept apart from its content, which is read when a rule is looked into.
    """

    def __init__(self, folder: str, files: Mapping[str, tuple[int, int]]) -> None:
        self._name = f"rules-{hashlib.sha256(folder.encode()).hexdigest()[:16]}"
        self._stamp = _stamp(files)
        self._entries: dict[str, _Entry | str] = {}
        self._fresh = False
        try:
            stamp, entries, content = marshal.loads(cache.load(self._name) or b"")
            if stamp == self._stamp:
                self._entries = {name: _unpacked(name, told, content) for name, told in entries.items()}
                self._fresh = True
        except (EOFError, ValueError, TypeError, AttributeError):
            self._entries = {}

    def entry(self, path: Path, name: str) -> _Entry | str:
        """A good file, or the text of what is wrong."""
        if name not in self._entries:
            self._entries[name] = _parsed(path, name)
        return self._entries[name]

    def save(self) -> None:
        if self._fresh:
            return
        content = bytearray()
        entries = {name: entry if isinstance(entry, str) else _packed(entry, content) for name, entry in self._entries.items()}
        cache.save(self._name, marshal.dumps((self._stamp, entries, bytes(content))))


def _packed(entry: _Entry, content: bytearray) -> list[Any]:
    known, start = entry.known, len(content)
    content += known.plain + known.literals
    places = start, start + len(known.plain), len(content)
    return [known.severity, known.role, known.formerly, known.by_log_only, known.silent, known.deciding, entry.logic, entry.needs, *places]


def _unpacked(name: str, told: Any, content: bytes) -> _Entry | str:
    if isinstance(told, str):
        return told
    severity, role, formerly, by_log_only, silent, deciding, logic, needs, start, middle, end = told
    wanted = None if needs is None else tuple(needs)
    known = Known(name, severity, role, tuple(formerly), by_log_only, silent, tuple(deciding), content[start:middle], content[middle:end])
    return _Entry(known, logic, wanted)


def _stamp(files: Mapping[str, tuple[int, int]]) -> str:
    """What the entries were made from: the files, and our own code that read them."""
    source = os.path.dirname(causefile.__file__)
    own = ("causefile.py", "conditions.py", "fields.py", "fix.py", "knownrule.py", "rule.py", "told.py", "logscan/literals.py")
    infos = [(name, os.stat(os.path.join(source, name))) for name in own if os.path.isfile(os.path.join(source, name))]
    told = repr((CACHE_FORMAT, __version__, sys.version_info[:2], files, [(name, info.st_size, info.st_mtime_ns) for name, info in infos]))
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()


def _parsed(path: Path, name: str) -> _Entry | str:
    try:
        plain = causefile.parse(path.read_text(encoding="utf-8"), name)
        rule, literals = check(plain, path.parent.name, name)
    except (causefile.CauseFileError, OSError, UnicodeDecodeError) as problem:
        return str(problem)
    if path.stem != rule.id:
        return f"{name}: holds the id {rule.id!r}; the file's name and the id are the same"
    needed = {pattern: sorted(found) for pattern, found in literals.items()}
    logic = path.with_name(_module(path.name) + ".py")
    needs = needs_of(logic.read_text(encoding="utf-8")) if logic.is_file() else ()
    silent = _silent(rule, needs, logic.is_file())
    known = Known(name, rule.severity.name, rule.role.value, rule.formerly, rule.by_log_only, silent, rule.deciding, marshal.dumps(plain), marshal.dumps(needed))
    return _Entry(known, logic.is_file(), needs)


def _silent(rule: Rule, needs: Needs | None, logic: bool) -> Silent | None:
    """As `Rule.silent`: the conditions are tried on no facts at all; logic is not called where it has nothing to see."""
    asked: list[str] = []
    answers: list[tuple[bool, tuple[str, ...]]] = []  # of each way to decide: whether it looks at facts, and what is missing
    for decision in rule.decisions:
        missing: tuple[str, ...] = ()
        if decision.signature is None and decision.when is None:
            return None
        if decision.signature is None:
            condition, trace = compile_condition(decision.when), Trace()
            if condition.evaluate(NO_FACTS, trace):
                return None
            asked += [field_fact(name).__name__ for name in condition.fields]
            missing = tuple(trace.missing)
        answers.append((decision.signature is None and not decision.on_machines, missing))
    if logic:
        if not needs:
            return None  # only Python can tell
        kinds = [(kind, optional) for _, kind, optional in needs if kind != Matches.__name__]
        asked += [kind for kind, _ in kinds]
        wanted = [kind for kind, optional in kinds if not optional] or ([kind for kind, _ in kinds] if len(kinds) == len(needs) else [])
        answers.append((bool(kinds), tuple(str(NO_FACTS.unknown(kind)) for kind in wanted)))
    telling = [missing for facts, missing in answers if facts] or [missing for _, missing in answers]
    if not telling:
        return None
    told = () if () in telling else tuple(dict.fromkeys(reason for _, missing in answers for reason in missing))
    return tuple(dict.fromkeys(asked)), told
