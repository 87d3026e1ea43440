"""NPU failures that real torch_npu and vLLM printed, played by a step: the smoke test names them as a log would be named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import yaml

from doctor.host.live import LiveHost
from doctor.rulebook import load
from doctor.smoke.child import Ended, How
from doctor.smoke.diagnose import diagnose

REPORTS = Path(__file__).resolve().parents[2] / "fixtures" / "reports"
RECORDED = {
    "f-b17-aclinit-500000": "device", "f-b17-getcount-fail": "device", "f-b17-malloc-207001": "device", "f-b16-cannlibs-part": "device",
    "f-b16-cannlibs-bad": "device", "f-b16-cannlibs-missing-symbol-lazy": "device", "f-b17-aclnn-mm-561000": "operators",
    "f-b17-aclnn-ws-561103": "operators", "f-b17-sync-507011": "operators", "f-b17-sync-507015": "operators", "f-b17-sync-107003": "operators",
    "f-b08-kill9-enginecore": "engine", "f-b04-kv-cache-too-small": "model", "f-b10-va026-torch-npu-no-cann-vllm-serve": "model",
}  # fmt: skip
"""Report -> the step that would print it."""


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_a_recorded_failure_is_named(name: str) -> None:
    text = (REPORTS / name / "input.txt").read_text(encoding="utf-8")
    wanted = yaml.safe_load((REPORTS / name / "expect.yaml").read_text(encoding="utf-8"))
    ended = Ended(How.FAILED, 1, "set device 0", 1.0, text)
    found = diagnose(LiveHost(), load(), RECORDED[name], ended, "npu", sys.executable)
    named = {finding.rule for cause in found.causes for finding in (cause.finding, *cause.symptoms)}
    assert named & set(wanted["cause"]), (named, wanted)
