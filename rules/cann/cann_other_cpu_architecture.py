"""The CPU architecture for which CANN was packed against the machine's."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import Cann
from doctor.facts.machine import Machine
from doctor.finding import Confidence, Evidence, Hit, Skip

_SAME = {"arm64": "aarch64", "amd64": "x86_64"}


def judge(cann: Cann, machine: Machine) -> Iterator[Hit]:
    if cann.active is None or not cann.active.arch or not machine.arch:
        raise Skip("the architectures of CANN and of the machine are not both known")
    packed, own = (_SAME.get(arch.lower(), arch.lower()) for arch in (cann.active.arch, machine.arch))
    if packed != own:
        yield Hit(
            found=f"CANN for {packed} on a {own} machine",
            wanted=f"CANN for {own}",
            evidence=(Evidence(cann.active.source or cann.source, f"arch={packed}", cann.line), Evidence(machine.source or "uname -m", own)),
            confidence=Confidence.LIKELY if cann.active_by == "text" else Confidence.SURE,
        )
