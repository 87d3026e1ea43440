"""The usual names that fill `<placeholders>` in titles and steps: what the facts say, and what the release row wants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from doctor.facts import Facts, known
from doctor.facts.cann import Cann
from doctor.facts.driver import Driver
from doctor.facts.machine import Machine, OperatingSystem
from doctor.facts.npu import Chip
from doctor.facts.target import Packages, Target
from doctor.rule import Rule

T = TypeVar("T")

_PACKAGES = {
    "vllm_ascend_version": "vllm-ascend",
    "vllm_version": "vllm",
    "torch_version": "torch",
    "torch_npu_version": "torch-npu",
    "transformers_version": "transformers",
    "triton_ascend_version": "triton-ascend",
}


def template_values(facts: Facts, rule: Rule) -> dict[str, str]:
    """Every usual name whose value is known; only those that the rule's words use are looked up."""
    used = _text_of(rule)
    found = {name: str(value) for name, read in _READERS.items() if f"<{name}>" in used and (value := read(facts))}
    if "<row_" in used or "<hdk_" in used:
        found.update(_row(facts))
    return found


def _text_of(rule: Rule) -> str:
    parts = [rule.title.en, rule.title.zh, rule.why.en, rule.why.zh]
    for fix in rule.fixes:
        parts += [fix.title.en, fix.title.zh]
        parts += [text for step in fix.steps for text in (step.text.en, step.text.zh)]
        if fix.verify:
            parts += [fix.verify.en, fix.verify.zh]
    if rule.undecided:
        parts += [rule.undecided.en, rule.undecided.zh]
    parts += [decision.wanted for decision in rule.decisions]
    return "\n".join(parts)


def _from(kind: type[T], read: Callable[[T], object]) -> Callable[[Facts], object]:
    def value(facts: Facts) -> object:
        fact = known(facts.get(kind))
        return None if fact is None else read(fact)

    return value


def _package(name: str) -> Callable[[Facts], object]:
    return _from(Packages, lambda packages: packages.versions.get(name))


_READERS: Mapping[str, Callable[[Facts], object]] = {
    "cann_version": _from(Cann, lambda cann: cann.version),
    "toolkit": _from(Cann, lambda cann: cann.active.path if cann.active else None),
    "driver_version": _from(Driver, lambda driver: driver.version),
    "chip": _from(Chip, lambda chip: chip.name),
    "arch": _from(Machine, lambda machine: machine.arch),
    "os": _from(OperatingSystem, lambda os: os.name or os.id),
    "python": _from(Target, lambda target: target.python),
    "python_version": _from(Packages, lambda packages: packages.python),
    **{name: _package(package) for name, package in _PACKAGES.items()},
}


def _row(facts: Facts) -> dict[str, str]:
    """What the release row of the installed vllm-ascend wants, as `<row_cann>`, `<row_torch>` …, and the paired driver as `<hdk_paired>`."""
    from doctor import compat

    packages, cann = known(facts.get(Packages)), known(facts.get(Cann))
    installed = packages.versions.get("vllm-ascend") if packages else None
    row = compat.release(installed) or compat.nearest(installed) if installed else None
    found: dict[str, str | None] = {}
    if row is not None:
        found = {"row_cann": row.cann, "row_torch": row.torch, "row_torch_npu": row.torch_npu, "row_vllm": row.vllm, "row_version": row.version}
    target_cann = (cann.version if cann else None) or (row.cann if row else None)
    found["hdk_paired"] = compat.hdk_paired(target_cann) if target_cann else None
    return {name: value for name, value in found.items() if value}
