"""The driver that runs (npu-smi asks it) against the one on disk."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.driver import Driver
from doctor.facts.npu import Npus
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.versions import Scheme, compare


def judge(driver: Driver, npus: Npus, container: Container | None) -> Iterator[Hit]:
    if container is None or container.inside:
        raise Skip("only on the host itself does the driver on disk belong to the one that runs")
    if not driver.source.endswith("version.info") or npus.driver_version is None:
        raise Skip("the running driver and the one on disk are not both known")
    if compare(driver.version, npus.driver_version, Scheme.HDK) in (-1, 1):
        yield Hit(
            found=f"driver {npus.driver_version} runs, {driver.version} is on disk",
            wanted="the same version in both places",
            evidence=(Evidence(npus.source, f"Version: {npus.driver_version}", npus.line), Evidence(driver.source, driver.version)),
            confidence=Confidence.LIKELY,
        )
