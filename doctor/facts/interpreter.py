"""Where an interpreter's packages lie and which version it is, read from disk. The interpreter is never run."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from doctor.host import Host, Unavailable
from doctor.regex import regex

_SETTING = regex(r"[ \t]*([A-Za-z_-]+)[ \t]*=[ \t]*(.*)")
_VERSION = regex(r"\d+\.\d+(?:\.\d+)?(?:(?:a|b|rc)\d+)?")
_FOLDER = regex(r"/lib(?:64)?/python(\d+\.\d+)/(?:site|dist)-packages")
_PATTERNS = ("lib/python3.*/site-packages", "lib64/python3.*/site-packages", "lib/python3.*/dist-packages", "lib/python3/dist-packages")
_MOST_PATHS = 64


def parse_pyvenv_cfg(text: str) -> dict[str, str]:
    """`key = value` lines of pyvenv.cfg with lower-case keys: home, version (venv), version_info (virtualenv, uv)."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _SETTING.match(line[:4096])
        if match:
            found.setdefault(match.group(1).lower(), match.group(2).strip())
    return found


def is_version(text: str) -> str | None:
    """The Python version that a text starts with: "3.11.14" of "3.11.14.final.0"."""
    match = _VERSION.match(text)
    return match.group() if match else None


def describe(host: Host, python: str, environment: Mapping[str, str]) -> tuple[str | None, tuple[str, ...]]:
    """(version, site-packages in the order of sys.path) of an interpreter with that environment."""
    prefix = posixpath.dirname(posixpath.dirname(python))
    settings_text = host.read(f"{prefix}/pyvenv.cfg", 16 * 1024)
    if isinstance(settings_text, Unavailable):
        version, sites = _base(host, python)
        user = _user_site(host, environment, version or _version_of_sites(sites))
    else:
        settings = parse_pyvenv_cfg(settings_text)
        version = is_version(settings.get("version", "")) or is_version(settings.get("version_info", ""))
        sites = _sites(host, prefix, version)
        user = ()
        if settings.get("include-system-site-packages", "").lower() == "true":
            base_version, more = _base(host, posixpath.join(settings.get("home", ""), "python3"), version)
            version, sites = version or base_version, (*sites, *more)
            user = _user_site(host, environment, version)
    version = version or _version_of_sites(sites)
    return version, tuple(dict.fromkeys((*_python_path(host, environment), *user, *sites)))


def _base(host: Host, python: str, version: str | None = None) -> tuple[str | None, tuple[str, ...]]:
    """The same of an interpreter that is no virtual environment's."""
    resolved = host.resolve(python)
    real = python if isinstance(resolved, Unavailable) else resolved
    named = re.search(r"python(\d+\.\d+)$", real)
    version = version or (named.group(1) if named else None)
    prefix = posixpath.dirname(posixpath.dirname(real))
    conda = host.list(f"{prefix}/conda-meta/python-3.*.json")
    for path in () if isinstance(conda, Unavailable) else conda:
        version = is_version(posixpath.basename(path)[len("python-") :]) or version
    sites = _sites(host, prefix, version)
    if prefix == "/usr":  # Debian's python3 takes packages from /usr/local as well
        sites = (*_sites(host, "/usr/local", version or _version_of_sites(sites)), *sites)
    return version, sites


def _sites(host: Host, prefix: str, version: str | None) -> tuple[str, ...]:
    found: list[str] = []
    for pattern in _PATTERNS if prefix.startswith("/") else ():
        paths = host.list(f"{prefix}/{pattern}")
        found.extend(() if isinstance(paths, Unavailable) else paths)
    minor = ".".join(version.split(".")[:2]) if version else _newest(found)
    return tuple(path for path in dict.fromkeys(found) if (match := _FOLDER.search(path)) is None or match.group(1) == minor)


def _newest(paths: list[str]) -> str | None:
    versions = {match.group(1) for path in paths if (match := _FOLDER.search(path))}
    return max(versions, key=lambda text: int(text.split(".")[1]), default=None)


def _version_of_sites(sites: tuple[str, ...]) -> str | None:
    return next((match.group(1) for path in sites if (match := _FOLDER.search(path))), None)


def _user_site(host: Host, environment: Mapping[str, str], version: str | None) -> tuple[str, ...]:
    home = environment.get("HOME", "")
    if not home.startswith("/") or not version or environment.get("PYTHONNOUSERSITE"):
        return ()
    path = f"{home.rstrip('/')}/.local/lib/python{'.'.join(version.split('.')[:2])}/site-packages"
    return () if isinstance(host.stat(path), Unavailable) else (path,)


def _python_path(host: Host, environment: Mapping[str, str]) -> Iterator[str]:
    """Entries of PYTHONPATH in which distributions are installed."""
    for entry in environment.get("PYTHONPATH", "").split(":")[:_MOST_PATHS]:
        path = posixpath.normpath(entry) if entry.startswith("/") else ""
        if path and any(_some(host, f"{path}/*.{kind}") for kind in ("dist-info", "egg-info")):
            yield path


def _some(host: Host, glob: str) -> bool:
    found = host.list(glob)
    return not isinstance(found, Unavailable) and bool(found)


def on_path(host: Host, environment: Mapping[str, str], name: str) -> Iterator[str]:
    """Files of that name in the folders of PATH, in their order."""
    for folder in dict.fromkeys(environment.get("PATH", "").split(":")[:_MOST_PATHS]):
        path = posixpath.join(folder, name)
        if folder.startswith("/") and not isinstance(host.stat(path), Unavailable):
            yield posixpath.normpath(path)
