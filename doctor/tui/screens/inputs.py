"""The inputs of a screen: one line each, typed at the bottom or chosen; what is refused is told at once. Going back hands them over.

Contract: nothing is started here; what is typed is cleaned, and never taken for markup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from doctor.locale import Speak
from doctor.report.style import Style, padded
from doctor.text import cell_width, clean_line, truncate
from doctor.tui.form import Field, Values
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.paned import SplitScreen
from doctor.tui.told import Told
from doctor.tui.widgets.confirmbox import ConfirmBox
from doctor.tui.widgets.textview import TextView


class InputsScreen(SplitScreen):
    """Asks for the fields; `done` gets their values where something has changed. `speaker` gives the words of a language, `known` what hints tell."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("enter", "edit", "key_edit", line=True),
        Key("escape,left", "back", "key_take_over", line=True),
        Key("delete,backspace", "empty", "key_empty", line=True),
        Key("y", "copy", "key_copy", line=True),
        Key("right_square_bracket", "detail_down", "key_detail_down"),
        Key("left_square_bracket", "detail_up", "key_detail_up"),
    )
    BINDINGS = bindings(key for key in KEYS if key.action != "edit")  # the list itself answers enter

    def __init__(
        self, title: str, fields: Sequence[Field], values: Values, speaker: Callable[[str], Speak], done: Callable[[Mapping[str, str]], None],
        known: Mapping[str, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        super().__init__()
        self._known = known
        self._title, self._fields, self._speaker, self._done = title, tuple(fields), speaker, done
        self._before, self._values = dict(values), dict(values)
        self._refused: Told | None = None

    def retell(self) -> None:
        super().retell()
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    # What is seen

    @property
    def _field(self) -> Field:
        return self._fields[min(self.items.highlighted or 0, len(self._fields) - 1)]

    def _value(self, field: Field) -> str:
        return self._values.get(field.name, "")

    def _show(self) -> None:
        say, items, at = self._speaker(self.language), self.items, self.items.highlighted or 0
        self.query_one("#title", Static).update(Content(truncate(clean_line(say(self._title)), self.size.width - 2, "...")))
        told = say(self._refused.key, **self._refused.values) if self._refused is not None else say("inputs_state")
        self.query_one("#state", Static).update(Content(clean_line(told)))
        items.clear_options()
        items.add_options([Option(line) for line in self._lines(say, max(20, self.size.width - 4))])
        items.highlighted = at
        self._hint()

    def _hint(self) -> None:
        say, side = self._speaker(self.language), self.query_one(TextView)
        side.show(Content("\n".join(Style(side.room if side.room >= 20 else 0).lines(say(self._field.hint, **self._known), ""))))

    def _lines(self, say: Speak, width: int) -> list[Content]:
        names = [say(field.word) for field in self._fields]
        cells = max(map(cell_width, names)) + 2
        return [Content.assemble(padded(name, cells), self._shown(field, say, width - cells)) for name, field in zip(names, self._fields, strict=True)]

    def _shown(self, field: Field, say: Speak, room: int) -> Content:
        value = self._value(field)
        if not field.choices:
            return Content(truncate(clean_line(value), room, "...") if value else "-")
        parts = [(f"[{_choice(each, say)}]" if each == value else _choice(each, say), "bold" if each == value else "dim") for each in field.choices]
        return Content("  ").join([Content.styled(text, style) for text, style in parts])

    def plain_text(self) -> str:
        return "\n".join(line.plain for line in self._lines(self._speaker(self.language), 110)) + "\n"

    # Keys

    def on_option_list_option_highlighted(self) -> None:
        self._hint()

    def on_option_list_option_selected(self) -> None:
        self.action_edit()

    def action_edit(self) -> None:
        field, say = self._field, self._speaker(self.language)
        self._refused = None
        if field.choices:
            self._values[field.name] = field.after(self._value(field))
            self._show()
        else:
            self.query_one(ConfirmBox).ask(field.name, say("inputs_type", what=say(field.word)), self._value(field))

    def on_confirm_box_answered(self, event: ConfirmBox.Answered) -> None:
        field = next(each for each in self._fields if each.name == event.purpose)
        self._refused = field.check(event.text) if event.text else None
        if self._refused is not None:  # it can be mended where it stands
            say = self._speaker(self.language)
            self.query_one(ConfirmBox).ask(field.name, say("inputs_type", what=say(field.word)), event.text)
        else:
            self._values[field.name] = event.text
            self.items.focus()
        self._show()

    def action_empty(self) -> None:
        field = self._field
        self._values[field.name] = field.choices[0] if field.choices else ""
        self._refused = None
        self._show()

    def leave(self) -> None:
        super().leave()
        if self._values != self._before:
            self._done(self._values)

    def action_back(self) -> None:
        self._refused = None
        self._show()
        super().action_back()

    def action_copy(self) -> None:
        self.doctor.copy(self.plain_text())


def _choice(value: str, say: Speak) -> str:
    return say(f"choice_{value}") if value in ("yes", "no", "auto") else value


__all__ = ["InputsScreen"]
