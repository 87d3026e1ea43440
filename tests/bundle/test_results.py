"""The newest watch and smoke test: found where they are kept, cut, cleaned, and never a reason to fail."""

from __future__ import annotations

import json
from pathlib import Path

from doctor.bundle.results import LARGEST, keep_smoke, newest_results
from doctor.watch.background import newest_smoke, state_folder


def test_a_kept_smoke_test_is_the_newest_and_its_users_alone(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    assert newest_results(environ, 1000) == []
    keep_smoke({"exit_code": 1}, environ, 1000)
    keep_smoke({"exit_code": 0, "text": "显存"}, environ, 1000)
    ((item, name, text),) = newest_results(environ, 1000)
    assert (item, name) == ("smoke:newest", "results/smoke.json") and json.loads(text) == {"exit_code": 0, "text": "显存"}
    path = newest_smoke(environ, 1000)
    assert path.stat().st_mode & 0o777 == 0o600 and [each.name for each in path.parent.iterdir()] == [path.name]


def test_where_it_cannot_be_kept_nothing_happens(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environ = {"XDG_STATE_HOME": str(tmp_path / "file")}
    keep_smoke({"exit_code": 0}, environ, 1000)
    assert newest_results(environ, 1000) == []


def test_of_several_watches_the_end_of_the_newest_is_taken_and_cleaned(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    folder = state_folder(environ, 1000)
    folder.mkdir(parents=True)
    (folder / "watch-20260101T000000Z-1.ndjson").write_text('{"t": 1}\n')
    (folder / "watch-20260201T000000Z-1.ndjson").write_text("x" * 2**20 + '\n{"t": 2}\x1b[31m\n')
    assert newest_results(environ, 1000) == [("watch:newest", "results/watch.ndjson", '{"t": 2}\n')]


def test_a_result_that_is_too_large_is_left_out(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    keep_smoke({"text": "x" * LARGEST}, environ, 1000)
    assert newest_results(environ, 1000) == []
