"""Reads vLLM's flags out of its source by syntax tree; nothing is imported or run.

Contract: `read_table` gets a function that returns the text of a file below the package's folder ("engine/arg_utils.py"), or None, and
never raises on any text. Both styles are understood: `parser.add_argument("--x", type=int)` of old releases, and
`group.add_argument("--x", **kwargs["x"])` with kwargs made from the type hints of a configuration class.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import field, replace

from doctor.lint.flags import Flag, Kind, Table
from doctor.lint.hints import hints_of
from doctor.lint.kinds import dotted_name, of_hints, with_keywords
from doctor.lint.modules import Modules, Scope
from doctor.record import dataclass

Reader = Callable[[str], "str | None"]

ENGINE = "engine/arg_utils.py"
FRONTEND = "entrypoints/openai/cli_args.py"
SERVE = "entrypoints/cli/serve.py"
MAKE_PARSER = "make_arg_parser"
OFFLINE = "entrypoints/llm.py"
VARIABLES = "envs.py"

ALWAYS = (Flag("config", Kind.TEXT), Flag("model", Kind.TEXT), Flag("help", Kind.TEXT, many="?", short=("h",)))
"""What every release has, wherever its parser adds it."""


def read_table(read: Reader, version: str, origin: str = "") -> Table | None:
    """The flags of a vLLM; None where its source is not there or shows none."""
    modules = Modules(read)
    collected: dict[str, Flag] = {}
    for scope, function in _entries(modules):
        _collect(_Place(modules, scope, function), collected)
    engine = modules.scope(ENGINE)
    for name in ("EngineArgs", "AsyncEngineArgs") if engine else ():
        assert engine is not None
        _method(modules, engine, name, collected)
    if not collected:
        return None
    for flag in ALWAYS:
        collected.setdefault(flag.name, flag)
    return Table(version, dict(sorted(collected.items())), _keywords(modules, engine), _variables(modules), origin)


def _entries(modules: Modules) -> Iterator[tuple[Scope, ast.FunctionDef]]:
    """The functions that build the parser of `vllm serve`: its own, and `make_arg_parser`, which moves from release to release."""
    serve, frontend = modules.scope(SERVE), modules.scope(FRONTEND)
    for node in ast.walk(serve.tree) if serve else ():
        if serve is not None and isinstance(node, ast.FunctionDef) and node.name == "subparser_init":
            yield serve, node
    for scope in (serve, frontend):
        found = modules.find(scope, MAKE_PARSER) if scope else None
        if found is not None and isinstance(found[1], ast.FunctionDef):
            yield found[0], found[1]
            return


@dataclass
class _Place:
    """One function that adds arguments. `owner` is the class that `cls` stands for."""

    modules: Modules
    scope: Scope
    function: ast.FunctionDef
    owner: str = ""
    kwargs: dict[str, str] = field(default_factory=dict)
    """Variable -> configuration class, from `x = get_kwargs(Class)`."""
    changed: dict[tuple[str, str], dict[str, ast.expr | None]] = field(default_factory=dict)
    """(variable, field) -> keyword -> new value, None where it is deleted."""
    aliases: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Variable -> (variable, field), from `y = x["field"]`."""


def _method(modules: Modules, scope: Scope, name: str, collected: dict[str, Flag], seen: frozenset[str] = frozenset()) -> None:
    """Flags that `<class>.add_cli_args` adds, wherever among its bases that method stands."""
    for owner, definition in modules.lineage(scope, name):
        for function in definition.body:
            if isinstance(function, ast.FunctionDef) and function.name == "add_cli_args" and f"{owner.path}:{name}" not in seen:
                place = _Place(modules, owner, function, name)
                for _, base in reversed(list(modules.lineage(scope, name))):
                    for other in base.body:
                        if isinstance(other, ast.FunctionDef):
                            _note_changes(place, other)
                _collect(place, collected, seen | {f"{owner.path}:{name}"})
                return


def _collect(place: _Place, collected: dict[str, Flag], seen: frozenset[str] = frozenset()) -> None:
    _note_changes(place, place.function)
    for node in ast.walk(place.function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "add_cli_args" and isinstance(node.func.value, ast.Name) and node.func.value.id not in ("super", "self", "cls"):
            found = place.modules.find_class(place.scope, node.func.value.id)
            if found is not None:
                _method(place.modules, found[0], found[1].name, collected, seen)
        elif node.func.attr == "add_argument":
            for flag in _flags(place, node):
                collected[flag.name] = _joined(collected.get(flag.name), flag)


def _joined(known: Flag | None, new: Flag) -> Flag:
    return new if known is None else replace(new, short=tuple(dict.fromkeys((*known.short, *new.short))))


def _note_changes(place: _Place, function: ast.FunctionDef) -> None:
    """`x = get_kwargs(C)`, `x["f"]["type"] = …`, `del x["f"]["nargs"]`, `x["f"].update(…)` and `.pop(…)`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Name) and isinstance(value, ast.Call) and dotted_name(value.func).endswith("get_kwargs") and value.args:
                named = dotted_name(value.args[0])
                place.kwargs[target.id] = place.owner if named == "cls" else named
            key, source = _resolved(place, target), _path(value)
            if isinstance(target, ast.Name) and len(source) == 2:
                place.aliases[target.id] = (source[0], source[1])
            if len(key) == 3:
                place.changed.setdefault((key[0], key[1]), {})[key[2]] = value
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                key = _resolved(place, target)
                if len(key) == 3:
                    place.changed.setdefault((key[0], key[1]), {})[key[2]] = None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("update", "pop"):
            key = _resolved(place, node.func.value)
            if len(key) == 2:
                changes = place.changed.setdefault((key[0], key[1]), {})
                for name, changed in _updates(node):
                    changes[name] = changed


def _updates(call: ast.Call) -> Iterator[tuple[str, ast.expr | None]]:
    assert isinstance(call.func, ast.Attribute)
    first = call.args[0] if call.args else None
    if call.func.attr == "pop":
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value, None
    elif isinstance(first, ast.Dict):
        for key, value in zip(first.keys, first.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value
    else:
        yield from ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg)


def _resolved(place: _Place, node: ast.expr) -> tuple[str, ...]:
    """`_path`, with a variable that stands for one field replaced by it."""
    path = _path(node)
    return (*place.aliases[path[0]], *path[1:]) if path and path[0] in place.aliases else path


def _path(node: ast.expr) -> tuple[str, ...]:
    """("kwargs", "field", "type") of `kwargs["field"]["type"]`; () for anything else."""
    keys: list[str] = []
    while isinstance(node, ast.Subscript):
        if not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)):
            return ()
        keys.append(node.slice.value)
        node = node.value
    return (node.id, *reversed(keys)) if isinstance(node, ast.Name) else ()


def _flags(place: _Place, call: ast.Call) -> Iterator[Flag]:
    names = [argument.value for argument in call.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str)]
    longs = [name[2:].replace("_", "-") for name in names if name.startswith("--")]
    shorts = tuple(name[1:] for name in names if name.startswith("-") and not name.startswith("--"))
    if not longs:
        if not names and any(isinstance(argument, ast.JoinedStr) for argument in call.args):
            yield from _loop(place)
        return
    flag = Flag(longs[0], short=shorts)
    given: dict[str, ast.expr | None] = {}
    for keyword in call.keywords:
        if keyword.arg:
            given[keyword.arg] = keyword.value
        else:
            flag = _from_field(place, keyword.value, flag)
            given.update(_dict_items(keyword.value))
    flag = with_keywords(flag, given, place.scope, place.modules)
    yield flag
    yield from (replace(flag, name=other, short=()) for other in longs[1:])


def _dict_items(node: ast.expr) -> dict[str, ast.expr | None]:
    if not isinstance(node, ast.Dict):
        return {}
    return {key.value: value for key, value in zip(node.keys, node.values, strict=True) if isinstance(key, ast.Constant) and isinstance(key.value, str)}


def _from_field(place: _Place, node: ast.expr, flag: Flag) -> Flag:
    """What `**kwargs["name"]`, also inside `**{**kwargs["name"], …}`, gives."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            flag = _from_field(place, value, flag) if key is None else flag
        return flag
    path = _resolved(place, node)
    if len(path) != 2 or path[0] not in place.kwargs:
        return flag
    return _field_flag(place, place.kwargs[path[0]], path[0], path[1], flag)


def _field_flag(place: _Place, owner: str, variable: str, name: str, flag: Flag) -> Flag:
    found = place.modules.field(place.scope, owner, name)
    if found is not None:
        scope, annotation = found
        flag = of_hints(flag, name, hints_of(annotation, scope, place.modules))
    return with_keywords(flag, place.changed.get((variable, name), {}), place.scope, place.modules)


def _loop(place: _Place) -> Iterator[Flag]:
    """All fields of the class whose kwargs are added in a loop: `add_argument(f"--{key…}", **value)`."""
    for variable, owner in place.kwargs.items():
        for name in place.modules.field_names(place.scope, owner):
            changed = place.changed.get((variable, name), {})
            flags = changed.get("flags")
            shorts = tuple(
                item.value.lstrip("-")
                for item in (flags.elts if isinstance(flags, (ast.List, ast.Tuple)) else ())
                if isinstance(item, ast.Constant) and isinstance(item.value, str)
            )
            yield _field_flag(place, owner, variable, name, Flag(name.replace("_", "-"), short=shorts))


def _keywords(modules: Modules, engine: Scope | None) -> frozenset[str]:
    """Fields of EngineArgs and AsyncEngineArgs, and the named parameters of LLM."""
    names: set[str] = set()
    for owner in ("EngineArgs", "AsyncEngineArgs") if engine else ():
        assert engine is not None
        names.update(modules.field_names(engine, owner))
    offline = modules.scope(OFFLINE)
    for node in ast.walk(offline.tree) if offline else ():
        if isinstance(node, ast.ClassDef) and node.name == "LLM":
            for function in node.body:
                if isinstance(function, ast.FunctionDef) and function.name == "__init__":
                    names.update(argument.arg for argument in (*function.args.args, *function.args.kwonlyargs) if argument.arg != "self")
    return frozenset(names)


def _variables(modules: Modules) -> frozenset[str]:
    scope = modules.scope(VARIABLES)
    return variables_in(scope.tree) if scope else frozenset()


def variables_in(tree: ast.AST) -> frozenset[str]:
    """Names of environment variables in an envs.py: the keys of its table."""
    return frozenset(
        key.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value.isupper() and isinstance(value, (ast.Lambda, ast.Call, ast.Name))
    )

