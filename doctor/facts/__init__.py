"""Facts: what was found, as frozen dataclasses, and the store that finds each of them at most once.

Contract: a fact type is looked up by class. A module of this package holds one area: its dataclasses, the parsers
(pure functions of text), and `PROVIDERS`, which read a `Host`. `report.py` finds the same facts in a pasted text.
A field that is None was not told: a rule may not read absence into it. Facts import no `os`, no `subprocess`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from doctor.host import Host, Probe, Unavailable, Why
from doctor.record import dataclass

T = TypeVar("T")

AREAS = ("machine", "kernel", "driver", "npu", "cann", "target", "vllm", "container", "network", "model", "processes", "profile", "memcheck", "neighbours", "startup", "rank_table", "leftovers", "custom_ops", "rights", "beside", "pools")
"""The modules of this package that provide facts."""


class Facts(Protocol):
    """Where rules and providers get facts from."""

    def get(self, kind: type[T]) -> T | Unavailable: ...


@dataclass(frozen=True)
class Provider(Generic[T]):
    """How one fact type is found on a host. `per_target`: once for each target, with `facts.get(Target)` in reach."""

    kind: type[T]
    read: Callable[[Host, Facts], T | Unavailable]
    probe: Probe = Probe.PASSIVE
    per_target: bool = False


_providers: dict[type[Any], Provider[Any]] = {}


def providers() -> dict[type[Any], Provider[Any]]:
    """Every provider by its fact type; imports the areas on first use."""
    if not _providers:
        for area in AREAS:
            for provider in importlib.import_module(f"doctor.facts.{area}").PROVIDERS:
                _providers[provider.kind] = provider
    return _providers


class HostFacts:
    """Facts of one host, and, where `target` is given, of that target on it; each is read once and kept."""

    def __init__(self, host: Host, target: object | None = None, shared: HostFacts | None = None) -> None:
        self.host = host
        self._target = target
        self._shared = shared
        self._known: dict[type[Any], Any] = {type(target): target} if target is not None else {}

    def get(self, kind: type[T]) -> T | Unavailable:
        provider = providers().get(kind)
        if provider is not None and not provider.per_target and self._shared is not None:
            return self._shared.get(kind)
        if kind not in self._known:
            if provider is None:
                self._known[kind] = Unavailable(kind.__name__, Why.MISSING, "no target was found" if kind.__name__ == "Target" else "no provider")
            else:
                self._known[kind] = provider.read(self.host, self)
        found: T | Unavailable = self._known[kind]
        return found

    def put(self, fact: object) -> None:
        """Sets a fact that was found otherwise (the target named by `--python`)."""
        self._known[type(fact)] = fact


class FixedFacts:
    """Facts that are known already: those read from a pasted text, and those of tests."""

    def __init__(self, *facts: object, where: str = "this text") -> None:
        self._known = {type(fact): fact for fact in facts}
        self._where = where

    def get(self, kind: type[T]) -> T | Unavailable:
        found = self._known.get(kind)
        if found is None:
            return self.unknown(kind.__name__)
        return found  # type: ignore[return-value]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the types that are known."""
        return frozenset(kind.__name__ for kind in self._known)

    def unknown(self, name: str) -> Unavailable:
        """What is said of a fact type, by name, that is not known."""
        return Unavailable(name, Why.NOT_RECORDED, f"not in {self._where}")

    def __iter__(self) -> Iterator[object]:
        return iter(self._known.values())


def known(fact: T | Unavailable) -> T | None:
    """The fact, or None where it could not be had."""
    return None if isinstance(fact, Unavailable) else fact
