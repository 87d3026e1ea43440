"""The benchmark's verdict on made-up tables, its plot, and the servers that it makes; nothing is timed."""

from __future__ import annotations

import json
import tarfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from benchmarks.bench import merged, regressions, table
from benchmarks.growing import promises
from benchmarks.hosts import with_cards, with_processes
from benchmarks.measuring import Promise
from benchmarks.plot import Curve, svg
from benchmarks.reading import large_bundle
from doctor.bundle.opened import open_recorded
from doctor.facts import HostFacts
from doctor.facts.npu_types import Npus
from doctor.host.recorded import open_host

COMMITTED = "# Results\n\nPython 3.11, 2 CPUs.\n\n" + table([Promise("`doctor log` / `rg -c`, 1 GB", 0.9, 1), Promise("peak memory", 60.0, 200, "MB")])


@pytest.mark.parametrize(
    ("name", "measured", "worse"),
    [
        ("`doctor log` / `rg -c`, 1 GB", 1.19, False),
        ("`doctor log` / `rg -c`, 1 GB", 1.21, True),
        ("`doctor log` / `rg -c`, 1 GB", 0.1, False),
        ("peak memory", 79.0, False),
        ("peak memory", 81.0, True),
        ("never measured before", 99.0, False),
    ],
)
def test_worse_is_what_is_worse_by_more_than_a_third(name: str, measured: float, worse: bool) -> None:
    assert [line.partition(": ")[0] for line in regressions([Promise(name, measured, 1)], COMMITTED)] == [name] * worse


def test_without_a_committed_table_nothing_is_worse() -> None:
    assert regressions([Promise("peak memory", 900.0, 200, "MB")], "") == []


def test_a_part_that_is_written_leaves_the_rows_of_the_others() -> None:
    rows = merged([Promise("peak memory", 70.0, 200, "MB"), Promise("a new row", 3.0, 2)], COMMITTED).splitlines()
    assert rows[2:] == [
        "| `doctor log` / `rg -c`, 1 GB | 0.90 x | 1 x | kept |",
        "| peak memory | 70.00 MB | 200 MB | kept |",
        "| a new row | 3.00 x | 2 x | NOT KEPT |",
    ]
    assert regressions([Promise("a new row", 3.9, 2)], "\n".join(rows)) == []


def test_growth_is_the_time_of_a_unit_at_both_ends() -> None:
    linear, square = Curve("logs", "MB", ((10, 1.0), (40, 4.0))), Curve("rules", "rules", ((10, 1.0), (40, 16.0)))
    assert [(one.measured, one.kept) for one in promises([linear, square])] == [(1.0, True), (4.0, False)]


def test_the_plot_is_well_formed_and_shows_every_measurement() -> None:
    drawn = ElementTree.fromstring(svg([Curve("logs", "MB", ((10, 1.0), (20, 2.5), (40, 4.0))), Curve("a<b", "&", ((1, 0.0), (2, 0.0)))]))
    names = [element.tag.rpartition("}")[2] for element in drawn.iter()]
    assert names.count("circle") == 5
    assert {"logs", "a<b", "&", "MB", "40"} <= {element.text for element in drawn.iter() if element.text}


def test_servers_of_any_size(tmp_path: Path) -> None:
    facts = HostFacts(open_host(with_cards(tmp_path / "cards", 24))).get(Npus)
    assert isinstance(facts, Npus)
    assert [chip.npu_id for chip in facts.chips] == list(range(24))
    processes = open_host(with_processes(tmp_path / "processes", 30)).processes()
    assert isinstance(processes, tuple)
    assert len(processes) == 30


def test_a_large_bundle_is_one_that_doctor_reads(tmp_path: Path) -> None:
    large_bundle(tmp_path / "bundle.tar.gz", 2)
    with tarfile.open(tmp_path / "bundle.tar.gz") as archive:
        assert json.load(archive.extractfile("manifest.json"))["schema_version"] == 1  # type: ignore[arg-type]
    opened = open_recorded(tmp_path / "bundle.tar.gz")
    assert [(log.label, log.size // 1_000_000) for log in opened.logs] == [("server-0.log", 2)]
