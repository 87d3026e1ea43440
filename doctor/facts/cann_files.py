"""Parsers of the small files in which CANN and NNAL keep their versions. Pure functions of text that never raise."""

from __future__ import annotations

import re
from collections.abc import Mapping

from doctor.regex import regex

FILE_LIMIT = 64 * 1024
"""Bytes read of an info file; the largest known is about 4 KiB."""

KERNEL_FOLDER_OF_PACKAGE = {
    "310p": "ascend310p",
    "910": "ascend910",
    "910b": "ascend910b",
    "a3": "ascend910_93",
    "910_93": "ascend910_93",
    "950": "ascend950",
}
"""Operator package (the chip in `Ascend-cann-<chip>-ops`, `Ascend-cann-kernels-<chip>`) -> folder of its binaries."""

_KEY_VALUE = regex(r"[ \t]*([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(.*)")
_RUNNING = regex(r"([a-z][a-z0-9_]*)_running_version=\[([^\]:\n]*):([^\]\n]*)\]")
_COLON_LINE = regex(r"[ \t]*([A-Za-z][\w -]*?)[ \t]*:[ \t]*(\S+)[ \t]*\r?")
_OPS_PACKAGE = regex(r"(?:^|[-_])(?:kernels[-_])?(310p|910b|910_93|910|a3|950)(?:[-_](?:ops|cann-kernels))?$", re.IGNORECASE)
_PRERELEASE = regex(r"alpha|beta|nightly|\.T\d|\.B\d{3}|[_-]20\d{6}", re.IGNORECASE)
_VERSION_IN_NAME = regex(r"(?:cann-)?(\d+\.\d+\.\w[\w.-]*)")
_LINE_LIMIT = 4096


def parse_install_info(text: str) -> dict[str, str]:
    """`key=value` lines, as in ascend_toolkit_install.info: package_name, version, innerversion, compatible_version, arch, path."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _KEY_VALUE.match(line[:_LINE_LIMIT])
        if match:
            found.setdefault(match.group(1), match.group(2).strip().strip("\"'"))
    return found


def parse_version_info(text: str) -> dict[str, str]:
    """`Version=`, `version_dir=`, `timestamp=` of opp/version.info and share/info/*/version.info."""
    return parse_install_info(text)


def parse_version_cfg(text: str) -> dict[str, str]:
    """Component -> running CANN version of version.cfg: `runtime_running_version=[7.6.0.1.220:8.0.0]` gives runtime: 8.0.0."""
    return {name: version.strip() for name, _, version in _RUNNING.findall(text) if version.strip()}


def parse_nnal_version(text: str) -> str | None:
    """Version of NNAL's version.info, whose lines are `Ascend-cann-atb : 9.1.0`; the line of the build number only if no other tells."""
    lines: dict[str, str] = {}
    for line in text.splitlines():
        match = _COLON_LINE.fullmatch(line[:_LINE_LIMIT])
        if match:
            lines.setdefault(match.group(1).lower(), match.group(2))
    for name, value in lines.items():
        if re.fullmatch(r"ascend-cann-\w+", name):
            return value
    for name, value in lines.items():
        if name.endswith("version"):
            return re.sub(r"\.B\d+$", "", value)
    return parse_install_info(text).get("Version")


def compatible_versions(info: Mapping[str, str]) -> tuple[str, ...] | None:
    """The V100R001Cxx names of compatible_version; None where the file has no such line."""
    if "compatible_version" not in info:
        return None
    return tuple(re.findall(r"V\d+R\d+C\d+", info["compatible_version"]))


def kernel_folder(package: str) -> str | None:
    """Folder of the operator binaries that a package brings: "Ascend-cann-910b-ops", "ops_910b" -> "ascend910b"."""
    match = _OPS_PACKAGE.search(package)
    return KERNEL_FOLDER_OF_PACKAGE.get(match.group(1).lower()) if match else None


def is_prerelease(version: str) -> bool:
    """Alpha, beta, nightly (date suffix) and test (T63, B094) builds. `8.3.RC2` is none: it is the last release of its line."""
    return bool(_PRERELEASE.search(version))


def version_in_name(name: str) -> str | None:
    """Version in a folder's name: "cann-8.5.1", "8.3.RC2"."""
    match = _VERSION_IN_NAME.fullmatch(name)
    return match.group(1) if match else None
