"""A 950 in a container without the driver's folder of topologies."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.container import Container, RunCommands
from doctor.facts.driver import DriverTopology
from doctor.facts.npu import Chip, DeviceNodes
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches

TOPO, LIBRARIES = "/usr/local/Ascend/driver/topo", "/usr/local/Ascend/driver/lib64"
ABOVE = ("/usr/local/Ascend/driver", "/usr/local/Ascend", "/usr/local")


def judge(
    chip: Chip | None, topology: DriverTopology | None, container: Container | None, nodes: DeviceNodes | None, runs: RunCommands | None, matches: Matches
) -> Iterator[Hit]:
    if chip is None:
        if not matches.looked:
            raise Skip("the chip is not known, and no log was given")
        return
    if chip.family != "950":
        return
    if container is not None and container.inside and topology is not None and not topology.there and (nodes is None or len(nodes.davinci) > 1):
        yield Hit(found=f"{TOPO} is not there", wanted=f"-v {TOPO}:{TOPO}", evidence=(Evidence(topology.source, "missing"),), confidence=Confidence.LIKELY)
        return
    for run in runs.commands if runs and topology is not None else ():  # a text need not show the whole command
        mounted = [target.rstrip("/") for _, target in run.volumes]
        cards = [device for device in run.devices if device.removeprefix("/dev/davinci").isdecimal()]
        if any(path.startswith(LIBRARIES) for path in mounted) and not any(path == TOPO or path in ABOVE for path in mounted) and (len(cards) > 1 or run.privileged):
            found = f"{LIBRARIES} is mounted, {TOPO} is not"
            yield Hit(found=found, wanted=f"-v {TOPO}:{TOPO}", evidence=(Evidence(run.source, found, run.line),), confidence=Confidence.LIKELY)
            return
