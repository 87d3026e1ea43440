"""What pip and uv say they would do, and the command lines that ask them. Pure; no text makes anything here raise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from doctor.facts.distributions import normalised

CONFLICT = re.compile(r"ResolutionImpossible|conflicting dependencies|No solution found", re.IGNORECASE)
_UV_LINE = re.compile(r"^ ?([+~-]) ([A-Za-z0-9][\w.-]{0,200})==(\S{1,200})", re.MULTILINE)
_HASH = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"[\w.!+-]{1,120}", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,200}", re.ASCII)
MOST_SHOWN = 6


@dataclass(frozen=True)
class Resolved:
    """What an installer would install: version by normalised name, and the SHA-256 of the file that it chose ("" where not told)."""

    versions: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    """Where each comes from, a URL."""

    def joined(self, other: Resolved) -> Resolved:
        """Both; where they differ, `other` counts."""
        return Resolved({**self.versions, **other.versions}, {**self.hashes, **other.hashes}, {**self.files, **other.files})


def parse_report(text: str) -> Resolved | None:
    """`pip install --dry-run --report -` (pip 22.2 and later, format version 1); None for what is no such report."""
    start = text.find("{")
    try:
        report = json.loads(text[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        return None
    items = report.get("install") if isinstance(report, dict) else None
    if not isinstance(items, list):
        return None
    versions: dict[str, str] = {}
    hashes: dict[str, str] = {}
    files: dict[str, str] = {}
    for item in items:
        metadata = item.get("metadata") if isinstance(item, dict) else None
        name, version = (metadata.get(key) for key in ("name", "version")) if isinstance(metadata, dict) else (None, None)
        if not (isinstance(name, str) and isinstance(version, str) and _NAME.fullmatch(name) and _VERSION.fullmatch(version)):
            return None
        key = normalised(name)
        versions[key] = version
        info = item.get("download_info")
        archive = info.get("archive_info") if isinstance(info, dict) else None
        hashes[key] = _sha256(archive)
        url = info.get("url") if isinstance(info, dict) else None
        files[key] = url if isinstance(url, str) else ""
    return Resolved(versions, hashes, files)


def _sha256(archive: object) -> str:
    told = archive.get("hashes") if isinstance(archive, dict) else None
    value = told.get("sha256") if isinstance(told, dict) else None
    if not isinstance(value, str) and isinstance(archive, dict):
        value = str(archive.get("hash", "")).partition("sha256=")[2]
    return value if isinstance(value, str) and _HASH.fullmatch(value) else ""


def parse_uv(text: str) -> Resolved:
    """`uv pip install --dry-run`, which prints " + name==version" for what it would install."""
    return Resolved({normalised(name): version for sign, name, version in _UV_LINE.findall(text) if sign in "+~"})


def parse_frozen(text: str) -> dict[str, str]:
    """`name==version` lines of `pip freeze`."""
    found = re.findall(r"^([A-Za-z0-9][\w.-]{0,200})==(\S{1,120})\s*$", text, re.MULTILINE)
    return {normalised(name): version for name, version in found}


def complaint(text: str) -> str:
    """The lines of pip's or uv's output that say what is wrong, as one line."""
    lines = [line.strip() for line in text.splitlines()]
    wrong = [line for line in lines if re.match(r"(?:ERROR|error|×|╰|The conflict|Could not)", line)]
    return "; ".join(dict.fromkeys((wrong or [line for line in lines if line])[-MOST_SHOWN:]))[:600]


@dataclass(frozen=True)
class Installer:
    """How packages get into one environment. `pip`: its own; else `uv` is the program. `indexes`: further indexes, never used offline."""

    python: str
    uv: str = ""
    wheels: str = ""
    indexes: tuple[str, ...] = ()
    isolation: bool = True
    """False builds source archives with what the environment holds (`--no-build-isolation`)."""

    def dry_run(self, requirements: Sequence[str], constraints: str = "", *, dependencies: bool = True) -> tuple[str, ...]:
        """Asks what would be installed; changes nothing."""
        more = (*(("-c", constraints) if constraints else ()), *(() if dependencies else ("--no-deps",)))
        if self.uv:
            return (self.uv, "pip", "install", "--python", self.python, "--dry-run", *self._sources(), *more, *requirements)
        return (*self._pip("install"), "--dry-run", "--report", "-", "--quiet", *self._sources(), *more, *requirements)

    def install(self, requirements_file: str, *, hashes: bool) -> tuple[str, ...]:
        """Installs exactly what the file names, nothing else; with `hashes` only files with those hashes."""
        checked = ("--require-hashes",) if hashes else ()
        if self.uv:
            return (self.uv, "pip", "install", "--python", self.python, "--no-deps", *checked, *self._sources(), "-r", requirements_file)
        return (*self._pip("install"), "--no-deps", *checked, *self._sources(), "-r", requirements_file)

    @property
    def again(self) -> str:
        """The option that installs what is there already: the list holds only what has to be installed."""
        return "--reinstall" if self.uv else "--force-reinstall"

    def uninstall(self, names: Sequence[str]) -> tuple[str, ...]:
        if self.uv:
            return (self.uv, "pip", "uninstall", "--python", self.python, *names)
        return (*self._pip("uninstall"), "--yes", *names)

    def freeze(self) -> tuple[str, ...]:
        if self.uv:
            return (self.uv, "pip", "freeze", "--python", self.python)
        return (*self._pip("freeze"), "--all")

    def _pip(self, verb: str) -> tuple[str, ...]:
        # -I: nothing from PYTHONPATH, the user's site or the current folder takes part.
        own = (self.python, "-I", "-m", "pip", verb, "--disable-pip-version-check", "--no-input")
        return (*own, "--root-user-action=ignore") if verb == "install" else own

    def _sources(self) -> tuple[str, ...]:
        built = () if self.isolation else ("--no-build-isolation",)
        if self.wheels:
            return ("--no-index", "--find-links", self.wheels, *built)
        return (*(word for url in self.indexes for word in ("--extra-index-url", url)), *built)


def requirement_lines(versions: Mapping[str, str], hashes: Mapping[str, str]) -> tuple[str, ...]:
    """`name==version --hash=sha256:…` lines, sorted by name."""
    return tuple(
        f"{name}=={version}" + (f" --hash=sha256:{hashes[name]}" if hashes.get(name) else "") for name, version in sorted(versions.items()) if version
    )


__all__ = ["CONFLICT", "Installer", "Resolved", "complaint", "parse_frozen", "parse_report", "parse_uv", "requirement_lines"]
