"""Files below a root, handled so that nobody can lead us elsewhere: every folder is opened by descriptor, every name looked at before use.

Contract: a path is the host's, absolute. A folder on the way must belong to root or to us and may not be writable by others (sticky ones, as
/tmp, only on the way and never as the last); links are followed inside the root only, and only those of root or ours. Files are replaced
atomically; mode, owner, SELinux label and other attributes are kept. Raises `UnsafePath` for what is refused, OSError for what fails.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

MAX_LINKS = 40
MAX_FILE = 16 * 1024 * 1024
"""Bytes; files that doctor changes are settings of a few kilobytes."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class UnsafePath(Exception):  # noqa: N818  it names what it is, not an error of ours
    """A path that is refused; the text says which part of it, and why."""


@dataclass(frozen=True)
class FileState:
    """A regular file as it is. `path` is where it really lies below the root, links followed."""

    path: str
    data: bytes
    mode: int
    uid: int
    gid: int
    attributes: Mapping[str, bytes] = field(default_factory=dict)


class _Walk:
    """Descriptors of the folders from the root to where we are."""

    def __init__(self, root: str) -> None:
        self.stack: list[tuple[int, str]] = [(os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC), "")]

    @property
    def here(self) -> int:
        return self.stack[-1][0]

    @property
    def path(self) -> str:
        return "/".join(name for _, name in self.stack) or "/"

    def up(self) -> None:
        if len(self.stack) > 1:
            os.close(self.stack.pop()[0])

    def top(self) -> None:
        while len(self.stack) > 1:
            self.up()

    def close(self) -> None:
        for descriptor, _ in self.stack:
            os.close(descriptor)


class RootFiles:
    """The files below `root`; "/" is this machine's own."""

    def __init__(self, root: str = "/") -> None:
        self.root = root

    def read(self, path: str) -> FileState | None:
        """The file, None where there is none. A link is followed; what is no regular file, or has several names, is refused."""
        try:
            with self._at(path) as (folder, name, parent):
                return self._state(folder, name, parent)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def replace(self, state: FileState, temporary: str) -> None:
        """Puts the file there, as it is described. `temporary` is the name it has meanwhile; one that is left over is overwritten."""
        with self._at(state.path) as (folder, name, parent):
            _trusted_last(folder, parent)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=folder)
            try:
                try:
                    _fill(descriptor, state)
                finally:
                    os.close(descriptor)
                os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            os.fsync(folder)

    def remove(self, path: str) -> None:
        """Removes the file; harmless where there is none."""
        with contextlib.suppress(FileNotFoundError), self._at(path) as (folder, name, parent):
            _trusted_last(folder, parent)
            os.unlink(name, dir_fd=folder)
            os.fsync(folder)

    def sweep(self, path: str, temporary: str) -> None:
        """Removes what an interrupted `replace` left beside the file."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), self._at(path) as (folder, _, _parent):
            os.unlink(temporary, dir_fd=folder)

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """Folders above the file that are not there, outermost first."""
        parts = [part for part in path.split("/") if part][:-1]
        for depth in range(len(parts), 0, -1):
            folder = "/" + "/".join(parts[:depth])
            try:
                with self._at(folder + "/x"):
                    return tuple("/" + "/".join(parts[:more]) for more in range(depth + 1, len(parts) + 1))
            except FileNotFoundError:
                continue
        return tuple("/" + "/".join(parts[:more]) for more in range(1, len(parts) + 1))

    def open_folder(self, path: str) -> int:
        """A descriptor of the folder; the caller closes it."""
        with self._at(path) as (folder, name, parent):
            _trusted(folder, parent)
            return os.open(name, _FOLDER, dir_fd=folder)

    def make_folder(self, path: str, mode: int = 0o755) -> None:
        """Makes one folder; harmless where it is there."""
        with self._at(path) as (folder, name, parent):
            _trusted_last(folder, parent)
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, mode, dir_fd=folder)
            os.fsync(folder)

    def remove_folder(self, path: str) -> None:
        """Removes one folder if it is empty."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), self._at(path) as (folder, name, _parent):
            try:
                os.rmdir(name, dir_fd=folder)
            except OSError as problem:
                if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                    raise
            os.fsync(folder)

    def read_value(self, path: str) -> str | None:
        """A kernel value's text, None where there is no such file."""
        try:
            with self._at(path) as (folder, name, _parent):
                descriptor = os.open(name, _FILE, dir_fd=folder)
                try:
                    _regular(descriptor, path)
                    return os.read(descriptor, 64 * 1024).decode("utf-8", "replace")
                finally:
                    os.close(descriptor)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def write_value(self, path: str, value: str) -> None:
        """Writes a kernel value in one call, as the kernel wants it."""
        with self._at(path) as (folder, name, _parent):
            descriptor = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            try:
                _regular(descriptor, path)
                os.write(descriptor, value.encode())
            finally:
                os.close(descriptor)

    @contextlib.contextmanager
    def _at(self, path: str) -> Iterator[tuple[int, str, str]]:
        """(descriptor of the folder, last name, path of the folder) with every link followed, the last name's too."""
        if not path.startswith("/") or "\0" in path:
            raise UnsafePath(f"{path!r} is not an absolute path")
        walk = _Walk(self.root)
        try:
            name = _descend(walk, path)
            yield walk.here, name, walk.path
        finally:
            walk.close()

    def _state(self, folder: int, name: str, parent: str) -> FileState | None:
        path = f"{parent.rstrip('/')}/{name}"
        try:
            descriptor = os.open(name, _FILE, dir_fd=folder)
        except FileNotFoundError:
            return None
        try:
            info = _regular(descriptor, path)
            if info.st_nlink > 1:
                raise UnsafePath(f"{path} has {info.st_nlink} names (hard links); replacing it would separate them")
            if info.st_size > MAX_FILE:
                raise UnsafePath(f"{path} is larger than {MAX_FILE // 2**20} MiB")
            return FileState(path, _whole(descriptor), stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid, _attributes(descriptor))
        finally:
            os.close(descriptor)


def _descend(walk: _Walk, path: str) -> str:
    """Walks to the last name of the path and gives it; links are followed inside the root."""
    todo = [part for part in path.split("/") if part not in ("", ".")][::-1]
    links = 0
    while todo:
        name = todo.pop()
        if name == "..":
            walk.up()
            continue
        _trusted(walk.here, walk.path)
        target = _link(walk, name)
        if target is not None:
            links += 1
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            if target.startswith("/"):
                walk.top()
            todo += [part for part in target.split("/") if part not in ("", ".")][::-1]
        elif todo:
            walk.stack.append((os.open(name, _FOLDER, dir_fd=walk.here), name))
        else:
            return name
    raise UnsafePath(f"{path!r} is a folder")


def _link(walk: _Walk, name: str) -> str | None:
    """Where the name leads, None where it is no link (or not there)."""
    try:
        info = os.stat(name, dir_fd=walk.here, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISLNK(info.st_mode):
        return None
    if info.st_uid not in (0, os.geteuid()):
        raise UnsafePath(f"{walk.path.rstrip('/')}/{name} is a link of another user (uid {info.st_uid})")
    return os.readlink(name, dir_fd=walk.here)


def _trusted(descriptor: int, path: str) -> os.stat_result:
    """A folder on the way: nobody but root and us can exchange what lies in it."""
    info = os.fstat(descriptor)
    if info.st_uid not in (0, os.geteuid()):
        raise UnsafePath(f"{path} belongs to another user (uid {info.st_uid})")
    if _shared(info) and not info.st_mode & stat.S_ISVTX:
        raise UnsafePath(f"{path} is writable by others (mode {stat.S_IMODE(info.st_mode):04o})")
    return info


def _trusted_last(descriptor: int, path: str) -> None:
    """The folder in which something is written: here even a sticky one is refused, for anyone may have put a name there."""
    if _shared(_trusted(descriptor, path)):
        raise UnsafePath(f"{path} is writable by everyone")


def _shared(info: os.stat_result) -> bool:
    own_group = info.st_gid == 0 or (os.geteuid() != 0 and info.st_gid == os.getegid())
    return bool(info.st_mode & stat.S_IWOTH) or bool(info.st_mode & stat.S_IWGRP and not own_group)


def _regular(descriptor: int, path: str) -> os.stat_result:
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        raise UnsafePath(f"{path} is not a regular file")
    return info


def _whole(descriptor: int) -> bytes:
    parts: list[bytes] = []
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def _attributes(descriptor: int) -> dict[str, bytes]:
    """Extended attributes: SELinux label, ACL. Those that may not be read are left out."""
    found: dict[str, bytes] = {}
    try:
        names = os.listxattr(descriptor)
    except OSError:
        return found
    for name in names:
        with contextlib.suppress(OSError):
            found[name] = os.getxattr(descriptor, name)
    return found


def _fill(descriptor: int, state: FileState) -> None:
    view = memoryview(state.data)
    while view:
        view = view[os.write(descriptor, view) :]
    info = os.fstat(descriptor)
    if (info.st_uid, info.st_gid) != (state.uid, state.gid):
        os.fchown(descriptor, state.uid, state.gid)
    os.fchmod(descriptor, state.mode)
    for name, value in state.attributes.items():
        _keep_attribute(descriptor, name, value)
    os.fsync(descriptor)


def _keep_attribute(descriptor: int, name: str, value: bytes) -> None:
    """A label that the new file has already, or that this file system does not know, is no failure; one that cannot be kept is."""
    try:
        if os.getxattr(descriptor, name) == value:
            return
    except OSError:
        pass
    try:
        os.setxattr(descriptor, name, value)
    except OSError as problem:
        if problem.errno not in (errno.ENOTSUP, errno.EOPNOTSUPP):
            raise


__all__ = ["FileState", "MAX_FILE", "RootFiles", "UnsafePath"]
