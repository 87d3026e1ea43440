"""Whether the compiled extension of vllm_ascend is there, for releases that need it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.target import AscendBuild, Packages
from doctor.finding import Evidence, Hit, Severity, Skip
from doctor.versions import Scheme, compare

_USED_FROM = "0.9.0rc1"
"""Up to 0.8 the image itself comes without them."""
_NEEDED_FROM = "0.12.0rc1"
"""From this release on it works only with them (release notes)."""


def judge(build: AscendBuild, packages: Packages) -> Iterator[Hit]:
    release = packages.versions.get("vllm-ascend")
    if release is None or compare(compat.public(release), _USED_FROM, Scheme.PACKAGE) is None:
        raise Skip("the release of vllm-ascend is not known")
    if "vllm_ascend_C.so" not in build.files:
        raise Skip("the folder of vllm_ascend could not be listed")
    if build.extension or compare(compat.public(release), _USED_FROM, Scheme.PACKAGE) == -1:
        return
    yield Hit(
        found=f"vllm_ascend_C*.so is missing beside {build.source}",
        wanted="the compiled extension of vllm_ascend",
        evidence=(Evidence(build.source, "no vllm_ascend_C*.so"),),
        severity=Severity.WARN if compare(compat.public(release), _NEEDED_FROM, Scheme.PACKAGE) == -1 else Severity.FAIL,
    )
