"""Reads the cases below `fixtures/` and runs doctor's engine on them.

Three kinds: `fixtures/<area>/<rule id>.yaml` (small cases of one rule), `fixtures/reports/<name>/` (`input.txt`, `expect.yaml`: a log or a
pasted report) and `fixtures/hosts/<name>/` (a recorded host in the plain layout, `expect.yaml`).
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from doctor import rulebook
from doctor.examine import Examination, Selection, examine_host, examine_text
from doctor.host.plain import PlainHost
from doctor.logscan.sources import text_chunk

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
KEYS = {"case", "text", "base", "files", "remove", "commands", "expect", "first", "instead", "severity", "confidence", "subject"}


@dataclass(frozen=True)
class SmallCase:
    """One case of one rule. `expect`: fires, clear, or look-alike (must not fire; `instead` names what must)."""

    rule: str
    name: str
    expect: str
    text: str | None = None
    base: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    commands: Mapping[str, str] = field(default_factory=dict)
    first: str | None = None
    instead: str | None = None
    severity: str | None = None
    confidence: str | None = None
    subject: str | None = None

    def __str__(self) -> str:
        return f"{self.rule}: {self.name}"


@functools.cache
def book() -> rulebook.Rulebook:
    return rulebook.load()


@functools.cache
def small_cases() -> tuple[SmallCase, ...]:
    """Every small case, in the order of the files."""
    return tuple(_read_small_cases())


def _read_small_cases() -> Iterator[SmallCase]:
    for path in sorted(FIXTURES.glob("*/*.yaml")):
        for item in yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            yield _small(item, path)


def _small(item: dict[str, Any], path: Path) -> SmallCase:
    assert set(item) <= KEYS, f"{path}: unknown keys {set(item) - KEYS}"
    assert item["expect"] in ("fires", "clear", "look-alike"), f"{path}: expect is fires, clear or look-alike"
    assert ("text" in item) != bool({"files", "base", "commands"} & set(item)), f"{path}: a case is a text or a host"
    return SmallCase(
        rule=path.stem,
        name=item["case"],
        expect=item["expect"],
        text=item.get("text"),
        base=item.get("base"),
        files=item.get("files", {}),
        remove=tuple(item.get("remove", ())),
        commands=item.get("commands", {}),
        first=item.get("first"),
        instead=item.get("instead"),
        severity=item.get("severity"),
        confidence=item.get("confidence"),
        subject=item.get("subject"),
    )


def folders(kind: str) -> list[Path]:
    return sorted(path.parent for path in (FIXTURES / kind).glob("*/expect.yaml"))


def examine(case: SmallCase, scratch: Path) -> Examination:
    if case.text is not None:
        return run_text(case.text)
    folder = scratch / "host"
    if case.base:
        shutil.copytree(FIXTURES / "hosts" / case.base, folder, symlinks=True)
    _write_host(folder, case)
    return run_host(folder)


def _write_host(folder: Path, case: SmallCase) -> None:
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    for name in case.remove:
        path = files / name.lstrip("/")
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    for name, content in case.files.items():
        path = files / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():
            path.unlink()
        if content.startswith("-> "):
            path.unlink(missing_ok=True)
            path.symlink_to(content[3:].strip())
        else:
            path.write_text(content, encoding="utf-8")
    listing = folder / "commands.txt"
    known = listing.read_text(encoding="utf-8") if listing.exists() else ""
    for command, output in case.commands.items():
        known = _without(known, command)
        body = output if output.rstrip().endswith("]") and "\n[exit " in "\n" + output else output.rstrip("\n") + "\n[exit 0]\n"
        known += f"$ {command}\n{body.rstrip()}\n\n"
    listing.write_text(known, encoding="utf-8")


def _without(listing: str, command: str) -> str:
    start = listing.find(f"$ {command}\n")
    if start < 0:
        return listing
    end = listing.find("\n\n$ ", start)
    return listing[:start] + (listing[end + 2 :] if end >= 0 else "")


def run_text(text: str) -> Examination:
    return examine_text("input.txt", [text_chunk(text, "input.txt")], book(), Selection(), len(text))


def run_host(folder: Path) -> Examination:
    return examine_host(PlainHost(folder), book(), Selection())


def reported(examination: Examination) -> dict[str, str]:
    """Every id that was reported, with the severity of the cause under which it stands."""
    return {
        finding.rule: cause.finding.severity.word for cause in examination.causes for finding in (cause.finding, *cause.symptoms)
    }
