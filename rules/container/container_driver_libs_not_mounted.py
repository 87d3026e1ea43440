"""Decides container-driver-libs-not-mounted: no libascend_hal.so in a container, by its disk or by what a log and a command say."""

from collections.abc import Iterator

from doctor.facts.container import Container, RunCommand, RunCommands
from doctor.facts.driver import DriverInstall
from doctor.facts.npu import NpuPresence
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches, evidence_of

LIBRARY = "libascend_hal.so"
_MOUNTS = ("/usr", "/usr/local", "/usr/local/Ascend", "/usr/local/Ascend/driver", "/usr/local/Ascend/driver/lib64")
"""A mount of any of these, or of what is in the last, brings the library."""


def judge(
    container: Container | None, install: DriverInstall | None, presence: NpuPresence | None, runs: RunCommands | None, matches: Matches
) -> Iterator[Hit]:
    inside = container is not None and container.inside
    if install is not None:  # a machine: its disk decides
        if not inside:
            notes = tuple(_notes(runs))
            if not notes:
                raise Skip("not in a container")
            yield from notes
            return
        if install.libraries.get(LIBRARY) is None:
            raise Skip(f"whether {install.root}/driver holds {LIBRARY} is not known")
        if presence is not None and presence.present is False:
            raise Skip("this machine has no NPU")
        if not install.libraries[LIBRARY]:
            place = f"{install.root}/driver/lib64"
            yield Hit(
                found=f"no {LIBRARY} below {place}", wanted=f"-v {place}:{place}", evidence=(Evidence(place, f"{LIBRARY}: missing"),)
            )
        return
    lines = matches["missing"]
    mounted = runs is not None and bool(runs.commands) and all(_mounts(command) for command in runs.commands)
    there = bool(matches["present"]) and not matches["absent"]
    if lines and not mounted and not there and not matches["build"]:
        yield Hit(
            found=lines[0].text[:300],
            wanted="the driver of the host, mounted",
            evidence=(evidence_of(lines), *(_told(command) for command in _without_driver(runs)[:1])),
            confidence=Confidence.SURE if inside else Confidence.LIKELY,
            basis=Basis.BOTH if inside else Basis.LOG,
            position=lines[0].ordinal + 1,
        )
    elif not lines:
        yield from _notes(runs)


def _mounts(command: RunCommand) -> bool:
    return any(target.rstrip("/") in _MOUNTS or target.startswith(_MOUNTS[-1] + "/") for _, target in command.volumes)


def _without_driver(runs: RunCommands | None) -> tuple[RunCommand, ...]:
    return tuple(command for command in (runs.commands if runs else ()) if not command.orchestrator and not _mounts(command))


def _told(command: RunCommand) -> Evidence:
    return Evidence(command.source, "the command mounts no /usr/local/Ascend/driver", command.line)


def _notes(runs: RunCommands | None) -> Iterator[Hit]:
    """A command that passes a card but not the driver. Docker's Ascend runtime mounts it by itself, so without a message this is only a note."""
    for command in _without_driver(runs):
        automatic = command.runtime == "ascend" or "ASCEND_VISIBLE_DEVICES" in command.environment
        if not automatic and any(device.startswith("/dev/davinci") for device in command.devices):
            yield Hit(
                found=_told(command).text,
                wanted="-v /usr/local/Ascend/driver/lib64:/usr/local/Ascend/driver/lib64",
                evidence=(_told(command),),
                confidence=Confidence.LIKELY,
                severity=Severity.NOTE,
            )
            return
