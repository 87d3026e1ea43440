"""Hosts written by hand: `files/`, a mirror of /, and `commands.txt`, a terminal's transcript. Fixtures use this layout.

`commands.txt` holds `$ command`, its output (standard error among it), `[exit N]` and an empty line. A command that is not there was
not recorded, which is not the same as an empty answer; a path that is not in `files/` was not there. Owners, modes and times are not
recorded. Empty regular files below `files/dev` stand for device nodes.
"""

from __future__ import annotations

import dataclasses
import email.utils
import functools
import os
import pathlib
import re
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone

from doctor.host import MIB, READ_LIMIT, RUN_TIMEOUT, FileInfo, Kind, Listener, Output, Process, Unavailable, Why
from doctor.host.listings import listed_rights, number_of
from doctor.host.tree import Tree
from doctor.text import clean, decode

COMMANDS_LIMIT = 64 * MIB

LONGEST_TEXT_LINK = 512

_TEXT_LINK = re.compile(r"[\w.@+\-][\w.@+:/\-]*")
_EXIT = re.compile(r"\[exit (-?[0-9]{1,9})\]\s*")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*(?:\(\)|%%)?)=(.*)")


class PlainHost:
    """A host recorded by hand in `folder`."""

    live = False

    def __init__(self, folder: pathlib.Path) -> None:
        self.label = clean(folder.resolve().name)
        self._tree = _CheckedOut(os.fspath(folder / "files"))
        self._has_files = (folder / "files").is_dir()
        self._outputs = tuple(_transcript(folder / "commands.txt"))

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        return self._refused(path) or self._tree.read(path, limit, tail)

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        return self._refused(path) or self._tree.read_bytes(path, limit, offset=offset)

    def _refused(self, path: str) -> Unavailable | None:
        info = self.stat(path)
        if isinstance(info, Unavailable):
            return info
        return Unavailable(path, Why.DENIED, "not a regular file") if info.kind is Kind.CHAR_DEVICE else None

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        return self._tree.glob(glob) if self._has_files else Unavailable(glob, Why.NOT_RECORDED)

    def stat(self, path: str) -> FileInfo | Unavailable:
        if not self._has_files:
            return Unavailable(path, Why.NOT_RECORDED)
        info, real = self._tree.stat(path), self._tree.resolve(path)
        if isinstance(info, Unavailable):
            return info
        kind = info.kind
        if kind is Kind.FILE and info.size == 0 and isinstance(real, str) and real.startswith("/dev/") and not real.startswith("/dev/shm/"):
            kind = Kind.CHAR_DEVICE
        mode, uid, gid = self._rights.get(path) or (None, None, None)
        return dataclasses.replace(info, kind=kind, mode=mode, uid=uid, gid=gid, mtime=None)

    @functools.cached_property
    def _rights(self) -> Mapping[str, tuple[int | None, int | None, int | None]]:
        """Path -> (mode, uid, gid), which a recorded `ls -l` or `stat` tells."""
        users, groups = self._uids(), self._ids("/etc/group")
        return {path: (mode, number_of(user, users), number_of(group, groups)) for output in self._outputs for path, mode, user, group in listed_rights(output)}

    def resolve(self, path: str) -> str | Unavailable:
        return self._tree.resolve(path) if self._has_files else Unavailable(path, Why.NOT_RECORDED)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        asked = tuple(argv)
        line = shlex.join(asked)
        output = max(self._outputs, key=lambda each: _likeness(each.argv, asked), default=None)
        if output is None or not _likeness(output.argv, asked):
            if self._not_found(asked):
                return Unavailable(line, Why.MISSING, "no such program")
            return Unavailable(line, Why.NOT_RECORDED)
        if _says_not_found(output):
            return Unavailable(line, Why.MISSING, "no such program")
        if output.exit == 126 and "permission denied" in output.stdout.lower():
            return Unavailable(line, Why.DENIED, "may not be run")
        return dataclasses.replace(output, argv=asked)

    def _not_found(self, asked: tuple[str, ...]) -> bool:
        """Whether the program was not there when it was called in another way."""
        return any(_says_not_found(output) and _likeness(output.argv[:1], asked[:1]) for output in self._outputs)

    def printed_logs(self) -> tuple[tuple[str, str], ...]:
        """(command, output) of what prints a log: the kernel's, a journal's, a container's, that of vLLM itself."""
        return tuple((shlex.join(output.argv), output.stdout) for output in self._outputs if prints_log(output.argv) and not _says_not_found(output))

    def processes(self) -> tuple[Process, ...] | Unavailable:
        for output in self._outputs:
            if _is(output, "ps") and (found := tuple(parse_ps(output.stdout, self._uids()))):
                return found
        found = tuple(self._of_proc())
        return found or Unavailable("processes", Why.NOT_RECORDED)

    def _joined(self, path: str) -> str:
        """A file of /proc whose parts end in NUL, which `read` would not leave in."""
        told = self.read_raw(path, MIB)
        return clean(decode(told).replace("\0", "\n")).replace("\n", "\0") if isinstance(told, bytes) and b"\0" in told else clean(decode(told)) if isinstance(told, bytes) else ""

    def _of_proc(self) -> Iterator[Process]:
        """Processes whose /proc/PID/cmdline was kept; process 1 alone tells no list."""
        paths = self.list("/proc/[0-9]*/cmdline")
        for path in () if isinstance(paths, Unavailable) or paths == ("/proc/1/cmdline",) else paths:
            pid, words, status = path.split("/")[2], self._joined(path).rstrip("\0\n"), self.read(f"{path[:-7]}status")
            argv = tuple(words.split("\0") if "\0" in words else words.split())
            if argv and _is_number(pid):
                told = dict(re.findall(r"^(Name|PPid|State):\s*(\S+)", status, re.MULTILINE)) if isinstance(status, str) else {}
                parent = told.get("PPid", "")
                yield Process(int(pid), int(parent) if _is_number(parent) else 0, told.get("Name") or os.path.basename(argv[0]), argv, state=told.get("State", ""))

    def _uids(self) -> Mapping[str, int]:
        return self._ids("/etc/passwd")

    def _ids(self, path: str) -> Mapping[str, int]:
        told = self._tree.read(path, MIB, False)  # not through stat, which asks for ids
        rows = [line.split(":") for line in told.splitlines()] if isinstance(told, str) else []
        return {"root": 0} | {row[0]: int(row[2]) for row in rows if len(row) > 2 and _is_number(row[2])}

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        if pid == 0:
            for output in self._outputs:
                if output.argv in (("env",), ("printenv",)):
                    return parse_env(output.stdout)
        text = self._joined(f"/proc/{pid}/environ").replace("\0", "\n") if pid else ""  # the kernel's way, or by hand: one variable a line
        return parse_env(text) if text else Unavailable(f"environment of process {pid}", Why.NOT_RECORDED)

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        return Unavailable("listening sockets", Why.NOT_RECORDED)

    def now(self) -> datetime:
        """The time that a recorded `date` printed, else that of this machine: the files' own times tell when they were copied."""
        dates = (parse_date(output.stdout.strip()) for output in self._outputs if _is(output, "date"))
        return next((date for date in dates if date), datetime.now(timezone.utc))

    def boot_id(self) -> str | Unavailable:
        text = self.read("/proc/sys/kernel/random/boot_id", 64)
        return text.strip() if isinstance(text, str) else dataclasses.replace(text, what="boot id")


class _CheckedOut(Tree):
    """A mirror whose links may have become files: Git without `core.symlinks`, and some archives, write a link's target as its text."""

    def link_target(self, located: str, info: os.stat_result) -> str:
        if stat.S_ISREG(info.st_mode) and 0 < info.st_size < LONGEST_TEXT_LINK:
            with open(located, "rb") as file:
                text = decode(file.read(LONGEST_TEXT_LINK))
            # Text files end in a newline; and the target must be there.
            if _TEXT_LINK.fullmatch(text) and os.path.lexists(os.path.join(os.path.dirname(located), text)):
                return text
        return super().link_target(located, info)


def _transcript(path: pathlib.Path) -> Iterator[Output]:
    try:
        with path.open("rb") as file:
            text = clean(decode(file.read(COMMANDS_LIMIT)))
    except OSError:
        return
    command: str | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        if command is None:
            if line.startswith("$ "):
                command, lines = line[2:].strip(), []
        elif match := _EXIT.fullmatch(line):
            yield _output(command, int(match[1]), lines)
            command = None
        else:
            lines.append(line)
    if command is not None:  # torn off at the end
        yield _output(command, 0, lines)


def _output(command: str, status: int, lines: Sequence[str]) -> Output:
    # A shell tells death by signal N as 128 + N.
    status = 128 - status if 128 < status <= 192 else status
    return Output(_argv(command), status, "".join(line + "\n" for line in lines))


def _argv(command: str) -> tuple[str, ...]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    while len(words) > 1 and _VARIABLE.fullmatch(words[0]):  # LANG=C npu-smi info
        del words[0]
    return tuple(words)


def _likeness(recorded: tuple[str, ...], asked: tuple[str, ...]) -> int:
    """2 for the same command, 1 for one that names the same program in another way, 0 for another."""
    if recorded == asked:
        return 2
    if not recorded or not asked or recorded[1:] != asked[1:]:
        return 0
    ours, theirs = recorded[0], asked[0]
    name = os.path.basename(ours)
    if not name or name != os.path.basename(theirs):
        return 0
    # Two interpreters of one name are two targets; two places of npu-smi are not two tools.
    both_placed = "/" in ours and "/" in theirs
    return 0 if both_placed and name.startswith("python") else 1


def _is(output: Output, name: str) -> bool:
    return bool(output.argv) and os.path.basename(output.argv[0]) == name and output.exit == 0


def _says_not_found(output: Output) -> bool:
    # bash: "command not found"; dash and busybox: "not found"; an absolute path: "No such file or directory".
    # A program whose libraries are missing exits with 127 too, but it is there.
    return output.exit == 127 and bool(re.search(r"not found|No such file", output.stdout)) and "shared libraries" not in output.stdout


def parse_env(text: str) -> dict[str, str]:
    """The output of `env`. A line without a name continues the value before it."""
    found: dict[str, str] = {}
    name = ""
    for line in text.rstrip("\n").split("\n"):
        if match := _VARIABLE.fullmatch(line):
            name = match[1]
            found[name] = match[2]
        elif name:
            found[name] += "\n" + line
    return found


_LOGS = frozenset({"dmesg", "journalctl", "vllm"})


def prints_log(argv: Sequence[str]) -> bool:
    """Whether a command's output reads as a log. What a script of the user printed is not: its causes stand in the script."""
    name = os.path.basename(argv[0]) if argv else ""
    return name in _LOGS or (name in ("docker", "podman", "nerdctl", "kubectl") and "logs" in argv[1:3])


_PS_COLUMNS = {"CMD": "args", "COMMAND": "args", "ARGS": "args", "UID": "user", "STAT": "state", "S": "state"}


def parse_ps(text: str, uids: Mapping[str, int]) -> Iterator[Process]:
    """The rows of `ps -eo pid,ppid,user,args`, `ps aux` or `ps -ef`, by their heading. Where one argument ends is lost in it."""
    heading, *rows = text.splitlines() or [""]
    columns = [_PS_COLUMNS.get(name, name.lower()) for name in heading.split()]
    if "pid" not in columns or "args" not in columns[-1:]:
        return
    for row in rows:
        cells = dict(zip(columns, row.split(None, len(columns) - 1), strict=False))
        pid, argv, user = cells.get("pid", ""), tuple(cells.get("args", "").split()), cells.get("user", "")
        if not _is_number(pid) or not argv:
            continue
        thread = argv[0].startswith("[")
        name = argv[0].strip("[]") if thread else os.path.basename(argv[0].removesuffix(":")) or argv[0]
        ppid = int(cells["ppid"]) if _is_number(cells.get("ppid", "")) else 0
        uid = int(user) if _is_number(user) else uids.get(user)
        yield Process(int(pid), ppid, name, () if thread else argv, uid=uid, state=cells.get("state", "")[:1])


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 12


def parse_date(text: str) -> datetime | None:
    """What `date`, `date -u`, `date -R`, `date -I…` or `date +%s` printed."""
    try:
        if _is_number(text):
            return datetime.fromtimestamp(int(text), timezone.utc)
        return _aware(datetime.fromisoformat(re.sub(r"Z$", "+00:00", text)))
    except (ValueError, OverflowError, OSError):
        pass
    # On a server with NPUs, CST is China's time; every other name is taken for UTC.
    plain = re.sub(r" CST (?=[0-9]{4}$)", " +0800 ", text)
    plain = re.sub(r" [A-Z]{2,5} (?=[0-9]{4}$)", " +0000 ", plain)
    try:
        return _aware(datetime.strptime(plain, "%a %b %d %H:%M:%S %z %Y"))
    except ValueError:
        pass
    try:
        return _aware(email.utils.parsedate_to_datetime(text))
    except (ValueError, TypeError, IndexError):
        return None


def _aware(date: datetime) -> datetime:
    return date.replace(tzinfo=timezone.utc) if date.tzinfo is None else date.astimezone(timezone.utc)


__all__ = ["PlainHost", "parse_date", "parse_env", "parse_ps"]
