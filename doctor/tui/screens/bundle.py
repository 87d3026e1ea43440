"""The bundle before it is written: every item with its size and how much was masked; items can be left out; then it is written to a new file.

Contract: looking, masking and writing happen behind the screen; nothing is on the disk before the user has named the file.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, ClassVar

from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from doctor.bundle.telling import human
from doctor.locale import Speak
from doctor.report.style import Style, short
from doctor.text import clean_line, truncate
from doctor.tui.background import behind
from doctor.tui.bundlejob import PROFILES, Written, gathered, written
from doctor.tui.bundleview import BundleView, bundle_speaker
from doctor.tui.job import HostJob, Job
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.paned import PanedScreen
from doctor.tui.told import Told
from doctor.tui.watch import Watch
from doctor.tui.widgets.confirmbox import ConfirmBox

if TYPE_CHECKING:
    from doctor.bundle.gather import Gathered, Item


class BundleScreen(PanedScreen):
    """Gathers what is known of a job's machine and offers it."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("W,ctrl+w", "write", "key_write", line=True),
        Key("space", "item", "key_item", line=True),
        Key("M", "profile", "key_profile", line=True),
        Key("escape,left", "back", "key_back", line=True),
        Key("r", "again", "key_look", line=True),
        Key("y", "copy", "key_copy"),
        Key("right_square_bracket", "detail_down", "key_detail_down"),
        Key("left_square_bracket", "detail_up", "key_detail_up"),
    )
    BINDINGS = bindings(KEYS)

    class Ready(Message):
        """What was gathered."""

        def __init__(self, watch: Watch, found: Gathered | Told) -> None:
            super().__init__()
            self.watch, self.found = watch, found

    class Done(Message):
        """A file, or why there is none."""

        def __init__(self, result: Written | Told) -> None:
            super().__init__()
            self.result = result

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job
        self._profile = PROFILES[0]
        self._gathered: Gathered | None = None
        self._gone: frozenset[str] = frozenset()
        self._watch: Watch | None = None
        self._problem: Told | None = None
        self._written: Written | None = None
        self._writing = False
        self._timer: Timer | None = None

    @property
    def _view(self) -> BundleView:
        return BundleView(self._chosen, self.language)

    def on_mount(self) -> None:
        super().on_mount()
        self._timer = self.set_interval(self.doctor.pace.tick, self._head, pause=True)
        self._gather()

    def on_unmount(self) -> None:
        if self._watch is not None:
            self._watch.stop()

    # Gathering and writing

    def _gather(self) -> None:
        job, profile, language = self._job, self._profile, self.language
        if self._watch is not None:
            self._watch.stop()
        self._gathered, self._problem, self._written = None, None, None
        if not isinstance(job, HostJob):
            self._problem = Told("bundle_log_only")
            self._show()
            return
        watch = self._watch = Watch()

        def work() -> BundleScreen.Ready:
            try:
                return self.Ready(watch, gathered(job, profile, language, watch))
            except Exception as problem:  # noqa: BLE001  a bug of ours must not end the app; nothing is written then
                return self.Ready(watch, Told("fix_failed", {"why": short(f"{type(problem).__name__}: {problem}", 300)}))

        behind(self, work, "bundle")
        if self._timer is not None:
            self._timer.resume()
        self._show()

    def on_bundle_screen_ready(self, event: Ready) -> None:
        if event.watch is not self._watch:
            return
        self._watch = None
        if self._timer is not None:
            self._timer.pause()
        if isinstance(event.found, Told):
            self._problem = event.found
        else:
            self._gathered = event.found
            self._gone = self._gone & {item.id for item in event.found.items}
        self._show()

    def on_confirm_box_answered(self, event: ConfirmBox.Answered) -> None:
        self.items.focus()
        chosen = self._chosen
        if chosen is None or not event.text or self._writing:
            return
        path = self.doctor.folder / os.path.expanduser(event.text)
        self._writing, self._problem, self._written = True, None, None
        behind(self, lambda: self.Done(written(chosen, path)), "bundle")
        self._head()

    def on_bundle_screen_done(self, event: Done) -> None:
        self._writing = False
        if isinstance(event.result, Told):
            self._problem = event.result
        else:
            self._written = event.result
        self._show()

    @property
    def _chosen(self) -> Gathered | None:
        """What was gathered, without what is left out."""
        from dataclasses import replace

        return replace(self._gathered, gone=self._gone) if self._gathered is not None else None

    # What is seen

    def retell(self) -> None:
        super().retell()
        self._show()

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        self.refill(self._view.lines(max(40, (self.items.content_size.width or self.size.width) - 2)))
        self._panes()

    def _panes(self) -> None:
        self._head()
        side = self.query_one("#pane", VerticalScroll)
        width = max(20, (side.content_size.width or self.size.width) - 2)
        self.query_one("#panetext", Static).update(Content("\n").join(list(self._view.detail(self._item, Style(width)))))

    def _head(self) -> None:
        say = bundle_speaker(self.language)
        parts = [say("bundle_title"), short(self._job.label, 40), say("bundle_profile", name=self._profile)]
        self.query_one("#title", Static).update(Content(truncate("  ".join(map(clean_line, parts)), self.size.width - 2, "...")))
        self.query_one("#state", Static).update(Content(clean_line(self._state(say))))

    def _state(self, say: Speak) -> str:
        if self._problem is not None:
            return say(self._problem.key, **self._problem.values)
        if self._watch is not None:
            return say("bundle_gathering", done=len(self._watch.verdicts), total=self._watch.total or "?", seconds=self._watch.seconds)
        if self._writing:
            return say("bundle_writing")
        if (done := self._written) is not None:
            return say("written", file=done.path, size=human(done.size), members=done.members, profile=done.profile, quoted=shlex.quote(done.path))
        return self._view.ready(self._profile)

    @property
    def _item(self) -> Item | None:
        at, items = self.items.highlighted, self._view.items
        return items[at] if at is not None and at < len(items) else None

    def plain_text(self) -> str:
        return "\n".join([self._state(self._view.say), "", *(line.plain for line in self._view.lines(110)), "", *(line.plain for line in self._view.detail(self._item, Style(110)))]) + "\n"

    # Keys

    def on_option_list_option_highlighted(self) -> None:
        self._panes()

    def on_option_list_option_selected(self) -> None:
        self.action_item()

    def action_item(self) -> None:
        item = self._item
        if item is not None and not self._writing:
            self._gone, self._written, self._problem = self._gone ^ {item.id}, None, None
            self._show()

    def action_profile(self) -> None:
        if not self._writing:
            self._profile = PROFILES[(PROFILES.index(self._profile) + 1) % len(PROFILES)]
            self._gather()

    def action_again(self) -> None:
        if not self._writing:
            self._gather()

    def action_write(self) -> None:
        chosen = self._chosen
        if chosen is None or self._writing:
            self.say("not_yet")
        elif all(item.id in self._gone for item in chosen.items):
            self.say("bundle_empty")
        else:
            from doctor.bundle.pack import default_name

            self.query_one(ConfirmBox).ask("write", self.speak("bundle_where"), default_name(chosen.time, chosen.profile))

    @property
    def stays(self) -> str:
        return "not_yet" if self._writing else ""

    def action_copy(self) -> None:
        self.doctor.copy(self.plain_text())


__all__ = ["BundleScreen"]
