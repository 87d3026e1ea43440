"""A rule whose file was checked before: what every run asks of it is at hand, and the rest is made when something asks for it.

Contract: a `KnownRule` equals, field by field, the rule that `causefile.build` makes of the same file. Most rules of a run look at
nothing: their words, fixes and decisions are never made.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from doctor import causefile
from doctor.finding import Severity
from doctor.record import dataclass
from doctor.rule import Role, Rule, Silent


@dataclass(frozen=True)
class Known:
    """What is kept of a checked file; the file itself and its patterns' literals as `marshal` writes them, as yet unread."""

    name: str
    """"area/id.yaml"."""
    severity: str
    role: str
    formerly: tuple[str, ...]
    by_log_only: bool
    silent: Silent | None
    deciding: tuple[str, ...]
    plain: bytes
    literals: bytes


class KnownRule(Rule):
    """Has the fields of a `Rule`; those that are not set yet are made together when the first of them is read."""

    @property
    def scanned(self) -> tuple[str, ...]:
        return tuple(self.literals) if "_known" in self.__dict__ else super().scanned

    @property
    def literals(self) -> dict[str, frozenset[str]]:
        """The required literals of each pattern; only for a rule as it was loaded, not for a changed copy of it."""
        found: dict[str, frozenset[str]] | None = self.__dict__.get("_literals")
        if found is None:
            known: Known = self.__dict__["_known"]
            found = self.__dict__["_literals"] = {pattern: frozenset(several) for pattern, several in marshal.loads(known.literals).items()}
        return found

    @property
    def by_log_only(self) -> bool:
        if "_known" not in self.__dict__:
            return super().by_log_only
        known: Known = self.__dict__["_known"]
        return known.by_log_only and self.logic is None


    @property
    def deciding(self) -> tuple[str, ...]:
        known: Known | None = self.__dict__.get("_known")
        return known.deciding if known else super().deciding

    @property
    def silent(self) -> Silent | None:
        known: Known | None = self.__dict__.get("_known")
        return known.silent if known else super().silent


class _Later:
    """A field that is not made yet. What is in the rule's own dictionary hides it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, rule: KnownRule | None, _owner: type[Rule]) -> Any:
        if rule is None:
            return self
        known: Known = rule.__dict__["_known"]
        plain = marshal.loads(known.plain)
        if self._name == "decisions":  # of every rule that facts decide, and of most nothing more
            rule.__dict__["decisions"] = causefile.decisions_of(plain, known.name)
        elif self._name == "patterns":  # of every rule whose logic may look at lines
            given = plain.get("patterns", {})
            rule.__dict__["patterns"] = {key: (value,) if isinstance(value, str) else tuple(value) for key, value in given.items()}
        else:
            built = causefile.build(plain, known.name.partition("/")[0], known.name)
            rule.__dict__.update({**vars(built), **rule.__dict__})
        return rule.__dict__[self._name]


for _field in fields(Rule):
    setattr(KnownRule, _field.name, _Later(_field.name))


def rule_of(known: Known, logic: Callable[..., Any] | None, origin: str) -> KnownRule:
    """The rule of a file that was checked."""
    area, _, file = known.name.partition("/")
    rule = object.__new__(KnownRule)
    rule.__dict__.update(
        id=file.removesuffix(".yaml"),
        area=area,
        severity=Severity[known.severity],
        role=Role(known.role),
        formerly=known.formerly,
        logic=logic,
        origin=origin,
        _known=known,
    )
    return rule
