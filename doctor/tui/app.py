"""The app: language, theme, what every screen can do (help, save, copy, leave), and which screen opens which."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.command import CommandPalette
from textual.screen import Screen
from textual.theme import Theme

from doctor.locale import Speak
from doctor.record import dataclass
from doctor.text import clean
from doctor.tui.driver import FrugalDriver, TerminalDriver
from doctor.tui.frugal import Painted
from doctor.tui.glyphs import UNICODE, Glyphs
from doctor.tui.job import Job
from doctor.tui.keys import COMMON, bindings
from doctor.tui.palette import DoctorCommands
from doctor.tui.screens.base import DoctorScreen
from doctor.tui.terminal import THEMES
from doctor.tui.widgets.filterbox import FilterBox
from doctor.tui.widgets.scrollbars import set_scroll_bars
from doctor.tui.words import speaker

if TYPE_CHECKING:
    from doctor.examine import Selection
    from doctor.finding import Evidence
    from doctor.report.model import Report
    from doctor.tui.fixjob import Making


@dataclass(frozen=True)
class Pace:
    """How often the app paints: seconds between looks at a running examination, seconds that the cursor rests before its detail is shown."""

    tick: float
    rest: float
    frugal: bool
    """Whether only what changed is sent."""


BRISK, SLOW = Pace(0.1, 0.0, False), Pace(1.0, 0.2, True)

HIGH_CONTRAST = Theme(
    "high-contrast", primary="#ffff00", secondary="#ff9cff", warning="#ffff00", error="#ff8080", success="#00ff00", accent="#00ffff",
    foreground="#ffffff", background="#000000", surface="#000000", panel="#000000", dark=True,
    variables={"block-cursor-foreground": "#000000", "block-cursor-background": "#ffff00", "text-muted": "#ffffff"},
)  # fmt: skip


class DoctorApp(App[None]):
    """Shows a job's checkup. `folder` is where things are saved."""

    TITLE = "ascend-doctor"
    CSS_PATH = "doctor.tcss"
    COMMANDS = {DoctorCommands}
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[Any]] = [*bindings(COMMON), Binding("ctrl+c", "quit", show=False, priority=True)]

    def __init__(
        self, job: Job, language: str = "en", theme: str = THEMES[0], selection: Selection | None = None, *, pace: Pace = BRISK, glyphs: Glyphs = UNICODE, note: str = "",
        read_only: bool = False, unsafe: str = "",
    ) -> None:
        super().__init__(driver_class=FrugalDriver if pace.frugal else TerminalDriver)
        self.job = job
        self.language = language
        self.pace = pace
        self.glyphs = glyphs
        self.painted = Painted()
        self._opening_note = note
        self.selection = selection
        self.folder = Path()
        self.read_only = read_only
        """Nothing that changes the machine is offered."""
        self.unsafe = unsafe
        self.endings: list[threading.Event] = []
        """Of every run that was told to stop: set when its children have ended."""
        self.makings: list[Making] = []
        """Every apply and undo of this run: it may not end while one of them is under way."""
        self.register_theme(HIGH_CONTRAST)
        self.theme = theme

    @property
    def speak(self) -> Speak:
        return speaker(self.language)

    def on_mount(self) -> None:
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            for sign in (signal.SIGTERM, signal.SIGHUP):
                with contextlib.suppress(NotImplementedError, RuntimeError):
                    loop.add_signal_handler(sign, self.exit)
        set_scroll_bars(ascii_only=self.glyphs.ascii_only)
        self.open_checkup(self.job)
        if self._opening_note:
            self.call_after_refresh(self._note, self._opening_note)

    def on_key(self, event: events.Key) -> None:
        """Keys that no widget wanted."""
        for box in self.screen.query(FilterBox):
            box.take(event)

    def on_resize(self) -> None:
        self.painted.forget()

    # Screens; each module is imported when it is opened.

    def open_checkup(self, job: Job) -> None:
        from doctor.tui.screens.checkup import CheckupScreen

        self.push_screen(CheckupScreen(job))

    def open_logs(self) -> None:
        from doctor.tui.job import HostJob
        from doctor.tui.screens.logs import LogsScreen

        live = isinstance(self.job, HostJob) and self.job.host.live
        self.push_screen(LogsScreen(self.job.host if live and isinstance(self.job, HostJob) else None))

    def open_npus(self, job: Job, report: Report | None) -> None:
        from doctor.tui.cards import Look, look, told
        from doctor.tui.job import HostJob
        from doctor.tui.screens.npus import NpusScreen
        from doctor.tui.watch import Watch, WatchedHost

        def looking(watch: Watch) -> Look:
            if isinstance(job, HostJob):
                return look(WatchedHost(job.host, watch))
            return told(report.examination.facts) if report is not None else Look(problem=self.speak("not_yet"), recorded=True)

        self.push_screen(NpusScreen(job.label, looking))

    def open_evidence(self, job: Job, evidence: Sequence[Evidence]) -> None:
        from doctor.tui.screens.evidence import EvidenceScreen, opened

        found = opened(job, evidence)
        if found is None:
            self._note("no_source", source=evidence[0].source) if evidence else self._note("no_evidence")
        else:
            self.push_screen(EvidenceScreen(*found))

    def open_fix(self, job: Job, report: Report | None, rule: str) -> None:
        """The plan of a rule's fix; whoever shows this job's findings looks at the rule again once it was applied or undone."""
        from doctor.tui.fixjob import place_of
        from doctor.tui.screens.fixes import FixScreen

        if not self.read_only:
            self.push_screen(FixScreen(place_of(job, report, self.unsafe), rule, self._looking_again(job)))

    def open_history(self, job: Job, report: Report | None) -> None:
        from doctor.tui.fixjob import place_of
        from doctor.tui.screens.history import HistoryScreen

        self.push_screen(HistoryScreen(place_of(job, report, self.unsafe), self._looking_again(job)))

    def _looking_again(self, job: Job) -> Callable[[str], None]:
        """Tells whoever shows this job's findings that a rule may judge otherwise now."""
        from doctor.tui.screens.checkup import CheckupScreen

        def again(rule: str) -> None:
            for screen in self.screen_stack:
                if isinstance(screen, CheckupScreen) and screen.job is job:
                    screen.look_again(rule)

        return again

    def open_bundle(self, job: Job) -> None:
        from doctor.tui.screens.bundle import BundleScreen

        self.push_screen(BundleScreen(job))

    @property
    def live(self) -> bool:
        """Whether this machine itself is looked at, so that something can be run and watched."""
        from doctor.tui.job import HostJob

        return isinstance(self.job, HostJob) and self.job.host.live and self.job.root in ("", "/")

    def open_smoke(self) -> None:
        from doctor.tui.job import HostJob
        from doctor.tui.screens.smoke import SmokeScreen
        from doctor.tui.smokejob import Bench

        if isinstance(self.job, HostJob) and self.live and not self.read_only:
            self.push_screen(SmokeScreen(self.job.label, Bench(self.job.host, self.job.python, self.job.timeout_scale)))

    def open_watch(self) -> None:
        from doctor.tui.job import HostJob
        from doctor.tui.screens.watching import WatchScreen
        from doctor.tui.watchjob import source_of

        if isinstance(self.job, HostJob) and self.live:
            host = self.job.host
            self.push_screen(WatchScreen(self.job.label, lambda: source_of(host, os.environ)))

    def explain(self, rule_id: str) -> None:
        """The page of a rule."""
        from doctor.report.page import rule_page
        from doctor.rulebook import load
        from doctor.tui.screens.page import PageScreen

        rule = load().rules.get(rule_id)
        if rule is not None:
            self.push_screen(PageScreen(lambda language, style: rule_page(rule, language, style)))

    def explain_code(self, code: str) -> None:
        """The page of an error code."""
        from doctor.errorcodes import explain
        from doctor.report.page import code_page, mentions
        from doctor.rulebook import load
        from doctor.tui.screens.page import PageScreen

        entries, rules = explain(code), load().rules
        dealing = list(dict.fromkeys(name for entry in entries for name in mentions(entry.code, rules.values())))
        self.push_screen(PageScreen(lambda language, style: code_page(entries, rules, dealing, language, style)))

    # What every screen can do

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        return ()

    def action_command_palette(self) -> None:
        if not any(isinstance(screen, CommandPalette) for screen in self.screen_stack):
            self.push_screen(CommandPalette(placeholder=self.speak("palette_placeholder")))

    def action_help(self) -> None:
        from doctor.tui.screens.help import help_page
        from doctor.tui.screens.page import PageScreen

        keys = self.screen.offered if isinstance(self.screen, DoctorScreen) else ()
        self.push_screen(PageScreen(help_page(keys)))

    async def action_quit(self) -> None:
        if any(isinstance(screen, DoctorScreen) and screen.busy for screen in self.screen_stack):
            self._note("fix_busy")
        else:
            self.exit()

    def action_switch_language(self) -> None:
        self.language = "en" if self.language == "zh" else "zh"
        for screen in self.screen_stack:
            if isinstance(screen, DoctorScreen):
                screen.retell()

    def action_next_theme(self) -> None:
        at = THEMES.index(self.theme) if self.theme in THEMES else -1
        self.theme = THEMES[(at + 1) % len(THEMES)]
        self._note("theme_is", name=self.theme)

    def action_save_text(self) -> None:
        text = self.screen.plain_text() if isinstance(self.screen, DoctorScreen) else ""
        self._save(text, "txt") if text else self._note("not_yet")

    def action_save_svg(self) -> None:
        self._save(self.export_screenshot(title="ascend-doctor"), "svg")

    def _save(self, text: str, suffix: str) -> None:
        """Into a new file of the folder, never over another one."""
        name = re.sub(r"[^\w.-]+", "-", self.job.label)[-40:].strip("-.") or "report"
        path = self.folder / f"doctor-{name}-{datetime.now().strftime('%Y%m%d-%H%M%S-%f')}.{suffix}"
        try:
            with open(path, "x", encoding="utf-8") as file:
                file.write(text)
        except (OSError, ValueError) as problem:
            self._note("not_saved", why=getattr(problem, "strerror", None) or problem)
        else:
            self._note("saved", path=os.path.abspath(path))

    def copy(self, text: str) -> None:
        """To the terminal's clipboard; only ever because the user asked."""
        if not text.strip():
            self._note("nothing_to_copy")
            return
        self.copy_to_clipboard(clean(text))
        self._note("copied", lines=len(text.strip().split("\n")))

    def _note(self, key: str, **values: object) -> None:
        self.notify(clean(self.speak(key, **values)), markup=False, timeout=4)


__all__ = ["BRISK", "DoctorApp", "Pace", "SLOW", "THEMES"]
