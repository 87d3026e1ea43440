"""Whether the CANN in use is a pre-release, other than one that an official image carries."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann
from doctor.finding import Evidence, Hit, Skip
from doctor.versions import Scheme, compare, parse


def judge(cann: Cann) -> Iterator[Hit]:
    if cann.active is None:
        raise Skip("no CANN is in use")
    version = parse(cann.active.version, Scheme.CANN)
    if version is None:
        raise Skip(f"{cann.active.version} is no version")
    shipped = (cann_of for row in compat.releases() for cann_of in (row.cann, row.cann_310p))
    if any(compare(version.text, one, Scheme.CANN) == 0 for one in shipped):
        return
    if version.prerelease or cann.active.prerelease:
        yield Hit(
            found=f"CANN {version.text}",
            wanted="a released build",
            evidence=(Evidence(cann.active.source or cann.source, f"version={version.text}", cann.line),),
        )
