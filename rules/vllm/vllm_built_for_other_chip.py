"""The chip family for which the installed vllm_ascend was compiled against the one in the machine."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.npu import Chip
from doctor.facts.target import AscendBuild
from doctor.finding import Evidence, Hit, Skip

_TYPES = {"a2": "a2", "a3": "a3", "310p": "310p", "a5": "950"}
_SOCS = (("ascend910_93", "a3"), ("ascend910b", "a2"), ("ascend310p", "310p"), ("ascend950", "950"))


def judge(build: AscendBuild, chip: Chip) -> Iterator[Hit]:
    told = _TYPES.get((build.device_type or "").lower().strip("_"))
    told = told or next((family for prefix, family in _SOCS if (build.soc or "").startswith(prefix)), None)
    if told is None:
        raise Skip("_build_info.py does not tell for which chip vllm_ascend was built")
    if chip.family not in compat.chips() or compat.chips()[chip.family].since is None:
        return  # no build fits: vllm-chip-unsupported
    if told != chip.family:
        yield Hit(
            found=f"vllm_ascend was built for {told}, the machine has {chip.name} ({chip.family})",
            wanted=f"a build for {chip.family}",
            evidence=(Evidence(build.source, build.device_type or build.soc or ""), Evidence(chip.source, chip.name, chip.line)),
            values={"built_for": told, "image_suffix": compat.chips()[chip.family].image_suffix},
        )
