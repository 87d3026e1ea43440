"""A site's configuration: `doctor.toml`, or `[tool.doctor]` of a `pyproject.toml`.

Contract: one file decides, the first of: `--config`, the current folder's (never as root, since the folder may be anybody's), the
user's, the machine's. A key that does not exist is an error with the nearest one; options of the command line win.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from doctor.finding import Severity
from doctor.locale import Speak
from doctor.policy import Policy, Suppression
from doctor.record import dataclass

FILE, PYPROJECT = "doctor.toml", "pyproject.toml"
LIMIT = 1024 * 1024
"""Bytes of a configuration."""

_SEVERITIES = {severity.word: severity for severity in Severity}


class BadConfig(ValueError):
    """A configuration that cannot be used: the key of a text of `doctor.locale` with its values, which names the file and the remedy."""

    def __init__(self, key: str, /, **values: object) -> None:
        super().__init__(f"{key} {values}")
        self.key, self.values = key, values

    def told(self, speak: Speak) -> str:
        return speak(self.key, **self.values)


@dataclass(frozen=True)
class Config:
    """What a file says. `path` is "" where there is none; `options` are values of command line options under click's names."""

    path: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    policy: Policy = Policy()
    baseline: str = ""
    """Path of a baseline, relative ones against the file's folder."""


def find(asked: str | None, environ: Mapping[str, str], folder: Path, root: bool) -> Path | None:
    """The file that decides; None where there is none. Raises `BadConfig` where the one that was asked for is missing."""
    if asked is not None:
        path = Path(asked)
        if not path.is_file():
            raise BadConfig("config_no_file", path=asked)
        return path
    return next((path for path in places(environ, folder, root) if path.is_file() and (path.name != PYPROJECT or _has_table(path))), None)


def places(environ: Mapping[str, str], folder: Path, root: bool) -> Iterator[Path]:
    """Where a configuration may lie, the strongest first."""
    if not root:
        yield folder / FILE
        yield folder / PYPROJECT
    home = environ.get("XDG_CONFIG_HOME") or os.path.join(environ.get("HOME", ""), ".config")
    if os.path.isabs(home):
        yield Path(home) / "ascend-doctor" / FILE
    yield Path("/etc/ascend-doctor") / FILE


def ignored(folder: Path, root: bool) -> Path | None:
    """The current folder's configuration, where root does not follow it."""
    return next((path for path in (folder / FILE, folder / PYPROJECT) if root and path.is_file() and (path.name == FILE or _has_table(path))), None)


def load(path: Path) -> Config:
    """The configuration in this file. Raises `BadConfig`."""
    table = _table(path)
    reader = _Reader(str(path))
    return reader.config(table, path.parent)


def _has_table(path: Path) -> bool:
    try:
        return b"tool.doctor" in path.read_bytes()[:LIMIT]
    except OSError:
        return False


def _table(path: Path) -> Mapping[str, Any]:
    if sys.version_info >= (3, 11):  # here: most machines have no configuration
        import tomllib
    else:
        import tomli as tomllib
    try:
        data = path.read_bytes()
    except OSError as problem:
        raise BadConfig("config_unread", path=path, why=problem.strerror) from None
    if len(data) > LIMIT:
        raise BadConfig("config_too_big", path=path, kib=LIMIT // 1024)
    try:
        whole: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
        raise BadConfig("config_no_toml", path=path, why=problem) from None
    if path.name != PYPROJECT:
        return whole
    tool = whole.get("tool")
    table = tool.get("doctor") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else {}


@dataclass(frozen=True)
class _Reader:
    path: str

    def config(self, table: Mapping[str, Any], folder: Path) -> Config:
        readers: Mapping[str, Callable[[str, Any], Any]] = {
            "fail-on": self._choice("fail", "warn", "note", "never"),
            "profile": self._choice("quick", "standard", "deep", "ci-image"),
            "timeout-scale": self._number,
            "python": self._text,
            "log": self._texts,
            "only": self._texts,
            "skip": self._texts,
            "baseline": self._text,
            "severity": self._severities,
            "suppress": self._suppressions,
        }
        self._known(table, readers, "")
        read = {key: readers[key](key, value) for key, value in table.items()}
        names = {"fail-on": "fail_on", "timeout-scale": "timeout_scale", "log": "logs"}
        options = {names.get(key, key): read[key] for key in ("fail-on", "profile", "timeout-scale", "python", "log", "only", "skip") if key in read}
        if "logs" in options:
            options["logs"] = tuple(str(folder / name) for name in options["logs"])
        policy = Policy(read.get("severity", {}), read.get("suppress", ()), self.path)
        return Config(self.path, options, policy, str(folder / read["baseline"]) if "baseline" in read else "")

    def _known(self, table: Mapping[str, Any], allowed: Sequence[str] | Mapping[str, Any], where: str) -> None:
        for key in table:
            if key not in allowed:
                near = difflib.get_close_matches(key.replace("_", "-"), list(allowed), 1)
                raise BadConfig("config_no_key", path=self.path, name=where + key, near=near[0] if near else ", ".join(allowed))

    def _choice(self, *values: str) -> Callable[[str, Any], str]:
        def read(key: str, value: Any) -> str:
            if value not in values:
                raise BadConfig("config_bad_value", path=self.path, name=key, value=repr(value), wanted=" | ".join(values))
            return str(value)

        return read

    def _number(self, key: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
            raise BadConfig("config_bad_value", path=self.path, name=key, value=repr(value), wanted="0.1 … 1000")
        return float(value)

    def _text(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            raise BadConfig("config_bad_value", path=self.path, name=key, value=repr(value), wanted='"…"')
        return value

    def _texts(self, key: str, value: Any) -> tuple[str, ...]:
        return tuple(self._text(key, item) for item in (value if isinstance(value, list) else [value]))

    def _severities(self, key: str, value: Any) -> dict[str, Severity]:
        if not isinstance(value, dict):
            raise BadConfig("config_bad_value", path=self.path, name=key, value=repr(value), wanted='[severity] RULE = "note"')
        for name, word in value.items():
            if word not in _SEVERITIES:
                raise BadConfig("config_bad_value", path=self.path, name=f"{key}.{name}", value=repr(word), wanted=" | ".join(_SEVERITIES))
        return {name: _SEVERITIES[word] for name, word in value.items()}

    def _suppressions(self, key: str, value: Any) -> tuple[Suppression, ...]:
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise BadConfig("config_bad_value", path=self.path, name=key, value=repr(value), wanted='[[suppress]] rule = "…" reason = "…"')
        return tuple(self._suppression(f"{key} {number}: ", item) for number, item in enumerate(value, 1))

    def _suppression(self, where: str, item: Mapping[str, Any]) -> Suppression:
        self._known(item, ("rule", "reason", "subject", "until"), where)
        for needed in ("rule", "reason"):
            if needed not in item:
                raise BadConfig("config_needs", path=self.path, where=where.rstrip(": "), name=needed)
        texts = {name: self._text(where + name, item[name]) for name in ("rule", "reason", "subject") if name in item}
        return Suppression(texts["rule"], texts["reason"], texts.get("subject", ""), self._day(where, item.get("until")))

    def _day(self, where: str, value: Any) -> date | None:
        if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
            return value
        try:
            return date.fromisoformat(value)
        except (TypeError, ValueError):
            raise BadConfig("config_bad_value", path=self.path, name=where + "until", value=repr(value), wanted="2027-03-31") from None


__all__ = ["BadConfig", "Config", "FILE", "PYPROJECT", "find", "ignored", "load", "places"]
