"""One child: its ends are told apart, its output is kept and bounded, nothing that it starts outlives it."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event as Flag

import pytest

from doctor.smoke import child
from doctor.smoke.child import How
from doctor.smoke.events import Check, Event, Figure, Line, Note, Stage
from doctor.smoke.outcome import State, state_of
from doctor.smoke.run import CHILDREN
from tests.smoke.launching import launch, marked, ran


def test_a_step_that_passes_tells_its_figures_in_order(tmp_path: Path) -> None:
    heard: list[Event | Line] = []
    ended = child.run(launch(tmp_path, "pass"), heard.append, Flag())
    assert (ended.how, ended.exit, ended.stage) == (How.FINISHED, 0, "end")
    assert ended.figures == (Figure("speed", 2.5, "GB/s", "card 0", 3.0),)
    assert [event for event in heard if not isinstance(event, Line)] == [
        Stage("begin"), Figure("speed", 2.5, "GB/s", "card 0", 3.0), Check("sum", True), Note("version", "1.2"), Stage("end"),
    ]  # fmt: skip
    assert Line("hello") in heard and "hello" in ended.output
    assert state_of(ended) is State.PASSED


def test_a_failed_check_fails_the_step_though_its_process_ends_well(tmp_path: Path) -> None:
    ended = ran(tmp_path, "check")
    assert ended.how is How.FINISHED and state_of(ended) is State.FAILED


def test_an_exception_is_a_failure_with_its_traceback_and_stage(tmp_path: Path) -> None:
    ended = ran(tmp_path, "raise", text="libhccl.so: cannot open shared object file: No such file or directory")
    assert (ended.how, ended.exit, ended.stage) == (How.FAILED, 1, "import torch_npu")
    assert "ImportError: libhccl.so: cannot open shared object file" in ended.output


def test_what_the_step_itself_finds_wrong_is_a_failed_check(tmp_path: Path) -> None:
    ended = ran(tmp_path, "fail")
    assert ended.how is How.FAILED and ended.checks == (Check("cards", False, "no card"),)


def test_a_crash_is_told_by_its_signal_and_its_stage(tmp_path: Path) -> None:
    ended = ran(tmp_path, "crash")
    assert (ended.how, ended.signal, ended.stage) == (How.CRASHED, "SIGSEGV", "set device 0")
    assert "Segmentation fault" in ended.output and "do_crash" in ended.output


def test_a_hang_is_ended_at_the_deadline_and_shows_where_it_stands(tmp_path: Path) -> None:
    ended = ran(tmp_path, "hang", seconds=3.0)
    assert (ended.how, ended.stage) == (How.HUNG, "all-reduce")
    assert "do_hang" in ended.output
    assert marked(tmp_path) == ()


def test_stopping_ends_it_at_once(tmp_path: Path) -> None:
    stop = Flag()

    def heard(event: Event | Line) -> None:
        if event == Stage("all-reduce"):
            stop.set()

    start = time.monotonic()
    ended = child.run(launch(tmp_path, "hang", seconds=500.0), heard, stop)
    assert ended.how is How.STOPPED and state_of(ended) is State.STOPPED
    assert time.monotonic() - start < 60 and marked(tmp_path) == ()


def test_an_interrupt_ends_the_child_before_it_is_raised_again(tmp_path: Path) -> None:
    def heard(event: Event | Line) -> None:
        if event == Stage("spawned"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        child.run(launch(tmp_path, "spawn", stay=True), heard, Flag())
    assert marked(tmp_path) == ()


@pytest.mark.parametrize("stay", [False, True], ids=["its parent ends", "its parent hangs"])
def test_no_grandchild_gets_away(tmp_path: Path, stay: bool) -> None:
    ended = ran(tmp_path, "spawn", seconds=3.0 if stay else 60.0, stay=stay)
    assert ended.how is (How.HUNG if stay else How.FINISHED)
    assert ended.left == () and marked(tmp_path) == ()


def test_of_a_flood_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    output = ran(tmp_path, "flood").output
    assert "the first line" in output and output.rstrip().endswith("the last line") and "bytes left out" in output
    assert len(output) < child.HEAD + child.TAIL + 128 * 1024


def test_a_secret_is_nowhere_in_what_is_kept(tmp_path: Path) -> None:
    heard: list[Event | Line] = []
    ended = child.run(launch(tmp_path, "secret", secrets=("s3cret-key",), secret="s3cret-key"), heard.append, Flag())
    assert "s3cret-key" not in repr((heard, ended.output, ended.events)) and "key is ***" in ended.output
    assert ended.notes == (Note("header", "Bearer ***"),)
    assert "s3cret-key" not in repr(launch(tmp_path, "secret", secrets=("s3cret-key",)))


def test_the_folder_of_the_steps_hides_no_package(tmp_path: Path) -> None:
    assert Note("path", "[]") in ran(tmp_path, "environment", names=[]).notes


def test_what_cannot_be_started_says_so(tmp_path: Path) -> None:
    start = launch(tmp_path, "pass")
    ended = child.run(child.Launch("/nowhere/python", start.arguments, str(tmp_path), {}, 5.0, "m"), lambda event: None, Flag())
    assert ended.how is How.NOT_STARTED and "/nowhere/python: No such file or directory" in ended.output


def test_when_doctor_is_killed_the_child_ends_itself(tmp_path: Path) -> None:
    """The lifeline: nothing may run on when nobody is there to end it."""
    start = launch(tmp_path, "hang")
    event_reader, event_writer = os.pipe()
    life_reader, life_writer = os.pipe()
    running = subprocess.Popen(
        [sys.executable, str(CHILDREN / "start.py"), start.arguments[1], str(event_writer), str(life_reader)],
        pass_fds=(event_writer, life_reader), start_new_session=True, stdout=subprocess.DEVNULL, env=dict(start.environment), cwd=tmp_path,
    )  # fmt: skip
    os.close(event_writer)
    os.close(life_reader)
    with os.fdopen(event_reader) as events:
        assert any("all-reduce" in line for line in events if line)
        os.close(life_writer)
        assert running.wait(timeout=60) == -signal.SIGKILL


def test_the_programs_of_the_target_need_no_newer_python_than_the_oldest_target() -> None:
    """vllm-ascend up to 0.11 runs on Python 3.9; doctor's own files may use what came later."""
    for path in CHILDREN.glob("*.py"):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 9))
