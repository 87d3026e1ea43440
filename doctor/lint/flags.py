"""The flags of one vLLM release, and how a name is looked up among them: exact, by a unique prefix, or not at all. Pure."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field


class Kind(enum.Enum):
    """What a flag takes, as vLLM's parser converts it."""

    SWITCH = "switch"
    """Nothing, and there is no `--no-` form (store_true)."""
    BOOL = "bool"
    """Nothing; `--no-<name>` is its opposite."""
    INT = "int"
    SIZE = "size"
    """An integer, or one with a unit: 32k, 1.5M; also auto and -1."""
    FLOAT = "float"
    JSON = "json"
    """A JSON object; single keys can be given as --name.key value."""
    JSON_OR_TEXT = "json or text"
    TEXT = "text"
    ANY = "any"
    """Not known: every value is right."""


@dataclass(frozen=True)
class Flag:
    """One flag: its long name without dashes; `many`: takes several words ("+" one or more, "*" any, "?" at most one, "" exactly one)."""

    name: str
    kind: Kind = Kind.ANY
    choices: tuple[str, ...] = ()
    many: str = ""
    short: tuple[str, ...] = ()
    """Other names with one dash, without it: ("tp",)."""

    @property
    def bare(self) -> bool:
        """Whether it takes no value."""
        return self.kind in (Kind.SWITCH, Kind.BOOL)


@dataclass(frozen=True)
class Table:
    """All flags of one vLLM. `origin` says for people where they were read; `exact` is False for the table of a neighbouring release."""

    version: str
    flags: Mapping[str, Flag]
    keywords: frozenset[str] = frozenset()
    """Arguments of LLM(…) and EngineArgs(…)."""
    variables: frozenset[str] = frozenset()
    """VLLM_* variables that it reads."""
    origin: str = ""
    exact: bool = True
    longs: Mapping[str, Flag] = field(init=False)
    shorts: Mapping[str, Flag] = field(init=False)

    def __post_init__(self) -> None:
        longs = dict(_long_names(self.flags.values()))
        object.__setattr__(self, "longs", longs)
        object.__setattr__(self, "shorts", {short: flag for flag in self.flags.values() for short in flag.short})

    def find(self, name: str) -> tuple[tuple[str, Flag], ...]:
        """(long name, flag) for a typed name without dashes: one where it is exact or a unique prefix, several if ambiguous, () if unknown."""
        exact = self.longs.get(name)
        if exact is not None:
            return ((name, exact),)
        return tuple((long, flag) for long, flag in self.longs.items() if long.startswith(name)) if name else ()


def _long_names(flags: Iterable[Flag]) -> Iterator[tuple[str, Flag]]:
    for flag in flags:
        yield flag.name, flag
        if flag.kind is Kind.BOOL:
            yield f"no-{flag.name}", flag


ALIKE = 0.72
"""Likeness (0 to 1) from which a name is worth suggesting."""


def likeness(one: str, other: str) -> float:
    """How alike two names are: the better of letters (difflib's ratio) and of whole words, whose order does not matter."""
    letters = difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()
    ones, others = set(_words(one)), set(_words(other))
    common = len(ones & others)
    words = 2 * common / (len(ones) + len(others)) if common else 0.0
    return max(letters, (letters + words) / 2 if words < 1 else 0.99)


def nearest(name: str, known: Iterable[str], alike: float = ALIKE) -> str | None:
    """The known name that is most alike, None if none is alike enough."""
    best = max(((likeness(name, other), other) for other in known if abs(len(other) - len(name)) <= 24), default=(0.0, ""))
    return best[1] if best[0] >= alike else None


def _words(name: str) -> list[str]:
    return [word for word in name.lower().replace("_", "-").split("-") if word]
