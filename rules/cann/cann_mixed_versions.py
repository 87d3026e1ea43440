"""Components of one toolkit, and folders on LD_LIBRARY_PATH: do they come from one CANN version?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.facts.cann import Cann, CannLibraryPath
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.regex import regex
from doctor.versions import Scheme, parse

_VERSION_FOLDER = regex(r"/(?:ascend-toolkit|nnae)/(\d[^/]*)(?:/|$)|/cann-(\d[^/]*)(?:/|$)")
_OPERATORS = ("opp_kernel", "ops")
"""Components of the ops package: cann-kernels-version-mismatch judges them."""


def judge(cann: Cann, path: CannLibraryPath | None) -> Iterator[Hit]:
    install = cann.active
    if install is None or cann.active_by == "text":
        raise Skip("no CANN on this disk is in use")
    parts = {name: version for name, version in install.component_versions.items() if not name.startswith(_OPERATORS)}
    versions = _versions(parts)
    if len(versions) > 1:
        told = ", ".join(f"{name} {version}" for name, version in parts.items())
        yield Hit(found=told, wanted="one version", evidence=(Evidence(install.source or install.path, told),))
    elif path is not None and len(folders := sorted(_folders(path))) > 1:
        yield Hit(
            found="LD_LIBRARY_PATH names CANN " + " and ".join(folders),
            wanted="one CANN on LD_LIBRARY_PATH",
            evidence=(Evidence(path.source, ":".join(path.library_path)),),
            severity=Severity.WARN,
            confidence=Confidence.LIKELY,
        )
    elif not parts:
        raise Skip("the toolkit's files do not tell the versions of its components")


def _versions(parts: Mapping[str, str]) -> set[object]:
    parsed = (parse(version, Scheme.CANN) for version in parts.values())
    return {version.key[:4] for version in parsed if version is not None}


def _folders(path: CannLibraryPath) -> set[str]:
    found = (_VERSION_FOLDER.search(entry) for entry in path.library_path)
    return {(match[1] or match[2]).lower() for match in found if match}
