"""A running server over time: the verdict and when memory ends, a line with its history for every class, the plot of the one under the cursor.

Contract: looks follow each other in threads, never two at a time, and end when the screen is left; nothing is written, nothing judged here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from doctor.report.style import short
from doctor.text import clean_line, truncate
from doctor.tui.background import behind
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.paned import SplitScreen
from doctor.tui.watch import Stopped
from doctor.tui.watchjob import FileSource, Seen, Source
from doctor.tui.watchview import WatchView
from doctor.tui.widgets.confirmbox import ConfirmBox
from doctor.tui.widgets.textview import TextView


class WatchScreen(SplitScreen):
    """Watches what `opening` gives."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("escape,left", "back", "key_back", line=True),
        Key("r", "again", "key_look", line=True),
        Key("space", "hold", "key_hold", line=True),
        Key("e", "explain", "key_explain", line=True),
        Key("l", "report", "key_watch_report", line=True),
        Key("o", "open", "key_watch_open", line=True),
        Key("y", "copy", "key_copy", line=True),
        Key("right_square_bracket", "detail_down", "key_detail_down"),
        Key("left_square_bracket", "detail_up", "key_detail_up"),
    )
    BINDINGS = bindings(KEYS)

    class Looked(Message):
        """One look is over."""

        def __init__(self, source: Source | None, seen: Seen | None, problem: str = "") -> None:
            super().__init__()
            self.source, self.seen, self.problem = source, seen, problem

    def __init__(self, label: str, opening: Callable[[], Source]) -> None:
        super().__init__()
        self._label, self._opening = label, opening
        self._source: Source | None = None
        self._seen: Seen | None = None
        self._problem = ""
        self._looking = self._held = self._left = False
        self._next: Timer | None = None

    def on_mount(self) -> None:
        super().on_mount()
        self._begin()

    def on_unmount(self) -> None:
        self._left = True
        if self._source is not None:
            self._source.stop()

    # Looking

    def _begin(self) -> None:
        """Starts a look unless one is under way."""
        if self._next is not None:
            self._next.stop()
            self._next = None
        if not self._looking:
            self._looking = True
            behind(self, self._look, "watch")
            self._head()

    def _look(self) -> Looked:
        """In the thread."""
        try:
            source = self._source = self._source or self._opening()
            if self._left:
                raise Stopped
            return self.Looked(source, source.look())
        except OSError as problem:
            return self.Looked(self._source, None, f"{problem.filename or ''} {problem.strerror or problem}".strip())
        except Exception as problem:  # noqa: BLE001  a bug of ours must not end the app; it is told
            return self.Looked(self._source, None, f"{type(problem).__name__}: {problem}")

    def on_watch_screen_looked(self, event: Looked) -> None:
        self._looking, self._problem = False, event.problem
        self._seen = event.seen or self._seen
        self._show()
        if event.source is not None and event.source.every and not self._held:
            self._next = self.set_timer(event.source.every, self._begin)

    # What is seen

    def retell(self) -> None:
        super().retell()
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    @property
    def _view(self) -> WatchView | None:
        return WatchView(self._seen, self.language, self.doctor.glyphs) if self._seen is not None else None

    def _show(self) -> None:
        self._head()
        self._list()
        self._side()
        self.call_after_refresh(self._side)  # the lines above it may have taken or left room

    def _head(self) -> None:
        view = self._view
        parts = [self.speak("watch_title"), short(self._source.label if self._source is not None else self._label, 40)]
        parts += [view.progress()] if view is not None else []
        parts += [self.speak("npus_held")] if self._held else []
        parts += [self.speak("watch_recorded")] if self._source is not None and not self._source.every else []
        self.query_one("#title", Static).update(Content(truncate("  ".join(map(clean_line, parts)), self.size.width - 2, "...")), layout=False)
        told = self.speak("watch_broke", why=self._problem) if self._problem else view.headline() if view is not None else self.speak("watch_looking")
        self.query_one("#state", Static).update(Content(clean_line(told)))

    def _list(self) -> None:
        lines = self._view.lines(max(20, self.size.width - 4)) if self._view is not None else []
        self.refill(lines, self._view.worst if self._view is not None else 0)

    @property
    def _at(self) -> int:
        return self.items.highlighted or 0

    def _side(self) -> None:
        side, view = self.query_one(TextView), self._view
        if view is not None:
            before = side.scroll_offset.y
            side.show(view.detail(self._at, side.room, side.size.height))
            side.scroll_to(y=before, animate=False)

    def on_option_list_option_highlighted(self) -> None:
        self._side()

    def plain_text(self) -> str:
        return self._view.plain(self._label) if self._view is not None else ""

    # Keys

    def action_again(self) -> None:
        self._begin()

    def action_hold(self) -> None:
        self._held = not self._held
        if self._held and self._next is not None:
            self._next.stop()
            self._next = None
        elif not self._held and self._source is not None and self._source.every:
            self._begin()
        self._head()

    def action_explain(self) -> None:
        causes = self._seen.result.causes if self._seen is not None else ()
        if causes:
            self.doctor.explain(causes[0].finding.rule)
        else:
            self.say("watch_no_cause")

    def action_report(self) -> None:
        """All of it, as the command tells it at its end."""
        from doctor.tui.screens.page import PageScreen
        from doctor.tui.watchview import watch_speaker
        from doctor.watch.render import render

        seen, label = self._seen, self._label
        if seen is None:
            self.say("watch_looking")
            return
        problems = dict(seen.problems)
        self.app.push_screen(PageScreen(lambda language, style: render(seen.result, style, watch_speaker(language), language, host=label, problems=problems).split("\n")))

    def action_copy(self) -> None:
        view = self._view
        self.doctor.copy("\n".join([view.headline(), *(line.plain.rstrip() for line in view.lines(100)), view.detail(self._at, 100, 24).plain]) if view is not None else "")

    def action_open(self) -> None:
        """Samples that were recorded, as with `doctor watch --from FILE`."""
        self._ask(self.speak("watch_open"), "")

    def _ask(self, question: str, path: str) -> None:
        self.query_one(ConfirmBox).ask("samples", question, path)

    def on_confirm_box_answered(self, event: ConfirmBox.Answered) -> None:
        path = Path(os.path.expanduser(event.text))
        if not event.text or path.is_file():
            self.items.focus()
        if path.is_file():
            self.app.push_screen(WatchScreen(path.name, lambda: FileSource(path)))
        elif event.text:  # it can be mended where it stands
            self._ask(f"{self.speak('watch_no_file', path=event.text)} {self.speak('watch_open')}", event.text)


__all__ = ["WatchScreen"]
