"""Packages in a real virtual environment with real pip and real wheels: planned, installed, verified, put back, stopped at every boundary."""

from __future__ import annotations

import atexit
import dataclasses
import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from doctor.apply.change import ChangeError, Standing
from doctor.apply.pipchange import PipChange
from doctor.apply.plan import StepPlan
from doctor.apply.sitestate import Places
from doctor.apply.steps.pip_install import KIND
from doctor.facts import HostFacts
from doctor.facts.npu import Chip
from doctor.facts.target import Packages, Target, discover
from doctor.facts.vllm import VllmProcess, VllmProcesses
from doctor.fix import PinPackages
from doctor.host.live import LiveHost
from tests.apply.grounds import boundaries, context, ground, journaled, run, stopped_at, undone
from tests.apply.target import contents, make_venv, make_wheel, pip

WHOLE_ROW = PinPackages()
ROW = "0.11.0"
"""torch 2.7.1, torch-npu 2.7.1.post1 or 2.7.1, vllm 0.11.0."""


@functools.cache
def _made_once() -> tuple[Path, Path]:
    """(wheels, the environment with what does not fit): each test works on a copy."""
    base = Path(tempfile.mkdtemp(prefix="ascend-doctor-wheels-"))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    folder = base / "wheels"
    for version in ("2.6.0", "2.7.1"):
        make_wheel(folder, "torch", version, {"torch/__init__.py": f"__version__ = '{version}'\n", f"torch/of_{version.replace('.', '_')}.py": ""}, ("numpy",))
    for version in ("1.26.4", "2.2.6"):
        make_wheel(folder, "numpy", version, {"numpy/__init__.py": f"__version__ = '{version}'\n"})
    make_wheel(folder, "vllm", "0.11.0", {"vllm/__init__.py": ""}, ("torch==2.8.0",))
    make_wheel(folder, "vllm-ascend", "0.11.0", {"vllm_ascend/__init__.py": ""}, ("numpy<2",))
    for version in ("2.6.0", "2.7.1", "2.7.1.post1"):
        make_wheel(folder, "torch-npu", version, {"torch_npu/__init__.py": f"__version__ = '{version}'\n"}, (f"torch=={version.partition('.post')[0]}",))
    make_wheel(folder, "triton", "3.2.0", {"triton/__init__.py": "who = 'upstream'\n"})
    make_wheel(folder, "triton-ascend", "3.2.0", {"triton/__init__.py": "who = 'ascend'\n", "triton/ascend.py": ""})
    python = make_venv(base / "env")
    names = ("torch==2.6.0", "torch-npu==2.6.0", "vllm==0.11.0", f"vllm-ascend=={ROW}", "numpy==1.26.4")
    pip(python, "install", "--no-index", "--no-deps", "--find-links", str(folder), *names)
    return folder, python.parent.parent


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    return Path(shutil.copytree(_made_once()[0], tmp_path / "wheels"))


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """A target with a torch and a torch_npu that do not fit its vllm-ascend."""
    return Path(shutil.copytree(_made_once()[1], tmp_path / "env", symlinks=True)) / "bin" / "python"


def planned(python: Path, wheels: Path | None, action: PinPackages = WHOLE_ROW, *more: object, **chosen: Any) -> StepPlan:
    target = discover(LiveHost("/"), str(python))[-1]
    packages = HostFacts(LiveHost("/"), target).get(Packages)
    assert isinstance(target, Target) and isinstance(packages, Packages)
    facts = (target, packages, Chip("a2", "910B3", "ascend910b"), *more)
    return KIND.plan("0", action, context(*facts, wheels=str(wheels or ""), **chosen))


def change_of_plan(step: StepPlan) -> PipChange:
    assert step.blocked is None, step.blocked
    (change,) = step.changes
    assert isinstance(change, PipChange)
    return change


@functools.cache
def _planned_once() -> PipChange:
    folder, prefix = _made_once()
    return change_of_plan(planned(prefix / "bin" / "python", folder))


def ready(python: Path, wheels: Path) -> PipChange:
    """The change for a fresh copy of the target; the plan of one copy is that of every other, but for the paths."""
    once, prefix = _planned_once(), str(python.parent.parent)
    moved = once.places.prefix
    sites = tuple(site.replace(moved, prefix, 1) for site in once.places.sites)
    return dataclasses.replace(once, installer=dataclasses.replace(once.installer, python=str(python), wheels=str(wheels)), places=Places(prefix, sites, f"{prefix}/bin"))


def installed(python: Path) -> dict[str, str]:
    return dict(line.split("==") for line in pip(python, "freeze").splitlines())


def test_the_plan_shows_what_pip_would_do_and_changes_nothing(python: Path, wheels: Path) -> None:
    before = contents(python)
    change = change_of_plan(planned(python, wheels))
    assert change == ready(python, wheels)  # the same look gives the same plan
    assert change.before["torch"] == "2.6.0" and change.after["torch"] == "2.7.1"
    assert change.after["torch-npu"].startswith("2.7.1")
    assert "-torch==2.6.0\n+torch==2.7.1\n" in change.diff()
    assert "vllm" not in change.after and "numpy" not in change.after
    assert all(len(change.hashes[name]) == 64 for name in ("torch", "torch-npu"))
    assert contents(python) == before


def test_it_installs_exactly_the_row_and_puts_back_every_byte(python: Path, wheels: Path, tmp_path: Path) -> None:
    before, change = contents(python), ready(python, wheels)
    place = ground(tmp_path / "journal")
    assert change.look(place) is Standing.BEFORE
    saved = change.save(place, "change")
    change.make(place, saved)
    assert change.look(place) is Standing.AFTER
    assert installed(python)["torch"] == "2.7.1" and installed(python)["numpy"] == "1.26.4"
    assert planned(python, wheels).already
    shutil.rmtree(wheels)  # going back needs no wheels and no network
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    assert contents(python) == before
    assert installed(python)["torch"] == "2.6.0"


def test_undoing_twice_changes_nothing_more(python: Path, wheels: Path, tmp_path: Path) -> None:
    change, before = ready(python, wheels), contents(python)
    place = ground(tmp_path / "journal")
    saved = change.save(place, "change")
    change.make(place, saved)
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    assert contents(python) == before


def test_the_freeze_is_kept(python: Path, wheels: Path, tmp_path: Path) -> None:
    saved = ready(python, wheels).save(ground(tmp_path / "journal"), "change")
    assert "torch==2.6.0" in saved["freeze"]


def test_a_stop_at_any_boundary_can_be_undone(python: Path, wheels: Path, tmp_path: Path) -> None:
    before, change = contents(python), ready(python, wheels)
    points = boundaries(change, tmp_path / "whole")
    assert len(points) >= 3
    shutil.rmtree(python.parent.parent)
    for number, point in enumerate(points):
        shutil.copytree(_made_once()[1], python.parent.parent, symlinks=True)
        saved = stopped_at(change, tmp_path / f"stop-{number}", point)
        assert change.look(ground(tmp_path / f"stop-{number}")) in (Standing.UNFINISHED, Standing.AFTER)
        assert undone(change, tmp_path / f"stop-{number}", saved) is Standing.BEFORE
        assert contents(python) == before
        shutil.rmtree(python.parent.parent)


def test_pip_killed_in_the_middle_of_a_package_can_be_undone(python: Path, wheels: Path, tmp_path: Path) -> None:
    before, change = contents(python), ready(python, wheels)
    saved = stopped_at(change, tmp_path / "journal", "packages marked")
    site = next((python.parent.parent / "lib").glob("python3*/site-packages"))
    # What a kill leaves: the old package moved aside, half of the new one without its list of files.
    (site / "torch").rename(site / "~orch")
    (site / "torch-2.6.0.dist-info").rename(site / "~orch-2.6.0.dist-info")
    (site / "torch").mkdir()
    (site / "torch" / "half.py").write_text("")
    assert change.look(ground(tmp_path / "journal")) is Standing.UNFINISHED
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    assert contents(python) == before


def test_a_failing_installation_says_what_pip_said_and_can_be_undone(python: Path, wheels: Path, tmp_path: Path) -> None:
    before, change = contents(python), ready(python, wheels)
    place = ground(tmp_path / "journal")
    saved = change.save(place, "change")
    make_wheel(wheels, "torch", "2.7.1", {"torch/__init__.py": "other = 'content'\n"})  # not the file that was reviewed
    with pytest.raises(ChangeError, match="HASHES"):
        change.make(place, saved)
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    assert contents(python) == before


def test_a_damaged_copy_is_never_put_back(python: Path, wheels: Path, tmp_path: Path) -> None:
    change, place = ready(python, wheels), ground(tmp_path / "journal")
    saved = change.save(place, "change")
    change.make(place, saved)
    archive = Path(saved["folder"]) / "replaced.tar"
    archive.write_bytes(archive.read_bytes()[:-1] + b"x")
    after = contents(python)
    with pytest.raises(ChangeError, match="not the copy"):
        change.unmake(place, saved)
    assert contents(python) == after


def test_another_hand_in_between_is_told(python: Path, wheels: Path, tmp_path: Path) -> None:
    change, place = ready(python, wheels), ground(tmp_path / "journal")
    saved = change.save(place, "change")
    change.make(place, saved)
    make_wheel(wheels, "torch", "2.9.9", {"torch/__init__.py": ""})
    pip(python, "install", "--no-index", "--no-deps", "--find-links", str(wheels), "torch==2.9.9")
    assert change.look(place) is Standing.OTHER
    assert "torch: before 2.6.0, set by doctor to 2.7.1, now 2.9.9" in change.difference(place, saved)


def test_what_was_installed_afterwards_survives_the_undo(python: Path, wheels: Path, tmp_path: Path) -> None:
    change, place = ready(python, wheels), ground(tmp_path / "journal")
    saved = change.save(place, "change")
    change.make(place, saved)
    make_wheel(wheels, "colour", "1.0", {"colour.py": "red = 1\n"})
    pip(python, "install", "--no-index", "--find-links", str(wheels), "colour")
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    assert installed(python)["colour"] == "1.0"


def test_upstream_triton_goes_and_its_neighbour_gets_its_files_back(python: Path, wheels: Path, tmp_path: Path) -> None:
    pip(python, "install", "--no-index", "--find-links", str(wheels), "triton-ascend==3.2.0", "triton==3.2.0")
    before = contents(python)
    pip(python, "uninstall", "--yes", "vllm-ascend")
    make_wheel(wheels, "vllm-ascend", "0.18.0", {"vllm_ascend/__init__.py": ""})
    pip(python, "install", "--no-index", "--no-deps", "--find-links", str(wheels), "vllm-ascend==0.18.0")
    before = contents(python)
    change = change_of_plan(planned(python, wheels, PinPackages(names=("triton",))))
    assert change.before["triton"] == "3.2.0" and change.after["triton"] == ""
    place = ground(tmp_path / "journal")
    saved = change.save(place, "change")
    change.make(place, saved)
    assert "triton" not in installed(python)
    site = next((python.parent.parent / "lib").glob("python3*/site-packages"))
    assert (site / "triton/__init__.py").read_text() == "who = 'ascend'\n"
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    assert contents(python) == before


def test_a_requirement_of_its_own_keeps_the_row_as_it_is(python: Path, wheels: Path) -> None:
    pip(python, "install", "--no-index", "--no-deps", "--find-links", str(wheels), "numpy==2.2.6")
    change = change_of_plan(planned(python, wheels, PinPackages(requirements=("numpy<2",))))
    assert change.before == {"numpy": "2.2.6"} and change.after == {"numpy": "1.26.4"}


def test_vllm_pins_another_torch_and_is_taken_without_its_own(python: Path, wheels: Path) -> None:
    pip(python, "uninstall", "--yes", "vllm")
    step = planned(python, wheels)
    change = change_of_plan(step)
    assert change.after["vllm"] == "0.11.0" and change.after["torch"] == "2.7.1"
    assert any("without theirs" in note.text.en for note in step.notes)


def test_without_wheels_the_network_has_to_be_allowed(python: Path) -> None:
    step = planned(python, None)
    assert step.blocked is not None and "--wheels" in step.blocked.en and "--online" in step.blocked.zh
    assert "torch==2.7.1" in step.host_commands[0]


def test_wheels_that_are_missing_are_named(python: Path, wheels: Path) -> None:
    for one in wheels.glob("torch-2.7.1*"):
        one.unlink()
    step = planned(python, wheels)
    assert step.blocked is not None and "torch==2.7.1" in step.blocked.en and not step.changes


def test_a_running_server_of_the_environment_is_named_and_protected(python: Path, wheels: Path) -> None:
    running = VllmProcesses((VllmProcess(4242, 1, "api", (str(python), "-m", "vllm.entrypoints.openai.api_server")), VllmProcess(77, 1, "api", ("/opt/other/bin/python", "x"))))
    step = planned(python, wheels, WHOLE_ROW, running)
    assert step.blocked is not None and "--pid 4242" in step.blocked.en and "--pid 77" not in step.blocked.en
    told = planned(python, wheels, WHOLE_ROW, running, pids=(4242,))
    assert told.blocked is None and [item.pid for item in told.disturbs] == [4242]


def _system(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    marked = tmp_path / "marked"
    (marked / "bin").mkdir(parents=True)
    (marked / "bin" / "python3").symlink_to("/usr/bin/env")
    site = marked / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (site.parent / "EXTERNALLY-MANAGED").write_text("[externally-managed]\n")
    (site / "torch-2.6.0.dist-info").mkdir()
    (site / "torch-2.6.0.dist-info" / "METADATA").write_text("Name: torch\nVersion: 2.6.0\n")
    yield marked / "bin" / "python3", "PEP 668"
    yield Path("/usr/bin/python3"), "virtual environment"


def test_a_system_python_is_refused(tmp_path: Path, wheels: Path) -> None:
    for python, why in _system(tmp_path):
        target = Target(str(python), "--python", {}, None, "3.11.4", (str(python.parent.parent / "lib/python3.11/site-packages"),))
        step = KIND.plan("0", PinPackages(), context(target, Packages({"vllm-ascend": ROW}), wheels=str(wheels)))
        assert step.blocked is not None and why in step.blocked.en, python


def test_an_environment_of_another_user_is_refused_with_the_command(python: Path, wheels: Path) -> None:
    target = discover(LiveHost("/"), str(python))[-1]
    step = KIND.plan("0", PinPackages(), context(target, Packages({"vllm-ascend": ROW}), euid=os.geteuid() + 12345, wheels=str(wheels)))
    assert step.blocked is not None and "belongs to user" in step.blocked.en


def test_files_outside_of_the_environment_are_not_touched(python: Path, wheels: Path, tmp_path: Path) -> None:
    outside = tmp_path / "precious"
    outside.write_text("keep me")
    change = ready(python, wheels)
    site = next((python.parent.parent / "lib").glob("python3*/site-packages"))
    record = site / "torch-2.6.0.dist-info" / "RECORD"
    record.write_text(record.read_text() + f"{os.path.relpath(outside, site)},,\n")
    with pytest.raises(ChangeError, match="outside"):
        change.save(ground(tmp_path / "journal"), "change")
    assert outside.read_text() == "keep me"


def test_files_beside_the_packages_go_and_come_as_well(python: Path, wheels: Path, tmp_path: Path) -> None:
    data = "colour-{0}.data/data/share/colour/of-{0}.txt"
    for version in ("1.0", "2.0"):
        make_wheel(wheels, "colour", version, {"colour.py": version, data.format(version): version})
    pip(python, "install", "--no-index", "--find-links", str(wheels), "colour==1.0")
    before = contents(python)
    change = change_of_plan(planned(python, wheels, PinPackages(requirements=("colour==2.0",))))
    place = ground(tmp_path / "journal")
    saved = change.save(place, "change")
    change.make(place, saved)
    assert (python.parent.parent / "share/colour/of-2.0.txt").exists()
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    assert contents(python) == before


def test_a_target_in_another_container_is_changed_from_there(python: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.apply.users.in_other_container", lambda host, pid: pid == 4711)
    target = dataclasses.replace(discover(LiveHost("/"), str(python))[-1], pid=4711)
    step = KIND.plan("0", PinPackages(), context(target, Packages({"vllm-ascend": ROW}), wheels=str(wheels)))
    assert step.blocked is not None and "inside that container" in step.blocked.en


def test_the_journal_gives_the_same_change_back(python: Path, wheels: Path) -> None:
    change = ready(python, wheels)
    assert journaled(change) == change


def test_the_journal_is_not_believed_blindly(python: Path, wheels: Path) -> None:
    change = ready(python, wheels)
    bad = dataclasses.replace(change, places=Places("/", ("relative",), "/bin"))
    with pytest.raises(ValueError, match="absolute"):
        journaled(bad)


def test_the_script_saves_installs_and_goes_back(python: Path, wheels: Path) -> None:
    scripted = ready(python, wheels).scripted()
    assert any("freeze" in line for line in scripted.do) and any("torch==2.7.1 --hash=sha256:" in line for line in scripted.do)
    assert any("torch==2.6.0" in line for line in scripted.undo)
    assert run((str(python), "--version")).exit == 0  # type: ignore[union-attr]
