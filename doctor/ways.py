"""What is installed as one stack, and the shortest ways from it to releases that fit together on this machine.

Contract: pure; changes nothing. What is not known (None) is neither right nor wrong: it is not compared, and a way that hangs on
it says so. A driver is only ever shown, never changed.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import field

from doctor import compat
from doctor.compat import Release
from doctor.facts import Facts, known
from doctor.facts.cann import Cann, Nnal, NnalSearch
from doctor.facts.driver import Driver
from doctor.facts.machine import Machine, OperatingSystem
from doctor.facts.npu import Chip, Npus
from doctor.facts.target import Packages, Target
from doctor.record import dataclass
from doctor.versions import Scheme, compare
from doctor.words import Words


class How(enum.Enum):
    """How a component is changed; the value is also its word in JSON."""

    PIP = "pip"
    BUILD = "source build"
    REMOVE = "remove"
    PYTHON = "python"
    CANN = "cann"
    DRIVER = "driver"


COST = {How.PIP: 1, How.REMOVE: 1, How.BUILD: 6, How.PYTHON: 15, How.CANN: 30, How.DRIVER: 100}
"""What a change weighs: a driver needs the host's owner and a reboot, CANN an installer of gigabytes, Python a new environment."""
PACKAGES_AT_MOST = 3
"""What all pip packages together weigh at most: they are one command, however many."""
UNMAINTAINED, CANDIDATE, OLDER, ONLY_DOCUMENTED, NO_IMAGE = 8, 6, 8, 4, 10
"""What a row weighs for getting no fixes, being an rc, being older than what is installed, fitting CANN only by its pages, and
having no image for the chip. The first three are together less than a change of CANN, more than a handful of pip packages: a maintained stable release is worth some pip pins."""
CHOICES = 3
"""Ways that are shown."""


@dataclass(frozen=True)
class Installed:
    """The stack as it is found. None: not known, or, where `complete`, not installed. `family` as in `facts.npu.Chip`."""

    vllm_ascend: str | None = None
    vllm: str | None = None
    torch: str | None = None
    torch_npu: str | None = None
    triton_ascend: str | None = None
    triton: str | None = None
    """Upstream triton, which must not be there."""
    cann: str | None = None
    nnal: str | None = None
    hdk: str | None = None
    python: str | None = None
    glibc: str | None = None
    os: str | None = None
    arch: str | None = None
    family: str | None = None
    chip: str | None = None
    interpreter: str = "python3"
    complete: bool = False
    """Whether the list of Python packages is whole, so that a missing one is not installed."""

    @staticmethod
    def from_facts(facts: Facts) -> Installed:
        packages = known(facts.get(Packages))
        target, system, machine = known(facts.get(Target)), known(facts.get(OperatingSystem)), known(facts.get(Machine))
        cann, search, chip = known(facts.get(Cann)), known(facts.get(NnalSearch)), known(facts.get(Chip))
        driver, npus = known(facts.get(Driver)), known(facts.get(Npus))
        nnal = known(facts.get(Nnal)) or (search.found if search else None)
        versions: Mapping[str, str] = packages.versions if packages else {}
        return Installed(
            vllm_ascend=versions.get("vllm-ascend"),
            vllm=versions.get("vllm"),
            torch=versions.get("torch"),
            torch_npu=versions.get("torch-npu"),
            triton_ascend=versions.get("triton-ascend"),
            triton=versions.get("triton"),
            cann=cann.version if cann else None,
            nnal=nnal.version if nnal else None,
            hdk=driver.version if driver else npus.driver_version if npus else None,
            python=(target.version if target else None) or (packages.python if packages else None),
            glibc=system.glibc if system else None,
            os=(system.name or system.id) if system else None,
            arch=machine.arch if machine else None,
            family=chip.family if chip else None,
            chip=chip.name if chip else None,
            interpreter=target.python if target and target.python else "python3",
            complete=packages.complete if packages else False,
        )


@dataclass(frozen=True)
class Change:
    """One component that has to change. `current` None: not installed or not known; `wanted` "" where it has to go."""

    component: str
    current: str | None
    wanted: str
    how: How


@dataclass(frozen=True)
class Way:
    """One release row and what leads to it. `reason` says why it cannot run as the machine is, if so."""

    release: Release
    cann: str
    """The CANN that it will run with: the installed one if it fits."""
    changes: tuple[Change, ...]
    weight: int
    reason: Words | None = None
    blocked: bool = False
    """Nothing helps: the chip is not supported."""
    unknown: tuple[str, ...] = ()
    """Components that could not be compared."""
    image: str | None = None


@dataclass(frozen=True)
class Stack:
    """The judgement. `release` is the installed row, `nearest` a neighbour where the installed release has no row."""

    installed: Installed
    release: Release | None
    nearest: Release | None
    mismatches: tuple[Change, ...]
    ways: tuple[Way, ...]
    """Best first, one a release line, at most CHOICES."""
    impossible: tuple[tuple[Words, tuple[str, ...]], ...] = field(default=())
    """Why rows cannot run here as it is, and which rows, oldest first."""
    unknown: tuple[str, ...] = ()

    @property
    def consistent(self) -> bool | None:
        """None where the release has no row or something that counts is not known."""
        if self.release is None:
            return None
        return False if self.mismatches else None if self.unknown else True


def judge_stack(installed: Installed) -> Stack:
    """Compares the installed stack with its own release row, and finds the ways to every other row."""
    own = compat.release(installed.vllm_ascend) if installed.vllm_ascend else None
    neighbour = compat.nearest(installed.vllm_ascend) if installed.vllm_ascend and own is None else None
    every = [_way(installed, row) for row in compat.releases()]
    mine = next((way for way in every if own is not None and way.release.version == own.version), None)
    return Stack(
        installed=installed,
        release=own,
        nearest=neighbour,
        mismatches=tuple(change for change in mine.changes if change.current or not _may_be_there(installed, change)) if mine else (),
        ways=_choose(every, own),
        impossible=_grouped(every),
        unknown=mine.unknown if mine else (),
    )


def _may_be_there(installed: Installed, change: Change) -> bool:
    """Whether a component without a version may be installed all the same: CANN that was not found, or any package of a partial list."""
    return change.how is How.CANN or not installed.complete


def _choose(every: list[Way], own: Release | None) -> tuple[Way, ...]:
    """The best way of each X.Y.Z: first a stack that needs no change, then by weight, then the newest; the installed line is among them."""
    newest_first = [way for way in reversed(every) if not way.blocked]
    ordered = sorted(newest_first, key=lambda way: (bool(way.changes), way.weight))
    best: dict[str, Way] = {}
    for way in ordered:
        best.setdefault(way.release.base, way)
    ways = list(best.values())
    mine = [way for way in ways[CHOICES:] if own is not None and way.release.base == own.base]
    return (*ways[: CHOICES - len(mine)], *mine)


def _grouped(every: list[Way]) -> tuple[tuple[Words, tuple[str, ...]], ...]:
    groups: dict[Words, list[str]] = {}
    for way in every:
        if way.reason is not None:
            groups.setdefault(way.reason, []).append(way.release.version)
    return tuple((reason, tuple(versions)) for reason, versions in groups.items())


def _way(installed: Installed, row: Release) -> Way:
    family = installed.family
    fits = compat.cann_matches(row, installed.cann, family) if installed.cann else None
    cann = installed.cann if fits and installed.cann else row.cann_for(family)
    changes = tuple(_system_changes(installed, row, cann)) + tuple(_package_changes(installed, row))
    blocked = family is not None and compat.supports_chip(row, family) is False
    return Way(
        release=row,
        cann=cann,
        changes=changes,
        weight=_weight(changes) + _penalty(installed, row, cann),
        reason=_reason(installed, row, cann, changes, blocked),
        blocked=blocked,
        unknown=tuple(_unknown(installed)),
        image=compat.image(row, family),
    )


def _system_changes(installed: Installed, row: Release, cann: str) -> Iterator[Change]:
    """Driver, CANN, NNAL and Python."""
    minimum = compat.hdk_minimum(cann, installed.family or "")
    if installed.hdk and minimum and compat.hdk_accepts(cann, installed.hdk, installed.family or "") is False:
        yield Change("driver", installed.hdk, f">={minimum[0]}", How.DRIVER)
    if cann != installed.cann:
        yield Change("cann", installed.cann, cann, How.CANN)
    if installed.nnal and compare(installed.nnal, cann, Scheme.CANN) in (-1, 1):
        yield Change("nnal", installed.nnal, cann, How.CANN)
    if installed.python and compat.python_fits(row, installed.python) is False:
        yield Change("python", installed.python, row.python, How.PYTHON)


def _package_changes(installed: Installed, row: Release) -> Iterator[Change]:
    wheel = compat.wheel_fits(row, installed.glibc) if installed.glibc else bool(row.wheel_glibc)
    own = installed.vllm_ascend
    if own is not None and compat.public(own) != row.version or own is None and installed.complete:
        yield Change("vllm-ascend", own, row.version, How.BUILD if wheel is False else How.PIP)
    judged = [
        ("vllm", installed.vllm, row.vllm, compat.vllm_matches),
        ("torch", installed.torch, row.torch, compat.torch_matches),
        ("torch-npu", installed.torch_npu, row.torch_npu, compat.torch_npu_matches),
    ]
    if installed.family != "310p" and row.triton_ascend:
        judged.append(("triton-ascend", installed.triton_ascend, row.triton_ascend, compat.triton_ascend_matches))
    for name, current, wanted, matches in judged:
        if current is None and installed.complete or current is not None and matches(row, current) is False:
            yield Change(name, current, wanted, How.PIP)
    # 310P has no triton back end at all; elsewhere upstream's package overwrites the files of triton-ascend.
    if installed.family == "310p" and installed.triton_ascend:
        yield Change("triton-ascend", installed.triton_ascend, "", How.REMOVE)
    if installed.triton and (installed.family == "310p" or row.triton_ascend):
        yield Change("triton", installed.triton, "", How.REMOVE)


def _weight(changes: tuple[Change, ...]) -> int:
    packages = sum(COST[change.how] for change in changes if change.how in (How.PIP, How.REMOVE))
    others = sum(COST[change.how] for change in changes if change.how not in (How.PIP, How.REMOVE))
    return others + min(packages, PACKAGES_AT_MOST)


def _penalty(installed: Installed, row: Release, cann: str) -> int:
    penalty = (0 if compat.is_maintained(row) else UNMAINTAINED) + (0 if row.stable else CANDIDATE)
    if installed.vllm_ascend and compare(row.version, compat.public(installed.vllm_ascend), Scheme.PACKAGE) == -1:
        penalty += OLDER
    if cann == installed.cann and compat.line(cann) != compat.line(row.cann_for(installed.family)):
        penalty += ONLY_DOCUMENTED
    if installed.family is not None and installed.family not in row.chips:
        penalty += NO_IMAGE
    return penalty


def _reason(installed: Installed, row: Release, cann: str, changes: tuple[Change, ...], blocked: bool) -> Words | None:
    if blocked:
        name = installed.chip or str(installed.family)
        return Words(f"no image and no kernels for {name} ({installed.family})", f"不支持 {name}（{installed.family}）")
    for change in changes:
        if change.how is How.DRIVER:
            line = compat.line(cann)
            certain = (compat.hdk_minimum(cann, installed.family or "") or ("", "indirect"))[1] == "official"
            told = ("" if certain else " (told by related products only)", "" if certain else "（仅见于相关产品配套表）")
            return Words(
                f"CANN {line} needs driver (HDK) {change.wanted}, {change.current} is installed{told[0]}",
                f"CANN {line} 要求驱动（HDK）{change.wanted}，当前为 {change.current}{told[1]}",
            )
    return None


def _unknown(installed: Installed) -> Iterator[str]:
    counts = {"cann": installed.cann, "driver": installed.hdk, "chip": installed.family, "python": installed.python}
    if not installed.complete:
        counts |= {"vllm": installed.vllm, "torch": installed.torch, "torch-npu": installed.torch_npu}
    return (name for name, value in counts.items() if value is None)
