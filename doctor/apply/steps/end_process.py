"""`processes`: left-over processes ended: asked first, the parent before its children, never another user's or container's unless root names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doctor.apply import plan_leftovers as left
from doctor.apply.change import Change
from doctor.apply.endchange import EndChange
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step
from doctor.apply.plan import Disturbed, Needs, Note, StepPlan
from doctor.facts.number import whole
from doctor.facts.vllm import ServeCommands
from doctor.fix import EndProcesses, unfilled
from doctor.host import Process
from doctor.words import Words

DEFAULT_PORT = 8000
"""Of `vllm serve`."""
ENDS = Words("is ended: SIGTERM, after 20 s SIGKILL", "将被结束：先 SIGTERM，20 秒后 SIGKILL")


class EndProcessKind:
    action: type[Any] = EndProcesses
    changes: tuple[type[Change], ...] = (EndChange,)

    def plan(self, key: str, action: EndProcesses, context: Context) -> StepPlan:
        title = Words("End the left-over processes", "结束残留进程")
        if not context.live:
            return blocked_step(key, action, title, Words("only processes of this running machine can be ended", "只能结束本机上正在运行的进程"))
        processes = left.everyone(context)
        candidates = self._candidates(action, context, processes)
        if isinstance(candidates, Words):
            return blocked_step(key, action, title, candidates)
        notes = tuple(Note(Words(f"{one.named}: {one.why.en}", f"{one.named}：{one.why.zh}")) for one in candidates)
        refused = next((why for one in candidates if (why := left.refused(context, one)) is not None), None)
        disturbs = tuple(Disturbed(one.process.pid, left.shown(one.process), ENDS) for one in candidates)
        if refused is not None:
            commands = tuple(f"kill -TERM {one.process.pid}" for one in candidates)
            return StepPlan(key, action, title, disturbs=disturbs, notes=notes, blocked=refused, host_commands=commands)
        changes = tuple(change for one in candidates if (change := left.change_for(context, one.process)) is not None)
        undo = Words("an ended process cannot be brought back; its command is kept in the journal", "被结束的进程无法恢复；其启动命令保存在日志中")
        return StepPlan(key, action, title, changes, Needs(), disturbs, notes=notes, undo=undo)

    def _candidates(self, action: EndProcesses, context: Context, processes: Mapping[int, Process]) -> list[left.Candidate] | Words:
        if context.choices.pids or action.which == "named":
            return left.named(context, processes)
        if action.which == "port":
            return left.listeners(context, processes, _port(action, context))
        found = [*left.orphans(context, processes), *(left.holders(context, processes) if action.which == "holders" else ())]
        return list({one.process.pid: one for one in found}.values())


def _port(action: EndProcesses, context: Context) -> int:
    """The port that the action names, else that of the command that starts vLLM here."""
    told = None if unfilled(action.port) else whole(action.port)
    if told:
        return told
    commands = context.fact(ServeCommands)
    ports = [port for one in (commands.commands if commands else ()) if (port := whole(one.flags.get("port")))]
    return ports[0] if ports else DEFAULT_PORT


KIND = EndProcessKind()
