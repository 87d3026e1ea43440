"""Decides container-rt-visible-devices-out-of-range: by the runtime's message, the nodes of a container, or a docker command."""

import re
from collections.abc import Iterator

from doctor.facts.container import Container, RunCommands
from doctor.facts.npu import DeviceNodes
from doctor.facts.target import Environment
from doctor.finding import Basis, Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches, evidence_of
from doctor.regex import regex

MASK = "ASCEND_RT_VISIBLE_DEVICES"
_IDS = regex(r"\d{1,3}(?:,\d{1,3})*", re.ASCII)
_CARD = regex(r"/dev/davinci\d{1,3}", re.ASCII)


def judge(
    environment: Environment | None, container: Container | None, nodes: DeviceNodes | None, runs: RunCommands | None, matches: Matches
) -> Iterator[Hit]:
    mask = environment.values.get(MASK, "") if environment is not None else ""
    inside = container is not None and container.inside
    for name, confidence in (("refused", Confidence.SURE), ("invalid", Confidence.LIKELY if mask or inside else Confidence.POSSIBLE)):
        lines = matches[name]
        if lines:
            yield Hit(found=lines[0].text[:300], evidence=(evidence_of(lines),), confidence=confidence, basis=Basis.LOG, position=lines[0].ordinal + 1)
            return
    if inside and nodes is not None and nodes.davinci:
        yield from _too_high(mask, len(nodes.davinci), environment.source if environment is not None else "")
    elif nodes is not None and not inside:
        if not nodes.davinci or list(nodes.davinci) != list(range(len(nodes.davinci))):
            raise Skip("not in a container, and the cards of this machine are not numbered from 0 without a gap")
        yield from _too_high(mask, len(nodes.davinci), environment.source if environment is not None else "")
    for command in runs.commands if runs else ():
        cards = {device for device in command.devices if _CARD.fullmatch(device)}
        given = command.environment.get(MASK) or (mask if len(runs.commands if runs else ()) == 1 else "")
        if cards and not command.privileged and nodes is None:
            yield from _too_high(given, len(cards), command.source, command.line)


def _too_high(mask: str, cards: int, source: str, line: int = 0) -> Iterator[Hit]:
    if _IDS.fullmatch(mask) and any(int(number) >= cards for number in mask.split(",")):
        told = f"{MASK}={mask} with {cards} visible card{'s' if cards > 1 else ''}"
        yield Hit(found=told, wanted=f"ids from 0 to {cards - 1}", evidence=(Evidence(source, told, line),))
