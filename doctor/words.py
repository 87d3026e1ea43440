"""Text that exists in every language of the program, and the filling-in of its `<placeholders>`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from doctor.locale import LANGUAGES
from doctor.record import dataclass

_PLACEHOLDER = re.compile(r"<([a-z][a-z0-9_]*)>")


@dataclass(frozen=True)
class Words:
    """One text in English and Chinese."""

    en: str
    zh: str

    def __getitem__(self, language: str) -> str:
        return self.zh if language == "zh" else self.en

    def filled(self, values: Mapping[str, str]) -> Words:
        """With every `<name>` replaced whose value is known; the others stay, so that a reader sees what to fill in."""
        if not values or ("<" not in self.en and "<" not in self.zh):
            return self
        return Words(_fill(self.en, values), _fill(self.zh, values))


def _fill(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values.get(match[1]) or match[0], text)


__all__ = ["LANGUAGES", "Words"]
