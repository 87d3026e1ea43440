"""Expressions that are compiled at their first use: they behave as patterns, and every one of ours is right."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest

from doctor.regex import regex
from doctor.rulepackage import rules_package

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path for folder in ("doctor", "rules") for path in (ROOT / folder).rglob("*.py") if "from doctor.regex import" in path.read_text(encoding="utf-8"))


def test_it_does_what_a_compiled_pattern_does() -> None:
    later, compiled = regex(r"(?P<word>\w+)-(\d)", re.IGNORECASE), re.compile(r"(?P<word>\w+)-(\d)", re.IGNORECASE)
    text = "AB-1, cd-2"
    assert [found.groupdict() for found in later.finditer(text)] == [found.groupdict() for found in compiled.finditer(text)]
    assert later.sub("x", text) == "x, x"
    assert later.fullmatch("ab-1", 0, 4) is not None
    assert (later.pattern, later.flags, later.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert regex(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_a_wrong_expression_is_told_when_it_is_used() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.search("text")


def test_it_has_nothing_that_a_pattern_has_not() -> None:
    assert not hasattr(regex("a"), "compile")


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts if parts[0] == "doctor" else ("doctor", *parts))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_our_expressions_are_right(path: Path) -> None:
    rules_package()
    for value in vars(importlib.import_module(_module(path))).values():
        if type(value) is type(regex("")):
            assert isinstance(value.pattern, str | bytes)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_none_is_given_to_re_itself(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)]
    names = {ast.unparse(node.targets[0]) for node in assigned if ast.unparse(node.value).startswith("regex(")}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re.")]
    assert [call.lineno for call in calls if call.args and ast.unparse(call.args[0]) in names] == []
