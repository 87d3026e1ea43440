"""Whether the installed release line still gets fixes."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.target import Packages
from doctor.finding import Evidence, Hit, Skip


def judge(packages: Packages) -> Iterator[Hit]:
    release = packages.versions.get("vllm-ascend")
    row = compat.release(release) if release else None
    if release is None or row is None:
        raise Skip("the release of vllm-ascend is not known")
    if compat.is_maintained(row):
        return
    maintained = [one for one in compat.releases() if one.stable and compat.is_maintained(one)]
    yield Hit(
        found=f"vllm-ascend {release}" + (f" of {row.date}" if row.date else ""),
        wanted="a release of a maintained line",
        evidence=(Evidence(packages.source or "packages", f"vllm-ascend {release}", packages.lines.get("vllm-ascend", 0)),),
        values={
            "maintained": ", ".join(f"{one.version} (CANN {one.cann})" for one in reversed(maintained)),
            "as_of": compat.as_of(),
        },
    )
