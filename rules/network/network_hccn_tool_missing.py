"""hccn_tool, without which nothing is known about the network of the NPUs."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.driver import DriverInstall
from doctor.facts.npu import Chip
from doctor.finding import Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(install: DriverInstall | None, chip: Chip | None, matches: Matches) -> Iterator[Hit]:
    if install is None or chip is None or "hccn_tool" not in install.tools:
        if not matches.looked:
            raise Skip("the tools of the driver are not known, and no log was given")
        return
    if chip.family in ("a2", "a3", "950") and install.folder_exists and not install.tools["hccn_tool"]:
        yield Hit(found="hccn_tool is not there", wanted="driver/tools/hccn_tool", evidence=(Evidence(install.source, "no hccn_tool"),))
