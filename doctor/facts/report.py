"""Facts from a pasted text: the same fact types that a live host gives, filled as far as the text tells.

Contract: pure, never raises, linear in the text. What several places tell is taken from the most trustworthy, then from the first;
a field that no place tells is None, and `complete` is False unless a whole listing was pasted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from doctor.facts import FixedFacts
from doctor.facts.cann import Cann, Nnal, NnalSearch
from doctor.facts.driver import Driver, Firmware
from doctor.facts.kernel import Sysctls, TransparentHugePages
from doctor.facts.machine import Disk, Disks, Machine, Memory, OperatingSystem
from doctor.facts.neighbours import MindIE, MindIEs, release_of
from doctor.facts.npu import NpuPresence, Npus
from doctor.facts.report_blocks import ENVIRONMENT, SYSCTL, cann_install, tell_blocks
from doctor.facts.report_chips import chip, tell_chips
from doctor.facts.report_commands import tell_commands
from doctor.facts.report_keyed import tell_keyed
from doctor.facts.report_packages import EDITABLE, PREFIX, tell_packages
from doctor.facts.report_prose import tell_images, tell_log_lines, tell_mentions, tell_pairs, tell_paths, tell_systems, tell_title
from doctor.facts.report_tables import tell_tables
from doctor.facts.report_text import Sighting, Sightings, Text, text_of
from doctor.facts.target import Environment, Packages, TorchBuild

_READERS = (
    tell_keyed,
    tell_blocks,
    tell_packages,
    tell_tables,
    tell_log_lines,
    tell_paths,
    tell_images,
    tell_pairs,
    tell_mentions,
    tell_title,
    tell_chips,
    tell_systems,
)


def report_facts(lines: Sequence[tuple[str, int, str]]) -> FixedFacts:
    """The facts in the cleaned lines (source label, line number, text) of one or several files, which count as one report."""
    text = text_of(lines)
    told = Sightings()
    for reader in _READERS:
        reader(text, told)
    commands = tuple(tell_commands(text, told))
    return FixedFacts(*commands, *_facts(text, told))


def _facts(text: Text, told: Sightings) -> Iterator[object]:
    yield from _npu_facts(text, told)
    yield from _cann_facts(text, told)
    yield from _neighbour_facts(text, told)
    yield from _target_facts(text, told)
    yield from _machine_facts(text, told)


def _npu_facts(text: Text, told: Sightings) -> Iterator[object]:
    driver, firmware, npus, seen = told.best("driver"), told.best("firmware"), told.best("npus"), told.best("chip")
    if driver is not None:
        yield driver.detail if isinstance(driver.detail, Driver) else Driver(driver.value, None, None, *text.place(driver.at))
    if firmware is not None:
        yield firmware.detail if isinstance(firmware.detail, Firmware) else Firmware(firmware.value, source=text.place(firmware.at)[0])
    if npus is not None and isinstance(npus.detail, Npus):
        yield npus.detail
    found = chip(seen.value, *text.place(seen.at), family=str(seen.detail)) if seen is not None else None
    if found is not None:
        yield found
    if found is not None or npus is not None:
        yield NpuPresence(True, "the text names its chips")


def _cann_facts(text: Text, told: Sightings) -> Iterator[object]:
    seen, install = told.best("cann"), cann_install(told)
    if seen is not None and install is not None:
        source, line = text.place(seen.at)
        install = replace(install, source=source)
        yield Cann((install,), install, "text", source, line)
    nnal = told.best("nnal")
    if nnal is not None:
        found = Nnal("", nnal.value, (), *text.place(nnal.at))
        yield found
        yield NnalSearch(found)


def _neighbour_facts(text: Text, told: Sightings) -> Iterator[object]:
    mindie = told.best("mindie")
    if mindie is not None:
        source, line = text.place(mindie.at)
        yield MindIEs((MindIE(release_of(mindie.value), "", source, line),), source)


def _target_facts(text: Text, told: Sightings) -> Iterator[object]:
    packages = told.under(PREFIX)
    python = _python(told)
    if packages or python:
        first = next(iter(packages.values()), None)
        yield Packages(
            {name: seen.value for name, seen in packages.items()},
            complete=told.best("packages.whole") is not None,
            python=python,
            editable=tuple(told.under(EDITABLE)),
            source=text.place(first.at)[0] if first else "",
            lines={name: text.place(seen.at)[1] for name, seen in packages.items()},
        )
    torch = packages.get("torch")
    if torch is not None:
        yield TorchBuild(torch.value, _cuda(torch.value, told.value("torch.cuda")), source=text.place(torch.at)[0])
    variables = told.under(ENVIRONMENT)
    if variables:
        first = next(iter(variables.values()))
        yield Environment(
            {name: seen.value for name, seen in variables.items()},
            complete=told.best("environment.whole") is not None,
            source=text.place(first.at)[0],
            lines={name: text.place(seen.at)[1] for name, seen in variables.items()},
        )


def _cuda(version: str, told: str | None) -> bool | None:
    """Whether torch is a CUDA build: its local version tells, else collect_env's line."""
    local = version.partition("+")[2]
    if local.startswith("cu1"):
        return True
    return False if local == "cpu" else None if told is None else told == "yes"


def _python(told: Sightings) -> str | None:
    """Python's version. collect_env tells "3.10" in some releases; a path may know the rest of it."""
    main = told.value("python") or told.value("python.full") or told.value("python.short")
    full = told.value("python.full")
    return full if main and full and full.startswith(main + ".") else main


def _machine_facts(text: Text, told: Sightings) -> Iterator[object]:
    machine = _machine(text, told)
    if machine is not None:
        yield machine
    system = _system(text, told)
    if system is not None:
        yield system
    memory = told.best("memory")
    if memory is not None and isinstance(memory.detail, Memory):
        yield replace(memory.detail, source=text.place(memory.at)[0])
    disks = {mount: seen.detail for mount, seen in told.under("disk:").items() if isinstance(seen.detail, Disk)}
    if disks:
        yield Disks(disks, _source(text, told.under("disk:").values()))
    settings = told.under(SYSCTL)
    if settings:
        yield Sysctls({key: seen.value for key, seen in settings.items()}, source=_source(text, settings.values()))
    pages = told.best("thp")
    if pages is not None:
        yield TransparentHugePages(pages.value, text.place(pages.at)[0])


def _source(text: Text, seen: Iterable[Sighting]) -> str:
    first = next(iter(seen), None)
    return text.place(first.at)[0] if first is not None else ""


def _machine(text: Text, told: Sightings) -> Machine | None:
    seen = told.best("machine")
    machine = seen.detail if seen is not None and isinstance(seen.detail, Machine) else Machine()
    places = [sighting for kind in ("machine", "arch", "cpu.vendor", "page_size", "cpus") if (sighting := told.best(kind))]
    if not places:
        return None
    return replace(
        machine,
        arch=machine.arch or told.value("arch"),
        cpu_vendor=machine.cpu_vendor or told.value("cpu.vendor"),
        cpu_model=machine.cpu_model or told.value("cpu.model"),
        cpus=machine.cpus or told.number("cpus"),
        page_size=told.number("page_size"),
        source=text.place(places[0].at)[0],
    )


def _system(text: Text, told: Sightings) -> OperatingSystem | None:
    release, seen = told.best("os"), told.best("os.seen")
    system = OperatingSystem()
    if release is not None and isinstance(release.detail, OperatingSystem):
        system = release.detail
    elif seen is not None and isinstance(seen.detail, OperatingSystem):
        system = replace(seen.detail, id=seen.value)
    places = [sighting for sighting in (release, seen, told.best("kernel"), told.best("glibc")) if sighting]
    if not places:
        return None
    return replace(system, kernel=told.value("kernel"), glibc=told.value("glibc"), source=text.place(places[0].at)[0])
