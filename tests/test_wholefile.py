"""A file is there whole or not at all; what fails leaves the old one and nothing beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from doctor.statehome import newest_smoke, state_home, watches
from doctor.watch.background import state_folder
from doctor.wholefile import whole_file


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("old")
    with whole_file(str(place), 0o640) as file:
        file.write(b"new")
        assert place.read_text() == "old"
    assert place.read_text() == "new" and place.stat().st_mode & 0o777 == 0o640 and os.listdir(tmp_path) == ["a"]


def test_what_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_text("old")
    with pytest.raises(ValueError, match="full"), whole_file(str(place), 0o600) as file:
        file.write(b"half")
        raise ValueError("full")
    assert place.read_text() == "old" and os.listdir(tmp_path) == ["a"]


def test_a_folder_in_its_place_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError), whole_file(str(tmp_path / "a"), 0o600) as file:
        file.write(b"x")
    assert os.listdir(tmp_path) == ["a"]


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "a").symlink_to("theirs")
    with whole_file(str(tmp_path / "a"), 0o600) as file:
        file.write(b"mine")
    assert (tmp_path / "theirs").read_text() == "theirs" and not (tmp_path / "a").is_symlink()


def test_where_things_are_kept() -> None:
    assert state_home({"XDG_STATE_HOME": "/s"}, 1000) == Path("/s/ascend-doctor")
    assert state_home({"XDG_STATE_HOME": "relative"}, 0) == Path("/var/lib/ascend-doctor") == state_home({}, 0)
    assert watches({}, 0) == state_folder({}, 0) == Path("/var/lib/ascend-doctor/watch")
    assert newest_smoke({}, 0) == Path("/var/lib/ascend-doctor/smoke/newest.json")
