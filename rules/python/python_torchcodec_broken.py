"""torchcodec without FFmpeg's libraries."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.beside import Codecs
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches


def judge(packages: Packages | None, codecs: Codecs | None, matches: Matches) -> Iterator[Hit]:
    if packages is None or codecs is None:
        if not matches.looked:
            raise Skip("the packages of the target, or the libraries of the system, are not known")
        return
    version = packages.versions.get("torchcodec")
    if version and not codecs.libavcodec:
        found = f"torchcodec {version}, and no libavcodec"
        yield Hit(found=found, wanted="FFmpeg 4 to 7", evidence=(Evidence(packages.source, found),), confidence=Confidence.LIKELY, severity=Severity.WARN)
