"""A fix from its plan to its undo on a real tree: applied, judged again, kept or put back; refused where it may not run."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from doctor.apply.change import Ground
from doctor.apply.engine import ForeignError, Outcome, RefusedError, Site, apply_plan, fixable, history, make_plan, undo
from doctor.apply.filechange import FileChange
from doctor.apply.making import Judged, Verification
from doctor.apply.planning import NotPlannable
from doctor.apply.rootfiles import RootFiles
from doctor.apply.statefolder import StateFolder
from tests.apply.stopping import points_of, stopped_at
from tests.apply.trees import RULE, make_root, picture, site_of

NAME = ("host-swappiness-high",)
DROP_IN = "etc/sysctl.d/99-zz-ascend-doctor-vm-swappiness.conf"

TWO_FILES = """
id: host-two-files
severity: warn
title: {en: Two files., zh: 两个文件。}
why: {en: A test., zh: 测试。}
decide:
- when: {sysctl.vm.swappiness: '> 10'}
fixes:
- id: write-both
  title: {en: Write both, zh: 写两个文件}
  safety: safe
  steps: [write]
  do:
  - file: {path: /etc/there.conf, content: new}
  - file: {path: /etc/deep/er/made.conf, content: made, mode: '0600'}
  - file: {path: /etc/others.conf, content: mine, block: ours}
"""


@pytest.fixture
def unverifiable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule cannot look after the change, so that the change stays."""
    monkeypatch.setattr("doctor.apply.engine._verified", lambda place, fix: Verification(Judged.UNKNOWN, "not told"))


def planned(site: Site, names: tuple[str, ...] = NAME) -> str:
    return make_plan(site.look(), names).hash


def test_a_plan_changes_nothing(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root")
    before = picture(root)
    plan = make_plan(site_of(root).look(), NAME)
    assert plan.applicable and "vm.swappiness = 1" in plan.steps[0].changes[0].diff()
    assert [item.name for item in fixable(site_of(root).look())] == ["host-swappiness-high/set-swappiness"]
    assert picture(root) == before and not (root / "var").exists()


def test_applied_told_and_undone(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root")
    site, before = site_of(root), picture(root)
    (done,) = apply_plan(site, NAME, planned(site))
    assert done.outcome is Outcome.PENDING  # the running value is another machine's, until its next boot
    assert (root / DROP_IN).read_text().endswith("vm.swappiness = 1\n") and (root / DROP_IN).stat().st_mode & 0o777 == 0o644
    (told,) = history(site)
    assert told.outcome == "pending" and told.told["who"]["user"] == "tester" and [made.done for made in told.changes] == [True]
    assert (root / "var/lib/ascend-doctor").stat().st_mode & 0o777 == 0o700
    assert (root / f"var/lib/ascend-doctor/transactions/{told.ident}/snapshot/manifest.json").exists()
    assert undo(site).put_back.subjects == ("/" + DROP_IN,)
    assert picture(root) == before
    with pytest.raises(RefusedError, match="nothing-to-undo"):
        undo(site)


def test_applied_twice_changes_nothing(tmp_path: Path) -> None:
    site = site_of(make_root(tmp_path / "root"))
    apply_plan(site, NAME, planned(site))
    plan = make_plan(site.look(), NAME)
    assert plan.fixes[0].already and not plan.applicable
    (done,) = apply_plan(site, NAME, plan.hash)
    assert done.outcome is Outcome.NOTHING and len(history(site)) == 1


def test_a_plan_whose_facts_changed_is_refused(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root")
    site = site_of(root)
    reviewed = planned(site)
    (root / "etc/sysctl.d").mkdir()
    (root / DROP_IN).write_text("vm.swappiness = 5\n")
    before = picture(root)
    with pytest.raises(RefusedError, match="stale"):
        apply_plan(site, NAME, reviewed)
    assert picture(root) == before and not history(site) and not any((root / "var/lib/ascend-doctor/transactions").iterdir())


def test_a_cause_that_is_not_there_is_not_fixed(tmp_path: Path) -> None:
    site = site_of(make_root(tmp_path / "root", {"/proc/sys/vm/swappiness": "1\n"}))
    with pytest.raises(NotPlannable, match="clear"):
        make_plan(site.look(), NAME)
    with pytest.raises(NotPlannable, match="unknown"):
        make_plan(site.look(), ("host-none-such",))
    with pytest.raises(NotPlannable, match="no-such-fix"):
        make_plan(site.look(), ("host-swappiness-high/other",))


def test_fixed_is_said_only_when_the_rule_is_clear(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_root(tmp_path / "root")
    site = site_of(root)
    monkeypatch.setattr("doctor.apply.engine._verified", lambda place, fix: Verification(Judged.CLEAR))
    (done,) = apply_plan(site, NAME, planned(site))
    assert done.outcome is Outcome.FIXED


def now(rule: str) -> str:
    """The rule under another condition, one that a file of the root decides at once."""
    return rule.replace("sysctl.vm.swappiness: '> 10'", "os.id: openeuler").replace("/etc/there.conf", "/etc/os-release")


def test_what_does_not_help_is_put_back_and_offered_no_third_time(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", {"/etc/os-release": "ID=openeuler\n", "/etc/others.conf": "theirs\n"})
    wrong = TWO_FILES.replace("sysctl.vm.swappiness: '> 10'", "os.id: openeuler")
    site, before = site_of(root, wrong), picture(root)
    for _ in range(2):
        (done,) = apply_plan(site, ("host-two-files",), planned(site, ("host-two-files",)))
        assert done.outcome is Outcome.ROLLED_BACK and "still finds" in done.why
        assert picture(root) == before
    with pytest.raises(RefusedError, match="failed-twice"):
        apply_plan(site, ("host-two-files",), planned(site, ("host-two-files",)))
    with pytest.raises(RefusedError, match="nothing-to-undo"):
        undo(site)


def test_what_helps_is_kept(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", {"/etc/os-release": "ID=openeuler\n"})
    right = now(TWO_FILES).replace("content: new", "content: ID=other")
    site = site_of(root, right)
    (done,) = apply_plan(site, ("host-two-files",), planned(site, ("host-two-files",)))
    assert done.outcome is Outcome.FIXED and (root / "etc/os-release").read_text() == "ID=other\n"


def test_undo_refuses_where_something_else_changed_it_and_shows_how(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root")
    site = site_of(root)
    apply_plan(site, NAME, planned(site))
    (root / DROP_IN).write_text("vm.swappiness = 7\n")
    with pytest.raises(ForeignError) as refused:
        undo(site)
    assert "+vm.swappiness = 7" in refused.value.foreign[0].difference and "-vm.swappiness = 1" in refused.value.foreign[0].difference
    assert (root / DROP_IN).read_text() == "vm.swappiness = 7\n"


@pytest.mark.usefixtures("unverifiable")
def test_an_older_fix_of_the_same_file_names_the_newer_one(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", {"/etc/others.conf": "theirs\n"})
    first = TWO_FILES.replace("block: ours", "block: first").replace("host-two-files", "host-first-block")
    second = TWO_FILES.replace("block: ours", "block: second").replace("mine", "more").replace("host-two-files", "host-second-block")
    site = site_of(root, first, second)
    both = ("host-first-block", "host-second-block")
    before = picture(root)
    results = apply_plan(site, both, planned(site, both))  # the second is planned on top of the first
    assert [done.outcome for done in results] == [Outcome.PENDING, Outcome.PENDING]
    assert "mine" in (root / "etc/others.conf").read_text() and "more" in (root / "etc/others.conf").read_text()
    with pytest.raises(ForeignError) as refused:
        undo(site, results[0].transaction)
    assert refused.value.foreign[0].later == results[1].transaction
    undo(site, results[1].transaction)
    undo(site, results[0].transaction)
    assert picture(root) == before


@pytest.mark.parametrize(("kill", "kept"), [(False, False), (False, True), (True, True)], ids=["put back", "kept", "kill -9"])
def test_stopped_anywhere_it_can_be_undone(tmp_path: Path, kill: bool, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = Judged.UNKNOWN if kept else Judged.FOUND
    monkeypatch.setattr("doctor.apply.engine._verified", lambda place, fix: Verification(judged))
    files = {"/etc/there.conf": "old\n", "/etc/others.conf": "theirs\n"}
    name = ("host-two-files",)

    def run(root: Path, reached: object) -> object:
        site = site_of(root, TWO_FILES, reached=reached)
        return apply_plan(site, name, planned(site, name))

    points = points_of(lambda reached: run(make_root(tmp_path / "whole", files), reached))
    assert len(points) > 15
    for number in range(1, len(points) + 1):
        root = make_root(tmp_path / f"{number}", files)
        os.chmod(root / "etc/there.conf", 0o640)
        before = picture(root)
        assert stopped_at(number, lambda reached, root=root: run(root, reached), kill=kill)  # type: ignore[misc]
        site = site_of(root, TWO_FILES)
        ended = history(site)[0].outcome
        if not ended:
            with pytest.raises(RefusedError, match="interrupted"):
                apply_plan(site, name, "")
        if history(site)[0].standing or not ended:
            undo(site)
        assert picture(root) == before, points[number - 1]


@pytest.mark.usefixtures("unverifiable")
def test_an_undo_that_is_stopped_anywhere_can_be_run_again(tmp_path: Path) -> None:
    files = {"/etc/there.conf": "old\n", "/etc/others.conf": "theirs\n"}
    name = ("host-two-files",)

    def prepared(folder: Path) -> tuple[Path, dict[str, tuple[object, ...]]]:
        root = make_root(folder, files)
        before = picture(root)
        site = site_of(root, TWO_FILES)
        apply_plan(site, name, planned(site, name))
        return root, before

    whole, _ = prepared(tmp_path / "whole")
    points = points_of(lambda reached: undo(site_of(whole, TWO_FILES, reached=reached)))
    assert len(points) >= 9
    for number in range(1, len(points) + 1):
        root, before = prepared(tmp_path / f"{number}")
        assert stopped_at(number, lambda reached, root=root: undo(site_of(root, TWO_FILES, reached=reached)))  # type: ignore[misc]
        undo(site_of(root, TWO_FILES))
        assert picture(root) == before, points[number - 1]


def test_a_full_disk_at_any_write_puts_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ENOSPC from a stand-in of `os.write` for files that doctor makes in the tree; the journal has its own case below."""
    root = make_root(tmp_path / "root", {"/etc/there.conf": "old\n", "/etc/others.conf": "theirs\n"})
    site, before, name = site_of(root, TWO_FILES), picture(root), ("host-two-files",)
    real, writes = os.write, [0]

    def full(descriptor: int, data: bytes) -> int:
        target = os.readlink(f"/proc/self/fd/{descriptor}")
        if ".ascend-doctor-" in target and "/etc/" in target:
            writes[0] += 1
            if writes[0] == 2:
                raise OSError(28, "No space left on device", target)
        return real(descriptor, data)

    reviewed = planned(site, name)
    monkeypatch.setattr("doctor.apply.rootfiles.os.write", full)
    (done,) = apply_plan(site, name, reviewed)
    monkeypatch.undo()
    assert done.outcome is Outcome.ROLLED_BACK and "No space left" in done.why
    assert picture(root) == before


def test_two_runs_at_once(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root")
    site = site_of(root)
    reviewed = planned(site)
    inside, leave = threading.Event(), threading.Event()

    def wait(point: str) -> None:
        inside.set()
        assert leave.wait(60)

    other = threading.Thread(target=lambda: apply_plan(replace(site, reached=wait), NAME, reviewed))
    other.start()
    assert inside.wait(60)
    try:
        for attempt in (lambda: apply_plan(site, NAME, reviewed), lambda: undo(site)):
            with pytest.raises(RefusedError, match=f"busy: {os.getpid()}"):
                attempt()
    finally:
        leave.set()
        other.join()
    assert len(history(site)) == 1


def test_a_journal_that_was_altered_is_not_believed(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root")
    site = site_of(root)
    apply_plan(site, NAME, planned(site))
    journal = root / "var/lib/ascend-doctor/journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    told = json.loads(lines[1])
    told["change"]["path"] = "/etc/passwd"
    journal.write_text(lines[0] + json.dumps(told) + "\n" + "".join(lines[2:]))
    with pytest.raises(RefusedError, match="altered"):
        undo(site)
    assert (root / DROP_IN).exists()


def test_a_torn_last_line_tells_of_nothing(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root")
    site = site_of(root)
    apply_plan(site, NAME, planned(site))
    journal = root / "var/lib/ascend-doctor/journal.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole[:200].replace(b"\n", b""))
    assert len(history(site)) == 1
    undo(site)
    assert not (root / DROP_IN).exists() and all(json.loads(line) for line in journal.read_text().splitlines())


def test_a_change_that_somebody_makes_between_look_and_change_is_not_lost(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", {"/etc/there.conf": "old\n"})
    ground, state = ground_of(root)
    change = FileChange("/etc/there.conf", "old\n", "new\n")
    saved = change.save(ground, "01")
    (root / "etc/there.conf").write_text("theirs\n")
    with pytest.raises(Exception, match="something else"):
        change.make(ground, saved)
    assert (root / "etc/there.conf").read_text() == "theirs\n"
    state.close()


def ground_of(root: Path) -> tuple[Ground, StateFolder]:
    files = RootFiles(str(root))
    state = StateFolder(files, "/var/lib/ascend-doctor")
    ident = "20260101T000000Z-abcdef"
    return Ground(files, state.transaction(ident), lambda argv, timeout=0, env=None: None, False, ident), state  # type: ignore[arg-type]


def test_who_is_no_root_is_told_so(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may")
    site = replace(site_of(tmp_path, RULE.replace("'> 10'", "'>= 0'")), root="/", environ={"XDG_STATE_HOME": str(tmp_path)})
    plan = make_plan(site.look(), NAME)
    with pytest.raises(RefusedError, match=r"needs-root|not-applicable"):
        apply_plan(site, NAME, plan.hash)


@pytest.mark.usefixtures("unverifiable")
def test_a_journal_that_cannot_be_written_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ENOSPC from a stand-in of the journal's writing, at each of its records; once there is room, an undo puts everything back."""
    files, name = {"/etc/there.conf": "old\n", "/etc/others.conf": "theirs\n"}, ("host-two-files",)
    for number in range(1, 9):
        root = make_root(tmp_path / f"{number}", files)
        site, before = site_of(root, TWO_FILES), picture(root)
        reviewed, written = planned(site, name), [0]

        def full(descriptor: int, data: bytes, written: list[int] = written, number: int = number) -> None:
            written[0] += 1
            if written[0] >= number:
                os.write(descriptor, data[:20])
                raise OSError(28, "No space left on device")
            os.write(descriptor, data)

        with monkeypatch.context() as patch:
            patch.setattr("doctor.apply.journal.write_all", full)
            if number == 1:
                with pytest.raises(RefusedError, match="No space"):
                    apply_plan(site, name, reviewed)
            else:
                (done,) = apply_plan(site, name, reviewed)
                assert done.outcome is Outcome.BROKEN_OFF and "No space left" in done.why
        if number > 1:
            undo(site)
        assert picture(root) == before


def test_an_interrupt_from_the_keyboard_goes_back_first(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", {"/etc/there.conf": "old\n", "/etc/others.conf": "theirs\n"})
    before, name = picture(root), ("host-two-files",)

    def interrupt(point: str) -> None:
        if point == "changed 2":
            raise KeyboardInterrupt

    site = site_of(root, TWO_FILES, reached=interrupt)
    with pytest.raises(KeyboardInterrupt):
        apply_plan(site, name, planned(site, name))
    assert picture(root) == before and history(site)[0].outcome == "rolled back"
