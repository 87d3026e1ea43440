"""Binary headers come as they are, from the machine, from a hand-made recording, and from a replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from doctor.host import Unavailable, Why
from doctor.host.live import LiveHost
from doctor.host.plain import PlainHost
from doctor.host.recorded import RecordedHost
from doctor.host.recording import RecordingHost


@pytest.mark.parametrize("make", [lambda folder: LiveHost(str(folder)), lambda folder: PlainHost(folder.parent)], ids=["live", "plain"])
def test_raw_bytes_come_as_they_are(make: Any, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    (folder / "m").mkdir(parents=True)
    (folder / "m" / "a").write_bytes(bytes(range(256)))
    host = make(folder)
    assert host.read_raw("/m/a", 3) == b"\0\1\2"
    assert host.read_raw("/m/a", 100, 250) == bytes(range(250, 256))
    assert host.read_raw("/m/a", 8, 9000) == b""
    for path, why in (("/m/none", Why.MISSING), ("/m", Why.DENIED)):
        answer = host.read_raw(path, 8)
        assert isinstance(answer, Unavailable) and answer.why is why


def test_a_replay_gives_the_same_bytes_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(range(256)))
    recording = RecordingHost(LiveHost(str(tmp_path)), tmp_path / "snapshot")
    assert recording.read_raw("/a", 256) == bytes(range(256))
    replay = RecordedHost(tmp_path / "snapshot")
    assert replay.read_raw("/a", 256) == bytes(range(256))
    other = replay.read_raw("/a", 10)
    assert isinstance(other, Unavailable) and other.why is Why.NOT_RECORDED


def test_a_damaged_recording_is_not_recorded(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    RecordingHost(LiveHost(str(tmp_path)), tmp_path / "snapshot").read_raw("/a", 3)
    for path in (tmp_path / "snapshot" / "raw").iterdir():
        path.write_text("no base64!")
    answer = RecordedHost(tmp_path / "snapshot").read_raw("/a", 3)
    assert isinstance(answer, Unavailable) and answer.why is Why.NOT_RECORDED
