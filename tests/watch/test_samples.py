"""The sample file: what is written comes back; what breaks it costs a line, never the watch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.watch.sample import CardSample, HostSample, LogSample, ProcessSample, Sample, from_line, to_line
from doctor.watch.samplefile import SampleFile, read_samples

SAMPLE = Sample(
    1_796_000_000.0, 5000.0, "boot", 30.0,
    (ProcessSample(41, 900, "worker", "VLLM::Worker_TP0", 1 << 30, 5, 0, 7, 9, 33, 1024, 12, 0, 1, "S", 100, 2, 3.5), ProcessSample(42, 901, "api", "vllm")),
    HostSample(available=1 << 33, shm=0, shm_files=0), (CardSample("0-0", 41, 58000, 65536),), {"requests": 12.0, "ttft<0.5": 3.0}, "missing: x", 200,
    LogSample(1.0, 2.0, 3.0, 4.0, 0.5, 6.0, ("ready",)), ("started api 42 vllm",),
)  # fmt: skip


def test_a_line_gives_the_sample_back() -> None:
    assert from_line(to_line(SAMPLE)) == SAMPLE
    empty = Sample(1.0, 2.0)
    assert from_line(to_line(empty)) == empty


@given(st.text(max_size=300))
def test_any_text_is_a_sample_or_none(text: str) -> None:
    assert from_line(text) is None or from_line(text) is not None


@pytest.mark.parametrize("line", ['{"v":1,"t":1,"p":[[1]],"h":[],"m":7,"c":[5],"l":{"signs":3},"e":5}', '{"v":1,"t":1,"p":7,"h":{"available":"x"}}', '{"v":1,"t":1e999}', "[" * 100_000])
def test_a_damaged_line_is_read_as_far_as_it_goes(line: str) -> None:
    sample = from_line(line)
    assert sample is None or sample.processes == ()


def test_a_line_of_a_newer_version_is_left_out() -> None:
    assert from_line(to_line(SAMPLE).replace('"v":1', '"v":2')) is None


def test_a_line_that_a_crash_cut_short_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "state" / "s.ndjson"
    SampleFile(path).append(SAMPLE)
    with path.open("a") as file:
        file.write(to_line(SAMPLE)[:50])
    SampleFile(path).append(replace(SAMPLE, time=SAMPLE.time + 30))
    assert [sample.time for sample in read_samples(path)] == [SAMPLE.time, SAMPLE.time + 30]
    assert path.stat().st_mode & 0o077 == 0


def test_the_file_is_bounded_and_read_across_its_rotation(tmp_path: Path) -> None:
    path = tmp_path / "s.ndjson"
    file = SampleFile(path, limit=3000)
    for step in range(40):
        file.append(replace(SAMPLE, time=SAMPLE.time + step))
    times = [sample.time for sample in read_samples(path)]
    assert times == sorted(times) and times[-1] == SAMPLE.time + 39 and 4 <= len(times) < 40
    assert sum(each.stat().st_size for each in tmp_path.iterdir()) < 3 * 3000


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("precious")
    (tmp_path / "s.ndjson").symlink_to(other)
    with pytest.raises(OSError):
        SampleFile(tmp_path / "s.ndjson").append(SAMPLE)
    assert other.read_text() == "precious"
