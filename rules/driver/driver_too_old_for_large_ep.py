"""Expert parallelism over several nodes against the driver that its fused operators need."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.driver import Driver
from doctor.facts.npu import Chip
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.versions import Scheme, compare

_SEVERAL_NODES = ("headless", "data-parallel-address", "data-parallel-start-rank", "data-parallel-size-local", "node-rank", "master-addr")
"""Flags that only a deployment over several nodes uses."""


def judge(driver: Driver, chip: Chip, commands: ServeCommands) -> Iterator[Hit]:
    needs = compat.feature("expert-parallel-dispatch", chip.family)
    if needs is None or needs.hdk is None:
        raise Skip(f"no table tells what expert parallelism needs on {chip.family}")
    if not commands.commands:
        raise Skip("no vLLM command is known")
    if compare(driver.version, needs.hdk, Scheme.HDK) != -1:
        return
    for command in commands.commands:
        several = [flag for flag in _SEVERAL_NODES if flag in command.flags]
        if "enable-expert-parallel" in command.flags and several:
            yield Hit(
                found=f"HDK {driver.version} with --enable-expert-parallel over several nodes",
                wanted=f"HDK {needs.hdk} or newer",
                evidence=(Evidence(command.source, f"--enable-expert-parallel --{several[0]}"), Evidence(driver.source, driver.version, driver.line)),
                confidence=Confidence.LIKELY,
                values={"ep_hdk": needs.hdk},
            )
            return
