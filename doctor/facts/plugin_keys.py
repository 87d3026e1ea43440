"""The keys of `--additional-config` that a vllm-ascend reads: from its source by syntax tree, or from the table of released versions. Pure.

Contract: a key that may be read is never missing. What a class of options takes is every name that stands in it, so that only slips and
keys of other releases are told; `None` in `nested` is an option whose keys are not known.
"""

from __future__ import annotations

import ast
import functools
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Any

from doctor.record import dataclass
from doctor.regex import regex
from doctor.rulepackage import data_text
from doctor.versions import Scheme, compare

FILES = (
    "ascend_config.py", "platform.py", "utils.py", "compilation/graph_fusion_pass_manager.py", "compilation/npu_graph_ex_pass_manager.py",
    "compilation/passes/sequence_parallelism.py", "worker/model_runner_v1.py", "worker/model_runner.py", "worker/worker.py", "worker/worker_v1.py",
    "worker/cache_engine.py", "patch/platform/patch_balance_schedule.py", "patch/platform/patch_fused_moe.py",
    "patch/platform/patch_dyntra_lb_core.py", "torchair/torchair_attention.py", "attention/kvcomp_attn/attention_utils.py",
    "model_loader/rfork/rfork_loader.py", "core/schedule_config.py", "core/dyntra_lb_scheduler.py", "spec_decode/llm_base_proposer.py",
    "models/deepseek_v2.py", "attention/attention_v1_torchair.py", "attention/attention.py",
)  # fmt: skip
"""Files below vllm_ascend/ that read the configuration, in any release from 0.7.1rc1 to 0.25.1rc1."""

MAIN = frozenset(FILES[:2])
"""Without one of these the source is not vllm-ascend's, or was laid out anew: nothing is told then."""

SOURCE_LIMIT = 2 * 1024 * 1024
"""Characters of one file; the largest of vllm-ascend has 250 KB."""

_NAME = regex(r"[A-Za-z_]\w{1,80}", re.ASCII)
_WHOLE = "additional_config"


@dataclass(frozen=True)
class ConfigKeys:
    """Top-level keys, and the keys of those that are objects themselves. `said` tells people where they were read."""

    top: frozenset[str]
    nested: Mapping[str, frozenset[str]] = field(default_factory=dict)
    said: str = ""


def read_keys(read: Callable[[str], str | None], said: str) -> ConfigKeys | None:
    """The keys that the source reads; `read` takes a path below vllm_ascend/. None where its main files are not there."""
    top: set[str] = set()
    nested: dict[str, frozenset[str]] = {}
    seen = False
    for path in FILES:
        tree = _tree(read(path))
        if tree is None:
            continue
        found = set(_top(tree))
        seen = seen or (path in MAIN and bool(found))
        top |= found
        nested |= _nested(tree)
    return ConfigKeys(frozenset(top), {key: names for key, names in nested.items() if key in top}, said) if seen else None


def shipped_keys(version: str) -> ConfigKeys | None:
    """The keys of a released vllm-ascend by the table; None for a version that it does not hold."""
    at = _index(version)
    if at is None:
        return None
    data = _document()
    there = {key for key, ranges in data["keys"].items() if at in _places(ranges)}
    nested: dict[str, set[str]] = {}
    for key in there:
        parent, dot, name = key.partition(".")
        if dot:
            nested.setdefault(parent, set()).add(name)
    top = frozenset(key for key in there if "." not in key)
    return ConfigKeys(top, {key: frozenset(names) for key, names in nested.items()}, f"table of vllm-ascend {data['versions'][at]}")


def span(key: str) -> tuple[str, str] | None:
    """The first and the last release in the table that read a top-level key; None for one that none of them did."""
    data = _document()
    places = sorted(_places(data["keys"][key])) if key in data["keys"] else []
    return (data["versions"][places[0]], data["versions"][places[-1]]) if places else None


def _index(version: str) -> int | None:
    return next((at for at, name in enumerate(_document()["versions"]) if compare(name, version.partition("+")[0], Scheme.PACKAGE) == 0), None)


@functools.cache
def _document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(data_text("additional-config.json"))
    return found


@functools.cache
def _places(ranges: str) -> frozenset[int]:
    found: set[int] = set()
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return frozenset(found)


def _tree(text: str | None) -> ast.Module | None:
    if not text or len(text) > SOURCE_LIMIT:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _top(tree: ast.AST) -> Iterator[str]:
    """Strings beside the configuration: `additional_config.get("k")`, `helper(additional_config, "k", …)`, `["k"]`, `"k" in …`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
            if _is_whole(receiver) or any(map(_is_whole, node.args)):
                yield from (name for argument in node.args if (name := _text(argument)))
        elif isinstance(node, ast.Subscript) and _is_whole(node.value):
            yield from filter(None, [_text(node.slice)])
        elif isinstance(node, ast.Compare) and any(map(_is_whole, node.comparators)):
            yield from filter(None, [_text(node.left)])


def _is_whole(node: ast.expr | None) -> bool:
    """Whether an expression is the additional configuration: by name, as an attribute, or `(… or {})`."""
    if isinstance(node, ast.BoolOp):
        return any(map(_is_whole, node.values))
    if isinstance(node, ast.IfExp):
        return _is_whole(node.body)
    return (isinstance(node, ast.Name) and node.id == _WHOLE) or (isinstance(node, ast.Attribute) and node.attr == _WHOLE)


def _text(node: ast.expr) -> str | None:
    """A string that can be a key: a name that is no environment variable's."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, str) and _NAME.fullmatch(value) and not re.fullmatch(r"[A-Z][A-Z0-9]*_[A-Z0-9_]*", value) else None


def _nested(tree: ast.Module) -> dict[str, frozenset[str]]:
    """Keys of the options that a class of this file takes: `EplbConfig(eplb_config)`, `RlConfig(additional_config.get("rl_config", {}))`."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    found: dict[str, frozenset[str]] = {}
    for node in ast.walk(tree):
        made = classes.get(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        if made is None or not isinstance(node, ast.Call):
            continue
        given = [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is None)]
        for inner in (part for argument in given for part in ast.walk(argument)):
            key = inner.id if isinstance(inner, ast.Name) else _text(inner) if isinstance(inner, ast.Constant) else None
            if key is not None and key.endswith("_config") and key not in (_WHOLE, "vllm_config"):
                found[key] = frozenset(_names(made)) | found.get(key, frozenset())
    return found


def _names(made: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(made):
        if isinstance(node, ast.Constant):
            name = _text(node)
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Attribute):
            name = node.attr
        else:
            name = node.id if isinstance(node, ast.Name) else None
        if name:
            yield name
