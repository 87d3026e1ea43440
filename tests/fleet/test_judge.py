"""Snapshots judged at once give what each gives alone, whatever else is in the folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from doctor.fleet.judge import Asked, judge, judge_all
from doctor.fleet.node import Node, Standing

HOSTS = sorted(path for path in (Path(__file__).parents[2] / "fixtures" / "hosts").iterdir() if path.is_dir())


def still(node: Node) -> Node:
    return replace(node, seconds=0.0)


def test_two_processes_say_what_one_says_in_the_same_order() -> None:
    asked = [Asked(path.name, str(path)) for path in HOSTS]
    alone = judge_all(asked, workers=1)
    assert [still(node) for node in judge_all(asked, workers=2)] == [still(node) for node in alone]
    assert [node.name for node in alone] == [path.name for path in HOSTS]


@pytest.mark.parametrize("content", [b"", b"\x1f\x8b garbage", b"not an archive at all\n"])
def test_a_snapshot_that_cannot_be_read_is_a_result(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "n.tar.gz"
    path.write_bytes(content)
    node = judge(Asked("n", str(path)))
    assert node.standing is Standing.UNREADABLE and node.why


def test_a_snapshot_that_is_gone_is_a_result(tmp_path: Path) -> None:
    assert judge(Asked("n", str(tmp_path / "gone"))).standing is Standing.UNREADABLE


def test_a_sick_host_is_judged_as_ever() -> None:
    node = judge(Asked("x", str(next(path for path in HOSTS if path.name == "a2-old-driver"))))
    assert "driver-too-old-for-cann" in {cause.rule for cause in node.causes}
    assert node.wire.addresses and node.side is not None
