"""The CANN in use against that of the installed vllm-ascend release: is it of a newer line?"""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.npu import Chip, NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Hit

from ._row import paired


def judge(cann: Cann, packages: Packages, chip: Chip | None, presence: NpuPresence | None) -> Iterator[Hit]:
    pair = paired(cann, packages, chip, presence)
    if pair.order != 1 or not pair.other_line or pair.matches:
        return
    if any(compat.line(one) == compat.line(pair.version) for one in compat.cann_for_torch_npu(packages.versions.get("torch-npu", ""))):
        return  # this torch_npu build was released for this CANN
    fitting = [one.version for one in compat.releases() if compat.cann_matches(one, pair.version, pair.family)]
    yield Hit(
        found=pair.found,
        wanted=f"CANN {pair.wanted}",
        evidence=pair.evidence,
        confidence=pair.confidence,
        values={"row_cann": pair.wanted, "fitting_releases": ", ".join(fitting[-4:])},
    )
