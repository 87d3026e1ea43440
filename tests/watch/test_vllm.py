"""A real vLLM on the CPU under load: no false alarm; a leak that a logits processor makes is found, and in its process class.

`make test-vllm` runs it; elsewhere it is skipped. Takes about five minutes.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYTHON = os.environ.get("ASCEND_DOCTOR_VLLM_PYTHON", "")
CLI = "import sys; from vllm.entrypoints.cli.main import main; sys.argv[0] = 'vllm'; sys.exit(main())"
MODEL = "import sys, torch; sys.path.insert(0, sys.argv[1]); import tiny_model; tiny_model.write(torch, sys.argv[2], 'float32', 8)"
READY = 900.0
"""Seconds that a start may take: half a minute on an idle machine, many times that on a busy one."""
WATCHED, TIMES = 90, 4
"""Seconds of one watch, and how many of them at most."""

pytestmark = pytest.mark.skipif(not PYTHON, reason="no vLLM: see `make test-vllm`")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "tiny"
    subprocess.run([PYTHON, "-c", MODEL, str(ROOT / "doctor" / "smoke" / "children"), str(folder)], check=True)
    return folder


@contextlib.contextmanager
def served(model: Path, folder: Path, *flags: str) -> Iterator[tuple[int, int]]:
    """A server that answers: its pid and its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "VLLM_CPU_KVCACHE_SPACE": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    argv = [PYTHON, "-c", CLI, "serve", str(model), "--host", "127.0.0.1", "--port", str(port), "--dtype", "float32", "--enforce-eager", "--max-model-len", "256", *flags]
    with (folder / "serve.log").open("wb") as log:
        server = subprocess.Popen(argv, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        deadline = time.monotonic() + READY
        while not answers(port):
            assert server.poll() is None and time.monotonic() < deadline, (folder / "serve.log").read_text()[-3000:]
            time.sleep(1)
        yield server.pid, port
    finally:
        server.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(30)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGKILL)


def answers(port: int) -> bool:
    try:
        return ask(port, "GET", "/health") == 200
    except OSError:
        return False


def ask(port: int, method: str, path: str, body: Any = None) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


@contextlib.contextmanager
def loaded(port: int, model: Path) -> Iterator[None]:
    """One request after the other, all the time."""
    over = threading.Event()

    def work() -> None:
        number = 0
        while not over.is_set():
            number += 1
            with contextlib.suppress(OSError, http.client.HTTPException):
                ask(port, "POST", "/v1/completions", {"model": str(model), "prompt": f"w5 w6 w{4 + number % 2000}", "max_tokens": 24})

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def watch(pid: int, folder: Path) -> dict[str, Any]:
    """What a watch says. On a starved machine samples come seldom: then it goes on with the same file, until every class has enough of them."""
    for _ in range(TIMES):
        done = subprocess.run(
            [sys.executable, "-m", "doctor", "watch", "--pid", str(pid), "--every", "1s", "--for", f"{WATCHED}s", "--samples", str(folder / "s.ndjson"), "--json", "--npu-every", "0", "--fail-on", "never"],
            cwd=ROOT, capture_output=True, text=True, timeout=WATCHED + 120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        if "too short" not in verdicts(found).values():
            break
    return found


def verdicts(found: dict[str, Any]) -> dict[str, str]:
    """Of the private memory of each process class."""
    return {group["class"]: group["verdict"] for group in found["watch"]["classes"] if group["quantity"] == "private"}


def test_a_healthy_server_under_load_gives_no_alarm(model: Path, tmp_path: Path) -> None:
    with served(model, tmp_path) as (pid, port), loaded(port, model):
        found = watch(pid, tmp_path)
    classes = verdicts(found)
    assert {"api", "engine", "worker"} <= set(classes)
    assert set(classes.values()) <= {"no leak", "too short"} and classes["worker"] == classes["api"] == "no leak", found["watch"]
    assert found["watch"]["stalls"] == []
    assert {signal["name"]: signal["state"] for signal in found["watch"]["signals"]}["preemption"] == "ok"


def test_an_injected_leak_is_found_in_the_workers(model: Path, tmp_path: Path) -> None:
    with served(model, tmp_path, "--logits-processors", "leaking_processor:Leaking") as (pid, port), loaded(port, model):
        found = watch(pid, tmp_path)
    classes = verdicts(found)
    assert classes["worker"] in ("leak", "critical") and classes["api"] == classes["engine"] == "no leak", found["watch"]
    assert found["causes"][0]["rule"] == "leak-worker-rss-growth"
