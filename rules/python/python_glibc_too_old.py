"""The glibc of this system against the one that the installed wheel of vllm-ascend was made for."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.machine import OperatingSystem
from doctor.facts.target import AscendBuild
from doctor.finding import Evidence, Hit, Skip
from doctor.versions import Scheme, compare


def judge(build: AscendBuild, system: OperatingSystem) -> Iterator[Hit]:
    if build.wheel_glibc is None or system.glibc is None:
        raise Skip("the glibc of this system and that of the installed wheel are not both known")
    if compare(system.glibc, build.wheel_glibc, Scheme.PACKAGE) == -1:
        yield Hit(
            found=f"glibc {system.glibc}",
            wanted=f"glibc {build.wheel_glibc} or newer, which the installed wheel of vllm-ascend was made for",
            evidence=(
                Evidence(system.source or "ldd --version", f"glibc {system.glibc}"),
                Evidence(build.source, f"manylinux_{build.wheel_glibc.replace('.', '_')}"),
            ),
            values={"symbol": f"GLIBC_{build.wheel_glibc}"},
        )
