"""A rule's logic in Python: which facts its `judge` wants, told without importing it.

Contract: `needs_of(source)` reads the annotations by syntax tree, so that a rule whose facts are all unknown and whose patterns matched nothing
costs no import. Where an annotation is not a plain class name or `Class | None`, the answer is None, and the module is imported to ask it.
"""

from __future__ import annotations

import ast
import functools
import importlib
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

from doctor.facts import providers
from doctor.logscan.signature import Matches
from doctor.record import dataclass
from doctor.rulepackage import rules_package

Needs = tuple[tuple[str, str, bool], ...]
"""(parameter, name of its class, whether None will do)."""


@dataclass(frozen=True)
class Need:
    """One parameter of `judge`: the class of what it gets, and whether None will do."""

    parameter: str
    kind: type[Any]
    optional: bool


class LazyLogic:
    """Stands for the `judge` of a module until it is needed."""

    def __init__(self, module: str, needs: Needs | None = None) -> None:
        self.module = module
        self.needs = needs

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Imports the module, whatever that raises, and calls its `judge`."""
        return self.function()(*arguments, **keywords)

    def function(self) -> Callable[..., Any]:
        """The real function."""
        rules_package()
        judge: Callable[..., Any] = importlib.import_module(self.module).judge
        return judge


def needs_of(source: str) -> Needs | None:
    """What the module's `judge` wants; None where only Python itself can tell."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return None
    judge = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "judge"), None)
    if judge is None or judge.args.kwonlyargs or judge.args.vararg or judge.args.kwarg or judge.args.posonlyargs:
        return None
    needs = [_need(argument) for argument in judge.args.args]
    return tuple(need for need in needs if need) if all(needs) else None


def _need(argument: ast.arg) -> tuple[str, str, bool] | None:
    match argument.annotation:
        case ast.Name(id=name):
            return argument.arg, name, False
        case ast.BinOp(left=ast.Name(id=name), op=ast.BitOr(), right=ast.Constant(value=None)):
            return argument.arg, name, True
    return None


def needs(function: Callable[..., Any]) -> tuple[Need, ...]:
    """What a rule's logic wants. TypeError if a parameter has no annotation."""
    if isinstance(function, LazyLogic):
        if function.needs is not None and all(name in _classes() for _, name, _ in function.needs):
            return tuple(Need(parameter, _classes()[name], optional) for parameter, name, optional in function.needs)
        function = function.function()
    return tuple(Need(parameter, kind, optional) for parameter, (kind, optional) in injections(function).items())


@functools.cache
def _classes() -> Mapping[str, type[Any]]:
    return {**{kind.__name__: kind for kind in providers()}, "Matches": Matches}


def injections(function: Callable[..., Any]) -> Mapping[str, tuple[type[Any], bool]]:
    """Parameter -> (fact type, whether None will do), by the annotations of a function. TypeError if one has none."""
    hints = typing.get_type_hints(function)
    wanted: dict[str, tuple[type[Any], bool]] = {}
    for name in function.__code__.co_varnames[: function.__code__.co_argcount]:
        if name not in hints:
            raise TypeError(f"{function.__module__}.judge: the parameter {name!r} has no annotation")
        hint = hints[name]
        options = [kind for kind in typing.get_args(hint) if kind is not type(None)]
        if typing.get_origin(hint) in (typing.Union, types.UnionType) and len(options) == 1:
            wanted[name] = (options[0], True)
        else:
            wanted[name] = (hint, False)
    return wanted
