"""What a type hint of a configuration field lets a flag take: kinds, literal values, elements of a sequence. Pure."""

from __future__ import annotations

import ast
from dataclasses import field

from doctor.lint.modules import Modules, Scope
from doctor.record import dataclass

DEEPEST = 12

_UNIONS = frozenset({"Union", "Optional"})
_WRAPPERS = frozenset({"Annotated", "SkipValidation", "Final", "Required", "InitVar"})
_SEQUENCES = frozenset({"list", "List", "tuple", "Tuple", "set", "Set", "Sequence", "frozenset"})
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping"})
_PLAIN = frozenset({"bool", "int", "float", "str"})


@dataclass
class Hints:
    """`kinds` among bool, int, float, str, dict, none, other. `structure`: a configuration class of its own, given as JSON.

    `literals` are the allowed words; `numbers`: they are integers. `sequence` are the kinds of a list's elements, None for no list;
    `elements` the allowed words of those.
    """

    kinds: set[str] = field(default_factory=set)
    literals: tuple[str, ...] = ()
    numbers: bool = False
    structure: bool = False
    sequence: set[str] | None = None
    elements: tuple[str, ...] = ()


def hints_of(node: ast.expr, scope: Scope, modules: Modules) -> Hints:
    """The hints of one annotation, in the file where it stands."""
    hints = Hints()
    _add(hints, node, scope, modules, 0)
    return hints


def _add(hints: Hints, node: ast.expr, scope: Scope, modules: Modules, depth: int) -> None:
    if depth > DEEPEST:
        hints.kinds.add("other")
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        _add(hints, node.left, scope, modules, depth + 1)
        _add(hints, node.right, scope, modules, depth + 1)
    elif isinstance(node, ast.Constant):
        _constant(hints, node, scope, modules, depth)
    elif isinstance(node, ast.Subscript):
        _subscript(hints, node, scope, modules, depth)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        _named(hints, node.id if isinstance(node, ast.Name) else node.attr, scope, modules, depth)
    else:
        hints.kinds.add("other")


def _constant(hints: Hints, node: ast.Constant, scope: Scope, modules: Modules, depth: int) -> None:
    if node.value is None:
        hints.kinds.add("none")
    elif isinstance(node.value, str):  # a forward reference
        try:
            _add(hints, ast.parse(node.value, mode="eval").body, scope, modules, depth + 1)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            hints.kinds.add("other")
    else:
        hints.kinds.add("other")


def _subscript(hints: Hints, node: ast.Subscript, scope: Scope, modules: Modules, depth: int) -> None:
    name = node.value.id if isinstance(node.value, ast.Name) else node.value.attr if isinstance(node.value, ast.Attribute) else ""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Literal":
        values = [part.value for part in parts if isinstance(part, ast.Constant)]
        hints.literals = tuple(dict.fromkeys((*hints.literals, *(str(value) for value in values if value is not None))))
        hints.numbers = bool(values) and all(isinstance(value, int) and not isinstance(value, bool) for value in values)
        for part in parts:  # Literal of another Literal's name
            if not isinstance(part, ast.Constant):
                _add(hints, part, scope, modules, depth + 1)
    elif name in _UNIONS:
        hints.kinds |= {"none"} if name == "Optional" else set()
        for part in parts:
            _add(hints, part, scope, modules, depth + 1)
    elif name in _WRAPPERS and parts:
        _add(hints, parts[0], scope, modules, depth + 1)
    elif name in _SEQUENCES and parts:
        inner = Hints()
        _add(inner, parts[0], scope, modules, depth + 1)
        hints.sequence = inner.kinds or {"str"}
        hints.elements = () if "str" in inner.kinds else inner.literals
    elif name in _MAPPINGS:
        hints.kinds.add("dict")
    else:
        hints.kinds.add("other")


def _named(hints: Hints, name: str, scope: Scope, modules: Modules, depth: int) -> None:
    if name in _PLAIN:
        hints.kinds.add(name)
    elif name in _SEQUENCES:
        hints.sequence = {"str"}
    elif name in _MAPPINGS:
        hints.kinds.add("dict")
    else:
        found = modules.find(scope, name)
        if found is None:
            hints.kinds.add("other")
        elif isinstance(found[1], ast.ClassDef):
            if _is_structure(found[1]):
                hints.structure = True
            elif members := _members(found[1]):
                hints.literals = members
            else:
                hints.kinds.add("other")
        elif isinstance(found[1], ast.expr):
            _add(hints, found[1], found[0], modules, depth + 1)
        else:
            hints.kinds.add("other")


def _is_structure(definition: ast.ClassDef) -> bool:
    """Whether it is a dataclass or one of vLLM's configuration classes."""
    for decorator in definition.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = target.id if isinstance(target, ast.Name) else target.attr if isinstance(target, ast.Attribute) else ""
        if name in ("dataclass", "config"):
            return True
    return False


def _members(definition: ast.ClassDef) -> tuple[str, ...]:
    """The values of an enumeration of words."""
    bases = {base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else "" for base in definition.bases}
    if not bases & {"StrEnum"} and not ({"str", "Enum"} <= bases):
        return ()
    return tuple(
        node.value.value
        for node in definition.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )
