"""Commands in YAML lists, as Kubernetes definitions hold them."""

from __future__ import annotations

import pytest

from doctor.facts.report import report_facts
from doctor.facts.vllm import ServeCommands
from doctor.facts.yaml_words import word_lists

POD = """containers:
- name: vllm
  command:
  - python3
  - -m
  - vllm.entrypoints.openai.api_server
  args:
  - --model=/models/q
  - "--max-num-seqs"
  - '64'
"""


def commands(text: str) -> ServeCommands:
    facts = report_facts([("pod.yaml", number, line) for number, line in enumerate(text.split("\n"), 1)])
    found = facts.get(ServeCommands)
    assert isinstance(found, ServeCommands)
    return found


def test_args_go_on_with_the_command() -> None:
    found = commands(POD).commands
    assert len(found) == 1
    assert found[0].model == "/models/q"
    assert found[0].flags["max-num-seqs"] == "64"
    assert (found[0].source, found[0].line) == ("pod.yaml", 3)


def test_a_list_in_one_line_counts_once() -> None:
    assert len(commands('command: ["vllm", "serve", "/models/q", "--port", "8000"]').commands) == 1


def test_a_folded_command_of_compose() -> None:
    text = "services:\n  llm:\n    image: x\n    command: >\n      vllm serve /models/q\n      --max-num-seqs 8\n"
    assert commands(text).commands[0].flags == {"max-num-seqs": "8"}


@pytest.mark.parametrize("text", ["command: [", "args:", "command:\n- ", "command: []", "- command:\n  - a\nargs:\n  - b", "args: [" + "," * 5000 + "]"])
def test_fragments_do_not_fail(text: str) -> None:
    lines = text.split("\n")
    for first, words in word_lists(lines, [0]):
        assert first == 0
        assert all(isinstance(word, str) for word in words)
