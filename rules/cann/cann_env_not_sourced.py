"""Whether the environment of the target points to the toolkit that is on disk."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import Cann, CannLibraryPath
from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages, Target
from doctor.finding import Confidence, Evidence, Hit, Skip

_MARKS = ("ascend-toolkit", "/cann", "/nnae")


def judge(cann: Cann, path: CannLibraryPath, target: Target, packages: Packages | None, presence: NpuPresence | None) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if cann.active_by == "text" or not cann.installs:
        raise Skip("no toolkit is known on this disk")
    if packages is not None and packages.complete and not {"torch-npu", "vllm-ascend"} & set(packages.versions):
        raise Skip("neither torch-npu nor vllm-ascend is installed in the target")
    roots = tuple(install.path for install in cann.installs)
    libraries = [entry for entry in path.library_path if "lib64" in entry and (entry.startswith(roots) or any(mark in entry for mark in _MARKS))]
    missing = [] if path.home else ["ASCEND_HOME_PATH"]
    missing += [] if path.opp else ["ASCEND_OPP_PATH"]
    missing += [] if libraries else ["the toolkit's lib64 on LD_LIBRARY_PATH"]
    if not missing:
        return
    toolkit = (cann.active or cann.installs[0]).path
    # Without the libraries nothing starts; a shell in which doctor runs need not be the one that starts vLLM.
    sure = not libraries and target.pid is not None
    yield Hit(
        found=f"{toolkit} is installed, but the environment lacks " + ", ".join(missing),
        wanted="the variables that set_env.sh exports",
        evidence=(Evidence(path.source, "not set: " + ", ".join(missing)), Evidence(cann.source, toolkit)),
        confidence=Confidence.SURE if sure else Confidence.LIKELY,
        values={"toolkit": toolkit},
    )
