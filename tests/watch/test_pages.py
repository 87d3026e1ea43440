"""A server that answers late, never, or with malice: the samples of its processes keep their rhythm, and a missing page is never read as fine."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from doctor.watch import fetch as fetching
from doctor.watch.fetch import fetch
from doctor.watch.judge import Settings
from doctor.watch.pressure import Pressure
from doctor.watch.sample import ProcessSample, Sample, from_line, to_line
from doctor.watch.sampler import Sampler, Target
from doctor.watch.session import Session
from doctor.watch.stall import Stall, StallWatch
from doctor.watch.watcher import Watcher, recomputed
from tests.watch.fakehost import FakeHost, server
from tests.watch.recorded import FOLDER

PAGE = (FOLDER / "metrics_load.txt").read_bytes()
LONG = 20.0
"""Seconds that a test waits at the most for what must come; it comes at once."""


class Gate(ThreadingHTTPServer):
    """A server whose answers wait until the test lets them go."""

    daemon_threads = True

    def __init__(self) -> None:
        self.open = threading.Event()
        self.asked: list[str] = []
        self.arrived = threading.Event()
        super().__init__(("127.0.0.1", 0), _Answers)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Answers(BaseHTTPRequestHandler):
    server: Gate

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.server.arrived.set()
        self.server.open.wait(LONG)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(PAGE if self.path == "/metrics" else b"")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    monkeypatch.setattr(fetching, "TIMEOUT", LONG)
    made = Gate()
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.open.set()
    made.shutdown()
    made.server_close()
    thread.join()


def slow(gate: Gate) -> tuple[FakeHost, Sampler]:
    host = FakeHost()
    server(host)
    return host, Sampler(host, Target(pids=(100,), url=gate.url), 0.02, own=9)


def test_processes_are_sampled_while_the_server_does_not_answer(gate: Gate) -> None:
    host, watch = slow(gate)
    samples = []
    for _ in range(6):
        samples.append(watch.sample())
        host.tick(1.0)
    assert gate.arrived.wait(LONG)
    assert [len(sample.processes) for sample in samples] == [4] * 6
    assert [(sample.metrics, sample.health, sample.waiting) for sample in samples] == [(None, None, float(second)) for second in range(6)]
    assert samples[3].metrics_problem == "no answer yet, asked 3 s ago"
    assert gate.asked == ["/metrics"], "one request at a time"


def test_what_arrives_is_told_once_with_its_age(gate: Gate) -> None:
    host, watch = slow(gate)
    watch.sample()
    host.tick(4.0)
    gate.open.set()
    assert watch.pages.wait(LONG)
    gate.open.clear()  # the next answer is late again
    late = watch.sample()
    assert late.metrics is not None and (late.metrics["requests"], late.health, late.page_age, late.waiting) == (253, 200, 4.0, None)
    assert late.page_time == late.time - 4.0
    host.tick(1.0)
    again = watch.sample()
    assert (again.metrics, again.health, again.waiting) == (None, None, 1.0)
    assert [from_line(to_line(sample)) for sample in (late, again)] == [late, again]


def test_a_healthy_server_is_in_the_sample_that_asked(gate: Gate) -> None:
    gate.open.set()
    host = FakeHost()
    server(host)
    sample = Sampler(host, Target(pids=(100,), url=gate.url), 600.0, own=9).sample()
    assert sample.metrics is not None and (sample.page_age, sample.waiting, sample.health) == (0.0, None, 200)


def test_the_thread_ends_with_its_answer(gate: Gate) -> None:
    _, watch = slow(gate)
    watch.sample()
    assert [thread.daemon for thread in threading.enumerate() if thread.name == "pages"] == [True]
    gate.open.set()
    assert watch.pages.wait(LONG)
    for thread in [thread for thread in threading.enumerate() if thread.name == "pages"]:
        thread.join(LONG)
        assert not thread.is_alive()


def test_an_answer_that_never_comes_keeps_no_program_from_ending() -> None:
    code = "import threading; from doctor.watch.pages import Pages; Pages(lambda url: threading.Event().wait(), 1.0).ask('http://x', 0.0)"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], timeout=3 * LONG, check=False).returncode == 0


@pytest.mark.parametrize("dripped", [b"HTTP/1.1 100 Continue\r\n\r\n", b"x", b"HTTP/1.1 200 OK\r\nA: b\r\n"])
def test_a_server_that_drips_is_left_after_the_deadline(dripped: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time, the end never: a deadline for each read would wait for ever."""
    monkeypatch.setattr(fetching, "TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        over = threading.Event()

        def drip() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(4096)
                try:
                    while not over.wait(0.01):
                        connection.sendall(dripped)
                except OSError:
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        page = fetch(f"http://127.0.0.1:{listening.getsockname()[1]}/metrics")
        over.set()
        thread.join(LONG)
    assert page.status == 0 and page.problem


API, ENGINE = ProcessSample(10, 1, "api", "vllm"), ProcessSample(11, 2, "engine", "VLLM::EngineCore")


def at(second: float, **metrics: float) -> Sample:
    """A sample a second; without metrics, the answer is waited for."""
    return Sample(second, second, every=1.0, processes=(API, ENGINE), metrics=metrics or None, health=200 if metrics else None, waiting=None if metrics else 1.0)


def stalls(*samples: Sample) -> list[Stall]:
    watch = StallWatch()
    for sample in samples:
        watch.add(sample)
    return watch.stalls


def series(pages: dict[int, dict[str, float]], last: int) -> list[Sample]:
    return [at(second, **pages.get(second, {})) for second in range(last + 1)]


def test_a_slow_server_that_makes_tokens_does_not_stall() -> None:
    pages = {second: {"running": 3.0, "generated": 100.0 + second, "prompted": 5.0, "requests": 1.0} for second in range(0, 200, 8)}
    assert stalls(*series(pages, 200)) == []


def test_no_token_is_seen_through_late_answers() -> None:
    pages = {second: {"running": 3.0, "generated": 100.0, "prompted": 5.0, "requests": 1.0} for second in range(0, 100, 8)}
    (stall,) = stalls(*series(pages, 100))
    assert (stall.kind, stall.end) == ("no_tokens", None)


def test_the_stall_ends_with_the_answer_that_shows_tokens_not_with_a_missing_one() -> None:
    pages = {second: {"running": 3.0, "generated": 100.0, "prompted": 5.0, "requests": 1.0} for second in range(0, 100, 8)}
    pages |= {104: {"running": 3.0, "generated": 120.0, "prompted": 5.0, "requests": 1.0}}
    (stall,) = stalls(*series(pages, 110))
    assert stall.end == 104


def test_a_server_that_stops_answering_is_silent_after_its_time() -> None:
    (stall,) = stalls(*series({0: {"running": 0.0, "requests": 1.0}}, 50))
    assert (stall.kind, stall.begin) == ("api_silent", 0.0)
    assert stalls(*series({0: {"running": 0.0, "requests": 1.0}}, 40)) == []


def test_a_dead_engine_stays_dead_while_an_answer_is_waited_for() -> None:
    dead = Sample(1, 1, every=1.0, processes=(API, ENGINE), metrics={"requests": 1.0}, health=503)
    (stall,) = stalls(at(0, requests=1.0), dead, at(2), at(3), at(4))
    assert (stall.kind, stall.end) == ("engine_dead", None)


def test_old_pages_say_nothing_of_now() -> None:
    pressure = Pressure()
    for second in range(0, 60, 5):
        pressure.add(at(second, running=3.0, waiting=0.0, kv=0.1, preempted=0.0))
    assert {signal.state for signal in pressure.signals() if signal.name in ("queue", "kv")} == {"ok"}
    for second in range(60, 130):
        pressure.add(at(second))
    assert {(signal.state, signal.why) for signal in pressure.signals()} == {("unknown", "no_metrics")}


def test_recomputed_from_its_file_it_says_the_same(gate: Gate, tmp_path: Path) -> None:
    host, _ = slow(gate)
    path = tmp_path / "samples.ndjson"
    watcher = Watcher(host, Sampler(host, Target(pids=(100,), url=gate.url), 0.02, own=9), Settings(), path)
    for step in range(70):
        if step == 5:
            gate.open.set()
            assert watcher.sampler.pages.wait(LONG)
            gate.open.clear()
        watcher.step()
        host.tick(1.0)
    watcher.finish()
    live, again = watcher.session, recomputed(path, Settings())
    assert [stall.kind for stall in live.stalls] == ["api_silent"]
    assert (again.stalls, again.history.pages, again.signals()) == (live.stalls, live.history.pages, live.signals())
    assert live.history.pages.answered == 1 and live.history.pages.late == 69
    assert again.result().groups == live.result().groups
    assert isinstance(again, Session)
