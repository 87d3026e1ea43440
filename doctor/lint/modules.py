"""Files of a package as syntax trees, and the classes and names in them: followed through imports, never imported."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from dataclasses import field

from doctor.record import dataclass

MOST_FILES = 80
"""Files of one package that are read for its flags; vLLM needs about 40."""

DEEPEST = 8
"""Imports that are followed one after another for one name."""


@dataclass(frozen=True)
class Scope:
    """One file: what it defines at its top level, and where it imports other names from (file, name there)."""

    path: str
    tree: ast.Module
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    values: dict[str, ast.expr] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)


class Modules:
    """The files of one package, each read and parsed at most once. `read` takes a path below the package's folder."""

    def __init__(self, read: Callable[[str], str | None], package: str = "vllm") -> None:
        self._read = read
        self._package = package
        self._scopes: dict[str, Scope | None] = {}

    def scope(self, path: str) -> Scope | None:
        """The file, or None where it is not there or cannot be parsed."""
        if path not in self._scopes:
            text = self._read(path) if len(self._scopes) < MOST_FILES else None
            self._scopes[path] = None if text is None else _scope(path, text, self._package)
        return self._scopes[path]

    def find(self, scope: Scope, name: str, depth: int = 0) -> tuple[Scope, ast.ClassDef | ast.FunctionDef | ast.expr] | None:
        """Where a name is defined, followed through imports: a class, a function, or the value that was assigned to it."""
        name = name.rpartition(".")[2]
        if name in scope.classes:
            return scope, scope.classes[name]
        if name in scope.functions:
            return scope, scope.functions[name]
        if name in scope.values:
            return scope, scope.values[name]
        if name not in scope.imports or depth > DEEPEST:
            return None
        module, original = scope.imports[name]
        for path in (f"{module}.py", f"{module}/__init__.py"):
            other = self.scope(path)
            if other is not None:
                return self.find(other, original, depth + 1)
        return None

    def find_class(self, scope: Scope, name: str) -> tuple[Scope, ast.ClassDef] | None:
        found = self.find(scope, name)
        return (found[0], found[1]) if found is not None and isinstance(found[1], ast.ClassDef) else None

    def lineage(self, scope: Scope, name: str, depth: int = 0) -> Iterator[tuple[Scope, ast.ClassDef]]:
        """The class and its bases, nearest first."""
        found = self.find_class(scope, name)
        if found is None or depth > DEEPEST:
            return
        yield found
        for base in found[1].bases:
            if isinstance(base, (ast.Name, ast.Attribute)):
                yield from self.lineage(found[0], base.id if isinstance(base, ast.Name) else base.attr, depth + 1)

    def field(self, scope: Scope, owner: str, name: str) -> tuple[Scope, ast.expr] | None:
        """(file, annotation) of a field of a class or of its bases."""
        for where, definition in self.lineage(scope, owner):
            for node in definition.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
                    return where, node.annotation
        return None

    def field_names(self, scope: Scope, owner: str) -> list[str]:
        """The fields of a dataclass, bases first; class variables and private names are none."""
        names: dict[str, None] = {}
        for _, definition in reversed(list(self.lineage(scope, owner))):
            for node in definition.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and _is_argument(node, node.target.id):
                    names[node.target.id] = None
        return list(names)


def _is_argument(node: ast.AnnAssign, name: str) -> bool:
    return not name.startswith("_") and "ClassVar" not in ast.unparse(node.annotation) and not _left_out(node.value)


def _left_out(value: ast.expr | None) -> bool:
    """`field(init=False)`: not an argument."""
    return isinstance(value, ast.Call) and any(
        keyword.arg == "init" and isinstance(keyword.value, ast.Constant) and keyword.value.value is False for keyword in value.keywords
    )


def read_tree(text: str) -> ast.Module | None:
    """The syntax tree of a file; None for what this Python cannot read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _scope(path: str, text: str, package: str) -> Scope | None:
    tree = read_tree(text)
    if tree is None:
        return None
    scope = Scope(path, tree)
    for node in _top_level(tree.body):
        if isinstance(node, ast.ClassDef):
            scope.classes[node.name] = node
        elif isinstance(node, ast.FunctionDef):
            scope.functions[node.name] = node
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    scope.values.setdefault(target.id, node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            scope.values.setdefault(node.target.id, node.value)
        elif isinstance(node, ast.ImportFrom):
            module = _imported(node, path, package)
            for alias in node.names if module is not None else ():
                scope.imports.setdefault(alias.asname or alias.name, (module or "", alias.name))
    return scope


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a file, those in `if TYPE_CHECKING: … else: …` and `try:` too."""
    for node in body:
        if isinstance(node, ast.If):
            yield from _top_level([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from _top_level(node.body)
        else:
            yield node


def _imported(node: ast.ImportFrom, path: str, package: str) -> str | None:
    """Folder path of the imported module below the package; None for other packages."""
    module = node.module or ""
    if node.level == 0:
        head, _, rest = module.partition(".")
        return rest.replace(".", "/") if head == package else None
    folder = path.split("/")[: -node.level]
    return "/".join([*folder, *module.split(".")] if module else folder)
