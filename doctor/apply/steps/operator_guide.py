"""`guide`: an operator that is not supported, decided on this machine, and planned as what the first "no" leads to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from doctor.apply.change import Change
from doctor.apply.kind import Context, plan_step
from doctor.apply.plan import Note, StepPlan
from doctor.apply.plan_operator import Answer, answers, flash_attention, routes
from doctor.fix import GuideOperators, InstallOperators
from doctor.words import Words


class OperatorGuideKind:
    action: type[Any] = GuideOperators
    changes: tuple[type[Change], ...] = ()

    def plan(self, key: str, action: GuideOperators, context: Context) -> StepPlan:
        if action.goal == "flash-attention":
            return _flash_attention(key, action, context)
        title = Words("Decide why the operator is not supported", "判定算子不受支持的原因")
        asked = answers(context)
        notes = tuple(Note(one.line) for one in asked)
        failing = next((one for one in asked if one.holds is False), None)
        if asked[-1].holds is False:
            return StepPlan(key, action, title, notes=notes, blocked=asked[-1].told)
        if failing is None:
            return _other_routes(key, action, context, title, asked)
        if failing.remedy is None:
            why = Words(f"{failing.told.en}; doctor stack lists the releases that fit", f"{failing.told.zh}；可用 doctor stack 查看配套版本")
            return StepPlan(key, action, title, notes=notes, blocked=why)
        step = plan_step(key, failing.remedy, context)
        return replace(step, action=action, notes=(*notes, *step.notes))


def _other_routes(key: str, action: GuideOperators, context: Context, title: Words, asked: tuple[Answer, ...]) -> StepPlan:
    """Every answer is yes or not known: a package of one's own, if it is given; else the ways that remain."""
    notes = tuple(Note(text) for text in (*(one.line for one in asked), *routes()))
    if context.choices.package or context.choices.packages:
        step = plan_step(key, InstallOperators(), context)
        return replace(step, action=action, notes=(*notes, *step.notes))
    unknown = [one.question.en.partition(".")[0] for one in asked if one.holds is None]
    en, zh = (f" (not known: {', '.join(unknown)})", f"（未知：{'、'.join(unknown)}）") if unknown else ("", "")
    why = Words(f"none of the questions is answered with no{en}; choose one of the routes", f"没有一项判定为否{zh}；请从所列途径中选择")
    return StepPlan(key, action, title, notes=notes, blocked=why)


def _flash_attention(key: str, action: GuideOperators, context: Context) -> StepPlan:
    title = Words("Whether flash-attn-npu can work here", "检查 flash-attn-npu 的运行条件")
    asked = flash_attention(context)
    notes = tuple(Note(one.line) for one in asked)
    failing = next((one for one in asked if not one.holds), None)
    return StepPlan(key, action, title, notes=notes, blocked=failing.line if failing is not None else None)


KIND = OperatorGuideKind()
