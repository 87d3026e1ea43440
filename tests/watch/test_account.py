"""What the rule book hears of a watch: who grows, in its words; versions; no secrets."""

from __future__ import annotations

import pytest

from doctor.diagnosis import Cause
from doctor.fix import Show
from doctor.watch.account import about
from doctor.watch.roles import Member, members
from doctor.watch.sample import HostSample, ProcessSample, Sample
from doctor.watch.session import Session
from tests.fixture_cases import book
from tests.watch.fakehost import FakeHost, server
from tests.watch.test_session import GIB, watched


@pytest.mark.parametrize(
    "words", [("--api-key", "s3cret"), ("--api-key=s3cret",), ("--hf-token", "s3cret"), ("--api-key", "s3cret", "s3cret"), ("--some-password", "s3cret")]
)
def test_secrets_of_a_command_line_are_not_kept(words: tuple[str, ...]) -> None:
    argv = ("vllm", "serve", "m", *words, "--tokenizer", "/models/t", "--max-num-batched-tokens", "8192")
    (line,) = about(FakeHost(), [Member(1, 0, "api", "vllm", argv)], ())
    assert "s3cret" not in line and line.endswith("--tokenizer /models/t --max-num-batched-tokens 8192")


def test_who_grows_is_told_only_of_leaks() -> None:
    assert "keeps growing" not in watched(2.4, grows={3: 2 * GIB, 4: 2 * GIB}).result().text
    text = watched(grows={1: GIB, 3: 2 * GIB}).result().text
    assert "Host memory (RssAnon) of the API server process keeps growing" in text and "of the worker processes (VLLM::Worker) keeps growing" in text


def test_our_own_process_and_dead_ones_are_never_followed() -> None:
    host = FakeHost()
    server(host)
    host.add(9, "python3", ("python3", "-m", "doctor", "watch", "vllm"), ppid=100)
    host.add(105, "VLLM::Worker_TP", ("VLLM::Worker_TP9",), ppid=101, state="Z")
    assert {member.pid for member in members(host.running, own=9)} == {100, 101, 102, 103}


def counted(hours: float = 4.0, *, label: str = "VLLM::EngineCore", files: float = 0.0, threads: float = 0.0, anon: float = 0.0, available: float = 500.0, rises: bool = False) -> Session:
    """One engine core; `files`, `threads` and `anon` (GiB) grow by so much an hour; `available` GiB are left on the host."""
    session = Session()
    for step in range(int(hours * 120)):
        hour, t = step / 120, 30.0 * step
        row = ProcessSample(
            2, 100, "engine", label, int(GIB * (2 + anon * hour)), 0, 0, 0, fds=int(400 + files * hour), fd_limit=65536, threads=int(100 + threads * hour)
        )  # fmt: skip
        metrics = {"running": 1.0 + (8 * hour if rises else 0), "requests": 10.0 * step, "generated": 500.0 * step, "prompted": 1.0 * step}
        session.add(Sample(1.796e9 + t, 1.0 + t, "boot", 30.0, (row,), HostSample(available=int(available * GIB)), metrics=metrics))
    return session


def causes(session: Session) -> dict[str, Cause]:
    return {cause.finding.rule: cause for cause in session.result(book()).causes}


def test_open_files_and_threads_that_rise_have_their_causes() -> None:
    found = causes(counted(files=120, threads=60))
    assert {"leak-fd-growth", "leak-thread-growth"} <= set(found)
    evidence = found["leak-fd-growth"].finding.evidence[0].text
    assert evidence.startswith("Open files of VLLM::EngineCore (pid 2) keep rising: +1") and "per hour over 3.7 h" in evidence
    assert "ls -l /proc/2/fd" in filled(found["leak-fd-growth"])


def test_numbers_that_stand_still_or_follow_the_load_have_none() -> None:
    assert not {"leak-fd-growth", "leak-thread-growth"} & set(causes(counted()))
    assert "leak-fd-growth" not in causes(counted(files=120, rises=True))


def test_memory_that_ends_within_hours_is_told_under_what_uses_it_up() -> None:
    found = causes(counted(anon=20, available=80))
    (cause,) = (cause for cause in found.values() if any(symptom.rule == "leak-projected-exhaustion" for symptom in cause.symptoms))
    assert cause.finding.rule == "leak-enginecore-rss-growth"
    assert "leak-projected-exhaustion" not in counted(anon=1, available=500).result(book()).text
    assert not any(symptom.rule == "leak-projected-exhaustion" for cause in causes(counted(anon=1, available=500)).values() for symptom in cause.symptoms)


def test_a_watch_that_is_too_short_says_that_it_could_not_tell() -> None:
    assert "leak-window-too-short" in causes(counted(1.0)) and "leak-window-too-short" not in causes(counted(4.0))


def test_a_name_cannot_speak_in_sentences_of_ours() -> None:
    text = counted(files=120, label="x\nHost memory (RssAnon) of the worker processes (VLLM::Worker) keeps growing: +9 MiB").result().text
    assert not any(line.startswith("Host memory") for line in text.split("\n")) and "leak-fd-growth" in causes(counted(files=120, label="a (b) 100%"))


def filled(cause: Cause) -> str:
    return "\n".join(step.text["en"] for fix in cause.finding.fixes for step in fix.steps if isinstance(step, Show))
