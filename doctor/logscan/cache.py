"""Files in this user's cache: what may be trusted of them, and how they are written. Nothing in the cache is needed.

Contract: `load` gives back what `save` wrote, or None: for a file that another user owns or may write, that is a link, cut off or
changed, and where there is none. `save` never raises and never leaves half a file under the name.
"""

from __future__ import annotations

import hashlib
import os
import stat

TYPE_CHECKING = False  # see doctor.locale: a help page comes from here as well
if TYPE_CHECKING:
    from pathlib import Path

KEPT = 8
"""Files of one kind (what stands before the first hyphen) that are kept: the newest ones. Every version and rule pack has its own."""

_DIGEST = hashlib.sha256().digest_size


def cache_folder() -> Path:
    """Where this user's cache lies."""
    from pathlib import Path

    return Path(_folder())


def _folder() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return os.path.join(base if os.path.isabs(base) else os.path.join(os.path.expanduser("~"), ".cache"), "ascend-doctor")


def load(name: str) -> bytes | None:
    """The content of a cached file."""
    try:
        if not _mine(os.stat(_folder())):
            return None
        handle = os.open(os.path.join(_folder(), name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        with open(handle, "rb") as file:
            info = os.fstat(handle)
            if not (stat.S_ISREG(info.st_mode) and _mine(info)):
                return None
            stored = file.read()
    except OSError:
        return None
    data = stored[_DIGEST:]
    return data if hashlib.sha256(data).digest() == stored[:_DIGEST] else None


def _mine(info: os.stat_result) -> bool:
    """Owned by this user, and written by nobody else: a borrowed home (sudo without -H) may hold what another user left."""
    return info.st_uid == os.geteuid() and not info.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def save(name: str, data: bytes) -> None:
    """Keeps the content under the name, where a cache can be written."""
    path = cache_folder() / name
    partial = path.with_name(f".{name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with open(handle, "wb") as file:
                file.write(hashlib.sha256(data).digest() + data)
            os.replace(partial, path)
            _tidy(path.parent, name.partition("-")[0] + "-")
        except OSError:
            partial.unlink(missing_ok=True)
    except OSError:
        pass


def _tidy(folder: Path, kind: str) -> None:
    """Removes all but the newest files of a kind, and what a killed run left half written."""
    mine = [entry for entry in os.scandir(folder) if entry.name.lstrip(".").startswith(kind)]
    mine.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime)
    for entry in mine[:-KEPT]:
        os.unlink(entry.path)
