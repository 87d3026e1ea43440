"""An operator that is not supported: the questions that decide, in their order, answered from the facts of this machine. Pure.

Nearly always it is the operators' package, the environment, the release row, the data type or the chip, and hardly ever must an operator be written.
"""

from __future__ import annotations

from dataclasses import dataclass

from doctor import compat
from doctor.apply.kind import Context
from doctor.apply.plan_packages import row_of
from doctor.facts.cann import Cann, CannLibraryPath
from doctor.facts.npu import Chip
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.fix import Action, CorrectCommand, InstallCann, PinPackages, SetEnvironment
from doctor.versions import Scheme, compare
from doctor.ways import Installed
from doctor.words import Words

WITHOUT_BF16 = frozenset({"310p", "310", "310b", "a1"})
FLASH_ATTN_FAMILIES = frozenset({"a2", "a3", "950"})
FLASH_ATTN_CANN = "8.5.0"
"""What flash-attn-npu 0.4.2.post1 asks for (its page on PyPI): 910B, 910C or 950, CANN 8.5.0 or newer, torch_npu of torch's version."""


@dataclass(frozen=True)
class Answer:
    """One question and what this machine says: `holds` None where it cannot be told. `remedy` is what a "no" leads to."""

    question: Words
    holds: bool | None
    told: Words
    remedy: Action | None = None

    @property
    def line(self) -> Words:
        en = {True: "yes", False: "NO", None: "not known"}[self.holds]
        zh = {True: "是", False: "否", None: "未知"}[self.holds]
        return Words(f"{self.question.en} {en}: {self.told.en}", f"{self.question.zh}{zh}：{self.told.zh}")


def answers(context: Context) -> tuple[Answer, ...]:
    """The five questions in their order."""
    installed = Installed.from_facts(context.facts)
    row = row_of(installed)
    return (_operators(context), _environment(context), _row(context, installed, row), _dtype(context), _chip(context, installed, row))


def _operators(context: Context) -> Answer:
    question = Words("1. Is the operators' package of this chip installed, in the toolkit's version?", "1. 是否安装了本芯片、且与 toolkit 同版本的算子包？")
    cann, chip = context.fact(Cann), context.fact(Chip)
    install = cann.active if cann else None
    if install is None or install.kernels is None or chip is None or not chip.kernel:
        return Answer(question, None, Words("CANN or the chip was not seen", "没有看到 CANN 或芯片信息"))
    found = ", ".join(install.kernels) or "-"
    same = not install.kernels_version or compare(install.kernels_version, install.version, Scheme.CANN) in (0, None)
    holds = chip.kernel in install.kernels and same
    told = Words(f"this chip needs {chip.kernel}; installed {found} {install.kernels_version or ''}".strip(), f"本机芯片需要 {chip.kernel}；已装 {found} {install.kernels_version or ''}".strip())
    return Answer(question, holds, told, InstallCann(("toolkit", "ops")))


def _environment(context: Context) -> Answer:
    question = Words("2. Does the failing process have CANN's environment (set_env.sh)?", "2. 报错进程是否加载了 CANN 环境（set_env.sh）？")
    cann, paths = context.fact(Cann), context.fact(CannLibraryPath)
    install = cann.active if cann else None
    if paths is None or install is None:
        return Answer(question, None, Words("its environment cannot be seen", "无法查看其环境变量"))
    remedy = SetEnvironment(source=(f"{install.path}/set_env.sh",))
    if not paths.opp:
        return Answer(question, False, Words("ASCEND_OPP_PATH is not set", "未设置 ASCEND_OPP_PATH"), remedy)
    if paths.opp in paths.missing:
        return Answer(question, False, Words(f"ASCEND_OPP_PATH leads nowhere: {paths.opp}", f"ASCEND_OPP_PATH 指向不存在的路径：{paths.opp}"), remedy)
    return Answer(question, True, Words(f"ASCEND_OPP_PATH={paths.opp}", f"ASCEND_OPP_PATH={paths.opp}"))


def _row(context: Context, installed: Installed, row: compat.Release | None) -> Answer:
    question = Words("3. Do torch_npu and CANN belong to the release's row?", "3. torch_npu 与 CANN 是否属于该版本的配套？")
    if row is None or not installed.cann or not installed.torch_npu:
        return Answer(question, None, Words("a version is not known", "有版本未知"))
    wanted = row.cann_for(installed.family)
    told = Words(
        f"vllm-ascend {row.version} wants torch_npu {row.torch_npu} and CANN {wanted}; installed are {installed.torch_npu} and {installed.cann}",
        f"vllm-ascend {row.version} 要求 torch_npu {row.torch_npu} 和 CANN {wanted}；已装 {installed.torch_npu} 和 {installed.cann}",
    )
    if compat.torch_npu_matches(row, installed.torch_npu) is False:
        return Answer(question, False, told, PinPackages(names=("torch", "torch-npu")))
    if compat.cann_matches(row, installed.cann, installed.family) is False:
        older = compare(installed.cann, wanted, Scheme.CANN) == -1
        # A CANN that is too new is never replaced by an older one: the packages have to follow it.
        return Answer(question, False, told, InstallCann(("toolkit", "ops")) if older else None)
    return Answer(question, True, told)


def _dtype(context: Context) -> Answer:
    question = Words("4. Does this chip have the data type?", "4. 本机芯片是否支持所用数据类型？")
    chip, commands = context.fact(Chip), context.fact(ServeCommands)
    if chip is None:
        return Answer(question, None, Words("the chip was not seen", "没有看到芯片信息"))
    if chip.family not in WITHOUT_BF16:
        return Answer(question, True, Words(f"{chip.name} has bfloat16", f"{chip.name} 支持 bfloat16"))
    types = {one.flags.get("dtype", "auto") for one in (commands.commands if commands else ())}
    if types and types <= {"float16", "half"}:
        return Answer(question, True, Words("--dtype float16 is given", "已指定 --dtype float16"))
    told = Words(f"{chip.name} has no bfloat16; give --dtype float16", f"{chip.name} 不支持 bfloat16；请指定 --dtype float16")
    return Answer(question, False if types else None, told, CorrectCommand(set={"dtype": "float16"}))


def _chip(context: Context, installed: Installed, row: compat.Release | None) -> Answer:
    question = Words("5. Does the release run on this chip at all?", "5. 该版本是否支持此芯片？")
    if row is None or not installed.family:
        return Answer(question, None, Words("the release or the chip is not known", "版本或芯片未知"))
    holds = compat.supports_chip(row, installed.family)
    name = installed.chip or installed.family
    if holds is False:
        return Answer(question, False, Words(f"vllm-ascend {row.version} has no kernels for {name}; no other CANN changes that", f"vllm-ascend {row.version} 没有 {name} 的算子；更换 CANN 也无济于事"))
    return Answer(question, holds, Words(f"vllm-ascend {row.version} on {name}", f"vllm-ascend {row.version}，{name}"))


def routes() -> tuple[Words, ...]:
    """What remains where every answer is yes: the ways to another implementation of the operator."""
    return (
        Words(
            "attention is built in (npu_fused_infer_attention_score, on 310P ATB): take settings that replace it back first",
            "注意力算子已内置（npu_fused_infer_attention_score；310P 为 ATB）：先撤销替换它的设置",
        ),
        Words("FA3 from flash-attn-npu: see operator-flash-attn-npu-requirements; CUDA's flash-attn never works here", "FA3 来自 flash-attn-npu：见 operator-flash-attn-npu-requirements；CUDA 版 flash-attn 在此无法使用"),
        Words("an operator package of your own: give it with --package custom_opp_<os>_<arch>.run, or its built folder", "自有算子包：用 --package custom_opp_<os>_<arch>.run（或构建目录）指定"),
        Words(
            "falling back to the CPU copies the tensors both ways and drains the stream at each call: in a layer's inner loop it costs more than the layer itself",
            "回退到 CPU 时每次调用都要双向拷贝张量并等待流清空：若在层内循环中，其开销超过该层本身",
        ),
    )


def flash_attention(context: Context) -> tuple[Answer, ...]:
    """What flash-attn-npu needs."""
    installed = Installed.from_facts(context.facts)
    packages = context.fact(Packages)
    versions = packages.versions if packages else {}
    torch, torch_npu = (".".join(compat.public(versions.get(name, "")).split(".")[:3]) for name in ("torch", "torch-npu"))
    chip = Answer(
        Words("A2, A3 or 950?", "芯片是否为 A2、A3 或 950？"), installed.family in FLASH_ATTN_FAMILIES if installed.family else None,
        Words(installed.chip or "-", installed.chip or "-"),
    )  # fmt: skip
    order = compare(installed.cann, FLASH_ATTN_CANN, Scheme.CANN) if installed.cann else None
    cann = Answer(Words(f"CANN {FLASH_ATTN_CANN} or newer?", f"CANN 是否不低于 {FLASH_ATTN_CANN}？"), None if order is None else order >= 0, Words(installed.cann or "-", installed.cann or "-"))
    pair = Answer(
        Words("torch_npu of torch's version?", "torch_npu 与 torch 版本是否一致？"), torch == torch_npu if torch and torch_npu else None,
        Words(f"torch {torch or '-'}, torch_npu {torch_npu or '-'}", f"torch {torch or '-'}，torch_npu {torch_npu or '-'}"),
    )  # fmt: skip
    return chip, cann, pair


__all__ = ["Answer", "answers", "flash_attention", "routes"]
