"""NPU memory that sleep mode does not give back, on releases that keep it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Hit, Severity
from doctor.logscan.signature import Matches

from . import growth

AFFECTED, LAST_PART = "< 0.19.1rc1", "< 0.23.0rc1"
"""0.19.1rc1 returns the workspaces, 0.23.0rc1 the buffers of communication and graphs as well."""
WANTED = "vllm-ascend 0.23.0 or later"


def judge(packages: Packages | None, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "vllm-ascend", LAST_PART)
    if version is None:
        if packages is None or "vllm-ascend" not in packages.versions:
            yield from _untold(matches)
        return
    assert packages is not None
    said = f"sleep mode on vllm-ascend {version}"
    sure = growth.release(packages, "vllm-ascend", AFFECTED) is not None
    if matches.looked and matches["sleep"]:
        kept = matches["kept"] or growth.lines(growth.of_device(growth.told(matches)))
        if kept:
            confidence = Confidence.SURE if sure else Confidence.POSSIBLE
            yield growth.hit(kept, f"{said}, and NPU memory is not given back", confidence, Severity.WARN, WANTED, Basis.BOTH)
            return
    if sure and any("enable-sleep-mode" in c.flags or "enable_sleep_mode" in c.keywords for c in (commands.commands if commands is not None else ())):
        yield growth.static(packages, "vllm-ascend", said, WANTED)


def _untold(matches: Matches) -> Iterator[Hit]:
    """A report that names no release: it may be one of those."""
    kept = matches["kept"] or growth.lines(growth.of_device(growth.observed(matches)))
    if matches["sleep"] and kept:
        yield growth.hit(kept, "NPU memory is not given back by sleep mode; the release is not told", Confidence.POSSIBLE, Severity.WARN, WANTED)
