"""From an examination to plans: which of the causes that were found can be fixed, and what exactly would be done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from doctor.apply.kind import Choices, Context, plan_step
from doctor.apply.overlay import Overlay
from doctor.apply.plan import FixPlan, Plan, StepPlan
from doctor.examine import Examination
from doctor.facts import Facts
from doctor.finding import Finding, Outcome
from doctor.fix import Action, Fix, Safety, kind_of
from doctor.host import Host
from doctor.text import clean_line
from doctor.words import Words


@dataclass(frozen=True)
class Fixable:
    """One cause that was found, and one of its fixes. `does` says that doctor can apply it here and now (`plan` tells why not)."""

    finding: Finding
    plan: FixPlan

    @property
    def name(self) -> str:
        """What the command line takes: the cause, and the fix where the cause has several."""
        return f"{self.finding.rule}/{self.plan.fix}"

    @property
    def does(self) -> bool:
        return self.plan.applicable


@dataclass(frozen=True)
class Looked:
    """An examination and the host it looked at; `root`, `euid` and `choices` decide what may be planned."""

    examination: Examination
    host: Host
    root: str = "/"
    euid: int = 0
    choices: Choices = Choices()


class NotPlannable(Exception):  # noqa: N818  not an error of ours: the user named what cannot be planned
    """`kind`: unknown (no such rule), left-out (not among the rules that were asked), no-fix, no-such-fix, clear (the rule looked and found nothing), unjudged (it could not look)."""

    def __init__(self, kind: str, name: str, why: str = "") -> None:
        super().__init__(f"{kind}: {name} {why}".strip())
        self.kind, self.name, self.why = kind, name, why


def fixable(looked: Looked, planned: Callable[[str], bool] = lambda rule: True) -> tuple[Fixable, ...]:
    """Every fix of every cause that was found, in the order of the report; symptoms come after causes."""
    findings = [cause.finding for cause in looked.examination.causes]
    findings += [symptom for cause in looked.examination.causes for symptom in cause.symptoms]
    return tuple(Fixable(finding, plan_fix(looked, finding, fix)) for finding in findings if planned(finding.rule) for fix in finding.fixes)


def make_plan(looked: Looked, names: Sequence[str], without: Sequence[tuple[str, str]] = ()) -> Plan:
    """The plan for the causes (or cause/fix) that are named, each step on top of those before it. Raises `NotPlannable`.

    `without` are (rule, step key) that are switched off, and with them the steps that make no sense without them.
    """
    overlay = Overlay(looked.host)
    on_top = replace(looked, host=overlay)
    fixes: list[FixPlan] = []
    for name in dict.fromkeys(names):
        for fix in _planned(on_top, name, frozenset(without)):
            fixes.append(fix)
            for step in fix.steps:
                overlay.planned(step)
    return Plan(looked.root, looked.host.label, tuple(fixes))


def _planned(looked: Looked, name: str, without: frozenset[tuple[str, str]]) -> Iterator[FixPlan]:
    rule_id, _, fix_id = name.partition("/")
    rules = looked.examination.book.rules
    rule = rules.get(rule_id) or next((rule for rule in rules.values() if rule_id in rule.formerly), None)
    if rule is None:
        raise NotPlannable("unknown", name)
    if not rule.fixes:
        raise NotPlannable("no-fix", name)
    if fix_id and all(fix.id != fix_id for fix in rule.fixes):
        raise NotPlannable("no-such-fix", name, ", ".join(fix.id for fix in rule.fixes))
    verdict = next((verdict for verdict in looked.examination.verdicts if verdict.rule == rule.id), None)
    if verdict is None:
        raise NotPlannable("left-out", name)
    if verdict.outcome in (Outcome.SKIPPED, Outcome.BROKEN):
        raise NotPlannable("unjudged", name, verdict.why.strip().rpartition("\n")[2])
    if not verdict.findings:
        raise NotPlannable("clear", name)
    for finding in verdict.findings:
        plans = [plan_fix(looked, finding, fix, frozenset(key for rule, key in without if rule == finding.rule)) for fix in finding.fixes if not fix_id or fix.id == fix_id]
        # Else one that only lacks something (wheels, a package file) before one that is all by hand.
        yield next((plan for plan in plans if plan.applicable or plan.already), next((plan for plan in plans if plan.steps), plans[0]))


def plan_fix(looked: Looked, finding: Finding, fix: Fix, without: frozenset[str] = frozenset()) -> FixPlan:
    """One fix looked at on this machine."""
    overlay = Overlay(looked.host)
    context = Context(overlay, facts_of(looked, finding), finding.rule, fix.id, looked.root, looked.euid, looked.choices, finding.subject)
    steps = () if fix.safety is Safety.SHOW else tuple(_steps(fix, context, overlay, without))
    return FixPlan(finding.rule, fix.id, finding.subject, fix.title, finding.title, fix.safety, steps, tuple(step.text for step in fix.steps), fix.verify)


def _steps(fix: Fix, context: Context, overlay: Overlay, without: frozenset[str]) -> Iterator[StepPlan]:
    """The steps that are not switched off, each planned as if those before it were done."""
    seen: dict[str, int] = {}
    gone = set(without)
    for action in fix.do:
        name = kind_of(action)
        seen[name] = seen.get(name, 0) + 1
        step = _guarded(name if seen[name] == 1 else f"{name}-{seen[name]}", action, context)
        if step.key in gone or gone & set(step.after):
            gone.add(step.key)
            continue
        overlay.planned(step)
        yield step


def _guarded(key: str, action: Action, context: Context) -> StepPlan:
    """A step kind that breaks costs its own step, not the list of all others."""
    try:
        return plan_step(key, action, context)
    except Exception as problem:  # noqa: BLE001  told as what stands in the way
        told = clean_line(f"{type(problem).__name__}: {problem}")[:300]
        return StepPlan(key, action, Words(kind_of(action), kind_of(action)), blocked=Words(f"doctor itself broke: {told}", f"doctor 自身出错：{told}"))


def facts_of(looked: Looked, finding: Finding) -> Facts:
    """The facts of the target that the finding is about, else those of the first."""
    sets = looked.examination.sets
    return next((each.facts for each in sets if each.label and each.label == finding.subject), sets[0].facts)


__all__ = ["Fixable", "Looked", "NotPlannable", "fixable", "make_plan", "plan_fix"]
