"""The ways in: a wheel, a source archive, an editable install, a bare checkout, and `make`. Nothing here needs a network."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import doctor

ROOT = Path(__file__).resolve().parents[1]
SHIPPED = ("doctor", "rules")
NOT_SOURCE = shutil.ignore_patterns(".git", ".venv", "build", "dist", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis")
DEPENDENCIES = (sysconfig.get_path("purelib"), sysconfig.get_path("platlib"))
WHERE = "import json, doctor; from doctor.rulebook import rules_package; print(json.dumps([doctor.__file__, rules_package().__file__]))"
"""Prints where the program and its knowledge were loaded from."""


def run(argv: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs to the end; the environment has nothing that could bring this checkout's own packages in."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MAKE", "MFLAGS", "VIRTUAL_ENV"))}
    return subprocess.run(
        [str(part) for part in argv], cwd=cwd, env={**clean, **(env or {})}, capture_output=True, text=True, timeout=300, check=False
    )


def succeed(argv: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None) -> str:
    done = run(argv, cwd, env)
    assert done.returncode == 0, f"{argv}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def project() -> dict[str, Any]:
    reader = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    parsed: dict[str, Any] = reader.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return parsed


def source_files() -> set[str]:
    """Every file below doctor/ and rules/ by its name in the wheel."""
    files = (path for top in SHIPPED for path in (ROOT / top).rglob("*") if path.is_file())
    names = (path.relative_to(ROOT).as_posix() for path in files if "__pycache__" not in path.parts)
    return {f"doctor/{name}" if name.startswith("rules/") else name for name in names}


@dataclass(frozen=True)
class Built:
    """What a release consists of, and the copy of the source that it was made of."""

    source: Path
    wheel: Path
    sdist: Path


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare copy of the source: building leaves folders behind, and an old build/ would find its way into the wheel."""
    copy = tmp_path_factory.mktemp("checkout") / "ascend-doctor"
    shutil.copytree(ROOT, copy, ignore=NOT_SOURCE)
    return copy


@pytest.fixture(scope="session")
def built(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The source archive, and the wheel made from that archive."""
    dist = tmp_path_factory.mktemp("dist")
    succeed([sys.executable, "-m", "build", "--no-isolation", "--outdir", dist, checkout], dist)
    (wheel,) = dist.glob("*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    return Built(checkout, wheel, sdist)


def empty_venv(folder: Path) -> Path:
    """A venv that sees the dependencies but, as a path file is not read twice, no editable install of this checkout."""
    succeed([sys.executable, "-I", "-m", "venv", "--without-pip", folder], folder.parent)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text("\n".join(DEPENDENCIES) + "\n", encoding="utf-8")
    return folder / "bin" / "python"


def install(python: Path, *what: str | Path) -> None:
    """With this environment's own pip and setuptools, offline. An installed doctor elsewhere does not count as installed."""
    options = ["-q", "--no-deps", "--no-index", "--no-build-isolation", "--ignore-installed", "--disable-pip-version-check"]
    succeed([python, "-m", "pip", "install", *options, *what], python.parent)


@pytest.fixture(scope="session", params=["wheel", "editable"])
def installed(request: pytest.FixtureRequest, built: Built, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """(a venv's Python, the folder that `doctor` must come from)."""
    python = empty_venv(tmp_path_factory.mktemp("installed") / "venv")
    if request.param == "wheel":
        install(python, built.wheel)
        return python, python.parents[1]
    install(python, "-e", built.source)
    return python, built.source


def test_the_list_of_packages_is_that_of_the_folders() -> None:
    inits = (ROOT / "doctor").rglob("__init__.py")
    folders = {".".join(init.parent.relative_to(ROOT).parts) for init in inits}
    assert set(project()["tool"]["setuptools"]["packages"]) == folders | {"doctor.rules"}


def test_every_folder_of_code_is_a_package() -> None:
    for module in (ROOT / "doctor").rglob("*.py"):
        assert (module.parent / "__init__.py").exists(), module


def test_the_change_log_begins_with_this_version() -> None:
    headings = re.findall(r"^## \[(\d[^]]*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == doctor.__version__


def test_both_commands_are_the_same_program() -> None:
    scripts = project()["project"]["scripts"]
    assert scripts == {"doctor": "doctor.cli:main", "ascend-doctor": "doctor.cli:main"}


def test_vllm_is_never_needed() -> None:
    assert not [name for name in project()["project"]["dependencies"] if re.match(r"(torch|vllm)", name)]


def test_the_wheel_holds_every_file_of_doctor_and_rules_and_nothing_else(built: Built) -> None:
    inside = set(zipfile.ZipFile(built.wheel).namelist())
    assert {name for name in inside if ".dist-info/" not in name} == source_files()


def test_the_wheel_carries_its_license(built: Built) -> None:
    assert [name for name in zipfile.ZipFile(built.wheel).namelist() if name.endswith("/licenses/LICENSE")]


def test_the_source_archive_can_be_tested(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        inside = {name.split("/", 1)[-1] for name in archive.getnames()}
    kept = [path for top in ("tests", "fixtures", "benchmarks", "docs") for path in (ROOT / top).rglob("*") if path.is_file()]
    wanted = {path.relative_to(ROOT).as_posix() for path in kept if "__pycache__" not in path.parts and path.suffix != ".pyc"}
    assert wanted | {"Makefile", "LICENSE", "CHANGELOG.md", "README.md", "README.zh.md", "pyproject.toml"} <= inside


def test_an_installed_doctor_is_whole(installed: tuple[Path, Path], tmp_path: Path) -> None:
    python, home = installed
    origins = json.loads(succeed([python, "-c", WHERE], tmp_path))
    assert [origin for origin in origins if not Path(origin).is_relative_to(home)] == []
    assert doctor.__version__ in succeed([python.parent / "doctor", "--version"], tmp_path)
    assert doctor.__version__ in succeed([python.parent / "ascend-doctor", "--version"], tmp_path)
    assert rule_ids(succeed([python.parent / "doctor", "rules", "--json"], tmp_path)) == rule_files()


def test_no_top_level_package_called_rules_appears(installed: tuple[Path, Path], tmp_path: Path) -> None:
    python, _ = installed
    assert run([python, "-c", "import rules"], tmp_path).returncode == 1


def test_a_bare_checkout_runs_without_installing(checkout: Path, tmp_path: Path) -> None:
    """-S reads no path files, so that no editable install can help out; only the dependencies are there."""
    needs = os.pathsep.join(DEPENDENCIES)
    ids = rule_ids(succeed([sys.executable, "-S", "-m", "doctor", "rules", "--json"], checkout, {"PYTHONPATH": needs}))
    assert ids == rule_files()
    elsewhere = {"PYTHONPATH": os.pathsep.join((str(checkout), needs))}
    origins = json.loads(succeed([sys.executable, "-S", "-c", WHERE], tmp_path, elsewhere))
    assert [Path(origin).relative_to(checkout).as_posix() for origin in origins] == ["doctor/__init__.py", "rules/__init__.py"]


def test_rules_refuse_to_be_loaded_under_a_second_name(checkout: Path) -> None:
    done = run([sys.executable, "-S", "-c", "import rules"], checkout)
    assert done.returncode == 1 and "import doctor.rules" in done.stderr


def rule_ids(listing: str) -> set[str]:
    listed = json.loads(listing)
    rules = listed["rules"] if isinstance(listed, dict) else listed
    return {rule["id"] for rule in rules}


def rule_files() -> set[str]:
    """A cause file is named after its rule."""
    return {path.stem for path in (ROOT / "rules").glob("*/*.yaml") if path.parent.name != "data"}


# What `make` does before anything is installed.


def interpreter(path: Path, body: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def fitting(path: Path) -> Path:
    return interpreter(path, f'exec "{sys.executable}" "$@"')


def unfit(path: Path) -> Path:
    """Fails as a Python 2, a Python without venv, and a version manager's empty shim do."""
    return interpreter(path, "exit 127")


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`make` of a copy of the Makefile, with only the fake interpreters on PATH."""
    program = shutil.which("make")
    assert program is not None, "make is not installed"
    shutil.copy(ROOT / "Makefile", folder)
    for tool in ("cksum", "cut"):
        (folder / "bin" / tool).symlink_to(str(shutil.which(tool)))
    return run([program, "-s", *arguments], folder, {"PATH": str(folder / "bin"), "MAKEFLAGS": ""})


def test_make_passes_over_an_unfit_python3(tmp_path: Path) -> None:
    unfit(tmp_path / "bin" / "python3")
    fitting(tmp_path / "bin" / "python3.12")
    assert make(tmp_path, "python").stdout == "python3.12\n"


def test_make_says_what_it_needs(tmp_path: Path) -> None:
    unfit(tmp_path / "bin" / "python3")
    done = make(tmp_path, "python")
    assert done.returncode == 2
    assert "No Python 3.10 or newer" in done.stderr and "PYTHON=" in done.stderr


def test_make_takes_the_python_it_is_given(tmp_path: Path) -> None:
    fitting(tmp_path / "bin" / "python3")
    chosen = fitting(tmp_path / "other" / "mine")
    assert make(tmp_path, "python", f"PYTHON={chosen}").stdout == f"{chosen}\n"


def test_make_does_not_fall_back_from_the_python_it_is_given(tmp_path: Path) -> None:
    fitting(tmp_path / "bin" / "python3")
    refused = unfit(tmp_path / "other" / "old")
    done = make(tmp_path, "python", f"PYTHON={refused}")
    assert done.returncode == 2 and str(refused) in done.stderr
