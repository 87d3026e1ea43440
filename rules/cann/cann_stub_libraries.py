"""Stub folders on the library path of the target."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import CannLibraryPath
from doctor.finding import Evidence, Hit


def judge(path: CannLibraryPath) -> Iterator[Hit]:
    if path.stub:
        yield Hit(
            found="LD_LIBRARY_PATH names " + ", ".join(path.stub),
            wanted="no stub or devlib folder before the real libraries",
            evidence=(Evidence(path.source, ", ".join(path.stub)),),
            values={"stub": path.stub[0]},
        )
