"""What the user of the server may read and write of the folders and files that a start needs: CANN, the model, the caches, the working folder."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from doctor.facts import Facts, Provider, known
from doctor.facts.cann import Cann
from doctor.facts.model import Models
from doctor.facts.processes import OwnStatus, parse_own
from doctor.facts.target import Environment, Target
from doctor.host import KIB, Host, Kind, Unavailable, Why
from doctor.record import dataclass

READ, WRITE, SEARCH = 4, 2, 1
"""Permission bits of one class."""

BASE = "/usr/local/Ascend"
CACHES = ("VLLM_CACHE_ROOT", "TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR", "ASCEND_CACHE_PATH", "HF_HOME", "XDG_CACHE_HOME")
IN_HOME = (".cache", ".cache/vllm", ".triton", ".triton/cache")
MOST_FILES = 64


@dataclass(frozen=True)
class Right:
    """Mode and owner of one path."""

    path: str
    mode: int
    uid: int
    gid: int
    folder: bool

    def refuses(self, own: OwnStatus, wanted: int) -> bool:
        """Whether its mode keeps this user from what is wanted; root passes over modes."""
        shift = 6 if own.uid == self.uid else 3 if self.gid in own.groups else 0
        return own.uid != 0 and self.mode >> shift & wanted != wanted

    @property
    def told(self) -> str:
        return f"mode {self.mode:o}, owner {self.uid}:{self.gid}"


@dataclass(frozen=True)
class Rights:
    """The paths whose modes are known. `own` None: who starts the server is not known."""

    own: OwnStatus | None = None
    base: Right | None = None
    """Of /usr/local/Ascend."""
    toolkit: tuple[Right, ...] = ()
    """Folders that lead to CANN's libraries."""
    caches: tuple[Right, ...] = ()
    work: Right | None = None
    """Of the working folder."""
    model: tuple[Right, ...] = ()
    vendors: tuple[Right, ...] = field(default=())
    """Of custom operators below opp."""


def read_rights(host: Host, facts: Facts) -> Rights | Unavailable:
    target = facts.get(Target)
    if isinstance(target, Unavailable):
        return target
    told = host.read(f"/proc/{target.pid}/status", 64 * KIB) if target.pid else ""
    own = (parse_own(told) if isinstance(told, str) and told else None) or known(facts.get(OwnStatus))
    cann, models = known(facts.get(Cann)), known(facts.get(Models))
    environment = known(facts.get(Environment))
    values = environment.values if environment else {}
    root = cann.active.path if cann and cann.active else ""
    home, work = values.get("HOME", ""), _working_folder(host, target, values)
    caches = [values.get(name, "") for name in CACHES] + [f"{home}/{name}" for name in IN_HOME if home] + [home]
    files = [path for model in (models.models if models else ()) for path in (model.path, *(model.folder.file(name) for name in list(model.folder.files)[:MOST_FILES]))]
    found = Rights(
        own,
        _right(host, BASE),
        tuple(_rights(host, [*_above(root), *(f"{root}/{name}" for name in ("lib64", "opp", "opp/built-in") if root)])),
        tuple(_rights(host, caches)),
        _right(host, work) if work else None,
        tuple(_rights(host, files)),
        tuple(_rights(host, [f"{root}/opp/vendors", f"{root}/opp/vendors/config.ini"] if root else [])),
    )
    if not (found.base or found.toolkit or found.caches or found.work or found.model or found.vendors):
        return Unavailable("modes of folders", Why.NOT_RECORDED)
    return found


def _working_folder(host: Host, target: Target, values: Mapping[str, str]) -> str:
    """The server's; of a recording without a server, where it would be started."""
    if target.pid is None:
        return "" if host.live else values.get("PWD", "")
    told = host.resolve(f"/proc/{target.pid}/cwd")
    return told if isinstance(told, str) else values.get("PWD", "")


def _above(path: str) -> list[str]:
    """The folder and those above it, from the root on: "/usr", "/usr/local" …"""
    parts = [part for part in path.split("/") if part]
    return ["/" + "/".join(parts[: number + 1]) for number in range(len(parts))]


def _rights(host: Host, paths: list[str]) -> Iterator[Right]:
    for path in dict.fromkeys(path for path in paths if path.startswith("/")):
        right = _right(host, path)
        if right is not None:
            yield right


def _right(host: Host, path: str) -> Right | None:
    real = host.resolve(path)
    path = real if isinstance(real, str) else posixpath.normpath(path)
    info = host.stat(path)
    if isinstance(info, Unavailable) or info.mode is None or info.uid is None or info.gid is None or info.kind is Kind.LINK:
        return None
    return Right(path, info.mode & 0o777, info.uid, info.gid, info.kind is Kind.FOLDER)


PROVIDERS: tuple[Provider[Any], ...] = (Provider(Rights, read_rights, per_target=True),)
