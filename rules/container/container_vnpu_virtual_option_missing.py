"""Decides container-vnpu-virtual-option-missing: variables of Ascend Docker Runtime that do not fit each other."""

from collections.abc import Iterator, Mapping

from doctor.facts.container import RunCommands
from doctor.facts.target import Environment
from doctor.finding import Confidence, Evidence, Hit, Skip

FIRST_VIRTUAL = 100
"""Virtual chips are numbered from here."""


def judge(environment: Environment | None, runs: RunCommands | None) -> Iterator[Hit]:
    if environment is None and runs is None:
        raise Skip("no environment and no container start is known")
    places = [(environment.values, environment.source, 0)] if environment is not None else []
    places += [(command.environment, command.source, command.line) for command in (runs.commands if runs else ())]
    for values, source, line in places:
        told = _fault(values)
        if told:
            yield Hit(
                found=told, wanted="VIRTUAL with ids of 100 and up, no VIRTUAL with specs", evidence=(Evidence(source, told, line),), confidence=Confidence.LIKELY
            )
            return


def _fault(values: Mapping[str, str]) -> str:
    devices, specs = values.get("ASCEND_VISIBLE_DEVICES", ""), values.get("ASCEND_VNPU_SPECS", "")
    virtual = "VIRTUAL" in values.get("ASCEND_RUNTIME_OPTIONS", "").upper().split(",")
    ids = [int(number) for number in devices.split(",") if number.isascii() and number.isdecimal() and len(number) < 5]
    if specs and virtual:
        return f"ASCEND_VNPU_SPECS={specs} is ignored with VIRTUAL"
    if not specs and not virtual and any(number >= FIRST_VIRTUAL for number in ids):
        return f"ASCEND_VISIBLE_DEVICES={devices} without VIRTUAL in ASCEND_RUNTIME_OPTIONS"
    return ""
