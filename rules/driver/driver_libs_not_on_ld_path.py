"""A driver library that the loader cannot find although it lies below the driver's folder."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import CannLibraryPath
from doctor.facts.container import RunCommand, RunCommands
from doctor.facts.driver import DriverInstall
from doctor.facts.target import Imports
from doctor.finding import Basis, Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches
from doctor.regex import regex

_UNLOADABLE = regex(r"(?P<library>lib(?:ascend_hal|drvdsmi_host|dcmi|c_sec)\.so)[\w.]*: cannot open sh")

_DRIVER = ("/usr/local/Ascend", "/usr/local/Ascend/driver", "/usr/local/Ascend/driver/lib64")
"""Folders that bring the library along when they are mounted."""


def judge(install: DriverInstall | None, imports: Imports | None, path: CannLibraryPath | None, runs: RunCommands | None, matches: Matches) -> Iterator[Hit]:
    lines = matches["unloadable"]
    said = _UNLOADABLE.search(imports.text) if imports is not None and not imports.ok else None
    library = lines[0].groups["library"] if lines else said["library"] if said else ""
    if not library:
        if install is None or imports is None:
            raise Skip("importing torch_npu was not tried, and no log was given")
        return
    present = install.libraries.get(library) if install else bool(matches["present"]) and not matches["absent"]
    mounted = not present and install is None and runs is not None and any(_mounts_driver(run) for run in runs.commands)
    if not present and not mounted:
        return  # then it may be missing altogether: container-driver-libs-not-mounted or driver-not-installed
    evidence = [Evidence(match.source, match.text[:400], match.line) for match in (*lines[:1], *matches["present"][:1])]
    if said and imports is not None:
        evidence.append(Evidence(imports.source, said[0]))
    if path is not None:
        evidence.append(Evidence(path.source, "LD_LIBRARY_PATH=" + ":".join(path.library_path)))
    root = install.root if install else "/usr/local/Ascend"
    yield Hit(
        found=f"the loader does not find {library}, which lies below {root}/driver",
        wanted=f"{root}/driver/lib64, its common and driver folders on LD_LIBRARY_PATH",
        evidence=tuple(evidence),
        values={"library": library, "driver": f"{root}/driver"},
        confidence=Confidence.LIKELY if mounted else Confidence.SURE,
        basis=Basis.LOG if install is None else Basis.BOTH if lines else Basis.FACTS,
        position=lines[0].ordinal + 1 if lines else 0,
    )


def _mounts_driver(run: RunCommand) -> bool:
    return any(target.rstrip("/") in _DRIVER for _, target in run.volumes)
