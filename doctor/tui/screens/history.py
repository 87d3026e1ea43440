"""What fixes have changed on this machine, newest first; each can be put back.

Contract: nothing is put back before the user has typed that he wants it; reading the journal and undoing run behind the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static
from textual.widgets.option_list import Option

from doctor.report.style import Style
from doctor.text import clean_line, truncate
from doctor.tui.background import behind
from doctor.tui.fixjob import Making, Place, journal
from doctor.tui.fixview import fix_speaker, outcome, progress, sentence
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.paned import PanedScreen
from doctor.tui.told import Told
from doctor.tui.widgets.confirmbox import YES, ConfirmBox

if TYPE_CHECKING:
    from doctor.apply.journal import Transaction


class HistoryScreen(PanedScreen):
    """The journal of a place."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("U", "undo", "key_undo", line=True, changes=True),
        Key("escape,left", "back", "key_back", line=True),
        Key("r", "again", "key_look", line=True),
        Key("y", "copy", "key_copy", line=True),
        Key("right_square_bracket", "detail_down", "key_detail_down"),
        Key("left_square_bracket", "detail_up", "key_detail_up"),
    )
    BINDINGS = bindings(KEYS)

    class Answer(Message):
        """The journal, or why it cannot be told."""

        def __init__(self, found: tuple[Transaction, ...] | Told) -> None:
            super().__init__()
            self.found = found

    class Over(Message):
        """An undo is over."""

        def __init__(self, rules: tuple[str, ...]) -> None:
            super().__init__()
            self.rules = rules

    def __init__(self, place: Place | Told, undone: Callable[[str], None] = lambda rule: None) -> None:
        super().__init__()
        self._place, self._undone = place, undone
        self._found: tuple[Transaction, ...] | Told | None = place.why if isinstance(place, Place) and place.seen is not None else None
        self._making: Making | None = None
        self._changing = False

    @property
    def busy(self) -> bool:
        return self._changing

    def on_mount(self) -> None:
        super().on_mount()
        self.action_again()

    def action_again(self) -> None:
        place = self._place
        if isinstance(place, Told):
            self._found = place
        elif place.seen is None:
            behind(self, lambda: self.Answer(journal(place)), "history")
        self._show()

    def on_history_screen_answer(self, event: Answer) -> None:
        self._found = event.found
        self._show()

    # What is seen

    @property
    def _transactions(self) -> tuple[Transaction, ...]:
        return self._found if isinstance(self._found, tuple) else ()

    @property
    def _current(self) -> Transaction | None:
        at = self.items.highlighted
        return self._transactions[at] if at is not None and at < len(self._transactions) else None

    def retell(self) -> None:
        super().retell()
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        items = self.items
        at = items.highlighted or 0
        lines = [Content(self._line(one)) for one in self._transactions]
        items.clear_options()
        items.add_options([Option(line) for line in lines])
        items.highlighted = min(at, len(lines) - 1) if lines else None
        self._panes()

    def _line(self, one: Transaction) -> str:
        say = fix_speaker(self.language)
        state = say("state_undone") if one.undone else say("history_interrupted") if one.open else say(f"history_{one.outcome}")
        return clean_line(f"{one.time[:16].replace('T', ' ')}  {', '.join(map(str, one.told.get('fixes', ())))}  {state}")

    def _panes(self) -> None:
        say = fix_speaker(self.language)
        self.query_one("#title", Static).update(Content(truncate(say("history_title"), self.size.width - 2, "...")))
        self.query_one("#state", Static).update(Content(clean_line(self._state())))
        pane = self.query_one("#pane", VerticalScroll)
        self.query_one("#panetext", Static).update(self._detail(max(20, (pane.content_size.width or self.size.width) - 2)))

    def _state(self) -> str:
        say, found = fix_speaker(self.language), self._found
        if self._making is not None:
            return say("fix_undoing", seconds=0) if self._changing else outcome(self._making, say)
        if isinstance(found, Told):
            return sentence(found, say)
        if found is None:
            return say("history_reading")
        return say("history_count", count=len(found)) if found else say("history_none")

    def _detail(self, width: int) -> Content:
        from doctor.apply.planshow import history_lines

        say = fix_speaker(self.language)
        if self._making is not None:
            return progress(self._making, say, width)
        one = self._current
        return Content("\n".join(history_lines((one,), say, Style(width)))) if one is not None else Content("")

    def plain_text(self) -> str:
        from doctor.apply.planshow import history_lines

        return "\n".join(history_lines(tuple(reversed(self._transactions)), fix_speaker(self.language), Style(110))) + "\n"

    # Keys

    def on_option_list_option_highlighted(self) -> None:
        if not self._changing:
            self._panes()

    def action_undo(self) -> None:
        one, place = self._current, self._place
        if self._changing:
            self.say("fix_busy")
        elif isinstance(place, Place) and place.why is not None:
            self.notify(sentence(place.why, fix_speaker(self.language)), markup=False, timeout=4)
        elif one is None or not (one.standing or one.open):
            self.say("history_nothing")
        else:
            self.query_one(ConfirmBox).ask(one.ident, self.speak("fix_confirm_undo", transaction=one.ident))

    def on_confirm_box_answered(self, event: ConfirmBox.Answered) -> None:
        self.items.focus()
        place = self._place
        if event.text.lower() not in YES:
            self.say("fix_not_confirmed")
        elif isinstance(place, Place) and not self._changing:
            making = self._making = Making()
            self._changing = True
            self.doctor.makings.append(making)

            fixes = [str(name) for one in self._transactions if one.ident == event.purpose for name in one.told.get("fixes", ())]
            rules = tuple(dict.fromkeys(name.partition("/")[0] for name in fixes))

            def work() -> HistoryScreen.Over:
                making.undo(place, event.purpose)
                return self.Over(rules)

            behind(self, work, "undo")
            self._panes()

    def on_history_screen_over(self, event: Over) -> None:
        self._changing = False
        for rule in event.rules:
            self._undone(rule)
        self.action_again()

    @property
    def stays(self) -> str:
        return "fix_busy" if self._changing else ""

    def leave(self) -> None:
        if self._making is not None:  # from what came of an undo to the list
            self._making = None
            self._panes()
        else:
            super().leave()

    def action_copy(self) -> None:
        self.doctor.copy(self.plain_text() if self._transactions else "")


__all__ = ["HistoryScreen"]
