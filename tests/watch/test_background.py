"""The pid file is believed only where it names the very process; old sample files are limited, and nothing else is touched."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from doctor.watch.background import KEPT, prune, recorded, running, start_ticks, state_folder, unit


def note(folder: Path, **changes: object) -> None:
    record = {"pid": os.getpid(), "ticks": start_ticks(os.getpid()), "begin": 1.0, "samples": "/x", "settings": [1, 2, 3], **changes}
    (folder / "watch.pid").write_text(json.dumps(record))


def test_a_process_is_known_by_its_start(tmp_path: Path) -> None:
    note(tmp_path)
    found = running(tmp_path)
    assert found is not None and (found.pid, found.settings) == (os.getpid(), (1.0, 2.0, 3.0))


@pytest.mark.parametrize("change", [{"ticks": 1}, {"pid": 1}, {"pid": 999_999_999}, {"settings": [1]}, {"pid": "x"}])
def test_another_process_with_that_number_is_left_alone(change: dict[str, object], tmp_path: Path) -> None:
    note(tmp_path, **change)
    assert running(tmp_path) is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", "null", "x" * 100])
def test_a_broken_pid_file_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "watch.pid").write_text(text)
    assert recorded(tmp_path) is None


def test_only_our_oldest_sample_files_go(tmp_path: Path) -> None:
    names = [f"watch-202601{day:02}T000000Z-1.ndjson" for day in range(1, KEPT + 4)]
    for name in (*names, "watch-mine.ndjson", "precious.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / f"{names[0]}.1").write_text("x")
    prune(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {*names[3:], "watch-mine.ndjson", "precious.txt"}


def test_where_state_is_kept() -> None:
    assert state_folder({"XDG_STATE_HOME": "/s"}, 0) == Path("/s/ascend-doctor/watch")
    assert state_folder({}, 0) == Path("/var/lib/ascend-doctor/watch")
    assert state_folder({"XDG_STATE_HOME": "relative"}, 1000).parts[-3:] == ("state", "ascend-doctor", "watch")


def test_a_unit_quotes_what_systemd_would_expand() -> None:
    assert '"--log" "/a b/100%%\\"x"' in unit(["--log", '/a b/100%"x'])
