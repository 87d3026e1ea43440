"""Dataclasses that are made fast: their methods are shared, where those of `dataclasses` are compiled anew, six for each frozen class.

Contract: as `dataclasses.dataclass` for what doctor uses of it, and everything of `dataclasses` works on the result (`fields`, `replace`, `asdict`).
Hundreds of classes are made at every start and most are never used: compiling took longer than all their modules together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """As `dataclasses.dataclass`, with `frozen` and `eq` alone; whoever wants more (slots, order, `__post_init__`) takes the original."""
        return _made(cls, **options) if cls is not None else lambda cls: _made(cls, **options)


def _made(cls: type, *, frozen: bool = False, eq: bool = True) -> type:
    if hasattr(cls, "__post_init__"):
        raise TypeError(f"{cls.__qualname__} has a __post_init__, which is not called here: take dataclasses.dataclass")
    dataclasses.dataclass(init=False, repr=False, eq=False)(cls)  # the fields alone: compiles nothing
    fields: Mapping[str, dataclasses.Field[Any]] = cls.__dict__["__dataclass_fields__"]
    compared = tuple(name for name, field in fields.items() if field.compare)
    methods: dict[str, Any] = {"__init__": _init(cls.__qualname__, fields), "__repr__": _repr(tuple(name for name, field in fields.items() if field.repr))}
    if eq:
        methods |= {"__eq__": _eq(compared), "__hash__": _hash(compared) if frozen else None}
    if frozen:
        methods |= {"__setattr__": _set, "__delattr__": _delete}
    for name, method in methods.items():
        if name not in cls.__dict__ or (name == "__hash__" and cls.__dict__[name] is None):
            setattr(cls, name, method)
    return cls


def _init(cls: str, fields: Mapping[str, dataclasses.Field[Any]]) -> Callable[..., None]:
    names = tuple(field.name for field in fields.values() if field.init)
    start = {name: fields[name].default for name in names}  # MISSING holds the place of the others: the order of `vars` is that of the fields
    factories: tuple[tuple[str, Any], ...] = tuple((name, made) for name in names if (made := fields[name].default_factory) is not dataclasses.MISSING)
    needed = tuple(name for name in names if start[name] is dataclasses.MISSING and name not in dict(factories))
    most, least = len(names), len(needed)

    def __init__(self: Any, /, *given: Any, **named: Any) -> None:
        values = self.__dict__
        values.update(start)
        values.update(zip(names, given, strict=False))
        values.update(named)
        count = len(given)
        if len(values) > most or count > most or (named and not named.keys().isdisjoint(names[:count])):
            raise TypeError(f"{cls} takes {', '.join(names)}; it got {count} values and {', '.join(named)}")
        if count < least and (missing := [name for name in needed[count:] if name not in named]):
            raise TypeError(f"{cls} needs {', '.join(missing)}")
        for name, factory in factories:
            if values[name] is dataclasses.MISSING:
                values[name] = factory()

    return __init__


def _repr(shown: tuple[str, ...]) -> Callable[[Any], str]:
    return lambda self: f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def _eq(compared: tuple[str, ...]) -> Callable[[Any, object], bool]:
    def __eq__(self: Any, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return tuple([getattr(self, name) for name in compared]) == tuple([getattr(other, name) for name in compared])

    return __eq__


def _hash(compared: tuple[str, ...]) -> Callable[[Any], int]:
    return lambda self: hash(tuple([getattr(self, name) for name in compared]))


def _set(self: object, name: str, _value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


__all__ = ["dataclass"]
