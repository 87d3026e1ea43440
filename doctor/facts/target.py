"""Targets: the interpreters and environments in which vLLM runs, and the packages in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Target:
    """One interpreter with the environment that it is (or would be) started in.

    `how`: "process 4711", "--python", "VIRTUAL_ENV", "CONDA_PREFIX", "PATH", "text". `pid` is the vLLM process, None if none runs.
    """

    python: str
    how: str
    environment: Mapping[str, str] = field(default_factory=dict)
    pid: int | None = None
    version: str | None = None
    """Of Python, "3.11.14"."""
    site_packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Environment:
    """Environment variables of the target. `complete` is False where only some are known (a pasted text)."""

    values: Mapping[str, str]
    complete: bool = True
    source: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Line in a pasted text by variable."""


@dataclass(frozen=True)
class Packages:
    """Python packages of a target by normalised name (torch-npu -> version). `complete` False: only those that a text names.

    `broken` are distributions without usable metadata (leftovers "~orch", missing METADATA); `editable` those installed in
    place; `modules` top-level folders present in site-packages among those that doctor asks for.
    """

    versions: Mapping[str, str]
    complete: bool = True
    python: str | None = None
    """Version of the interpreter, "3.11.14"."""
    broken: tuple[str, ...] = ()
    editable: tuple[str, ...] = ()
    modules: frozenset[str] | None = None
    source: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class AscendBuild:
    """What the installed vllm_ascend package was built for.

    `soc` from _build_info.py ("ascend910b1", "A3" …), `extension` whether vllm_ascend_C*.so is there, `custom_ops` whether libcust_opapi.so is.
    """

    soc: str | None
    device_type: str | None
    extension: bool
    custom_ops: bool
    files: Mapping[str, bool] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True)
class TorchBuild:
    """How the target's torch was built: `cuda` True for a CUDA wheel; `cxx11_abi` None if not known."""

    version: str
    cuda: bool | None = None
    cxx11_abi: bool | None = None
    source: str = ""


@dataclass(frozen=True)
class Imports:
    """What importing torch and torch_npu in a child of the target said: `ok`, else the error's text."""

    ok: bool
    text: str = ""
    seconds: float = 0.0
    device_count: int | None = None
    source: str = ""
