"""VLLM_PLUGINS is an allow-list: does it let the ascend plugin in?"""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.target import Environment, Packages
from doctor.finding import Evidence, Hit, Skip


def judge(environment: Environment, packages: Packages | None, presence: NpuPresence | None) -> Iterator[Hit]:
    told = environment.values.get("VLLM_PLUGINS")
    if told is None:
        if not environment.complete:
            raise Skip("the environment of the target is only partly known")
        return
    wanted = (packages is not None and "vllm-ascend" in packages.versions) or (presence is not None and presence.present is True)
    if not wanted:
        raise Skip("nothing shows that the ascend plugin is wanted")
    if "ascend" not in [name.strip() for name in told.split(",")]:
        yield Hit(
            found=f"VLLM_PLUGINS={told!r}",
            wanted="not set, or a list that holds ascend",
            evidence=(Evidence(environment.source, f"VLLM_PLUGINS={told}", environment.lines.get("VLLM_PLUGINS", 0)),),
        )
