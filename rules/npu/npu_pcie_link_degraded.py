"""npu-pcie-link-degraded: the current link of an NPU is below its maximum."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.machine import Machine
from doctor.facts.npu import PciNpu, PciNpus
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches, evidence_of


def judge(pci: PciNpus | None, machine: Machine | None, matches: Matches) -> Iterator[Hit]:
    yield from _pasted(matches)
    if pci is None:
        if matches.looked:
            return
        raise Skip("PCI is not known")
    if machine is not None and machine.hypervisor:
        raise Skip("a virtual machine does not see the real link")
    known = [device for device in pci.devices if _speed(device.max_speed) or device.max_width]
    if not known:
        raise Skip("the kernel does not tell the link of any NPU")
    slow = [device for device in known if _degraded(device)]
    alike = len(known) > 1 and len(slow) == len(known) and len({(device.speed, device.width) for device in known}) == 1
    for device in slow:
        found, wanted = f"{device.speed} x{device.width}", f"{device.max_speed} x{device.max_width}"
        evidence = Evidence(f"{pci.source}/{device.address}", f"current link {found}, maximum {wanted}")
        # All cards alike: the slots are wired so, or the links idle.
        yield Hit(device.address, found, wanted, (evidence,), severity=Severity.NOTE if alike else None)


def _degraded(device: PciNpu) -> bool:
    speed, most = _speed(device.speed), _speed(device.max_speed)
    narrow = device.width is not None and device.max_width is not None and device.width < device.max_width
    return narrow or (speed is not None and most is not None and speed < most)


def _speed(text: str | None) -> float | None:
    """GT/s of "16.0 GT/s PCIe"."""
    found = re.match(r"\s*(\d{1,3}(?:\.\d{1,3})?)", text or "")
    return float(found[1]) if found else None


def _pasted(matches: Matches) -> Iterator[Hit]:
    """`lspci -vv`: the line of the link stands below the heading of its device."""
    heads = [match.ordinal for match in matches["device"]]
    lines = tuple(match for match in matches["lnksta"] if any(0 < match.ordinal - head < 60 for head in heads))
    if lines:
        yield Hit(
            found=lines[0].text[:200], evidence=(evidence_of(lines),), confidence=Confidence.LIKELY, basis=Basis.LOG,
            position=lines[0].ordinal + 1,
        )  # fmt: skip
