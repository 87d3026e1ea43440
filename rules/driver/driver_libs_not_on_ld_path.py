"""A driver library that the loader cannot find although it lies below the driver's folder."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.cann import CannLibraryPath
from doctor.facts.driver import DriverInstall
from doctor.facts.target import Imports
from doctor.finding import Basis, Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches

_UNLOADABLE = re.compile(r"(?P<library>lib(?:ascend_hal|drvdsmi_host|dcmi|c_sec)\.so)[\w.]*: cannot open sh")


def judge(install: DriverInstall | None, imports: Imports | None, path: CannLibraryPath | None, matches: Matches) -> Iterator[Hit]:
    lines = matches["unloadable"]
    said = _UNLOADABLE.search(imports.text) if imports is not None and not imports.ok else None
    library = lines[0].groups["library"] if lines else said["library"] if said else ""
    if not library:
        if install is None or imports is None:
            raise Skip("importing torch_npu was not tried, and no log was given")
        return
    present = install.libraries.get(library) if install else None
    if present is False:
        return  # then it is missing, not unfindable: container-driver-libs-not-mounted or driver-not-installed
    if install is None and matches["absent"]:
        return
    seen = matches["present"]
    sure = present is True or bool(seen)
    evidence = [Evidence(lines[0].source, lines[0].text[:400], lines[0].line)] if lines else []
    if said and imports is not None:
        evidence.append(Evidence(imports.source, said[0]))
    if path is not None:
        evidence.append(Evidence(path.source, "LD_LIBRARY_PATH=" + ":".join(path.library_path)))
    root = install.root if install else "/usr/local/Ascend"
    yield Hit(
        found=f"the loader does not find {library}" + (f", which lies below {root}/driver" if present else ""),
        wanted=f"{root}/driver/lib64, its common and driver folders on LD_LIBRARY_PATH",
        evidence=tuple(evidence),
        confidence=Confidence.SURE if present else Confidence.LIKELY if sure else Confidence.POSSIBLE,
        values={"library": library, "driver": f"{root}/driver"},
        basis=Basis.BOTH if lines and present else Basis.LOG if lines else Basis.FACTS,
        position=lines[0].ordinal + 1 if lines else 0,
    )
