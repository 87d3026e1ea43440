"""The interpreter of the target against the range of the installed vllm-ascend release."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import compat
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.versions import Scheme, satisfies


def judge(packages: Packages) -> Iterator[Hit]:
    release = packages.versions.get("vllm-ascend")
    if release is None:
        if not packages.complete:
            raise Skip("the version of vllm-ascend is not known")
        return
    if packages.python is None:
        raise Skip("the version of Python is not known")
    row = compat.release(release) or compat.nearest(release)
    if row is None:
        raise Skip(f"the release {release} is not known")
    fits = compat.python_fits(row, packages.python)
    if fits is None:
        raise Skip(f"{packages.python} cannot be compared")
    # 3.9 was allowed by the metadata of 0.11.0rc0 and failed all the same.
    broken = row.base == "0.11.0" and satisfies(packages.python, "<3.10", Scheme.PACKAGE)
    if not fits or broken:
        yield Hit(
            found=f"Python {packages.python} with vllm-ascend {release}",
            wanted=f"Python {row.python}" if not fits else "Python 3.10 or 3.11",
            evidence=(Evidence(packages.source, f"Python {packages.python}", packages.lines.get("python", 0)),),
            confidence=Confidence.SURE if not fits else Confidence.LIKELY,
            severity=Severity.FAIL if not fits else Severity.WARN,
        )
