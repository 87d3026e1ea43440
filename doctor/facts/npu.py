"""NPUs: what `npu-smi` says in its four layouts, what PCI and /dev show, and which chip family it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from doctor.facts import Facts, Provider, known
from doctor.facts.ask import answer, ran
from doctor.facts.npu_detail import read_npu_detail
from doctor.facts.npu_smi import chips_per_npu, classify_failure, parse_fields, parse_npu_smi, pci_device
from doctor.facts.npu_types import (
    Chip,
    DeviceNodes,
    Npu,
    NpuDetail,
    NpuPresence,
    NpuProcess,
    Npus,
    NpuSmi,
    PciNpu,
    PciNpus,
)
from doctor.facts.number import hexadecimal, whole
from doctor.host import KIB, Host, Kind, Probe, Unavailable, Why

__all__ = [
    "Chip", "DeviceNodes", "FAMILY_KERNELS", "Npu", "NpuDetail", "NpuPresence", "NpuProcess", "NpuSmi", "Npus", "PCI_FAMILIES",
    "PROVIDERS", "PciNpu", "PciNpus", "chip_from_npus", "chip_of", "parse_lspci",
]  # fmt: skip

SMI_TIMEOUT = 20.0
"""Seconds for `npu-smi info`: 1 to 4 on a healthy server of 8 cards, several times that with 16 dies under load."""

FAMILY_KERNELS = {
    "a1": "ascend910", "a2": "ascend910b", "a3": "ascend910_93", "310p": "ascend310p", "310b": "ascend310b", "310": "ascend310",
    "950": "ascend950",
}  # fmt: skip
"""Chip family -> folder of its operator binaries."""

PCI_FAMILIES = {"d100": "310", "d105": "310b", "d500": "310p", "d801": "a1", "d802": "a2", "d803": "a3", "d806": "950"}
"""PCI device id of vendor 19e5 -> chip family."""

_HUAWEI = 0x19E5
_ACCELERATOR_CLASSES = (0x1200, 0x0302)
"""Base and sub class: processing accelerator, 3D controller. Huawei's network and management chips have others."""

_OLD_HBM_MB = 32768
"""HBM of the first Ascend 910 and of 910 Pro A and B; the chips of A2 and A3 that share a name with them have 64 GB."""


def chip_of(name: str, chips_per_npu: int, ddr_total: int | None, hbm_total: int | None) -> Chip | None:
    """The chip family behind a name of npu-smi, or None where the name alone does not decide. Memory in MB.

    Two traps: exactly "910B" with 32 GB of HBM and DDR is the old 910 Pro B, and "Ascend910" with two chips per NPU is A3.
    """
    family = _family(name, chips_per_npu, ddr_total, hbm_total)
    return Chip(family, name.strip(), FAMILY_KERNELS[family], "npu-smi info") if family else None


def _family(name: str, chips: int, ddr: int | None, hbm: int | None) -> str | None:
    short = re.sub(r"\s+", "", name[:64]).upper().removeprefix("ASCEND")
    patterns = (
        ("950", r"950.*"), ("310p", r"310P.*"), ("310b", r"310B.*"), ("310", r"310.*"), ("a3", r"910_?93\d\d.*|93\d\d|910C"),
        ("a2", r"910B\d.*"), ("a1", r"910A|910PREMIUMA|910PRO[AB]"),
    )  # fmt: skip
    for family, pattern in patterns:
        if re.fullmatch(pattern, short, re.ASCII):
            return family
    if short not in ("910", "910B"):
        return None
    if short == "910" and chips >= 2:
        return "a3"
    if ddr or (hbm is not None and 0 < hbm <= _OLD_HBM_MB):
        return "a1"
    if hbm is None:
        return None
    return "a2" if short == "910B" else "a3"


def chip_from_npus(npus: Npus) -> Chip | None:
    """The family of the first chip whose name decides; one server holds one family."""
    for npu in npus.chips:
        chip = chip_of(npu.name, chips_per_npu(npus), npu.ddr_total_mb, npu.hbm_total_mb)
        if chip is not None:
            return Chip(chip.family, chip.name, chip.kernel, npus.source, npus.line)
    return None


def chip_from_board(fields: Mapping[str, str], source: str) -> Chip | None:
    """From `npu-smi info -t board -i N -c 0`: "NPU Name" (9392 on A3), then "Chip Name" (910B3)."""
    for key in ("NPU Name", "Chip Name"):
        chip = chip_of(fields.get(key, ""), 1, None, None)
        if chip is not None:
            return Chip(chip.family, fields.get("Chip Name") or chip.name, chip.kernel, source)
    return None


def chip_from_pci(devices: Iterable[PciNpu], source: str) -> Chip | None:
    for device in devices:
        family = PCI_FAMILIES.get(device.device)
        if family is not None:
            return Chip(family, f"19e5:{device.device}", FAMILY_KERNELS[family], source)
    return None


def read_npu_smi(host: Host, facts: Facts) -> NpuSmi | Unavailable:
    output = ran(host, ["npu-smi", "info"], SMI_TIMEOUT)
    if isinstance(output, Unavailable):
        states = {Why.MISSING: "missing", Why.TIMED_OUT: "timed out", Why.DENIED: "failed"}
        state = states.get(output.why)
        return output if state is None else NpuSmi(state, output.detail, seconds=SMI_TIMEOUT if state == "timed out" else 0.0)
    text = output.text.strip()
    npus = parse_npu_smi(text)
    if npus is not None and npus.chips:
        state = "ok"
    elif not text:
        state = "empty" if output.exit == 0 else "failed"
    else:
        state = "ok" if output.exit == 0 and npus is not None and not classify_failure(text, 0) else "failed"
    return NpuSmi(state, text, output.exit, output.seconds)


def read_npus(host: Host, facts: Facts) -> Npus | Unavailable:
    smi = facts.get(NpuSmi)
    if isinstance(smi, Unavailable):
        return smi
    npus = parse_npu_smi(smi.text) if smi.state == "ok" else None
    if npus is not None:
        return npus
    why = Why.TIMED_OUT if smi.state == "timed out" else Why.MISSING
    failure = classify_failure(smi.text, smi.exit or 0) if smi.state == "failed" else ""
    return Unavailable("npu-smi info", why, f"{smi.state}: {failure}" if failure else smi.state)


def read_chip(host: Host, facts: Facts) -> Chip | Unavailable:
    npus, pci = facts.get(Npus), facts.get(PciNpus)
    if not isinstance(npus, Unavailable) and npus.chips:
        chip = chip_from_npus(npus)
        if chip is None:
            argv = ["npu-smi", "info", "-t", "board", "-i", str(npus.chips[0].npu_id), "-c", "0"]
            chip = chip_from_board(parse_fields(known(answer(host, argv)) or ""), " ".join(argv))
        if chip is not None:
            return chip
    if not isinstance(pci, Unavailable):
        by_pci = chip_from_pci(pci.devices, pci.source)
        if by_pci is not None:
            return by_pci
    if isinstance(npus, Unavailable):
        return npus
    return Unavailable("chip family", Why.MISSING, "no NPU" if not npus.chips else f"unknown name {npus.chips[0].name}")


def parse_lspci(text: str) -> tuple[PciNpu, ...]:
    """Accelerators in `lspci -Dn -d 19e5:`: "0000:c1:00.0 1200: 19e5:d802 (rev 20)"."""
    rows = re.findall(r"^\s*(?:> ?)?([0-9a-f:.]{7,16}) ([0-9a-f]{4}): 19e5:([0-9a-f]{4})\b", text, re.MULTILINE | re.IGNORECASE)
    return tuple(
        PciNpu(address.lower(), device.lower())
        for address, klass, device in rows
        if int(klass, 16) in _ACCELERATOR_CLASSES or device.lower() in PCI_FAMILIES
    )


def read_pci_npus(host: Host, facts: Facts) -> PciNpus | Unavailable:
    """From sysfs. lspci is believed only when it lists something: in a container without PCI it prints nothing, too."""
    paths = host.list("/sys/bus/pci/devices/*/vendor")
    if not isinstance(paths, Unavailable) and paths:
        found = (_pci_npu(host, path.rpartition("/")[0]) for path in paths)
        return PciNpus(tuple(device for device in found if device is not None))
    listed = answer(host, ["lspci", "-Dn", "-d", "19e5:"])
    devices = parse_lspci(listed) if isinstance(listed, str) else ()
    if devices:
        return PciNpus(devices, "lspci")
    return paths if isinstance(paths, Unavailable) else Unavailable("/sys/bus/pci/devices", Why.MISSING, "no PCI device is visible")


def _pci_npu(host: Host, folder: str) -> PciNpu | None:
    def read(name: str) -> str | None:
        text = host.read(f"{folder}/{name}", KIB)
        return text.strip() if isinstance(text, str) else None

    if hexadecimal(read("vendor")) != _HUAWEI:
        return None
    device, klass = pci_device(read("device") or ""), hexadecimal(read("class"))
    accelerator = klass is not None and klass >> 8 in _ACCELERATOR_CLASSES
    if device is None or not (accelerator or device in PCI_FAMILIES):
        return None
    if not isinstance(host.stat(f"{folder}/physfn"), Unavailable):
        return None  # a virtual function is a share of a card that is counted already
    speed, most = read("current_link_speed"), read("max_link_speed")
    return PciNpu(
        folder.rpartition("/")[2], device, None if speed == "Unknown" else speed, None if most == "Unknown" else most,
        _link_width(read("current_link_width")), _link_width(read("max_link_width")),
    )  # fmt: skip


def _link_width(text: str | None) -> int | None:
    """Lanes; the kernel writes 0 or 255 where a virtual machine hides the link."""
    width = whole(text)
    return width if width is not None and 0 < width <= 32 else None


_MANAGERS = ("davinci_manager", "devmm_svm", "hisi_hdc")


def read_device_nodes(host: Host, facts: Facts) -> DeviceNodes | Unavailable:
    paths = host.list("/dev/davinci[0-9]*")
    if isinstance(paths, Unavailable):
        return paths
    ids = (re.fullmatch(r"/dev/davinci([0-9]{1,4})", path, re.ASCII) for path in paths)
    managers: dict[str, bool] = {}
    for name in _MANAGERS:
        info = host.stat(f"/dev/{name}")
        if not isinstance(info, Unavailable):
            managers[name] = info.kind is not Kind.FOLDER
        elif info.why is Why.MISSING:
            managers[name] = False
    return DeviceNodes(tuple(sorted(int(match[1]) for match in ids if match)), managers)


def read_npu_presence(host: Host, facts: Facts) -> NpuPresence | Unavailable:
    """True by any trace; False only where PCI was seen and there is none, no device node and no npu-smi."""
    pci, nodes = facts.get(PciNpus), facts.get(DeviceNodes)
    if not isinstance(pci, Unavailable) and pci.devices:
        return NpuPresence(True, f"{pci.source}: {len(pci.devices)} x 19e5:{pci.devices[0].device}")
    if not isinstance(nodes, Unavailable) and nodes.davinci:
        return NpuPresence(True, f"/dev/davinci{nodes.davinci[0]}")
    smi, npus = facts.get(NpuSmi), facts.get(Npus)
    if not isinstance(npus, Unavailable) and npus.chips:
        return NpuPresence(True, "npu-smi info")
    virtual = host.list("/dev/vdavinci*")
    if not isinstance(virtual, Unavailable) and virtual:
        return NpuPresence(True, virtual[0])
    if isinstance(pci, Unavailable):
        made = [name for name, there in nodes.managers.items() if there] if not isinstance(nodes, Unavailable) else []
        if made:  # only a loaded driver makes them, or somebody handed them to this container
            return NpuPresence(True, f"/dev/{made[0]}")
        return NpuPresence(None, f"PCI could not be seen ({pci})")
    if isinstance(nodes, Unavailable):
        return NpuPresence(None, f"/dev could not be seen ({nodes})")
    if isinstance(smi, Unavailable) or smi.state != "missing":
        return NpuPresence(None, "npu-smi is installed, but PCI and /dev show no NPU" if not isinstance(smi, Unavailable) else str(smi))
    return NpuPresence(False, f"{pci.source}, /dev/davinci*, npu-smi")


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(NpuSmi, read_npu_smi, Probe.DEVICE),
    Provider(Npus, read_npus, Probe.DEVICE),
    Provider(Chip, read_chip, Probe.DEVICE),
    Provider(PciNpus, read_pci_npus, Probe.PROCESS),
    Provider(DeviceNodes, read_device_nodes),
    Provider(NpuPresence, read_npu_presence, Probe.DEVICE),
    Provider(NpuDetail, read_npu_detail, Probe.DEVICE),
)
