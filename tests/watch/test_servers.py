"""Several servers on one host are told apart: by their ports, in the samples, the verdicts, JSON, text, the textfile; one server looks as before."""

from __future__ import annotations

from doctor.locale import room_speaker
from doctor.report.style import Style
from doctor.watch.as_json import watch_object
from doctor.watch.judge import HOUR, MIB, Verdict
from doctor.watch.render import render
from doctor.watch.roles import members
from doctor.watch.sample import HostSample, ProcessSample, Sample, from_line, to_line
from doctor.watch.sampler import Sampler, Target
from doctor.watch.session import Session
from doctor.watch.svg import plot
from doctor.watch.textfile import exposition
from doctor.watch.words import WORDS
from tests.watch.fakehost import FakeHost, server
from tests.watch.test_sampler import Web

GIB = 1 << 30


def two() -> FakeHost:
    host = FakeHost()
    server(host)
    host.add(500, "vllm", ("/venv/bin/python3", "/venv/bin/vllm", "serve", "n", "--port", "9000"))
    host.add(501, "VLLM::EngineCor", ("VLLM::EngineCore",), ppid=500)
    host.add(502, "VLLM::ApiServer", ("/venv/bin/python3", "/venv/bin/vllm", "serve", "n", "--port", "9000"), ppid=500)
    host.add(700, "mooncake_master", ("/usr/bin/mooncake_master",))
    return host


def test_each_process_has_its_server() -> None:
    assert {member.pid: member.server for member in members(two().running)} == {100: 100, 101: 100, 102: 100, 103: 100, 500: 500, 501: 500, 502: 500, 700: 0}
    sample = Sampler(two(), Target(), 30.0, own=9, get=Web()).sample()
    assert {process.pid: process.server for process in sample.processes} == {100: ":8123", 101: ":8123", 102: ":8123", 103: ":8123", 500: ":9000", 501: ":9000", 502: ":9000", 700: ""}
    assert sample.asked == ":8123" and from_line(to_line(sample)) == sample


def test_workers_that_ray_starts_are_no_servers() -> None:
    host = FakeHost()
    server(host)
    host.add(800, "raylet", ("/venv/bin/raylet",))
    host.add(801, "VLLM::Worker_TP", ("VLLM::Worker_TP2",), ppid=800)
    host.add(802, "VLLM::Worker_TP", ("VLLM::Worker_TP3",), ppid=800)
    assert {member.server for member in members(host.running) if member.pid > 800} == {0}
    sample = Sampler(host, Target(), 30.0, own=9, get=Web()).sample()
    assert sample.asked == "" and {process.server for process in sample.processes} == {":8123", ""}


def test_the_address_that_is_named_says_whose_pages_they_are() -> None:
    sample = Sampler(two(), Target(url="http://127.0.0.1:9000"), 30.0, own=9, get=Web()).sample()
    assert sample.asked == ":9000"


def test_one_server_is_not_named_beside_its_classes() -> None:
    host = FakeHost()
    server(host)
    assert Sampler(host, Target(), 30.0, own=9, get=Web()).sample().asked == ""


def rows(t: float, grows: float) -> tuple[ProcessSample, ...]:
    made = []
    for base, name, slope in ((100, ":8000", 0.0), (500, ":9000", grows)):
        for pid, role, label in ((base, "api", "vllm"), (base + 1, "engine", "VLLM::EngineCore"), (base + 2, "worker", "VLLM::Worker_TP0")):
            size = 2 * GIB + (slope * t / HOUR if role == "worker" else 0)
            made.append(ProcessSample(pid, 100, role, label, int(size), 0, 0, 0, fds=40, threads=20, server=name))
    return tuple(made)


def watched(hours: float = 4.0, asked: str = ":8000") -> Session:
    session = Session()
    for step in range(int(hours * 120)):
        t = 30.0 * step
        metrics = {"running": 8.0, "waiting": 0.0, "requests": 10.0 * step, "generated": 500.0 * step, "prompted": 100.0 * step}
        session.add(Sample(1.796e9 + t, 1.0 + t, "boot", 30.0, rows(t, 2 * GIB), HostSample(available=500 * GIB), metrics=metrics, asked=asked))
    return session


def test_the_leak_of_one_server_is_that_server_s() -> None:
    session = watched()
    result = session.result()
    bad = [(group.server, group.role) for group in result.groups if group.verdict is Verdict.LEAK]
    assert bad == [(":9000", "worker")] and len({group.key for group in result.groups}) == len(result.groups)
    text = render(result, Style(), room_speaker(WORDS, "en"), "en")
    assert "workers :9000 (memory)" in text.split("\n")[0] and "workers :8000, memory" in text and "workers :9000, memory" in text
    classes = watch_object(result)["classes"]
    assert {(each["server"], each["verdict"]) for each in classes if each["class"] == "worker" and each["quantity"] == "private"} == {(":8000", "no leak"), (":9000", "leak")}
    assert 'class="worker",quantity="private",server=":9000"' in exposition(result)
    assert ":9000" in plot(session, room_speaker(WORDS, "zh"))


def test_requests_of_one_server_explain_nothing_of_another() -> None:
    found = {group.server: group.worst.trend.per_request for group in watched().result().groups if group.role == "worker" and group.quantity == "private"}
    assert found[":8000"] is not None and found[":9000"] is None


def test_an_engine_that_is_gone_at_another_server() -> None:
    session = Session()
    for step in range(8):
        t = 30.0 * step
        there = tuple(row for row in rows(t, 0.0) if step < 3 or row.pid not in (501, 502))
        session.add(Sample(1.796e9 + t, 1.0 + t, "boot", 30.0, there, metrics={"running": 0.0, "requests": 5.0}, health=200, asked=":8000"))
    (stall,) = session.stalls
    assert (stall.kind, stall.detail, stall.end) == ("engine_dead", ":9000", None)


def test_a_server_that_is_shut_down_is_not_dead() -> None:
    session = Session()
    for step in range(8):
        t = 30.0 * step
        there = tuple(row for row in rows(t, 0.0) if step < 3 or row.pid not in (501, 502))
        there = tuple(row for row in there if step < 4 or row.pid < 500)
        session.add(Sample(1.796e9 + t, 1.0 + t, "boot", 30.0, there, metrics={"running": 0.0, "requests": 5.0}, health=200, asked=":8000"))
    assert session.stalls == ()


def test_old_files_and_one_server_have_classes_without_a_name() -> None:
    session = Session()
    for step in range(20):
        session.add(Sample(1e9 + step, 1.0 + step, "b", 1.0, (ProcessSample(1, 1, "api", "vllm", 100 * int(MIB), server=":8000"),)))
    assert {group.server for group in session.groups()} == {""}
    assert watch_object(session.result())["classes"][0]["server"] is None
