"""`sysfs`: values below /sys and their persistence through tmpfiles.d, on trees that look like a live machine's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from doctor.apply import engine
from doctor.apply.change import ChangeError, Ground, Standing
from doctor.apply.kernelchange import KernelChange
from doctor.apply.kind import Context
from doctor.apply.plan import Effect, StepPlan
from doctor.apply.rootfiles import RootFiles
from doctor.apply.steps.sysfs import KIND
from doctor.facts import HostFacts
from doctor.fix import SetSysfs
from doctor.host.live import LiveHost
from tests.apply.stopping import stopped_at
from tests.apply.trees import make_root, picture, site_of

THP = "/sys/kernel/mm/transparent_hugepage/enabled"
GOVERNORS = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
OWN = "/etc/tmpfiles.d/00-ascend-doctor-mm-transparent-hugepage-enabled.conf"


@pytest.fixture(autouse=True)
def as_a_live_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Context, "live", property(lambda self: True))


def step(root: Path, path: str = THP, value: str = "always") -> StepPlan:
    host = LiveHost(str(root))
    return KIND.plan("sysfs", SetSysfs(path, value), Context(host, HostFacts(host), "host-thp-not-always", "thp", str(root)))


def told(found: StepPlan) -> str:
    return "\n".join(note.text.en for note in found.notes)


def test_the_value_and_its_persistence(tmp_path: Path) -> None:
    found = step(make_root(tmp_path, {THP: "always [madvise] never\n"}))
    assert [change.subject for change in found.changes] == [OWN, THP] and found.effect is Effect.NOW
    assert f"+w {THP} - - - - always" in found.changes[0].diff()
    assert found.changes[1].commands() == (("sh", "-c", f"echo always > {THP}"),)


def test_already_so_by_somebody_elses_line(tmp_path: Path) -> None:
    root = make_root(tmp_path, {THP: "[always] madvise never\n", "/etc/tmpfiles.d/thp.conf": f"w {THP} - - - - always\n"})
    assert step(root).already and "thp.conf keeps the value" in told(step(root))


def test_an_earlier_line_for_the_same_path_wins_and_is_named(tmp_path: Path) -> None:
    root = make_root(tmp_path, {THP: "always [madvise] never\n", "/etc/tmpfiles.d/00-a.conf": f"w! {THP} - - - - never\n"})
    assert any(note.conflict and "00-a.conf wins" in note.text.en for note in step(root).notes)


def test_tuned_and_the_kernels_command_line_are_named(tmp_path: Path) -> None:
    files = {
        THP: "always [madvise] never\n",
        "/proc/cmdline": "ro transparent_hugepage=madvise quiet\n",
        "/etc/tuned/active_profile": "latency\n",
        "/etc/systemd/system/multi-user.target.wants/tuned.service": "-> /usr/lib/systemd/system/tuned.service",
        "/usr/lib/tuned/latency/tuned.conf": "[vm]\ntransparent_hugepages=never\n",
    }
    found = told(step(make_root(tmp_path, files)))
    assert "tuned (/usr/lib/tuned/latency/tuned.conf) sets it to never" in found and "transparent_hugepage=madvise" in found


def test_governors_of_all_cpus_that_have_the_word(tmp_path: Path) -> None:
    cpu = "/sys/devices/system/cpu/cpu{}/cpufreq/{}"
    files = {cpu.format(n, "scaling_governor"): f"{value}\n" for n, value in enumerate(("ondemand", "performance", "ondemand", "ondemand"))}
    files |= {cpu.format(n, "scaling_available_governors"): "ondemand performance\n" for n in range(3)}
    files[cpu.format(3, "scaling_available_governors")] = "ondemand userspace\n"
    found = step(make_root(tmp_path, files), GOVERNORS, "performance")
    change = found.changes[1]
    assert isinstance(change, KernelChange) and [path.split("/")[5] for path in change.before] == ["cpu0", "cpu1", "cpu2"]


@pytest.mark.parametrize(
    ("path", "value"), [("/etc/passwd", "x"), ("/sys/../etc/passwd", "x"), (THP, "always; rm -rf /"), (THP, "sometimes"), ("/sys/none", "1")]
)
def test_what_is_no_setting_or_takes_no_such_value_is_refused(tmp_path: Path, path: str, value: str) -> None:
    found = step(make_root(tmp_path, {THP: "always [madvise] never\n"}), path, value)
    assert found.blocked is not None and not found.changes


def ground(root: Path) -> Ground:
    """Neither backups nor programs are used for kernel values."""
    return Ground(RootFiles(str(root)), None, None, True, "t")  # type: ignore[arg-type]


def test_values_are_written_read_back_and_put_back(tmp_path: Path) -> None:
    cpu = [f"/sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor" for n in range(3)]
    root = make_root(tmp_path, dict(zip(cpu, ("ondemand", "schedutil", "performance"), strict=True)))
    change = KernelChange(GOVERNORS, {cpu[0]: "ondemand", cpu[1]: "schedutil", cpu[2]: "performance"}, "performance")
    place = ground(root)
    assert change.look(place) is Standing.BEFORE
    place.files.write_value(cpu[0], "performance")  # stopped after the first
    assert change.look(place) is Standing.MIXED
    # A plain file keeps the tail of a longer word; the kernel does not, so the words are replaced whole here.
    for path in cpu:
        (root / path.lstrip("/")).write_text("")
    change_made(change, place, root, cpu)
    assert change.look(place) is Standing.AFTER
    (root / cpu[0].lstrip("/")).unlink()  # taken offline
    assert change.look(place) is Standing.AFTER
    (root / cpu[1].lstrip("/")).write_text("powersave")
    assert change.look(place) is Standing.OTHER and "now powersave" in change.difference(place, {})


def change_made(change: KernelChange, place: Ground, root: Path, paths: list[str]) -> None:
    change.make(place, {})
    assert {(root / path.lstrip("/")).read_text() for path in paths} == {"performance"}


def test_a_value_that_the_kernel_does_not_take_is_an_error(tmp_path: Path) -> None:
    root = make_root(tmp_path, {THP: "always [madvise] never\n"})
    change = KernelChange(THP, {THP: "madvise"}, "always")
    with pytest.raises(ChangeError, match="did not take"):  # a plain file shows no brackets afterwards
        (root / THP.lstrip("/")).write_text("x" * 40)
        change.make(ground(root), {})


@pytest.mark.parametrize("path", ["/etc/passwd", "/proc/sys/../../etc/passwd", "/proc/1/mem"])
def test_a_journal_cannot_make_doctor_write_elsewhere(path: str) -> None:
    with pytest.raises(ValueError, match="no kernel value"):
        KernelChange.of({"name": "x", "before": {path: "a"}, "after": "b"})


RULE = """
id: host-cpu-governor
severity: warn
title: {en: Not performance., zh: 不是 performance。}
why: {en: Jitter., zh: 抖动。}
decide:
- when: {governor: powersavexx}
fixes:
- id: set-governor
  title: {en: Set it, zh: 设置}
  safety: ask
  steps: [cpupower]
  do:
  - sysfs: {path: '/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor', value: performance}
"""
SLOW = "powersavexx"
"""A stand-in of a governor, as long as "performance": a plain file keeps the tail of what was longer."""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree that counts as the machine's own: its values are written."""
    real = engine._ground

    @contextmanager
    def live(*given: object) -> Iterator[Ground]:
        with real(*given) as place:  # type: ignore[arg-type]
            yield replace(place, live=True)

    monkeypatch.setattr(engine, "_ground", live)
    cpu = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
    return make_root(tmp_path / "root", {cpu.format(number): SLOW for number in range(3)})


def test_fixed_undone_and_stopped_between_two_cpus(machine: Path) -> None:
    name, before = ("host-cpu-governor",), picture(machine)
    site = site_of(machine, RULE)
    (done,) = engine.apply_plan(site, name, engine.make_plan(site.look(), name).hash)
    assert done.outcome is engine.Outcome.FIXED
    assert picture(machine) != before
    engine.undo(site)
    assert picture(machine) == before

    def run(reached: object) -> object:
        place = site_of(machine, RULE, reached=reached)
        return engine.apply_plan(place, name, engine.make_plan(place.look(), name).hash)

    for number in range(1, 30):
        if not stopped_at(number, run):
            break
        engine.undo(site)
        assert picture(machine) == before, number
    assert number > 10


def test_after_a_reboot_a_value_that_is_not_ours_is_left_alone(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, site = ("host-cpu-governor",), site_of(machine, RULE)
    boots = iter(("first", "second"))
    monkeypatch.setattr(engine, "_boot", lambda place: next(boots))
    engine.apply_plan(site, name, engine.make_plan(site.look(), name).hash)
    (tmpfiles,) = (machine / "etc/tmpfiles.d").iterdir()
    value = machine / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
    value.write_text("schedutil")
    done = engine.undo(site)
    assert done.put_back.left == (GOVERNORS,) and not tmpfiles.exists() and value.read_text() == "schedutil"
