"""Whether the modules that CANN's operator compiler imports are installed in the target."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuPresence
from doctor.facts.target import Packages
from doctor.finding import Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches

_MODULES = {
    "attr": "attrs", "numpy": "numpy", "decorator": "decorator", "sympy": "sympy", "cffi": "cffi", "yaml": "pyyaml",
    "pathlib2": "pathlib2", "psutil": "psutil", "google/protobuf": "protobuf", "scipy": "scipy", "requests": "requests",
    "absl": "absl-py",
}  # fmt: skip
"""Module -> distribution: the list of vllm-ascend's installation page."""


def judge(packages: Packages, presence: NpuPresence | None, matches: Matches) -> Iterator[Hit]:
    if presence is not None and presence.present is False:
        raise Skip("this machine has no NPU")
    if packages.modules is None or not packages.complete:
        raise Skip("the modules of the target are not known")
    if not {"torch-npu", "vllm-ascend"} & set(packages.versions):
        raise Skip("neither torch-npu nor vllm-ascend is installed in the target")
    missing = [dist for module, dist in _MODULES.items() if module not in packages.modules and dist not in packages.versions]
    if missing:
        yield Hit(
            found="not installed: " + ", ".join(missing),
            wanted="all modules that the operator compiler imports",
            evidence=(Evidence(packages.source, "no " + ", ".join(missing)),),
            severity=Severity.FAIL if matches["compiler"] else Severity.WARN,
            values={"missing_packages": " ".join(missing)},
        )
