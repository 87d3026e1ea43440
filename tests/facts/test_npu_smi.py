"""What a reader of `npu-smi info` relies on: every chip and process of every layout, also from quoted, torn and squeezed pastes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.npu import Npu, NpuProcess, chip_from_npus
from doctor.facts.npu_smi import (
    MappedChip,
    classify_failure,
    parse_card_list,
    parse_chip_blocks,
    parse_ecc,
    parse_fields,
    parse_health,
    parse_mapping,
    parse_npu_smi,
    parse_usages,
)

SAMPLES = Path(__file__).parent / "samples"
TABLE_CHARACTERS = "|+=-/ >\n0123456789NAOKnpu-smiVersion:Ascend310P950B"


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")


def test_the_hbm_layout_with_numbers_that_touch_the_slash_and_a_process_without_a_name() -> None:
    npus = parse_npu_smi(sample("hbm"))
    assert npus is not None
    assert (npus.layout, npus.smi_version, npus.driver_version) == ("hbm", "25.0.rc1.2", "25.0.rc1.2")
    assert npus.chips == (
        Npu(0, 0, "910B2C", "OK", 118.6, 47.0, 6.0, 0, 0, 35738, 65536, None, "0000:6B:02.0", 0),
        Npu(1, 0, "910B2C", "Warning", 95.0, 44.0, 0.0, 0, 0, 3404, 65536, None, "0000:6C:02.0", 512),
    )
    assert npus.processes == (NpuProcess(0, 0, 19334, "VLLMWorker_TP", 32300), NpuProcess(0, 0, 3104283, "", 120))


def test_the_910a_variant_has_ddr_as_well() -> None:
    rows = (
        "| 0     910PremiumA         | OK            | 143.7       39                34   / 34            |\n"
        "| 0                         | 0000:C1:00.0  | 11          1413 / 15137      31842/ 32768         |"
    )
    npus = parse_npu_smi(rows)
    assert npus is not None
    chip = npus.chips[0]
    assert (chip.ddr_used_mb, chip.ddr_total_mb, chip.hbm_used_mb, chip.hbm_total_mb) == (1413, 15137, 31842, 32768)
    family = chip_from_npus(npus)
    assert family is not None and family.family == "a1"


def test_a3_tells_the_two_dies_of_an_npu_apart() -> None:
    npus = parse_npu_smi(sample("a3"))
    assert npus is not None and npus.layout == "a3"
    assert [(c.npu_id, c.chip_id, c.phy_id, c.power_w, c.bus_id) for c in npus.chips] == [
        (1, 0, 2, 178.5, "0000:99:00.0"),
        (1, 1, 3, None, "0000:9B:00.0"),
    ]


def test_310p_has_ddr_only_and_no_power() -> None:
    npus = parse_npu_smi(sample("310p"))
    assert npus is not None and npus.layout == "310p"
    assert [(c.npu_id, c.chip_id, c.power_w, c.ddr_total_mb, c.hbm_total_mb, c.aicore_percent) for c in npus.chips] == [
        (2, 0, None, 44280, None, 0.0),
        (2, 1, None, 44280, None, 3.0),
    ]


def test_950_has_no_chip_column() -> None:
    npus = parse_npu_smi(sample("950"))
    assert npus is not None and npus.layout == "950"
    assert [(c.npu_id, c.chip_id, c.name, c.health, c.bus_id, c.hbm_used_mb) for c in npus.chips] == [
        (0, None, "Ascend950PR", "Alarm", "0000:71:00.0", 90633),
        (1, None, "Ascend950DT", "OK", None, 5715),
    ]
    assert npus.processes == (NpuProcess(0, None, 4711, "VLLM::Worker_TP0", 85000),)


def test_wide_950_builds_add_the_pid_in_the_container() -> None:
    npus = parse_npu_smi(sample("950-wide"))
    assert npus is not None and npus.layout == "950" and npus.driver_version == "25.6.rc1.b143"
    assert [c.hbm_total_mb for c in npus.chips] == [147456]
    assert npus.processes == (NpuProcess(3, None, 88123, "python3", 1200), NpuProcess(3, None, 88124, "", 64))


@pytest.mark.parametrize("name", ["hbm", "a3", "310p", "950", "950-wide"])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
        lambda text: "".join(f"   > > {line}\n" for line in text.splitlines()),
        lambda text: re.sub(r" +", " ", text),
        lambda text: "".join(line + "\n" for line in text.splitlines() if not line.startswith("+")),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: f"$ npu-smi info\n{text}\nand then it hung | like this | yes | no |",
    ],
    ids=["quoted", "quoted twice", "squeezed", "no separators", "crlf", "amid prose"],
)
def test_a_paste_tells_the_same(name: str, change: Callable[[str], str]) -> None:
    whole, pasted = parse_npu_smi(sample(name)), parse_npu_smi(change(sample(name)))
    assert whole is not None and pasted is not None
    assert (pasted.chips, pasted.processes, pasted.layout) == (whole.chips, whole.processes, whole.layout)


@pytest.mark.parametrize("name", ["hbm", "a3", "310p", "950"])
def test_without_its_heading_a_table_still_shows_its_layout(name: str) -> None:
    rows = "\n".join(line for line in sample(name).splitlines() if not re.search(r"npu-smi|Name|Bus-Id", line))
    npus = parse_npu_smi(rows)
    assert npus is not None and npus.layout == name


@pytest.mark.parametrize(
    ("row", "name", "layout"),
    [
        ("| 0     910B1               | OK            | 93.1        36                0    / 0             |", "910B1", "hbm"),
        ("> | 0 310P3 | OK | NA 45 0 / 0 |", "310P3", "310p"),
        ("      | 0     Ascend910           | OK            | -           36                0    / 0", "Ascend910", "a3"),
        ("| 0 | Ascend950PR | OK | 181.2 47 0 / 0 |", "Ascend950PR", "950"),
    ],
)
def test_a_single_row_is_a_chip_without_what_the_second_row_says(row: str, name: str, layout: str) -> None:
    npus = parse_npu_smi(f"my card:\n{row}\n", line=10)
    assert npus is not None
    (chip,) = npus.chips
    assert (chip.name, chip.chip_id, chip.hbm_total_mb, chip.bus_id, npus.layout, npus.line) == (name, None, None, None, layout, 11)


@pytest.mark.parametrize(
    "text",
    ["", "| 0 foo | bar | baz |", "| 0 | 1 | 2 |", "| 1 | fail | OK | 3 |", "the npu-smi tool", "| NPU | count |", "| 7 910B3 | OK | fine |"],
)
def test_other_tables_are_none_of_ours(text: str) -> None:
    assert parse_npu_smi(text) is None


def test_the_heading_alone_tells_the_driver() -> None:
    npus = parse_npu_smi("| npu-smi 24.1.rc3                 Version: 24.1.rc3   |")
    assert npus is not None and npus.driver_version == "24.1.rc3" and npus.chips == ()


def test_list_and_mapping() -> None:
    assert parse_card_list("\tTotal Count : 2\n\n\tNPU ID : 1\n\tChip Count : 2\n\n\tNPU ID : 2\n\tChip Count : 2\n") == {1: 2, 2: 2}
    a2 = "\tNPU ID    Chip ID    Chip Logic ID    Chip Name\n\t0    0    0    Ascend 910B3\n\t0    1    -    Mcu\n"
    assert parse_mapping(a2) == (MappedChip(0, 0, 0, None, "Ascend 910B3"), MappedChip(0, 1, None, None, "Mcu"))
    new = "\tNPU ID    Slot ID    Chip ID    Chip Phy-ID    Chip Name\n\t-1    0    0    -    NA\n\t1    1    0    1    Ascend950PR\n"
    assert parse_mapping(new) == (MappedChip(-1, 0, None, None, "NA"), MappedChip(1, 0, None, 1, "Ascend950PR"))


def test_health_with_codes_and_lines_that_go_on() -> None:
    text = (
        "\tHealth Status                  : Alarm\n\tError Code                     : A4025021 8c03a000 0x8C084E00\n"
        "\tError Information              : first fault\n\t                               : second fault\n"
    )
    health = parse_health(text)
    assert health is not None
    assert (health.status, health.codes, health.information) == ("Alarm", ("A4025021", "8C03A000", "8C084E00"), "first fault second fault")
    fine = parse_health("\tNPU ID : 0\n\tHealth : OK\n\tError Code : NA\n\tError Information : NA\n")
    assert fine is not None and (fine.status, fine.codes, fine.information) == ("OK", (), "")
    assert parse_health("Error parameter of -i") is None


def test_board_keeps_the_first_of_each_key() -> None:
    fields = parse_fields("\tNPU ID : 0\n\tFirmware Version : 7.8.0.6.201\n\tCompatibility : NOK\n\tPCIe Bus Info : 0000:C1:00.0\n\tNPU ID : 9\n")
    assert fields == {"NPU ID": "0", "Firmware Version": "7.8.0.6.201", "Compatibility": "NOK", "PCIe Bus Info": "0000:C1:00.0"}


@pytest.mark.parametrize("order", ["after", "before"])
def test_ecc_by_chip_wherever_the_chip_id_stands(order: str) -> None:
    chips = [f"\tHBM Double Bit Error Count : {number}\n\tHBM Single Bit Error Count : NA\n" for number in (0, 3)]
    ids = ["\tChip ID : 0\n", "\tChip ID : 1\n"]
    pairs = zip(chips, ids, strict=True) if order == "after" else zip(ids, chips, strict=True)
    text = "\tNPU ID : 4\n\tChip Count : 2\n" + "".join(first + second for first, second in pairs)
    assert parse_ecc(text) == {0: {"HBM Double Bit Error Count": 0}, 1: {"HBM Double Bit Error Count": 3}}


def test_usages() -> None:
    text = "\tNPU ID : 0\n\tChip Count : 1\n\n\tHBM Capacity(MB) : 65536\n\tHBM Usage Rate(%) : 91\n\tAicore Usage Rate(%) : NA\n\tChip ID : 0\n"
    assert parse_usages(text) == {0: {"HBM Capacity(MB)": 65536.0, "HBM Usage Rate(%)": 91.0}}


@pytest.mark.parametrize(
    ("text", "exit", "word"),
    [
        ("dcmi module initialize failed. ret is -8005", 255, "dcmi -8005"),
        ("dcmi model initialized failed, because the device is used. ret is -8020", 255, "dcmi -8020"),
        ("npu-smi: error while loading shared libraries: libdrvdsmi_host.so: cannot open shared object file: No such file", 127, "missing libraries"),
        ("DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)", 1, "driver not reachable"),
        ("There is no NPU card on this server.", 0, "no card"),
        ("Invalid card id.", 1, "wrong id"),
        ("something else", 3, "other"),
        ("all is well", 0, ""),
    ],
)
def test_why_it_failed(text: str, exit: int, word: str) -> None:
    assert classify_failure(text, exit) == word


@given(st.text() | st.text(alphabet=TABLE_CHARACTERS, max_size=400))
def test_no_text_makes_a_parser_raise(text: str) -> None:
    parse_npu_smi(text, line=1)
    for parser in (parse_card_list, parse_mapping, parse_health, parse_fields, parse_ecc, parse_usages, parse_chip_blocks):
        parser(text)
    classify_failure(text, 1)


def test_absurd_numbers_are_no_numbers() -> None:
    huge = "9" * 5000
    assert parse_npu_smi(f"| {huge} 910B3 | OK | {huge} {huge} 0 / {huge} |") is None
    assert parse_ecc(f"HBM Double Bit Error Count : {huge}") == {}
