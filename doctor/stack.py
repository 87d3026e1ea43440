"""`doctor stack` in words, commands and JSON: what is installed, whether it fits together, and the shortest ways to what does.

Contract: pure. Every value that came from the machine passes `clean_line` on its way out.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from doctor import compat
from doctor.text import clean_line
from doctor.versions import Scheme, compare
from doctor.ways import Change, How, Installed, Stack, Way, judge_stack
from doctor.words import Words

CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""On x86_64 PyPI's torch is the CUDA build; torch-npu goes with this one."""
SET_ENV = "source /usr/local/Ascend/ascend-toolkit/set_env.sh"
OPS_NAMED_SINCE = "8.5.0"
"""The operator package is called `ops` since this CANN, `kernels` before."""

PACKAGE_CHANGES = (How.PIP, How.BUILD, How.REMOVE)
FIELDS = ("chip", "hdk", "cann", "nnal", "vllm_ascend", "vllm", "torch", "torch_npu", "triton_ascend", "triton", "python", "os", "glibc", "arch")
LABELS = {"hdk": "driver (HDK)", "vllm_ascend": "vllm-ascend", "torch_npu": "torch-npu", "triton_ascend": "triton-ascend", "nnal": "NNAL/ATB", "cann": "CANN"}

SAID = {
    "installed": Words("Installed", "已安装"),
    "unknown": Words("not found", "未发现"),
    "absent": Words("not installed", "未安装"),
    "fits": Words("The stack fits together: it is that of vllm-ascend {version}.", "各组件版本配套，与 vllm-ascend {version} 一致。"),
    "differs": Words("The stack does not fit vllm-ascend {version}:", "与 vllm-ascend {version} 的配套版本不一致："),
    "undecided": Words(
        "What is known fits vllm-ascend {version}; not known: {what}.", "已知组件与 vllm-ascend {version} 配套；尚不清楚：{what}。"
    ),
    "no_row": Words(
        "vllm-ascend {version} is not in the table of {date}, so it is unknown, not wrong; its nearest neighbour is {nearest}.",
        "版本表（{date}）中没有 vllm-ascend {version}，因此不作判断，并不表示有误；最接近的版本是 {nearest}。",
    ),
    "no_version": Words(
        "vllm-ascend {version} is not in the table of {date}, so it is unknown.", "版本表（{date}）中没有 vllm-ascend {version}，无法判断。"
    ),
    "none": Words("No vllm-ascend was found.", "未发现 vllm-ascend。"),
    "ways": Words("Releases that fit together here, the smallest change first:", "在本机可配套使用的版本（改动最小者在前）："),
    "no_ways": Words("No known release runs on this machine as it is.", "没有已知版本可在本机运行。"),
    "nothing": Words("nothing to change", "无需改动"),
    "stable": Words("stable", "正式版"),
    "candidate": Words("release candidate", "候选版"),
    "maintained": Words("maintained", "仍在维护"),
    "unmaintained": Words("gets no more fixes", "已停止修复"),
    "no_image": Words("no image for this chip", "无该芯片的镜像"),
    "untold": Words("not compared, since not known: {what}", "因未知而未比较：{what}"),
    "image": Words("or the image {image}", "或直接使用镜像 {image}"),
    "impossible": Words("Not on this machine as it is:", "以下版本在本机现状下无法使用："),
    "rows": Words("{first} to {last} ({count} releases)", "{first} 至 {last}（共 {count} 个版本）"),
    "table": Words("Table of {date}.", "版本表日期：{date}。"),
}
HOW = {
    How.PIP: Words("pip", "pip"),
    How.BUILD: Words("built from source: no wheel fits", "无可用 wheel，需源码编译"),
    How.REMOVE: Words("remove", "卸载"),
    How.PYTHON: Words("another Python environment", "更换 Python 环境"),
    How.CANN: Words("CANN installer or another image", "CANN 安装包或更换镜像"),
    How.DRIVER: Words("by the host's administrator, with a reboot; doctor never does this", "由宿主机管理员操作并重启，doctor 不会执行"),
}


def commands(installed: Installed, way: Way) -> tuple[str, ...]:
    """The commands that make the changes, in their order, for people to read; none for a driver or a Python."""
    lines = list(_cann_commands(installed, way))
    # Where the packages are not known, the pins are what a reader needs.
    if "vllm" in way.unknown or any(change.how in PACKAGE_CHANGES for change in way.changes):
        lines += _pip_commands(installed, way)
    return tuple(lines)


def _cann_commands(installed: Installed, way: Way) -> Iterator[str]:
    changed = {change.component for change in way.changes if change.how is How.CANN}
    tail = f"_{way.cann}_linux-{_shown(installed.arch) or '<arch>'}.run"
    chip = compat.chips().get(installed.family or "")
    package = chip.cann_package if chip else "<chip>"
    if "cann" in changed:
        yield f"bash Ascend-cann-toolkit{tail} --full"
        if compare(way.cann, OPS_NAMED_SINCE, Scheme.CANN) == -1:
            yield f"bash {'Atlas-A3-cann-kernels' if package == 'A3' else 'Ascend-cann-kernels-' + package}{tail} --install"
        else:
            yield f"bash Ascend-cann-{package}-ops{tail} --install"
    if changed:
        yield SET_ENV
        yield f"bash Ascend-cann-nnal{tail} --install"


def _pip_commands(installed: Installed, way: Way) -> Iterator[str]:
    row = way.release
    python = shlex.quote(_shown(installed.interpreter) or "python3")
    pip = f"{'<python>' if any(change.how is How.PYTHON for change in way.changes) else python} -m pip"
    gone = [change.component for change in way.changes if change.how is How.REMOVE]
    pins = [f"vllm=={row.vllm}", f"torch=={row.torch}", f"torch-npu=={row.torch_npu}"]
    triton = row.triton_ascend if installed.family != "310p" else None
    pins += [f"triton-ascend=={triton}"] if triton else []
    index = "".join(f" --extra-index-url {url}" for url in _indexes(installed, row.torch_npu, triton))
    own = f"vllm-ascend=={row.version}"
    only_remove = bool(gone) and not any(change.how in (How.PIP, How.BUILD) for change in way.changes)
    if only_remove:
        yield f"{pip} uninstall -y {' '.join(gone)}"
    elif any(change.how is How.BUILD for change in way.changes):
        yield f"{pip} install{index} {' '.join(pins)}"
        yield SET_ENV
        yield f"{pip} install -v --no-build-isolation{index} {own}"
    else:
        yield f"{pip} install{index} {own} {' '.join(pins)}"
    if installed.family == "310p" and not only_remove:
        yield f"{pip} uninstall -y triton triton-ascend"
    elif triton and ("triton" in gone or installed.arch == "x86_64"):
        # vLLM pulls upstream triton on x86_64, whose files overwrite those of triton-ascend.
        if not only_remove:
            yield f"{pip} uninstall -y triton"
        yield f"{pip} install --force-reinstall --no-deps{index} triton-ascend=={triton}"


def _indexes(installed: Installed, torch_npu: str, triton: str | None) -> Iterator[str]:
    if installed.arch == "x86_64":
        yield CPU_INDEX
    if ".dev" in torch_npu or triton and triton not in compat.triton_on_pypi():
        yield compat.extra_index()


def _shown(value: str | None) -> str:
    """A value of the machine as it may be printed."""
    return clean_line(value)[:100] if value else ""


def render_stack(stack: Stack, language: str) -> str:
    """The whole answer as text, in "en" or "zh"."""
    lines = [_say("installed", language), *_installed_lines(stack, language), "", *_verdict_lines(stack, language), ""]
    lines += [_say("ways" if stack.ways else "no_ways", language)]
    for number, way in enumerate(stack.ways, 1):
        lines += _way_lines(stack.installed, way, number, language)
    if stack.impossible:
        lines += ["", _say("impossible", language)]
        lines += [f"  {_rows(versions, language)}: {_shown(reason[language])}" for reason, versions in stack.impossible]
    return "\n".join([*lines, "", _say("table", language, date=compat.as_of())]) + "\n"


def _say(key: str, language: str, **values: str) -> str:
    return SAID[key][language].format(**values)


def _installed_lines(stack: Stack, language: str) -> Iterator[str]:
    installed = stack.installed
    for name in FIELDS:
        value = _shown(getattr(installed, name))
        if name == "chip" and value and installed.family:
            value = f"{value} ({_shown(installed.family).upper()})"
        if not value and name in ("triton", "triton_ascend", "nnal"):
            continue
        package = name in ("vllm_ascend", "vllm", "torch", "torch_npu")
        yield f"  {LABELS.get(name, name):<14} {value or _say('absent' if package and installed.complete else 'unknown', language)}"


def _verdict_lines(stack: Stack, language: str) -> Iterator[str]:
    version = _shown(stack.installed.vllm_ascend)
    if stack.release is None:
        if not version:
            yield _say("none", language)
        elif stack.nearest is None:
            yield _say("no_version", language, version=version, date=compat.as_of())
        else:
            yield _say("no_row", language, version=version, date=compat.as_of(), nearest=stack.nearest.version)
    elif stack.mismatches:
        yield _say("differs", language, version=stack.release.version)
        yield from (f"  {_change(change, language)}" for change in stack.mismatches)
    elif stack.unknown:
        yield _say("undecided", language, version=stack.release.version, what=", ".join(stack.unknown))
    else:
        yield _say("fits", language, version=stack.release.version)


def _way_lines(installed: Installed, way: Way, number: int, language: str) -> Iterator[str]:
    row = way.release
    traits = [_say("stable" if row.stable else "candidate", language), _say("maintained" if compat.is_maintained(row) else "unmaintained", language)]
    if installed.family and way.image is None:
        traits.append(_say("no_image", language))
    yield f"  {number}. vllm-ascend {row.version}, CANN {_shown(way.cann)} ({', '.join(traits)})"
    if not way.changes:
        yield f"       {_say('nothing', language)}"
    yield from (f"       {_change(change, language)}" for change in way.changes)
    if way.unknown:
        yield f"       {_say('untold', language, what=', '.join(way.unknown))}"
    yield from (f"       $ {command}" for command in commands(installed, way))
    if way.changes and way.image:
        yield f"       {_say('image', language, image=way.image)}"


def _change(change: Change, language: str) -> str:
    before = _shown(change.current) or "-"
    return f"{change.component:<14} {before} -> {change.wanted or '-'}  ({HOW[change.how][language]})"


def _rows(versions: tuple[str, ...], language: str) -> str:
    if len(versions) <= 3:
        return ", ".join(versions)
    return _say("rows", language, first=versions[0], last=versions[-1], count=str(len(versions)))


def stack_json(stack: Stack) -> dict[str, Any]:
    """The answer for programs; keys are stable, `consistent` is true, false or null for not known."""
    return {
        "table": compat.as_of(),
        "installed": {name: _shown(getattr(stack.installed, name)) or None for name in (*FIELDS, "family")},
        "consistent": stack.consistent,
        "release": stack.release.version if stack.release else None,
        "nearest": stack.nearest.version if stack.nearest else None,
        "mismatches": [_change_json(change) for change in stack.mismatches],
        "unknown": list(stack.unknown),
        "ways": [_way_json(stack.installed, way) for way in stack.ways],
        "impossible": [{"reason": {"en": _shown(why.en), "zh": _shown(why.zh)}, "releases": list(rows)} for why, rows in stack.impossible],
    }


def _change_json(change: Change) -> dict[str, Any]:
    return {"component": change.component, "from": _shown(change.current) or None, "to": change.wanted or None, "how": change.how.value}


def _way_json(installed: Installed, way: Way) -> dict[str, Any]:
    row = way.release
    return {
        "vllm_ascend": row.version,
        "vllm": row.vllm,
        "torch": row.torch,
        "torch_npu": row.torch_npu,
        "triton_ascend": row.triton_ascend if installed.family != "310p" else None,
        "cann": _shown(way.cann),
        "python": row.python,
        "stable": row.stable,
        "maintained": compat.is_maintained(row),
        "changes": [_change_json(change) for change in way.changes],
        "commands": list(commands(installed, way)),
        "image": way.image,
        "reason": {"en": _shown(way.reason.en), "zh": _shown(way.reason.zh)} if way.reason else None,
        "unknown": list(way.unknown),
    }


__all__ = ["Change", "How", "Installed", "Stack", "Way", "commands", "judge_stack", "render_stack", "stack_json"]
