"""`file`: a file of doctor's own, or a marked block inside a file that others write as well."""

from __future__ import annotations

from typing import Any

from doctor.apply.block import with_block
from doctor.apply.change import Change
from doctor.apply.filechange import FileChange
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step, needs_root, reason_against, text_of
from doctor.apply.plan import Needs, StepPlan
from doctor.fix import WriteFile
from doctor.words import Words


class WriteFileKind:
    action: type[Any] = WriteFile
    changes: tuple[type[Change], ...] = ()

    def plan(self, key: str, action: WriteFile, context: Context) -> StepPlan:
        title = Words(f"Write {action.path}", f"写入 {action.path}")
        if why := reason_against(action, context, action.path):
            return blocked_step(key, action, title, why)
        before = text_of(context.host, action.path)
        if isinstance(before, Words):
            return blocked_step(key, action, title, before)
        content = action.content if action.content.endswith("\n") else action.content + "\n"
        after = with_block(before or "", action.block, content) if action.block else content
        if action.block:
            title = Words(f'Write the block "{action.block}" in {action.path}', f"在 {action.path} 中写入“{action.block}”块")
        change = FileChange(action.path, before, after, int(action.mode, 8))
        return StepPlan(key, action, title, () if change.nothing else (change,), Needs(root=needs_root(context, action.path)))


KIND = WriteFileKind()
