"""Harmless lines: told with their reason, and silent in every rule."""

from __future__ import annotations

import subprocess
import sys

import pytest

from doctor.harmless import Harmless, harmless, table
from doctor.logscan.literals import required
from tests.fixture_cases import run_text

SAMPLES = {
    "ulimit": "(APIServer pid=1) WARNING 11-30 08:35:18 [system_utils.py:255] Found ulimit of 20000 and failed to automatically increase with "
    "error current limit exceeds maximum limit. This can cause fd limit errors like `OSError: [Errno 24] Too many open files`.",
    "shutdown": "(APIServer pid=1) WARNING 11-30 08:47:04 [utils.py:653] [shutdown] Process manager: force killing remaining process EngineCore pid 18",
    "nanobind": "nanobind: leaked 514 functions!",
    "tracker": "UserWarning: resource_tracker: There appear to be 2 leaked semaphore objects to clean up at shutdown",
    "client": '(APIServer pid=1) INFO:     127.0.0.1:5 - "POST /v1/completions HTTP/1.1" 404 Not Found',
    "padding": "[W1130 NPUCachingAllocator.cpp:168] Warning: The current CANN and Soc versions require processing for 32 padding size",
    "home": "Warning: ASCEND_HOME_PATH environment variable is not set.",
    "function": "UserWarning: Failed to find this aclrtCtxSetSysParamOpt function! (Triggered internally)",
    "cuda": "WARNING 06-16 15:10:59 [_custom_ops.py:21] Failed to import from vllm._C with ModuleNotFoundError(\"No module named 'vllm._C'\")",
    "overwritten": "WARNING 06-16 15:10:59 [registry.py:1] Model architecture Qwen2VLForConditionalGeneration is already registered, and will be overwritten",
}


@pytest.mark.parametrize("line", SAMPLES.values(), ids=SAMPLES)
def test_it_is_told_and_no_rule_cries(line: str) -> None:
    assert harmless(line) is not None
    loud = [cause.finding.rule for cause in run_text(f"INFO start\n{line}\nINFO Application startup complete.\n").causes if cause.finding.severity.word != "note"]
    assert not loud


@pytest.mark.parametrize("line", ["RuntimeError: NPU out of memory.", "OSError: [Errno 24] Too many open files", ""])
def test_an_error_is_not_called_harmless(line: str) -> None:
    assert harmless(line) is None


@pytest.mark.parametrize("kind", table(), ids=lambda kind: kind.line[:40])
def test_the_table_is_sound(kind: Harmless) -> None:
    assert required(kind.line)
    assert kind.reason.en != kind.reason.zh


def explain(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "doctor", "explain", line], capture_output=True, text=True, timeout=60, check=False)


def test_explain_takes_a_line() -> None:
    assert "Harmless." in explain("nanobind: leaked 514 functions!").stdout
    assert "npu-vector-core-exception" in explain("NPU function error: aclrtSynchronizeStream, error code is 507035").stdout
    unknown = explain("hello [/nope] world")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "doctor log FILE" in unknown.stderr
