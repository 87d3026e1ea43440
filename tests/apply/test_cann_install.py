"""CANN beside what is there, from stand-in run-files: judged, installed, verified, taken back, stopped at every boundary."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from doctor.apply.cann_package import Machine as Judged
from doctor.apply.cann_package import judge_packages, package_of
from doctor.apply.cannchange import CannChange
from doctor.apply.change import ChangeError, Standing
from doctor.apply.plan import StepPlan
from doctor.apply.steps.cann_install import KIND
from doctor.compat import release
from doctor.facts.cann import Cann, CannInstall
from doctor.facts.driver import Driver
from doctor.facts.machine import Machine
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.fix import InstallCann
from doctor.host import Unavailable
from tests.apply.grounds import boundaries, context, ground, journaled, run, stopped_at, undone
from tests.apply.stand_in_packages import ops, run_file, toolkit

A2 = Chip("a2", "910B3", "ascend910b")
OLD, NEW = "8.3.RC2", "8.5.1"
"""0.18.0 goes with 8.5.1."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "Ascend" / f"cann-{OLD}").mkdir(parents=True)
    (tmp_path / "Ascend" / f"cann-{OLD}" / "set_env.sh").write_text("export OLD=1\n")
    return tmp_path


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    toolkit(tmp_path / "packages", NEW)
    ops(tmp_path / "packages", NEW)
    return tmp_path / "packages"


def planned(place: Path, *packages: Path, arch: str = "aarch64", chip: Chip = A2, installed: str = OLD, hdk: str = "25.5.0") -> StepPlan:
    old = CannInstall(f"{place}/Ascend/cann-{OLD}", installed)
    facts = (Machine(arch=arch), chip, Cann((old,), old), Driver(hdk), Packages({"vllm-ascend": "0.18.0"}))
    return KIND.plan("0", InstallCann(), context(*facts, packages=tuple(map(str, packages)), form="shell", to=str(place / "etc" / "environment.sh")))


def change_of_plan(step: StepPlan) -> CannChange:
    assert step.blocked is None, step.blocked
    change = step.changes[0]
    assert isinstance(change, CannChange)
    return change


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_it_installs_beside_and_switches_the_environment(place: Path, packages: Path) -> None:
    old = tree(place / "Ascend")
    step = planned(place, packages)
    change, switches = change_of_plan(step), step.changes[1:]
    assert change.folder == f"{place}/Ascend-{NEW}" and not os.path.exists(change.folder)
    assert [piece.part for piece in change.pieces] == ["toolkit", "ops"]
    here = ground(place / "journal")
    saved = change.save(here, "cann")
    change.make(here, saved)
    assert change.look(here) is Standing.AFTER
    assert tree(place / "Ascend") == old
    kept = [(other, other.save(here, f"env-{number}")) for number, other in enumerate(switches)]
    for other, told in kept:
        other.make(here, told)
    shell = run(("/bin/bash", "-c", f". {place}/etc/environment.sh; echo $STAND_IN_CANN"))
    assert not isinstance(shell, Unavailable) and shell.stdout.strip() == "1"
    assert planned(place, packages).already
    for other, told_before in reversed(kept):
        other.unmake(here, told_before)
    assert undone(change, place / "journal", saved) is Standing.BEFORE
    assert not os.path.exists(change.folder) and tree(place / "Ascend") == old
    assert not (place / "etc" / "environment.sh").exists()


def test_a_stop_at_any_boundary_can_be_undone(place: Path, packages: Path) -> None:
    change = change_of_plan(planned(place, packages))
    points = boundaries(change, place / "whole")
    assert len(points) >= 7
    shutil.rmtree(change.folder)
    for number, point in enumerate(points):
        saved = stopped_at(change, place / f"stop-{number}", point)
        assert change.look(ground(place / f"stop-{number}")) in (Standing.UNFINISHED, Standing.AFTER)
        assert undone(change, place / f"stop-{number}", saved) is Standing.BEFORE
        assert not os.path.exists(change.folder)


def test_an_interrupted_removal_is_finished_later(place: Path, packages: Path) -> None:
    change, here = change_of_plan(planned(place, packages)), ground(place / "journal")
    saved = change.save(here, "cann")
    change.make(here, saved)
    (Path(change.folder) / ".ascend-doctor").write_text("removing\n")
    assert change.look(here) is Standing.MIXED
    assert undone(change, place / "journal", saved) is Standing.BEFORE


def test_an_installer_that_fails_half_way_leaves_nothing(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "failing"
    toolkit(folder, NEW, before='touch "$target/half"; echo "no permission for group HwHiAiUser" >&2; exit 3')
    ops(folder, NEW)
    change, here = change_of_plan(planned(place, folder)), ground(place / "journal")
    saved = change.save(here, "cann")
    with pytest.raises(ChangeError, match="no permission for group HwHiAiUser"):
        change.make(here, saved)
    assert undone(change, place / "journal", saved) is Standing.BEFORE
    assert not os.path.exists(change.folder)


def test_an_installer_that_only_says_it_worked_is_found_out(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "empty"
    run_file(folder / f"Ascend-cann-toolkit_{NEW}_linux-aarch64.run", {"readme": "nothing"})
    ops(folder, NEW)
    change, here = change_of_plan(planned(place, folder)), ground(place / "journal")
    with pytest.raises(ChangeError, match="there is no toolkit"):
        change.make(here, change.save(here, "cann"))


def test_a_package_that_changed_after_the_review_is_never_run(place: Path, packages: Path) -> None:
    change, here = change_of_plan(planned(place, packages)), ground(place / "journal")
    saved = change.save(here, "cann")
    toolkit(packages, NEW, before=f"touch {place}/was-run")
    with pytest.raises(ChangeError, match="not the file that was reviewed"):
        change.make(here, saved)
    assert not (place / "was-run").exists()


def test_a_damaged_package_is_told_before_anything_runs(place: Path, packages: Path) -> None:
    path = packages / f"Ascend-cann-toolkit_{NEW}_linux-aarch64.run"
    data = bytearray(path.read_bytes())
    data[-4] ^= 0xFF
    path.write_bytes(data)
    step = planned(place, packages)
    assert step.blocked is not None and "damaged" in step.blocked.en
    path.write_bytes(data[:-40])
    step = planned(place, packages)
    assert step.blocked is not None and "not copied whole" in step.blocked.en


def test_the_sum_beside_a_package_counts(place: Path, packages: Path) -> None:
    (packages / f"Ascend-cann-toolkit_{NEW}_linux-aarch64.run.sha256").write_text("0" * 64 + "\n")
    step = planned(place, packages)
    assert step.blocked is not None and "SHA-256" in step.blocked.en


def test_a_package_that_others_may_change_is_refused(place: Path, packages: Path) -> None:
    (packages / f"Ascend-cann-toolkit_{NEW}_linux-aarch64.run").chmod(0o666)
    step = planned(place, packages)
    assert step.blocked is not None and "others could change" in step.blocked.en


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Ascend-cann-toolkit_5.1.RC1_linux-aarch64.run", "older than 8.0.0"),
        ("Ascend-cann-toolkit_V5.1.RC1_linux-aarch64.run", "older than 8.0.0"),
        ("Ascend-cann-toolkit_8.2.RC1_linux-aarch64.run", "would be a downgrade"),
        ("Ascend-cann-toolkit_9.2.0_linux-aarch64.run", "goes with CANN 8.5.1"),
        ("Ascend-cann-toolkit_8.5.1_linux-x86_64.run", "is for x86_64"),
        ("Ascend-cann-toolkit_8.5.1_linux-aarch64.run", "operators' package"),
        ("Ascend-cann-A3-ops_8.5.1_linux-aarch64.run", "for ascend910_93"),
        ("Ascend-hdk-910b-npu-driver_25.5.0_linux-aarch64.run", "never installed by doctor"),
        ("Ascend-cann-910b-ops_8.5.1_linux-aarch64.run", "beside the one in use, never into it"),
        ("Ascend-cann-nnal_8.5.1_linux-aarch64.run", "both have to be the same"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(name: str, why: str) -> None:
    package = package_of(name)
    assert package is not None
    machine = Judged("aarch64", "a2", "ascend910b", "25.5.0", OLD, release("0.18.0"))
    assert any(why in told.en for told in judge_packages([package], machine)), [told.en for told in judge_packages([package], machine)]


def test_a_driver_that_is_too_old_comes_first() -> None:
    package = package_of("Ascend-cann-toolkit_9.2.0_linux-aarch64.run")
    assert package is not None
    told = [why.en for why in judge_packages([package], Judged("aarch64", "a2", "ascend910b", "24.1.0", OLD, release("0.30.0rc2")))]
    assert any("25.3.RC1 or newer" in why for why in told)


@pytest.mark.parametrize("name", ["", "vllm.whl", "Ascend-cann-toolkit.run", "Ascend-cann-toolkit_8.5.1_linux-aarch64.run.exe", "x" * 4096])
def test_other_names_are_no_packages(name: str) -> None:
    assert package_of(name) is None


def test_the_files_that_would_fit_are_named(place: Path) -> None:
    step = planned(place)
    assert step.blocked is not None and "--package" in step.blocked.en
    for name in ("Ascend-cann-toolkit_8.5.1_linux-aarch64.run", "Ascend-cann-910b-ops_8.5.1_linux-aarch64.run", "Ascend-cann-nnal_8.5.1_linux-aarch64.run"):
        assert name in step.blocked.en and name in step.blocked.zh


def test_a_folder_that_is_there_already_is_left_alone(place: Path, packages: Path) -> None:
    (place / f"Ascend-{NEW}").mkdir()
    (place / f"Ascend-{NEW}" / "precious").write_text("keep")
    step = planned(place, packages)
    assert step.blocked is not None and "there already" in step.blocked.en


def test_the_journal_gives_the_same_change_back(place: Path, packages: Path) -> None:
    change = change_of_plan(planned(place, packages))
    assert journaled(change) == change
    for bad in ("/", "/usr", "relative", "/usr/../etc/x"):
        with pytest.raises(ValueError, match="folder"):
            CannChange.of({**change.data(), "folder": bad})
