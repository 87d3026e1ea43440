"""MindIE's version file and the processes of edge platforms."""

from __future__ import annotations

import pytest

from doctor import compat
from doctor.facts.neighbours import edge_services, parse_mindie
from doctor.host import Process


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("Ascend-mindie : MindIE 2.1.RC2.B080\nmindie-rt: 2.1.RC2.B080\n", "2.1.RC2"),
        ("Ascend-mindie:1.0.0\n", "1.0.0"),
        ("mindie-llm: 2.1.RC1\n", None),
        ("", None),
    ],
)
def test_release_in_the_version_file(text: str, version: str | None) -> None:
    assert parse_mindie(text) == version


def test_edgex_is_told_by_its_registry_and_not_by_plain_names() -> None:
    processes = [
        Process(1, 0, "edgecore", ("/usr/local/bin/edgecore", "--config", "x")),
        Process(2, 1, "core-data", ("/core-data", "-cp=keeper.http://edgex-core-keeper:59890")),
        Process(3, 1, "core-dump", ("/usr/bin/core-dump",)),
        Process(4, 1, "vi", ("vi", "edgecore")),
        Process(5, 1, "kthreadd"),
    ]
    assert edge_services(processes) == ("edgecore", "EdgeX core-data")


@pytest.mark.parametrize(
    ("product", "version", "wanted"),
    [
        ("mindie", "2.2.RC1", ("8.3.RC2",)),
        ("mindie", "9.9.0", ()),
        ("mindspore", "2.7.1.post1", ("8.3.RC1",)),
        ("mindspore", "2.6.0rc1", ("8.1.RC1", "8.2.RC1")),
        ("mindspore", "nightly", ()),
    ],
)
def test_the_cann_of_a_neighbour(product: str, version: str, wanted: tuple[str, ...]) -> None:
    assert compat.neighbour_cann(product, version) == wanted
