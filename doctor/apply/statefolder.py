"""Where doctor keeps what it needs to go back: the journal, the backups, and the lock that lets one run change things at a time.

Contract: the folder belongs to who runs doctor and nobody else may enter it; everything in it is opened by descriptor and is on the disk
before the caller goes on.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping

from doctor.apply.change import ChangeError
from doctor.apply.rootfiles import RootFiles, UnsafePath

NAME = "ascend-doctor"
SYSTEM = f"/var/lib/{NAME}"
_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{6}")
_BACKUP = re.compile(r"[A-Za-z0-9._-]{1,120}")


class BusyError(Exception):
    """Another doctor is changing this machine; `pid` says which, 0 where that cannot be told."""

    def __init__(self, pid: int) -> None:
        super().__init__(str(pid))
        self.pid = pid


def state_path(root: str, euid: int, environ: Mapping[str, str]) -> str:
    """The folder's path below the root: the system's for root and below any root that was named, else the user's own."""
    if euid == 0 or root != "/":
        return SYSTEM
    base = environ.get("XDG_STATE_HOME", "")
    return f"{base.rstrip('/') if base.startswith('/') else os.path.expanduser('~').rstrip('/') + '/.local/state'}/{NAME}"


class StateFolder:
    """One state folder; made where it is not there. Raises `UnsafePath` for one that others could change, OSError where it cannot be made."""

    def __init__(self, files: RootFiles, path: str) -> None:
        for folder in (*files.missing_folders(path + "/x"),):
            files.make_folder(folder, 0o700 if folder == path else 0o755)
        self.files, self.path = files, path
        self.descriptor = files.open_folder(path)
        info = os.fstat(self.descriptor)
        if info.st_uid != os.geteuid() or info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            os.close(self.descriptor)
            raise UnsafePath(f"{path} is not only ours (uid {info.st_uid}, mode {stat.S_IMODE(info.st_mode):04o})")

    @classmethod
    def existing(cls, files: RootFiles, path: str) -> StateFolder | None:
        """The folder if it is there, for those who only read."""
        try:
            os.close(files.open_folder(path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return cls(files, path)

    def close(self) -> None:
        os.close(self.descriptor)

    @property
    def shown(self) -> str:
        return self.path if self.files.root == "/" else self.files.root.rstrip("/") + self.path

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else changes anything meanwhile; a run that dies leaves no lock behind. Raises `BusyError`."""
        lock = os.open("lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=self.descriptor)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as problem:
                if problem.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise
                told = os.read(lock, 20).decode("ascii", "replace").strip()
                raise BusyError(int(told) if told.isdecimal() else 0) from None
            with contextlib.suppress(OSError):  # who holds it is only a courtesy; a full disk must not keep anybody from an undo
                os.ftruncate(lock, 0)
                os.pwrite(lock, str(os.getpid()).encode(), 0)
            yield
        finally:
            os.close(lock)

    def transaction(self, ident: str) -> TransactionFolder:
        """The folder of one transaction, made where it is not there."""
        if not _ID.fullmatch(ident):
            raise ChangeError(f"{ident!r} is no transaction")
        for parent, name in (("", "transactions"), ("transactions/", ident)):
            with contextlib.suppress(FileExistsError):
                os.mkdir(parent + name, 0o700, dir_fd=self.descriptor)
        os.fsync(self.descriptor)
        above = os.open("transactions", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.descriptor)
        try:
            os.fsync(above)
            descriptor = os.open(ident, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
        finally:
            os.close(above)
        return TransactionFolder(descriptor, f"{self.files.root.rstrip('/')}{self.path}/transactions/{ident}")


    def discard(self, ident: str) -> None:
        """Removes the folder of a transaction that never began."""
        if _ID.fullmatch(ident):
            shutil.rmtree(f"{self.files.root.rstrip('/')}{self.path}/transactions/{ident}", ignore_errors=True)


class TransactionFolder:
    """Backups of one transaction (`doctor.apply.change.Backups`)."""

    def __init__(self, descriptor: int, path: str) -> None:
        self.descriptor, self.path = descriptor, path

    def close(self) -> None:
        os.close(self.descriptor)

    def keep(self, name: str, data: bytes) -> str:
        self._named(name)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(name, flags, 0o600, dir_fd=self.descriptor)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.fsync(self.descriptor)
        return hashlib.sha256(data).hexdigest()

    def kept(self, name: str, sha256: str) -> bytes:
        self._named(name)
        try:
            descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=self.descriptor)
        except OSError as problem:
            raise ChangeError(f"the backup {self.path}/{name} cannot be read: {problem.strerror}") from None
        with open(descriptor, "rb") as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ChangeError(f"the backup {self.path}/{name} was altered")
        return data

    def folder(self, name: str) -> str:
        self._named(name)
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=self.descriptor)
        os.fsync(self.descriptor)
        return f"{self.path}/{name}"

    @staticmethod
    def _named(name: str) -> None:
        if not _BACKUP.fullmatch(name) or name.startswith("."):
            raise ChangeError(f"{name!r} is no name of a backup")


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


__all__ = ["BusyError", "StateFolder", "TransactionFolder", "state_path", "write_all"]
