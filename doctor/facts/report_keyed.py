"""Lines of the form "key: value" in a text: collect_env, lscpu, /proc/meminfo, npu-smi's board data, NNAL's file, and what people write."""

from __future__ import annotations

import re

from doctor.facts.machine import parse_lscpu, parse_meminfo
from doctor.facts.report_chips import mentioned_chip
from doctor.facts.report_prose import KINDS, advice, find_system, plausible, tell_system
from doctor.facts.report_text import VERSION, Sightings, Strength, Text, first_version
from doctor.regex import regex

KEY_CAP = 48
"""Characters of the longest key: a colon further on belongs to a sentence."""

_PRINTED = {
    "vLLM Version": "package:vllm",
    "vLLM Ascend Version": "package:vllm-ascend",
    "PyTorch version": "package:torch",
    "Python version": "python",
    "Libc version": "glibc",
    "Software Version": "driver",
    "Firmware Version": "firmware",
    "Ascend-cann-atb": "nnal",
}
"""Keys exactly as programs print them -> kind."""

_SYSTEM_KEYS = {"os", "操作系统", "system", "operating system", "系统", "os version", "系统版本", "host os", "操作系统版本"}
_CHIP_KEYS = {
    "chip", "npu", "芯片", "hardware", "device", "硬件", "npu型号", "服务器", "server", "machine", "npu model", "npu type", "chip name",
    "芯片型号", "硬件环境", "机器", "设备", "显卡", "soc", "card", "accelerator", "机型", "服务器型号", "加速卡", "卡",
}  # fmt: skip
_ARCH_KEYS = {"arch", "架构", "cpu架构", "cpu architecture", "cpu arch", "platform"}
_LSCPU = {"architecture", "cpu(s)", "vendor id", "model name", "bios model name", "socket(s)", "flags", "hypervisor vendor"}
_MEMINFO = {"memtotal", "memavailable", "swaptotal", "swapfree", "commitlimit", "committed_as", "hugepages_total", "hugepagesize"}

_ARCH = regex(r"\b(aarch64|arm64|x86_64|amd64)\b")
_ARCH_NOTE = regex(r"\s{0,3}\((?:aarch64|arm64|x86_64|amd64)\)$")
_ARCHES = {"arm64": "aarch64", "amd64": "x86_64"}
_PLATFORM = regex(r"Linux-(\d\S{1,120})-(aarch64|x86_64)-with-glibc(\d\.\d{1,3})")
_TAIL = regex(r"[ \t]{0,3}(?:version|ver|版本号?|package|包)$")
_EVERY_VERSION = regex(VERSION, re.IGNORECASE)
_ONLY_CUDA = regex(r"\d{1,2}\.\d{1,2}")
_SUFFIX_CHIP = regex(r"-(310p|a3|a5|a2)\b")


def tell_keyed(text: Text, told: Sightings) -> None:
    """One pass over the lines; nothing is looked up that has no colon near its start."""
    lscpu: dict[str, tuple[int, str]] = {}
    meminfo: dict[str, tuple[int, str]] = {}
    for at, line in enumerate(text.lines):
        head = line[:KEY_CAP]
        colon = head.find(":")
        if colon < 0:
            colon = head.find("：")
        if colon < 1:
            continue
        label, value = head[:colon].strip(" \t*-+#`•·"), line[colon + 1 :].strip(" \t*`\"'")
        key = label.lower()
        if not value or not key:
            continue
        if key in _LSCPU:
            lscpu.setdefault(key, (at, f"{key}: {value}"))
        elif key in _MEMINFO:
            meminfo.setdefault(key, (at, f"{key}: {value}"))
        _tell_key(text, told, at, label, key, value)
    _tell_machine(told, lscpu)
    if meminfo:
        memory = parse_meminfo("\n".join(line for _, line in meminfo.values()))
        if memory is not None:
            told.tell("memory", "meminfo", Strength.OUTPUT, min(at for at, _ in meminfo.values()), memory)


def _tell_key(text: Text, told: Sightings, at: int, label: str, key: str, value: str) -> None:
    if label in _PRINTED:
        _tell_printed(told, at, _PRINTED[label], value)
    elif label == "OS" or key in _SYSTEM_KEYS:
        _tell_system(told, at, value, Strength.OUTPUT if label == "OS" else Strength.KEYED)
    elif key == "python platform":
        _tell_platform(told, at, value)
    elif key == "cuda used to build pytorch":
        told.tell("torch.cuda", "yes" if _ONLY_CUDA.match(value) else "no" if value == "None" else None, Strength.OUTPUT, at)
    else:
        _tell_named(told, at, key, value)


def _tell_named(told: Sightings, at: int, key: str, value: str) -> None:
    """What a key of the text's author names: a chip, an architecture, a product's version."""
    if key in _CHIP_KEYS:
        chip = mentioned_chip(value)
        if chip is not None:
            told.tell("chip", chip[0], Strength.KEYED, at, chip[1])
    elif key in _ARCH_KEYS:
        _tell_arch(told, at, value, Strength.KEYED)
    else:
        _tell_written(told, at, key, value)


def _tell_printed(told: Sightings, at: int, kind: str, value: str) -> None:
    version = first_version(value)
    if plausible(kind, version):
        told.tell(kind, version, Strength.OUTPUT, at)
        chip = _SUFFIX_CHIP.search(value[:80]) if kind == "package:vllm-ascend" else None
        if chip:
            told.tell("chip", chip[1].upper(), Strength.PATH, at, {"a5": "950"}.get(chip[1], chip[1]))


def _tell_written(told: Sightings, at: int, key: str, value: str) -> None:
    """What a person wrote: "CANN version: 8.2.RC1", "驱动版本：25.2.0". A value with several versions, or with a condition, is none."""
    kind = KINDS.get(key) or KINDS.get(_TAIL.sub("", key).strip())
    if kind is None or len(value) > 120:
        return
    versions = {version.lower() for version in _EVERY_VERSION.findall(value)}
    version = first_version(value)
    if len(versions) == 1 and plausible(kind, version) and not advice(value.lower(), 0, len(value)) and not advice(value.lower(), len(value), len(value)):
        told.tell(kind, version, Strength.KEYED, at)


def tell_cell(told: Sightings, at: int, key: str, value: str) -> None:
    """One row of a table with two columns."""
    key = key.strip(" \t*`").lower()
    if key in _SYSTEM_KEYS:
        _tell_system(told, at, value, Strength.KEYED)
    else:
        _tell_named(told, at, key, value)


def _tell_system(told: Sightings, at: int, value: str, strength: Strength) -> None:
    found = find_system(value)
    if found:
        tell_system(told, found, at, strength, name=_ARCH_NOTE.sub("", value[:120]))
    _tell_arch(told, at, value, strength)


def _tell_arch(told: Sightings, at: int, value: str, strength: Strength) -> None:
    arch = _ARCH.search(value.lower())
    if arch:
        told.tell("arch", _ARCHES.get(arch[1], arch[1]), strength, at)


def _tell_platform(told: Sightings, at: int, value: str) -> None:
    platform = _PLATFORM.search(value[:300])
    if platform:
        told.tell("kernel", platform[1], Strength.OUTPUT, at)
        told.tell("arch", platform[2], Strength.OUTPUT, at)
        told.tell("glibc", platform[3], Strength.OUTPUT, at)


def _tell_machine(told: Sightings, lines: dict[str, tuple[int, str]]) -> None:
    if not lines:
        return
    machine = parse_lscpu("\n".join(line for _, line in lines.values()))
    if machine is not None:
        told.tell("machine", "lscpu", Strength.OUTPUT, min(at for at, _ in lines.values()), machine)
