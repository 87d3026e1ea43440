"""The NPU driver (HDK) and firmware on the host, and the state of their installation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from doctor.facts import Facts, Provider
from doctor.facts.npu import Npus
from doctor.host import KIB, Host, Kind, Unavailable, Why
from doctor.record import dataclass
from doctor.regex import regex


@dataclass(frozen=True)
class Driver:
    """The installed driver. `version` is the HDK number ("25.5.2"): package_version of version.info, else Version, else npu-smi's header."""

    version: str
    inner_version: str | None = None
    """"V100R001C21SPC002B220"; its C number must be in the CANN's compatible_version."""
    compatible_firmware: str | None = None
    """"[7.0.0,7.7.99]"."""
    source: str = ""
    line: int = 0
    """Line in a pasted text, 0 for a file."""


@dataclass(frozen=True)
class Firmware:
    """The installed firmware package."""

    version: str
    package_version: str | None = None
    """HDK number that it came with."""
    compatible_drivers: str | None = None
    source: str = ""


@dataclass(frozen=True)
class DriverTopology:
    """Whether the driver's folder `topo` is there, which the 950 needs for more than one card."""

    there: bool
    source: str


@dataclass(frozen=True)
class DriverInstall:
    """What the disk says about the driver's installation.

    `info` is /etc/ascend_install.info (empty if missing, None if it is a folder or unreadable). `root` is the install path.
    """

    info: Mapping[str, str] | None
    root: str
    version_file: str
    """"file", "missing", "folder" (an empty mount) or "unreadable"."""
    libraries: Mapping[str, bool] = field(default_factory=dict)
    """Presence of libascend_hal.so, libdrvdsmi_host.so, libc_sec.so, libdcmi.so by name."""
    folder_exists: bool = False
    info_kind: str = "file"
    """"file", "missing" or "folder"."""
    tools: Mapping[str, bool] = field(default_factory=dict)
    """Presence of npu-smi and hccn_tool by name."""
    source: str = ""


DEFAULT_ROOT = "/usr/local/Ascend"
INSTALL_INFO = "/etc/ascend_install.info"
_ROOT_KEY = "Driver_Install_Path_Param"
_INFO_LIMIT = 64 * KIB
_VERSION = regex(r"[Vv]?[0-9][0-9A-Za-z._+-]{0,63}", re.ASCII)
_KEY = regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}", re.ASCII)

_LIBRARIES = {
    "libascend_hal.so": ("driver/lib64/driver", "driver/lib64", "driver/lib64/common"),
    "libdrvdsmi_host.so": ("driver/lib64/driver", "driver/lib64", "driver/lib64/common"),
    "libc_sec.so": ("driver/lib64/common", "driver/lib64", "driver/lib64/driver"),
    "libdcmi.so": ("/usr/local/dcmi", "driver/lib64/driver", "driver/lib64", "driver/lib64/common"),
}
"""Library -> folders that may hold it, below the install path unless absolute; containers get some of them mounted flat."""

_TOOLS = {
    "npu-smi": ("/usr/local/bin", "/usr/local/sbin", "/usr/bin", "/usr/sbin", "driver/tools"),
    "hccn_tool": ("driver/tools", "/usr/local/bin", "/usr/bin"),
}


def parse_key_values(text: str) -> dict[str, str]:
    """`key=value` lines of version.info, ascend_install.info, hccn.conf: the last of a key wins, comments and other lines are left out."""
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and _KEY.fullmatch(key.strip()):
            values[key.strip()] = value.strip().strip("\"'")
    return values


def _version(values: Mapping[str, str], *keys: str) -> str | None:
    return next((values[key] for key in keys if _VERSION.fullmatch(values.get(key, ""))), None)


def parse_driver_version(text: str, source: str, line: int = 0) -> Driver | None:
    """driver/version.info; `line` is where it stands in a pasted text."""
    values = parse_key_values(text)
    version = _version(values, "package_version", "Version")
    if version is None:
        return None
    return Driver(version, values.get("Innerversion") or None, values.get("compatible_version_fw") or None, source, line)


def parse_firmware(text: str, source: str) -> Firmware | None:
    """firmware/version.info, whose Version is the firmware's own and whose package_version is the HDK's."""
    values = parse_key_values(text)
    version = _version(values, "Version")
    if version is None:
        return None
    return Firmware(version, _version(values, "package_version"), values.get("compatible_version_drv") or None, source)


def parse_install_info(text: str) -> dict[str, str]:
    """/etc/ascend_install.info: `Driver_Install_Path_Param`, `Driver_Install_Status` …"""
    return parse_key_values(text)


def install_root(host: Host) -> str:
    """Where the driver was installed."""
    text = host.read(INSTALL_INFO, _INFO_LIMIT)
    root = parse_install_info(text).get(_ROOT_KEY, "") if isinstance(text, str) else ""
    return root.rstrip("/") if root.startswith("/") and root.strip("/") and ".." not in root.split("/") else DEFAULT_ROOT


def read_driver(host: Host, facts: Facts) -> Driver | Unavailable:
    """From the file; where a container has none of it, from the header of npu-smi, which asks the driver itself."""
    path = f"{install_root(host)}/driver/version.info"
    text = host.read(path, _INFO_LIMIT)
    found = parse_driver_version(text, path) if isinstance(text, str) else None
    if found is not None:
        return found
    npus = facts.get(Npus)
    if not isinstance(npus, Unavailable) and npus.driver_version and _VERSION.fullmatch(npus.driver_version):
        return Driver(npus.driver_version, source="npu-smi info")
    return text if isinstance(text, Unavailable) else Unavailable(path, Why.MISSING, "no version in it")


def read_firmware(host: Host, facts: Facts) -> Firmware | Unavailable:
    path = f"{install_root(host)}/firmware/version.info"
    text = host.read(path, _INFO_LIMIT)
    if isinstance(text, Unavailable):
        return text
    return parse_firmware(text, path) or Unavailable(path, Why.MISSING, "no version in it")


def kind_of(host: Host, path: str) -> str | Unavailable:
    """ "file", "missing", "folder" or "unreadable"; an Unavailable where a recording did not look."""
    info = host.stat(path)
    if isinstance(info, Unavailable):
        words = {Why.MISSING: "missing", Why.DENIED: "unreadable"}
        return words.get(info.why, info)
    if info.kind is Kind.FOLDER:
        return "folder"
    text = host.read(path, KIB)
    return "unreadable" if isinstance(text, Unavailable) and text.why is Why.DENIED else "file"


def _present(host: Host, root: str, places: Mapping[str, tuple[str, ...]]) -> dict[str, bool]:
    """Which of the named things lie, not as a folder, in one of their places; left out where that cannot be told."""
    found: dict[str, bool] = {}
    for name, folders in places.items():
        answers = [host.stat(f"{folder if folder.startswith('/') else f'{root}/{folder}'}/{name}") for folder in folders]
        if any(not isinstance(answer, Unavailable) and answer.kind is not Kind.FOLDER for answer in answers):
            found[name] = True
        elif all(not isinstance(answer, Unavailable) or answer.why is Why.MISSING for answer in answers):
            found[name] = False
    return found


def read_driver_install(host: Host, facts: Facts) -> DriverInstall | Unavailable:
    info_kind = kind_of(host, INSTALL_INFO)
    root = install_root(host)
    version_file = kind_of(host, f"{root}/driver/version.info")
    if isinstance(info_kind, Unavailable):
        return info_kind
    if isinstance(version_file, Unavailable):
        return version_file
    text = host.read(INSTALL_INFO, _INFO_LIMIT) if info_kind == "file" else None
    info = {} if info_kind == "missing" else parse_install_info(text) if isinstance(text, str) else None
    folder = host.stat(f"{root}/driver")
    return DriverInstall(
        info=info,
        root=root,
        version_file=version_file,
        libraries=_present(host, root, _LIBRARIES),
        folder_exists=not isinstance(folder, Unavailable) and folder.kind is Kind.FOLDER,
        info_kind=info_kind,
        tools=_present(host, root, _TOOLS),
        source=f"{INSTALL_INFO}, {root}/driver",
    )


def _read_topology(host: Host, facts: Facts) -> DriverTopology | Unavailable:
    root = "/usr/local/Ascend/driver"
    libraries, topology = host.stat(f"{root}/lib64"), host.stat(f"{root}/topo")
    if isinstance(libraries, Unavailable):
        return libraries
    return DriverTopology(not isinstance(topology, Unavailable), f"{root}/topo")


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(DriverTopology, _read_topology),
    Provider(Driver, read_driver),
    Provider(Firmware, read_firmware),
    Provider(DriverInstall, read_driver_install),
)
