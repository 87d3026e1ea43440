"""What a run leaves behind is found; only what is surely its own is removed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from threading import Event as Flag

import pytest

from doctor.smoke import child, tree
from doctor.smoke.leftovers import HBM_SLACK_MB, Ledger
from tests.smoke.launching import launch, ran


@pytest.fixture
def name() -> Iterator[str]:
    name = f"ascend-doctor-test-{uuid.uuid4().hex[:8]}"
    yield name
    Path("/dev/shm", name).unlink(missing_ok=True)


def test_shared_memory_of_a_killed_process_is_freed(tmp_path: Path, name: str) -> None:
    ledger = Ledger()
    start = launch(tmp_path, "memory", name=name, wait=2.5)
    ended = child.run(start, lambda event: None, Flag(), ledger.seen)
    assert ended.signal == "SIGKILL"
    left = ledger.settle(str(tmp_path), {}, None)
    assert left.clean and not Path("/dev/shm", name).exists()


def test_a_segment_that_carries_the_number_of_one_of_our_processes_is_ours(tmp_path: Path) -> None:
    shm, folder = tmp_path / "shm", tmp_path / "work"
    shm.mkdir()
    folder.mkdir()
    ledger = Ledger(str(shm))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        ledger.seen(tree.members(-1, "", {(process.pid, _started(process.pid))}))
        assert process.stdin
        process.stdin.close()
    (shm / f"torch_{process.pid}_1").write_text("x")
    (shm / "other_1").write_text("x")
    left = ledger.settle(str(folder), {}, None)
    assert left.removed == (str(shm / f"torch_{process.pid}_1"),) and left.clean
    assert (shm / "other_1").exists() and not folder.exists()


def _started(pid: int) -> int:
    return tree.everyone()[pid].started


def test_what_was_there_before_is_left_alone(tmp_path: Path) -> None:
    shm = tmp_path / "shm"
    shm.mkdir()
    old = shm / f"psm_{os.getpid()}"
    old.write_text("x")
    ledger = Ledger(str(shm))
    ledger.seen(tuple(member for member in tree.everyone().values() if member.pid == os.getpid()))
    assert ledger.settle(str(tmp_path / "none"), {}, None).removed == () and old.exists()


def test_a_segment_that_somebody_uses_is_told_and_left(tmp_path: Path, name: str) -> None:
    ledger = Ledger()
    path = Path("/dev/shm", name)
    with path.open("w"):
        ledger.seen(tuple(member for member in tree.everyone().values() if member.pid == os.getpid()))
        left = ledger.settle(str(tmp_path / "none"), {}, None)
        assert left.shared_memory == (str(path),) and not left.clean and path.exists()


def test_a_port_that_is_still_taken_is_told(tmp_path: Path) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        ended = ran(tmp_path, "port", port=port)
        ledger = Ledger(str(tmp_path))
        ledger.ended(ended.left, ended.ports)
        assert ledger.settle(str(tmp_path / "none"), {}, None).ports == (port,)


def test_memory_of_a_card_that_has_not_come_back_is_told(tmp_path: Path) -> None:
    after = {0: 3000, 1: 3000 + HBM_SLACK_MB + 1}
    left = Ledger(str(tmp_path)).settle(str(tmp_path / "none"), {0: 3000, 1: 3000}, after)
    assert left.card_memory == (f"card 1: 3000 -> {after[1]} MB",) and left.looked_at_cards and not left.clean


def test_a_process_that_nobody_can_end_is_told(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path))
    ledger.ended(("hung (17)",), ())
    assert ledger.settle(str(tmp_path / "none"), {}, None).processes == ("hung (17)",)
