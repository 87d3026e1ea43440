"""`sysfs`: a setting below /sys, written now and, through tmpfiles.d, at every boot: transparent huge pages, CPU frequency governors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from doctor.apply import tuners
from doctor.apply.change import Change
from doctor.apply.filechange import FileChange
from doctor.apply.kernelchange import KernelChange, chosen
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step, needs_root, refused_setting, text_of
from doctor.apply.plan import Disturbed, Effect, Needs, Note, StepPlan
from doctor.apply.users import servers
from doctor.fix import SetSysfs
from doctor.host import KIB, Host, Unavailable
from doctor.words import Words

FOLDER = "/etc/tmpfiles.d"
PREFIX = "00-ascend-doctor-"
"""tmpfiles.d sorts by name; of two lines for one path the first counts, and systemd-tmpfiles warns of the other (tmpfiles.d(5))."""
TMPFILES = ("/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d")
_PATH = re.compile(r"/sys/[A-Za-z0-9_./*:\[\]-]{1,300}")
_VALUE = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_TUNED = {"/sys/kernel/mm/transparent_hugepage/enabled": ("vm", "transparent_hugepages"), "governor": ("cpu", "governor")}
_WORDS = re.compile(r"\[?([A-Za-z0-9_+-]{1,32})\]?")


class SysfsKind:
    action: type[Any] = SetSysfs
    changes: tuple[type[Change], ...] = ()

    def plan(self, key: str, action: SetSysfs, context: Context) -> StepPlan:
        title = Words(f"Set {action.path} to {action.value}", f"把 {action.path} 设为 {action.value}")
        fits = bool(_PATH.fullmatch(action.path) and ".." not in action.path and _VALUE.fullmatch(action.value))
        wrong = None if fits else Words(f"{action.path!r} is no setting below /sys", f"{action.path!r} 不是 /sys 下的设置")
        if refused := refused_setting(key, action, title, context, wrong, lambda: _host_commands(action)):
            return refused
        running = _running(context.host, action) if context.live else {}
        if isinstance(running, Words):
            return blocked_step(key, action, title, running)
        lines = tuple(_tmpfiles_lines(context.host, action.path))
        kept = bool(lines) and lines[0][1] == action.value
        path = f"{FOLDER}/{PREFIX}{_slug(action.path)}.conf"
        before = text_of(context.host, path)
        if isinstance(before, Words):
            return blocked_step(key, action, title, before)
        file = None if kept else FileChange(path, before, _content(action, context.rule))
        value = KernelChange(action.path, running, action.value) if running else None
        made: list[Change] = [change for change in (file, value) if change is not None and not change.nothing]
        return StepPlan(
            key, action, title, tuple(made), Needs(root=needs_root(context, path)),
            effect=Effect.NOW if context.live else Effect.NEXT_BOOT, disturbs=_disturbed(context) if value in made else (), notes=tuple(_notes(context, action, path, lines, kept)),
        )  # fmt: skip


def _disturbed(context: Context) -> tuple[Disturbed, ...]:
    how = Words("it goes on; speed and latency may change while it runs", "不会中断，运行中的速度和时延可能变化")
    return tuple(Disturbed(server.pid, server.name, how) for server in servers(context) if server.pid)


def _running(host: Host, action: SetSysfs) -> dict[str, str] | Words:
    """Value by path of everything that matches and can take the value."""
    paths = host.list(action.path) if "*" in action.path else (action.path,)
    found: dict[str, str] = {}
    for path in () if isinstance(paths, Unavailable) else paths:
        text = host.read(path, KIB)
        if isinstance(text, str) and _takes(host, path, text, action.value):
            found[path] = chosen(text)
    return found or Words(
        f"nothing at {action.path} takes {action.value!r} on this machine", f"本机的 {action.path} 不存在或不接受 {action.value}"
    )


def _takes(host: Host, path: str, text: str, value: str) -> bool:
    """Whether the file knows that word: told by itself (`always [madvise] never`) or by the list of governors beside it."""
    if "[" in text:
        return value in _WORDS.findall(text)
    if path.endswith("/scaling_governor"):
        beside = host.read(path.replace("scaling_governor", "scaling_available_governors"), KIB)
        return not isinstance(beside, str) or value in beside.split()
    return True


def _tmpfiles_lines(host: Host, path: str) -> Iterator[tuple[str, str]]:
    """(file, value) of the lines of tmpfiles.d that write the path, in their order; the first counts."""
    by_name: dict[str, str] = {}
    for folder in TMPFILES:
        found = host.list(f"{folder}/*.conf")
        for file in () if isinstance(found, Unavailable) else found:
            by_name.setdefault(file.rpartition("/")[2], file)
    for _, file in sorted(by_name.items()):
        for line in tuners.text(host, file).splitlines():
            words = line.split(None, 6)
            if len(words) == 7 and words[0].rstrip("!-+=") in ("w",) and words[1] == path:
                yield file, words[6].strip()


def _content(action: SetSysfs, rule: str) -> str:
    return f"# Written by ascend-doctor for {rule}. `doctor history` tells when and by whom, `doctor undo` takes it away.\nw {action.path} - - - - {action.value}\n"


def _notes(context: Context, action: SetSysfs, path: str, lines: tuple[tuple[str, str], ...], kept: bool) -> Iterator[Note]:
    others = [(file, value) for file, value in lines if file != path]
    for file, value in others:
        yield Note(Words(f"{file} sets it to {value}", f"{file} 将其设为 {value}"), conflict=value != action.value)
    if kept:
        yield Note(Words(f"{lines[0][0]} keeps the value after a reboot; no file is needed", f"重启后由 {lines[0][0]} 保持该值，无需新文件"))
    elif others and others[0][0].rpartition("/")[2] < path.rpartition("/")[2]:
        yield Note(
            Words(f"after a reboot {others[0][0]} wins, for of two lines for one path the first counts; change it there", f"重启后以 {others[0][0]} 为准（同一路径以先读到的为准），请在该处修改"),
            conflict=True,
        )
    else:
        yield Note(Words(f"after a reboot systemd-tmpfiles writes it from {path}", f"重启后由 systemd-tmpfiles 按 {path} 写入"))
    section, name = _TUNED.get(action.path) or (_TUNED["governor"] if action.path.endswith("scaling_governor") else ("", ""))
    active = tuners.tuned(context.host)
    if active and section:
        for file, key, value in tuners.tuned_settings(context.host, active.profiles, section):
            if key in (name, name.rstrip("s")):
                yield Note(
                    Words(f"tuned ({file}) sets it to {value} when it starts, after tmpfiles.d", f"tuned（{file}）启动时会设为 {value}，晚于 tmpfiles.d"),
                    conflict=action.value not in value.split("|"),
                )
    command = tuners.text(context.host, "/proc/cmdline")
    if "transparent_hugepage=" in command and action.path.endswith("transparent_hugepage/enabled"):
        value = command.partition("transparent_hugepage=")[2].split()[0]
        yield Note(Words(f"the kernel starts with transparent_hugepage={value}; tmpfiles.d comes later", f"内核启动参数为 transparent_hugepage={value}；tmpfiles.d 在其后生效"))


def _slug(path: str) -> str:
    kept = [part for part in path.removeprefix("/sys/").split("/") if "*" not in part]
    return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(kept[-3:])).strip("-")


def _host_commands(action: SetSysfs) -> tuple[str, ...]:
    write = (
        f"for file in {action.path}; do echo {action.value} > \"$file\"; done" if "*" in action.path else f"echo {action.value} > {action.path}"
    )
    return (write, f"printf '%s\\n' 'w {action.path} - - - - {action.value}' > {FOLDER}/{PREFIX}{_slug(action.path)}.conf")


KIND = SysfsKind()

__all__ = ["FOLDER", "KIND"]
