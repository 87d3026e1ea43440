"""`leftovers`: files of dead processes removed: segments in /dev/shm that nobody has open, locks that nobody holds."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

from doctor.apply.change import Change
from doctor.apply.kind import Context
from doctor.apply.leftoverchange import LeftoverChange, state_of, users_of
from doctor.apply.looking import blocked_step, missing_values
from doctor.apply.plan import Effect, Note, StepPlan
from doctor.apply.plan_leftovers import duration
from doctor.facts.leftovers import FOLDER, NAME
from doctor.facts.target import Target
from doctor.fix import RemoveLeftovers
from doctor.host import Kind, Unavailable
from doctor.text import clean_line
from doctor.words import Words

LOCKS = ("{home}/.cache/torch_extensions/*/*/lock", "{home}/.cache/vllm/*/*.lock", "/tmp/*model*.lock", "{home}/.triton/cache/*/*.lock")
"""Locks that are files: of a build of extensions, which waits for them without end, and of vLLM's loading."""

YOUNGEST = 600.0
"""Seconds since the last change; what is younger may belong to a start that is under way."""
MOST = 500
_SHM_MOUNT = re.compile(r"^\S+ \S+ \S+ \S+ /dev/shm .*? - \S+ (\S+)", re.MULTILINE)


class RemoveLeftoverKind:
    action: type[Any] = RemoveLeftovers
    changes: tuple[type[Change], ...] = (LeftoverChange,)

    def plan(self, key: str, action: RemoveLeftovers, context: Context) -> StepPlan:
        title = Words("Remove what dead processes left", "清理已退出进程的残留文件")
        if why := missing_values(action):
            return blocked_step(key, action, title, why)
        if not context.live:
            return blocked_step(key, action, title, Words("only files of this running machine can be judged", "只能判断本机上的文件是否仍在使用"))
        if action.which == "shm" and context.contained and shared_with_host(context):
            return blocked_step(key, action, title, Words("/dev/shm is shared with other containers, whose processes are not visible from here", "/dev/shm 与其他容器共享，本容器内看不到那些进程"))
        changes: list[LeftoverChange] = []
        notes: list[Note] = []
        for path in _candidates(action, context):
            change = state_of(path)
            if change is None:
                continue
            age = context.host.now().timestamp() - change.mtime / 1e9
            told = f"{clean_line(path)} ({change.size / 2**20:.1f} MiB, uid {change.uid}, {duration(age)})"
            against = _against(context, change, age)
            if against is None:
                changes.append(change)
                notes.append(Note(Words(told, told)))
            else:
                notes.append(Note(Words(f"kept: {told}: {against.en}", f"保留：{told}：{against.zh}")))
        # What was kept may be what the rule still sees afterwards: that is no reason to put the rest back.
        effect = Effect.NOW if len(notes) == len(changes) else Effect.NEXT_START
        return StepPlan(key, action, title, tuple(changes), effect=effect, notes=tuple(notes[:MOST]))


def _candidates(action: RemoveLeftovers, context: Context) -> Iterator[str]:
    if action.which == "shm":
        listed = context.host.list(f"{FOLDER}/*")
        yield from (path for path in (() if isinstance(listed, Unavailable) else listed)[:MOST] if NAME.fullmatch(posixpath.basename(path)))
        return
    if action.path:
        # A log may name any file: only an empty one of a lock's name is taken for a lock.
        info = context.host.stat(action.path)
        named = action.path.startswith("/") and (posixpath.basename(action.path) == "lock" or action.path.endswith(".lock"))
        if named and not isinstance(info, Unavailable) and info.kind is Kind.FILE and not info.target and info.size == 0:
            yield action.path
        return
    target = context.fact(Target)
    home = (target.environment.get("HOME", "") if target else "") or "/root"
    for pattern in LOCKS:
        listed = context.host.list(pattern.format(home=home.rstrip("/"))) if home.startswith("/") and not set("*?[") & set(home) else ()
        for path in () if isinstance(listed, Unavailable) else listed[:MOST]:
            info = context.host.stat(path)
            if not isinstance(info, Unavailable) and info.kind is Kind.FILE and not info.target:
                yield path


def _against(context: Context, change: LeftoverChange, age: float) -> Words | None:
    if change.uid != context.euid and context.euid != 0:
        return Words("belongs to another user", "属于其他用户")
    if context.euid != 0 and change.mode & 0o066:
        return Words("others may have it open, which only root can see", "其他用户可能正在使用，只有 root 能确认")
    if age < YOUNGEST:
        return Words("was changed within the last ten minutes", "十分钟内有改动")
    users = users_of(change.path)
    if users:
        told = ", ".join(map(str, users[:5]))
        return Words(f"process {told} has it open", f"进程 {told} 正在使用")
    return None


def shared_with_host(context: Context) -> bool:
    """Whether a container's /dev/shm is that of the host (--ipc=host); a container's own comes from a source named shm."""
    text = context.host.read("/proc/self/mountinfo")
    found = _SHM_MOUNT.search(text) if isinstance(text, str) else None
    return found is None or found[1] != "shm"


KIND = RemoveLeftoverKind()
