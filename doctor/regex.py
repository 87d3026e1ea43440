"""Regular expressions of modules that are compiled when they are first used: a run uses few of them, and compiling all takes longer than the rest.

Contract: `regex` gives what has every method and attribute of a compiled pattern. An expression that is wrong raises `re.error` at its first use.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_NAMES = (
    "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn", "pattern", "flags", "groups", "groupindex", "scanner",
)  # fmt: skip


class _Later:
    """Stands for a pattern; once it is compiled its methods lie on the instance, so that a call costs nothing more."""

    def __init__(self, expression: str | bytes, flags: int) -> None:
        self._given = expression, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _NAMES:
            raise AttributeError(name)
        expression, flags = self._given
        compiled = re.compile(expression, flags)
        vars(self).update({each: getattr(compiled, each) for each in _NAMES})
        return getattr(compiled, name)


def regex(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, later. Not for `re.sub(…)` and its like, which want a real pattern."""
    return cast("re.Pattern[AnyStr]", _Later(expression, flags))
