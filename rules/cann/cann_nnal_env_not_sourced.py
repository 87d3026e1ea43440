"""Whether the target's environment points to the NNAL that is on disk."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import CannLibraryPath, NnalSearch
from doctor.facts.npu import NpuPresence
from doctor.facts.target import Target
from doctor.finding import Confidence, Evidence, Hit, Skip


def judge(search: NnalSearch, path: CannLibraryPath, target: Target, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    nnal = search.found
    if nnal is None or not nnal.abis:
        raise Skip("no libatb.so was found on this disk")
    on_path = any("nnal/atb" in entry or entry.startswith(nnal.path) for entry in path.library_path)
    if on_path:
        return
    missing = "its lib folder on LD_LIBRARY_PATH" if path.atb_home else "ATB_HOME_PATH and its lib folder on LD_LIBRARY_PATH"
    yield Hit(
        found=f"{nnal.path} is installed, but the environment lacks {missing}",
        wanted="the variables that nnal/atb/set_env.sh exports",
        evidence=(Evidence(path.source, f"missing: {missing}"), Evidence(nnal.source, nnal.path)),
        confidence=Confidence.SURE if target.pid is not None else Confidence.LIKELY,
    )
