"""The rules that doctor knows: built in, and from installed rule packs (entry points `doctor.rules`).

Contract: `load()` gives every rule once; a pack or file that cannot be read becomes a `Problem`, told as a BROKEN verdict, and never
stops the others. Parsed cause files are kept in a cache of the user (JSON, checked against every file's size and time), so that
hundreds of YAML files cost milliseconds.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from doctor import __version__, causefile
from doctor.conditions import compile_condition
from doctor.logic import LazyLogic, needs_of
from doctor.logscan.literals import required
from doctor.rule import Rule
from doctor.rulepackage import rules_package

ENTRY_POINTS = "doctor.rules"
CACHE_FORMAT = 2


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


def load() -> Rulebook:
    """Everything that is installed."""
    rules: dict[str, Rule] = {}
    literals: dict[str, frozenset[str]] = {}
    problems: list[Problem] = []
    for origin, package in _packages(problems):
        for rule, needed in _read_package(package, origin, problems):
            if rule.id in rules:
                problems.append(Problem(f"{origin}: {rule.id}", f"the id is taken by a rule that is {rules[rule.id].origin}"))
            else:
                rules[rule.id] = rule
                literals.update(needed)
    return Rulebook(rules, literals, tuple(problems))


def _packages(problems: list[Problem]) -> Iterator[tuple[str, ModuleType]]:
    yield "built in", rules_package()
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


def _folder(package: ModuleType) -> Path:
    return Path(next(iter(package.__path__)))


def _read_package(package: ModuleType, origin: str, problems: list[Problem]) -> Iterator[tuple[Rule, dict[str, frozenset[str]]]]:
    folder = _folder(package)
    files = sorted(path for path in folder.glob("*/*.yaml") if path.parent.name != "data")
    cached = _Cache(folder, [*files, *sorted(folder.glob("*/*.py"))])
    for path in files:
        name = f"{path.parent.name}/{path.name}"
        entry = cached.entry(path, name)
        if isinstance(entry, str):
            problems.append(Problem(f"{origin}: {name}", entry))
            continue
        try:
            rule = replace(causefile.build(entry["plain"], path.parent.name, name), origin=origin)
        except causefile.CauseFileError as problem:
            problems.append(Problem(f"{origin}: {name}", str(problem)))
            continue
        logic = path.with_name(path.stem.replace("-", "_") + ".py")
        if entry["logic"]:
            needs = None if entry["needs"] is None else tuple((parameter, kind, optional) for parameter, kind, optional in entry["needs"])
            rule = replace(rule, logic=LazyLogic(f"{package.__name__}.{path.parent.name}.{logic.stem}", needs))
        yield rule, {pattern: frozenset(found) for pattern, found in entry["literals"].items()}
    cached.save()


def check(plain: Mapping[str, Any], area: str, name: str) -> dict[str, frozenset[str]]:
    """Builds the rule for its errors and gives the literals of its patterns. Raises `CauseFileError`."""
    rule = causefile.build(plain, area, name)
    try:
        for decision in rule.decisions:
            if decision.when is not None:
                compile_condition(decision.when)
        return {pattern: required(pattern) for pattern in patterns_of(rule)}
    except ValueError as problem:
        raise causefile.CauseFileError(name, 0, str(problem)) from None


def patterns_of(rule: Rule) -> Iterator[str]:
    """Every pattern that the rule needs scanned."""
    for group in rule.patterns.values():
        yield from group
    for decision in rule.decisions:
        signature = decision.signature
        if signature is not None:
            yield from signature.patterns
            for near in (*signature.near, *signature.unless):
                yield from near.patterns
            yield from signature.after
            yield from signature.before


class _Cache:
    """Parsed cause files of one package, kept between runs; without a writable cache every run parses them again."""

    def __init__(self, folder: Path, files: list[Path]) -> None:
        self._path = cache_folder() / f"rules-{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}.json"
        self._stamp = _stamp(files)
        self._entries: dict[str, Any] = {}
        self._fresh = False
        try:
            mine = self._path.stat().st_uid == os.geteuid()  # not what another user left in a borrowed home
            stored = json.loads(self._path.read_text(encoding="utf-8")) if mine else {}
            if stored.get("stamp") == self._stamp:
                self._entries, self._fresh = stored["entries"], True
        except (OSError, ValueError, KeyError, AttributeError):
            pass

    def entry(self, path: Path, name: str) -> Any:
        """{"plain", "literals", "logic", "needs"} of a good file, or the text of what is wrong."""
        if name not in self._entries:
            self._entries[name] = _parsed(path, name)
        return self._entries[name]

    def save(self) -> None:
        if self._fresh:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            partial = self._path.with_suffix(f".{os.getpid()}")
            partial.write_text(json.dumps({"stamp": self._stamp, "entries": self._entries}, ensure_ascii=False), encoding="utf-8")
            partial.replace(self._path)
        except OSError:
            pass


def cache_folder() -> Path:
    """Where this user's cache lies; nothing in it is needed."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return (Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~"), ".cache")) / "ascend-doctor"


def _stamp(files: list[Path]) -> str:
    digest = hashlib.sha256(f"{CACHE_FORMAT} {__version__} {sys.version_info[:2]}".encode())
    source = Path(causefile.__file__).parent
    for path in (*files, source / "causefile.py", source / "logscan" / "literals.py", source / "conditions.py", source / "fields.py"):
        try:
            info = path.stat()
        except OSError:
            continue
        digest.update(f"{path}\0{info.st_size}\0{info.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def _parsed(path: Path, name: str) -> Any:
    try:
        plain = causefile.parse(path.read_text(encoding="utf-8"), name)
        literals = check(plain, path.parent.name, name)
    except (causefile.CauseFileError, OSError, UnicodeDecodeError) as problem:
        return str(problem)
    if path.stem != plain["id"]:
        return f"{name}: holds the id {plain['id']!r}; the file's name and the id are the same"
    logic = path.with_name(path.stem.replace("-", "_") + ".py")
    return {
        "plain": plain,
        "literals": {key: sorted(value) for key, value in literals.items()},
        "logic": logic.is_file(),
        "needs": needs_of(logic.read_text(encoding="utf-8")) if logic.is_file() else None,
    }
