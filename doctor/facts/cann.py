"""CANN: every toolkit on disk in every layout, its operator packages, NNAL/ATB, and which one the target uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class CannInstall:
    """One toolkit. `path` is its folder with links resolved."""

    path: str
    version: str
    """"8.5.1", "8.3.RC2": version of ascend_toolkit_install.info, else version.cfg, else version.info."""
    layout: str = "new"
    """"old": ascend-toolkit/<version>; "new": cann-<version> (8.5 and later); "nnae"."""
    arch: str | None = None
    inner_version: str | None = None
    compatible_versions: tuple[str, ...] | None = None
    """V100R001Cxx list; None where the file does not carry it (9.x)."""
    component_versions: Mapping[str, str] = field(default_factory=dict)
    """Component -> version from version.cfg's *_running_version or share/info/*/version.info."""
    kernels: tuple[str, ...] | None = None
    """Operator binary folders: ascend910b, ascend910_93, ascend310p, ascend950; () if none is installed, None if not looked."""
    kernels_version: str | None = None
    libraries: Mapping[str, bool] = field(default_factory=dict)
    """Presence of libascendcl.so, libhccl.so, libopapi.so in lib64."""
    prerelease: bool = False
    """alpha, beta, nightly or test build."""
    source: str = ""


@dataclass(frozen=True)
class Cann:
    """All toolkits on disk, and the one that counts. From a pasted text there is one install with only a version.

    `active` is the one that the target's environment points to, else what ascend-toolkit/latest or cann links to.
    `active_by`: "environment", "link", "only one", "text".
    """

    installs: tuple[CannInstall, ...]
    active: CannInstall | None
    active_by: str = ""
    source: str = ""
    line: int = 0

    @property
    def version(self) -> str | None:
        return self.active.version if self.active else None


@dataclass(frozen=True)
class Nnal:
    """NNAL/ATB (Ascend Transformer Boost). `abis` are the cxx_abi_N folders that hold a libatb.so."""

    path: str
    version: str | None
    abis: tuple[int, ...] = ()
    source: str = ""
    line: int = 0


@dataclass(frozen=True)
class NnalSearch:
    """That NNAL was looked for on disk: `found` is None if there is none."""

    found: Nnal | None
    looked_at: tuple[str, ...] = ()


@dataclass(frozen=True)
class CannLibraryPath:
    """What the target's environment says about CANN.

    Fields are None where the variable is not set; `missing` are folders named there that are not on disk.
    """

    home: str | None
    opp: str | None
    atb_home: str | None
    library_path: tuple[str, ...]
    python_path: tuple[str, ...]
    missing: tuple[str, ...] = ()
    stub: tuple[str, ...] = ()
    """LD_LIBRARY_PATH entries in a stub or devlib folder that come before the real library."""
    source: str = ""


@dataclass(frozen=True)
class CustomOps:
    """Custom operator packages: vendors below opp/vendors and ASCEND_CUSTOM_OPP_PATH."""

    vendors: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    source: str = ""
