"""The CANN in use beside the one that the installed vllm-ascend release was built for: what both directions of the comparison need."""

from __future__ import annotations

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.npu import Chip, NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Skip
from doctor.record import dataclass
from doctor.versions import Scheme, compare


@dataclass(frozen=True)
class Pair:
    """One comparison. `order` is -1, 0 or 1 as `version` comes before, with or after `wanted`; `row` is that of the nearest release where `exact` is False."""

    version: str
    release: str
    row: compat.Release
    exact: bool
    family: str | None
    wanted: str
    order: int
    evidence: tuple[Evidence, ...]

    @property
    def matches(self) -> bool | None:
        """Whether the release accepts this CANN."""
        return compat.cann_matches(self.row, self.version, self.family)

    @property
    def other_line(self) -> bool:
        """Whether they differ by more than a patch."""
        return compat.line(self.version) != compat.line(self.wanted)

    @property
    def found(self) -> str:
        """What was found, for people."""
        return f"CANN {self.version} with vllm-ascend {self.release}"

    @property
    def confidence(self) -> Confidence:
        """A release that the table does not know is compared with its neighbour."""
        return Confidence.SURE if self.exact else Confidence.LIKELY


def paired(cann: Cann, packages: Packages, chip: Chip | None, presence: NpuPresence | None) -> Pair:
    """The comparison. Raises Skip where it cannot be made."""
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    release = packages.versions.get("vllm-ascend")
    if cann.version is None or release is None:
        raise Skip("the versions of CANN and of vllm-ascend are not both known")
    exact = compat.release(release)
    row = exact or compat.nearest(release)
    if row is None:
        raise Skip(f"vllm-ascend {release} is no known release")
    family = chip.family if chip else None
    wanted = row.cann_for(family)
    shortened = wanted.lower().startswith(cann.version.lower() + ".")  # "8.5" says nothing about the patch of 8.5.1
    order = 0 if shortened else compare(cann.version, wanted, Scheme.CANN)
    if order is None:
        raise Skip(f"CANN {cann.version} cannot be compared")
    evidence = (
        Evidence(cann.source or "CANN", f"CANN {cann.version}", cann.line),
        Evidence(packages.source or "packages", f"vllm-ascend {release}", packages.lines.get("vllm-ascend", 0)),
    )
    return Pair(cann.version, release, row, exact is not None, family, wanted, order, evidence)
