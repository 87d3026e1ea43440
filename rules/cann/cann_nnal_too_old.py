"""NNAL and the toolkit come from one release: is NNAL the older of the two?"""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.cann import Cann, Nnal
from doctor.finding import Evidence, Hit, Severity, Skip
from doctor.versions import Scheme, compare


def judge(nnal: Nnal, cann: Cann) -> Iterator[Hit]:
    if nnal.version is None or cann.version is None:
        raise Skip("the versions of NNAL and of CANN are not both known")
    order = compare(nnal.version, cann.version, Scheme.CANN)
    if order is None:
        raise Skip(f"NNAL {nnal.version} and CANN {cann.version} cannot be compared")
    if order < 0:
        yield Hit(
            found=f"NNAL {nnal.version} with CANN {cann.version}",
            wanted=f"NNAL {cann.version}",
            evidence=(Evidence(nnal.source, f"NNAL {nnal.version}", nnal.line), Evidence(cann.source, f"CANN {cann.version}", cann.line)),
            severity=Severity.WARN if compat.line(nnal.version) == compat.line(cann.version) else Severity.FAIL,
            values={"nnal_version": nnal.version},
        )
