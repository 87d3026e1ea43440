"""Version of the kernels/ops package against that of the toolkit; build numbers do not count."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import Cann
from doctor.finding import Evidence, Hit, Skip
from doctor.versions import Scheme, parse


def judge(cann: Cann) -> Iterator[Hit]:
    install = cann.active
    if install is None or not install.kernels_version:
        raise Skip("the version of the kernels/ops package is not recorded")
    ops, toolkit = parse(install.kernels_version, Scheme.CANN), parse(install.version, Scheme.CANN)
    if ops is None or toolkit is None:
        raise Skip(f"{install.kernels_version} and {install.version} cannot be compared")
    if ops.key[:4] != toolkit.key[:4]:
        yield Hit(
            found=f"ops package {install.kernels_version} in a toolkit {install.version}",
            wanted=f"ops package {install.version}",
            evidence=(Evidence(install.source or cann.source, f"version={install.version}"), Evidence(install.path, f"ops {install.kernels_version}")),
        )
