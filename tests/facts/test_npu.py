"""Which NPUs a machine has and of which family, from npu-smi, PCI and /dev together; and what cannot be told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.npu import (
    FAMILY_KERNELS,
    Chip,
    DeviceNodes,
    NpuDetail,
    NpuPresence,
    Npus,
    NpuSmi,
    PciNpu,
    PciNpus,
    chip_of,
    parse_lspci,
)
from doctor.host import Unavailable, Why

from .hosts import facts_of

SAMPLES = Path(__file__).parent / "samples"
A2 = (SAMPLES / "hbm.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "chips", "ddr", "hbm", "family"),
    [
        ("910B1", 1, 0, 65536, "a2"),
        ("910B2C", 1, None, None, "a2"),
        ("910B4-1", 1, 0, 65536, "a2"),
        ("Ascend910B3", 1, None, None, "a2"),
        ("910B", 1, 15137, 32768, "a1"),
        ("910B", 1, 0, 65536, "a2"),
        ("910B", 1, None, None, None),
        ("Ascend910", 2, 0, 65536, "a3"),
        ("Ascend910", 2, None, None, "a3"),
        ("Ascend910", 1, 0, 65536, "a3"),
        ("Ascend910", 1, 15137, 32768, "a1"),
        ("910", 1, None, None, None),
        ("Ascend910_9392", 1, None, None, "a3"),
        ("9391", 1, None, None, "a3"),
        ("910A", 1, None, None, "a1"),
        ("910PremiumA", 1, None, None, "a1"),
        ("910 ProB", 1, None, None, "a1"),
        ("310P3", 2, 44280, None, "310p"),
        ("Ascend 310B4", 1, None, None, "310b"),
        ("310", 4, None, None, "310"),
        ("Ascend950PR", 1, None, None, "950"),
        ("950DT", 1, None, None, "950"),
        ("H100", 1, None, None, None),
        ("", 0, None, None, None),
    ],
)
def test_chip_family(name: str, chips: int, ddr: int | None, hbm: int | None, family: str | None) -> None:
    chip = chip_of(name, chips, ddr, hbm)
    assert (chip.family if chip else None) == family
    if chip is not None:
        assert chip.kernel == FAMILY_KERNELS[chip.family]


def pci(address: str, vendor: str, device: str, klass: str, **more: str) -> dict[str, str]:
    folder = f"/sys/bus/pci/devices/{address}"
    return {f"{folder}/{name}": text + "\n" for name, text in {"vendor": vendor, "device": device, "class": klass, **more}.items()}


def test_pci_counts_accelerators_and_neither_network_cards_nor_management_chips(tmp_path: Path) -> None:
    facts = facts_of(
        tmp_path,
        {
            **pci("0000:c1:00.0", "0x19e5", "0xd802", "0x120000", current_link_speed="8.0 GT/s PCIe", max_link_speed="16.0 GT/s PCIe",
                  current_link_width="8", max_link_width="16"),
            **pci("0000:c1:00.1", "0x19e5", "0xd802", "0x120000", physfn="x"),
            **pci("0000:03:00.0", "0x19e5", "0x0222", "0x020000"),
            **pci("0000:04:00.0", "0x19e5", "0x1711", "0x030000"),
            **pci("0000:05:00.0", "0x19e5", "0xd500", "0xff0000", current_link_speed="Unknown", current_link_width="255"),
            **pci("0000:06:00.0", "0x8086", "0x1572", "0x120000"),
        },
    )  # fmt: skip
    found = facts.get(PciNpus)
    assert isinstance(found, PciNpus)
    assert found.devices == (
        PciNpu("0000:05:00.0", "d500"),
        PciNpu("0000:c1:00.0", "d802", "8.0 GT/s PCIe", "16.0 GT/s PCIe", 8, 16),
    )


def test_pci_is_unknown_where_none_can_be_seen_even_if_lspci_prints_nothing(tmp_path: Path) -> None:
    found = facts_of(tmp_path, {"/etc/os-release": "ID=x\n"}, {"lspci -Dn -d 19e5:": ""}).get(PciNpus)
    assert isinstance(found, Unavailable) and found.why is Why.MISSING


def test_pci_by_lspci(tmp_path: Path) -> None:
    text = "0000:c1:00.0 1200: 19e5:d802 (rev 20)\n0000:03:00.0 0200: 19e5:0222 (rev 45)\n"
    assert parse_lspci(text) == (PciNpu("0000:c1:00.0", "d802"),)
    found = facts_of(tmp_path, {}, {"lspci -Dn -d 19e5:": text}).get(PciNpus)
    assert isinstance(found, PciNpus) and [device.device for device in found.devices] == ["d802"]


def test_device_nodes_and_a_folder_in_place_of_one(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"/dev/davinci10": "", "/dev/davinci2": "", "/dev/davinci_manager": "", "/dev/hisi_hdc/": ""})
    nodes = facts.get(DeviceNodes)
    assert isinstance(nodes, DeviceNodes)
    assert nodes.davinci == (2, 10)
    assert nodes.managers == {"davinci_manager": True, "devmm_svm": False, "hisi_hdc": False}


NOT_FOUND = "bash: npu-smi: command not found\n[exit 127]"


@pytest.mark.parametrize(
    ("files", "commands", "present"),
    [
        (pci("0000:c1:00.0", "0x19e5", "0xd802", "0x120000"), {"npu-smi info": NOT_FOUND}, True),
        ({"/dev/davinci0": ""}, {"npu-smi info": NOT_FOUND}, True),
        ({}, {"npu-smi info": A2}, True),
        (pci("0000:00:02.0", "0x8086", "0xa7a0", "0x030000"), {"npu-smi info": NOT_FOUND}, False),
        (pci("0000:00:02.0", "0x8086", "0xa7a0", "0x030000"), {"npu-smi info": "dcmi module initialize failed. ret is -8005\n[exit 255]"}, None),
        ({"/etc/os-release": "ID=x\n"}, {"npu-smi info": NOT_FOUND}, None),
    ],
    ids=["pci", "device node", "npu-smi", "nowhere", "npu-smi fails", "no view of pci"],
)
def test_presence(tmp_path: Path, files: dict[str, str], commands: dict[str, str], present: bool | None) -> None:
    found = facts_of(tmp_path, files, commands).get(NpuPresence)
    assert isinstance(found, NpuPresence) and found.present is present


@pytest.mark.parametrize(
    ("output", "state", "why"),
    [
        (NOT_FOUND, "missing", Why.MISSING),
        ("dcmi module initialize failed. ret is -8005\n[exit 255]", "failed", Why.MISSING),
        ("There is no NPU card on this server.\n[exit 0]", "failed", Why.MISSING),
        ("\n[exit 0]", "empty", Why.MISSING),
        (A2, "ok", None),
    ],
)
def test_how_npu_smi_answered(tmp_path: Path, output: str, state: str, why: Why | None) -> None:
    facts = facts_of(tmp_path, {}, {"npu-smi info": output})
    smi, npus = facts.get(NpuSmi), facts.get(Npus)
    assert isinstance(smi, NpuSmi) and smi.state == state
    assert (npus.why if isinstance(npus, Unavailable) else None) is why


def test_not_recorded_stays_not_recorded(tmp_path: Path) -> None:
    facts = facts_of(tmp_path)
    for kind in (NpuSmi, Npus, Chip, NpuDetail):
        found = facts.get(kind)
        assert isinstance(found, Unavailable) and found.why is Why.NOT_RECORDED


def test_chip_by_pci_where_npu_smi_fails(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, pci("0000:01:00.0", "0x19e5", "0xd500", "0x120000"), {"npu-smi info": NOT_FOUND})
    chip = facts.get(Chip)
    assert isinstance(chip, Chip) and (chip.family, chip.kernel) == ("310p", "ascend310p")


def test_chip_by_its_board_where_the_name_does_not_decide(tmp_path: Path) -> None:
    commands = {"npu-smi info": "| 4 910 | OK | 93.1 36 0 / 0 |", "npu-smi info -t board -i 4 -c 0": "Chip Name : Ascend910\nNPU Name : 9392\n"}
    chip = facts_of(tmp_path, {}, commands).get(Chip)
    assert isinstance(chip, Chip) and chip.family == "a3"


def test_detail_of_every_npu(tmp_path: Path) -> None:
    commands = {
        "npu-smi info": A2,
        "npu-smi info -m": "NPU ID  Chip ID  Chip Logic ID  Chip Name\n0  0  0  Ascend 910B2C\n1  0  2  Ascend 910B2C\n0  1  -  Mcu\n",
        "npu-smi info -t board -i 0": "Firmware Version : 7.8.0.6.201\nCompatibility : OK\n",
        "npu-smi info -t board -i 1": "Firmware Version : NA\nCompatibility : NOK\n",
        "npu-smi info -t board -i 0 -c 0": "Chip Name : 910B2C\n",
        "npu-smi info -t health -i 1 -c 0": "Health Status : Alarm\nError Code : 80E01801\n",
        "npu-smi info -t ecc -i 0": "HBM Double Bit Error Count : 1\nChip ID : 0\n",
    }
    detail = facts_of(tmp_path, {}, commands).get(NpuDetail)
    assert detail == NpuDetail(
        firmware={0: "7.8.0.6.201"},
        compatibility={0: "OK", 1: "NOK"},
        fault_codes={(1, 0): ("80E01801",)},
        ecc={(0, 0): {"HBM Double Bit Error Count": 1}},
        soc_names={0: "910B2C"},
        logical_ids=(0, 2),
    )


def test_detail_of_950_is_asked_without_a_chip(tmp_path: Path) -> None:
    commands = {"npu-smi info": (SAMPLES / "950.txt").read_text(encoding="utf-8"), "npu-smi info -t health -i 0": "Health : Alarm\nError Code : 80CB8009\n"}
    detail = facts_of(tmp_path, {}, commands).get(NpuDetail)
    assert isinstance(detail, NpuDetail) and detail.fault_codes == {(0, 0): ("80CB8009",)}


@given(st.text(), st.integers(-1, 9), st.none() | st.integers(), st.none() | st.integers())
def test_no_text_makes_a_parser_raise(text: str, chips: int, ddr: int | None, hbm: int | None) -> None:
    chip_of(text, chips, ddr, hbm)
    parse_lspci(text)
