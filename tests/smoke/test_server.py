"""A server that runs already: asked under deadlines, and an API whose engine is dead is not taken for a healthy one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from doctor.host import Process, Unavailable
from doctor.host.live import LiveHost
from doctor.rulebook import load
from doctor.smoke.outcome import Result, State
from doctor.smoke.plan import plan
from doctor.smoke.request import Request, Seen, look
from doctor.smoke.run import launch_of, run
from tests.smoke.driving import smoke
from tests.smoke.serving import Server, serving

KEY = "s3cret-key-of-the-test"


class Alone(LiveHost):
    """This machine with one process, whatever else runs on it."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._pid = pid

    def processes(self) -> tuple[Process, ...] | Unavailable:
        everyone = super().processes()
        return everyone if isinstance(everyone, Unavailable) else tuple(process for process in everyone if process.pid == self._pid)


def asked(server: Server, key: str = "", patience: float = 60.0, **given: Any) -> Result:
    """The result of the step against that server."""
    planned = plan(Request(url=server.url, device="cpu", key=key, load_seconds=1.0, **given), Seen())
    steps = tuple(replace(step, job={**step.job, "answer_seconds": patience}) for step in planned.steps if step.id == "server")
    outcome = run(replace(planned, steps=steps), LiveHost(), load())
    assert outcome.leftovers.clean
    return outcome.results[0]


def failed(result: Result) -> set[str]:
    return {check.name for check in result.failed_checks}


def causes(result: Result) -> list[str]:
    return [cause.rule.id for cause in result.diagnosis.causes] if result.diagnosis else []


def test_a_healthy_server_passes_with_its_figures() -> None:
    with serving() as server:
        result = asked(server, load=3)
    assert result.state is State.PASSED, result
    assert {"/health", "/v1/models", "/v1/completions", "/v1/chat/completions"} <= set(server.seen)
    values = {figure.name: figure.value for figure in result.figures}
    assert values["load, errors"] == 0 and values["load, requests"] >= 3
    assert values["time to first token"] > 0 and values["latency p50"] <= values["latency p99"]
    curves = {figure.unit: figure for figure in result.figures if figure.name == "load, now"}
    assert set(curves) == {"tokens/s", "requests/s", "s p50", "s p95", "s p99"} and all(figure.subject.isdecimal() for figure in curves.values())
    assert 0 < curves["s p50"].value <= curves["s p99"].value


def test_an_api_whose_engine_is_dead_is_caught() -> None:
    with serving("engine dead") as server:
        result = asked(server)
    assert {"completion", "engine behind the API"} <= failed(result) and "health" not in failed(result)
    assert causes(result)[0] == "serving-engine-core-died"


def test_an_api_whose_engine_hangs_is_caught_within_its_deadline() -> None:
    with serving("engine hangs") as server:
        result = asked(server, patience=3.0)
    assert "engine behind the API" in failed(result) and result.ended and result.ended.how.value == "finished"
    assert causes(result)[0] == "hang-stall-running-no-tokens"


@pytest.mark.parametrize(
    ("broken", "check"),
    [("health", "health"), ("models", "models"), ("stream", "stream"), ("one token", "not one token nearly everywhere"), ("nan", "log-probabilities are numbers")],
)
def test_what_is_broken_is_named(broken: str, check: str) -> None:
    with serving(broken) as server:
        assert check in failed(asked(server))


def test_one_token_everywhere_is_diagnosed() -> None:
    with serving("one token") as server:
        assert "quality-garbage-unexplained" in causes(asked(server))


@pytest.mark.parametrize("broken", ["no template", "silent"])
def test_what_a_server_may_lack_is_no_failure(broken: str) -> None:
    with serving(broken) as server:
        assert asked(server).state is State.PASSED


def test_a_key_is_sent_and_never_shown() -> None:
    with serving(key=KEY) as server:
        right, wrong = asked(server, KEY), asked(server, "another-key")
    assert right.state is State.PASSED and "models" in failed(wrong)
    assert KEY not in repr((right, wrong, right.ended.output if right.ended else ""))


def test_a_key_is_in_no_file_and_on_no_command_line(tmp_path: Path) -> None:
    planned = plan(Request(url="http://127.0.0.1:1", device="cpu", key=KEY), Seen())
    launch = launch_of(planned, planned.steps[-1], str(tmp_path))
    assert KEY not in repr(launch) and all(KEY not in path.read_text() for path in tmp_path.iterdir())
    assert launch.environment["DOCTOR_SMOKE_KEY"] == KEY and launch.secrets == (KEY,)


def test_nobody_there() -> None:
    with serving() as server:
        url = server.url
    code, answer = smoke("--url", url, "--device", "cpu", "--level", "1")
    assert code == 1
    told = {step["step"]: step for step in answer["smoke"]["steps"]}["server"]
    assert told["state"] == "failed" and "Connection refused" in told["output"]


def test_the_command_reads_the_key_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY + "\n")
    with serving(key=KEY) as server:
        code, answer = smoke("--url", server.url, "--device", "cpu", "--level", "1", "--key-file", str(tmp_path / "key"))
    assert {step["step"]: step["state"] for step in answer["smoke"]["steps"]}["server"] == "passed"
    assert KEY not in repr(answer)


def test_an_engine_process_that_is_stopped_is_told(tmp_path: Path) -> None:
    """The server's child is named as vLLM names its engine core; the kernel keeps 15 characters."""
    engine = tmp_path / "VLLM::EngineCor"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", engine)
    with serving() as server, subprocess.Popen([str(engine), "600"]) as process:
        os.kill(process.pid, signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        planned = plan(Request(device="cpu"), Seen(python=sys.executable, url=server.url, server_pid=os.getpid()))
        steps = tuple(step for step in planned.steps if step.id == "server")
        result = run(replace(planned, steps=steps), LiveHost(), load()).results[0]
        process.kill()
    assert failed(result) == {"engine process runs"}


def test_a_server_that_runs_here_is_found_and_asked(tmp_path: Path) -> None:
    """A process that is called as vLLM's server is; the port of its flags is where it is asked."""
    script = tmp_path / "vllm"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})\n"
        "from tests.smoke.serving import serving\n"
        "with serving() as server:\n    print(server.url, flush=True); server.over.wait(300)\n"
    )
    with subprocess.Popen([sys.executable, str(script), "serve", "tiny", "--port", "1", "--api-key", KEY], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("http://127.0.0.1:")
        seen = look(Alone(process.pid), Request(python=sys.executable))
        process.kill()
    assert (seen.url, seen.server_pid, seen.python) == ("http://127.0.0.1:1", process.pid, sys.executable)
    assert seen.key == KEY and KEY not in repr(seen)
    assert [step.id for step in plan(Request(device="cpu"), seen).steps if step.id == "server" and step.skip is None] == ["server"]
