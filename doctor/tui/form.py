"""Inputs of a screen as data: what each is called, what may stand there, and why it is refused. Knows no Textual."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from doctor.tui.told import Told

Values = Mapping[str, str]
"""What was typed or chosen, by the names of the fields; "" where nothing was."""


@dataclass(frozen=True)
class Field:
    """One input. `word` and `hint` are keys of the words; `choices` are all that may stand there, where that is so."""

    name: str
    word: str
    hint: str
    choices: tuple[str, ...] = ()
    check: Callable[[str], Told | None] = lambda text: None
    """Why a text is refused. It may look at files, and at nothing else."""

    def after(self, value: str) -> str:
        """The next of the choices."""
        return self.choices[(self.choices.index(value) + 1) % len(self.choices)] if value in self.choices else self.choices[0]


__all__ = ["Field", "Values"]
