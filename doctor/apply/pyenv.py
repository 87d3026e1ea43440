"""Which kind of Python environment a target is, how packages are installed into it, and why doctor would not.

Contract: `read_environment` only reads, through the `Host`, and never raises. An environment that belongs to the system (PEP 668, /usr/bin)
or that somebody else could change is never installed into: `refused` says why.
"""

from __future__ import annotations

import posixpath
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from doctor.facts.interpreter import parse_pyvenv_cfg
from doctor.facts.target import Target
from doctor.host import FileInfo, Host, Unavailable
from doctor.text import clean_line
from doctor.words import Words

SYSTEM_FOLDERS = ("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/libexec")
"""Interpreters here belong to the operating system's packages, with or without PEP 668's marker."""

MARKER = "EXTERNALLY-MANAGED"
UV_PLACES = ("/usr/local/bin/uv", "/usr/bin/uv")


@dataclass(frozen=True)
class PythonEnvironment:
    """`kind`: venv, uv, conda or python (an interpreter of its own, as in the official images). `pip` or else `uv` installs.

    `sites` are the folders that packages are installed into, `prefix` the folder that holds everything of the environment.
    """

    python: str
    prefix: str
    kind: str
    sites: tuple[str, ...]
    scripts: str
    pip: bool
    uv: str = ""
    refused: Words | None = None


def read_environment(host: Host, target: Target, euid: int) -> PythonEnvironment:
    """The target's environment as it lies on the disk."""
    python = target.python
    prefix = posixpath.dirname(posixpath.dirname(python))
    settings = host.read(f"{prefix}/pyvenv.cfg", 16 * 1024)
    values = {} if isinstance(settings, Unavailable) else parse_pyvenv_cfg(settings)
    conda = _there(host, f"{prefix}/conda-meta")
    kind = "uv" if "uv" in values else "venv" if values or not isinstance(settings, Unavailable) else "conda" if conda else "python"
    # A virtual environment may show the packages of its base as well; those are not its own.
    own = tuple(_once(host, (site for site in target.site_packages if site.startswith(prefix.rstrip("/") + "/"))))
    pip = any(_there(host, f"{site}/pip/__main__.py") for site in own)
    uv = next((place for place in (f"{prefix}/bin/uv", *UV_PLACES) if _there(host, place)), "")
    refused = next(_refusals(host, python, prefix, kind, own, euid), None)
    if refused is None and not pip and not uv:
        refused = Words(f"neither pip nor uv was found for {clean_line(python)}", f"{clean_line(python)} 中既没有 pip，也没有找到 uv")
    return PythonEnvironment(python, prefix, kind, own, f"{prefix}/bin", pip, "" if pip else uv, refused)


def _once(host: Host, sites: Iterable[str]) -> Iterator[str]:
    """Each folder once: lib64 is often a link to lib."""
    seen: set[str] = set()
    for site in sites:
        real = host.resolve(site)
        if isinstance(real, str) and real not in seen:
            seen.add(real)
            yield site


def _there(host: Host, path: str) -> bool:
    return not isinstance(host.stat(path), Unavailable)


def _refusals(host: Host, python: str, prefix: str, kind: str, sites: tuple[str, ...], euid: int) -> Iterator[Words]:
    shown = clean_line(python)
    if not python.startswith("/"):
        yield Words(f"the target's interpreter is known by its name only ({shown})", f"只知道解释器名称（{shown}），不知道其路径")
    if kind == "python":
        if posixpath.dirname(python) in SYSTEM_FOLDERS or prefix in ("/", "/usr"):
            yield Words(
                f"{shown} is the system's Python; make a virtual environment for vLLM instead",
                f"{shown} 是系统自带的 Python；请为 vLLM 另建虚拟环境",
            )
        marked = host.list(f"{prefix}/lib*/python3*/{MARKER}")
        if not isinstance(marked, Unavailable) and marked:
            yield Words(f"{marked[0]} says that packages come from the system (PEP 668)", f"{marked[0]} 表明该环境由系统包管理器管理（PEP 668）")
    if not sites:
        yield Words(f"no site-packages folder of {shown} was found", f"没有找到 {shown} 的 site-packages 目录")
    for path in dict.fromkeys((prefix, posixpath.dirname(python), *sites)):
        info = host.stat(path)
        if not isinstance(info, Unavailable):
            yield from _owner(info, shown, euid)
    real = host.resolve(python)
    info = host.stat(real) if isinstance(real, str) else real
    if not isinstance(info, Unavailable) and info.uid not in (None, 0, euid):
        yield Words(f"{info.path}, which {shown} leads to, belongs to user {info.uid}", f"{shown} 实际指向的 {info.path} 属于用户 {info.uid}")


def _owner(info: FileInfo, python: str, euid: int) -> Iterator[Words]:
    """Running an interpreter runs its owner's code: root does not run that of others, and others may not change what root installs."""
    if info.uid is None or info.mode is None:
        return
    if info.uid != euid:
        remedy = f"sudo -u '#{info.uid}' " if euid == 0 else ""
        yield Words(
            f"{info.path} belongs to user {info.uid}; run doctor as that user: {remedy}doctor fix … --python {python}",
            f"{info.path} 属于用户 {info.uid}；请以该用户运行：{remedy}doctor fix … --python {python}",
        )
    elif info.mode & stat.S_IWOTH and not info.mode & stat.S_ISVTX:
        yield Words(f"anyone may write to {info.path}", f"任何用户都可写 {info.path}")
    elif euid == 0 and info.mode & stat.S_IWGRP and info.gid != 0:
        yield Words(f"group {info.gid} may write to {info.path}, and root would run what it puts there", f"用户组 {info.gid} 可写 {info.path}，root 会执行其中的内容")


__all__ = ["PythonEnvironment", "read_environment"]
