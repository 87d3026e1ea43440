"""The one report that every format renders: what was run, the machine in a few words, the counts, and the exit code.

Contract: built from an examination by pure functions; nothing here prints, and nothing that a machine or a text holds makes it raise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TypeVar

from doctor.examine import Examination, Selection
from doctor.facts import Facts, known
from doctor.facts.cann import Cann
from doctor.facts.container import Container
from doctor.facts.driver import Driver, Firmware
from doctor.facts.machine import Machine, OperatingSystem
from doctor.facts.npu import Chip, NpuPresence, Npus
from doctor.facts.target import Packages, Target
from doctor.finding import Outcome, Severity, Suppressed
from doctor.record import dataclass

T = TypeVar("T")

OK, FOUND, USAGE, CANNOT, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit codes, the same for every format. A rule that broke outweighs findings: with it, doctor did not do its whole work."""

SHOWN_PACKAGES = ("torch", "torch-npu", "vllm", "vllm-ascend", "transformers", "triton-ascend", "mindie-llm", "modelslim", "numpy")
"""Packages whose versions a report tells, where they are installed."""

THRESHOLDS: Mapping[str, Severity | None] = {"fail": Severity.FAIL, "warn": Severity.WARN, "note": Severity.NOTE, "never": None}
"""`--fail-on` -> the mildest severity that gives exit code 1."""


@dataclass(frozen=True)
class Run:
    """How doctor was asked. `started` is ISO 8601 in UTC."""

    command: str
    started: str
    language: str = "en"
    selection: Selection = Selection()
    fail_on: str = "fail"


@dataclass(frozen=True)
class TargetSummary:
    """One interpreter in which vLLM runs or would run; `python` is "" for the packages that a text names."""

    python: str
    how: str
    version: str | None
    packages: Mapping[str, str]


@dataclass(frozen=True)
class HostSummary:
    """What is known of the machine. None: not known. `npus` is (name, count) by name; count None where a text names only the chip."""

    label: str
    kind: str
    os: str | None = None
    kernel: str | None = None
    arch: str | None = None
    cpu: str | None = None
    container: str | None = None
    npu_present: bool | None = None
    npu_how: str = ""
    npus: tuple[tuple[str, int | None], ...] = ()
    driver: str | None = None
    firmware: str | None = None
    cann: str | None = None
    targets: tuple[TargetSummary, ...] = ()


@dataclass(frozen=True)
class Summary:
    """The counts: verdicts by outcome, causes by severity, findings that are explained by a cause."""

    rules: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    severities: Mapping[str, int] = field(default_factory=dict)
    symptoms: int = 0


@dataclass(frozen=True)
class Report:
    """Everything that a format needs. `problems` are inputs that could not be read to their end; `suppressed` are told apart and never count."""

    run: Run
    examination: Examination
    host: HostSummary
    summary: Summary
    exit_code: int
    problems: tuple[str, ...] = ()
    recorded: str = ""
    suppressed: tuple[Suppressed, ...] = ()


def build(
    run: Run, examination: Examination, host: HostSummary, problems: Sequence[str] = (), recorded: str = "", suppressed: Sequence[Suppressed] = ()
) -> Report:
    """The report of one examination, whose causes are those that nobody suppressed."""
    code = exit_code(examination, run.fail_on, problems)
    return Report(run, examination, host, summarise(examination), code, tuple(problems), recorded, tuple(suppressed))


def exit_code(examination: Examination, fail_on: str, problems: Sequence[str] = ()) -> int:
    """0, 1 or 3: 3 where a rule broke, an input was not read to its end, or no rule could look; 1 where a cause is at or above `fail_on`."""
    outcomes = {verdict.outcome for verdict in examination.verdicts}
    if problems or Outcome.BROKEN in outcomes or not outcomes & {Outcome.CLEAR, Outcome.FOUND}:
        return CANNOT
    threshold = THRESHOLDS[fail_on]
    worst = max((cause.finding.severity for cause in examination.causes), default=None)
    return FOUND if threshold is not None and worst is not None and worst >= threshold else OK


def summarise(examination: Examination | None) -> Summary:
    """The counts; all of them zero where nothing was examined."""
    verdicts = examination.verdicts if examination else ()
    causes = examination.causes if examination else ()
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    severities = Counter(cause.finding.severity for cause in causes)
    return Summary(
        len(verdicts),
        {outcome.value: outcomes[outcome] for outcome in Outcome},
        {severity.word: severities[severity] for severity in sorted(Severity, reverse=True)},
        sum(len(cause.symptoms) for cause in causes),
    )


def summarise_host(examination: Examination) -> HostSummary:
    """The machine in a few words."""
    facts = examination.facts
    machine, system = _fact(facts, Machine), _fact(facts, OperatingSystem)
    presence, container = _fact(facts, NpuPresence), _fact(facts, Container)
    driver, firmware, cann = _fact(facts, Driver), _fact(facts, Firmware), _fact(facts, Cann)
    npus = _npus(facts)
    return HostSummary(
        examination.label,
        examination.kind,
        os=_system(system),
        kernel=system.kernel if system else None,
        arch=machine.arch if machine else None,
        cpu=(machine.cpu_model or machine.cpu_vendor) if machine else None,
        container=container.kind or None if container else None,
        npu_present=True if npus else presence.present if presence else None,
        npu_how=presence.how if presence else "",
        npus=npus,
        driver=driver.version if driver else None,
        firmware=(firmware.package_version or firmware.version) if firmware else None,
        cann=cann.version if cann else None,
        targets=tuple(target for facts_of in examination.sets if (target := _target(facts_of.facts)) is not None),
    )


def _fact(facts: Facts, kind: type[T]) -> T | None:
    try:
        return known(facts.get(kind))
    except Exception:  # noqa: BLE001  a provider that breaks costs the verdicts that need it, which tell it; not the report
        return None


def _system(system: OperatingSystem | None) -> str | None:
    if system is None:
        return None
    return system.name or " ".join(part for part in (system.id, system.version_id) if part) or None


def _npus(facts: Facts) -> tuple[tuple[str, int | None], ...]:
    npus = _fact(facts, Npus)
    if npus is not None and npus.chips:
        return tuple(Counter(chip.name for chip in npus.chips).items())
    chip = _fact(facts, Chip)
    return ((chip.name or chip.family, None),) if chip is not None else ()


def _target(facts: Facts) -> TargetSummary | None:
    target, packages = _fact(facts, Target), _fact(facts, Packages)
    if target is None and packages is None:
        return None
    versions = packages.versions if packages else {}
    shown = {name: versions[name] for name in SHOWN_PACKAGES if name in versions}
    version = (packages.python if packages else None) or (target.version if target else None)
    return TargetSummary(target.python if target else "", target.how if target else "text", version, shown)


__all__ = [
    "CANNOT", "FOUND", "HostSummary", "INTERRUPTED", "OK", "Report", "Run", "Summary", "THRESHOLDS", "TargetSummary", "USAGE", "build",
    "exit_code", "summarise", "summarise_host",
]  # fmt: skip
