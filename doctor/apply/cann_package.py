"""CANN's packages by their names: which part, version, chip and architecture, and whether they fit this machine. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from doctor import compat
from doctor.compat import Release
from doctor.facts.cann_files import KERNEL_FOLDER_OF_PACKAGE
from doctor.versions import Scheme, compare
from doctor.words import Words

OLDEST = "8.0.0"
"""The oldest CANN that any vllm-ascend runs on."""

ORDER = ("toolkit", "ops", "nnal")
"""In this order they are installed: the others need the toolkit's environment."""

_CHIP = r"(?P<chip>310p|310b|910b|910_93|910|A3|950|310)"
_TAIL = r"_(?P<version>V?\d[\w.\-]{1,40}?)_linux[-_.](?P<arch>aarch64|arm64|x86_64)\.run"
_NAMES = (
    ("toolkit", re.compile(rf"Ascend-cann-toolkit{_TAIL}", re.IGNORECASE)),
    ("nnal", re.compile(rf"Ascend-cann-nnal{_TAIL}", re.IGNORECASE)),
    ("ops", re.compile(rf"Ascend-cann-kernels-{_CHIP}{_TAIL}", re.IGNORECASE)),
    ("ops", re.compile(rf"Ascend-cann-{_CHIP}-ops{_TAIL}", re.IGNORECASE)),
    ("ops", re.compile(rf"Atlas-(?P<chip>A3)-cann-kernels{_TAIL}", re.IGNORECASE)),
    ("driver", re.compile(rf"(?:Ascend-hdk-\w+|Atlas-A3-hdk)-npu-driver{_TAIL}", re.IGNORECASE)),
    ("firmware", re.compile(r"(?:Ascend-hdk-\w+|Atlas-A3-hdk)-npu-firmware_(?P<version>\d[\w.\-]{1,40}?)\.run", re.IGNORECASE)),
)


@dataclass(frozen=True)
class Package:
    """One file. `part`: toolkit, ops, nnal, driver, firmware; `kernel` is the chip's folder of operator binaries, "" where it is for all."""

    part: str
    version: str
    arch: str = ""
    kernel: str = ""


def package_of(name: str) -> Package | None:
    """What the file name says; None for the name of no such package."""
    for part, pattern in _NAMES:
        match = pattern.fullmatch(name)
        if match:
            told = match.groupdict()
            arch = (told.get("arch") or "").lower()
            chip = (told.get("chip") or "").lower()
            return Package(part, match["version"].removeprefix("V"), "aarch64" if arch == "arm64" else arch, KERNEL_FOLDER_OF_PACKAGE.get(chip, chip) if chip else "")
    return None


@dataclass(frozen=True)
class Machine:
    """What the packages are judged by; "" or None: not known."""

    arch: str = ""
    family: str = ""
    kernel: str = ""
    hdk: str = ""
    installed: str = ""
    """CANN in use."""
    row: Release | None = None


def judge_packages(packages: Sequence[Package], machine: Machine, needed: Sequence[str] = ()) -> Iterator[Words]:
    """Every reason against installing these packages together; `needed` are parts that have to be among them or be there."""
    for package in packages:
        yield from _one(package, machine)
    versions = {package.version for package in packages if package.part in ORDER}
    if len(versions) > 1:
        told = ", ".join(sorted(versions))
        yield Words(f"the packages are of different versions: {told}", f"安装包版本不一致：{told}")
    parts = [package.part for package in packages]
    for part in ORDER:
        if parts.count(part) > 1:
            yield Words(f"there are several packages with the {part}", f"有多个 {part} 安装包")
    if "toolkit" in parts and "ops" not in parts:
        yield Words("the operators' package of the same version is missing: a toolkit alone runs no operator", "缺少同版本的算子包：只有 toolkit 无法执行算子")
    if "ops" in parts and "toolkit" not in parts:
        yield Words(
            "the toolkit's package is needed as well: doctor installs a whole CANN beside the one in use, never into it",
            "还需要 toolkit 安装包：doctor 只并存安装完整的 CANN，从不改动正在使用的版本",
        )
    for part in needed:
        if part not in parts:
            yield Words(f"the {part} package is missing", f"缺少 {part} 安装包")
    if parts == ["nnal"] and versions and machine.installed and versions != {machine.installed}:
        yield Words(
            f"the toolkit in use is {machine.installed}, the packages are {', '.join(sorted(versions))}; both have to be the same",
            f"当前 toolkit 为 {machine.installed}，安装包为 {', '.join(sorted(versions))}，两者必须一致",
        )


def _one(package: Package, machine: Machine) -> Iterator[Words]:
    version = package.version
    if package.part in ("driver", "firmware"):
        yield Words("driver and firmware are never installed by doctor; `doctor fix` prints the commands", "doctor 不安装驱动和固件，只给出命令")
        return
    if machine.arch and package.arch and package.arch != machine.arch:
        yield Words(f"the package is for {package.arch}, this machine is {machine.arch}", f"安装包适用于 {package.arch}，本机为 {machine.arch}")
    if package.kernel and machine.kernel and package.kernel != machine.kernel:
        yield Words(f"the operators are for {package.kernel}, this chip needs {machine.kernel}", f"算子包适用于 {package.kernel}，本机芯片需要 {machine.kernel}")
    if compare(version, OLDEST, Scheme.CANN) == -1:
        yield Words(
            f"CANN {version} is older than {OLDEST}, the oldest that any vllm-ascend runs on; no advice to go there helps",
            f"CANN {version} 早于 {OLDEST}（vllm-ascend 可用的最低版本），安装它没有任何帮助",
        )
    if machine.installed and compare(version, machine.installed, Scheme.CANN) == -1:
        yield Words(
            f"CANN {version} would be a downgrade from {machine.installed}, which doctor never does; change vllm-ascend instead (doctor stack)",
            f"CANN {version} 低于已安装的 {machine.installed}，doctor 从不降级；请改换 vllm-ascend 版本（doctor stack）",
        )
    row = machine.row
    if row is not None and compat.cann_matches(row, version, machine.family or None) is False:
        wanted = row.cann_for(machine.family)
        yield Words(f"vllm-ascend {row.version} goes with CANN {wanted}, not {version}", f"vllm-ascend {row.version} 配套 CANN {wanted}，而不是 {version}")
    if machine.hdk and compat.hdk_accepts(version, machine.hdk, machine.family) is False:
        minimum = compat.hdk_minimum(version, machine.family)
        least = minimum[0] if minimum else "?"
        yield Words(
            f"CANN {version} needs driver (HDK) {least} or newer, {machine.hdk} is installed; upgrade the driver first",
            f"CANN {version} 要求驱动（HDK）不低于 {least}，当前为 {machine.hdk}；请先升级驱动",
        )


__all__ = ["ORDER", "Machine", "Package", "judge_packages", "package_of"]
