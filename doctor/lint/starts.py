"""One command that starts vLLM, as it was found in an input, and where each of its words stands. Pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from doctor.facts.vllm import ServeCommand
from doctor.record import dataclass

LOOK_AHEAD = 200
"""Lines after a command's first in which its words are looked for."""


@dataclass(frozen=True)
class Start:
    """`words` are the arguments behind `vllm serve`, or () for a call in Python. `image` and `cards`: of the container, where one is named.

    `model_first`: the first word without a dash is the model (`vllm serve`; not so for the api_server module).
    """

    command: ServeCommand
    words: tuple[str, ...] = ()
    model_first: bool = True
    image: str | None = None
    cards: int | None = None
    text: tuple[str, ...] = ()
    """The lines of the input, for telling where a word stands."""
    how: str = "shell"
    """argument, shell, python, config, manifest, unit."""
    folder: str = ""
    """Where relative paths start from (a unit's WorkingDirectory); "" where the input does not tell."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Known lines: of keys of a configuration, of arguments of a call."""
    skipped: tuple[str, ...] = ()
    """Keys of a configuration whose value is false: vLLM's reader leaves them out."""

    def line_of(self, word: str) -> int:
        """Line of the word (a flag as typed), counted from 1; that of the command where it is not found, 0 where lines are not known."""
        if word in self.lines:
            return self.lines[word]
        first = max(self.command.line - 1, 0)
        for number, line in enumerate(self.text[first : first + LOOK_AHEAD], first + 1):
            if word and word in line:
                return number
        return self.command.line
