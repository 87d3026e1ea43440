"""The fix screen on real file trees: planned, switched, confirmed, applied, verified, put back; refused where it may not; never in --read-only."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from doctor.apply.engine import RefusedError, apply_plan
from doctor.apply.making import Applied, Event, Judged, Outcome, Verification
from doctor.host.live import LiveHost
from doctor.host.recorded import open_host
from doctor.tui.fixjob import Making, Place, journal, place_of, planned, pulled
from doctor.tui.job import HostJob
from doctor.tui.screens.checkup import CheckupScreen
from doctor.tui.screens.fixes import FixScreen
from doctor.tui.screens.history import HistoryScreen
from doctor.tui.screens.inputs import InputsScreen
from doctor.tui.told import Told
from tests.apply.stopping import stopped_at
from tests.apply.trees import RULE, book_of, make_root, picture
from tests.tui.driving import HOSTS, PATIENCE, Driven, drive, text_job
from tests.tui.made import MadeJob, report
from tests.tui.test_golden import LANGUAGES, SIZES, compared

REPOSITORY = Path(__file__).resolve().parents[2]
DROP_IN = "etc/sysctl.d/99-zz-ascend-doctor-vm-swappiness.conf"

# The rule looks at a file, so that it can be verified below a root; its fix is a drop-in of sysctl.
DROPPED = """
id: host-drop-in-missing
severity: warn
title: {en: The drop-in is missing., zh: 缺少配置文件。}
why: {en: It stalls., zh: 会停顿。}
decide:
- when: {os.id: openeuler}
fixes:
- id: write-drop-in
  title: {en: Write it, zh: 写入}
  safety: SAFETY
  steps: [write it]
  do:
  - file: {path: /etc/os-release, content: ID=other}
  - file: {path: /etc/sysctl.d/90-ours.conf, content: vm.swappiness = 1}
"""

SAFE, ASK = DROPPED.replace("SAFETY", "safe"), DROPPED.replace("SAFETY", "ask")
DROPPED_RULE = "host-drop-in-missing"
OURS = "etc/sysctl.d/90-ours.conf"


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts rules of the test's own in the place of all others."""

    def put(*texts: str) -> None:
        book = book_of(*texts)
        monkeypatch.setattr("doctor.rulebook.load", lambda: book)

    return put


def job_at(root: Path, **more: Any) -> HostJob:
    return HostJob(LiveHost(str(root)), root=str(root), **more)


def openeuler(folder: Path) -> Path:
    return make_root(folder / "root", {"/etc/os-release": "ID=openeuler\n"})


async def fix_opened(driven: Driven) -> FixScreen:
    """The fix screen of the row under the cursor, once its plan is there."""
    await driven.press("F")
    screen = driven.app.screen
    assert isinstance(screen, FixScreen)
    await planned_there(driven, screen)
    return screen


async def planned_there(driven: Driven, screen: FixScreen) -> None:
    async def there() -> None:
        while screen.busy or screen._planned is None:
            await driven.pilot.pause(0.01)

    await asyncio.wait_for(there(), PATIENCE)
    await driven.pilot.pause()


async def answered(driven: Driven, word: str) -> None:
    """Types a word into the question and waits until what it set off is over."""
    await driven.press(*word, "enter")
    screen = driven.app.screen
    assert isinstance(screen, FixScreen)
    await planned_there(driven, screen)


def test_a_fix_is_planned_applied_verified_and_undone(tmp_path: Path, rules: Callable[..., None]) -> None:
    root = openeuler(tmp_path)
    rules(SAFE)
    before = picture(root)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        assert "[x] 1." in driven.text and "[x] 2." in driven.text and "Nothing is changed yet" in driven.text
        assert "+ID=other" in driven.text and "-ID=openeuler" in driven.text, "the exact difference stands there"
        await driven.press("ctrl+a")
        assert picture(root) == before, "a key alone changes nothing"
        await answered(driven, "y")
        assert "fixed" in driven.text and "done  changing /etc/os-release" in driven.text and "done  looking again" in driven.text
        assert (root / OURS).read_text() == "vm.swappiness = 1\n"
        await driven.press("U")
        await answered(driven, "y")
        assert "put back" in driven.text
        assert picture(root) == before
        await driven.press("escape")
        await driven.examined()
        assert DROPPED_RULE in driven.text, "the list was asked again, and the cause is back"

    drive(job_at(root), act)


def test_what_was_fixed_leaves_the_list(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)
    root = openeuler(tmp_path)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        await driven.press("A")
        await answered(driven, "yes")
        await driven.press("ctrl+a")
        assert any("applied already" in note for note in driven.notes)
        await driven.press("escape")
        await driven.examined()
        assert DROPPED_RULE not in driven.text

    drive(job_at(root), act)


def test_a_sysctl_below_a_root_waits_for_its_boot_and_is_undone(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(RULE)
    root = make_root(tmp_path / "root")
    before = picture(root)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        await driven.press("ctrl+a")
        await answered(driven, "y")
        assert "next boot" in driven.text.replace("\n", " ") and "doctor undo" in driven.text
        assert (root / DROP_IN).read_text().endswith("vm.swappiness = 1\n")
        await driven.press("U")
        await answered(driven, "y")
        assert picture(root) == before

    drive(job_at(root), act, (120, 40))


@pytest.mark.parametrize("word", ["n", "", "Y es"])
def test_only_a_clear_yes_applies(tmp_path: Path, rules: Callable[..., None], word: str) -> None:
    rules(SAFE)
    root = openeuler(tmp_path)
    before = picture(root)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        await driven.press("ctrl+a", *(key if key != " " else "space" for key in word), "enter")
        assert any("not confirmed" in note for note in driven.notes)
        await driven.press("ctrl+a", "y", "escape")
        assert "Type y" not in driven.text and isinstance(driven.app.screen, FixScreen)
        assert picture(root) == before

    drive(job_at(root), act)


def test_a_fix_that_changes_behaviour_wants_the_name_of_its_rule(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(ASK)
    root = openeuler(tmp_path)
    before = picture(root)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        await driven.press("ctrl+a")
        assert DROPPED_RULE in driven.text.partition("Type")[2]
        await answered(driven, "y")
        assert picture(root) == before and any("not confirmed" in note for note in driven.notes)
        await driven.press("ctrl+a")
        await answered(driven, DROPPED_RULE.replace("-", "-"))
        assert (root / OURS).exists()

    drive(job_at(root), act)


def test_no_lower_case_key_changes_anything(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)
    root = openeuler(tmp_path)
    before = picture(root)

    async def act(driven: Driven) -> None:
        for key in "abcdefghijkmoruvwxyz":  # l opens a screen, n NPUs, q leaves, s saves, p and t are here for nothing
            await driven.press(key)
            assert not isinstance(driven.app.screen, FixScreen)
            while not isinstance(driven.app.screen, CheckupScreen):
                await driven.press("escape")
        await driven.press("escape")
        await driven.examined()
        await fix_opened(driven)
        for key in "abcefghijkmnoprtuvwxyz":
            await driven.press(key)
            await driven.press("enter", "enter")
        assert picture(root) == before

    drive(job_at(root), act)


def test_a_step_is_switched_off_and_on(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)
    root = openeuler(tmp_path)

    async def act(driven: Driven) -> None:
        screen = await fix_opened(driven)
        await driven.press("down", "space")
        await driven.until("1 of 2 steps")
        assert "[ ] 2." in driven.text
        await driven.press("space")
        await driven.until("2 of 2 steps")
        await driven.press("space")
        await driven.until("1 of 2 steps")
        await planned_there(driven, screen)
        await driven.press("ctrl+a")
        await answered(driven, "y")
        assert "fixed" in driven.text and (root / "etc/os-release").read_text() == "ID=other\n"
        assert not (root / OURS).exists(), "the step that is off was not made"

    drive(job_at(root), act)


def test_with_every_step_off_nothing_can_be_applied(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        await driven.press("space")
        await driven.until("1 of 2 steps")
        await driven.press("down", "space")
        await driven.until("Every step is off")
        await driven.press("ctrl+a")
        assert "Type y" not in driven.text

    drive(job_at(openeuler(tmp_path)), act)


def test_a_plan_is_refused_where_the_machine_changed_meanwhile(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)
    root = openeuler(tmp_path)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        (root / "etc/sysctl.d").mkdir()
        (root / OURS).write_text("vm.swappiness = 5\n")
        await driven.press("ctrl+a")
        await answered(driven, "y")
        assert "not the one that was reviewed" in driven.text.replace("\n", " ")
        assert (root / OURS).read_text() == "vm.swappiness = 5\n" and (root / "etc/os-release").read_text() == "ID=openeuler\n"
        await driven.press("ctrl+a")  # the plan was made anew
        await answered(driven, "y")
        assert (root / OURS).read_text() == "vm.swappiness = 1\n"

    drive(job_at(root), act, (120, 40))


def test_what_does_not_help_is_put_back(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE.replace("ID=other", "'ID=\"openeuler\"'"))
    root = openeuler(tmp_path)
    before = picture(root)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        await driven.press("ctrl+a")
        await answered(driven, "y")
        assert "rolled back" in driven.text and "putting everything back" in driven.text
        assert picture(root) == before

    drive(job_at(root), act, (120, 40))


def test_an_undo_is_refused_where_something_else_changed_it_and_shows_how(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)
    root = openeuler(tmp_path)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        await driven.press("ctrl+a")
        await answered(driven, "y")
        (root / OURS).write_text("vm.swappiness = 7\n")
        await driven.press("U")
        await answered(driven, "y")
        assert "changed by something else" in driven.text.replace("\n", " ") and "+vm.swappiness = 7" in driven.text
        assert (root / OURS).read_text() == "vm.swappiness = 7\n"

    drive(job_at(root), act, (120, 40))


def test_nothing_is_left_while_the_machine_is_being_changed(tmp_path: Path, rules: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    rules(SAFE)
    root = openeuler(tmp_path)
    held, reached = threading.Event(), threading.Event()

    def verified(*_: object) -> Verification:
        reached.set()
        held.wait(PATIENCE)
        return Verification(Judged.CLEAR)

    monkeypatch.setattr("doctor.apply.engine._verified", verified)

    async def act(driven: Driven) -> None:
        screen = await fix_opened(driven)
        await driven.press("ctrl+a", "y", "enter")
        await asyncio.to_thread(reached.wait, PATIENCE)
        try:
            await driven.press("escape", "q", "ctrl+c")
            assert driven.app.screen is screen and driven.app.is_running
            assert sum("finished or put back" in note for note in driven.notes) >= 1
            await driven.press("space", "U", "ctrl+a")
            await driven.until("now   looking again")
        finally:
            held.set()
        await planned_there(driven, screen)
        assert "fixed" in driven.text
        await driven.press("escape")
        assert isinstance(driven.app.screen, CheckupScreen)

    drive(job_at(root), act, (120, 40))


CLOSED = """
import sys, threading
from pathlib import Path
from types import SimpleNamespace
import doctor.apply.engine as engine
import doctor.rulebook
from doctor.apply.making import Judged, Verification
from doctor.host.live import LiveHost
from doctor.tui.fixjob import Making, place_of, planned
from doctor.tui.job import HostJob
from doctor.tui.run import _finish
from doctor.tui.words import speaker
from tests.apply.trees import book_of
root, rule = sys.argv[1:3]
book = book_of(Path(rule).read_text())
doctor.rulebook.load = lambda: book
verifying = threading.Event()

def verified(*_):
    verifying.set()
    sys.stdin.readline()
    return Verification(Judged.CLEAR)

engine._verified = verified
place, making = place_of(HostJob(LiveHost(root), root=root), None), Making()
reviewed = planned(place, "host-drop-in-missing").plan.hash
threading.Thread(target=making.apply, args=(place, ("host-drop-in-missing",), reviewed, frozenset()), daemon=True).start()
verifying.wait()
_finish(SimpleNamespace(makings=[making], speak=speaker("en")))
"""


def test_the_app_waits_for_a_change_that_is_under_way(tmp_path: Path) -> None:
    """A closed terminal ends the app, not the change: it is verified and told to the journal first."""
    root, rule, program = openeuler(tmp_path), tmp_path / "rule.yaml", tmp_path / "program.py"
    rule.write_text(SAFE)
    program.write_text(CLOSED)
    argv = [sys.executable, str(program), str(root), str(rule)]
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(REPOSITORY)}, text=True)
    try:
        assert child.stderr is not None and child.stdin is not None
        assert "finished or put back" in child.stderr.readline()
        for sign in (signal.SIGHUP, signal.SIGINT):
            child.send_signal(sign)
        _, talk = child.communicate("go on\n", timeout=PATIENCE)
        assert child.returncode == 0, talk
    finally:
        child.kill()
        child.wait()
    place = place_of(job_at(root), None)
    assert isinstance(place, Place)
    told = journal(place)
    assert isinstance(told, tuple) and [one.outcome for one in told] == ["fixed"]


async def history_opened(driven: Driven) -> None:
    await driven.press("H")
    assert isinstance(driven.app.screen, HistoryScreen)
    await driven.until("transactions")


def applied_at(root: Path) -> None:
    place = place_of(job_at(root), None)
    assert isinstance(place, Place)
    plan = planned(place, DROPPED_RULE).plan
    assert plan is not None
    Making().apply(place, (DROPPED_RULE,), plan.hash, frozenset())
    assert (root / OURS).exists()


def test_an_earlier_fix_is_listed_and_put_back(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)
    root = openeuler(tmp_path)
    before = picture(root)
    applied_at(root)

    async def act(driven: Driven) -> None:
        assert DROPPED_RULE not in driven.text
        await history_opened(driven)
        assert re.search(f"{DROPPED_RULE}/write-drop-in +fixed", driven.text)
        assert "/" + OURS in driven.text, "what it changed is told"
        await driven.press("U", "n", "enter")
        assert picture(root) != before
        await driven.press("U", "y", "enter")
        await driven.until("undone")
        assert picture(root) == before
        await driven.press("escape", "escape")
        await driven.examined()
        assert DROPPED_RULE in driven.text, "the cause is back on the list"
        await history_opened(driven)
        await driven.press("U")
        assert "Type y" not in driven.text

    drive(job_at(root), act)


def test_an_interrupted_run_is_named_and_put_back(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)
    root = openeuler(tmp_path)
    before = picture(root)
    place = place_of(job_at(root), None)
    assert isinstance(place, Place)
    plan = planned(place, DROPPED_RULE).plan
    assert plan is not None
    assert stopped_at(6, lambda reached: apply_plan(replace(place.site(), reached=reached), (DROPPED_RULE,), plan.hash))
    assert picture(root) != before

    async def act(driven: Driven) -> None:
        await history_opened(driven)
        assert "INTERRUPTED" in driven.text
        await driven.press("U", "y", "enter")
        await driven.until("undone")
        assert picture(root) == before

    drive(job_at(root), act)


def test_history_in_read_only_has_no_undo(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)
    root = openeuler(tmp_path)
    applied_at(root)

    async def act(driven: Driven) -> None:
        await history_opened(driven)
        assert "U Undo" not in driven.lines[-1]
        await driven.press("U")
        assert "Type y" not in driven.text

    drive(job_at(root), act, read_only=True)


@pytest.mark.parametrize("job", [text_job("x"), HostJob(open_host(HOSTS / "a2-old-driver"))], ids=["log", "recording"])
def test_there_is_no_history_of_a_log_or_a_recording(rules: Callable[..., None], job: Any) -> None:
    rules(SAFE)

    async def act(driven: Driven) -> None:
        await driven.press("H", "U", "r", "y")
        assert isinstance(driven.app.screen, HistoryScreen) and "Type y" not in driven.text

    drive(job, act)


def test_read_only_has_no_fix(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)

    async def act(driven: Driven) -> None:
        assert " Fix  " not in driven.lines[-1]
        await driven.press("F")
        assert isinstance(driven.app.screen, CheckupScreen)
        await driven.press("question_mark")
        assert "  F " not in driven.text and "Nothing here changes the machine." in driven.text
        await driven.press("escape", "enter", "F")
        assert not isinstance(driven.app.screen, FixScreen)
        driven.app.open_fix(driven.app.job, None, DROPPED_RULE)
        assert not isinstance(driven.app.screen, FixScreen)

    drive(job_at(openeuler(tmp_path)), act, (120, 40), read_only=True)


def test_a_recording_is_planned_but_not_changed(rules: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    rules(RULE.replace("sysctl.vm.swappiness: '> 10'", "os.id: openeuler"))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a recording is not applied to")

    monkeypatch.setattr("doctor.apply.engine.apply_plan", never)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        assert "recording cannot be changed" in driven.text and "vm.swappiness" in driven.text
        await driven.press("ctrl+a")
        assert "Type y" not in driven.text

    drive(HostJob(open_host(HOSTS / "a2-old-driver")), act)


def test_who_is_no_root_is_told_so_before_he_tries(tmp_path: Path, rules: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    rules(RULE)

    def unfit(*_: object) -> None:
        raise RefusedError("needs-root")

    monkeypatch.setattr("doctor.apply.engine.refuse_unfit", unfit)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        assert "needs root" in driven.text
        await driven.press("ctrl+a")
        assert "Type y" not in driven.text

    drive(job_at(make_root(tmp_path / "root")), act)


def test_a_doctor_that_others_could_change_changes_nothing(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        assert "/home/eve/doctor can be changed by others" in driven.text
        await driven.press("ctrl+a")
        assert "Type y" not in driven.text

    drive(job_at(openeuler(tmp_path)), act, unsafe="/home/eve/doctor")


def test_a_log_alone_says_where_to_fix_it() -> None:
    told = place_of(text_job("x"), None)
    assert isinstance(told, Told) and told.key == "fix_log_only"


def test_a_row_without_a_fix_says_so() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("F")
        assert any("no fix" in note for note in driven.notes) and isinstance(driven.app.screen, CheckupScreen)

    drive(MadeJob(report()), act)


def test_hostile_text_is_shown_as_it_is_and_does_nothing(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)
    root = make_root(tmp_path / "root", {"/etc/os-release": "ID=openeuler\nNAME='[/nope][red]\x1b[31m\u202e[@click=app.quit]x[/]'\n", "/etc/hostname": "[/b]evil\n"})

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        assert "[/nope][red]" in driven.text and "[/b]evil" not in driven.lines[0].partition("root")[0]
        assert "\x1b" not in driven.text and "\u202e" not in driven.text
        await driven.press("ctrl+a")
        await answered(driven, "y")
        await driven.press("d")

    drive(job_at(root), act, (120, 40))


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40)])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_it_fits_and_can_be_retold(tmp_path: Path, rules: Callable[..., None], size: tuple[int, int], language: str) -> None:
    from doctor.text import cell_width

    rules(SAFE)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        for keys in ((), ("ctrl+a",), ("escape", "L")):
            await driven.press(*keys)
            assert {cell_width(line) for line in driven.lines} == {size[0]}
        assert ("尚未改动" in driven.text) is (language == "en")

    drive(job_at(openeuler(tmp_path)), act, size, language)


ENVIRONMENT = SAFE[: SAFE.index("  do:")] + """
  do:
  - environment: {set: {OMP_NUM_THREADS: '8'}}
"""


async def typed(driven: Driven, name: str, text: str) -> InputsScreen:
    """Puts a text into an input of the plan."""
    screen = driven.app.screen
    assert isinstance(screen, InputsScreen)
    screen.items.highlighted = [field.name for field in screen._fields].index(name)
    await driven.press("enter")
    screen.query_one("#answer").value = text  # type: ignore[attr-defined]
    await driven.press("enter")
    return screen


def test_a_plan_is_asked_for_what_it_lacks_and_made_anew_with_it(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(ENVIRONMENT)
    (tmp_path / "deploy").mkdir()
    target = tmp_path / "deploy" / "vllm.override.yaml"

    async def act(driven: Driven) -> None:
        screen = await fix_opened(driven)
        await driven.press("i")
        inputs = driven.app.screen
        assert isinstance(inputs, InputsScreen) and [field.name for field in inputs._fields] == ["form", "to", "unit"]
        await driven.press("enter", "enter", "enter", "enter", "escape")
        await driven.until("--to FILE")
        assert inputs._values["form"] == "compose" and "i: what this plan can be given" in " ".join(driven.text.split())
        await driven.press("i")
        await typed(driven, "to", "/nowhere/x.yaml")
        assert "/nowhere/x.yaml is no place for a file" in driven.text
        await driven.press("escape")
        await typed(driven, "to", str(target))
        await typed(driven, "unit", "[/nope]vllm")
        await driven.press("escape")
        await planned_there(driven, screen)
        assert not target.exists() and driven.app.screen is screen, "a plan writes nothing"
        await driven.until("OMP_NUM_THREADS")
        assert "[/nope]vllm" in driven.text and screen._planned is not None

    drive(job_at(openeuler(tmp_path)), act, (120, 40))


def test_a_plan_that_takes_nothing_says_so(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)

    async def act(driven: Driven) -> None:
        await fix_opened(driven)
        await driven.press("i")
        assert isinstance(driven.app.screen, FixScreen) and driven.notes[-1] == "This plan takes no inputs."

    drive(job_at(openeuler(tmp_path)), act)


def test_what_is_typed_reaches_the_engine_whole(tmp_path: Path) -> None:
    from doctor.apply.kind import Choices
    from doctor.tui.fixinputs import BY_KIND, choices_of

    (tmp_path / "a b.run").touch()
    given = {"package": f"'{tmp_path}/a b.run' {tmp_path}", "wheels": str(tmp_path), "pids": "4711, 4712", "form": "shell", "online": "yes", "to": "", "unit": "vllm"}
    fields = {field.name: field for kind in BY_KIND.values() for field in kind}
    assert set(fields) == set(given) and all(field.check(given[name]) is None for name, field in fields.items() if not field.choices and given[name])
    packages = (f"{tmp_path}/a b.run", str(tmp_path))
    assert choices_of(given) == Choices("shell", "", "vllm", packages[0], str(tmp_path), (4711, 4712), packages, online=True)
    assert choices_of({"form": "auto", "online": "no"}) == Choices()
    for name, text in (("package", "/nowhere"), ("package", "'x"), ("wheels", "/nowhere"), ("pids", "1"), ("pids", "x"), ("to", "/nowhere/x")):
        assert fields[name].check(text) is not None


def test_every_kind_of_step_that_reads_a_choice_is_asked_for_it() -> None:
    """A step that takes a choice which the app does not ask for could only be planned by the command."""
    import ast

    from doctor.apply.kind import MODULES
    from doctor.tui.fixinputs import BY_KIND

    named = {"packages": "package"}
    for kind, module in MODULES.items():
        source = (REPOSITORY / "doctor/apply/steps" / f"{module}.py").read_text(encoding="utf-8")
        read = {node.attr for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "context.choices"}
        asked = {field.name for field in BY_KIND.get(kind, ())}
        assert {named.get(name, name) for name in read} <= asked, kind


def test_steps_go_with_those_that_they_need() -> None:
    from doctor.apply.plan import FixPlan, Plan, StepPlan
    from doctor.fix import Safety, WriteFile
    from doctor.words import Words

    word, action = Words("x", "x"), WriteFile("/x", "y")
    first = StepPlan("a", action, word)
    steps = (first, replace(first, key="b", after=("a",)), replace(first, key="c", after=("b",)), replace(first, key="d"))
    plan = Plan("/", "m", (FixPlan("r", "f", "", word, word, Safety.SAFE, steps),))
    assert pulled(plan, frozenset({("r", "a")})) == {("r", "a"), ("r", "b"), ("r", "c")}


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("language", LANGUAGES)
def test_letter_by_letter(rules: Callable[..., None], language: str, size: tuple[int, int]) -> None:
    rules(SAFE)

    async def act(driven: Driven) -> None:
        screen = await fix_opened(driven)
        compared("fix", language, size, driven.lines)
        screen._place = Place(screen._place.site)  # type: ignore[union-attr]
        screen._planned = replace(screen._planned, hindrance=None)  # type: ignore[type-var]
        await driven.press("down", "space")
        await driven.until("[ ]")
        await planned_there(driven, screen)
        screen._planned = replace(screen._planned, hindrance=None)  # type: ignore[type-var]
        await driven.press("ctrl+a")
        compared("fix-confirm", language, size, driven.lines)
        await driven.press("escape")
        making = screen._making = Making()
        making.events += [Event("begin", DROPPED_RULE), Event("change", DROPPED_RULE, "file", "/etc/os-release"), Event("done", DROPPED_RULE, "file", "/etc/os-release"), Event("verify", DROPPED_RULE)]
        making.applied = (Applied(DROPPED_RULE, "write-drop-in", Outcome.ROLLED_BACK, "t-1", "the rule still finds the cause"),)
        making.over.set()
        await driven.press("d")
        compared("fix-result", language, size, driven.lines)

    drive(HostJob(open_host(HOSTS / "a2-old-driver")), act, size, language)


def test_reports_name_the_command_where_doctor_can_do_it(tmp_path: Path, rules: Callable[..., None]) -> None:
    rules(SAFE)

    async def act(driven: Driven) -> None:
        screen = driven.app.screen
        assert isinstance(screen, CheckupScreen)
        assert f"doctor can do this: doctor fix {DROPPED_RULE}\n" in screen.plain_text()
        await driven.press("enter")
        assert f"doctor fix {DROPPED_RULE}" in driven.text

    drive(job_at(openeuler(tmp_path)), act, (120, 40))


def test_the_command_names_the_fix_where_there_are_several_and_the_log_where_only_that_tells() -> None:
    from doctor.finding import Basis
    from doctor.fix import Fix, Safety, WriteFile
    from doctor.report.text_format import fix_command
    from doctor.words import Words
    from tests.tui.made import RULES, finding

    does = Fix("one", Words("x", "x"), Safety.SAFE, (), do=(WriteFile("/x", "y"),))
    shown, by_hand = replace(does, id="two", safety=Safety.SHOW), replace(does, id="three", do=())
    alone = replace(finding(RULES[0]), fixes=(does, shown, by_hand))
    assert [fix_command(alone, fix) for fix in alone.fixes] == ["doctor fix driver-too-old", "", ""]
    several = replace(alone, fixes=(does, replace(does, id="four")), basis=Basis.LOG)
    assert fix_command(several, does) == "doctor fix driver-too-old/one --log FILE"


@pytest.mark.parametrize("given", [(), ("--read-only",)])
def test_the_command_line_opens_it_read_only_and_knows_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...]) -> None:
    from doctor.cli import run

    opened: list[tuple[Any, dict[str, Any]]] = []
    monkeypatch.setattr("doctor.tui.terminal.why_not", lambda: "")
    monkeypatch.setattr("doctor.tui.run.open_app", lambda job, chosen, **more: opened.append((job, more)))
    root = openeuler(tmp_path)
    assert run(["tui", "--root", str(root), *given]) == 0
    assert run(["tui", "--from", str(HOSTS / "a2-old-driver"), *given]) == 0
    assert [job.root for job, _ in opened] == [str(root), ""]
    assert {more["read_only"] for _, more in opened} == {bool(given)}


def test_only_doctors_own_command_starts_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    from doctor.apply.isolate import own_arguments

    for name, ours in (("/usr/bin/doctor", True), ("/x/doctor/__main__.py", True), ("/x/pytest/__main__.py", False), ("", False)):
        monkeypatch.setattr("sys.argv", [name, "tui"])
        assert own_arguments() == (["tui"] if ours else None)
