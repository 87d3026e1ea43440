"""`sysctl`: a kernel parameter, set at run time by its exact key and kept by a drop-in of doctor's own that sorts last.

Others' files are never edited: who else sets the key is named, and whether the drop-in wins after a reboot is computed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from doctor.apply.change import Change
from doctor.apply.filechange import FileChange
from doctor.apply.kernelchange import KernelChange
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step, needs_root, refused_setting, text_of
from doctor.apply.plan import Effect, Needs, Note, StepPlan
from doctor.apply.sysctlorder import CONF, Order, Setter, order
from doctor.facts.kernel import sysctl_path
from doctor.fix import SetSysctl
from doctor.host import KIB, Unavailable
from doctor.words import Words

FOLDER = "/etc/sysctl.d"
PREFIXES = ("99-zz-", "zz-", "zzz-", "zzzzzz-")
"""How the drop-in's name may begin: the first that sorts after every file that sets the key. "99-zz-" is after the usual 99-sysctl.conf."""
_KEY = re.compile(r"[A-Za-z0-9_-]+(?:[./][A-Za-z0-9_:/-]+)+")
_VALUE = re.compile(r"[^\n\0#;]{1,400}")


class SysctlKind:
    action: type[Any] = SetSysctl
    changes: tuple[type[Change], ...] = ()

    def plan(self, key: str, action: SetSysctl, context: Context) -> StepPlan:
        title = Words(f"Set {action.key} to {action.value}", f"把 {action.key} 设为 {action.value}")
        fits = bool(_KEY.fullmatch(action.key) and ".." not in action.key and _VALUE.fullmatch(action.value))
        wrong = None if fits else Words(f"{action.key!r} is no sysctl", f"{action.key!r} 不是 sysctl 参数")
        if refused := refused_setting(key, action, title, context, wrong, lambda: _host_commands(action)):
            return refused
        running = _running(context, action.key)
        if isinstance(running, Words):
            return blocked_step(key, action, title, running)
        path = drop_in(context, action.key)
        before = text_of(context.host, path)
        if isinstance(before, Words):
            return blocked_step(key, action, title, before)
        content = drop_in_content(action.key, action.value, context.rule)
        now = order(context.host, action.key)
        kept = now.boot is not None and now.boot.value == action.value and not now.perhaps
        file = None if kept else FileChange(path, before, content)
        value = KernelChange(action.key, {sysctl_path(action.key): running}, action.value) if running is not None else None
        made: list[Change] = [change for change in (file, value) if change is not None and not change.nothing]
        after = now if kept else order(context.host, action.key, path, content)
        effect = Effect.NOW if context.live else Effect.NEXT_BOOT
        return StepPlan(
            key, action, title, tuple(made), Needs(root=needs_root(context, path)), effect=effect, notes=tuple(notes(after, path, action, kept))
        )


def _running(context: Context, key: str) -> str | None | Words:
    """The running value; None where it is not ours to set (another root); why it cannot be set, where the kernel has no such key."""
    if not context.live:
        return None
    found = context.host.read(sysctl_path(key), 4 * KIB)
    if isinstance(found, Unavailable):
        return Words(f"this kernel has no {key} ({found.why.value})", f"该内核没有 {key}（{found.why.value}）")
    return " ".join(found.split())


def drop_in(context: Context, key: str) -> str:
    """Path of the drop-in: the one that is there, else the first name that sorts after every other file that sets the key."""
    name = key.replace("/", "-").replace(".", "-") + ".conf"
    paths = [f"{FOLDER}/{prefix}ascend-doctor-{name}" for prefix in PREFIXES]
    others = [one.source for one in order(context.host, key).systemd if one.source not in paths]
    last = max((path.rpartition("/")[2] for path in others), default="")
    fitting = [path for path in paths if path.rpartition("/")[2] > last]
    there = [path for path in fitting if not isinstance(context.host.stat(path), Unavailable)]
    return (there or fitting or paths[-1:])[0]


def drop_in_content(key: str, value: str, rule: str) -> str:
    return f"# Written by ascend-doctor for {rule}. `doctor history` tells when and by whom, `doctor undo` takes it away.\n{key} = {value}\n"


def _host_commands(action: SetSysctl) -> tuple[str, ...]:
    name = action.key.replace("/", "-").replace(".", "-")
    setting = f"{action.key}={action.value}"
    return (f"sysctl -w '{setting}'", f"printf '%s\\n' '{action.key} = {action.value}' > {FOLDER}/99-zz-ascend-doctor-{name}.conf")


def notes(told: Order, path: str, action: SetSysctl, kept: bool) -> Iterator[Note]:
    """Who else sets the key, and who wins."""
    everyone = [one for one in dict.fromkeys((*told.procps, *told.yielding, *told.later, *told.perhaps)) if one.source != path]
    for one in everyone:
        yield Note(Words(f"{_place(one)} sets it to {one.value}", f"{_place(one)} 将其设为 {one.value}"), conflict=one.value != action.value)
    if kept:
        yield Note(Words(f"{_place(told.boot)} keeps the value after a reboot; no file is needed", f"重启后由 {_place(told.boot)} 保持该值，无需新文件"))
        return
    yield _after_reboot(told, path, action)
    if told.perhaps:
        yield Note(
            Words(
                "A-Tune runs and may set it whenever a profile is chosen; atune-adm rollback takes its changes back",
                "A-Tune 已启用，切换 profile 时可能再次修改；可用 atune-adm rollback 撤销其改动",
            ),
            conflict=True,
        )
    reload = told.reload
    if reload is not None and reload.source != path and reload.value != action.value:
        yield Note(
            Words(
                f"`sysctl --system` reads {CONF} last: whoever runs it sets {reload.value} until the next boot. Change the line in {_place(reload)}",
                f"`sysctl --system` 最后读取 {CONF}：执行后会变为 {reload.value}，直到下次重启。请修改 {_place(reload)} 中的该行",
            ),
            conflict=True,
        )


def _after_reboot(told: Order, path: str, action: SetSysctl) -> Note:
    boot = told.boot
    if told.masked and not told.later:
        return Note(Words("systemd-sysctl is masked: no file is applied at boot", "systemd-sysctl 已被屏蔽：开机时不会应用任何文件"), conflict=True)
    if boot is not None and (boot.source == path or boot.value == action.value):
        return Note(Words(f"after a reboot {boot.source} wins: {boot.value}", f"重启后以 {boot.source} 为准：{boot.value}"))
    shown = (_place(boot), boot.value) if boot is not None else ("nobody", "?")
    return Note(
        Words(f"after a reboot {shown[0]} wins: {shown[1]}. The new file does not last; change it there", f"重启后以 {shown[0]} 为准：{shown[1]}。新文件不会生效，请在该处修改"),
        conflict=True,
    )


def _place(one: Setter | None) -> str:
    return "" if one is None else f"{one.source}:{one.line}" if one.line else one.source


KIND = SysctlKind()

__all__ = ["FOLDER", "KIND", "drop_in", "drop_in_content", "notes"]
