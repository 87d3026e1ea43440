"""Variables of the target that name folders which are gone, or two different toolkits."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from doctor.facts.cann import Cann, CannLibraryPath
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip


def judge(path: CannLibraryPath, cann: Cann | None) -> Iterator[Hit]:
    if not (path.home or path.opp or path.missing):
        raise Skip("no CANN variable is set")
    if path.missing:
        yield Hit(
            found="these folders do not exist: " + ", ".join(path.missing[:6]),
            wanted="every CANN path in the environment exists",
            evidence=(Evidence(path.source, ", ".join(path.missing[:6])),),
        )
        return
    home, opp = posixpath.normpath(path.home or ""), posixpath.dirname(posixpath.normpath(path.opp or ""))
    # ascend-toolkit/latest and /usr/local/Ascend/cann may be one folder: only two versions in the names prove a mix.
    if path.home and path.opp and home != opp and _version(home) and _version(opp) and _version(home) != _version(opp):
        yield Hit(
            found=f"ASCEND_HOME_PATH={path.home}, but ASCEND_OPP_PATH={path.opp}",
            wanted="both variables name one toolkit",
            evidence=(Evidence(path.source, f"{path.home}, {path.opp}"),),
            severity=Severity.WARN,
            confidence=Confidence.LIKELY,
        )


def _version(path: str) -> str:
    name = posixpath.basename(path).removeprefix("cann-")
    return name if name[:1].isdecimal() else ""
