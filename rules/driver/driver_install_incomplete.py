"""The driver's install record, and npu-smi's own warning about it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.driver import DriverInstall
from doctor.facts.npu import NpuSmi
from doctor.finding import Evidence, Hit, Skip

_WARNING = "driver package may not be completely installed"


def judge(install: DriverInstall, container: Container | None, smi: NpuSmi | None) -> Iterator[Hit]:
    if container is not None and container.inside:
        raise Skip("inside a container the install record is a copy")
    if smi is not None and _WARNING in smi.text:
        line = next(line for line in smi.text.splitlines() if _WARNING in line)
        yield Hit(found="npu-smi warns that the driver may be incomplete", wanted="no warning", evidence=(Evidence(smi.source, line.strip()),))
        return
    if install.info_kind != "file" or install.info is None:
        raise Skip("there is no install record to read")
    status = install.info.get("Driver_Install_Status")
    if status is None and smi is None:
        raise Skip("the record has no Driver_Install_Status (older drivers write none), and npu-smi did not answer")
    if status is not None and status != "complete":
        yield Hit(
            found=f"Driver_Install_Status={status}",
            wanted="Driver_Install_Status=complete",
            evidence=(Evidence(install.source, f"Driver_Install_Status={status}"),),
        )
