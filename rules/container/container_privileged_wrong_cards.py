"""Decides container-privileged-wrong-cards: a privileged start whose --device list chooses cards, without a mask inside."""

import re
from collections.abc import Iterator

from doctor.facts.container import RunCommands
from doctor.facts.target import Environment
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity
from doctor.logscan.signature import Matches, evidence_of
from doctor.regex import regex

MASK = "ASCEND_RT_VISIBLE_DEVICES"
_CARD = regex(r"/dev/davinci(\d{1,3})", re.ASCII)


def judge(runs: RunCommands, environment: Environment | None, matches: Matches) -> Iterator[Hit]:
    masked = environment is not None and MASK in environment.values
    for command in runs.commands:
        cards = sorted({int(found[1]) for device in command.devices if (found := _CARD.fullmatch(device))})
        if not command.privileged or masked or MASK in command.environment or not cards or cards == list(range(len(cards))):
            continue
        busy = matches["busy"]
        told = f"--privileged with cards {', '.join(map(str, cards))} and no {MASK}"
        yield Hit(
            found=told,
            wanted=f"{MASK}={','.join(map(str, cards))} inside, or no --privileged",
            evidence=(Evidence(command.source, told, command.line), *((evidence_of(busy),) if busy else ())),
            confidence=Confidence.LIKELY if busy else Confidence.POSSIBLE,
            severity=None if busy else Severity.WARN,
            basis=Basis.BOTH if busy else Basis.FACTS,
            position=busy[0].ordinal + 1 if busy else 0,
        )
        return
