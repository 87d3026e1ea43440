"""Whether the installed operator binaries are those of the chip in the machine."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.npu import Chip
from doctor.finding import Evidence, Hit, Skip


def judge(cann: Cann, chip: Chip) -> Iterator[Hit]:
    install = cann.active
    if install is None or not install.kernels or chip.kernel is None:
        raise Skip("the installed operator binaries are not known")
    if chip.kernel in install.kernels:
        return
    row = compat.chips().get(chip.family)
    yield Hit(
        found=f"operator binaries of {', '.join(install.kernels)} on a {chip.name}",
        wanted=f"{chip.kernel}",
        evidence=(
            Evidence(f"{install.path}/opp/built-in/op_impl/ai_core/tbe/kernel", ", ".join(install.kernels)),
            Evidence(chip.source, chip.name, chip.line),
        ),
        values={"package_chip": row.cann_package if row else "", "image_suffix": (row.image_suffix if row else "") or "(none)"},
    )
