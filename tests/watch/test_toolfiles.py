"""Outputs of memory tools: what they say by library, and that nothing in them is ever run, expanded or believed."""

from __future__ import annotations

import contextlib
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.watch.tool_snapshot import snapshot
from doctor.watch.toolfiles import summary_of
from doctor.watch.toolsummary import ToolSummary, UnreadableError
from tests.watch.recorded import FOLDER

MIB = 1 << 20


def read(tmp_path: Path, text: str | bytes) -> ToolSummary:
    path = tmp_path / "tool.out"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return summary_of(path)


@pytest.mark.parametrize("name", ["valgrind_lost.txt", "valgrind_lost.xml"])
def test_memcheck_in_both_forms(name: str) -> None:
    summary = summary_of(FOLDER / name)
    assert (summary.tool, summary.complete) == ("memcheck", True)
    assert summary.places[0].size == 12_288 and summary.places[0].blocks == 3
    assert summary.places[1].size == pytest.approx(10_400, abs=20)


def test_memcheck_that_was_cut_off_is_no_acquittal(tmp_path: Path) -> None:
    text = (FOLDER / "valgrind_lost.txt").read_text().partition("LEAK SUMMARY")[0]
    assert not read(tmp_path, text).complete


def test_entities_of_xml_are_refused(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><valgrindoutput>&b;</valgrindoutput>'
    with pytest.raises(UnreadableError, match="document type"):
        read(tmp_path, bomb)


MEMRAY = """📏 Total allocations:
\t4056838

📦 Total memory allocated:
\t88.925MB

📈 Peak memory usage:
\t64.000MB

🥇 Top 5 largest allocating locations (by size):
\t- load:/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py:14 -> 51.147MB
\t- parse:/usr/lib/python3.11/json/decoder.py:353 -> 282.289kB

🥇 Top 5 largest allocating locations (by number of allocations):
\t- load:/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py:14 -> 2660000
"""


def test_statistics_of_memray(tmp_path: Path) -> None:
    summary = read(tmp_path, MEMRAY)
    assert (summary.tool, summary.total) == ("memray", 64e6)
    assert dict(summary.libraries) == {"torch": pytest.approx(51.147e6), "python": pytest.approx(282_289)}


def test_statistics_of_memray_as_json(tmp_path: Path) -> None:
    text = json.dumps({"total_bytes_allocated": 9, "metadata": {"peak_memory": 7}, "top_locations_by_size": [{"location": "f:/x/site-packages/vllm/a.py:3", "size": 5}]})
    summary = read(tmp_path, text)
    assert (summary.total, summary.libraries) == (7.0, (("vllm", 5.0),))


def test_a_capture_of_memray_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="memray stats --json"):
        read(tmp_path, b"memray\0\x0b\0\0\0")


def test_statistics_of_tracemalloc(tmp_path: Path) -> None:
    text = "[ Top 10 ]\n#1: /venv/lib/python3.11/site-packages/vllm/v1/core/block_pool.py:120: size=48.0 MiB, count=600000, average=84 B\n<frozen importlib._bootstrap>:241: size=1024 KiB, count=9, average=9 B\n"
    summary = read(tmp_path, text)
    assert (summary.tool, dict(summary.libraries)) == ("tracemalloc", {"vllm": 48.0 * MIB, "python": MIB})


JEMALLOC = """heap_v2/524288
  t*: 3: 3145728 [0: 0]
@ 0x7f0000001000 0x7f1000002000 0x560000001000
  t*: 2: 2097152 [0: 0]
  t0: 2: 2097152 [0: 0]
@ 0x7f0000001000 0x7f2000002000
  t*: 1: 1048576 [0: 0]

MAPPED_LIBRARIES:
560000000000-560000100000 r-xp 00000000 08:01 1 /usr/bin/python3.11
7f0000000000-7f0000100000 r-xp 00000000 08:01 2 /usr/lib/libjemalloc.so.2
7f1000000000-7f1000100000 r-xp 00000000 08:01 3 /usr/local/Ascend/lib64/libascendcl.so
7f2000000000-7f2000100000 r-xp 00000000 08:01 4 /opt/libmooncake.so
"""


def test_a_profile_of_jemalloc_names_the_library_outside_the_allocator(tmp_path: Path) -> None:
    summary = read(tmp_path, JEMALLOC)
    assert [name for name, _ in summary.libraries] == ["libascendcl.so", "libmooncake.so"]
    assert summary.libraries[0][1] == pytest.approx(2_097_152 / (1 - 2.718281828**-2), rel=1e-6)
    assert summary.places[0].where == "libascendcl.so < python3.11"


SNAPSHOT: dict[str, Any] = {
    "segments": [
        {
            "device": 0, "total_size": 20 * MIB, "allocated_size": 8 * MIB,
            "blocks": [
                {"size": 8 * MIB, "state": "active_allocated", "frames": [{"name": "forward", "filename": "/v/site-packages/vllm/model.py", "line": 7}]},
                {"size": 12 * MIB, "state": "inactive", "frames": []},
            ],
        }
    ],
    "device_traces": [[]],
}  # fmt: skip


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_memory_snapshot_is_read_without_unpickling(protocol: int, tmp_path: Path) -> None:
    summary = read(tmp_path, pickle.dumps(SNAPSHOT, protocol))
    device = summary.devices[0]
    assert (device.reserved, device.active, device.segments, device.largest_free) == (20 * MIB, 8 * MIB, 1, 12 * MIB)
    assert summary.libraries == (("vllm", 8.0 * MIB),)
    assert read(tmp_path, json.dumps(SNAPSHOT)).devices == summary.devices


class _Trap:
    """Unpickling it would make a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return open, (self.path, "w")


def test_a_snapshot_with_objects_in_it_is_refused_and_nothing_is_run(tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    with pytest.raises(UnreadableError, match="never loaded"):
        read(tmp_path, pickle.dumps({"segments": [], "x": _Trap(str(trap))}))
    assert not trap.exists()


@given(st.binary(max_size=200))
def test_any_bytes_are_a_snapshot_or_refused(data: bytes) -> None:
    with contextlib.suppress(UnreadableError):
        snapshot(b"\x80\x04" + data)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match="tool_unknown"):
        read(tmp_path, "hello\n")
