"""A configured AscendStore KV pool against the driver and CANN that it needs on this chip."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.driver import Driver
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Evidence, Hit, Skip
from doctor.versions import Scheme, compare

_CONNECTORS = ("ascendstore", "mooncakestore", "mooncakeconnectorstore")
_FIRST_RELEASE = "0.21.0rc1"
"""The table of minimums is that of the connector of this release and later (its notes); older releases had another pool."""


def judge(driver: Driver, chip: Chip, commands: ServeCommands, packages: Packages, cann: Cann | None) -> Iterator[Hit]:
    needs = compat.feature(f"kv-pool-{chip.family}", chip.family)
    if needs is None:
        raise Skip(f"no table tells what a KV pool needs on {chip.family}")
    release = packages.versions.get("vllm-ascend")
    if release is None or compare(compat.public(release), _FIRST_RELEASE, Scheme.PACKAGE) is None:
        raise Skip("the vllm-ascend release is not known")
    if compare(compat.public(release), _FIRST_RELEASE, Scheme.PACKAGE) == -1:
        return
    for command in commands.commands:
        configured = command.flags.get("kv-transfer-config", "") or ""
        if not any(name in configured.lower().replace("_", "") for name in _CONNECTORS):
            continue
        old = [f"HDK {driver.version} (needs {needs.hdk})"] if needs.hdk and compare(driver.version, needs.hdk, Scheme.HDK) == -1 else []
        if needs.cann and cann is not None and cann.version and compare(cann.version, needs.cann, Scheme.CANN) == -1:
            old.append(f"CANN {cann.version} (needs {needs.cann})")
        if old:
            yield Hit(
                found="a KV pool is configured with " + " and ".join(old),
                wanted=f"HDK {needs.hdk} and CANN {needs.cann} or newer",
                evidence=(Evidence(command.source, f"--kv-transfer-config {configured}"[:200]), Evidence(driver.source, driver.version, driver.line)),
                values={"kv_hdk": needs.hdk or "", "kv_cann": needs.cann or ""},
            )
            return
