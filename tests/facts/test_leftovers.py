"""Segments in shared memory: which names count, how old they are, and what is not known."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

from doctor.facts import FixedFacts
from doctor.facts.leftovers import NAME, Segment, Segments, read_segments
from doctor.facts.vllm import VllmProcess, VllmProcesses
from doctor.host.live import LiveHost
from doctor.host.plain import PlainHost
from doctor.rulepackage import PACKAGE, rules_package


@pytest.mark.parametrize("name", ["psm_0a1b2c3d", "vllm_offload_11111111-2222", "VLLM_OBJECT_STORAGE_SHM_BUFFER", "sem.mp-a1b2c3d4", "mooncake_shm_7", "torch_4711_99_0"])
def test_names_of_servers(name: str) -> None:
    assert NAME.fullmatch(name)


@pytest.mark.parametrize("name", ["", "psm_", "PostgreSQL.123", "pulse-shm-1", "sem.haproxy", "nccl-xyz", "psm_../etc", "torch_x_1", "x" * 5000])
def test_names_of_others(name: str) -> None:
    assert not NAME.fullmatch(name)


def test_sizes_owners_and_ages(tmp_path: Path) -> None:
    folder = tmp_path / "dev" / "shm"
    folder.mkdir(parents=True)
    (folder / "psm_0a1b2c3d").write_bytes(bytes(4096))
    os.utime(folder / "psm_0a1b2c3d", (1, 1))
    (folder / "database").write_bytes(b"x")
    (folder / "psm_11111111").symlink_to("/etc/passwd")
    (folder / "psm_22222222").mkdir()
    found = read_segments(LiveHost(str(tmp_path)), FixedFacts())
    assert isinstance(found, Segments)
    (segment,) = found.found
    assert (segment.path, segment.size, segment.uid) == ("/dev/shm/psm_0a1b2c3d", 4096, os.geteuid())
    assert segment.age is not None and segment.age > 365 * 86400


def test_a_recording_without_files_tells_nothing(tmp_path: Path) -> None:
    assert not isinstance(read_segments(PlainHost(tmp_path), FixedFacts()), Segments)


def test_where_the_age_is_not_recorded_it_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "files" / "dev" / "shm").mkdir(parents=True)
    (tmp_path / "files" / "dev" / "shm" / "psm_0a1b2c3d").write_bytes(b"x")
    found = read_segments(PlainHost(tmp_path), FixedFacts())
    assert isinstance(found, Segments) and found.found[0].age is None


@pytest.mark.parametrize(
    ("ages", "running", "found"),
    [((7200.0, 9000.0), False, 1), ((7200.0,), True, 0), ((30.0,), False, 0), ((None,), False, 0), ((), False, 0)],
)
def test_the_rule_names_old_segments_where_no_vllm_runs(ages: tuple[float | None, ...], running: bool, found: int) -> None:
    rules_package()
    judge = importlib.import_module(f"{PACKAGE}.leak.leak_shm_stale_segments").judge
    segments = Segments(tuple(Segment(f"/dev/shm/psm_0000000{number}", 2**20, 0, age) for number, age in enumerate(ages)))
    processes = VllmProcesses((VllmProcess(7, 1, "api", ("vllm", "serve")),) if running else ())
    hits = list(judge({"leaked": ()}, segments, processes))
    assert len(hits) == found
    assert not hits or hits[0].found == "2 segments, 2 MiB, the oldest 2 h old; no vLLM runs"
