"""The bundle before it is written: every item with its size and how much was masked; items can be left out; then it is written to a new file.

Contract: looking, masking and writing happen behind the screen; nothing is on the disk before the user has named the file.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from doctor.bundle.telling import counts, human
from doctor.bundle.words import WORDS as BUNDLE_WORDS
from doctor.locale import Speak, room_speaker
from doctor.report.style import Style, padded, short
from doctor.text import cell_width, clean_line, truncate
from doctor.tui.background import behind
from doctor.tui.bundlejob import PROFILES, Written, gathered, written
from doctor.tui.fixjob import Told
from doctor.tui.job import HostJob, Job
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.paned import PanedScreen
from doctor.tui.watch import Watch
from doctor.tui.widgets.confirmbox import ConfirmBox
from doctor.tui.widgets.keybar import KeyBar
from doctor.tui.words import WORDS

if TYPE_CHECKING:
    from doctor.bundle.gather import Gathered, Item

LEAST_NAME = 20
"""Cells of an item's name."""


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
    AUTO_FOCUS = "#items"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]

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
    def _say(self) -> Speak:
        return room_speaker({**WORDS, **BUNDLE_WORDS}, self.language)

    def compose(self) -> ComposeResult:
        yield Static(id="title", classes="headline")
        yield Static(id="state")
        with Container(id="bundle"):
            yield OptionList(id="items", markup=False)
            with VerticalScroll(id="pane", can_focus=False):
                yield Static(id="panetext")
        yield ConfirmBox()
        yield KeyBar(self.KEYS)

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
        self.query_one("#items").focus()
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
        items, at = self.query_one("#items", OptionList), self.query_one("#items", OptionList).highlighted or 0
        lines = self._lines(max(40, (items.content_size.width or self.size.width) - 2))
        if len(lines) == items.option_count:
            for index, line in enumerate(lines):
                items.replace_option_prompt_at_index(index, line)
        else:
            items.clear_options()
            items.add_options([Option(line) for line in lines])
            items.highlighted = min(at, len(lines) - 1) if lines else None
        self._panes()

    def _panes(self) -> None:
        self._head()
        side = self.query_one("#pane", VerticalScroll)
        width = max(20, (side.content_size.width or self.size.width) - 2)
        self.query_one("#panetext", Static).update(Content("\n").join(list(self._detail(Style(width)))))

    def _head(self) -> None:
        say = self._say
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
        items = self._gathered.items if self._gathered is not None else ()
        kept = [item for item in items if item.id not in self._gone]
        told = say("bundle_ready", on=len(kept), all=len(items), size=human(sum(item.size for item in kept)))
        return f"{told}. {say('bundle_raw')}" if self._profile == "raw" else told

    def _lines(self, width: int) -> list[Content]:
        """Every item: in or out, its name, its size, how much of it was masked."""
        items = self._gathered.items if self._gathered is not None else ()
        sums = {item.id: f"{self._say('masked')} {sum(item.masked.values()):,}" if any(item.masked.values()) else "" for item in items}
        last = max(map(cell_width, sums.values()), default=0)
        name = min(max((cell_width(clean_line(item.id)) for item in items), default=0), max(LEAST_NAME, width - 4 - 11 - 2 - last))
        lines = []
        for item in items:
            gone = item.id in self._gone
            text = f"{'[ ]' if gone else '[x]'} {padded(_middle(clean_line(item.id), name), name)} {human(item.size):>10}  {self._say('left_out_mark') if gone else sums[item.id]}"
            lines.append(Content.styled(text, "dim" if gone else ""))
        return lines

    @property
    def _item(self) -> Item | None:
        at, items = self.query_one("#items", OptionList).highlighted, self._gathered.items if self._gathered is not None else ()
        return items[at] if at is not None and at < len(items) else None

    def _detail(self, style: Style) -> Iterator[Content]:
        say, chosen, item = self._say, self._chosen, self._item
        if chosen is None:
            return
        if item is not None:
            yield from (Content.styled(line, "bold") for line in style.lines(item.id, ""))
            yield from self._told(say("size"), human(item.size), style)
            yield from self._told(say("masked"), counts(item.masked, say) or "-", style)
            if item.lacking:
                yield from self._told(say("lacking"), ", ".join(f"{count} {reason}" for reason, count in sorted(item.lacking.items())), style)
            if item.left_out:
                yield from self._told("", say("lines_left_out", count=item.left_out), style)
        yield Content("")
        yield Content.styled(say("bundle_whole"), "bold")
        yield from self._told(say("masked"), counts(chosen.masked, say) or "-", style)
        for problem in chosen.problems:
            yield from (Content.styled(line, "bold $text-warning") for line in style.lines(problem, "  ", ""))

    @staticmethod
    def _told(label: str, text: str, style: Style) -> Iterator[Content]:
        head = f"{label}: " if label else ""
        for index, line in enumerate(style.lines(text, "  ", head)):
            cut = len(head) if not index and line.startswith(head) else 0
            yield Content.assemble((line[:cut], "dim"), line[cut:])

    def plain_text(self) -> str:
        return "\n".join([self._state(self._say), "", *(line.plain for line in self._lines(110)), "", *(line.plain for line in self._detail(Style(110)))]) + "\n"

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

    def action_back(self) -> None:
        box = self.query_one(ConfirmBox)
        if box.is_open:
            box.close()
            self.query_one("#items").focus()
        elif self._writing:
            self.say("not_yet")
        else:
            super().action_back()

    def action_copy(self) -> None:
        self.doctor.copy(self.plain_text())


def _middle(text: str, cells: int) -> str:
    """Cut in its middle where it is too long: the end of a path tells more than its start."""
    if cell_width(text) <= cells:
        return text
    head = truncate(text, cells // 3, "")
    tail = ""
    for char in reversed(text):
        if cell_width(head) + 3 + cell_width(tail) + cell_width(char) > cells:
            break
        tail = char + tail
    return f"{head}...{tail}"


__all__ = ["BundleScreen"]
