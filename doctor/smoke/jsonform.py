"""A plan and an outcome as plain values for JSON, by the schema that `doctor schema` prints (key "smoke")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from doctor.locale import Speak
from doctor.report.json_format import cause_json, first_error_json
from doctor.rule import Rule
from doctor.smoke.outcome import Outcome, Result, State
from doctor.smoke.plan import Plan
from doctor.smoke.text import how_text, reason_text

OUTPUT = 16 * 1024
"""Characters of a failed step's output that are kept, from its end."""


def plan_json(plan: Plan, speak: Speak) -> dict[str, Any]:
    """What would be done."""
    return {
        "level": plan.level, "device": plan.device, "cards": list(plan.cards), "python": plan.python,
        "usual_seconds": round(plan.usual, 1), "deadline_seconds": round(plan.deadline, 1), "host_mb": plan.host_mb, "card_mb": plan.card_mb,
        "steps": [
            {"step": step.id, "runs": step.skip is None, "reason": reason_text(step.skip.key, step.skip.values, speak) if step.skip else None, "deadline_seconds": step.deadline}
            for step in plan.steps
        ],
    }  # fmt: skip


def outcome_json(outcome: Outcome, speak: Speak, language: str, rules: Mapping[str, Rule]) -> dict[str, Any]:
    """The whole run."""
    left = outcome.leftovers
    return {
        "plan": plan_json(outcome.plan, speak), "seconds": outcome.seconds,
        "steps": [_result(result, speak, language, rules) for result in outcome.results],
        "leftovers": {
            "clean": left.clean, "processes": list(left.processes), "shared_memory": list(left.shared_memory), "ports": list(left.ports),
            "folder": left.folder or None, "card_memory": list(left.card_memory), "freed_shared_memory": list(left.removed),
            "looked_at_cards": left.looked_at_cards,
        },
    }  # fmt: skip


def _result(result: Result, speak: Speak, language: str, rules: Mapping[str, Rule]) -> dict[str, Any]:
    ended, diagnosis = result.ended, result.diagnosis
    return {
        "step": result.step, "state": result.state.value, "reason": reason_text(result.reason.key, result.reason.values, speak) if result.reason else None,
        "how": ended.how.value if ended else None, "ended": how_text(ended, speak) if ended and result.state is not State.PASSED else None, "stage": ended.stage if ended else None,
        "exit": ended.exit if ended else None, "seconds": ended.seconds if ended else 0.0,
        "checks": [{"name": check.name, "subject": check.subject, "passed": check.passed, "detail": check.detail} for check in (ended.checks if ended else ())],
        "figures": [
            {"name": each.name, "subject": each.subject, "value": each.value, "unit": each.unit, "expected": each.expected} for each in result.figures
        ],
        "notes": [{"name": note.name, "detail": note.detail} for note in (ended.notes if ended else ())],
        "causes": [cause_json(cause, language, rules) for cause in (diagnosis.causes if diagnosis else ())],
        "first_error": first_error_json(diagnosis.first_error, language) if diagnosis and diagnosis.first_error else None,
        "output": ended.output[-OUTPUT:] if ended and diagnosis else None,
    }  # fmt: skip
