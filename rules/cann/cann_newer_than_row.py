"""The CANN in use against that of the installed vllm-ascend release: is it of a newer line?"""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.npu import Chip, NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.versions import Scheme, compare


def judge(cann: Cann, packages: Packages, chip: Chip | None, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    release = packages.versions.get("vllm-ascend")
    if cann.version is None or release is None:
        raise Skip("the versions of CANN and of vllm-ascend are not both known")
    exact = compat.release(release)
    row = exact or compat.nearest(release)
    if row is None:
        raise Skip(f"vllm-ascend {release} is no known release")
    wanted = row.cann_for(chip.family if chip else None)
    if compare(cann.version, wanted, Scheme.CANN) is None:
        raise Skip(f"CANN {cann.version} cannot be compared")
    newer = compare(cann.version, wanted, Scheme.CANN) == 1 and compat.line(cann.version) != compat.line(wanted)
    if not newer or compat.cann_matches(row, cann.version, chip.family if chip else None):
        return
    if any(compat.line(one) == compat.line(cann.version) for one in compat.cann_for_torch_npu(packages.versions.get("torch-npu", ""))):
        return  # this torch_npu build was released for this CANN
    fitting = [one.version for one in compat.releases() if compat.cann_matches(one, cann.version, chip.family if chip else None)]
    yield Hit(
        found=f"CANN {cann.version} with vllm-ascend {release}",
        wanted=f"CANN {wanted}",
        evidence=(
            Evidence(cann.source or "CANN", f"CANN {cann.version}", cann.line),
            Evidence(packages.source or "packages", f"vllm-ascend {release}", packages.lines.get("vllm-ascend", 0)),
        ),
        confidence=Confidence.SURE if exact else Confidence.LIKELY,
        values={"row_cann": wanted, "fitting_releases": ", ".join(fitting[-4:])},
    )
