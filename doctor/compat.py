"""Which versions belong together: vllm-ascend releases, CANN and driver (HDK), as typed rows of rules/data/compat.yaml.

Contract: every question is answered True, False or None, and None means that the table does not tell: an unknown release
or version is unknown, never wrong. Versions may be any text. The file is read once, on the first question.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from doctor.logscan import cache
from doctor.record import dataclass
from doctor.regex import regex
from doctor.rulepackage import data_text
from doctor.versions import Scheme, compare, satisfies

TOLERANT_TORCH_NPU = ("8.0.RC2", "8.3.RC2")
"""CANN versions, both included, on all of which the torch_npu builds 2.1 to 2.7 run: up to 8.3.RC1 by the compatibility page of the Ascend
extension 7.2.0 (hiascend.com, Pytorch/720 releasenote_0005), 8.3.RC2 by the images of vllm-ascend 0.11.0, which have torch_npu 2.7.1."""

Confidence = Literal["official", "indirect"]

DRIVER_COMPARABLE = ("a2", "a3", "310p")
"""Families whose HDK numbers are one line; those of the 950 products (25.1, 25.6, 25.7) are another."""


@dataclass(frozen=True)
class Release:
    """One vllm-ascend release: the versions that pip installs with it, and which others it accepts."""

    version: str
    date: str | None
    vllm: str
    cann: str
    cann_310p: str
    torch: str
    torch_npu: str
    triton_ascend: str | None
    """None where the release does not use it."""
    python: str
    """">=3.10,<3.12"."""
    chips: tuple[str, ...]
    """Families with an image of their own."""
    wheel_glibc: tuple[str, ...]
    """glibc of the wheels on PyPI; two values: depends on the architecture; (): source archive only."""
    hdk: str | None
    """Recommended driver."""
    accepted: Mapping[str, tuple[str, ...]]
    """By component (cann, vllm, torch_npu, triton_ascend): other versions that are no mismatch, since an image or its own pages have them."""

    @property
    def base(self) -> str:
        """"0.17.0" of 0.17.0rc1."""
        return _base(self.version)

    @property
    def stable(self) -> bool:
        return "rc" not in self.version

    def cann_for(self, family: str | None) -> str:
        return self.cann_310p if family == "310p" else self.cann


@dataclass(frozen=True)
class CannRow:
    """One CANN and the drivers (HDK) that go with it. `minimum` is by chip family; `hdk` holds numbers and lines ("25.2.X")."""

    cann: str
    confidence: Confidence
    paired: str | None
    minimum: Mapping[str, str]
    hdk: tuple[str, ...]


@dataclass(frozen=True)
class Feature:
    """Driver and CANN that a feature needs. `families` () stands for A2, A3 and 310P."""

    feature: str
    hdk: str | None
    cann: str | None
    families: tuple[str, ...]


@dataclass(frozen=True)
class ChipRow:
    """A chip family: the first release with an image for it (None: no release runs on it), and its names in file names."""

    family: str
    since: str | None
    image_suffix: str
    cann_package: str


_UNTAGGED = regex(r"0\.[01](?:\.0)?\.dev\d")


@functools.cache
def _data() -> Mapping[str, Any]:
    """The table as JSON has it (dates are texts), kept in the user's cache: YAML takes ten times as long to read."""
    text = data_text("compat.yaml")
    name = f"compat-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    kept = cache.load(name)
    if kept is None:
        import yaml  # here: `import doctor.cli` must not load it

        kept = json.dumps(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), default=str).encode()
        cache.save(name, kept)
    loaded: Mapping[str, Any] = json.loads(kept)
    return loaded


def as_of() -> str:
    """The date of the table, "2026-11-30"."""
    return str(_data()["as_of"])


@functools.cache
def releases() -> tuple[Release, ...]:
    """Every known release, oldest version first."""
    return tuple(_release(row) for row in _data()["releases"])


_SEVERAL = ("cann", "vllm", "torch_npu", "triton_ascend")


def _others(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    listed = row[name][1:] if isinstance(row[name], list) else ()
    return (*listed, *row.get("documented", {}).get(name, ()))


def _release(row: Mapping[str, Any]) -> Release:
    return Release(
        version=row["version"],
        date=row["date"],
        vllm=row["vllm"][0],
        cann=row["cann"],
        cann_310p=row.get("cann_310p", row["cann"]),
        torch=row["torch"],
        torch_npu=row["torch_npu"][0],
        triton_ascend=row["triton_ascend"][0] if row["triton_ascend"] else None,
        python=row["python"],
        chips=tuple(row["chips"]),
        wheel_glibc=tuple(row["wheel_glibc"]),
        hdk=row.get("hdk"),
        accepted={name: others for name in _SEVERAL if (others := _others(row, name))},
    )


@functools.cache
def cann_rows() -> tuple[CannRow, ...]:
    """Every known CANN line, oldest first."""
    return tuple(
        CannRow(row["cann"], row["confidence"], row["paired"], dict(row["minimum"]), tuple(row["hdk"])) for row in _data()["cann"]
    )


@functools.cache
def chips() -> Mapping[str, ChipRow]:
    return {name: ChipRow(name, row["since"], row["image_suffix"], row["cann_package"]) for name, row in _data()["chips"].items()}


def features() -> tuple[Feature, ...]:
    return tuple(Feature(row["feature"], row["hdk"], row["cann"], tuple(row["families"] or ())) for row in _data()["features"])


def extra_index() -> str:
    """The package index that carries the builds which PyPI lacks."""
    return str(_data()["index"]["extra"])


def triton_on_pypi() -> tuple[str, ...]:
    """The triton-ascend versions that PyPI carries, of those that releases use."""
    return tuple(_data()["index"]["triton_ascend_on_pypi"])


def public(version: str) -> str:
    """The version without `v` and without its local suffix: "2.9.0.post1" of 2.9.0.post1+git4c901a4."""
    return version.strip().lower().removeprefix("v").partition("+")[0]


def _base(version: str) -> str:
    numbers = []
    for part in public(version).split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if digits:
            numbers.append(digits)
        if digits != part:
            break
    return ".".join(numbers)


def release(version: str) -> Release | None:
    """The release of exactly this version; a local suffix is ignored."""
    wanted = public(version)
    return next((row for row in releases() if row.version == wanted), None)


def nearest(version: str) -> Release | None:
    """The release itself, else the one that a user most likely means: same X.Y.Z (final before the latest rc), else the next older one.

    "0.1.dev1+g02ac443" is what the build writes where it finds no tag of the source: it names a commit, and no release.
    """
    found = release(version)
    if found is not None:
        return found
    if _UNTAGGED.match(public(version)):
        return None
    base = _base(version)
    same = [row for row in releases() if row.base == base]
    if same:
        return next((row for row in reversed(same) if row.stable), same[-1])
    older = [row for row in releases() if compare(row.base, base, Scheme.PACKAGE) == -1]
    if not older:
        return releases()[0] if base.count(".") and compare(releases()[0].base, base, Scheme.PACKAGE) == 1 else None
    return older[-1]


def vllm_matches(row: Release, version: str) -> bool | None:
    """Whether vLLM belongs to the release. None for a development build."""
    found = public(version)
    if ".dev" in found or not _base(found):
        return None
    return found in (row.vllm, *row.accepted.get("vllm", ()))


def torch_npu_matches(row: Release, version: str) -> bool | None:
    """Whether torch_npu is a build that the release accepts."""
    return _among(version, (row.torch_npu, *row.accepted.get("torch_npu", ())))


def triton_ascend_matches(row: Release, version: str) -> bool | None:
    """Whether triton-ascend is a build that the release accepts; None where the release does not name one."""
    return _among(version, (row.triton_ascend, *row.accepted.get("triton_ascend", ()))) if row.triton_ascend else None


def torch_matches(row: Release, version: str) -> bool | None:
    return _among(version, (row.torch,))


def _among(version: str, accepted: Iterable[str]) -> bool | None:
    return public(version) in accepted if _base(version) else None


def cann_matches(row: Release, cann: str, family: str | None = None) -> bool | None:
    """Whether the toolkit is what the release was built with, or a later patch of the same X.Y line, or what its pages name.

    Without a family the 310P image's CANN is accepted too.
    """
    built = {row.cann_for(family)} if family else {row.cann, row.cann_310p}
    answers = [_same_line_not_older(cann, wanted) for wanted in (*built, *row.accepted.get("cann", ()))]
    if any(answers):
        return True
    return None if None in answers else False


def _same_line_not_older(cann: str, wanted: str) -> bool | None:
    order = compare(cann, wanted, Scheme.CANN)
    if order is None:
        return None
    return order >= 0 and line(cann) == line(wanted)


def line(version: str) -> str:
    """"8.5" of 8.5.1, "8.3" of 8.3.RC2."""
    return ".".join(_base(version).split(".")[:2])


def neighbour_cann(product: str, version: str) -> tuple[str, ...]:
    """The CANN releases that "mindie" or "mindspore" in this version was made for; () for one that the table does not know."""
    rows = _data()["neighbours"][product]
    found = re.match(r"\d{1,3}\.\d{1,3}\.(?:RC\d{1,2}|\d{1,3})(?![\w])", version.strip(), re.IGNORECASE)
    return tuple(rows.get(found[0].upper(), ())) if found else tuple(rows.get(_base(version), ()))


def cann_row(cann: str) -> CannRow | None:
    """The row of this CANN: the newest of its X.Y line that is not newer, else the line's first."""
    same = [row for row in cann_rows() if line(row.cann) == line(cann)]
    fitting = [row for row in same if compare(row.cann, cann, Scheme.CANN) in (-1, 0)]
    return fitting[-1] if fitting else same[0] if same else None


def hdk_minimum(cann: str, family: str) -> tuple[str, Confidence] | None:
    """The oldest driver for this CANN on this chip family. "" for a family that is not known: the common minimum, as indirect."""
    row = cann_row(cann)
    if row is None:
        return None
    if family:
        found = row.minimum.get(family)
        return (found, row.confidence) if found else None
    lowest = functools.reduce(lambda a, b: a if compare(a, b, Scheme.HDK) in (-1, 0) else b, row.minimum.values())
    return lowest, "indirect"


def hdk_paired(cann: str) -> str | None:
    """The driver that CANN's notes pair with exactly this CANN, or with its line."""
    row = cann_row(cann)
    return row.paired if row else None


def hdk_accepts(cann: str, hdk: str, family: str) -> bool | None:
    """Whether the driver is new enough for the CANN: by the minimum, or because its line is listed. None on 950 and where no row tells."""
    minimum, row = hdk_minimum(cann, family), cann_row(cann)
    if minimum is None or row is None:
        return None
    order = compare(hdk, minimum[0], Scheme.HDK)
    if order is None:
        return None
    return order >= 0 or any(one.endswith(".X") and line(one) == line(hdk) for one in row.hdk)


def feature(name: str, family: str) -> Feature | None:
    """What a feature needs on this chip family."""
    for row in features():
        if row.feature == name and family in (row.families or DRIVER_COMPARABLE):
            return row
    return None


def cann_for_torch_npu(version: str) -> tuple[str, ...]:
    """The CANN that a torch_npu build was released with; () for a build that is not listed, which is unknown, not wrong."""
    return tuple(_data()["torch_npu"].get(public(version), ()))


def python_range(row: Release) -> str:
    """">=3.10,<3.12"."""
    return row.python


def python_fits(row: Release, version: str) -> bool | None:
    return satisfies(version, row.python, Scheme.PACKAGE)


def wheel_fits(row: Release, glibc: str) -> bool | None:
    """Whether pip finds a wheel for this C library; False also where there is only a source archive; None where it depends on the architecture."""
    if not row.wheel_glibc:
        return False
    orders = [compare(glibc, needed, Scheme.PACKAGE) for needed in row.wheel_glibc]
    if None in orders:
        return None
    fits = {order >= 0 for order in orders if order is not None}
    return fits.pop() if len(fits) == 1 else None


def supports_chip(row: Release, family: str) -> bool | None:
    """Whether the release runs on the chip family. None where it has no image for it but was not said to fail either."""
    if family in row.chips:
        return True
    chip = chips().get(family)
    if chip is None:
        return None
    if chip.since is None:
        return False
    first = compare(row.version, chip.since, Scheme.PACKAGE)
    # A3 ran on earlier releases built from source; 310P and 950 did not exist for them.
    return False if first == -1 and family != "a3" else None


def is_maintained(row: Release) -> bool:
    """Whether the release's line, or main, still gets fixes."""
    table = _data()["maintained"]
    return row.base in table["lines"] or row.version == table["newest"]


def image(row: Release, family: str | None) -> str | None:
    """The official container image for a family: "quay.io/ascend/vllm-ascend:v0.18.0-a3". None if there is none."""
    if family not in row.chips:
        return None
    return f"quay.io/ascend/vllm-ascend:v{row.version}{chips()[family].image_suffix}"
