"""The usual names that fill `<placeholders>` in titles and steps: what the facts say, and what the release row wants."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from doctor.facts import Facts, known
from doctor.facts.cann import Cann
from doctor.facts.driver import Driver
from doctor.facts.machine import Machine, OperatingSystem
from doctor.facts.npu import Chip
from doctor.facts.target import Packages, Target
from doctor.fix import texts_of
from doctor.rule import Rule
from doctor.words import Words

T = TypeVar("T")

_PACKAGES = {
    "vllm_ascend_version": "vllm-ascend",
    "vllm_version": "vllm",
    "torch_version": "torch",
    "torch_npu_version": "torch-npu",
    "transformers_version": "transformers",
    "triton_ascend_version": "triton-ascend",
}


def template_values(facts: Facts, rule: Rule) -> dict[str, str]:
    """Every usual name whose value is known; only those that the rule's words use are looked up."""
    used = _text_of(rule)
    found = {name: str(value) for name, read in _READERS.items() if f"<{name}>" in used and (value := read(facts))}
    if "<row_" in used or "<hdk_" in used:
        found.update(_row(facts))
    return found


def _text_of(rule: Rule) -> str:
    parts = [rule.title.en, rule.title.zh, rule.why.en, rule.why.zh]
    for fix in rule.fixes:
        parts += [fix.title.en, fix.title.zh]
        parts += [text for step in fix.steps for text in (step.text.en, step.text.zh)]
        parts += [text for action in fix.do for text in texts_of(action)]
        if fix.verify:
            parts += [fix.verify.en, fix.verify.zh]
    if rule.undecided:
        parts += [rule.undecided.en, rule.undecided.zh]
    parts += [decision.wanted for decision in rule.decisions]
    return "\n".join(parts)


def _from(kind: type[T], read: Callable[[T], object]) -> Callable[[Facts], object]:
    def value(facts: Facts) -> object:
        fact = known(facts.get(kind))
        return None if fact is None else read(fact)

    return value


def _package(name: str) -> Callable[[Facts], object]:
    return _from(Packages, lambda packages: packages.versions.get(name))


_HDK_PACKAGES = {"a1": "Ascend-hdk-910", "a2": "Ascend-hdk-910b", "a3": "Atlas-A3-hdk", "310p": "Ascend-hdk-310p", "310": "Ascend-hdk-310"}
"""How the files of driver and firmware begin, by chip family; that of 950 is not known for sure."""

_READERS: Mapping[str, Callable[[Facts], object]] = {
    "cann_version": _from(Cann, lambda cann: cann.version),
    "toolkit": _from(Cann, lambda cann: cann.active.path if cann.active else None),
    "driver_version": _from(Driver, lambda driver: driver.version),
    "chip": _from(Chip, lambda chip: chip.name),
    "hdk_package": _from(Chip, lambda chip: _HDK_PACKAGES.get(chip.family)),
    "arch": _from(Machine, lambda machine: machine.arch),
    "os": _from(OperatingSystem, lambda os: os.name or os.id),
    "python": _from(Target, lambda target: target.python),
    "python_version": _from(Packages, lambda packages: packages.python),
    **{name: _package(package) for name, package in _PACKAGES.items()},
}


def _row(facts: Facts) -> dict[str, str]:
    """What the release row of the installed vllm-ascend wants, as `<row_cann>`, `<row_torch>` …, and the paired driver as `<hdk_paired>`."""
    from doctor import compat

    packages, cann = known(facts.get(Packages)), known(facts.get(Cann))
    installed = packages.versions.get("vllm-ascend") if packages else None
    row = compat.release(installed) or compat.nearest(installed) if installed else None
    found: dict[str, str | None] = {}
    if row is not None:
        found = {"row_cann": row.cann, "row_torch": row.torch, "row_torch_npu": row.torch_npu, "row_vllm": row.vllm, "row_version": row.version}
        found["row_triton_ascend"] = row.triton_ascend
    target_cann = (cann.version if cann else None) or (row.cann if row else None)
    found["hdk_paired"] = compat.hdk_paired(target_cann) if target_cann else None
    return {name: value for name, value in found.items() if value}


def told(words: Words) -> Words:
    """With the names that nobody could fill in told as a reader understands them: `<row_cann>` is nothing that he knows.

    A command, the same in both languages, stays the same in both.
    """
    english = _told(words.en, "en")
    return Words(english, english if words.en == words.zh else _told(words.zh, "zh"))


def _told(text: str, language: str) -> str:
    return _NAME.sub(lambda match: _UNKNOWN[match[1]][language] if match[1] in _UNKNOWN else match[0], text) if "<" in text else text


_NAME = re.compile(r"<([a-z][a-z0-9_]*)>")

_UNKNOWN: Mapping[str, Words] = {
    "python": Words("python", "python"),
    "arch": Words("$(uname -m)", "$(uname -m)"),
    "toolkit": Words("<CANN folder>", "<CANN 目录>"),
    "cann_version": Words("<installed CANN>", "<已装的 CANN 版本>"),
    "driver_version": Words("<installed driver>", "<已装的驱动版本>"),
    "chip": Words("<chip of npu-smi info>", "<npu-smi info 显示的芯片>"),
    "os": Words("<operating system>", "<操作系统>"),
    "python_version": Words("<Python version>", "<Python 版本>"),
    "vllm_ascend_version": Words("<your vllm-ascend>", "<所用的 vllm-ascend 版本>"),
    "vllm_version": Words("<your vllm>", "<所用的 vllm 版本>"),
    "torch_version": Words("<installed torch>", "<已装的 torch 版本>"),
    "torch_npu_version": Words("<installed torch_npu>", "<已装的 torch_npu 版本>"),
    "triton_ascend_version": Words("<installed triton-ascend>", "<已装的 triton-ascend 版本>"),
    "row_version": Words("<your vllm-ascend>", "<所用的 vllm-ascend 版本>"),
    "row_cann": Words("<CANN of your vllm-ascend>", "<vllm-ascend 配套的 CANN>"),
    "row_torch": Words("<torch of your vllm-ascend>", "<vllm-ascend 配套的 torch>"),
    "row_torch_npu": Words("<torch_npu of your vllm-ascend>", "<vllm-ascend 配套的 torch_npu>"),
    "row_triton_ascend": Words("<triton-ascend of your vllm-ascend>", "<vllm-ascend 配套的 triton-ascend>"),
    "row_vllm": Words("<vllm of your vllm-ascend>", "<vllm-ascend 配套的 vllm>"),
    "hdk_paired": Words("<HDK paired with your CANN>", "<与 CANN 配套的 HDK>"),
    "hdk_minimum": Words("<lowest HDK for your CANN>", "<CANN 要求的最低 HDK>"),
    "hdk_package": Words("Ascend-hdk-<product>", "Ascend-hdk-<产品型号>"),
    "product": Words("<product>", "<产品型号>"),
    "firmware": Words("<firmware version>", "<固件版本>"),
    "soc_version": Words("<SOC_VERSION of your chip>", "<芯片对应的 SOC_VERSION>"),
    "id": Words("<NPU id>", "<NPU 编号>"),
    "card": Words("<NPU id>", "<NPU 编号>"),
    "npu": Words("<NPU id>", "<NPU 编号>"),
    "chip_id": Words("<chip id>", "<芯片编号>"),
    "model": Words("<model folder>", "<模型目录>"),
    "model_id": Words("<name on the hub>", "<模型仓库中的名称>"),
    "image": Words("<image>", "<镜像>"),
    "container": Words("<container>", "<容器名>"),
    "fitting_releases": Words("doctor stack lists them", "可用 doctor stack 查看"),
    "abi": Words("<0 or 1>", "<0 或 1>"),
    "pin": Words("==<version>", "==<版本>"),
    "field": Words("<named in the message>", "<报错中给出>"),
    "need": Words("<size in the message>", "<报错中的大小>"),
    "location": Words("<place in the message>", "<报错中的位置>"),
    "missing": Words("<see the log>", "<见日志>"),
    "local": Words("<version here>", "<本端版本>"),
    "remote": Words("<version there>", "<对端版本>"),
    "free": Words("<free>", "<空闲>"),
    "total": Words("<total>", "<总量>"),
    "max_len": Words("<length that fits>", "<放得下的长度>"),
    "last_version": Words("<last vLLM with the model>", "<支持该模型的最后一个 vLLM>"),
    "heads": Words("num_attention_heads of config.json", "config.json 中 num_attention_heads"),
    "own": Words("<quant_method of config.json>", "<config.json 中的 quant_method>"),
    "visible": Words("<number of visible NPUs>", "<可见的 NPU 数>"),
    "base": Words("<X.Y.Z of torch_npu>", "<torch_npu 的 X.Y.Z>"),
    "torchvision": Words("<torchvision of your torch>", "<与 torch 配套的 torchvision>"),
    "torchaudio": Words("<torchaudio of your torch>", "<与 torch 配套的 torchaudio>"),
    "wanted_cann": Words("<CANN of your torch_npu>", "<torch_npu 配套的 CANN>"),
    "since": Words("<see the release notes>", "<见发布说明>"),
}
"""Names of which the facts, the log or the case may tell nothing; a name that is not here is shown as it is, for the reader to fill in."""
