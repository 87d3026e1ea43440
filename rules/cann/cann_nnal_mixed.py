"""Two ATB builds on the library path."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import CannLibraryPath
from doctor.finding import Evidence, Hit, Skip
from doctor.regex import regex

_ATB = regex(r"/nnal/atb/([^/]+)/atb/cxx_abi_([01])")


def judge(path: CannLibraryPath) -> Iterator[Hit]:
    entries = [(entry, found) for entry in path.library_path if (found := _ATB.search(entry))]
    if not entries:
        raise Skip("no ATB folder is on LD_LIBRARY_PATH")
    versions = {found[1] for _, found in entries} - {"latest"}  # `latest` may be a link to the version beside it
    abis = {found[2] for _, found in entries}
    if len(versions) > 1 or len(abis) > 1:
        told = ":".join(entry for entry, _ in entries)
        yield Hit(found="several ATB folders on LD_LIBRARY_PATH", wanted="one", evidence=(Evidence(path.source, told),))
