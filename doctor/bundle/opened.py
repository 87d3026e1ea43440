"""Opens what others sent: a bundle, a snapshot's folder, a sosreport or the output of `asys collect`, packed or not.

Contract: `open_recorded` answers or raises `NotAHost` with a sentence for people; nothing is extracted, and nothing in it is trusted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from doctor.bundle.archive import Archive, ArchiveError, Limits, read_archive
from doctor.bundle.foreign import Files, FolderFiles, SosHost, asys_logs, is_asys, is_sosreport, sos_logs
from doctor.host import MIB, Host
from doctor.host.recorded import FolderMembers, Members, NotAHost, RecordedHost, open_host
from doctor.host.snapshot import MANIFEST
from doctor.logscan.sources import Source
from doctor.text import clean_line

LOG_LIMIT = 64 * MIB
MOST_LOGS = 100


@dataclass(frozen=True)
class Opened:
    """What was opened. `host` is None where there are only logs and tables; `kind` is bundle, snapshot, recording, sosreport or asys.

    `notes` say what was passed over.
    """

    kind: str
    label: str
    host: Host | None
    logs: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()


def open_recorded(path: Path, limits: Limits = Limits()) -> Opened:  # noqa: B008  frozen
    """What lies there. Raises `NotAHost`."""
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise NotAHost(f"{clean_line(str(path))} does not exist: name a bundle or the folder of a snapshot")
    archive = read_archive(path, limits)
    archive = archive.below(archive.top()) if MANIFEST not in archive.files else archive
    if MANIFEST in archive.files:
        if archive.passed_over:
            name, kind = archive.passed_over[0]
            raise ArchiveError(f"{archive.name}: a bundle holds no links or devices, and this one has a {kind}: {clean_line(name)[:200]}. Do not unpack it; ask its sender for a new one.")
        return _snapshot(archive, archive.files)
    return _foreign(_ArchiveFiles(archive), archive.passed_over)


def _folder(path: Path) -> Opened:
    if (path / MANIFEST).is_file() and (path / "records.jsonl").exists():
        return _snapshot(FolderMembers(path), None)
    if (path / "files").is_dir() or (path / "commands.txt").is_file() or (path / MANIFEST).is_file():
        host = open_host(path)
        return Opened("recording", host.label, host)
    return _foreign(FolderFiles(path), ())


def _snapshot(members: Members, known: Mapping[str, bytes] | None) -> Opened:
    host = RecordedHost(members)
    told = _bundle(members)
    logs = []
    names = told.get("logs")
    for name, label in list(names.items())[:MOST_LOGS] if isinstance(names, dict) else ():
        safe = isinstance(name, str) and name.startswith("logs/") and name.count("/") == 1 and ".." not in name and isinstance(label, str)
        data = members.get(name, LOG_LIMIT) if safe else None
        if data is not None:
            logs.append(Source(clean_line(label), None, len(data), data))
    return Opened("bundle" if told else "snapshot", host.label, host, tuple(logs))


def _bundle(members: Members) -> Mapping[str, object]:
    """What the manifest says of the bundle; nothing for a bare snapshot."""
    try:
        told = json.loads(members.get(MANIFEST, MIB) or b"{}").get("bundle", {})
    except (ValueError, AttributeError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


class _ArchiveFiles:
    """An archive as `Files`."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.name = archive.name
        self.names = sorted(archive.files)
        self.links: Mapping[str, str] = archive.links

    def get(self, name: str, limit: int) -> bytes | None:
        return self._archive.get(name, limit)

    def size(self, name: str) -> int:
        return len(self._archive.files.get(name, b""))


def _foreign(files: Files, passed_over: Sequence[tuple[str, str]]) -> Opened:
    others = [kind for _, kind in passed_over if kind != "symbolic link"]
    notes = (f"{len(others)} special files were passed over",) if others else ()
    if is_sosreport(files.names):
        host = SosHost(files)
        return Opened("sosreport", host.label, host, sos_logs(files), notes)
    if is_asys(files.names):
        return Opened("asys", clean_line(files.name.rstrip("/").rpartition("/")[2]), None, asys_logs(files), notes)
    raise NotAHost(f"{clean_line(files.name)}: no recorded host: it holds neither {MANIFEST} nor files/ nor commands.txt, and is no sosreport and no output of asys collect")


__all__ = ["Opened", "open_recorded"]
