"""`file`: a file of doctor's own, or a marked block inside a file that others write as well."""

from __future__ import annotations

import re
from typing import Any

from doctor.apply.block import with_block
from doctor.apply.change import Change
from doctor.apply.filechange import FileChange
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step, needs_root, reason_against, text_of
from doctor.apply.plan import Effect, Needs, StepPlan
from doctor.fix import WriteFile
from doctor.words import Words

_EFFECTS = {"now": Effect.NOW, "start": Effect.NEXT_START, "login": Effect.NEXT_LOGIN, "boot": Effect.NEXT_BOOT}
_MODES = re.compile(r"0?[0-7]{3}")


class WriteFileKind:
    action: type[Any] = WriteFile
    changes: tuple[type[Change], ...] = ()

    def plan(self, key: str, action: WriteFile, context: Context) -> StepPlan:
        title = Words(f"Write {action.path}", f"写入 {action.path}")
        if why := reason_against(action, context, action.path):
            return blocked_step(key, action, title, why)
        if action.effect not in _EFFECTS or not _MODES.fullmatch(action.mode):
            return blocked_step(key, action, title, Words("the action is not understood", "无法识别该操作"))
        before = text_of(context.host, action.path)
        if isinstance(before, Words):
            return blocked_step(key, action, title, before)
        content = action.content if action.content.endswith("\n") else action.content + "\n"
        try:
            after = with_block(before or "", action.block, content) if action.block else content
        except ValueError as problem:
            return blocked_step(key, action, title, Words(f"{action.path}: {problem}", f"{action.path}：块标记不成对（{problem}）"))
        if action.block:
            title = Words(f'Write the block "{action.block}" in {action.path}', f"在 {action.path} 中写入“{action.block}”块")
        change = FileChange(action.path, before, after, int(action.mode, 8))
        return StepPlan(
            key, action, title, () if change.nothing else (change,), Needs(root=needs_root(context, action.path)), effect=_EFFECTS[action.effect]
        )


KIND = WriteFileKind()
