"""Decides container-mount-is-empty-directory: driver files that are folders in a container, by its disk or by a log."""

from collections.abc import Iterator

from doctor.facts.container import Container, RunCommands
from doctor.facts.driver import INSTALL_INFO, DriverInstall
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches, evidence_of


def judge(install: DriverInstall | None, container: Container | None, runs: RunCommands | None, matches: Matches) -> Iterator[Hit]:
    gone = matches["gone"]
    if gone and runs is not None and any(target.endswith("/npu-smi") for command in runs.commands for _, target in command.volumes):
        yield Hit(
            found=f"{gone[0].text[:200]}, although the command mounts it",
            wanted="the path that the host has: which npu-smi",
            evidence=(evidence_of(gone),),
            confidence=Confidence.LIKELY,
            severity=Severity.WARN,
            basis=Basis.BOTH,
            position=gone[0].ordinal + 1,
        )
    lines = matches["folder"]
    if lines:
        refused = any("onto a file" in match.text or "failed to mount" in match.text for match in lines)
        only_tool = not refused and all("npu-smi" in match.text for match in lines)  # vLLM runs without it
        yield Hit(
            found=lines[0].text[:300],
            wanted="a file",
            evidence=(evidence_of(lines),),
            severity=Severity.WARN if only_tool else None,
            basis=Basis.LOG,
            position=lines[0].ordinal + 1,
        )
    if install is None or container is None or not container.inside:
        if not matches.looked:
            raise Skip("not in a container")
        return
    version = f"{install.root}/driver/version.info"
    folders = [path for path, kind in ((INSTALL_INFO, install.info_kind), (version, install.version_file)) if kind == "folder"]
    if folders:
        yield Hit(found=" and ".join(folders) + " is a folder", wanted="a file", evidence=tuple(Evidence(path, "folder") for path in folders))
