"""The chip family for which the installed vllm_ascend was compiled against the one in the machine."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from doctor import compat
from doctor.facts.container import RunCommand, RunCommands
from doctor.facts.npu import Chip
from doctor.facts.target import AscendBuild
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.regex import regex

_TYPES = {"a2": "a2", "a3": "a3", "310p": "310p", "a5": "950"}
_SOCS = (("ascend910_93", "a3"), ("ascend910b", "a2"), ("ascend310p", "310p"), ("ascend950", "950"))


_TAGS = {"310p": "310p", "a2": "a2", "a3": "a3", "a5": "950", "950": "950", "910b": "a2", "910c": "a3"}
"""Parts of an image's tag that name a chip family: vllm-ascend:v0.18.0-a3-openeuler, llamafactory:latest-npu-a2."""
_OFFICIAL = regex(r"(?:^|/)ascend/vllm-ascend:v?\d[\w.]*(?:-openeuler)?$", re.IGNORECASE)
"""A tag of the project's registry that names no chip: built for A2."""


def judge(build: AscendBuild | None, chip: Chip, runs: RunCommands | None) -> Iterator[Hit]:
    if chip.family not in compat.chips() or compat.chips()[chip.family].since is None:
        return  # no build fits: vllm-chip-unsupported
    told = _family_of(build) if build is not None else None
    if build is not None and told is not None:
        if told != chip.family:
            found = f"vllm_ascend was built for {told}, the machine has {chip.name} ({chip.family})"
            yield _hit(chip, told, found, Evidence(build.source, build.device_type or build.soc or ""))
        return
    if runs is None:
        raise Skip("_build_info.py does not tell for which chip vllm_ascend was built")
    for run in runs.commands:
        meant = _family_of_image(run)
        if meant is not None and meant != chip.family:
            found = f"the image {run.image} is for {meant}, the machine has {chip.name} ({chip.family})"
            yield replace(_hit(chip, meant, found, Evidence(run.source, run.image or "", run.line)), confidence=Confidence.LIKELY, severity=Severity.WARN)
            return


def _family_of(build: AscendBuild) -> str | None:
    told = _TYPES.get((build.device_type or "").lower().strip("_"))
    return told or next((family for prefix, family in _SOCS if (build.soc or "").startswith(prefix)), None)


def _family_of_image(run: RunCommand) -> str | None:
    """The chip family that the image of a container is made for, as its tag tells it."""
    image = (run.image or "").lower()
    if not re.search(r"ascend|[-_/]npu|cann", image):
        return None
    families = {_TAGS[part] for part in re.split(r"[-_]", image.rpartition(":")[2]) if part in _TAGS}
    if len(families) == 1:
        return families.pop()
    return "a2" if not families and _OFFICIAL.search(image) else None


def _hit(chip: Chip, told: str, found: str, evidence: Evidence) -> Hit:
    return Hit(
        found=found,
        wanted=f"a build for {chip.family}",
        evidence=(evidence, Evidence(chip.source, chip.name, chip.line)),
        values={"built_for": told, "image_suffix": compat.chips()[chip.family].image_suffix},
    )
