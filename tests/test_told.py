"""What people write about a fault: which sentences state it, and which only suppose it."""

from __future__ import annotations

import re

import pytest

from doctor.causefile import CauseFileError, build, parse
from doctor.logscan.literals import required
from doctor.told import told

PORT = told([r"端口|\bport\b", r"被占|占用了|in use|already taken"])


def states(sentence: str) -> bool:
    return re.search(PORT, sentence, re.ASCII) is not None


@pytest.mark.parametrize(
    "sentence",
    [
        "The port is in use.",
        "Already taken, says the log of that port",
        "8000 端口一直被占，服务起不来",
        "被占的是 8000 端口",
        "We use vllm 0.18.0 and CANN 8.5.1 as told; now the port is in use",
        "If I start it twice, the port is in use",
        "可以启动。但是第二次启动时端口被占了",
    ],
)
def test_a_sentence_that_states_the_fault(sentence: str) -> None:
    assert states(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "If the port is in use, choose another one.",
        "To avoid that the port is in use, set --port.",
        "Make sure that no other port is in use.",
        "如果端口被占用，请换一个",
        "请确认端口没有被占用了",
        "修复了端口被占用的问题",
        "The port is 8000. The card is in use.",
        "端口是 8000。卡被占用了",
    ],
)
def test_a_supposition_or_two_sentences_state_nothing(sentence: str) -> None:
    assert not states(sentence)


def test_one_expression_needs_no_other() -> None:
    assert re.search(told("文件句柄耗尽"), "压测时文件句柄耗尽了")


def test_there_is_something_for_the_fast_path_to_look_for() -> None:
    assert required(told(["被占用", "端口"])) in ({"被占用"}, {"端口"})


@pytest.mark.parametrize("words", [[], ["a", "b", "c", "d"], ["a", ["b"]]])
def test_too_many_words_and_no_texts_are_refused(words: list[str]) -> None:
    with pytest.raises(ValueError, match="told"):
        told(words)


CAUSE = """\
id: host-port-told
severity: warn
title: {en: The port is taken., zh: 端口被占用。}
why: {en: Two servers., zh: 两个服务。}
decide:
"""


def test_a_cause_file_takes_words_beside_log_lines() -> None:
    rule = build(parse(CAUSE + "- log: 'errno 98'\n  told:\n  - ['端口', '被占用']\n  - '换了端口就好'\n", "x"), "host", "x")
    signature = rule.decisions[0].signature
    assert signature is not None
    assert signature.patterns == ("errno 98", told(["端口", "被占用"]), told("换了端口就好"))


def test_a_cause_file_takes_words_beside_others() -> None:
    rule = build(parse(CAUSE + "- log: 'errno 98'\n  near:\n  - {told: ['端口'], lines: 3}\n", "x"), "host", "x")
    signature = rule.decisions[0].signature
    assert signature is not None
    assert signature.near[0].patterns == (told("端口"),)


@pytest.mark.parametrize("words", ["[]", "{a: b}", "[[a, b, c, d]]", "[{a: b}]"])
def test_a_cause_file_with_other_words_is_refused(words: str) -> None:
    with pytest.raises(CauseFileError):
        build(parse(CAUSE + f"- told: {words}\n", "x"), "host", "x")
