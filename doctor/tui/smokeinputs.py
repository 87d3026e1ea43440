"""The inputs of the smoke test: what may stand in each, checked by the same functions as the command's options. Knows no Textual."""

from __future__ import annotations

import os
from collections.abc import Callable

from doctor.report.style import short
from doctor.smoke.asked import cards_asked, flags_asked, key_in_file, load_asked, python_asked, seconds_asked, url_asked, words_of
from doctor.smoke.plan import Refusal
from doctor.smoke.request import Seen
from doctor.tui.form import Field
from doctor.tui.told import Told


def _refused(check: Callable[[str], object]) -> Callable[[str], Told | None]:
    """The refusal of a check as a sentence."""

    def checked(text: str) -> Told | None:
        try:
            check(text)
        except Refusal as refusal:
            return Told(refusal.key, refusal.values)
        return None

    return checked


def _model(text: str) -> Told | None:
    """What looks like a path must be there; anything else may be a name that vLLM knows where to find."""
    path = os.path.expanduser(text)
    wrong = text.startswith(("/", ".", "~")) and not os.path.exists(path)
    return Told("refused_model", {"path": text}) if wrong or "\0" in path else None


FIELDS = (
    Field("model", "input_model", "input_model_hint", check=_model),
    Field("flags", "input_flags", "input_flags_hint", check=_refused(lambda text: flags_asked(words_of(text), "model"))),
    Field("url", "input_url", "input_url_hint", check=_refused(url_asked)),
    Field("load", "input_load", "input_load_hint", check=_refused(load_asked)),
    Field("seconds", "input_seconds", "input_seconds_hint", check=_refused(seconds_asked)),
    Field("level", "input_level", "input_level_hint", ("1", "2", "3")),
    Field("device", "input_device", "input_device_hint", ("auto", "npu", "cpu")),
    Field("cards", "input_cards", "input_cards_hint", check=_refused(cards_asked)),
    Field("busy", "input_busy", "input_busy_hint", ("no", "yes")),
    Field("python", "input_python", "input_python_hint", check=_refused(lambda text: python_asked(os.path.expanduser(text)))),
    Field("key_file", "input_key_file", "input_key_file_hint", check=_refused(lambda text: key_in_file(os.path.expanduser(text)))),
)


def cards_here(seen: Seen | None) -> str:
    """The cards that npu-smi shows and who uses them, in a line."""
    cards = seen.cards if seen is not None else ()
    return ", ".join(f"{card.number}: {short(card.user, 40)}" if card.user else str(card.number) for card in cards) or "-"


__all__ = ["FIELDS", "cards_here"]
