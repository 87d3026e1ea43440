"""The release of vllm-ascend against the first one that runs on this chip."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Skip


def judge(packages: Packages, chip: Chip) -> Iterator[Hit]:
    release = packages.versions.get("vllm-ascend")
    if release is None:
        raise Skip("the release of vllm-ascend is not known")
    exact = compat.release(release)
    row = exact or compat.nearest(release)
    known = compat.chips().get(chip.family)
    if row is None or known is None:
        raise Skip(f"vllm-ascend {release} on {chip.family} is not in the table")
    if known.since is None:
        return  # vllm-chip-unsupported
    if compat.supports_chip(row, chip.family) is False:
        images = [image for one in compat.releases() if compat.is_maintained(one) and (image := compat.image(one, chip.family))]
        yield Hit(
            found=f"vllm-ascend {release} on {chip.name}",
            wanted=f"vllm-ascend {known.since} or newer",
            evidence=(
                Evidence(packages.source or "packages", f"vllm-ascend {release}", packages.lines.get("vllm-ascend", 0)),
                Evidence(chip.source, chip.name, chip.line),
            ),
            confidence=Confidence.SURE if exact else Confidence.LIKELY,
            values={"since": known.since, "image": images[-1] if images else ""},
        )
