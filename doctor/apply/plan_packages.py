"""Which Python packages a target should have: exactly those of its vllm-ascend release's row, and which have to go. Pure."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from doctor import compat
from doctor.compat import Release
from doctor.facts.distributions import normalised
from doctor.rulepackage import PACKAGE, rules_package
from doctor.stack import CPU_INDEX
from doctor.versions import Scheme, satisfies
from doctor.ways import Installed

ROW = ("vllm", "vllm-ascend", "torch", "torch-npu", "triton-ascend")
"""Packages whose versions a row names, in the order in which people think of them."""

BESIDE_TORCH = ("torchvision", "torchaudio")

NUMPY_1_UNTIL = "0.20.2rc1"
"""Releases before this one pin numpy below 2 (their pyproject.toml), and the operator compiler of CANN 8.2 and older needs it."""

@dataclass(frozen=True)
class Wanted:
    """What is asked of the installer. `pins` are requirements to install, `constraints` hold for whatever else comes with them."""

    row: Release | None
    pins: tuple[str, ...]
    constraints: tuple[str, ...]
    removed: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()


def row_of(installed: Installed) -> Release | None:
    """The row of the installed vllm-ascend, or of its neighbour; without one, the newest stable row that runs on the chip and this Python."""
    if installed.vllm_ascend:
        return compat.nearest(installed.vllm_ascend)
    fitting = [
        row
        for row in compat.releases()
        if row.stable
        and compat.supports_chip(row, installed.family or "") is not False
        and (not installed.python or compat.python_fits(row, installed.python) is not False)
        and (not installed.cann or compat.cann_matches(row, installed.cann, installed.family))
    ]
    return fitting[-1] if fitting else None


def wanted(row: Release, installed: Installed, present: Mapping[str, str], names: Sequence[str] = (), more: Sequence[str] = ()) -> Wanted:
    """The requirements for `names` of the row (() for all of it) and the requirements `more`; what of the row is not asked for becomes a constraint.

    `present`: the versions that are installed, by normalised name. A version that the row accepts is left as it is.
    """
    versions = row_versions(row, installed, present)
    asked = [name for name in (names or ROW) if normalised(name) in versions]
    if "torch" in asked:
        beside = {name: version for name in BESIDE_TORCH if name in present and (version := beside_torch(name, versions["torch"]))}
        versions, asked = {**versions, **beside}, [*asked, *beside]
    # What is there in its version becomes a constraint: an installer that is asked for it looks at its dependencies as well, and vLLM's own
    # pin of torch contradicts every row.
    pins = tuple(f"{name}=={versions[name]}" for name in asked if not _is(present.get(name), versions[name])) + tuple(more)
    taken = {normalised(pin.split("==")[0]) for pin in pins}
    held = tuple(f"{name}=={version}" for name, version in sorted(versions.items()) if name not in taken and name in present)
    ranges = tuple(text for name, text in _ranges(row) if name not in taken)
    gone = () if names and not {"triton-ascend", "triton"} & set(names) else unwanted(row, installed)
    indexes: tuple[str, ...] = (CPU_INDEX,) if installed.arch == "x86_64" else ()
    triton = versions.get("triton-ascend")
    if ".dev" in versions["torch-npu"] or triton and triton not in compat.triton_on_pypi():
        indexes += (compat.extra_index(),)
    return Wanted(row, pins, (*held, *ranges), tuple(name for name in gone if name in present), indexes)


def _is(current: str | None, version: str) -> bool:
    return current is not None and version in (current, compat.public(current))


def row_versions(row: Release, installed: Installed, present: Mapping[str, str]) -> dict[str, str]:
    """Version by package; an installed version that the row accepts stands for the row's own."""
    judged = {
        "vllm": (row.vllm, compat.vllm_matches), "torch": (row.torch, compat.torch_matches), "torch-npu": (row.torch_npu, compat.torch_npu_matches),
    }  # fmt: skip
    if row.triton_ascend and installed.family != "310p":
        judged["triton-ascend"] = (row.triton_ascend, compat.triton_ascend_matches)
    found = {"vllm-ascend": row.version}
    for name, (version, matches) in judged.items():
        current = present.get(name)
        found[name] = compat.public(current) if current and matches(row, current) else version
    return found


def unwanted(row: Release, installed: Installed) -> tuple[str, ...]:
    """Packages that must not be there: upstream triton overwrites triton-ascend; 310P has no triton at all."""
    return ("triton", "triton-ascend") if installed.family == "310p" else ("triton",) if row.triton_ascend else ()


def beside_torch(name: str, torch: str) -> str:
    """torchvision 0.(Y+15).Z and torchaudio 2.Y.Z go with torch 2.Y.Z; "" where the rule does not hold."""
    parts = torch.split(".")
    if len(parts) != 3 or parts[0] != "2" or not all(part.isdecimal() for part in parts):
        return ""
    return f"0.{int(parts[1]) + 15}.{parts[2]}" if name == "torchvision" else torch


def _ranges(row: Release) -> tuple[tuple[str, str], ...]:
    found = []
    if satisfies(row.version, f"<{NUMPY_1_UNTIL}", Scheme.PACKAGE):
        found.append(("numpy", "numpy<2"))
    pin = _transformers(row.version)
    return (*found, ("transformers", f"transformers{pin}")) if pin else tuple(found)


def _transformers(release: str) -> str | None:
    """What the release asks of transformers, by the table that the rules judge by."""
    rules_package()
    pin: str | None = importlib.import_module(f"{PACKAGE}.python.transformers_pins").pin_of(release)
    return pin


__all__ = ["ROW", "Wanted", "row_of", "row_versions", "unwanted", "wanted"]
