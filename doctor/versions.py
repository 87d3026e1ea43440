"""Order and ranges of the versions on an Ascend server: CANN, driver (HDK), and Python packages.

Contract: `parse` never raises on any text; versions of one scheme are totally ordered. Huawei's order is not that of PEP 440:
X.Y.RCn is a quarterly release of its own that comes before every X.Y.0, and X.Y.RCn.k is a patch of it.
"""

from __future__ import annotations

import enum
import functools
import operator
import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

from doctor.record import dataclass
from doctor.regex import regex


class Scheme(enum.Enum):
    """Whose order. HDK numbers are comparable only within one chip family: the 950 products have a line of their own."""

    CANN = "cann"
    HDK = "hdk"
    PACKAGE = "package"


_Key = tuple[Any, ...]


@functools.total_ordering
@dataclass(frozen=True, eq=False)
class Version:
    """A version in its scheme's order. Equal are versions of one rank, whatever their spelling: `8.2.rc1` and `8.2.RC1`."""

    text: str
    """As it was written."""
    scheme: Scheme
    base: tuple[int, int, int]
    """(major, minor, patch); the patch of X.Y.RCn is 0."""
    prerelease: bool
    """Alpha, beta, nightly or test (for a package also rc and dev). An RC of CANN or HDK is a release and often the last of its line."""
    nightly: bool = False
    """Carries the date of a nightly build; ranks like the version it was built for."""
    key: _Key = field(default=(), repr=False)

    def __str__(self) -> str:
        return self.text

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Version):
            return NotImplemented
        return self.scheme is other.scheme and bool(self.key == other.key)

    def __hash__(self) -> int:
        return hash((self.scheme, self.key))

    def __lt__(self, other: Version) -> bool:
        if self.scheme is not other.scheme:
            return NotImplemented
        return bool(self.key < other.key)


LONGEST = 128
"""Characters of the longest text that is taken for a version."""


@functools.lru_cache(maxsize=4096)
def parse(text: str, scheme: Scheme) -> Version | None:
    """The version that the whole text is, or None where it is none."""
    stripped = text.strip()
    if not stripped or len(stripped) > LONGEST:
        return None
    return _parse_package(text, stripped) if scheme is Scheme.PACKAGE else _parse_huawei(text, stripped, scheme)


# Huawei's numbers.

_TEST, _RC = -2, -1
"""Where test builds (8.0.T63) and quarterly releases (8.0.RC1) stand in the place of the patch number: below X.Y.0."""
_ALPHA, _BETA, _CANDIDATE, _FINAL, _BUILD, _PATCH = -3, -2, -1, 0, 1, 2
_STAGES = {"alpha": _ALPHA, "beta": _BETA, "rc": _CANDIDATE, "b": _BUILD, "spc": _PATCH, "": _PATCH}
_PARTS = 4
"""Suffix parts of a version that count; the longest seen, `7.6.T13.0.B094`, has two."""

_HUAWEI = regex(
    r"(?P<major>[0-9]{1,9})\.(?P<minor>[0-9]{1,9})"
    r"(?:[.\-]?(?P<letters>rc|t)(?P<number>[0-9]{1,9})|\.(?P<patch>[0-9]{1,9}))?"
    r"(?P<rest>(?:[.\-]?(?:alpha|beta|rc|spc|b)[.\-]?[0-9]{0,9}|\.[0-9]{1,9})*)"
    r"(?P<nightly>_[0-9]{8,14})?",
    re.IGNORECASE,
)
_PART = regex(r"[.\-]?(alpha|beta|rc|spc|b|(?<=\.))[.\-]?([0-9]*)", re.IGNORECASE)


def _parse_huawei(text: str, stripped: str, scheme: Scheme) -> Version | None:
    if scheme is Scheme.CANN and stripped[0] in "vV":
        stripped = stripped[1:]
    match = _HUAWEI.fullmatch(stripped)
    if not match:
        return None
    major, minor, patch = int(match["major"]), int(match["minor"]), int(match["patch"] or 0)
    place, number = patch, 0
    if match["letters"]:
        place, number = _RC if match["letters"].lower() == "rc" else _TEST, int(match["number"])
    parts = [_part(stage.lower(), digits) for stage, digits in _PART.findall(match["rest"])]
    if place == 0 and parts and parts[0][0] == _CANDIDATE:  # 8.0.0.rc1: another spelling of 8.0.RC1
        place, number, parts = _RC, parts[0][1], parts[1:]
    if len(parts) > _PARTS:
        return None
    prerelease = place == _TEST or bool(match["nightly"]) or any(stage < _FINAL for stage, _ in parts)
    padded = (*parts, *[(_FINAL, 0)] * (_PARTS - len(parts)))
    return Version(text, scheme, (major, minor, patch), prerelease, bool(match["nightly"]), (major, minor, place, number, *padded))


def _part(stage: str, digits: str) -> tuple[int, int]:
    number = int(digits or 0)
    # A numeric zero adds nothing: 8.5.0.0 is 8.5.0.
    return (_FINAL, 0) if stage == "" and number == 0 else (_STAGES[stage], number)


# Packages.

@functools.cache
def _prefix() -> re.Pattern[str]:
    from packaging.version import VERSION_PATTERN

    return re.compile(VERSION_PATTERN, re.VERBOSE | re.IGNORECASE)


def _parse_package(text: str, stripped: str) -> Version | None:
    from packaging.version import InvalidVersion  # here: what has no version of a package does without it
    from packaging.version import Version as PackageVersion

    try:
        version = PackageVersion(stripped)
    except InvalidVersion:
        # Home-made suffixes (2.5.1-patched_by_us): what comes before them is still a version.
        prefix = _prefix().match(stripped)
        if not prefix or any(map(str.isspace, stripped)):
            return None
        version = PackageVersion(prefix[0])
    public = PackageVersion(version.public)
    return Version(text, Scheme.PACKAGE, (public.major, public.minor, public.micro), public.is_prerelease, public.is_devrelease, (public,))


def normalise_name(name: str) -> str:
    """The name of a Python package as PEP 503 compares it: `Torch_NPU` is `torch-npu`."""
    return re.sub(r"[-_.]+", "-", name).lower()


# Comparing.


def compare(a: str, b: str, scheme: Scheme) -> int | None:
    """-1, 0 or 1 as `a` comes before, with or after `b`; None where one of them is no version."""
    first, second = parse(a, scheme), parse(b, scheme)
    if first is None or second is None:
        return None
    return int(first > second) - int(first < second)


def satisfies(version: str, spec: str, scheme: Scheme) -> bool | None:
    """Whether the version lies in the range; None where it is no version. A malformed range raises ValueError.

    A range is comparisons joined by commas, all of which must hold: `>=8.5, <9.1`, `== 8.5.1`, `!= 8.5.0`; `25.2.X` (also `== 25.2.X`) is
    every version that starts so, RCs and patches included. For CANN and HDK, `>= 8.5` and `< 9.1`, with two numbers, mean the start of that
    line, its RCs included; with three they mean just that version. For packages equality is that of PEP 440,
    and the order includes prereleases: 0.11.0rc1 is `< 0.11.0`.
    """
    tests = _tests(spec, scheme)
    parsed = parse(version, scheme)
    return None if parsed is None else all(test(parsed) for test in tests)


_Test = Callable[[Version], bool]
_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_COMPARISON = regex(r"(<=|>=|==|!=|~=|<|>|)\s*([^\s<>=!~]+)")
_PREFIX_MATCH = regex(r"[.]?[*xX]$")


@functools.lru_cache(maxsize=1024)
def _tests(spec: str, scheme: Scheme) -> tuple[_Test, ...]:
    return tuple(_test(part.strip(), scheme, spec) for part in spec.split(","))


def _test(part: str, scheme: Scheme, spec: str) -> _Test:
    match = _COMPARISON.fullmatch(part)
    if not match:
        raise ValueError(f"not a version range: {spec!r}")
    sign, wanted = match[1] or "==", match[2]
    test = _package_test(sign, wanted) if scheme is Scheme.PACKAGE else _huawei_test(sign, wanted, scheme)
    if test is None:
        raise ValueError(f"not a version range: {spec!r} (at {part!r})")
    return test


def _package_test(sign: str, wanted: str) -> _Test | None:
    """Equality is that of PEP 440; `<` and `>` are its plain order, so that 0.11.0rc1 comes before 0.11.0 and 2.8.0.post1 after 2.8.0."""
    wanted = _PREFIX_MATCH.sub(".*", wanted.partition("+")[0])
    if sign in ("<", "<=", ">", ">="):
        limit = None if "*" in wanted else parse(wanted, Scheme.PACKAGE)
        compare_versions = _OPERATORS[sign]
        return None if limit is None else lambda version: compare_versions(version, limit)
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        specifiers = SpecifierSet(sign + wanted, prereleases=True)
    except InvalidSpecifier:
        return None
    return lambda version: specifiers.contains(version.key[0])


def _huawei_test(sign: str, wanted: str, scheme: Scheme) -> _Test | None:
    if sign not in _OPERATORS:
        return None
    compare_keys = _OPERATORS[sign]
    if _PREFIX_MATCH.search(wanted):
        prefix = _line(_PREFIX_MATCH.sub("", wanted), scheme)
        if prefix is None or sign not in ("==", "!="):
            return None
        return lambda version: compare_keys(version.key[: len(prefix)], prefix)
    if sign in (">=", "<") and wanted.count(".") <= 1:
        line = _line(wanted, scheme)
        if line is not None:
            return lambda version: compare_keys(version.key[: len(line)], line)
    parsed = parse(wanted, scheme)
    return None if parsed is None else lambda version: compare_keys(version, parsed)


def _line(text: str, scheme: Scheme) -> _Key | None:
    """The start of a key: of `25`, `25.2`, `25.2.0` or `25.2.RC1`."""
    if re.fullmatch(r"[0-9]{1,9}", text):
        return (int(text),)
    version = parse(text, scheme)
    if version is None or any(part != (_FINAL, 0) for part in version.key[4:]):
        return None
    if text.count(".") == 1 and version.key[2:4] == (0, 0):
        return version.key[:2]
    return version.key[:4] if version.key[2] < 0 else version.key[:3]


__all__ = ["Scheme", "Version", "compare", "normalise_name", "parse", "satisfies"]
