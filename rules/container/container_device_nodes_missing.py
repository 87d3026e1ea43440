"""Decides container-device-nodes-missing: nodes inside a container, devices of docker commands, and what a log says."""

from collections.abc import Iterator
from difflib import get_close_matches

from doctor.facts.container import Container, RunCommand, RunCommands
from doctor.facts.npu import DeviceNodes, NpuPresence
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches, evidence_of
from doctor.regex import regex

MANAGERS = ("davinci_manager", "devmm_svm", "hisi_hdc")
CLOSE = 0.75
"""Similarity from which a device's name is a slip of the pen ("dav_manager")."""

_CARD = regex(r"/dev/davinci\d{1,3}")


def judge(
    container: Container | None, nodes: DeviceNodes | None, presence: NpuPresence | None, runs: RunCommands | None, matches: Matches
) -> Iterator[Hit]:
    told = bool(matches["absent"]) and not matches["other"]
    starts = [command for command in (runs.commands if runs else ()) if any(_CARD.match(device) for device in command.devices)]
    if told:
        lines = matches["absent"]
        inside = container is not None and container.inside
        yield Hit(
            found=lines[0].text[:300],
            evidence=(evidence_of(lines),),
            confidence=Confidence.LIKELY if inside else Confidence.POSSIBLE,
            severity=None if inside else Severity.WARN,
            basis=Basis.LOG,
            position=lines[0].ordinal + 1,
        )
    if container is not None and container.inside and nodes is not None:
        yield from _inside(nodes, presence)
    elif not starts and not told and not matches.looked:
        raise Skip("not in a container")
    for command in starts:
        yield from _start(command, matches)


def _inside(nodes: DeviceNodes, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is None or presence.present is None:
        raise Skip("whether this machine has an NPU cannot be told")
    missing = [f"/dev/{name}" for name in MANAGERS if nodes.managers.get(name) is False]
    if not nodes.davinci:
        missing.insert(0, "/dev/davinciN")
    if missing and presence.present:
        told = "missing: " + ", ".join(missing)
        yield Hit(found=told, wanted="one node for each card and the three managers", evidence=(Evidence(nodes.source, told),))


def _start(command: RunCommand, matches: Matches) -> Iterator[Hit]:
    names = [device.removeprefix("/dev/") for device in command.devices]
    missing = [name for name in MANAGERS if name not in names]
    if not missing or command.privileged or command.runtime == "ascend" or "ASCEND_VISIBLE_DEVICES" in command.environment:
        return
    known = (*MANAGERS, "davinci0")
    slips = {name: get_close_matches(name, missing, 1, CLOSE) for name in names if name not in known and not _CARD.fullmatch(f"/dev/{name}")}
    wrong = [f"/dev/{name} (meant: /dev/{near[0]})" for name, near in slips.items() if near]
    symptoms = matches["symptom"]
    told = "misspelt: " + ", ".join(wrong) if wrong else "not passed: " + ", ".join(f"/dev/{name}" for name in missing)
    yield Hit(
        found=told,
        wanted="--device for each of " + ", ".join(f"/dev/{name}" for name in MANAGERS),
        evidence=(Evidence(command.source, told, command.line), *((evidence_of(symptoms),) if symptoms else ())),
        confidence=Confidence.SURE if wrong else Confidence.LIKELY,
        severity=None if wrong or symptoms else Severity.NOTE,
        basis=Basis.BOTH if symptoms else Basis.FACTS,
        position=symptoms[0].ordinal + 1 if symptoms else 0,
    )
