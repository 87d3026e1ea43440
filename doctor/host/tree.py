"""A folder seen as the root of a host: links are followed inside it, never through the real root.

Contract: no method raises for anything that lies in the folder; regular files only are ever opened for reading.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import re
import stat
from collections.abc import Iterator

from doctor.host import MIB, FileInfo, Kind, Unavailable, Why
from doctor.text import clean, decode

MAX_LINKS = 40
"""As many links as Linux follows in one path."""
MAX_MATCHES = 20_000
"""Paths that one pattern may match; the largest real answer, every process of a busy server, is far below."""
MAX_ENTRIES = 200_000
"""Folder entries looked at for one pattern."""
MAX_STREAM = 64 * MIB
"""Bytes read to find the end of a file that does not tell its size, as those below /proc."""

_WHY = {
    **dict.fromkeys((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ESRCH, errno.EINVAL), Why.MISSING),
    errno.ETIMEDOUT: Why.TIMED_OUT,
}
_KINDS = {
    stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.FOLDER, stat.S_IFLNK: Kind.LINK, stat.S_IFCHR: Kind.CHAR_DEVICE,
    stat.S_IFBLK: Kind.BLOCK_DEVICE, stat.S_IFIFO: Kind.FIFO, stat.S_IFSOCK: Kind.SOCKET,
}  # fmt: skip


def unavailable(what: str, error: OSError | ValueError) -> Unavailable:
    """Why the operating system refused. ValueError comes from paths with a NUL in them: there can be no such file."""
    number = error.errno if isinstance(error, OSError) else errno.ENOENT
    why = _WHY.get(number or 0, Why.DENIED)
    return Unavailable(what, why, "" if why is Why.MISSING or not number else os.strerror(number))


def kind_of(mode: int) -> Kind:
    return _KINDS.get(stat.S_IFMT(mode), Kind.FILE)


class Tree:
    """The files below `root`. Paths that go in and come out are those of the host, absolute."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)
        self._prefix = "" if self.root == "/" else self.root

    def real(self, path: str) -> str:
        """Where a path without links lies on this machine."""
        return self._prefix + path

    def link_target(self, located: str, info: os.stat_result) -> str:
        """Where the link at this place of this machine points, "" for no link."""
        return os.readlink(located) if stat.S_ISLNK(info.st_mode) else ""

    def resolve(self, path: str) -> str | Unavailable:
        try:
            if not self._prefix:
                # The kernel knows better than a walk what lies behind /proc/PID/root and the like.
                return clean(os.path.realpath("/" + path.lstrip("/"), strict=True))
            return clean(self._walk(path))
        except (OSError, ValueError) as error:
            return unavailable(path, error)

    def _walk(self, path: str) -> str:
        done: list[str] = []
        todo = path.split("/")[::-1]
        links = 0
        while todo:
            name = todo.pop()
            if name == "..":
                del done[-1:]
            if name in ("", ".", ".."):
                continue
            here = "/" + "/".join([*done, name])
            info = os.lstat(self.real(here))
            if target := self.link_target(self.real(here), info):
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, here)
                if target.startswith("/"):
                    done.clear()
                todo.extend(target.split("/")[::-1])
            elif todo and not stat.S_ISDIR(info.st_mode):
                raise OSError(errno.ENOTDIR, here)
            else:
                done.append(name)
        return "/" + "/".join(done)

    def stat(self, path: str) -> FileInfo | Unavailable:
        """What is there; a link that leads nowhere is a LINK."""
        try:
            located = self._parent_resolved(path)
            info = os.lstat(located)
            if target := self.link_target(located, info):
                info = self._behind_link(path) or info
        except (OSError, ValueError) as error:
            return unavailable(path, error)
        mode, kind = stat.S_IMODE(info.st_mode), kind_of(info.st_mode)
        return FileInfo(path, kind, info.st_size, mode, info.st_uid, info.st_gid, info.st_mtime, clean(target))

    def _behind_link(self, path: str) -> os.stat_result | None:
        try:
            # Through the path itself where the root is the real one: /proc/PID/fd/3 leads where no name does.
            return os.stat(self.real(self._walk(path)) if self._prefix else "/" + path.lstrip("/"))
        except (OSError, ValueError):
            return None

    def _parent_resolved(self, path: str) -> str:
        """Where the path lies on this machine, with every link followed except the last name."""
        if not self._prefix:
            return "/" + path.lstrip("/")
        parent, _, name = path.rstrip("/").rpartition("/")
        if name in ("", ".", ".."):
            return self.real(self._walk(path))
        folder = self._walk(parent)
        return os.path.join(self.real(folder), name)

    def read(self, path: str, limit: int, tail: bool) -> str | Unavailable:
        data = self.read_bytes(path, limit, tail)
        return clean(decode(data)) if isinstance(data, bytes) else data

    def read_bytes(self, path: str, limit: int, tail: bool = False, offset: int = 0) -> bytes | Unavailable:
        """The file's first (or last) `limit` bytes; `offset` bytes are left out before the first."""
        try:
            if not self._prefix:
                return _read("/" + path.lstrip("/"), limit, tail, 0, offset)
            return _read(self.real(self._walk(path)), limit, tail, os.O_NOFOLLOW, offset)
        except _NotRegularError:
            return Unavailable(path, Why.DENIED, "not a regular file")
        except (OSError, ValueError) as error:
            return unavailable(path, error)

    def read_link(self, path: str) -> str:
        """Where the link points, "" where that cannot be told. The folder's own links are followed."""
        try:
            return os.readlink(self._parent_resolved(path))
        except (OSError, ValueError):
            return ""

    def glob(self, pattern: str) -> tuple[str, ...] | Unavailable:
        """Paths that match, sorted. As in a shell, a leading dot is matched by a dot only. Names with characters that `clean` would
        remove are left out: no file that doctor asks for has one, and such a name could not be printed or recorded truthfully."""
        search = _Search(self)
        names = [name for name in pattern.split("/") if name]
        try:
            matches = sorted(search.matches("", names))
        except _TooManyError:
            return Unavailable(pattern, Why.TOO_BIG, f"more than {MAX_MATCHES} matches or {MAX_ENTRIES} entries")
        if not matches and search.denied:
            return Unavailable(pattern, Why.DENIED, search.denied)
        return tuple(matches)


class _NotRegularError(Exception):
    pass


class _TooManyError(Exception):
    pass


def _read(located: str, limit: int, tail: bool, flags: int, offset: int) -> bytes:
    # Looked at before it is opened, since opening alone makes some devices act; and again after, since it may have been exchanged.
    if not stat.S_ISREG(os.stat(located).st_mode):
        raise _NotRegularError
    descriptor = os.open(located, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | flags)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise _NotRegularError
        if tail and info.st_size > limit:
            os.lseek(descriptor, info.st_size - limit, os.SEEK_SET)
        elif offset > 0 and not tail:
            os.lseek(descriptor, offset, os.SEEK_SET)
        if tail and info.st_size == 0:
            return _last(descriptor, limit)
        return _first(descriptor, limit)
    finally:
        os.close(descriptor)


def _first(descriptor: int, limit: int) -> bytes:
    chunks: list[bytes] = []
    while limit > 0 and (chunk := _chunk(descriptor, min(limit, MIB), bool(chunks))):
        chunks.append(chunk)
        limit -= len(chunk)
    return b"".join(chunks)


def _last(descriptor: int, limit: int) -> bytes:
    kept, seen = b"", 0
    while seen < MAX_STREAM and (chunk := _chunk(descriptor, MIB, seen > 0)):
        seen += len(chunk)
        kept = (kept + chunk)[-limit:] if limit > 0 else b""
    return kept


def _chunk(descriptor: int, size: int, begun: bool) -> bytes:
    try:
        return os.read(descriptor, size)
    except BlockingIOError:  # /proc/kmsg and the like: no more for now
        return b""
    except OSError:
        if begun:  # a process that ended, a disk error: what was read counts
            return b""
        raise


_MAGIC = re.compile(r"[*?\[]")


class _Search:
    """One walk along a pattern; remembers what it was not allowed to see, and counts."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.denied = ""
        self.entries = 0
        self.found = 0

    def matches(self, base: str, names: list[str]) -> Iterator[str]:
        if not names:
            self.found += 1
            if self.found > MAX_MATCHES:
                raise _TooManyError
            yield base or "/"
            return
        name, rest = names[0], names[1:]
        if not _MAGIC.search(name):
            # Only the end of a run of plain names needs to be looked at.
            if rest or not isinstance(self.tree.stat(f"{base}/{name}"), Unavailable):
                yield from self.matches(f"{base}/{name}", rest)
            return
        for entry in self._entries(base or "/"):
            if (entry[0] != "." or name[0] == ".") and fnmatch.fnmatchcase(entry, name) and clean(entry) == entry:
                yield from self.matches(f"{base}/{entry}", rest)

    def _entries(self, folder: str) -> list[str]:
        real = self.tree.resolve(folder)
        if isinstance(real, Unavailable):
            self._note(real)
            return []
        names: list[str] = []
        try:
            with os.scandir(self.tree.real(real)) as entries:
                for entry in entries:
                    self.entries += 1
                    if self.entries > MAX_ENTRIES:
                        raise _TooManyError
                    names.append(entry.name)
        except (OSError, ValueError) as error:
            self._note(unavailable(folder, error))
        return names

    def _note(self, answer: Unavailable) -> None:
        if answer.why is not Why.MISSING:
            self.denied = self.denied or answer.what


__all__ = ["Tree", "kind_of", "unavailable"]
