"""An install record that names a driver folder without a version.info."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.driver import DriverInstall
from doctor.facts.npu import NpuPresence
from doctor.finding import Evidence, Hit, Skip


def judge(install: DriverInstall, container: Container | None, presence: NpuPresence | None) -> Iterator[Hit]:
    if container is not None and container.inside:
        raise Skip("inside a container a missing version.info is a missing mount")
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if not install.info or "Driver_Install_Path_Param" not in install.info:
        raise Skip("no install record names a driver folder")
    if install.version_file == "missing":
        path = f"{install.root}/driver/version.info"
        yield Hit(
            found=f"{path} is missing",
            wanted="the folder that Driver_Install_Path_Param names holds driver/version.info",
            evidence=(Evidence("/etc/ascend_install.info", f"Driver_Install_Path_Param={install.root}"), Evidence(path, "missing")),
            values={"driver_root": install.root},
        )
