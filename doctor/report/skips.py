"""Groups the reasons why rules could not look, so that a hundred skips are told in a few lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from doctor.checkup import NO_LOG
from doctor.finding import Outcome, Verdict
from doctor.locale import Speak
from doctor.regex import regex
from doctor.report.style import short

SHOWN = 6
"""Things named in one line."""

_REASON = regex(r"(?P<what>.{1,200}?): (?P<why>missing|denied|timed out|too big|not recorded|left out)(?: \((?P<detail>.*)\))?")
"""`str(Unavailable)`."""

_KEYS = {"missing": "skipped_missing", "denied": "skipped_denied", "timed out": "skipped_timed_out", "too big": "skipped_too_big", "left out": "skipped_left_out"}


_AREAS = {
    "cann": ("Cann", "Nnal", "NnalSearch", "CustomOps", "cann", "nnal"),
    "npu": ("Chip", "Npus", "NpuDetail", "NpuSmi", "NpuPresence", "PciNpus", "chip", "npu", "npu_smi"),
    "driver": ("Driver", "DriverInstall", "Firmware", "driver", "firmware"),
    "packages": ("Packages", "TorchBuild", "AscendBuild", "Sites", "Imports", "Target", "package", "python", "torch", "ascend_build"),
    "environment": ("Environment", "CannLibraryPath", "env", "cann_env"),
    "kernel": ("Sysctls", "TransparentHugePages", "Governors", "Modules", "NumaNodes", "Accounts", "sysctl", "thp", "governor", "numa"),
    "machine": ("Machine", "Memory", "Disks", "OperatingSystem", "machine", "memory", "disk", "os"),
    "container": ("Container", "RunCommands", "DeviceNodes", "NodeAccess", "OwnStatus", "container", "device_nodes"),
    "commands": ("ServeCommands", "VllmProcesses", "ServerProcesses", "flag", "keyword", "vllm"),
    "model": ("Models", "model"),
    "network": ("Hccn", "HccnConf", "Interfaces"),
    "profile": ("OpSummary", "StepTrace", "Memcheck"),
    "neighbours": ("MindIEs", "EdgeServices"),
}
"""Word of the list -> the fact types and the prefixes of fields that it stands for."""

_AREA_OF = {name: area for area, names in _AREAS.items() for name in names}

_NOT_KNOWN = regex(r"(?P<what>[a-z_]+)(?:\.\S+)? is not known")
"""A field of a condition whose fact is there but does not tell it."""


def told(verdicts: Iterable[Verdict], speak: Speak) -> Iterator[str]:
    """One line a kind of reason, that of most rules first."""
    groups: dict[str, dict[str, None]] = {}
    counts: dict[str, int] = {}
    for verdict in verdicts:
        if verdict.outcome is not Outcome.SKIPPED:
            continue
        kinds = [_kind(reason) for reason in verdict.why.split("; ")]
        for key, what in kinds:
            groups.setdefault(key, {}).setdefault(what)
        for key in {key for key, _ in kinds}:
            counts[key] = counts.get(key, 0) + 1
    for key in sorted(groups, key=lambda key: -counts[key]):
        whats = list(groups[key])
        named = list(dict.fromkeys(speak(f"area_{_AREA_OF[what]}") if what in _AREA_OF else what for what in whats))
        shown = speak("list_comma").join(named[:SHOWN])
        if len(named) > SHOWN:
            shown = speak("and_more", shown=shown, count=len(named) - SHOWN)
        yield speak(key, whats=shown) + f" ({counts[key]})"


def _kind(reason: str) -> tuple[str, str]:
    if reason == NO_LOG:
        return "skipped_no_log", ""
    found = _REASON.fullmatch(reason)
    if not found:
        unknown = _NOT_KNOWN.fullmatch(reason)
        return ("skipped_unknown", unknown["what"]) if unknown else ("skipped_other", "")
    what = short(found["what"], 60)
    if found["why"] == "not recorded":
        return ("skipped_text" if found["detail"] == "not in this text" else "skipped_not_recorded"), what
    return _KEYS[found["why"]], what
