"""What is asked of the operating system: files below a root, commands, environments.

Contract: standard library only, in the grammar of Python 3.6 (see `reading`).
"""

# ruff: noqa: UP031

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from doctor.text import clean, decode

FOLDERS = ("/usr/local/bin", "/usr/local/sbin", "/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/Ascend/driver/tools")
DRIVER_TOOLS = ("npu-smi", "hccn_tool")
MOST_ENTRIES = 20000
MOST_NODES = 150000
MOST_BYTES = 64 * 1024 * 1024
OUTPUT_LIMIT = 4 * 1024 * 1024
MAX_LINKS = 40
KINDS = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link", stat.S_IFCHR: "character device", stat.S_IFBLK: "block device", stat.S_IFIFO: "fifo", stat.S_IFSOCK: "socket"}
MISSING = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ESRCH, errno.EINVAL)


class Machine:
    """What is asked of the operating system, below a root."""

    def __init__(self, root: str = "/") -> None:
        self.root = "" if root == "/" else os.path.abspath(root)

    @property
    def live(self) -> bool:
        return not self.root

    def name(self) -> str:
        """The host's name."""
        if self.live:
            return os.uname().nodename
        try:
            return self.read("/etc/hostname", 1024, False).decode("utf-8", "replace").strip() or self.root
        except OSError:
            return self.root

    def lstat(self, path: str) -> os.stat_result:
        return os.stat(self.root + path) if path in ("", "/", "/proc/self") else os.lstat(self.root + path)

    def link(self, path: str) -> str:
        return os.readlink(self.root + path)

    def names(self, path: str) -> list[str]:
        return sorted(os.listdir(self.root + (path or "/")))

    def read(self, path: str, limit: int, tail: bool) -> bytes:
        """At most `limit` bytes of a regular file."""
        if not stat.S_ISREG(os.stat(self.root + path).st_mode):
            raise OSError(errno.EACCES, "not a regular file")
        descriptor = os.open(self.root + path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode):
                raise OSError(errno.EACCES, "not a regular file")
            if tail and info.st_size > limit:
                os.lseek(descriptor, info.st_size - limit, os.SEEK_SET)
            data, kept = b"", 64 * 1024 * 1024 if tail else limit
            while len(data) < kept:
                try:
                    piece = os.read(descriptor, min(kept - len(data), 1024 * 1024))
                except BlockingIOError:
                    break
                except OSError:
                    if not data:
                        raise
                    break
                if not piece:
                    break
                data += piece
            return data[-limit:] if tail else data
        finally:
            os.close(descriptor)

    def environ(self, pid: int) -> dict[str, str]:
        if pid == 0:
            if not self.live:
                raise OSError(errno.ENOENT, "another machine is mounted here")
            return {clean(name): clean(value) for name, value in os.environ.items()}
        pairs = (clean(decode(part)).partition("=") for part in self.read("/proc/%d/environ" % pid, 2 * 1024 * 1024, False).split(b"\0"))
        return {name: value for name, _, value in pairs if name}

    def run(self, argv: Sequence[str], timeout: float) -> tuple[int, bytes, bytes, float]:
        """(exit, stdout, stderr, seconds). Raises OSError, or subprocess.TimeoutExpired."""
        if not self.live:
            raise OSError(errno.ENODATA, "another machine is mounted here")
        program = next((os.path.join(folder, argv[0]) for folder in FOLDERS if os.access(os.path.join(folder, argv[0]), os.X_OK)), "")
        if not program:
            raise OSError(errno.ENOENT, "no such program")
        if os.geteuid() == 0 and not _is_roots(program):
            raise OSError(errno.EACCES, program + " could have been changed by others than root")
        chosen = {"PATH": ":".join(FOLDERS), "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
        if argv[0] in DRIVER_TOOLS and "LD_LIBRARY_PATH" in os.environ:
            chosen["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
        started = time.monotonic()
        child = subprocess.Popen(
            [program, *argv[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=chosen, cwd="/", start_new_session=True
        )  # fmt: skip
        try:
            out, err = child.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            for sign in (signal.SIGTERM, signal.SIGKILL):
                try:
                    os.killpg(child.pid, sign)
                    child.wait(1.0)
                except (OSError, subprocess.TimeoutExpired):
                    continue
            raise
        return child.returncode, out, err, round(time.monotonic() - started, 3)


def _is_roots(path: str) -> bool:
    real = os.path.realpath(path)
    for each in (real, os.path.dirname(real), os.path.dirname(path)):
        info = os.stat(each)
        if info.st_uid != 0 or info.st_mode & (stat.S_IWOTH | (stat.S_IWGRP if info.st_gid else 0)):
            return False
    return True


def why(error: OSError) -> str:
    """As `doctor.host.Why` calls it."""
    if isinstance(error, OSError) and error.errno == errno.ENODATA:
        return "not recorded"
    return "missing" if not isinstance(error, OSError) or error.errno in MISSING else "denied"


def quiet(ask: Callable[..., Any], *arguments: Any) -> Any:
    """What the question gives, None where it cannot be answered."""
    try:
        return ask(*arguments)
    except (OSError, ValueError):
        return None


def unique(values: Iterable[str]) -> list[str]:
    """Each once, in order, none empty."""
    return list(dict.fromkeys(value for value in values if value))


def is_vllm(process: Mapping[str, Any]) -> bool:
    """Whether it is a server, an engine or a worker of vLLM's."""
    words = [process["name"]] + process["argv"][:8]
    return any(re.search(r"(?i)(?:^|/)vllm(?:$|::|[.\s])|vllm\.entrypoints|VLLM::", word) for word in words)
