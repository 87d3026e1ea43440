"""Packages of custom operators: read as data, judged, copied into a folder of their own, loaded once, taken away again."""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.apply.change import ChangeError, Standing
from doctor.apply.elf import Elf, read_elf
from doctor.apply.opp_package import OpPackage, Surroundings, cautions, inspect, operators_of, refusals, within
from doctor.apply.oppchange import OppChange, read_package
from doctor.apply.plan import StepPlan
from doctor.apply.steps.custom_opp import KIND
from doctor.facts.cann import Cann, CannInstall
from doctor.facts.machine import Machine, OperatingSystem
from doctor.facts.npu import Chip
from doctor.facts.target import Target
from doctor.fix import InstallOperators
from tests.apply.grounds import boundaries, context, ground, journaled, run, stopped_at, undone
from tests.apply.stand_in_packages import custom_operators, run_file

HERE = platform.machine()
REAL = Path(psutil._psutil_linux.__file__)
"""A real shared library of this machine."""


def foreign(data: bytes) -> bytes:
    """The same library as one for the other processor."""
    other = 0xB7 if HERE == "x86_64" else 0x3E
    return data[:18] + other.to_bytes(2, "little") + data[20:]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return run_file(tmp_path / "custom_opp_openEuler_aarch64.run", custom_operators())


def planned(place: Path, package: Path, kernel: str = "ascend910b") -> StepPlan:
    toolkit = CannInstall(f"{place}/cann", "8.5.1")
    facts = (
        Machine(arch=HERE), OperatingSystem(glibc="2.35"), Chip("a2", "910B3", kernel), Cann((toolkit,), toolkit), Target(sys.executable, "--python"),
    )  # fmt: skip
    looked = context(*facts, package=str(package), form="shell", to=str(place / "etc" / "environment.sh"))
    return KIND.plan("0", InstallOperators(folder=str(place / "operators")), looked)


def change_of_plan(step: StepPlan) -> OppChange:
    assert step.blocked is None, step.blocked
    change = step.changes[0]
    assert isinstance(change, OppChange)
    return change


def test_it_is_put_into_its_own_folder_and_named_in_the_environment(tmp_path: Path, package: Path) -> None:
    step = planned(tmp_path, package)
    change, switches = change_of_plan(step), step.changes[1:]
    place = ground(tmp_path / "journal")
    saved = change.save(place, "o")
    change.make(place, saved)
    assert change.look(place) is Standing.AFTER
    assert Path(f"{change.home}/op_impl/ai_core/tbe/kernel/ascend910b/add_custom/AddCustom_1.o").read_bytes() == b"\0stand-in"
    for number, other in enumerate(switches):
        other.make(place, other.save(place, f"env-{number}"))
    told = run(("/bin/bash", "-c", f". {tmp_path}/etc/environment.sh; echo $ASCEND_CUSTOM_OPP_PATH"))
    assert told.stdout.strip().split(":")[0] == change.home  # type: ignore[union-attr]
    assert planned(tmp_path, package).already
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    assert not (tmp_path / "operators").exists()


def test_a_built_folder_does_as_well(tmp_path: Path) -> None:
    for name, data in custom_operators().items():
        path = tmp_path / "build" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    whole, vendor = read_package(str(tmp_path / "build")), read_package(str(tmp_path / "build/packages/vendors/customize"))
    assert whole is not None and vendor is not None and whole[0] == vendor[0] == "customize" and set(whole[1]) == set(vendor[1])
    assert change_of_plan(planned(tmp_path, tmp_path / "build")).vendor == "customize"


def test_a_stop_at_any_boundary_can_be_undone(tmp_path: Path, package: Path) -> None:
    change = change_of_plan(planned(tmp_path, package))
    points = boundaries(change, tmp_path / "whole")
    assert len(points) >= 2
    shutil.rmtree(change.folder)
    for number, point in enumerate(points):
        saved = stopped_at(change, tmp_path / f"stop-{number}", point)
        assert not os.path.exists(change.folder)  # never half there under its name
        assert undone(change, tmp_path / f"stop-{number}", saved) is Standing.BEFORE
        assert not os.path.exists(f"{change.folder}.ascend-doctor-part")


def test_nothing_of_the_package_is_executed(tmp_path: Path) -> None:
    path = run_file(tmp_path / "custom_opp.run", custom_operators(), before=f"touch {tmp_path}/was-run")
    change, place = change_of_plan(planned(tmp_path, path)), ground(tmp_path / "journal")
    change.make(place, change.save(place, "o"))
    assert not (tmp_path / "was-run").exists()


def test_a_package_that_changed_after_the_review_is_refused(tmp_path: Path, package: Path) -> None:
    change, place = change_of_plan(planned(tmp_path, package)), ground(tmp_path / "journal")
    run_file(package, custom_operators(operators=("Other",)))
    with pytest.raises(ChangeError, match="not what was reviewed"):
        change.make(place, change.save(place, "o"))
    assert not os.path.exists(change.folder)


def test_another_chip_is_refused(tmp_path: Path, package: Path) -> None:
    step = planned(tmp_path, package, kernel="ascend310p")
    assert step.blocked is not None and "built for ascend910b, this chip needs ascend310p" in step.blocked.en


def test_a_library_for_another_processor_is_refused(tmp_path: Path) -> None:
    path = run_file(tmp_path / "custom_opp.run", custom_operators(library=foreign(REAL.read_bytes())))
    step = planned(tmp_path, path)
    assert step.blocked is not None and f"this machine is {HERE}" in step.blocked.en


def test_a_library_that_does_not_load_in_the_target_is_taken_back(tmp_path: Path) -> None:
    broken = REAL.read_bytes().replace(b"libc.so.6\0", b"libz9.so.6\0"[:10])
    path = run_file(tmp_path / "custom_opp.run", custom_operators(library=broken))
    change, place = change_of_plan(planned(tmp_path, path)), ground(tmp_path / "journal")
    saved = change.save(place, "o")
    with pytest.raises(ChangeError, match="cannot be loaded in the target"):
        change.make(place, saved)
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE


def test_a_library_without_its_operators_is_found_out(tmp_path: Path) -> None:
    path = run_file(tmp_path / "custom_opp.run", custom_operators(library=REAL.read_bytes()))
    change, place = change_of_plan(planned(tmp_path, path)), ground(tmp_path / "journal")
    with pytest.raises(ChangeError, match="none of its operators is in it: AddCustom"):
        change.make(place, change.save(place, "o"))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_an_operator_that_is_there_is_found_in_the_target(tmp_path: Path) -> None:
    (tmp_path / "op.c").write_text("int aclnnAddCustomGetWorkspaceSize(void){return 0;}\nint aclnnAddCustom(void){return 0;}\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(tmp_path / "op.so"), str(tmp_path / "op.c")], check=True)
    path = run_file(tmp_path / "custom_opp.run", custom_operators(library=(tmp_path / "op.so").read_bytes()))
    change, place = change_of_plan(planned(tmp_path, path)), ground(tmp_path / "journal")
    assert change.libraries == ("op_api/lib/libcust_opapi.so",) and change.operators == ("AddCustom",)
    change.make(place, change.save(place, "o"))
    assert change.look(place) is Standing.AFTER


def test_a_real_library_is_read() -> None:
    library = read_elf(REAL.read_bytes())
    assert library is not None and library.machine == HERE
    assert any(name.startswith("libc.so") for name in library.needed)
    assert "PyInit__psutil_linux" in library.given and any(name.startswith("Py") for name in library.wanted)
    assert library.glibc.startswith("2.")


@given(st.binary(max_size=300))
def test_no_bytes_make_the_reader_raise(data: bytes) -> None:
    read_elf(data)
    read_elf(REAL_HEAD + data)
    operators_of(data)


REAL_HEAD = REAL.read_bytes()[:64]


def judged(library: Elf, **around: object) -> list[str]:
    package = OpPackage("customize", frozenset({"ascend910b"}), frozenset({"AddCustom"}), {"op_api/lib/libcust_opapi.so": library})
    surroundings = dataclasses.replace(Surroundings(arch="aarch64", kernel="ascend910b", glibc="2.34"), **around)  # type: ignore[arg-type]
    return [why.en for why in refusals(package, surroundings)]


def test_the_c_library_has_to_be_new_enough() -> None:
    assert judged(Elf("aarch64", glibc="2.34")) == []
    assert "needs glibc 2.38" in judged(Elf("aarch64", glibc="2.38"))[0]


def test_another_c_plus_plus_abi_shows_in_the_names() -> None:
    wanted = frozenset({"_ZN2ge8OperatorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "_ZNSt6vectorIiSaIiEE9push_backEOi"})
    library = Elf("aarch64", ("libgraph.so", "libc.so.6"), wanted)
    assert judged(library, exports={"libgraph.so": frozenset({"_ZN2ge8OperatorC1ERKSs"})})[0].startswith("op_api/lib/libcust_opapi.so calls what this CANN does not have")
    assert judged(library, exports={"libgraph.so": wanted}) == []
    # One library that could not be seen may have it.
    assert judged(Elf("aarch64", ("libgraph.so", "libother.so"), wanted), exports={"libgraph.so": frozenset()}) == []
    assert judged(library) == []


def test_the_library_of_the_other_processor_beside_ours_does_not_count() -> None:
    real, other = REAL.read_bytes(), "aarch64" if HERE == "x86_64" else "x86_64"
    libraries = {HERE: real, other: foreign(real)}
    package = inspect("v", {f"op_proto/lib/linux/{arch}/libcust_opsproto_rt2.0.so": partial(bytes, data) for arch, data in libraries.items()})
    assert list(refusals(package, Surroundings(arch=HERE))) == []


def test_names_that_are_there_already_are_told() -> None:
    package = OpPackage("mine", operators=frozenset({"Add", "FlashAttn"}))
    told = [why.en for why in cautions(package, Surroundings(builtin=frozenset({"Add"}), others={"customize": frozenset({"FlashAttn"})}))]
    assert "CANN's own operators: Add" in told[0] and "customize has operators of the same names: FlashAttn" in told[1]


@pytest.mark.parametrize(
    "paths",
    [(), ("vendors/x",), ("vendors/a/op_api/lib/x.so", "vendors/b/op_api/lib/x.so"), ("vendors/../op_api/lib/x.so",), ("other/op_api/x.so",)],
)
def test_what_is_no_package(paths: tuple[str, ...]) -> None:
    assert within(paths) is None


def test_a_hostile_archive_puts_nothing_elsewhere(tmp_path: Path) -> None:
    files = {**custom_operators(), "packages/vendors/customize/op_impl/../../../../../../escaped": b"x", "/absolute": b"x"}
    path = run_file(tmp_path / "custom_opp.run", files)
    change, place = change_of_plan(planned(tmp_path, path)), ground(tmp_path / "journal")
    change.make(place, change.save(place, "o"))
    assert not list(tmp_path.rglob("escaped")) and not Path("/absolute").exists()


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\nexit 0\n", b'#!/bin/sh\nskip="1"\nfilesizes="9999999"\n', b"\x7fELF", b'#!/bin/sh\nskip="2"\nfilesizes="x"\n\x1f\x8b'])
def test_a_file_that_is_no_package_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "custom_opp.run"
    path.write_bytes(content)
    step = planned(tmp_path, path)
    assert step.blocked is not None and "no vendors/" in step.blocked.en


def test_the_journal_gives_the_same_change_back(tmp_path: Path, package: Path) -> None:
    change = change_of_plan(planned(tmp_path, package))
    assert journaled(change) == change
    for bad in ({"folder": "/"}, {"folder": "x"}, {"vendor": "../x"}):
        with pytest.raises(ValueError, match="folder"):
            OppChange.of({**change.data(), **bad})
