"""Runs one command on this machine: no shell, no standard input, bounded in time and output, killed with all its children.

Contract: `run` never raises for anything a program can do, and returns at the latest a few seconds after its time limit.
"""

from __future__ import annotations

import contextlib
import enum
import os
import selectors
import shlex
import signal
import stat
import subprocess
import time
from collections.abc import Mapping, Sequence

from doctor.host import MIB, Output, Unavailable, Why
from doctor.host.tree import unavailable
from doctor.text import clean, decode

OUTPUT_LIMIT = 4 * MIB
"""Bytes kept of each of standard output and standard error; a program that prints more is ended."""
GRACE = 1.0
"""Seconds between SIGTERM and SIGKILL."""
POLL = 0.05
"""Seconds between looks whether a child has ended that no event tells of."""

FOLDERS = (
    "/usr/local/bin", "/usr/local/sbin", "/usr/bin", "/usr/sbin", "/bin", "/sbin", "/usr/local/Ascend/driver/tools",
)  # fmt: skip
"""Where programs called by a bare name are looked for; PATH is not asked, since anyone may have set it."""

DRIVER_TOOLS = frozenset({"npu-smi", "hccn_tool"})
"""Programs that need the driver's libraries and so get doctor's own LD_LIBRARY_PATH; containers set it for them."""


def run(argv: Sequence[str], timeout: float, env: Mapping[str, str] | None, folders: Sequence[str] = FOLDERS) -> Output | Unavailable:
    """Runs the command for at most `timeout` seconds. What it printed until it was ended for its output counts, `truncated`."""
    line = clean(shlex.join(argv))
    program = find(argv[0], folders) if argv else Unavailable(line, Why.MISSING, "no command")
    if isinstance(program, Unavailable):
        return Unavailable(line, program.why, program.detail)
    started = time.monotonic()
    try:
        child = subprocess.Popen(
            [program, *argv[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(argv[0], env),
            cwd="/",
            start_new_session=True,
            close_fds=True,
        )
    except (OSError, ValueError) as error:
        return unavailable(line, error)
    out, err, end = _collect(child, started + timeout)
    _finish(child, end)
    if end is _End.TIMED_OUT or child.returncode is None:
        return Unavailable(line, Why.TIMED_OUT, f"no answer within {timeout:g} s")
    stdout, stderr = (clean(decode(bytes(data[:OUTPUT_LIMIT]))) for data in (out, err))
    seconds = round(time.monotonic() - started, 3)
    return Output(tuple(map(clean, argv)), child.returncode, stdout, stderr, seconds, end is _End.TOO_MUCH)


def find(name: str, folders: Sequence[str] = FOLDERS) -> str | Unavailable:
    """The program's absolute path. As root, one found by its name counts only if nobody but root could have put it there."""
    if "/" in name:
        # Named by its place: a target's interpreter, which belongs to the target's user.
        return name if os.path.isabs(name) else Unavailable(name, Why.DENIED, "a program is named by its absolute path or by its bare name")
    denied: Unavailable | None = None
    for folder in folders:
        path = os.path.join(folder, name)
        try:
            if not name or not stat.S_ISREG(os.stat(path).st_mode) or not os.access(path, os.X_OK):
                continue
            if os.geteuid() != 0 or _is_roots(path):
                return path
            denied = Unavailable(name, Why.DENIED, f"{path} could have been changed by others than root")
        except (OSError, ValueError):
            continue
    return denied or Unavailable(name, Why.MISSING, "no such program")


def _is_roots(path: str) -> bool:
    real = os.path.realpath(path)
    for each in (real, os.path.dirname(real), os.path.dirname(path)):
        info = os.stat(each)
        shared = stat.S_IWOTH | (stat.S_IWGRP if info.st_gid != 0 else 0)
        if info.st_uid != 0 or info.st_mode & shared:
            return False
    return True


def _environment(program: str, extra: Mapping[str, str] | None) -> dict[str, str]:
    chosen = {"PATH": ":".join(FOLDERS), "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}
    if os.path.basename(program) in DRIVER_TOOLS and "LD_LIBRARY_PATH" in os.environ:
        chosen["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    return chosen | dict(extra or {})


class _End(enum.Enum):
    """How the reading of a child's output ended."""

    DONE = "done"
    TIMED_OUT = "timed out"
    TOO_MUCH = "too much"


def _collect(child: subprocess.Popen[bytes], deadline: float) -> tuple[bytearray, bytearray, _End]:
    """What the child printed. A grandchild that keeps a pipe open does not keep us once the child itself has ended."""
    assert child.stdout and child.stderr
    out, err = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        for pipe, data in ((child.stdout, out), (child.stderr, err)):
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, data)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                return out, err, _End.TOO_MUCH if _has_ended(child) else _End.TIMED_OUT
            ready = selector.select(min(left, POLL))
            if not ready and _has_ended(child):
                return out, err, _End.DONE
            for key, _ in ready:
                if not _drain(key.fd, key.data):
                    selector.unregister(key.fileobj)
            if max(len(out), len(err)) > OUTPUT_LIMIT:
                return out, err, _End.TOO_MUCH
    # Both pipes are closed; most children end at once, some live on.
    return out, err, _End.DONE if _wait(child, deadline) else _End.TIMED_OUT


def _drain(descriptor: int, data: bytearray) -> bool:
    """Reads what is there; False at the end."""
    try:
        chunk = os.read(descriptor, 64 * 1024)
    except BlockingIOError:
        return True
    except OSError:
        return False
    data += chunk
    return bool(chunk)


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    # Without taking its status: as long as nobody has, its number, which is that of its group, cannot be given to another process.
    try:
        return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
    except ChildProcessError:  # SIGCHLD is ignored in this process: the kernel took the status
        return True


def _wait(child: subprocess.Popen[bytes], deadline: float) -> bool:
    """Whether the child has ended by then."""
    pause = 0.001
    while not _has_ended(child):
        if time.monotonic() >= deadline:
            return False
        time.sleep(pause)
        pause = min(2 * pause, POLL)
    return True


def _finish(child: subprocess.Popen[bytes], end: _End) -> None:
    """Ends what has not ended by itself, with whatever it started in its group, and takes the child's status.

    A child in uninterruptible sleep (a hung driver) cannot be ended by anyone and is left behind.
    """
    if end is not _End.DONE:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, sign)
            _wait(child, time.monotonic() + GRACE)
    for pipe in (child.stdout, child.stderr):
        assert pipe
        pipe.close()
    if _has_ended(child):
        child.wait()


__all__ = ["DRIVER_TOOLS", "FOLDERS", "OUTPUT_LIMIT", "find", "run"]
