"""A real vLLM on the CPU, and real failures of it, each named by its rule. `make test-vllm` runs it; elsewhere it is skipped."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from doctor.host.live import LiveHost
from doctor.rulebook import load
from doctor.smoke import tree
from doctor.smoke.child import How
from doctor.smoke.events import Event, Line, Stage
from doctor.smoke.outcome import Outcome, Result, State
from doctor.smoke.plan import Plan, Step, plan
from doctor.smoke.request import Request, look
from doctor.smoke.run import CHILDREN, run
from tests.smoke.driving import smoke

PYTHON = os.environ.get("ASCEND_DOCTOR_VLLM_PYTHON", "")
SCALE = 4.0
"""Machines that run tests are small and busy."""
GIB = 1024**3
ROOM = 5 * GIB // 4
"""Address space beyond what importing torch and vLLM takes: a server begins in it, but a KV cache of 4 GiB finds no place."""
GROUP_MEMORY = 700 * 1024**2
"""Memory in which doctor's tests run on, and importing vLLM does not end."""
FLAGS = ("--max-model-len", "512", "--max-num-seqs", "8", "--enforce-eager", "--dtype", "float32")

pytestmark = pytest.mark.skipif(not PYTHON, reason="no vLLM: see `make test-vllm`")

MAKE = """
import importlib.util, sys, torch
spec = importlib.util.spec_from_file_location("tiny", sys.argv[1]); tiny = importlib.util.module_from_spec(spec); spec.loader.exec_module(tiny)
tiny.write(torch, sys.argv[2], "float32", 8)
"""


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's model: the tiny one, written as a folder."""
    folder = tmp_path_factory.mktemp("models") / "mine"
    subprocess.run([PYTHON, "-c", MAKE, str(CHILDREN / "tiny_model.py"), str(folder)], check=True, timeout=300)
    return folder


class Doing:
    """A listener that does something when a step comes to a stage."""

    def __init__(self, at: str = "", do: Callable[[], object] = lambda: None) -> None:
        self._at, self._do = at, do

    def began(self, step: Step) -> None: ...

    def heard(self, step: Step, event: Event | Line) -> None:
        if self._at and event == Stage(self._at):
            self._do()

    def ended(self, result: Result) -> None:
        if result.state is State.FAILED and result.ended:
            print(result.ended.output[-6000:])


def planned(*ids: str, device: str = "cpu", environment: dict[str, str] | None = None, **asked: Any) -> Plan:
    """The plan for that vLLM with only these steps."""
    request = Request(device=device, python=PYTHON, scale=SCALE, **asked)
    whole = plan(request, look(LiveHost(), request))
    steps = tuple(replace(step, needs=()) for step in whole.steps if step.id in ids)
    return replace(whole, steps=steps, environment={**whole.environment, **(environment or {})})


def only(chosen: Plan, listener: Doing | None = None) -> Result:
    """Runs it and gives its one result; whatever it was, nothing is left behind."""
    outcome = run(chosen, LiveHost(), load(), listener or Doing())
    assert outcome.leftovers.clean, outcome.leftovers
    return outcome.results[0]


def causes(result: Result) -> list[str]:
    assert result.state is State.FAILED and result.diagnosis
    return [cause.rule.id for cause in result.diagnosis.causes]


def serving(model: str | Path, *flags: str, **asked: Any) -> Plan:
    return planned("model", model=str(model), flags=(*FLAGS, *flags), **asked)


def checks(result: Result) -> dict[str, bool]:
    assert result.ended
    return {check.name: check.passed for check in result.ended.checks}


def figures(result: Result) -> dict[str, float]:
    return {figure.name: figure.value for figure in result.figures}


def test_every_step_of_a_healthy_machine_passes(model: Path) -> None:
    """The command as a user types it: device, operators, two processes together, the engine against PyTorch, a server with streaming and load."""
    code, answer = smoke(
        "--device", "cpu", "--cards", "0,1", "--python", PYTHON, "--model", str(model), "--load", "4", "--load-seconds", "5",
        "--timeout-scale", str(SCALE), "--", *FLAGS,
    )  # fmt: skip
    told = answer["smoke"]
    assert [(step["step"], step["state"]) for step in told["steps"][:5]] == [
        (name, "passed") for name in ("device", "operators", "cards", "engine", "model")
    ], told  # fmt: skip
    assert code == 0 and told["leftovers"]["clean"]
    by_name = {step["step"]: {each["name"]: each["value"] for each in step["figures"]} for step in told["steps"]}
    assert by_name["engine"]["greatest difference of log-probabilities"] < 0.01 and by_name["engine"]["tokens equal to the reference"] == 100
    assert by_name["cards"]["bus bandwidth"] > 0 and by_name["operators"]["copy in memory"] > 0
    served = by_name["model"]
    assert served["load, errors"] == 0 and served["load, requests"] >= 4 and served["time to first token"] > 0
    assert served["latency p50"] <= served["latency p95"] <= served["latency p99"]


def test_a_wrong_path_of_the_model(tmp_path: Path) -> None:
    assert causes(only(serving(tmp_path / "nowhere")))[0] == "model-path-missing"


def test_weights_that_were_cut_off(model: Path, tmp_path: Path) -> None:
    short = tmp_path / "short"
    subprocess.run(["cp", "-r", str(model), str(short)], check=True)
    os.truncate(short / "model.safetensors", 5_000_000)
    assert causes(only(serving(short)))[0] == "model-weights-incomplete-or-corrupt"


def test_a_wrong_flag(model: Path) -> None:
    assert causes(only(serving(model, "--max-batch-size", "128")))[0] == "serving-flag-max-batch-size"


def test_a_port_in_use(model: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        assert causes(only(serving(model, "--port", str(other.getsockname()[1]))))[0] == "serving-port-in-use"


def test_an_engine_that_is_killed_in_the_middle_of_requests(model: Path) -> None:
    """The first cause is the death of a process, whichever of vLLM's noticed it first."""
    result = only(serving(model, load=4, load_seconds=60.0), Doing("load of 4", lambda: _kill(b"EngineCor")))
    assert not checks(result)["load without errors"]
    assert causes(result)[0] in ("serving-engine-core-died", "serving-worker-died")


def _kill(name: bytes) -> None:
    """Ends the processes of that name that are ours."""
    for member in tree.everyone().values():
        if name.decode() in member.name and _is_below(member, os.getpid()):
            os.kill(member.pid, signal.SIGKILL)


def _is_below(member: tree.Member, ancestor: int) -> bool:
    everyone = tree.everyone()
    while member.ppid in everyone:
        if member.ppid == ancestor:
            return True
        member = everyone[member.ppid]
    return False


@contextlib.contextmanager
def _address_space(size: int) -> Iterator[None]:
    """Children inherit the limit; this process has it only for so long as it starts them."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _imported() -> int:
    """Bytes of address space that the imports take; an ordinary build of torch maps CUDA's libraries too, gigabytes of them."""
    code = "import torch, vllm.entrypoints.openai.api_server; print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmPeak')))"
    done = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    return int(done.stdout.split()[-1]) * 1024


def test_memory_that_ends_at_a_limit_of_the_process(model: Path) -> None:
    """Of its address space (RLIMIT_AS, as `ulimit -v`): an allocation is refused, and the process says so itself."""
    chosen = serving(model, environment={"VLLM_CPU_KVCACHE_SPACE": "4"})
    with _address_space(_imported() + ROOM):
        result = only(chosen)
    assert causes(result)[0] in ("memory-host-alloc-refused", "host-overcommit-strict")


def test_memory_that_ends_at_the_limit_of_a_control_group() -> None:
    """As in a container: the kernel kills, and nothing is said but by the kernel."""
    with _control_group(GROUP_MEMORY):
        result = only(planned("engine"))
    assert causes(result)[0] == "memory-cgroup-oom"


@contextlib.contextmanager
def _control_group(size: int) -> Iterator[None]:
    """This process and what it starts are in a group with so much memory; skipped where none can be made (no root, or a container)."""
    of = {controllers: path for _, controllers, path in (line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines())}
    v1 = "memory" in of
    root = Path("/sys/fs/cgroup/memory" if v1 else "/sys/fs/cgroup")
    before = root / (of["memory"] if v1 else of.get("", "/")).lstrip("/")
    group = root / f"doctor-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if v1 else "memory.max")).write_text(str(size))
        (group / "cgroup.procs").write_text(str(os.getpid()))
    except OSError as problem:
        with contextlib.suppress(OSError):
            group.rmdir()
        pytest.skip(f"no control group for memory can be made here: {problem.strerror}")
    try:
        yield
    finally:
        (before / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


def test_torch_npu_without_cann() -> None:
    """The real wheel: `libhccl.so` is missing."""
    folder = Path(PYTHON).parents[1] / "torch-npu"
    if not (folder / "torch_npu").is_dir():
        pytest.skip("there is no torch_npu for this machine")
    result = only(planned("device", device="npu", environment={"PYTHONPATH": str(folder)}))
    assert result.how is How.FAILED and "libhccl.so" in (result.ended.output if result.ended else "")
    assert causes(result)[0] == "cann-not-installed"


def test_silent_garbage_is_caught() -> None:
    """An engine that answers `!!!!`, and one whose weights are off: both against the plain forward pass."""
    outcome = _step("garbled")
    assert outcome.results[0].state is State.FAILED
    failed = {(check.name, check.subject) for check in outcome.results[0].failed_checks}
    assert ("not one token nearly everywhere", "one token") in failed
    assert {("tokens agree with the reference", name) for name in ("one token", "other weights")} <= failed
    assert ("tokens agree with the reference", "right") not in failed


@pytest.mark.parametrize("cards", [1, 2])
def test_the_npu_paths_against_a_stand_in_whose_device_is_the_cpu(cards: int) -> None:
    """Control flow only: nothing here says that it works on an NPU."""
    stand_in = str(Path(__file__).parent / "standin")
    chosen = planned("device", "operators", "cards", device="npu", cards=tuple(range(cards)), environment={"PYTHONPATH": stand_in, "STANDIN_CARDS": str(cards)})
    steps = tuple(
        replace(step, job={**step.job, "torch_device": "cpu", "size": 128, "nodes": ["/dev/null"]}) for step in chosen.steps
    )  # fmt: skip
    outcome = run(replace(chosen, steps=steps), LiveHost(), load(), Doing())
    states = {result.step: result.state for result in outcome.results}
    assert states["operators"] is State.PASSED and states["cards"] is (State.PASSED if cards > 1 else State.SKIPPED)
    # the manager nodes of a driver are not there, which is told; the cards are counted and written all the same
    device = outcome.results[0]
    assert {check.name for check in device.failed_checks} == {"device nodes open"} and checks(device)["torch_npu sees the cards"]


def _step(name: str) -> Outcome:
    chosen = planned("engine")
    steps = tuple(replace(step, script=str(Path(__file__).parent / "steps" / name)) for step in chosen.steps)
    return run(replace(chosen, steps=steps), LiveHost(), load(), Doing())
