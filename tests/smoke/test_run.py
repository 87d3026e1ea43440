"""A whole run: order, blocking, stopping, diagnosis, nothing left behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from threading import Event as Flag
from typing import Any

from doctor.host.live import LiveHost
from doctor.locale import LANGUAGES
from doctor.report.style import Style
from doctor.rulebook import load
from doctor.smoke import tree
from doctor.smoke.child import How
from doctor.smoke.events import Event, Line, Stage
from doctor.smoke.jsonform import outcome_json
from doctor.smoke.outcome import Outcome, Result, State
from doctor.smoke.plan import Plan, Reason, Step
from doctor.smoke.run import run
from doctor.smoke.text import anonymous, feedback_lines, outcome_lines, plan_lines
from doctor.smoke.words import WORDS, speaker

TALKS = str(Path(__file__).parent / "steps" / "talks")
NO_HCCL = "libhccl.so: cannot open shared object file: No such file or directory"


def step(name: str, do: str, needs: tuple[str, ...] = (), skip: Reason | None = None, deadline: float = 60.0, **job: Any) -> Step:
    return Step(name, TALKS, {"do": do, **job}, 1.0, deadline, skip, needs)


def planned(*steps: Step, device: str = "cpu", environment: Mapping[str, str] | None = None) -> Plan:
    return Plan(device, 2, (0,), sys.executable, {**os.environ, **(environment or {})}, steps)


class Told:
    """Keeps what a listener is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def began(self, step: Step) -> None:
        self.said.append(f"began {step.id}")

    def heard(self, step: Step, event: Event | Line) -> None: ...

    def ended(self, result: Result) -> None:
        self.said.append(f"{result.state.value} {result.step}")


def ran(*steps: Step, device: str = "cpu") -> Outcome:
    return run(planned(*steps, device=device), LiveHost(), load())


def test_steps_run_in_order_and_a_listener_is_told() -> None:
    told = Told()
    outcome = run(planned(step("device", "pass"), step("operators", "pass", skip=Reason("skip_level", {"level": 2})), step("engine", "pass")), LiveHost(), load(), told)
    assert told.said == ["began device", "passed device", "skipped operators", "began engine", "passed engine"]
    assert outcome.exit_code == 0 and outcome.leftovers.clean


def test_what_builds_on_a_failed_step_is_left_out_with_the_reason_and_the_rest_is_tried() -> None:
    outcome = ran(step("device", "check"), step("engine", "pass", needs=("device",)), step("server", "pass"))
    assert [(result.step, result.state) for result in outcome.results] == [("device", State.FAILED), ("engine", State.SKIPPED), ("server", State.PASSED)]
    assert outcome.results[1].reason == Reason("skip_after", {"step": "device"}) and outcome.exit_code == 1


def test_a_failure_is_diagnosed_by_the_rule_that_a_log_would_be() -> None:
    outcome = ran(step("device", "raise", text=NO_HCCL), device="npu")
    diagnosis = outcome.results[0].diagnosis
    assert diagnosis and "cann" in diagnosis.causes[0].rule.area
    assert NO_HCCL in outcome_json(outcome, speaker("en"), "en", load().rules)["steps"][0]["output"]


def test_a_failure_that_no_rule_knows_shows_its_first_error() -> None:
    outcome = ran(step("device", "raise", text="the frobnicator is bent"))
    diagnosis = outcome.results[0].diagnosis
    assert diagnosis and not diagnosis.causes
    assert "frobnicator" in "\n".join(outcome_lines(outcome, speaker("en"), Style(), "en"))


def test_stopped_in_the_middle_nothing_more_starts_and_nothing_stays() -> None:
    stop = Flag()

    class Stops(Told):
        def heard(self, step: Step, event: Event | Line) -> None:
            if event == Stage("spawned"):
                stop.set()

    told = Stops()
    outcome = run(planned(step("device", "spawn", stay=True), step("engine", "pass")), LiveHost(), load(), told, stop)
    assert [result.state for result in outcome.results] == [State.STOPPED, State.SKIPPED]
    assert outcome.results[0].how is How.STOPPED and outcome.exit_code == 130
    assert outcome.leftovers.clean


def test_the_child_gets_the_targets_environment_and_a_folder_of_its_own() -> None:
    names = ["TARGET_ONLY", "TMPDIR", tree.MARK, "ASCEND_PROCESS_LOG_PATH"]
    outcome = run(planned(step("device", "environment", names=names), environment={"TARGET_ONLY": "yes"}), LiveHost(), load())
    assert outcome.results[0].ended
    notes = {note.name: note.detail for note in outcome.results[0].ended.notes}
    assert notes["TARGET_ONLY"] == "yes" and notes["ASCEND_PROCESS_LOG_PATH"] == notes["TMPDIR"] + "/plog"
    assert not os.path.exists(notes["TMPDIR"])


def test_keys_of_the_target_are_in_no_output() -> None:
    outcome = run(planned(step("device", "secret", secret="hf_abcdefgh"), environment={"HF_TOKEN": "hf_abcdefgh"}), LiveHost(), load())
    texts = [*outcome_lines(outcome, speaker("en"), Style(), "en", 1), repr(outcome_json(outcome, speaker("en"), "en", {}))]
    assert outcome.results[0].ended and "key is ***" in outcome.results[0].ended.output
    assert not any("hf_abcdefgh" in text for text in texts)


def test_nothing_that_runs_is_exit_code_3() -> None:
    assert ran(step("device", "pass", skip=Reason("skip_no_model"))).exit_code == 3


def test_every_text_is_there_in_both_languages() -> None:
    outcome = ran(step("device", "raise", text=NO_HCCL), step("engine", "pass", needs=("device",)), step("operators", "pass"), device="npu")
    for language in LANGUAGES:
        speak = speaker(language)
        for detail in (-1, 0, 1):
            lines = list(outcome_lines(outcome, speak, Style(), language, detail))
            assert lines and not [line for line in lines if "{" in line and "}" in line]
        assert list(plan_lines(outcome.plan, speak, 4))
    for key, words in WORDS.items():
        assert words.en and words.zh and words.en != words.zh, key


def test_the_text_to_send_back_names_neither_host_nor_path_nor_address() -> None:
    outcome = ran(step("device", "raise", text="/home/alice/models/secret/x.bin on 10.1.2.3 at bighost7: bent"))
    text = "\n".join(feedback_lines(outcome, iter([("chip", "910B3")]), "bighost7", speaker("en"), "en"))
    assert "alice" not in text and "10.1.2.3" not in text and "bighost7" not in text
    assert "chip: 910B3" in text and "bent" in text


def test_the_text_to_send_back_is_one_block_that_no_output_can_end() -> None:
    outcome = ran(step("device", "raise", text="```\n@everyone bent"), device="npu")
    lines = list(feedback_lines(outcome, iter(()), "bighost7", speaker("zh"), "zh"))
    assert [line for line in lines if "```" in line] == ["```text", "```"] and lines[-1] == "```"


def test_on_an_npu_the_text_to_send_back_tells_what_passed_steps_said_too() -> None:
    for device, told in (("npu", True), ("cpu", False)):
        outcome = ran(step("device", "pass", prints="a warning of the first run"), device=device)
        assert any("a warning of the first run" in line for line in feedback_lines(outcome, iter(()), "h", speaker("en"), "en")) is told


def test_what_belongs_to_the_software_stays_readable() -> None:
    line = 'File "/home/u/venv/lib/python3.11/site-packages/torch_npu/__init__.py", line 40 /usr/local/Ascend/cann/lib64/libhccl.so /dev/davinci0'
    assert anonymous(line, "h") == (
        'File "…/site-packages/torch_npu/__init__.py", line 40 /usr/local/Ascend/cann/lib64/libhccl.so /dev/davinci0'
    )
