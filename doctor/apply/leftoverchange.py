"""A file that a dead process left (a segment in /dev/shm, a lock): copied, removed, and put back as it was.

Contract: only a regular file that is what it was when it was planned, and that no process has open or mapped, is removed. Folders and files are
opened without following links.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from doctor.apply.change import ChangeError, Ground, Scripted, Standing
from doctor.apply.shellwords import quoted

CHUNK = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class LeftoverChange:
    """`mtime` in nanoseconds since the epoch, `size` in bytes."""

    KIND: ClassVar[str] = "leftover"

    path: str
    size: int
    mtime: int
    uid: int
    gid: int
    mode: int

    @property
    def subject(self) -> str:
        return self.path

    @property
    def nothing(self) -> bool:
        return False

    def commands(self) -> tuple[tuple[str, ...], ...]:
        return (("rm", "--", self.path),)

    def diff(self) -> str:
        return ""

    def look(self, ground: Ground) -> Standing:
        with self._folder() as folder:
            found = None if folder is None else _state(folder, os.path.basename(self.path))
        if found is None:
            return Standing.AFTER
        return Standing.BEFORE if found == (self.size, self.mtime, self.uid, self.gid, self.mode) else Standing.OTHER

    @contextlib.contextmanager
    def _folder(self) -> Iterator[int | None]:
        try:
            descriptor = os.open(os.path.dirname(self.path), _FOLDER)
        except (FileNotFoundError, NotADirectoryError):
            yield None
            return
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def save(self, ground: Ground, name: str) -> Mapping[str, Any]:
        place = ground.backups.folder(name)
        with self._folder() as folder:
            if folder is None or _state(folder, os.path.basename(self.path)) is None:
                return {}  # it went away by itself
            free = shutil.disk_usage(place).free
            if self.size > free:
                raise ChangeError(f"a copy of {self.path} needs {self.size >> 20} MiB in {place}, {free >> 20} MiB are free")
            source = os.open(os.path.basename(self.path), _FILE, dir_fd=folder)
        with os.fdopen(source, "rb") as file, open(f"{place}/content", "wb") as kept:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ChangeError(f"{self.path} is no regular file")
            digest = hashlib.sha256()
            while data := file.read(CHUNK):
                digest.update(data)
                # Segments are mostly holes: what is zero takes no room in the copy.
                kept.seek(len(data), os.SEEK_CUR) if not any(data) else kept.write(data)
            kept.truncate()
            kept.flush()
            os.fsync(kept.fileno())
        return {"content": f"{place}/content", "sha256": digest.hexdigest()}

    def make(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        holders = users_of(self.path)
        if holders:
            raise ChangeError(f"{self.path} is in use by process {', '.join(map(str, holders))}")
        with self._folder() as folder:
            if folder is None:
                return
            if _state(folder, os.path.basename(self.path)) not in (None, (self.size, self.mtime, self.uid, self.gid, self.mode)):
                raise ChangeError(f"{self.path} was changed meanwhile")
            ground.reached(f"checked {self.path}")
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.basename(self.path), dir_fd=folder)

    def unmake(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        if not saved or self.look(ground) is not Standing.AFTER:
            return
        name, temporary = os.path.basename(self.path), f".ascend-doctor-{ground.transaction}"
        with self._folder() as folder:
            if folder is None:
                raise ChangeError(f"{os.path.dirname(self.path)} is not there any more")
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            target = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
            with open(str(saved["content"]), "rb") as kept, os.fdopen(target, "wb") as file:
                digest = hashlib.sha256()
                while data := kept.read(CHUNK):
                    digest.update(data)
                    file.seek(len(data), os.SEEK_CUR) if not any(data) else file.write(data)
                file.truncate()
                if digest.hexdigest() != saved["sha256"]:
                    os.unlink(temporary, dir_fd=folder)
                    raise ChangeError(f"the copy of {self.path} is not what was kept")
                file.flush()
                if os.geteuid() == 0:
                    os.fchown(file.fileno(), self.uid, self.gid)
                os.fchmod(file.fileno(), self.mode)
                os.utime(file.fileno(), ns=(self.mtime, self.mtime))
            ground.reached(f"copied {self.path}")
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)

    def difference(self, ground: Ground, saved: Mapping[str, Any]) -> str:
        return f"{self.path}: another file of that name is there now"

    def scripted(self) -> Scripted:
        path, kept = quoted(self.path), f'"$BACKUP"/{quoted(os.path.basename(self.path))}'
        return Scripted((f"cp -p --sparse=always -- {path} {kept}", f"rm -- {path}"), (f"[ -e {path} ] || cp -p -- {kept} {path}",), ({"ansible.builtin.file": {"path": self.path, "state": "absent"}},))

    def data(self) -> Mapping[str, Any]:
        return {"path": self.path, "size": self.size, "mtime": self.mtime, "uid": self.uid, "gid": self.gid, "mode": self.mode}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> LeftoverChange:
        path = str(data["path"])
        if not path.startswith("/") or ".." in path.split("/"):
            raise ValueError("a path that is not absolute")
        return cls(path, *(int(data[name]) for name in ("size", "mtime", "uid", "gid", "mode")))


def state_of(path: str) -> LeftoverChange | None:
    """The change that would remove what is there; None where it is no regular file, or not there."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISREG(info.st_mode):
        return None
    return LeftoverChange(path, info.st_size, info.st_mtime_ns, info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode))


def _state(folder: int, name: str) -> tuple[int, int, int, int, int] | None:
    try:
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    kind = 0 if stat.S_ISREG(info.st_mode) else stat.S_IFMT(info.st_mode)
    return info.st_size, info.st_mtime_ns, info.st_uid, info.st_gid, stat.S_IMODE(info.st_mode) | kind


def users_of(path: str) -> list[int]:
    """Processes that have the file open or mapped, as far as this user may see."""
    try:
        wanted = os.stat(path, follow_symlinks=False)
    except OSError:
        return []
    return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _uses(pid, path, (wanted.st_dev, wanted.st_ino))]


def _uses(pid: int, path: str, ident: tuple[int, int]) -> bool:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
        if any(line.rstrip("\n").endswith(f" {path}") for line in maps):
            return True
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                info = entry.stat()
                if (info.st_dev, info.st_ino) == ident:
                    return True
    return False


__all__ = ["LeftoverChange", "state_of", "users_of"]
