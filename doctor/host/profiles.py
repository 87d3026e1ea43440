"""How closely a host is looked at: which probes a profile allows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from doctor.host import READ_LIMIT, RUN_TIMEOUT, FileInfo, Host, Output, Unavailable, Why
from doctor.host.wrapped import WrappedHost

PROFILES = ("quick", "standard", "deep", "ci-image")
"""quick: files only. standard: files, and commands that ask. deep: the same, and each may take four times as long.
ci-image: an image without devices."""

DEVICE_TOOLS = frozenset({"npu-smi", "hccn_tool", "ascend-dmi", "msnpureport", "lspci", "dmesg", "dmidecode"})
"""Programs that ask a driver or the machine below a container: an image in a pipeline has neither."""

TOOL_FOLDERS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")

MACHINE_PATHS = ("/dev/", "/sys/", "/proc/sys/", "/proc/driver/", "/proc/meminfo", "/proc/cmdline", "/proc/modules", "/usr/local/Ascend/driver", "/usr/local/Ascend/firmware", "/etc/ascend_install.info", "/usr/local/dcmi")  # fmt: skip
"""What belongs to the machine on which an image will run one day, not to the image."""

DEEP_PATIENCE = 4.0
"""Factor on every deadline: a server under load answers `npu-smi` in 10 to 30 s."""


def limited(host: Host, profile: str) -> Host:
    """The host as this profile sees it."""
    if profile == "standard":
        return host
    return _Limited(host, profile)


class _Limited(WrappedHost):
    def __init__(self, host: Host, profile: str) -> None:
        super().__init__(host)
        self._profile = profile

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        return self._left_out(path) or super().read(path, limit, tail)

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        return self._left_out(path) or super().read_raw(path, limit, offset)

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        return self._left_out(glob) or super().list(glob)

    def stat(self, path: str) -> FileInfo | Unavailable:
        return self._left_out(path) or super().stat(path)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        if self._profile == "quick" or (self._profile == "ci-image" and argv[0].rpartition("/")[2] in DEVICE_TOOLS):
            why = Why.LEFT_OUT if self._profile == "ci-image" or self._there(argv[0]) else Why.MISSING
            return Unavailable(" ".join(argv), why, f"--profile {self._profile}")
        return super().run(argv, timeout * DEEP_PATIENCE if self._profile == "deep" else timeout, env)

    def _there(self, program: str) -> bool:
        """Whether there is such a program at all: that it is missing says as much as its answer would."""
        paths = (program,) if program.startswith("/") else tuple(f"{folder}/{program}" for folder in TOOL_FOLDERS)
        return any(not isinstance(answer, Unavailable) or answer.why is not Why.MISSING for answer in map(self.stat, paths))

    def _left_out(self, path: str) -> Unavailable | None:
        if self._profile == "ci-image" and path.startswith(MACHINE_PATHS):
            return Unavailable(path, Why.LEFT_OUT, "--profile ci-image")
        return None


__all__ = ["DEVICE_TOOLS", "PROFILES", "limited"]
