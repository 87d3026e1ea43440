"""npu-lost-from-driver: PCI shows an NPU that npu-smi does not."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.npu import Npus, PciNpus
from doctor.finding import Basis, Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches, evidence_of


def judge(pci: PciNpus | None, npus: Npus | None, container: Container | None, matches: Matches) -> Iterator[Hit]:
    lines = matches["board"]
    if lines:
        evidence = evidence_of(lines, matches.count("board"))
        yield Hit(found=lines[0].text[:200], evidence=(evidence,), confidence=Confidence.POSSIBLE, basis=Basis.LOG, position=lines[0].ordinal + 1)
    if pci is None or npus is None:
        if matches.looked:
            return
        raise Skip("PCI and npu-smi are not both known")
    if container is not None and container.inside:
        raise Skip("a container may have been given some of the NPUs only")
    shown = {chip.bus_id.lower() for chip in npus.chips if chip.bus_id}
    if not shown or any(chip.bus_id is None for chip in npus.chips):
        raise Skip("npu-smi does not print the bus address of every chip")
    for device in pci.devices:
        if device.address.lower() not in shown:
            evidence = Evidence(pci.source, f"{device.address} 19e5:{device.device} is not in npu-smi info")
            yield Hit(device.address, f"{device.address} is on PCI only", "every address in npu-smi info", (evidence,))
