"""Logs: a file or folder by its path, or a pasted text, to be diagnosed.

Contract: what is pasted is cleaned before any widget sees it; a long paste is kept aside, since an editor is slow with it.
"""

from __future__ import annotations

import os
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static, TextArea

from doctor.logscan.sources import Source, SourceError, open_sources
from doctor.text import clean, clean_line
from doctor.tui.job import TextJob
from doctor.tui.keys import Key, bindings
from doctor.tui.screens.base import DoctorScreen
from doctor.tui.widgets.keybar import KeyBar

LONG = 100_000
"""Characters of a paste from which on the editor shows only its start."""

START = 5_000


class PathInput(Input):
    """One line for a path; what is pasted into it is cleaned."""

    def _on_paste(self, event: events.Paste) -> None:
        event.text = clean_line(event.text)  # the widget's own handler comes next, and takes it from here


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
        Key("ctrl+l", "clear", "key_clear", line=True, priority=True),
        Key("escape", "back", "key_back", line=True, priority=True),
    )
    BINDINGS = bindings(KEYS)

    def compose(self) -> ComposeResult:
        yield Static(id="title", classes="headline")
        yield Static(id="path_label")
        yield PathInput(id="path")
        yield Static(id="problem")
        yield Static(id="paste_label")
        yield PasteArea(id="paste", soft_wrap=False, tab_behavior="focus", show_line_numbers=False)
        yield KeyBar(self.KEYS)

    def retell(self) -> None:
        super().retell()
        for name, key in (("title", "logs_title"), ("path_label", "logs_path"), ("paste_label", "logs_paste")):
            self.query_one(f"#{name}", Static).update(Content(self.speak(key)))
        self.query_one("#path", Input).placeholder = self.speak("logs_path_hint")
        self.on_paste_area_kept()

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

    def action_clear(self) -> None:
        self.query_one("#path", Input).value = ""
        self.query_one(PasteArea).forget()
        self.on_paste_area_kept()
        self._refuse("")


def label_of(sources: tuple[Source, ...]) -> str:
    """The name of what the sources are together."""
    return sources[0].label + (f" +{len(sources) - 1}" if len(sources) > 1 else "")


__all__ = ["LogsScreen", "PasteArea", "label_of"]
