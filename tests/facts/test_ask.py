"""A program that is not there is told apart from one that failed, though a shell and the dynamic loader share an exit status."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from doctor.facts.ask import answer, ran
from doctor.host import RUN_TIMEOUT, Output, Unavailable, Why
from doctor.host.plain import PlainHost


class Answering(PlainHost):
    """Gives one output to every command."""

    def __init__(self, folder: Path, output: Output) -> None:
        super().__init__(folder)
        self._output = output

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        return self._output


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("bash: npu-smi: command not found", True),
        ("sh: 1: npu-smi: not found", True),
        ("", True),
        ("npu-smi: error while loading shared libraries: libc_sec.so: cannot open shared object file: No such file or directory", False),
    ],
)
def test_exit_127(tmp_path: Path, text: str, missing: bool) -> None:
    found = ran(Answering(tmp_path, Output(("npu-smi", "info"), 127, text)), ["npu-smi", "info"])
    assert (isinstance(found, Unavailable) and found.why is Why.MISSING) is missing


def test_a_failed_command_is_no_answer(tmp_path: Path) -> None:
    assert isinstance(answer(Answering(tmp_path, Output(("x",), 1, "no")), ["x"]), Unavailable)
    assert answer(Answering(tmp_path, Output(("x",), 0, "yes")), ["x"]) == "yes"
