"""`doctor fix`, `doctor undo`, `doctor history` as they are called: output, exit codes, and JSON by the published schema."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from doctor.apply.journal import Transaction
from doctor.apply.kind import MODULES
from doctor.apply.planshow import history_lines
from doctor.apply.words import WORDS
from doctor.cli import run
from doctor.fix import ACTIONS, Safety, texts_of, unfilled
from doctor.locale import room_speaker
from doctor.report.schema import text as schema_text
from doctor.report.style import Style
from doctor.rulebook import load
from tests.apply.trees import make_root, picture

VALID = jsonschema.Draft202012Validator(json.loads(schema_text()))
NAME = "host-swappiness-high"
DROP_IN = "etc/sysctl.d/99-zz-ascend-doctor-vm-swappiness.conf"
SERVER = {"/dev/davinci0": "", "/dev/davinci_manager": "", "/proc/meminfo": "MemTotal: 64 kB\nSwapTotal: 8388608 kB\n"}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache of the rules for all cases: reading them anew takes seconds."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def root(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    return make_root(tmp_path / "root", SERVER)


def doctor(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    code = run([str(word) for word in words])
    told = capsys.readouterr()
    return code, told.out, told.err


def as_json(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, Any]:
    code, out, _ = doctor(capsys, *words, "--json")
    told = json.loads(out)
    VALID.validate(told)
    assert told["run"]["exit_code"] == code
    return code, told


def test_the_whole_way_in_json(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = picture(root)
    code, listed = as_json(capsys, "fix", "--root", root)
    assert code == 0 and {item["name"] for item in listed["fixable"] if item["applicable"]} == {f"{NAME}/set-swappiness"}
    code, planned = as_json(capsys, "fix", NAME, "--root", root)
    plan = planned["plan"]
    assert code == 0 and plan["applicable"] and picture(root) == before
    code, refused = as_json(capsys, "fix", NAME, "--root", root, "--apply")
    assert code == 2 and "--plan-hash" in refused["error"]["message"] and picture(root) == before
    code, refused = as_json(capsys, "fix", NAME, "--root", root, "--apply", "--yes", "--plan-hash", "0" * 64)
    assert code == 2 and plan["hash"] in refused["error"]["message"] and picture(root) == before
    code, done = as_json(capsys, "fix", NAME, "--root", root, "--apply", "--yes", "--plan-hash", plan["hash"])
    assert code == 4 and done["fix"]["applied"][0]["outcome"] == "pending" and (root / DROP_IN).exists()
    code, again = as_json(capsys, "fix", NAME, "--root", root, "--apply", "--yes", "--plan-hash", plan["hash"])
    assert code == 0 and again["fix"]["applied"] == []
    code, told = as_json(capsys, "history", "--root", root)
    assert [one["outcome"] for one in told["history"]] == ["pending"]
    (root / DROP_IN).write_text("theirs\n")
    code, refused = as_json(capsys, "undo", "--root", root)
    assert code == 4 and "+theirs" in refused["undo"]["refused"][0]["difference"]
    (root / DROP_IN).write_text(told["history"][0]["changes"][0]["change"]["after"])
    code, undone = as_json(capsys, "undo", told["history"][0]["transaction"], "--root", root)
    assert code == 0 and undone["undo"]["put_back"] == ["/" + DROP_IN] and not (root / DROP_IN).exists()
    code, undone = as_json(capsys, "undo", "--root", root)
    assert code == 0 and undone["undo"]["put_back"] == []
    assert as_json(capsys, "undo", "20200101T000000Z-000000", "--root", root)[0] == 2


def test_in_words_and_both_languages(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = doctor(capsys, "fix", NAME, "--root", root)
    assert code == 0 and "+vm.swappiness = 1" in out and "plan hash: " in out and f"doctor fix {NAME} --root {root} --apply" in out
    code, out, _ = doctor(capsys, "fix", NAME, "--root", root, "--lang", "zh")
    assert code == 0 and "方案哈希" in out and "99-zz-ascend-doctor" in out
    code, out, _ = doctor(capsys, "history", "--root", root)
    assert code == 0 and "No fix has changed anything" in out


def test_a_name_that_is_wrong_is_a_usage_error(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor(capsys, "fix", "host-none-such", "--root", root)[0] == 2
    assert doctor(capsys, "fix", f"{NAME}/none", "--root", root)[0] == 2
    assert doctor(capsys, "fix", NAME, "--root", root, "--without", "none")[0] == 2
    assert doctor(capsys, "fix", "--apply", "--root", root)[0] == 2
    assert doctor(capsys, "fix", NAME, "--from", root, "--apply")[0] == 2


def test_what_is_fine_or_cannot_be_judged_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "proc/sys/vm/swappiness").write_text("1\n")
    code, out, _ = doctor(capsys, "fix", NAME, "--root", root)
    assert code == 0 and "nothing to fix" in out
    (root / "proc/sys/vm/swappiness").unlink()
    code, out, err = doctor(capsys, "fix", NAME, "--root", root)
    assert code == 3 and out == "" and "could not be judged" in err


@pytest.mark.parametrize("kind", ["sh", "ansible"])
def test_a_script_is_written_and_nothing_is_overwritten(root: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    before, path = picture(root), tmp_path / "fix.out"
    assert doctor(capsys, "fix", NAME, "--root", root, "--script", path, "--format", kind)[0] == 0
    text = path.read_text()
    assert "vm.swappiness = 1" in text and picture(root) == before
    assert kind == "sh" or yaml.safe_load(text)
    assert doctor(capsys, "fix", NAME, "--root", root, "--script", path, "--format", kind)[0] == 2 and path.read_text() == text
    assert doctor(capsys, "fix", NAME, "--root", root, "--script", "-", "--format", kind)[1] == text


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "applied"), [("y\n", True), ("n\n", False), ("\n", False), ("", False)])
def test_a_safe_fix_asks(root: Path, typed: str, applied: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stderr", asked)
    code, _, _ = doctor(capsys, "fix", NAME, "--root", root, "--apply")
    assert (root / DROP_IN).exists() is applied and code == (4 if applied else 0)
    assert "+vm.swappiness = 1" in asked.getvalue()


@pytest.mark.parametrize(("typed", "applied"), [("host-overcommit-strict\n", True), ("y\n", False), ("HOST-OVERCOMMIT-STRICT\n", False)])
def test_what_changes_behaviour_wants_the_id(root: Path, typed: str, applied: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "proc/sys/vm/overcommit_memory").write_text("2\n")
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stderr", Terminal())
    doctor(capsys, "fix", "host-overcommit-strict", "--root", root, "--apply")
    assert (root / "etc/sysctl.d").exists() is applied


def test_every_action_of_the_rules_can_be_done() -> None:
    """What a cause file writes under `do` is of a kind that has its step, and its placeholders are ones that a finding may fill."""
    book = load()
    assert set(MODULES) == set(ACTIONS)
    doing = [(rule, fix) for rule in book.rules.values() for fix in rule.fixes if fix.do]
    assert len(doing) >= 25
    for rule, fix in doing:
        assert fix.safety is not Safety.SHOW and fix.steps, f"{rule.id}/{fix.id}"
        words = " ".join(step.text.en for step in fix.steps) + rule.title.en
        for action in fix.do:
            for text in texts_of(action):
                assert all(f"<{name}>" in words for name in unfilled(text)), f"{rule.id}/{fix.id}: {text}"


def test_only_and_skip_choose_what_may_be_fixed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def names(*words: str) -> set[str]:
        return {item["rule"] for item in as_json(capsys, "fix", "--root", root, *words)[1]["fixable"]}

    assert names() >= {NAME} and names("--only", "host-swap*") == {NAME}
    assert NAME not in names("--skip", NAME) and names("--skip", NAME)
    code, told = as_json(capsys, "fix", NAME, "--root", root, "--skip", "host")
    assert code == 2 and NAME in told["error"]["message"] and "--skip" in told["error"]["message"]
    code, out, _ = doctor(capsys, "fix", NAME, "--root", root, "--only", "host-swap*")
    assert code == 0 and "--only 'host-swap*'" in out
    planned, every = (as_json(capsys, "fix", NAME, "--root", root, *words)[1]["plan"]["hash"] for words in (("--only", NAME), ()))
    assert planned == every
    code, told = as_json(capsys, "fix", NAME, "--root", root, "--only", NAME, "--apply", "--yes", "--plan-hash", planned)
    assert code == 4 and told["fix"]["applied"][0]["outcome"] == "pending"
    assert as_json(capsys, "fix", "--root", root, "--only", "no-such-rule")[0] == 2


def test_how_each_change_ended_is_told_in_the_readers_language() -> None:
    ends = ["fixed", "pending", "rolled back", "broken off", "nothing", ""]
    told = {end: "\n".join(history_lines([Transaction("t1", "2026-11-30", {}, outcome=end)], room_speaker(WORDS, "zh"), Style())) for end in [*ends, "of a later doctor"]}
    assert all(end not in told[end] for end in ends if end)
    assert "被中断" in told[""] and "of a later doctor" in told["of a later doctor"]
