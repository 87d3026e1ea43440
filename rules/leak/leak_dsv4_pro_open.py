"""DeepSeek-V4 Pro on a release that names its memory growth as a known issue."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Hit
from doctor.logscan.signature import Matches

from . import growth

AFFECTED = ">=0.23.0rc1, <=0.23.0"


def judge(packages: Packages | None, chip: Chip | None, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    model = " ".join(command.model or "" for command in (commands.commands if commands is not None else ())).lower().replace("_", "-")
    if not ("v4-pro" in model or (matches.looked and matches["model"])) or (chip is not None and chip.family not in ("a3", "950")):
        return
    version = growth.release(packages, "vllm-ascend", AFFECTED)
    if packages is not None and "vllm-ascend" in packages.versions and version is None:
        return
    seen = growth.lines(growth.observed(matches))
    if seen:
        yield growth.hit(seen, "memory grows with DeepSeek-V4 Pro", Confidence.LIKELY, None, "a release without this issue", Basis.BOTH if version else Basis.LOG)
    elif version is not None and packages is not None:
        yield growth.static(packages, "vllm-ascend", f"DeepSeek-V4 Pro on vllm-ascend {version}", "a release without this issue")
