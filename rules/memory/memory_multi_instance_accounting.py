"""No memory left for the KV cache although the weights are small: another instance was counted as this one's."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Npus
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Hit, Skip
from doctor.logscan.signature import Matches, evidence_of
from doctor.versions import Scheme, satisfies

from . import npu_oom

FIXED = "< 0.18.0rc1"
OVERHEAD = 12 * npu_oom.GIB
"""What activations, buffers and workspaces of one instance take at the most (1.5 to 10 GiB in reports)."""


def judge(packages: Packages | None, npus: Npus | None, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    if not matches.looked:
        raise Skip("no log was given")
    version = packages.versions.get("vllm-ascend") if packages is not None else None
    affected = satisfies(version, FIXED, Scheme.PACKAGE) if version is not None else None
    left, weights = matches["none_left"], matches["weights"]
    if affected is False or not left or not weights:
        return
    total = next((int(match.groups["total"]) for match in left if "total" in match.groups), _card(npus))
    size = _bytes(weights[0].groups.get("gb") or weights[0].groups.get("gib") or "0")
    share = max(npu_oom.utilizations(commands), default=npu_oom.HIGH_UTILIZATION)
    if size > 0 and size + OVERHEAD < share * total:
        yield Hit(
            found=f"weights of {npu_oom.shown(size)} within {share:g} of {npu_oom.shown(total)}, yet no memory is left for the KV cache",
            wanted="an instance that is not charged for its neighbour",
            evidence=(evidence_of(left), evidence_of(weights)),
            confidence=Confidence.LIKELY if affected else Confidence.POSSIBLE,
            basis=Basis.BOTH if affected else Basis.LOG,
            position=left[0].ordinal + 1,
        )


def _card(npus: Npus | None) -> int:
    """Bytes of the smallest card that the report shows, 0 if it shows none."""
    return min((chip.hbm_total_mb * 2**20 for chip in (npus.chips if npus is not None else ()) if chip.hbm_total_mb), default=0)


def _bytes(number: str) -> int:
    try:
        return int(float(number) * npu_oom.GIB)
    except ValueError:
        return 0
