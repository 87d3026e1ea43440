"""A target made on the spot for tests of packages: a real virtual environment with real pip, and a folder of real wheels. No network."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest


def make_venv(folder: Path) -> Path:
    """A virtual environment of its own with pip; its interpreter."""
    if importlib.util.find_spec("ensurepip") is None:
        pytest.skip("this Python has no ensurepip")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True)
    return folder / "bin" / "python"


def make_wheel(folder: Path, name: str, version: str, files: Mapping[str, str], requires: tuple[str, ...] = ()) -> Path:
    """A wheel with these files; `requires` are its Requires-Dist lines."""
    folder.mkdir(exist_ok=True)
    stem = name.replace("-", "_")
    info = f"{stem}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {one}\n" for one in requires)
    held = {**files, f"{info}/METADATA": metadata, f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    rows = []
    for path, text in held.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(text.encode())}")
    wheel = folder / f"{stem}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for member, text in held.items():
            archive.writestr(member, text)
        archive.writestr(f"{info}/RECORD", "\n".join([*rows, f"{info}/RECORD,,"]) + "\n")
    return wheel


def pip(python: Path, *words: str) -> str:
    """What pip prints; it must succeed."""
    argv = [str(python), "-I", "-m", "pip", "--disable-pip-version-check", *words]
    done = subprocess.run(argv, check=True, capture_output=True, text=True, env={"PATH": os.environ.get("PATH", ""), "PIP_CONFIG_FILE": os.devnull})
    return done.stdout


def contents(python: Path) -> dict[str, bytes]:
    """Every file of the environment's packages and scripts, compiled caches left out."""
    prefix = python.parent.parent
    found = {}
    for path in sorted(prefix.rglob("*")):
        if "__pycache__" not in path.parts and path.is_file():
            found[str(path.relative_to(prefix))] = path.read_bytes()
    return found
