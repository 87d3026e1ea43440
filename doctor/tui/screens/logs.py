"""Logs: those of a running vLLM, a file or folder by its path, or a pasted text, to be diagnosed.

Contract: what is pasted is cleaned before any widget sees it; a long paste is kept aside, since an editor is slow with it. Looking for logs,
and reading a journal, happen behind the screen.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static, TextArea

from doctor.logscan.sources import Source, SourceError, open_sources
from doctor.report.style import padded, short
from doctor.text import clean, truncate
from doctor.tui.background import behind
from doctor.tui.job import TextJob
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.base import DoctorScreen
from doctor.tui.watch import Watch, WatchedHost
from doctor.tui.widgets.cleaninput import CleanInput
from doctor.tui.widgets.keybar import KeyBar

if TYPE_CHECKING:
    from doctor.facts.vllm_logs import ServerLog
    from doctor.host import Host

LONG = 100_000
"""Characters of a paste from which on the editor shows only its start."""

START = 5_000

JOURNAL_TIMEOUT = 30.0
"""Seconds that a journal may take."""


class PathInput(CleanInput):
    """One line for a path."""


class PasteArea(TextArea):
    """Takes a pasted text of any size."""

    class Kept(Message):
        """A long paste was kept aside."""

    kept = ""

    async def _on_paste(self, event: events.Paste) -> None:
        event.text = clean(event.text)
        if len(self.kept) + len(event.text) < LONG:
            return
        event.prevent_default()
        event.stop()
        self.kept = (self.kept or self.text) + event.text
        self.load_text(self.kept[:START])
        self.read_only = True
        self.post_message(self.Kept())

    @property
    def whole(self) -> str:
        return self.kept or clean(self.text)

    def forget(self) -> None:
        self.kept, self.read_only = "", False
        self.load_text("")


class LogsScreen(DoctorScreen):
    """Asks for a log and opens a checkup of it."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("ctrl+r,f5", "diagnose", "key_diagnose", line=True, priority=True),
        Key("tab", "next_field", "key_next_field", line=True),
        Key("ctrl+n", "clear", "key_clear", line=True, priority=True),
        Key("escape", "back", "key_back", line=True, priority=True),
    )
    BINDINGS = bindings(KEYS)
    AUTO_FOCUS = "#path"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-tall")]

    class Found(Message):
        """The logs of the running servers."""

        def __init__(self, logs: tuple[ServerLog, ...]) -> None:
            super().__init__()
            self.logs = logs

    class Read(Message):
        """A journal, or why there is none."""

        def __init__(self, unit: str, text: str, problem: str) -> None:
            super().__init__()
            self.unit, self.text, self.problem = unit, text, problem

    def __init__(self, host: Host | None = None) -> None:
        super().__init__()
        self._host = host
        self._watch = Watch()
        self._logs: tuple[ServerLog, ...] | None = None if host is not None else ()

    def compose(self) -> ComposeResult:
        yield Static(id="title", classes="headline")
        yield Static(id="path_label")
        yield PathInput(id="path")
        yield Static(id="problem")
        yield Static(id="running_label")
        yield OptionList(id="running", markup=False)
        yield Static(id="paste_label")
        yield PasteArea(id="paste", soft_wrap=False, tab_behavior="focus", show_line_numbers=False)
        yield KeyBar(self.KEYS)

    def on_mount(self) -> None:
        super().on_mount()
        self.query_one("#path", Input).cursor_blink = False  # it would send bytes for ever
        self.query_one(PasteArea).cursor_blink = False
        if (host := self._host) is not None:
            behind(self, lambda: self._look(WatchedHost(host, self._watch)), "logs")

    def on_unmount(self) -> None:
        self._watch.stop()

    def _look(self, host: Host) -> Found:
        """In a thread."""
        from doctor.facts.vllm import vllm_processes
        from doctor.facts.vllm_logs import server_logs

        processes = host.processes()
        return self.Found(server_logs(host, vllm_processes(processes)) if isinstance(processes, tuple) else ())

    def on_logs_screen_found(self, event: Found) -> None:
        self._logs = event.logs
        self._list_running()

    def retell(self) -> None:
        super().retell()
        for name, key in (("title", "logs_title"), ("path_label", "logs_path"), ("paste_label", "logs_paste")):
            self.query_one(f"#{name}", Static).update(Content(self.speak(key)))
        self.query_one("#path", Input).placeholder = self.speak("logs_path_hint")
        self.on_paste_area_kept()
        self._list_running()

    def _list_running(self) -> None:
        """The list of the servers' logs."""
        label, box = self.query_one("#running_label", Static), self.query_one("#running", OptionList)
        key = "logs_looking" if self._logs is None else "logs_running" if self._logs else "logs_none_running"
        label.update(Content(self.speak(key)))
        label.display = self._host is not None
        box.display = bool(self._logs)
        at = box.highlighted
        box.clear_options()
        box.add_options([self._option(log) for log in self._logs or ()])
        box.highlighted = at if at is not None and self._logs else None

    def _option(self, log: ServerLog) -> Content:
        kind = padded(self.speak(f"logs_kind_{log.kind}"), 12)
        why = f"  ({self.speak('logs_why', why=log.why)})" if log.why else ""
        text = f"{kind}{padded(str(log.pid), 9)}{short(log.name, 200)}{why}"
        return Content.styled(truncate(text, max(20, self.size.width - 6), "..."), "dim" if log.why else "")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        log = (self._logs or ())[event.option_index]
        if log.why:
            self._refuse(self.speak(f"logs_refused_{log.why}") if log.why in ("pipe", "terminal") else f"{log.path}: {log.why}")
        elif log.unit:
            self._refuse(self.speak("logs_reading", name=log.unit))
            behind(self, self._reading(log), "journal")
        else:
            self._open(log.path)

    def _reading(self, log: ServerLog) -> Callable[[], Read]:
        def read() -> LogsScreen.Read:
            assert self._host is not None
            output = WatchedHost(self._host, self._watch).run(log.argv, JOURNAL_TIMEOUT)
            text = getattr(output, "stdout", "")
            return self.Read(log.unit, text, "" if text.strip() else getattr(output, "text", "").strip()[:200] or str(output)[:200])

        return read

    def on_logs_screen_read(self, event: Read) -> None:
        self._refuse(event.problem)
        if not event.problem and self.is_current:
            self.doctor.open_checkup(TextJob(f"journal {event.unit}", text=event.text, selection=self.doctor.selection))

    def on_paste_area_kept(self) -> None:
        kept = self.query_one(PasteArea).kept
        told = self.speak("logs_kept", size=len(kept), lines=kept.count("\n") + 1) if kept else self.speak("logs_paste")
        self.query_one("#paste_label", Static).update(Content(told))

    def on_input_submitted(self) -> None:
        self.action_diagnose()

    def action_diagnose(self) -> None:
        path, text = self.query_one("#path", Input).value.strip(), self.query_one(PasteArea).whole
        if path:
            self._open(path)
        elif text.strip():
            self.doctor.open_checkup(TextJob(self.speak("pasted"), text=text, selection=self.doctor.selection))
        else:
            self._refuse(self.speak("logs_nothing"))

    def _open(self, path: str) -> None:
        try:
            if path == "-":  # standard input is the keyboard
                raise SourceError(self.speak("tui_no_stdin"))
            sources = tuple(open_sources([os.path.expanduser(path)]))
        except SourceError as problem:
            self._refuse(str(problem))
            return
        self._refuse("")
        self.doctor.open_checkup(TextJob(label_of(sources), sources, selection=self.doctor.selection))

    def _refuse(self, why: str) -> None:
        self.query_one("#problem", Static).update(Content(clean(why)))

    def action_next_field(self) -> None:
        self.focus_next()

    def action_clear(self) -> None:
        self.query_one("#path", Input).value = ""
        self.query_one(PasteArea).forget()
        self.on_paste_area_kept()
        self._refuse("")


def label_of(sources: tuple[Source, ...]) -> str:
    """The name of what the sources are together."""
    return sources[0].label + (f" +{len(sources) - 1}" if len(sources) > 1 else "")


__all__ = ["LogsScreen", "PasteArea", "label_of"]
