"""Whole transactions of packages, CANN, operators, left-over files and commands: killed at every boundary, then undone from the journal alone."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from doctor.apply.cannchange import CannChange, Piece, digest_of
from doctor.apply.change import Change, Ground
from doctor.apply.journal import Journal
from doctor.apply.leftoverchange import state_of
from doctor.apply.making import Judged, Outcome, Verification, make_fix
from doctor.apply.oppchange import OppChange, joint_digest, read_package
from doctor.apply.pipchange import PipChange
from doctor.apply.pipreport import Installer
from doctor.apply.plan import FixPlan, StepPlan
from doctor.apply.putback import put_back
from doctor.apply.rootfiles import RootFiles
from doctor.apply.sitestate import Places
from doctor.apply.statefolder import StateFolder
from doctor.apply.steps.edit_command import CorrectedFile
from doctor.fix import CorrectCommand, Safety
from doctor.words import Words
from tests.apply.grounds import run
from tests.apply.stand_in_packages import custom_operators, ops, run_file, toolkit
from tests.apply.stopping import points_of, stopped_at
from tests.apply.target import make_venv, make_wheel, pip

IDENT = "20261130T120000Z-0a1b2c"
SAID = Words("x", "x")
SLOW = ("recorded", "packages marked", "packages removed")
"""Boundaries at which pip is killed here; the engine's own are passed by the quick kinds, the others of pip by test_pip_install."""


def corrected_file(place: Path) -> Change:
    return CorrectedFile(str(place / "serve.corrected.sh"), None, "vllm serve /m\n", original="vllm serve /m --x\n")


def cann(place: Path) -> Change:
    packages = [toolkit(place / "packages", "8.5.1"), ops(place / "packages", "8.5.1")]
    pieces = tuple(Piece(part, str(path), digest_of(str(path))) for part, path in zip(("toolkit", "ops"), packages, strict=True))
    return CannChange(str(place / "Ascend-8.5.1"), "8.5.1", pieces, "ascend910b")


def operators(place: Path) -> Change:
    source = str(run_file(place / "packages" / "custom_opp.run", custom_operators()))
    found = read_package(source)
    assert found is not None
    return OppChange(source, joint_digest(found[1]), str(place / "operators" / "customize-1"), "customize")


def leftover(place: Path) -> Change:
    (place / "psm_0a1b2c3d").write_bytes(b"left" + bytes(5000))
    found = state_of(str(place / "psm_0a1b2c3d"))
    assert found is not None
    return found


def packages(place: Path) -> Change:
    make_wheel(place / "wheels", "colour", "1.0", {"colour/__init__.py": "red = 1\n"})
    python = make_venv(place / "env")
    pip(python, "install", "--no-index", "--find-links", str(place / "wheels"), "colour")
    site = next((place / "env" / "lib").glob("python3*/site-packages"))
    return PipChange(Installer(str(python), wheels=str(place / "wheels")), Places(str(place / "env"), (str(site),), str(place / "env/bin")), {"colour": "1.0"}, {"colour": ""})


def picture(place: Path) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for path in sorted(place.rglob("*")):
        if "__pycache__" not in path.parts:
            found[str(path.relative_to(place))] = path.read_bytes() if path.is_file() else None
    return found


def transaction(change: Change, state: Path, reached: Callable[[str], None]) -> Outcome:
    step = StepPlan("step", CorrectCommand(), SAID, (change,))
    fix = FixPlan("a-rule", "a-fix", "", SAID, SAID, Safety.ASK, (step,))
    folder = StateFolder(RootFiles("/"), str(state))
    try:
        ground = Ground(folder.files, folder.transaction(IDENT), run, True, IDENT, reached)
        begin = {"plan": "0", "root": "/", "machine": "m", "boot": "", "who": {}}
        return make_fix(fix, Journal(folder), ground, begin, lambda one: Verification(Judged.CLEAR), lambda event: None).outcome
    finally:
        folder.close()


def undo(state: Path, reached: Callable[[str], None] = lambda point: None) -> None:
    """What a later run knows is the journal and the backups, nothing else."""
    folder = StateFolder(RootFiles("/"), str(state))
    try:
        journal = Journal(folder)
        found = [one for one in journal.transactions() if one.ident == IDENT]
        if found:
            put_back(journal, found[0], Ground(folder.files, folder.transaction(IDENT), run, True, IDENT, reached))
    finally:
        folder.close()


@pytest.mark.parametrize("kind", [corrected_file, cann, operators, leftover, packages])
def test_killed_at_every_boundary_and_undone(kind: Callable[[Path], Change], tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    change = kind(place)
    before = picture(place)
    points = points_of(lambda reached: transaction(change, tmp_path / "whole", reached))
    after = picture(place)
    assert after != before and len(points) >= 6
    undo(tmp_path / "whole")
    assert picture(place) == before
    for number in (number for number, point in enumerate(points, 1) if kind is not packages or point.startswith(SLOW)):
        state = tmp_path / f"state-{number}"
        assert stopped_at(number, partial(transaction, change, state), kill=True)
        undo(state)
        assert picture(place) == before, points[number - 1]
        shutil.rmtree(state)


@pytest.mark.parametrize("kind", [cann, operators, leftover])
def test_an_undo_that_is_killed_is_finished_by_the_next(kind: Callable[[Path], Change], tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    change = kind(place)
    before = picture(place)
    assert transaction(change, tmp_path / "probe", lambda point: None) is Outcome.FIXED
    points = points_of(lambda reached: undo(tmp_path / "probe", reached))
    for number in range(1, len(points) + 1):
        state = tmp_path / f"state-{number}"
        transaction(change, state, lambda point: None)
        assert stopped_at(number, partial(undo, state), kill=True)
        undo(state)
        assert picture(place) == before, points[number - 1]


def test_a_failed_change_is_put_back_at_once(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    broken = toolkit(place / "packages", "8.5.1", after="exit 7")
    change = CannChange(str(place / "Ascend-8.5.1"), "8.5.1", (Piece("toolkit", str(broken), digest_of(str(broken))),))
    assert transaction(change, tmp_path / "state", lambda point: None) is Outcome.ROLLED_BACK
    assert not os.path.exists(change.folder)
