"""What a flag takes: from the type hint of its field, and from the keywords of `add_argument`. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from doctor.lint.flags import Flag, Kind
from doctor.lint.hints import Hints, hints_of
from doctor.lint.modules import Modules, Scope

_SIZES = frozenset({"human_readable_int", "human_readable_int_or_auto", "parse_human_readable_int"})
_JSON = frozenset({"loads", "json.loads", "parse_dataclass"})
_NOTHING = frozenset({"store_true", "store_false"})


def of_hints(flag: Flag, name: str, hints: Hints) -> Flag:
    """The flag that a configuration field with these type hints becomes, in the order in which vLLM decides."""
    optional = "none" in hints.kinds
    if hints.structure:
        return replace(flag, kind=Kind.JSON)
    if "bool" in hints.kinds:
        return replace(flag, kind=Kind.BOOL)
    if hints.literals:
        free = "str" in hints.kinds
        choices = () if free else (*hints.literals, *(("None",) if optional else ()))
        return replace(flag, kind=Kind.INT if hints.numbers else Kind.TEXT, choices=choices)
    if hints.sequence is not None:
        return replace(flag, kind=Kind.INT if hints.sequence == {"int"} else Kind.TEXT, many="+", choices=hints.elements)
    if "int" in hints.kinds:
        sized = name in ("max_model_len", "max_num_batched_tokens", "kv_cache_memory_bytes")
        return replace(flag, kind=Kind.SIZE if sized else Kind.INT)
    if "float" in hints.kinds:
        return replace(flag, kind=Kind.FLOAT)
    if "dict" in hints.kinds:
        return replace(flag, kind=Kind.JSON_OR_TEXT if hints.kinds & {"str", "other"} else Kind.JSON)
    return replace(flag, kind=Kind.TEXT if hints.kinds & {"str", "other"} else Kind.ANY)


def with_keywords(flag: Flag, given: Mapping[str, ast.expr | None], scope: Scope, modules: Modules) -> Flag:
    """The flag after argparse's own keywords."""
    action = _text(given.get("action")) or dotted_name(given.get("action")).rpartition(".")[2]
    if action in _NOTHING:
        return replace(flag, kind=Kind.SWITCH)
    if action in ("BooleanOptionalAction", "StoreBoolean"):
        return replace(flag, kind=Kind.BOOL) if action == "BooleanOptionalAction" else replace(flag, kind=Kind.TEXT, many="?")
    if action == "append":
        flag = replace(flag, many="")
    if "type" in given:
        flag = replace(flag, kind=_type(given["type"]))
    if "choices" in given:
        flag = replace(flag, choices=_choices(given["choices"], scope, modules))
    if "nargs" in given:
        nargs = given["nargs"]
        flag = replace(flag, many=_text(nargs) if isinstance(nargs, ast.Constant) and isinstance(nargs.value, str) else "" if nargs is None else "*")
    if flag.kind is Kind.ANY and given.keys() & {"default", "help", "choices", "nargs"}:
        flag = replace(flag, kind=Kind.TEXT)
    return flag


def _type(node: ast.expr | None) -> Kind:
    if node is None:
        return Kind.TEXT
    if isinstance(node, ast.Call) and node.args:
        return _type(node.args[0])
    name = dotted_name(node)
    short = name.rpartition(".")[2]
    if short in ("int", "nullable_int"):
        return Kind.INT
    if short == "float":
        return Kind.FLOAT
    if short in _SIZES:
        return Kind.SIZE
    if name in _JSON or short in _JSON:
        return Kind.JSON
    if short == "union_dict_and_str":
        return Kind.JSON_OR_TEXT
    return Kind.TEXT if short in ("str", "nullable_str") else Kind.ANY


def _choices(node: ast.expr | None, scope: Scope, modules: Modules) -> tuple[str, ...]:
    """Choices that stand in the source: a list, or a Literal; () where they are made at run time."""
    if isinstance(node, ast.Call) and dotted_name(node.func).endswith(("get_args", "list", "sorted")) and node.args:
        return _choices(node.args[0], scope, modules)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        told = [item.value for item in node.elts if isinstance(item, ast.Constant)]
        return tuple(str(value) for value in told) if len(told) == len(node.elts) else ()
    if isinstance(node, (ast.Name, ast.Attribute)):
        hints = hints_of(node, scope, modules)
        return hints.literals
    return ()


def dotted_name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted_name(node.value)}.{node.attr}"
    return ""


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
