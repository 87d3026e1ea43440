"""The rules that doctor knows: built in, and from installed rule packs (entry points `doctor.rules`).

Contract: `load()` gives every rule once; a pack or file that cannot be read becomes a `Problem`, told as a BROKEN verdict, and never
stops the others. Parsed cause files are kept in the user's cache (JSON, checked against every file's size and time), so that
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
from doctor.logscan import cache
from doctor.logscan.literals import required
from doctor.rule import Rule
from doctor.rulepackage import rules_package

ENTRY_POINTS = "doctor.rules"
CACHE_FORMAT = 3


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
    if not _packs_installed():
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


def _packs_installed() -> bool:
    """Whether any installed distribution names a rule pack, seen without importlib.metadata, which takes longer than all the rules.

    Archives on the path cannot be seen so: then the answer is yes, and importlib.metadata has the last word.
    """
    for entry in dict.fromkeys(sys.path):
        try:
            with os.scandir(entry or ".") as files:
                told = [file.path for file in files if file.name.endswith((".dist-info", ".egg-info"))]
        except NotADirectoryError:
            return True
        except OSError:
            continue
        if any(_names_packs(os.path.join(path, "entry_points.txt")) for path in told):
            return True
    return False


def _names_packs(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return ENTRY_POINTS.encode() in file.read()
    except OSError:
        return False


def _read_package(package: ModuleType, origin: str, problems: list[Problem]) -> Iterator[tuple[Rule, dict[str, frozenset[str]]]]:
    folder = next(iter(package.__path__))
    files = _files(folder)
    cached = _Cache(folder, files)
    for name in files:
        if not name.endswith(".yaml"):
            continue
        area, _, file = name.partition("/")
        entry = cached.entry(Path(folder, name), name)
        if isinstance(entry, str):
            problems.append(Problem(f"{origin}: {name}", entry))
            continue
        try:
            rule = causefile.build(entry["plain"], area, name)
        except causefile.CauseFileError as problem:
            problems.append(Problem(f"{origin}: {name}", str(problem)))
            continue
        logic = None
        if entry["logic"]:
            needs = None if entry["needs"] is None else tuple((parameter, kind, optional) for parameter, kind, optional in entry["needs"])
            logic = LazyLogic(f"{package.__name__}.{area}.{_module(file)}", needs)
        if logic is not None or origin != rule.origin:
            rule = replace(rule, logic=logic, origin=origin)
        yield rule, {pattern: frozenset(found) for pattern, found in entry["literals"].items()}
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

    def __init__(self, folder: str, files: Mapping[str, tuple[int, int]]) -> None:
        self._name = f"rules-{hashlib.sha256(folder.encode()).hexdigest()[:16]}.json"
        self._stamp = _stamp(files)
        self._entries: dict[str, Any] = {}
        self._fresh = False
        try:
            stored = json.loads(cache.load(self._name) or b"{}")
            if stored.get("stamp") == self._stamp:
                self._entries, self._fresh = stored["entries"], True
        except (ValueError, KeyError, AttributeError):
            pass

    def entry(self, path: Path, name: str) -> Any:
        """{"plain", "literals", "logic", "needs"} of a good file, or the text of what is wrong."""
        if name not in self._entries:
            self._entries[name] = _parsed(path, name)
        return self._entries[name]

    def save(self) -> None:
        if not self._fresh:
            cache.save(self._name, json.dumps({"stamp": self._stamp, "entries": self._entries}, ensure_ascii=False).encode())


def _stamp(files: Mapping[str, tuple[int, int]]) -> str:
    """What the entries were made from: the files, and our own code that read them."""
    source = os.path.dirname(causefile.__file__)
    own = ("causefile.py", "conditions.py", "fields.py", "fix.py", "logscan/literals.py")
    infos = [(name, os.stat(os.path.join(source, name))) for name in own if os.path.isfile(os.path.join(source, name))]
    told = repr((CACHE_FORMAT, __version__, sys.version_info[:2], files, [(name, info.st_size, info.st_mtime_ns) for name, info in infos]))
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()


def _parsed(path: Path, name: str) -> Any:
    try:
        plain = causefile.parse(path.read_text(encoding="utf-8"), name)
        literals = check(plain, path.parent.name, name)
    except (causefile.CauseFileError, OSError, UnicodeDecodeError) as problem:
        return str(problem)
    if path.stem != plain["id"]:
        return f"{name}: holds the id {plain['id']!r}; the file's name and the id are the same"
    logic = path.with_name(_module(path.name) + ".py")
    return {
        "plain": plain,
        "literals": {key: sorted(value) for key, value in literals.items()},
        "logic": logic.is_file(),
        "needs": needs_of(logic.read_text(encoding="utf-8")) if logic.is_file() else None,
    }
