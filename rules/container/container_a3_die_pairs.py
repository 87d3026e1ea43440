"""Decides container-a3-die-pairs: on A3, dies that a container has without their twin."""

import re
from collections.abc import Iterable, Iterator

from doctor.facts.container import Container, RunCommands
from doctor.facts.npu import Chip, DeviceNodes
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.regex import regex

_CARD = regex(r"/dev/davinci(\d{1,3})", re.ASCII)


def judge(chip: Chip, container: Container, nodes: DeviceNodes | None, runs: RunCommands | None) -> Iterator[Hit]:
    if chip.family != "a3":
        return
    if not container.inside:
        raise Skip("not in a container")
    if nodes is not None:
        yield from _single(nodes.davinci, nodes.source, 0, None)
        return
    for command in runs.commands if runs else ():
        if not command.privileged:
            cards = (int(found[1]) for device in command.devices if (found := _CARD.fullmatch(device)))
            yield from _single(cards, command.source, command.line, Severity.NOTE)


def _single(numbers: Iterable[int], source: str, line: int, severity: Severity | None) -> Iterator[Hit]:
    cards = set(numbers)
    alone = sorted(number for number in cards if number ^ 1 not in cards)
    if alone:
        told = "without their twin: " + ", ".join(f"/dev/davinci{number}" for number in alone)
        wanted = ", ".join(f"/dev/davinci{number ^ 1}" for number in alone)
        yield Hit(found=told, wanted=wanted, evidence=(Evidence(source, told, line),), confidence=Confidence.LIKELY, severity=severity)
