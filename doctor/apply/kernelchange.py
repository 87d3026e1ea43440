"""Values of the running kernel, below /proc/sys and /sys: written one by one and read back.

Contract: a value that was changed by something else meanwhile is not overwritten. After a reboot the old value is only put back where ours is
still there: what the machine started with is nobody's business here.
"""

from __future__ import annotations

import errno
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from doctor.apply.change import ChangeError, Ground, Scripted, Standing
from doctor.apply.shellwords import quoted
from doctor.text import clean_line

ROOTS = ("/proc/sys/", "/sys/")
_CHOSEN = re.compile(r"\[([^\]\s]{1,64})\]")


@dataclass(frozen=True)
class KernelChange:
    """`before` maps each path to its value; all of them get `after`. `name` is how people call it: "vm.swappiness"."""

    KIND: ClassVar[str] = "kernel"

    name: str
    before: Mapping[str, str]
    after: str

    @property
    def subject(self) -> str:
        return self.name

    @property
    def nothing(self) -> bool:
        return all(value == self.after for value in self.before.values())

    def commands(self) -> tuple[tuple[str, ...], ...]:
        if self._sysctl:
            return (("sysctl", "-w", f"{self.name}={self.after}"),)
        loop = f'for file in {self.name}; do echo {self.after} > "$file"; done' if "*" in self.name else f"echo {self.after} > {self.name}"
        return (("sh", "-c", loop),)

    @property
    def _sysctl(self) -> bool:
        return all(path.startswith("/proc/sys/") for path in self.before)

    def diff(self) -> str:
        return ""

    def look(self, ground: Ground) -> Standing:
        # What is gone (a CPU that was taken offline, a module that was unloaded) has no value to compare or to put back.
        now = {path: value for path in self.before if (value := read_value(ground, path)) is not None}
        if now and all(value == self.after for value in now.values()):
            return Standing.AFTER
        if all(value == self.before[path] for path, value in now.items()):
            return Standing.BEFORE
        return Standing.MIXED if all(value in (self.before[path], self.after) for path, value in now.items()) else Standing.OTHER

    def save(self, ground: Ground, name: str) -> Mapping[str, Any]:
        return {}

    def make(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        for path in self.before:
            _write(ground, path, self.after)
            ground.reached(f"value of {path}")
        if self.look(ground) is not Standing.AFTER:
            raise ChangeError(f"the kernel did not take {self.after!r} for {self.name}")

    def unmake(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        for path, value in self.before.items():
            if read_value(ground, path) not in (value, None):
                _write(ground, path, value)
                ground.reached(f"value of {path} put back")

    def difference(self, ground: Ground, saved: Mapping[str, Any]) -> str:
        told = []
        for path, value in self.before.items():
            now = read_value(ground, path)
            if now not in (value, self.after, None):
                told.append(f"{path}: before {value}, set by doctor to {self.after}, now {clean_line(now or '')}")
        return "\n".join(told)

    def scripted(self) -> Scripted:
        do = tuple(f"set_value {quoted(path)} {quoted(self.after)}" for path in self.before)
        undo = tuple(f"set_value {quoted(path)} {quoted(value)}" for path, value in self.before.items())
        before = set(self.before.values())
        back = _tasks(self, before.pop()) if len(before) == 1 else tuple(task for path, value in self.before.items() for task in _tasks(replace(self, before={path: value}), value))
        return Scripted(do, undo, _tasks(self, self.after), back)

    def data(self) -> Mapping[str, Any]:
        return {"name": self.name, "before": dict(self.before), "after": self.after}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> KernelChange:
        before = {str(path): str(value) for path, value in data["before"].items()}
        if not before or not all(allowed(path) for path in before):
            raise ValueError("a path that is no kernel value")
        return cls(str(data["name"]), before, str(data["after"]))


def _tasks(change: KernelChange, value: str) -> tuple[Mapping[str, Any], ...]:
    """Ansible tasks that read the values, and write those that differ."""
    name = f"doctor_{hashlib.sha256(f'{sorted(change.before)} {value}'.encode()).hexdigest()[:8]}"
    read = {
        "ansible.builtin.command": {"argv": ["cat", "{{ item }}"]}, "loop": list(change.before), "register": name, "changed_when": False, "check_mode": False,
    }  # fmt: skip
    write = {
        "ansible.builtin.command": {"argv": ["tee", "{{ item.item }}"], "stdin": value},
        "loop": "{{ " + name + ".results }}",
        "loop_control": {"label": "{{ item.item }}"},
        "when": [f"item.stdout.split() != {value.split()!r}", f"{'[' + value + ']'!r} not in item.stdout"],
    }
    return read, write


def allowed(path: str) -> bool:
    """A path below /proc/sys or /sys, and nothing that leads out."""
    return path.startswith(ROOTS) and ".." not in path.split("/") and "\0" not in path


def chosen(text: str) -> str:
    """The value that a kernel file tells: the word in brackets of "always [madvise] never", else the words with single blanks."""
    match = _CHOSEN.search(text)
    return match[1] if match else " ".join(text.split())


def read_value(ground: Ground, path: str) -> str | None:
    try:
        text = ground.files.read_value(path)
    except OSError as problem:
        if problem.errno in (errno.EINVAL, errno.EIO, errno.ENODEV):  # a CPU that was taken offline
            return None
        raise
    return None if text is None else chosen(text)


def _write(ground: Ground, path: str, value: str) -> None:
    if not allowed(path):
        raise ChangeError(f"{path} is no kernel value")
    try:
        ground.files.write_value(path, value)
    except OSError as problem:
        raise ChangeError(f"{path}: {problem.strerror or problem}") from None


__all__ = ["KernelChange", "allowed", "chosen", "read_value"]
