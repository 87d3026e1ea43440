"""What a pattern needs in a line before it is worth trying: its literals, as bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from doctor.logscan.literals import HEALTHY, everywhere, ignores_case


@dataclass(frozen=True, slots=True)
class Needle:
    """A line that `pattern` matches holds one of `literals`; where `folded`, once its ASCII letters are lower case."""

    pattern: str
    literals: tuple[bytes, ...]
    folded: bool

    @classmethod
    def of(cls, pattern: str, literals: Iterable[str]) -> Needle:
        """From the result of `literals.required`."""
        return cls(pattern, tuple(sorted(literal.encode("utf-8", "replace") for literal in literals)), ignores_case(pattern))

    @property
    def everyday(self) -> bool:
        """Whether it matches what a healthy server prints with every request."""
        # Only such a literal can: most patterns need not be compiled to know.
        weak = any(everywhere(literal.decode("utf-8", "replace")) for literal in self.literals)
        return weak and any(re.search(self.pattern, line, re.ASCII) for line in HEALTHY)

    def lines(self, data: bytes) -> list[int]:
        """Where the lines begin that hold a literal, in order; `data` is in lower case already where this is folded."""
        starts: set[int] = set()
        for literal in self.literals:
            at = data.find(literal)
            while at >= 0:
                starts.add(data.rfind(b"\n", 0, at) + 1)
                end = data.find(b"\n", at)
                at = data.find(literal, end) if end >= 0 else -1
        return sorted(starts)

    def places(self, data: bytes) -> Iterator[int]:
        """Every occurrence of a literal in one line."""
        for literal in self.literals:
            at = data.find(literal)
            while at >= 0:
                yield at
                at = data.find(literal, at + len(literal))
