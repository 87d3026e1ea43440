"""Files of dead processes in /dev/shm and lock files: real ones, removed only where nobody has them open, and put back as they were."""

from __future__ import annotations

import dataclasses
import mmap
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor.apply.change import ChangeError, Standing
from doctor.apply.leftoverchange import LeftoverChange, state_of, users_of
from doctor.apply.steps import remove_leftover
from doctor.apply.steps.remove_leftover import KIND
from doctor.facts.container import Container
from doctor.facts.target import Target
from doctor.fix import RemoveLeftovers
from doctor.host.live import LiveHost
from tests.apply.grounds import boundaries, context, ground, journaled, stopped_at, undone

OLD = 1_700_000_000


@pytest.fixture
def segment() -> Iterator[Path]:
    path = Path("/dev/shm") / f"psm_{secrets.token_hex(4)}"
    try:
        path.write_bytes(b"content" + bytes(8192) + b"end")
    except OSError:
        pytest.skip("no /dev/shm here")
    path.chmod(0o600)
    os.utime(path, (OLD, OLD))
    yield path
    path.unlink(missing_ok=True)


def change_for(path: Path) -> LeftoverChange:
    found = state_of(str(path))
    assert found is not None
    return found


def planned(*facts: object, which: str = "shm", mine: Path | None = None) -> tuple[list[str], list[str]]:
    """(paths that would be removed, notes), of this test's own file only: other files of the machine are nobody's business."""
    step = KIND.plan("0", RemoveLeftovers(which), context(*facts))
    assert step.blocked is None, step.blocked
    paths = [change.path for change in step.changes if isinstance(change, LeftoverChange)]
    return [path for path in paths if mine is None or path == str(mine)], [note.text.en for note in step.notes if mine is None or str(mine) in note.text.en]


def test_a_stale_segment_is_removed_and_put_back(segment: Path, tmp_path: Path) -> None:
    before, info = segment.read_bytes(), segment.stat()
    assert planned(mine=segment)[0] == [str(segment)]
    change, place = change_for(segment), ground(tmp_path / "journal")
    saved = change.save(place, "f")
    change.make(place, saved)
    assert not segment.exists() and change.look(place) is Standing.AFTER
    assert planned(mine=segment) == ([], [])
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    after = segment.stat()
    assert segment.read_bytes() == before
    assert (after.st_mode, after.st_mtime_ns, after.st_uid) == (info.st_mode, info.st_mtime_ns, info.st_uid)


def test_a_stop_at_any_boundary_can_be_undone(segment: Path, tmp_path: Path) -> None:
    before, change = segment.read_bytes(), change_for(segment)
    points = boundaries(change, tmp_path / "whole")
    assert points
    for number, point in enumerate(points):
        segment.write_bytes(before)
        segment.chmod(0o600)
        os.utime(segment, (OLD, OLD))
        saved = stopped_at(change, tmp_path / f"stop-{number}", point)
        assert undone(change, tmp_path / f"stop-{number}", saved) is Standing.BEFORE
        assert segment.read_bytes() == before


def test_what_a_process_has_open_or_mapped_stays(segment: Path, tmp_path: Path) -> None:
    change = change_for(segment)
    with segment.open("rb") as file:
        assert users_of(str(segment)) == [os.getpid()]
        assert "has it open" in planned(mine=segment)[1][0] and planned(mine=segment)[0] == []
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
            file.close()
            assert users_of(str(segment)) == [os.getpid()]
            with pytest.raises(ChangeError, match="in use"):
                change.make(ground(tmp_path / "journal"), {})
    assert segment.exists() and users_of(str(segment)) == []


def test_a_young_one_may_belong_to_a_start_that_is_under_way(segment: Path) -> None:
    os.utime(segment)
    paths, notes = planned(mine=segment)
    assert paths == [] and "ten minutes" in notes[0]


def test_other_names_are_not_touched(segment: Path) -> None:
    other = segment.with_name(f"database-{secrets.token_hex(4)}")
    segment.rename(other)
    try:
        assert planned(mine=other) == ([], [])
    finally:
        other.unlink()


def test_a_file_that_changed_after_the_plan_stays(segment: Path, tmp_path: Path) -> None:
    change = change_for(segment)
    segment.write_bytes(b"new owner")
    assert change.look(ground(tmp_path / "journal")) is Standing.OTHER
    with pytest.raises(ChangeError, match="changed meanwhile"):
        change.make(ground(tmp_path / "journal"), {})
    assert segment.read_bytes() == b"new owner"


def test_an_undo_does_not_overwrite_what_is_there_by_now(segment: Path, tmp_path: Path) -> None:
    change, place = change_for(segment), ground(tmp_path / "journal")
    saved = change.save(place, "f")
    change.make(place, saved)
    segment.write_bytes(b"a new server's")
    change.unmake(place, saved)
    assert segment.read_bytes() == b"a new server's" and change.look(place) is Standing.OTHER


def test_a_link_is_never_followed(segment: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("keep")
    change = change_for(segment)
    segment.unlink()
    segment.symlink_to(precious)
    assert state_of(str(segment)) is None
    assert change.look(ground(tmp_path / "journal")) is Standing.OTHER
    with pytest.raises((ChangeError, OSError)):
        change.make(ground(tmp_path / "journal"), change.save(ground(tmp_path / "journal"), "f"))
    assert precious.read_text() == "keep"


def test_a_damaged_copy_is_not_put_back(segment: Path, tmp_path: Path) -> None:
    change, place = change_for(segment), ground(tmp_path / "journal")
    saved = change.save(place, "f")
    change.make(place, saved)
    Path(saved["content"]).write_bytes(b"other")
    with pytest.raises(ChangeError, match="not what was kept"):
        change.unmake(place, saved)
    assert not segment.exists() and not list(segment.parent.glob(".ascend-doctor-t-1"))


def test_a_shared_dev_shm_of_a_container_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remove_leftover, "shared_with_host", lambda context: True)
    step = KIND.plan("0", RemoveLeftovers("shm"), context(Container("docker")))
    assert step.blocked is not None and "shared" in step.blocked.en


def test_a_build_s_lock_that_nobody_holds_is_removed(tmp_path: Path) -> None:
    lock = tmp_path / ".cache" / "torch_extensions" / "py311_cpu" / "ops" / "lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("")
    lock.chmod(0o600)
    os.utime(lock, (OLD, OLD))
    target = Target("/opt/v/bin/python", "PATH", {"HOME": str(tmp_path)})
    assert planned(target, which="locks", mine=lock)[0] == [str(lock)]
    with lock.open():
        assert planned(target, which="locks", mine=lock)[0] == []


def test_a_lock_that_a_log_names_is_taken_only_if_it_is_one(tmp_path: Path) -> None:
    def paths(path: Path) -> list[str]:
        step = KIND.plan("0", RemoveLeftovers("locks", str(path)), context())
        return [change.path for change in step.changes if isinstance(change, LeftoverChange)]

    lock, precious, link = tmp_path / "lock", tmp_path / "passwd", tmp_path / "other.lock"
    for path, text in ((lock, ""), (precious, "root:x:0:0"), (tmp_path / "full.lock", "pid 7")):
        path.write_text(text)
        path.chmod(0o600)
        os.utime(path, (OLD, OLD))
    link.symlink_to(precious)
    assert paths(lock) == [str(lock)]
    assert paths(precious) == paths(link) == paths(tmp_path / "full.lock") == paths(tmp_path / "gone.lock") == []
    assert KIND.plan("0", RemoveLeftovers("locks", "<lock>"), context()).blocked is not None


def test_the_journal_gives_the_same_change_back(segment: Path) -> None:
    assert journaled(change_for(segment)) == change_for(segment)
    with pytest.raises(ValueError, match="absolute"):
        LeftoverChange.of({**change_for(segment).data(), "path": "/dev/shm/../../etc/passwd"})


def test_another_root_is_only_looked_at() -> None:
    step = KIND.plan("0", RemoveLeftovers("shm"), dataclasses.replace(context(host=LiveHost("/")), root="/mnt"))
    assert step.blocked is not None
