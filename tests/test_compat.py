"""The compatibility table: it answers for the releases that exist, and says unknown, not wrong, for those that do not."""

from __future__ import annotations

import pytest

from doctor import compat
from doctor.compat import Release
from doctor.versions import Scheme, compare, parse, satisfies


def row(version: str) -> Release:
    found = compat.release(version)
    assert found is not None
    return found


def test_every_row_can_be_read_and_compared() -> None:
    rows = compat.releases()
    assert len(rows) == 49 and len({one.version for one in rows}) == 49
    for one in rows:
        assert one.vllm and one.torch_npu and one.chips and parse(one.cann, Scheme.CANN) and parse(one.cann_310p, Scheme.CANN), one.version
        assert all(parse(version, Scheme.PACKAGE) for version in (one.vllm, one.torch, one.torch_npu, one.triton_ascend or one.torch, *one.wheel_glibc))
        assert satisfies("3.10.0", one.python, Scheme.PACKAGE) is True
        assert set(one.chips) <= set(compat.chips())
        assert set(one.accepted) <= {"cann", "vllm", "torch_npu", "triton_ascend"}
        assert compat.cann_row(one.cann) is not None
        # torch_npu's base is torch's version; else the row would contradict itself.
        assert all(compat.public(build).startswith(one.torch) for build in (one.torch_npu, *one.accepted.get("torch_npu", ())))
    assert all(compare(a.version, b.version, Scheme.PACKAGE) == -1 for a, b in zip(rows, rows[1:], strict=False))


def test_release_is_exact_but_for_prefix_and_local_suffix() -> None:
    assert row("v0.18.0+local.1").version == "0.18.0"
    assert compat.release("0.17.0") is None and compat.release("") is None and compat.release("x" * 500) is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.17.0", "0.17.0rc1"),
        ("0.13.0", "0.13.0"),
        ("0.12.0rc2", "0.12.0rc1"),
        ("0.30.0", "0.30.0rc2"),
        ("0.11.0rc4", "0.11.0"),
        ("0.11.1", "0.11.0"),
        ("0.31.0.dev5+gabc", "0.30.0rc2"),
        ("0.5.0", "0.7.1rc1"),
    ],
)
def test_nearest_is_what_the_user_most_likely_means(written: str, meant: str) -> None:
    found = compat.nearest(written)
    assert found is not None and found.version == meant


@pytest.mark.parametrize("text", ["", "main", "unknown", "\x1b[31m", "9" * 1000, "0.1.dev1+g02ac443", "0.0.dev3"])
def test_nearest_of_no_version_is_none(text: str) -> None:
    assert compat.nearest(text) is None


@pytest.mark.parametrize(
    ("release", "cann", "family", "answer"),
    [
        ("0.13.0", "8.5.0", "a2", True),
        ("0.13.0", "8.5.1", "a2", True),  # a later patch of the line
        ("0.16.0rc1", "8.5.0", "a2", False),
        ("0.13.0", "8.3.RC2", "a2", False),
        ("0.13.0", "9.0.0", "a2", False),
        ("0.11.0", "8.3.rc2", "a3", True),
        ("0.11.0", "8.3.RC1", "a3", True),  # its installation page says so
        ("0.23.0", "9.1.0", "a2", True),
        ("0.23.0", "9.0.1", "a2", True),  # the page of its tag says so
        ("0.22.1rc1", "9.1.0-beta.1", "310p", True),
        ("0.22.1rc1", "9.1.0-beta.1", "a2", False),
        ("0.22.1rc1", "9.1.0-beta.1", None, True),
        ("0.30.0rc2", "9.2.0_20260930220649", "a2", True),
        ("0.30.0rc2", "garbage", "a2", None),
        ("0.30.0rc2", "", None, None),
    ],
)
def test_cann_of_a_release(release: str, cann: str, family: str | None, answer: bool | None) -> None:
    assert compat.cann_matches(row(release), cann, family) is answer


@pytest.mark.parametrize(
    ("release", "build", "answer"),
    [
        ("0.18.0", "2.9.0", True),
        ("0.18.0", "2.9.0.post1+git4c901a4", True),
        ("0.18.0", "2.9.0.post1+gitee7ba04", True),
        ("0.13.0rc2", "2.8.0.post1", True),
        ("0.11.0", "2.7.1.post1", True),
        ("0.10.0rc1", "2.7.1rc1", False),
        ("0.10.0rc1", "2.7.1.dev20250724", True),
        ("0.23.0.post1", "2.10.0.post4", True),
        ("0.23.0.post1", "2.14.0", False),
        ("0.23.0.post1", "?", None),
    ],
)
def test_torch_npu_builds_of_a_release(release: str, build: str, answer: bool | None) -> None:
    assert compat.torch_npu_matches(row(release), build) is answer


@pytest.mark.parametrize(
    ("release", "vllm", "answer"),
    [
        ("0.22.1rc1", "0.22.1+empty", True),
        ("0.8.5rc1", "0.8.5.post1", True),
        ("0.8.5rc1", "0.8.5", False),
        ("0.10.1rc1", "0.10.1.1", True),
        ("0.10.1rc1", "0.10.1", True),
        ("0.11.0rc0", "0.11.0rc3", True),
        ("0.14.0rc1", "0.14.1", True),
        ("0.14.0rc1", "0.14.0", False),
        ("0.23.0.post1", "0.23.0", True),
        ("0.18.0", "0.18.1.dev3+g12", None),
        ("0.18.0", "", None),
    ],
)
def test_vllm_of_a_release(release: str, vllm: str, answer: bool | None) -> None:
    assert compat.vllm_matches(row(release), vllm) is answer


@pytest.mark.parametrize(
    ("cann", "family", "answer"),
    [
        ("8.1.RC1", "a2", ("24.1.RC1", "indirect")),
        ("8.2.RC1", "a3", ("24.1.RC2", "indirect")),
        ("8.3.RC2", "a2", ("24.1.0", "indirect")),
        ("8.5.1", "a2", ("25.0.RC1", "official")),
        ("9.0.1", "310p", ("25.0.RC1", "official")),
        ("9.1.0", "a3", ("25.2.0", "official")),
        ("9.2.0_20260930220649", "a2", ("25.3.RC1", "official")),
        ("9.1.0", "", ("25.2.0", "indirect")),
        ("9.1.0", "950", None),
        ("12.0.0", "a2", None),
        ("nonsense", "a2", None),
    ],
)
def test_minimum_driver_is_told_per_chip_family(cann: str, family: str, answer: tuple[str, str] | None) -> None:
    assert compat.hdk_minimum(cann, family) == answer


def test_a_driver_line_that_the_notes_list_is_accepted() -> None:
    assert compat.hdk_accepts("9.1.0", "25.2.rc1", "a2") is True  # 25.2.X
    assert compat.hdk_accepts("9.1.0", "25.0.rc1.1", "a2") is False
    assert compat.hdk_accepts("8.5.1", "25.0.rc1.b033", "a2") is True
    assert compat.hdk_accepts("9.2.0", "25.2.3", "a3") is False
    assert compat.hdk_accepts("9.1.0", "25.1.rc2", "950") is None
    assert compat.hdk_accepts("9.1.0", "V1.80", "a2") is None


def test_pairs_of_cann_and_driver() -> None:
    assert [compat.hdk_paired(cann) for cann in ("9.0.0", "9.1.0", "9.1.1", "9.2.0", "8.5.1", "7.7.7")] == [
        "26.0.RC1", "26.0.RC1", "26.1.1", "26.2.RC1", None, None,
    ]  # fmt: skip


def test_features_need_drivers() -> None:
    graph = compat.feature("full-and-piecewise-graph", "a2")
    assert graph is not None and (graph.hdk, graph.cann) == ("25.5.1", "8.5.0")
    assert compat.feature("full-and-piecewise-graph", "950") is None and compat.feature("no such", "a2") is None


@pytest.mark.parametrize(
    ("release", "family", "answer"),
    [
        ("0.18.0", "a2", True),
        ("0.18.0", "a3", True),
        ("0.9.1", "a3", None),
        ("0.9.1", "310p", None),
        ("0.8.5rc1", "310p", False),
        ("0.18.0", "950", False),
        ("0.21.0rc1", "950", True),
        ("0.30.0rc2", "a1", False),
        ("0.30.0rc2", "310b", False),
        ("0.30.0rc2", "", None),
    ],
)
def test_chips_of_a_release(release: str, family: str, answer: bool | None) -> None:
    assert compat.supports_chip(row(release), family) is answer


def test_python_glibc_and_maintenance() -> None:
    assert compat.python_fits(row("0.18.0"), "3.12.4") is False and compat.python_fits(row("0.23.0"), "3.12.4") is True
    assert compat.python_fits(row("0.18.0"), "three") is None and compat.python_range(row("0.11.0")) == ">=3.9,<3.12"
    assert compat.wheel_fits(row("0.23.0"), "2.31") is False and compat.wheel_fits(row("0.18.0"), "2.31") is True
    assert compat.wheel_fits(row("0.22.1rc1"), "2.31") is None and compat.wheel_fits(row("0.23.0.post1"), "2.39") is False
    assert [compat.is_maintained(row(one)) for one in ("0.23.0.post1", "0.18.0", "0.30.0rc2", "0.30.0rc1", "0.19.1rc1", "0.7.1rc1")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip


def test_images_and_torch_npu_generations() -> None:
    assert compat.image(row("0.18.0"), "a3") == "quay.io/ascend/vllm-ascend:v0.18.0-a3"
    assert compat.image(row("0.18.0"), "950") is None and compat.image(row("0.18.0"), None) is None
    assert compat.cann_for_torch_npu("2.9.0") == ("8.5.0",) and compat.cann_for_torch_npu("2.9.0.post77") == ()
