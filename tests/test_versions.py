"""Versions come in the order in which they were released, whatever their scheme."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.versions import Scheme, compare, normalise_name, parse, satisfies

CANN, HDK, PACKAGE = Scheme.CANN, Scheme.HDK, Scheme.PACKAGE

CHAINS = [
    (CANN, "5.1.RC1 < 5.1.RC1.1 < 6.3.RC3.1 < 7.0.0.alpha001 < 7.0.0"),
    (CANN, "8.0.T63 < 8.0.RC1 < 8.0.RC2 < 8.0.RC3.alpha003 < 8.0.RC3 < 8.0.0.beta1 < 8.0.0 < 8.1.RC1"),
    (CANN, "8.2.RC1.alpha002 < 8.2.RC1 < 8.2.RC1.SPC1 < 8.3.RC1 < 8.3.RC2 < 8.5.0.alpha001 < 8.5.0-beta.1 < 8.5.0 < 8.5.0.2.220 < 8.5.1"),
    (CANN, "9.0.0-beta.2 < 9.0.0 < 9.0.1 < 9.1.0 < 9.2.0"),
    (HDK, "21.0.2 < 22.0.4 < 23.0.rc3 < 23.0.3 < 23.0.5.1 < 24.1.rc1 < 24.1.rc3 < 24.1.rc3.b999 < 24.1.rc3.7 < 24.1.0.1"),
    (HDK, "25.0.rc1 < 25.0.rc1.b033 < 25.0.rc1.1 < 25.2.0 < 25.3.rc1 < 25.5.2 < 25.6.rc1.b143 < 25.7.rc1.6 < 26.0.rc1 < 26.1.1 < 26.2.RC1"),
    (HDK, "7.1.0.11.220 < 7.7.0.1.231"),
    (PACKAGE, "0.9.1rc1 < 0.9.1 < 0.13.0rc3 < 0.13.0 < 0.23.0rc1 < 0.23.0 < 0.23.0.post1 < 0.30.0rc2"),
    (PACKAGE, "2.5.1.dev20250320+x < 2.5.1rc1 < 2.5.1 < 2.5.1.post1.dev2 < 2.5.1.post1 < 2.8.0.post2"),
]  # fmt: skip


@pytest.mark.parametrize("scheme, chain", CHAINS)
def test_chains(scheme: Scheme, chain: str) -> None:
    versions = chain.split(" < ")
    for (i, a), (j, b) in itertools.product(enumerate(versions), repeat=2):
        assert compare(a, b, scheme) == (i > j) - (i < j), f"{a} and {b}"


@pytest.mark.parametrize(
    "scheme, a, b",
    [
        (CANN, "8.3.rc2", "8.3.RC2"), (CANN, "9.2.0_20260930220649", "9.2.0"), (CANN, "8.5.0.beta1", "8.5.0-beta.1"),
        (CANN, "8.2rc1", "8.2.RC1"), (CANN, "V5.1.RC1", "5.1.RC1"), (HDK, "25.2", "25.2.0"), (HDK, "26.0.0.rc1", "26.0.RC1"),
        (PACKAGE, "0.22.1+empty", "0.22.1"), (PACKAGE, "2.9.0.post1+git123", "2.9.0.post1"), (PACKAGE, "2.7.1+cpu", "2.7.1"),
        (PACKAGE, "2.5.1-patched_by_us", "2.5.1"), (PACKAGE, "v0.13.0", "0.13.0"),
    ],
)  # fmt: skip
def test_same_rank(scheme: Scheme, a: str, b: str) -> None:
    assert compare(a, b, scheme) == 0
    first, second = parse(a, scheme), parse(b, scheme)
    assert first == second and hash(first) == hash(second) and first is not None and first.text == a


@pytest.mark.parametrize(
    "scheme, text",
    [
        (HDK, "V1.80"), (HDK, "V100R001C21SPC002B220"), (CANN, "V100R001C21SPC002B220"), (CANN, ""), (CANN, "latest"), (CANN, "8"),
        (CANN, "8.5.0 x"), (HDK, "N/A"), (HDK, "5.10.0-60.18.0.50.oe2203sp4.aarch64"), (CANN, "8.5.0.1.2.3.4.5"), (CANN, "9" * 200),
        (CANN, "८.५.०"), (CANN, "8.5.0\n8.5.1"), (PACKAGE, "unknown"), (PACKAGE, "dev"), (PACKAGE, "2.5.1 or newer"), (PACKAGE, "9" * 5000),
    ],
)  # fmt: skip
def test_no_version(scheme: Scheme, text: str) -> None:
    assert parse(text, scheme) is None
    assert compare(text, "1.0.0", scheme) is None
    assert satisfies(text, ">=1.0", scheme) is None


@pytest.mark.parametrize(
    "text, base, prerelease, nightly",
    [
        ("8.3.RC2", (8, 3, 0), False, False), ("8.5.1", (8, 5, 1), False, False), ("8.0.RC3.alpha003", (8, 0, 0), True, False),
        ("8.0.0.beta1", (8, 0, 0), True, False), ("9.2.0_20260930220649", (9, 2, 0), True, True), ("8.0.T63", (8, 0, 0), True, False),
        ("8.2.RC1.SPC1", (8, 2, 0), False, False), ("8.5.0.2.220", (8, 5, 0), False, False), ("7.6.T13.0.B094", (7, 6, 0), True, False),
    ],
)  # fmt: skip
def test_what_a_cann_version_tells(text: str, base: tuple[int, int, int], prerelease: bool, nightly: bool) -> None:
    version = parse(text, CANN)
    assert version is not None
    assert (version.base, version.prerelease, version.nightly) == (base, prerelease, nightly)


@pytest.mark.parametrize(
    "scheme, version, spec, expected",
    [
        (CANN, "8.5.1", ">=8.5, <9.1", True), (CANN, "9.1.0", ">=8.5, <9.1", False), (CANN, "9.1.RC1", "<9.1", False),
        (CANN, "8.5.RC1", ">=8.5", True), (CANN, "8.5.RC1", ">=8.5.0", False), (CANN, "8.3.RC2", ">=8.3.RC1,<8.5.0", True),
        (CANN, "8.5.1", "== 8.5.1", True), (CANN, "8.5.1", "8.5.1", True), (CANN, "8.5.1", "!= 8.5.1", False), (CANN, "9.2.0", ">=9", True),
        (CANN, "8.5.0", "==8.5", True), (CANN, "8.5.1", "==8.5", False), (CANN, "8.5.0-beta.1", "< 8.5.0", True),
        (HDK, "25.2.0", "25.2.X", True), (HDK, "25.2.rc1.3", "== 25.2.X", True), (HDK, "25.20.0", "25.2.X", False), (HDK, "25.3.0", "!=25.2.x", True),
        (HDK, "25.0.RC1", "25.0.X", True), (HDK, "25.0.1", "25.X", True), (HDK, "24.1.rc3.7", "== 24.1.rc3.X", True), (HDK, "25.0.1.2", "25.0.1.X", True),
        (HDK, "24.1.0.1", "> 24.1.0", True), (HDK, "24.1.rc1", "<= 24.1.rc1", True),
        (PACKAGE, "0.13.0rc3", ">=0.11.0rc1, <0.14", True), (PACKAGE, "0.12.0rc1", "<0.12", True), (PACKAGE, "2.8.0.post1", "> 2.8.0", True), (PACKAGE, "0.22.1+empty", "== 0.22.1", True),
        (PACKAGE, "0.23.0.post1", ">=0.23.0", True), (PACKAGE, "0.13.2", "0.13.X", True), (PACKAGE, "2.7.1", "== 2.7.1+cpu", True),
        (PACKAGE, "2.7.1.post2", "~= 2.7.1", True), (PACKAGE, "0.30.0rc2", ">0.29", True),
    ],
)  # fmt: skip
def test_ranges(scheme: Scheme, version: str, spec: str, expected: bool) -> None:
    assert satisfies(version, spec, scheme) is expected


@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize("spec", ["", ",", ">=", ">= 8.5,", "=> 8.5", ">=x", ">= 8.5 <9", "8.5 9", ">= 25.2.X", "=8.5.0", "===8.5.0"])
def test_malformed_ranges_are_programming_errors(scheme: Scheme, spec: str) -> None:
    with pytest.raises(ValueError, match="not a version range"):
        satisfies("8.5.0", spec, scheme)


NUMBERS = st.integers(0, 30).map(str)
SUFFIXES = st.sampled_from(["", ".alpha001", "-beta.1", ".beta2", ".1", ".0", ".b033", ".SPC1", "_20260930220649", ".rc1", ".2.220"])
HUAWEI = st.builds(lambda a, b, c, d: f"{a}.{b}.{c}{d}", NUMBERS, NUMBERS, NUMBERS | st.sampled_from(["RC1", "rc2", "T63"]), SUFFIXES)


@given(HUAWEI, HUAWEI, HUAWEI, st.sampled_from([CANN, HDK]))
def test_huawei_order_is_total(a: str, b: str, c: str, scheme: Scheme) -> None:
    versions = [parse(text, scheme) for text in (a, b, c)]
    x, y, z = (version for version in versions if version)
    assert (x < y) + (x == y) + (x > y) == 1
    assert (x < y) == (y > x) and (x <= y) == (not y < x)
    if x <= y <= z:
        assert x <= z


@given(st.text() | st.from_regex(r"[0-9.\-_+a-z]{0,60}"), st.sampled_from(Scheme))
def test_parse_never_raises(text: str, scheme: Scheme) -> None:
    version = parse(text, scheme)
    assert version is None or (version.text == text and compare(text, text, scheme) == 0)


def test_schemes_do_not_mix() -> None:
    cann, hdk = parse("8.5.0", CANN), parse("8.5.0", HDK)
    assert cann != hdk
    with pytest.raises(TypeError):
        assert cann is not None and hdk is not None and cann < hdk


def test_normalise_name() -> None:
    assert normalise_name("Torch_NPU") == normalise_name("torch--npu") == normalise_name("torch.npu") == "torch-npu"
