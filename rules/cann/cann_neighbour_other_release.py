"""MindIE on the host and MindSpore in the target: is the CANN in use one that their release was made for?"""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.facts.neighbours import MindIEs
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Skip


def judge(cann: Cann, mindies: MindIEs | None, packages: Packages | None) -> Iterator[Hit]:
    neighbours = list(_neighbours(mindies, packages))
    if not neighbours and mindies is None:
        raise Skip("no neighbour is named")
    if cann.version is None:
        raise Skip("the version of CANN is not known")
    for name, product, version, evidence in neighbours:
        wanted = compat.neighbour_cann(product, version)
        if wanted and compat.line(cann.version) not in map(compat.line, wanted):
            yield Hit(
                subject=f"{name} {version}",
                found=f"{name} {version} beside CANN {cann.version}",
                wanted=f"CANN {' or '.join(wanted)} for {name} {version}",
                evidence=(evidence, Evidence(cann.source or "CANN", f"CANN {cann.version}", cann.line)),
                confidence=Confidence.LIKELY,
                values={"neighbour": f"{name} {version}", "wanted_cann": wanted[-1]},
            )


def _neighbours(mindies: MindIEs | None, packages: Packages | None) -> Iterator[tuple[str, str, str, Evidence]]:
    for mindie in mindies.found if mindies is not None else ():
        yield "MindIE", "mindie", mindie.version, Evidence(mindie.source, f"MindIE {mindie.version}", mindie.line)
    version = packages.versions.get("mindspore") if packages is not None else None
    if packages is not None and version is not None:
        yield "MindSpore", "mindspore", version, Evidence(packages.source or "packages", f"mindspore {version}", packages.lines.get("mindspore", 0))
