"""`systemd`: settings of the unit that runs vLLM, in a drop-in of doctor's own; the unit's file is not touched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from doctor.apply.change import Change
from doctor.apply.filechange import FileChange
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step, needs_root, refused_setting, text_of
from doctor.apply.plan import Effect, Needs, Note, StepPlan
from doctor.apply.units import drop_ins, settings, unit_of
from doctor.fix import SystemdDropIn
from doctor.words import Words

RELOAD = ("systemctl", "daemon-reload")
FILE = "90-ascend-doctor-{rule}.conf"
"""Drop-ins are read in the order of their names; people's own are mostly called 10- to 50-, override.conf comes later."""
_SETTING = re.compile(r"[A-Za-z]{2,64}")


class SystemdKind:
    action: type[Any] = SystemdDropIn
    changes: tuple[type[Change], ...] = ()

    def plan(self, key: str, action: SystemdDropIn, context: Context) -> StepPlan:
        told = ", ".join(f"{name}={value}" for name, value in action.service.items())
        title = Words(f"Set {told} in the systemd unit of the server", f"在服务的 systemd 单元中设置 {told}")
        fits = all(_SETTING.fullmatch(name) and "\n" not in value for name, value in action.service.items())
        wrong = None if fits else Words("a setting is not understood", "设置项无法识别")
        if refused := refused_setting(key, action, title, context, wrong, tuple):
            return refused
        unit = unit_of(context, action.unit)
        if not unit:
            return blocked_step(key, action, title, no_unit())
        return self._plan_for(key, action, title, context, unit)

    def _plan_for(self, key: str, action: SystemdDropIn, title: Words, context: Context, unit: str) -> StepPlan:
        path = drop_in_path(unit, context.mark)
        before = text_of(context.host, path)
        if isinstance(before, Words):
            return blocked_step(key, action, title, before)
        lines = "".join(f"{name}={value}\n" for name, value in action.service.items())
        change = FileChange(path, before, drop_in_head(context.rule) + "[Service]\n" + lines, then=reload(context))
        wanted = all((found := settings(context.host, unit, name)) and found[-1].value == value for name, value in action.service.items())
        return StepPlan(
            key, action, title, () if wanted or change.nothing else (change,), Needs(root=needs_root(context, path), restart=(unit,)),
            effect=Effect.NEXT_START, notes=tuple(_notes(action, context, unit, path)),
        )  # fmt: skip


def _notes(action: SystemdDropIn, context: Context, unit: str, path: str) -> Iterator[Note]:
    yield Note(Words(f"takes effect with: systemctl restart {unit}", f"执行 systemctl restart {unit} 后生效"))
    order = drop_ins(context.host, unit, path)
    for name, value in action.service.items():
        for other in settings(context.host, unit, name, without=path):
            later = other.path in order and order.index(other.path) > order.index(path)
            told = f"{other.path}: {name}={other.value}"
            if later and other.value != value:
                yield Note(Words(f"{told} is read later and wins; change it there", f"{told} 读取更晚、优先生效，请在该处修改"), conflict=True)
            else:
                yield Note(Words(f"{told} is overridden", f"{told} 会被覆盖"))


def reload(context: Context) -> tuple[tuple[str, ...], ...]:
    """What tells the running systemd of a changed file; another root's reads it at its next boot."""
    return (RELOAD,) if context.live else ()


def drop_in_path(unit: str, rule: str) -> str:
    return f"/etc/systemd/system/{unit}.d/{FILE.format(rule=rule)}"


def drop_in_head(rule: str) -> str:
    return f"# Written by ascend-doctor for {rule}. `doctor undo` takes it away; then: systemctl daemon-reload.\n"


def no_unit() -> Words:
    return Words("no systemd unit that runs vLLM was found; name it with --unit NAME", "未找到运行 vLLM 的 systemd 单元；请用 --unit NAME 指定")


KIND = SystemdKind()

__all__ = ["KIND", "RELOAD", "drop_in_head", "drop_in_path", "no_unit", "reload"]
