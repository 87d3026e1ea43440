"""Error codes: every spelling is understood, codes are found in real lines, and nothing else is taken for one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from doctor import errorcodes
from doctor.errorcodes import explain, find_codes

DATA = Path(__file__).parent.parent / "rules" / "data" / "errors"
FAMILIES = ("acl", "cann", "dcmi", "npu", "torch")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.mark.parametrize(
    ("written", "code", "family"),
    [
        ("507035", "507035", "acl"),
        (" 507035 ", "507035", "acl"),
        ("0x7BC8B", "507019", "acl"),
        ("561003", "561003", "acl"),
        ("errno:561003", "561003", "acl"),
        ("ACL_ERROR_RT_VECTOR_CORE_EXCEPTION", "507035", "acl"),
        ("ACLNN_ERR_INNER_FIND_KERNEL_ERROR", "561003", "acl"),
        ("EZ3002", "EZ3002", "cann"),
        ("ei0006", "EI0006", "cann"),
        ("E19999", "E19999", "cann"),
        ("ERR00100", "ERR00100", "torch"),
        ("err01007", "ERR01007", "torch"),
        ("-8005", "-8005", "dcmi"),
        ("8005", "-8005", "dcmi"),
        ("DCMI -8005", "-8005", "dcmi"),
        ("ret is -8005", "-8005", "dcmi"),
        ("dcmi module initialize failed. ret is -8005", "-8005", "dcmi"),
        ("80E01801", "80E01801", "npu"),
        ("0x80E18402", "80E18402", "npu"),
        ("80e18402", "80E18402", "npu"),
        ("Resource_Error_Insufficient_Device_Memory(EI0011): text", "EI0011", "cann"),
    ],
)
def test_every_spelling_is_understood(written: str, code: str, family: str) -> None:
    entries = explain(written)
    assert [(entry.code, entry.family) for entry in entries] == [(code, family)]


@pytest.mark.parametrize("text", ["", " ", "hello", "999999", "EX0000", "0x", "-", "0xZZZZZ", "\x00" * 50, "1" * 10_000, "ACL_ERROR_NO_SUCH", "٥٠٧٠٣٥"])
def test_what_is_no_code_is_not_explained(text: str) -> None:
    assert explain(text) == ()


def test_an_entry_says_what_to_do() -> None:
    (entry,) = explain("80E18402")
    assert entry.level == "L6 SeparateNPU" and entry.level_means is not None
    assert "replacement" in entry.level_means.en and "更换" in entry.level_means.zh
    (missing_kernel,) = explain("561003")
    assert missing_kernel.causes is not None and "ops" in missing_kernel.causes.en


def test_the_caller_names_the_rules() -> None:
    (entry,) = explain("EZ3002", lambda code: [f"operator-{code}"])
    assert entry.rules == ("operator-EZ3002",)


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("EZ9999: [PID: 775] 2025-02-16-12:18:25.258.321 text", ["EZ9999"]),
        ("EZ9999: Inner Error!", ["EZ9999"]),
        ("[PID: 2103452] 2025-11-03-20:18:46.447.213 Resource_Error_Insufficient_Device_Memory(EI0011): text", ["EI0011"]),
        ("RuntimeError: npuSynchronizeDevice: NPU function error: AclrtSynchronizeDeviceWithTimeout, error code is 507035", ["507035"]),
        ("launch failed for X, errno:561000", ["561000"]),
        ("call aclnnXxx failed, detail:EZ1001: [PID: 1]", ["EZ1001"]),
        ("rtSetStreamFailureMode failed, runtime result = 207000", ["207000"]),
        ("dcmi module initialize failed. ret is -8005", ["-8005"]),
        ("dcmi model initialized failed, because the device is used. ret is -8020", ["-8020"]),
        ("[ERROR] 2025-01-15-20:59:48 (PID:6038, Device:0, RankID:-1) ERR00100 PTA call acl api failed", ["ERR00100"]),
        ("\tError Code                     : A4025021 8C03A000 8C084E00", ["A4025021", "8C03A000", "8C084E00"]),
        ("EI0006: connect timeout, error code is 507899", ["EI0006", "507899"]),
        ("return ACL_ERROR_RT_PARAM_INVALID", ["107000"]),
        ("health event 0x80e18402 was raised", ["80E18402"]),
    ],
)
def test_codes_are_found_in_log_lines(line: str, codes: list[str]) -> None:
    assert find_codes(line) == codes
    assert find_codes(f"(EngineCore_DP0 pid=1234) {line}") == codes


@pytest.mark.parametrize(
    "line",
    [
        "INFO 12-01 10:00:00 listening on port 8005, pid 507035, 114688 MB",
        "Maximum concurrency for 128000 tokens per request: 1.5x",
        "commit 80e01801 fixes it",
        "torch 2.10.0, EI0006 and EZ9999 in prose without a colon",
        "return code is 5070351",
        "Error Code : NA",
    ],
)
def test_other_numbers_are_no_codes(line: str) -> None:
    assert find_codes(line) == []


def test_a_huge_hostile_line_is_cut_not_choked_on() -> None:
    assert find_codes("error code is " * 200_000) == []
    assert find_codes("E" * 1_000_000 + "EZ9999:") == []


def test_every_code_has_both_languages_and_every_file_its_sources() -> None:
    for family in FAMILIES:
        table = json.loads((DATA / f"{family}.json").read_text(encoding="utf-8"))
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", table["as_of"]) and table["sources"]
        for code, row in table["codes"].items():
            for english, chinese in (row["meaning"], row.get("causes", ["a", "中"])):
                assert english and not CHINESE.search(english), code
                assert CHINESE.search(chinese), code
            assert explain(code)[0].code == code
            assert row.get("level", "") in table.get("levels", {"": 0}) or not row.get("level"), code


KNOWN_FROM_REPORTS = {
    "507010", "507011", "507014", "507015", "507018", "507033", "507034", "507035", "507046", "507048", "507053", "507054",
    "507056", "507899", "507901", "507903", "207000", "207001", "207008", "207018", "207019", "107001", "107002", "107003",
    "148049", "161002", "361001", "561000", "561002", "561003", "561103", "561107", "500000", "500001", "500002", "EZ9999",
    "EZ1001", "EZ3002", "EZ3003", "EZ9903", "EE1015", "EE1023", "EL0004", "EL0005", "EL0007", "EL0009", "EL0015", "EI0002",
    "EI0004", "EI0005", "EI0006", "EI0007", "EI0008", "EI0009", "EI0011", "EI0015", "EI0016", "EI0019", "EJ0001", "EJ0002",
    "EJ0003", "E19999", "E30003", "E30005", "E30006", "E39002", "E40020", "E40024", "E10501", "E13010", "W11003", "EH9999", "-8005",
    "-8020", "80E01801", "80E18402", "80E18005", "8C03A000", "80FA4E00",
}


def test_codes_of_public_reports_have_sentences_of_their_own() -> None:
    own = {code for family in FAMILIES for code, row in errorcodes._table(family)["codes"].items() if row["own"]}
    assert own >= KNOWN_FROM_REPORTS


def test_the_hand_written_sentences_are_in_the_generated_files() -> None:
    """Fails where a sentence was edited and the tool was not run."""
    acl = yaml.safe_load((DATA / "words-acl.yaml").read_text(encoding="utf-8"))
    cann = yaml.safe_load((DATA / "words-cann.yaml").read_text(encoding="utf-8"))["sentences"]
    npu = yaml.safe_load((DATA / "words-npu.yaml").read_text(encoding="utf-8"))
    for family, sentences in (("acl", acl), ("cann", cann), ("npu", npu["npu"]), ("dcmi", npu["dcmi"])):
        rows = errorcodes._table(family)["codes"]
        for code, sentence in sentences.items():
            assert rows[str(code)]["meaning"] + rows[str(code)].get("causes", []) == sentence


def test_explaining_reads_no_yaml() -> None:
    program = "import sys; from doctor.errorcodes import explain; assert explain('507035'); print('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == "False"
