"""Decides container-shm-small: what a log says about shared memory, and the size of /dev/shm in a container or of its start."""

from collections.abc import Iterator

from doctor.facts.container import Container, RunCommands
from doctor.facts.machine import Disks
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches, evidence_of

NEAR = 12
"""Lines between a frame of shared memory and its error."""

DEFAULT = 64 * 2**20
"""Bytes that docker gives; vLLM's multi-process executor was seen to ask for 160 MiB at its start."""

GUIDE = 2**30
"""Bytes that the guides of vllm-ascend start with."""

AMPLE = 16 * 2**30


def judge(container: Container | None, disks: Disks | None, runs: RunCommands | None, matches: Matches) -> Iterator[Hit]:
    if not matches.looked and disks is None and runs is None:
        raise Skip("the size of /dev/shm is not known, and no log was given")
    frames = [match.ordinal for match in matches["shared"]]
    lines = matches["short"] + tuple(m for m in matches["enospc"] if any(abs(m.ordinal - at) <= NEAR for at in frames))
    lines = tuple({match.ordinal: match for match in lines}.values())
    if lines:
        yield Hit(found=lines[0].text[:300], evidence=(evidence_of(lines),), basis=Basis.LOG, position=lines[0].ordinal + 1)
    elif matches["bus"]:
        bus = matches["bus"]
        tight = matches["tight"]
        yield Hit(
            found=bus[0].text[:300],
            evidence=(evidence_of(bus), *((evidence_of(tight),) if tight else ())),
            confidence=Confidence.LIKELY if tight else Confidence.POSSIBLE,
            basis=Basis.LOG,
            position=bus[0].ordinal + 1,
        )
    inside = container is not None and container.inside
    disk = disks.by_mount.get("/dev/shm") if disks is not None and inside else None
    if disk is not None and disks is not None and disk.size < AMPLE:
        yield _sized(disk.size, disks.source, 0)
    for command in runs.commands if runs is not None else ():
        if disk is not None and not command.orchestrator:
            continue
        if command.shm_size is not None and command.ipc != "host" and command.shm_size < AMPLE:
            yield _sized(command.shm_size, command.source, command.line)


def _sized(size: int, source: str, line: int) -> Hit:
    told = f"/dev/shm has {size // 2**20} MiB"
    severity = Severity.FAIL if size <= DEFAULT else Severity.WARN if size < GUIDE else Severity.NOTE
    return Hit(found=told, wanted="16 GiB", evidence=(Evidence(source, told, line),), confidence=Confidence.LIKELY, severity=severity)
