"""Whether the folder of the user and another folder of the same interpreter both hold packages of vLLM."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.distributions import Site, normalised
from doctor.facts.target import Sites
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches

FAMILY = ("vllm", "vllm-ascend", "torch", "torch-npu", "transformers")


def judge(sites: Sites | None, matches: Matches) -> Iterator[Hit]:
    if sites is None:
        if not matches.looked:
            raise Skip("the folders of site-packages are not known")
        return
    held = {site.path: _family(site) for site in sites.found}
    own = next((path for path, packages in held.items() if "/.local/lib/" in path and packages), None)
    other = next((path for path, packages in held.items() if "/.local/lib/" not in path and packages), None)
    if own is None or other is None:
        return
    hidden = [name for name in held[own] if held[other].get(name, held[own][name]) != held[own][name]]
    yield Hit(
        found=_told(own, held[own]) + "; " + _told(other, held[other]),
        wanted="one folder that holds all of them",
        evidence=(Evidence(own, _told(own, held[own])), Evidence(other, _told(other, held[other]))),
        confidence=Confidence.LIKELY if hidden else Confidence.POSSIBLE,
    )


def _family(site: Site) -> dict[str, str]:
    told = {normalised(one.name): one.version for one in site.distributions if one.version}
    return {name: version for name in FAMILY if (version := told.get(name))}


def _told(path: str, packages: dict[str, str]) -> str:
    return f"{path}: " + ", ".join(f"{name} {version}" for name, version in packages.items())
