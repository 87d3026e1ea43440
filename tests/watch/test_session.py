"""A whole watch without a machine: which process grows, why, until when, what to do; the same from the file as live."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from doctor.finding import Severity
from doctor.locale import room_speaker
from doctor.report.style import Style
from doctor.watch.as_json import stream_line, watch_object
from doctor.watch.judge import HOUR, MIB, Settings, Verdict
from doctor.watch.render import render
from doctor.watch.sample import CardSample, HostSample, LogSample, ProcessSample, Sample
from doctor.watch.samplefile import SampleFile
from doctor.watch.session import Session
from doctor.watch.svg import plot
from doctor.watch.textfile import exposition
from doctor.watch.watcher import Watcher, recomputed
from doctor.watch.words import WORDS
from tests.fixture_cases import book
from tests.watch.fakehost import FakeHost, server
from tests.watch.recorded import samples
from tests.watch.test_sampler import Web, sampler

GIB = 1 << 30


def watched(hours: float = 4.0, *, grows: dict[int, float], about: tuple[str, ...] = (), workers: int = 2, restart: float = 0.0, host: HostSample | None = None, **metrics: float) -> Session:
    """A server of an API server (1), an engine core (2) and workers (3, 4, …); `grows`: bytes an hour by pid. Restarted after `restart` hours."""
    session = Session()
    for step in range(int(hours * 120)):
        t = 30.0 * step
        life = 1 if restart and t >= restart * HOUR else 0
        since = t - life * restart * HOUR
        roles = [(1, "api", "vllm"), (2, "engine", "VLLM::EngineCore"), *((3 + rank, "worker", f"VLLM::Worker_TP{rank}") for rank in range(workers))]
        rows = tuple(
            ProcessSample(pid + 100 * life, int((t - since + 1) * 100), role, label, int(2 * GIB + grows.get(pid, 0.0) * since / HOUR), 0, 0, 0, fds=40, threads=20)
            for pid, role, label in roles
        )
        values = {"running": 8.0, "waiting": 0.0, "requests": 10.0 * step, "generated": 500.0 * step, "prompted": 100.0 * step, **metrics}
        events = tuple(f"about {line}" for line in about) if not step else ()
        session.add(Sample(1.796e9 + t, 1.0 + t, "boot", 30.0, rows, host or HostSample(available=500 * GIB), metrics=values, events=events))
    return session


def test_all_workers_that_grow_alike() -> None:
    result = watched(grows={3: 2 * GIB, 4: 2 * GIB}).result(book())
    group = next(group for group in result.groups if group.role == "worker" and group.quantity == "private")
    assert (group.verdict, group.shape) == (Verdict.LEAK, "all")
    assert group.slope == pytest.approx(4 * GIB, rel=0.02)
    assert result.causes[0].finding.rule == "leak-worker-rss-growth"
    assert {group.role for group in result.groups if group.verdict.bad} == {"worker"}
    assert result.worst is Severity.WARN


def test_one_worker_alone_is_named() -> None:
    result = watched(grows={4: 2 * GIB}).result()
    group = next(group for group in result.groups if group.role == "worker" and group.quantity == "private")
    assert (group.shape, group.worst.subject) == ("one", "VLLM::Worker_TP1 (4)")


def test_a_release_that_is_known_to_leak_comes_first() -> None:
    result = watched(grows={3: 2 * GIB, 4: 2 * GIB}, about=("[pip3] torch_npu==2.8.0", "[pip3] vllm_ascend==0.13.0rc1")).result(book())
    assert result.causes[0].finding.rule == "leak-torch-npu-2-8-0"
    assert result.worst is Severity.FAIL


def test_an_engine_core_that_grows_by_ninety_bytes_a_request() -> None:
    result = watched(12, grows={2: 48 * MIB}).result(book())
    group = next(group for group in result.groups if group.role == "engine")
    assert group.verdict is Verdict.LEAK and group.worst.trend.slope == pytest.approx(48 * MIB, rel=0.02)
    assert result.causes[0].finding.rule == "leak-enginecore-rss-growth"


def test_native_mappings_are_told_apart() -> None:
    session = watched(grows={3: 2 * GIB, 4: 2 * GIB})
    for pid in (3, 4):
        session.add(Sample(2e9, 1e6, note=True, events=(f"smaps {pid} heap={MIB:.0f} noreserve={900 * MIB:.0f}",)))
    result = session.result(book())
    assert result.causes[0].finding.rule == "leak-native-anon-workers"
    assert [step.key for step in result.advice][:2] == ["next_native", "next_jemalloc"]


def test_memory_that_ends_soon_is_critical_and_gives_a_schedule() -> None:
    result = watched(grows={3: 4 * GIB, 4: 4 * GIB}, host=HostSample(available=800 * GIB, cgroup=60 * GIB, cgroup_limit=100 * GIB)).result()
    group = next(group for group in result.groups if group.verdict.bad)
    trend = group.worst.trend
    assert (group.verdict, trend.ends) == (Verdict.CRITICAL, "cgroup")
    assert trend.seconds_left == pytest.approx(5 * HOUR, rel=0.05)  # both workers use it up together
    assert result.restart_hours == pytest.approx(2.5, rel=0.05)
    assert result.worst is Severity.FAIL


def test_a_restart_begins_a_new_life() -> None:
    calm = watched(8, grows={}, restart=4).result()
    assert calm.verdict is Verdict.NO_LEAK
    leaking = watched(8, grows={3: 2 * GIB}, restart=4).result()
    assert next(group for group in leaking.groups if group.role == "worker" and group.quantity == "private").verdict is Verdict.LEAK


def test_npu_memory_of_one_card() -> None:
    session = Session()
    worker = ProcessSample(3, 100, "worker", "VLLM::Worker_TP0", 2 * GIB, threads=3)
    for step in range(240):  # 20 h, every 5 min
        cards = (CardSample("0-0", 0, 58000 + step * 5, 65536), CardSample("0-0", 3, 55000 + step * 5))
        session.add(Sample(1.796e9 + 300.0 * step, 300.0 * step, "boot", 300.0, (worker,), HostSample(available=500 * GIB), cards))
    result = session.result(book())
    group = next(group for group in result.groups if group.quantity == "hbm")
    assert group.verdict is Verdict.LEAK and group.worst.trend.ends == "hbm" and group.worst.subject == "NPU 0-0, VLLM::Worker_TP0 (3)"
    assert result.causes[0].finding.rule == "leak-hbm-growth"


def test_dev_shm_that_fills() -> None:
    session = Session()
    for step in range(500):
        worker = ProcessSample(3, 100, "worker", "VLLM::Worker", 2 * GIB)
        session.add(Sample(1.796e9 + 30.0 * step, 30.0 * step, "boot", 30.0, (worker,), HostSample(available=500 * GIB, shm=step * MIB.__int__(), shm_files=step, shm_size=100 * GIB)))
    result = session.result(book())
    assert [group.quantity for group in result.groups if group.verdict.bad] == ["shm"]
    assert "leak-shm-stale-segments" in {cause.finding.rule for cause in result.causes}


def test_a_stall_and_pressure_become_causes() -> None:
    session = watched(0.5, grows={}, waiting=40.0)
    for _ in range(5):
        last = session.history.last
        assert last is not None
        session.add(replace(last, time=last.time + 30, uptime=last.uptime + 30, events=("log: (EngineCore pid=2) ERROR RPC call to sample_tokens timed out.",)))
    result = session.result(book())
    found = {cause.finding.rule for cause in result.causes} | {symptom.rule for cause in result.causes for symptom in cause.symptoms}
    assert {"hang-stall-running-no-tokens", "perf-queue-pressure", "hang-rpc-timeout"} <= found
    assert result.worst is Severity.FAIL


def test_the_recorded_leak_of_a_real_server() -> None:
    session = Session(Settings.for_span(340))
    for sample in samples("vllm_real_leak_apiserver.csv"):
        session.add(sample)
    result = session.result(book())
    assert [group.role for group in result.groups if group.verdict.bad] == ["api"]
    assert "leak-apiserver-rss-growth" in {cause.finding.rule for cause in result.causes}


def test_a_healthy_server_has_nothing() -> None:
    session = Session(Settings.for_span(730))
    for sample in samples("vllm_healthy.csv"):
        session.add(sample)
    result = session.result(book())
    assert (result.verdict, result.worst, result.stalls) == (Verdict.NO_LEAK, None, ())


def live(host: FakeHost, path: Path) -> Watcher:
    return Watcher(host, sampler(host, web=Web()), Settings(60, 600, 1200), path)


def test_the_file_gives_what_the_live_watch_said(tmp_path: Path) -> None:
    host = FakeHost()
    server(host)
    host.files["/proc/102/smaps"] = "7f00-7f01 rw-p 00000000 00:00 0 \nRss: 100 kB\nAnonymous: 100 kB\nVmFlags: rd wr nr \n"
    watcher = live(host, tmp_path / "s.ndjson")
    for step in range(90):
        host.add(102, "VLLM::Worker_TP", ("VLLM::Worker_TP0",), ppid=101, anon=1_000_000 + step * 4000)
        watcher.step()
        host.tick()
    watcher.finish()
    said = watcher.session.result(book())
    again = recomputed(tmp_path / "s.ndjson", Settings(60, 600, 1200)).result(book())
    assert watch_object(again) == watch_object(said)
    assert again.text == said.text and "serve m --port 8123" in said.text and "hunter2" not in (tmp_path / "s.ndjson").read_text()
    assert again.kinds[102].largest == "noreserve"
    assert [group.role for group in said.groups if group.verdict.bad] == ["worker"]


def test_a_watch_goes_on_after_its_own_restart(tmp_path: Path) -> None:
    host = FakeHost()
    server(host)
    first = live(host, tmp_path / "s.ndjson")
    for _ in range(10):
        first.step()
        host.tick()
    second = live(host, tmp_path / "s.ndjson")
    assert second.resume() == 10
    second.step()
    assert second.session.history.count == 11
    assert "resumed" in [event for _, event in second.session.history.events]
    host.tick(10 * HOUR)
    assert live(host, tmp_path / "s.ndjson").resume() == 0  # too long ago to be the same watch


def test_evidence_of_a_stall_is_kept(tmp_path: Path) -> None:
    host = FakeHost()
    server(host)
    host.files |= {"/proc/101/task/101/comm": "MainThread\n", "/proc/101/task/101/wchan": "futex_wait_queue\n", "/var/log/v.log": "first line\nlast words\n"}
    host.links["/proc/100/fd/1"] = "/var/log/v.log"
    host.commands["/venv/bin/py-spy dump --nonblocking --pid 100"] = "Thread 100 (idle): MainThread\n"
    watcher = live(host, tmp_path / "s.ndjson")
    for _ in range(6):
        watcher.step()
        host.tick()
    (stall,) = watcher.session.stalls
    kept = Path(stall.evidence)
    assert stall.kind == "no_tokens" and "futex_wait_queue" in (kept / "engine-101.txt").read_text()
    assert "MainThread" in (kept / "api-100.txt").read_text() and "last words" in (kept / "log-tail.txt").read_text()
    assert "py-spy" in (kept / "missing.txt").read_text()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_full_disk_is_told_and_does_not_end_the_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: SampleFile, sample: Sample) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SampleFile, "append", full)
    host = FakeHost()
    server(host)
    watcher = live(host, tmp_path / "s.ndjson")
    watcher.step()
    assert "No space left" in watcher.problems["samples"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_report_in_both_languages(language: str) -> None:
    result = watched(grows={3: 2 * GIB, 4: 2 * GIB}).result(book())
    text = render(result, Style(), room_speaker(WORDS, language), language, host="made", detail=1)
    assert ("Leak: workers (memory) grows by 4" in text) if language == "en" else ("泄漏：worker（内存）" in text or "泄漏：worker (内存)" in text)
    assert "leak-worker-rss-growth" in text and "{" not in text.replace("{print", "")


def test_faces_for_programs() -> None:
    heard: list[str] = []
    session = watched(grows={3: 2 * GIB})
    result = session.result()
    record = json.loads(json.dumps(watch_object(result), allow_nan=False))
    assert record["verdict"] == "leak" and record["classes"][2]["processes"][0]["pid"] == 3
    text = exposition(result)
    assert 'ascend_doctor_watch_verdict{class="worker",quantity="private"} 3\n' in text and text.endswith("\n")
    picture = plot(session, room_speaker(WORDS, "en"))
    assert picture.startswith("<svg") and picture.count("<polyline") == 4
    listening = Session(listener=lambda kind, value: heard.append(stream_line(kind, value) or ""))
    for sample in samples("vllm_healthy.csv")[:25]:
        listening.add(sample)
    assert {json.loads(line)["type"] for line in heard if line} == {"sample"}


def test_curves_for_sparklines() -> None:
    curves = watched(1, grows={3: GIB}).curves(points=20)
    assert set(curves) == {"api", "engine", "worker"}
    line = curves["worker"]["VLLM::Worker_TP0 (3)"]
    assert len(line) <= 21 and line[0][0] == 0 and line[-1][1] > line[0][1]


def test_names_from_outside_are_escaped() -> None:
    session = Session()
    for step in range(60):
        bad = ProcessSample(3, 100, "other", '</text><script>"\n', 100 + step)
        session.add(Sample(30.0 * step, 30.0 * step, processes=(bad,), log=LogSample()))
    assert "<script>" not in plot(session, room_speaker(WORDS, "en"))
    assert "\n</text>" not in exposition(session.result())


def test_growth_within_the_bound_of_a_known_cache_is_a_suspicion_only() -> None:
    line = "$ vllm serve m --mm-processor-cache-gb 8"
    group = next(group for group in watched(grows={1: GIB}, about=(line,)).groups() if group.role == "api" and group.quantity == "private")
    assert (group.verdict, group.worst.trend.why) == (Verdict.SUSPECT, "within_cache")
    result = watched(grows={1: GIB}, about=(line,)).result()
    assert [step.key for step in result.advice] == ["next_cache"] and result.worst is Severity.NOTE
    others: tuple[tuple[dict[int, float], tuple[str, ...]], ...] = (({1: 3 * GIB}, (line,)), ({1: GIB}, ()), ({1: GIB}, ("$ vllm serve m --mm-processor-cache-gb 0",)), ({3: GIB}, (line,)), ({1: GIB}, (line.replace(" 8", " x"),)))
    for grows, about in others:
        found = {group.verdict for group in watched(grows=grows, about=about).groups() if group.verdict.bad}
        assert found == {Verdict.LEAK}, (grows, about)


def test_a_cache_that_would_fill_memory_is_told_with_its_end() -> None:
    host = HostSample(available=4 * GIB)
    found = watched(grows={1: GIB}, about=("$ vllm serve m --mm-processor-cache-gb 64",), host=host).groups()
    trend = next(group for group in found if group.role == "api" and group.quantity == "private").worst.trend
    assert trend.why == "within_cache" and trend.seconds_left is not None
