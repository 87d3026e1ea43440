"""What the rule book hears of a watch: who grows, in its words; versions; no secrets."""

from __future__ import annotations

import pytest

from doctor.watch.account import about
from doctor.watch.roles import Member, members
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
