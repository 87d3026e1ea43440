from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor.said import parse, said
from tests.fixture_cases import book

RULES = Path(__file__).resolve().parent.parent / "rules"
HAN = re.compile(r"[一-鿿]")


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("vllm 0.11.0 with vllm-ascend 0.10.2", "vllm 0.11.0 与 vllm-ascend 0.10.2"),
        ("libascend_hal.so, libc.so missing in /a", "/a 中缺少 libascend_hal.so, libc.so"),
        ("the link of its port is down, and a KV transfer (--kv-transfer-config) uses it", "网口链路断开，而 KV 传输（--kv-transfer-config） 要用到它"),
        ("driver.version not < 25.5", "driver.version 不应 < 25.5"),
        ("no log was given; PCI is not known", "没有给出日志；不知道 PCI 信息"),
        ("HCCL_BUFFSIZE is 50", "HCCL_BUFFSIZE 为 50"),
        ("80E20207: The chip is hot. (also 8C1F8608)", "80E20207：芯片温度偏高。（另有 8C1F8608）"),
        ("MatMulV2 65% (1,200 calls, 75.1 us each); Add 21% (4,800 calls, 6.0 us each); by core: AI_CORE 65%", "MatMulV2 65%（1,200 次，每次 75.1 us）；Add 21%（4,800 次，每次 6.0 us）；按核：AI_CORE 65%"),
    ],
)
def test_sentences(english: str, chinese: str) -> None:
    assert said(english, "zh") == chinese
    assert said(english, "en") == english


@pytest.mark.parametrize("text", ["", "RuntimeError: The index is wrong", "8.3.RC1", "a\nb", "x" * 10_000, "The index is wrong", "{0} {9}"])
def test_what_is_not_known_stays(text: str) -> None:
    assert said(text, "zh") == text


@pytest.mark.parametrize("line", ["no arrow", "{} a => {} {}", "{} a => {1}", "a => "])
def test_lines_that_are_no_sentences(line: str) -> None:
    with pytest.raises(ValueError):
        parse(line)


def _template(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "x1" for part in node.values)
    return None


def _whole(node: ast.expr) -> Iterator[str]:
    """The sentences that the expression is on its own; of parts that are put together only what a part says alone is not checked."""
    if isinstance(node, ast.IfExp):
        yield from (*_whole(node.body), *_whole(node.orelse))
    elif (text := _template(node)) is not None:
        yield text


def _sentences() -> Iterator[tuple[str, str]]:
    for path in sorted(RULES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "Hit":
                values = [keyword.value for keyword in node.keywords if keyword.arg in ("found", "wanted")]
            else:
                values = node.args[:1] if node.func.id == "Skip" else []
            yield from ((path.name, text) for value in values for text in _whole(value))
    for rule in book().rules.values():
        for decision in rule.decisions:
            for text in (decision.found, decision.wanted):
                yield rule.id, re.sub(r"\{[^}]*\}|<[a-z_0-9]+>", "x1", text)


def _is_prose(text: str) -> bool:
    """More than names, numbers and options: at least two plain English words."""
    if text.startswith(("fec mode:", "link status:")):
        return False  # as hccn_tool prints it
    return len(re.findall(r"(?<![\w.\-/=_])[a-z]{2,}(?![\w.\-/=_])", text)) > 1


def test_every_sentence_of_a_rule_is_there_in_chinese() -> None:
    missing = {text: where for where, text in _sentences() if _is_prose(text) and not HAN.search(said(text, "zh"))}
    assert not missing


def test_what_could_not_be_had_is_told_in_chinese() -> None:
    from doctor.host import Unavailable, Why

    for why in Why:
        for detail in ("", "not root"):
            told = said(str(Unavailable("hccn_tool -i 0", why, detail)), "zh")
            assert told.startswith("hccn_tool -i 0：") and HAN.search(told) and why.value not in told and "not root" not in told
    assert said("no log was given; processes: not recorded", "zh") == "没有给出日志；进程列表：没有录制"
    assert said("x: missing; [/nope]: denied (y: z)", "zh") == "x：不存在；[/nope]：无权读取（y: z）"
