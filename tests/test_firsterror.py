"""The first error of a log that no rule explains."""

from __future__ import annotations

import pytest

from doctor.finding import Basis, Severity
from doctor.firsterror import PATTERNS, FirstError, explained, first_error
from doctor.logscan.scan import Scanner
from doctor.logscan.sources import text_chunk


def run(text: str) -> FirstError | None:
    return first_error(Scanner.of(PATTERNS).scan([text_chunk(text, "serve.log")], len(text)))


CHAIN = """\
(EngineCore_DP0 pid=7) ERROR 11-30 09:38:38 [core.py:710] Traceback (most recent call last):
(EngineCore_DP0 pid=7) ERROR 11-30 09:38:38 [core.py:710]   File "model.py", line 1, in load
(EngineCore_DP0 pid=7) ERROR 11-30 09:38:38 [core.py:710] my.package.WidgetError: the widget is bent, error code is 507035
(EngineCore_DP0 pid=7) ERROR 11-30 09:38:38 [core.py:710]
(EngineCore_DP0 pid=7) ERROR 11-30 09:38:38 [core.py:710] The above exception was the direct cause of the following exception:
(EngineCore_DP0 pid=7) ERROR 11-30 09:38:38 [core.py:710] RuntimeError: Engine core initialization failed
"""


def test_the_innermost_exception_with_its_codes() -> None:
    found = run("INFO started\n" + CHAIN + "EZ9999: [PID: 7] 2025-01-01-00:00:00.000.000 inner error\n")
    assert found is not None
    assert (found.kind, found.evidence.line) == ("my.package.WidgetError", 4)
    assert found.codes == ("507035", "EZ9999")
    assert found.others == 2


def test_an_end_without_a_traceback() -> None:
    found = run("INFO started\nAborted (core dumped)\n")
    assert found is not None and found.evidence.text == "Aborted (core dumped)"


@pytest.mark.parametrize(
    "text",
    [
        "INFO all is well\n",
        "",
        "the paper is about Error and Exception handling\n",
        "[shutdown] API server: shutdown triggered\nvllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.\n",
        "asyncio.exceptions.CancelledError\nKeyboardInterrupt\n",
    ],
)
def test_nothing_where_there_is_no_error(text: str) -> None:
    assert run(text) is None


def test_only_a_finding_of_the_log_explains_it() -> None:
    assert explained([(Basis.LOG, Severity.WARN)])
    assert not explained([(Basis.FACTS, Severity.FAIL), (Basis.LOG, Severity.NOTE)])
