"""The NPU driver (HDK) and firmware on the host, and the state of their installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
