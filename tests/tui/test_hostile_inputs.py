"""What is pasted into any input is text and nothing else: no markup, no escapes, no reordering, on the screen or behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.widgets import Input

from doctor.finding import Evidence
from doctor.text import cell_width, clean
from doctor.tui.fixinputs import BY_KIND, NOTHING_GIVEN, choices_of
from doctor.tui.fixview import fix_speaker
from doctor.tui.job import TextJob
from doctor.tui.screens.evidence import EvidenceScreen
from doctor.tui.screens.inputs import InputsScreen
from doctor.tui.screens.smoke import SmokeScreen
from doctor.tui.screens.watching import WatchScreen
from doctor.tui.watchjob import LiveSource
from tests.smoke.test_run import step
from tests.tui.driving import Driven, drive
from tests.tui.made import MadeJob, report
from tests.tui.test_smoke_screen import Made
from tests.watch.fakehost import FakeHost

HOSTILE = "[/nope][red]x[@click=app.quit]y[/] \x1b]0;owned\x07\x1b[2J\x00\u202e\u200babc 中文 {why} {0} %s " + "z" * 500 + "\r\nrm -rf /\n"


async def pasted(driven: Driven, box: Input) -> None:
    driven.app.screen.set_focus(box)
    box.value = ""
    box.post_message(events.Paste(HOSTILE))
    await driven.pilot.pause()
    assert box.value and clean(box.value) == box.value and "\n" not in box.value and "owned" not in box.value


def harmless(driven: Driven, columns: int = 80) -> None:
    assert driven.app.is_running and not driven.app._exit
    assert clean(driven.text) == driven.text and "owned" not in driven.text
    assert {cell_width(line) for line in driven.lines} == {columns}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_smoke_inputs(language: str) -> None:
    bench = Made(step("device", "pass"))

    async def act(driven: Driven) -> None:
        screen = SmokeScreen("[/nope]host", bench)
        await driven.app.push_screen(screen)
        await driven.until("ctrl+a")
        await driven.press("i")
        inputs = driven.app.screen
        assert isinstance(inputs, InputsScreen)
        for number, field in enumerate(inputs._fields):
            if field.choices:
                continue
            inputs.items.highlighted = number
            await driven.press("enter")
            await pasted(driven, inputs.query_one("#answer", Input))
            await driven.press("enter")
            harmless(driven)
            await driven.press(*(["escape"] if driven.app.focused is not inputs.items else []))
        await driven.press("L", "L", "y", "escape")
        await driven.pilot.pause()
        harmless(driven)
        assert driven.app.screen is screen and "[/nope][red]x" in screen._asked["model"], "a name that is no path is taken as it is"

    drive(MadeJob(report()), act, language=language)
    assert [asked["seconds"] for asked in bench.asked] == ["20", "20"], "what is no number was refused"


def test_fix_inputs(tmp_path: Path) -> None:
    fields = tuple(dict.fromkeys(field for some in BY_KIND.values() for field in some))
    given: dict[str, str] = {}

    async def act(driven: Driven) -> None:
        inputs = InputsScreen("inputs_fix", fields, NOTHING_GIVEN, fix_speaker, given.update)
        await driven.app.push_screen(inputs)
        await driven.pilot.pause()
        for number, field in enumerate(fields):
            if not field.choices:
                inputs.items.highlighted = number
                await driven.press("enter")
                await pasted(driven, inputs.query_one("#answer", Input))
                await driven.press("enter")
                harmless(driven)
                await driven.press(*(["escape"] if driven.app.focused is not inputs.items else []))
        await driven.press("escape")

    drive(MadeJob(report()), act)
    assert set(given) == {"form", "online", "unit"}, "a path, a folder and a process that are none were refused"
    assert choices_of(given).pids == ()


def test_other_inputs() -> None:
    async def act(driven: Driven) -> None:
        watch = WatchScreen("[/nope]", lambda: LiveSource(FakeHost()))
        await driven.app.push_screen(watch)
        await driven.press("o")
        await pasted(driven, watch.query_one("#answer", Input))
        await driven.press("enter")
        harmless(driven)
        await driven.press("escape", "escape")
        viewer: Any = EvidenceScreen(TextJob("x", text="one\ntwo"), Evidence("x", "one", 1))
        await driven.app.push_screen(viewer)
        await driven.until("line 1 of 2")
        await driven.press("slash")
        await pasted(driven, viewer.query_one("#filter", Input))
        await driven.press("enter")
        harmless(driven)
        assert driven.notes[-1].startswith("Not found: [/nope][red]x")

    drive(MadeJob(report()), act)
