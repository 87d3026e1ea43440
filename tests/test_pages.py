"""What is answered without click is what click answers."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import cast

import pytest
from click.shell_completion import get_completion_class

from doctor import cli, pages
from doctor.commands import build
from doctor.commands.described import described
from doctor.completed import COMPLETE_VAR, completed
from doctor.logscan import cache
from doctor.rule import Rule
from doctor.rulebook import Rulebook, load
from doctor.rulepackage import rule_names

GROUP = build("en")
COMMANDS = described(GROUP)
NAMES = [name for name, _ in COMMANDS["names"]]
BOOK = Rulebook(dict.fromkeys(rule_names(), cast(Rule, None)), {})
SHELLS = ("bash", "zsh", "fish")


@pytest.fixture(autouse=True)
def _one_book(monkeypatch: pytest.MonkeyPatch) -> None:
    """Click asks for the names of rules hundreds of times here."""
    monkeypatch.setattr("doctor.rulebook.load", lambda: BOOK)


def by_click(shell: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    kind = get_completion_class(shell)
    assert kind is not None
    return kind(GROUP, {"obj": "en"}, "doctor", COMPLETE_VAR).complete() + "\n"


def asked(shell: str, words: str) -> dict[str, str]:
    """What the shell's script puts into the environment with the cursor at the end of the line."""
    last = words.rpartition(" ")[2]
    return {"COMP_WORDS": words, "COMP_CWORD": last if shell == "fish" else str(len(words.split()) - (1 if last else 0))}


def plain_lines(command: str) -> list[str]:
    """Every option of a command before, at and behind the cursor."""
    params = COMMANDS["params"][command]
    options = [name for param in params for name in param["names"] if name not in ("-h", "--help")]
    lines = [f"doctor {command} {current}" for current in ("", "-", "--", "--n", "a", "xyz")]
    for name in options:
        lines += [f"doctor {name} {command} ", f"doctor {command} {name} ", f"doctor {command} {name} a", f"doctor {command} {name} -", f"doctor {command} {name[:-1]}"]
    lines += [f"doctor {command} word ", f"doctor {command} word -", f"doctor {command} word word b"]
    return lines


@pytest.mark.parametrize("command", NAMES)
def test_a_command_is_completed_as_click_does(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = 0
    for words in plain_lines(command):
        for shell in SHELLS:
            environ = asked(shell, words)
            answer = completed(COMMANDS, f"{shell}_complete", environ)
            answered += answer is not None
            assert answer is None or answer == by_click(shell, environ, monkeypatch), (shell, words)
    assert answered >= 0.85 * len(SHELLS) * len(plain_lines(command))


@pytest.mark.parametrize("words", ["doctor ", "doctor l", "doctor -", "doctor --", "doctor --v", "doctor --json ", "doctor --only ", "doctor --only x ", "doctor x"])
@pytest.mark.parametrize("shell", SHELLS)
def test_without_a_command_the_commands_are_told(words: str, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = asked(shell, words)
    answer = completed(COMMANDS, f"{shell}_complete", environ)
    assert answer == by_click(shell, environ, monkeypatch)


@pytest.mark.parametrize(
    "words",
    ["doctor log --format=j", "doctor lint -- x", "doctor log --bogus ", "doctor bogus ", "doctor log -qv ", "doctor log '", "doctor log \"a b", "doctor -- log", "doctor log - "],
)
@pytest.mark.parametrize("shell", SHELLS)
def test_anything_unusual_is_left_to_click_or_answered_as_click_does(words: str, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = asked(shell, words)
    answer = completed(COMMANDS, f"{shell}_complete", environ)
    assert answer is None or answer == by_click(shell, environ, monkeypatch)


@pytest.mark.parametrize(
    ("instruction", "environ"),
    [
        ("bash_complete", {}),
        ("bash_complete", {"COMP_WORDS": "doctor ", "COMP_CWORD": "many"}),
        ("bash_source", {"COMP_WORDS": "doctor ", "COMP_CWORD": "1"}),
        ("tcsh_complete", {"COMP_WORDS": "doctor ", "COMP_CWORD": "1"}),
        ("", {}),
    ],
)
def test_what_no_shell_of_ours_asks_is_left_to_click(instruction: str, environ: dict[str, str]) -> None:
    assert completed(COMMANDS, instruction, environ) is None


def test_the_names_of_rules_are_those_of_the_rule_book() -> None:
    assert rule_names() == tuple(sorted(load().rules))


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name in ("COLUMNS", "LANG", "LC_ALL", "LC_MESSAGES", COMPLETE_VAR):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


QUESTIONS = (["--help"], ["-h"], ["log", "--help"], ["--help", "explain"], ["--lang", "zh", "--help"], ["--lang", "zh", "fix", "-h"], ["completion", "fish"])


@pytest.mark.parametrize("columns", ["40", "80", "", "92", "500", "-3"])
def test_a_page_is_the_same_the_second_time(kept: Path, columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    for question in QUESTIONS:
        language = "zh" if "zh" in question else "en"
        assert pages.answer(question, os.environ, language) is None or question == ["-h"]
        assert cli.run(question) == 0
        first = capsys.readouterr().out
        assert pages.answer(question, os.environ, language) == first
        assert cli.run(question) == 0
        assert capsys.readouterr().out == first


def test_pages_of_two_languages_and_widths_are_kept_apart(kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said = set()
    for _, columns, language in itertools.product(range(2), ("60", "100"), ("en", "zh")):
        monkeypatch.setenv("COLUMNS", columns)
        cli.run(["--lang", language, "log", "--help"])
        said.add(capsys.readouterr().out)
    assert len(said) == 4


@pytest.mark.parametrize("question", [["log", "--help", "x"], ["--", "--help"], ["log", "--", "--help"], ["--json", "--help"], ["bogus", "--help"], ["--lang", "xx", "--help"], ["completion", "tcsh"], ["completion"]])
def test_only_plain_questions_are_kept(kept: Path, question: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    first = cli.run(question), capsys.readouterr()
    assert pages.answer(question, os.environ, "en") is None
    assert (cli.run(question), capsys.readouterr()) == first or "--json" in question


def test_a_page_of_changed_files_is_made_anew(kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    cli.run(["--help"])
    assert pages.answer(["--help"], os.environ, "en") == capsys.readouterr().out
    monkeypatch.setattr(pages, "_stamp", lambda: ("another",))
    assert pages.answer(["--help"], os.environ, "en") is None


@pytest.mark.parametrize("stored", [b"", b"no marshal", b"\xe9\x00\x00\x00\x00", b"i\x01\x00\x00\x00"])
def test_a_page_that_cannot_be_read_is_made_anew(kept: Path, stored: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    cache.save(pages._name("en"), stored)
    assert pages.answer(["--help"], os.environ, "en") is None
    assert cli.run(["--help"]) == 0
    assert "Usage" in capsys.readouterr().out


def test_a_shell_gets_the_same_answer_the_second_time(kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(COMPLETE_VAR, "zsh_complete")
    for name, value in asked("zsh", "doctor explain cann-").items():
        monkeypatch.setenv(name, value)
    assert cli.run([]) == 0
    first = capsys.readouterr().out
    assert "cann-env-not-sourced" in first
    assert pages.answer([], os.environ, "en") == first
