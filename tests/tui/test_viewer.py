"""The viewer: any line at once, wrapped or not, and what is sought is seen."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.finding import Evidence
from doctor.logscan.sources import open_sources
from doctor.text import cell_width
from doctor.tui.job import TextJob
from doctor.tui.lines import BLOCK, FileLines
from doctor.tui.screens.evidence import EvidenceScreen
from doctor.tui.widgets.linesview import LinesView, pieces
from tests.tui.driving import PATIENCE, Driven, drive
from tests.tui.made import MadeJob, report

MEGABYTE = 1_000_000

SCROLL_BAR = " ▁▂▃▄▅▆▇"


def log(folder: Path, *lines: str) -> TextJob:
    path = folder / "serve.log"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return TextJob("serve.log", tuple(open_sources([str(path)])))


def viewer(job: TextJob, line: int) -> EvidenceScreen:
    return EvidenceScreen(job, Evidence(job.sources[0].label, "text", line))


async def opened(driven: Driven, job: TextJob, line: int) -> LinesView:
    await driven.app.push_screen(viewer(job, line))
    await driven.until(f" line {line:,} of ")
    await driven.pilot.pause()
    return driven.app.screen.query_one(LinesView)


def test_long_lines_wrap_at_a_key_and_nothing_of_them_is_lost(tmp_path: Path) -> None:
    long = "start " + "中文 words " * 40 + "end-of-line"

    async def act(driven: Driven) -> None:
        await opened(driven, log(tmp_path, "one", long, "three"), 2)
        assert "end-of-line" not in driven.text
        await driven.press("w")
        shown = "".join(line[5:].rstrip(SCROLL_BAR) for line in driven.lines)
        assert "end-of-line" in shown and "three" in driven.text
        assert {cell_width(line) for line in driven.lines} == {80}
        await driven.press("w")
        assert "end-of-line" not in driven.text
        await driven.press(*["right"] * 30)
        assert "end-of-line" in driven.text

    drive(MadeJob(report()), act)


def test_a_line_taller_than_the_screen_is_gone_through(tmp_path: Path) -> None:
    async def act(driven: Driven) -> None:
        view = await opened(driven, log(tmp_path, "first", "y" * MEGABYTE, "last"), 2)
        await driven.press("w")
        assert "> 2" in driven.text
        await driven.press("pagedown", "pagedown")
        assert view.marked == 1 and ">" not in "".join(driven.lines[1:-1]) and "yyyy" in driven.text
        await driven.press("G")
        assert "last" in driven.text and view.marked == 2
        await driven.press("up", "up")
        assert view.marked == 0 and "first" in driven.text

    drive(MadeJob(report()), act)


def test_the_last_line_is_reached_among_long_ones(tmp_path: Path) -> None:
    async def act(driven: Driven) -> None:
        view = await opened(driven, log(tmp_path, *(f"{number} " + "x" * 500 for number in range(200))), 150)
        for key in ("w", "G", "w", "g", "w", "G"):
            await driven.press(key)
            marked = f"> {view.marked + 1:>3}  "
            assert marked in driven.text, driven.text

    drive(MadeJob(report()), act, (60, 16))


def test_a_search_is_marked_and_goes_on(tmp_path: Path) -> None:
    async def act(driven: Driven) -> None:
        view = await opened(driven, log(tmp_path, *(f"line {number}{' NEEDLE' if number % 50 == 7 else ''}" for number in range(500))), 1)
        await driven.press("slash", *"needle", "enter")
        assert view.marked == 7 and view.sought == "needle"
        await driven.press("n")
        assert view.marked == 57
        await driven.press("N", "N")
        assert view.marked == 457
        await driven.press("slash", *"zz", "enter")
        assert driven.notes[-1].startswith("Not found")

    drive(MadeJob(report()), act)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_hostile_file_leaves_every_line_in_its_place(tmp_path: Path, wrapped: bool) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"[/nope] [@click=app.quit] \x1b[2J\x1b]0;owned\x07 \x00 \x9b31m\r\n" + b"\xff\xfe" * 300 + b"\n" + "\u202e中\u200b文\t".encode() * 9000 + b"\n" + b"A" * MEGABYTE)
    job = TextJob("log", tuple(open_sources([str(path)])))

    async def act(driven: Driven) -> None:
        await opened(driven, job, 1)
        if wrapped:
            await driven.press("w")
        for key in ("down", "down", "pagedown", "G", "right", "up", "g", "slash", "a", "enter"):
            await driven.press(key)
            assert {cell_width(line) for line in driven.lines} == {80}
            assert "owned" not in driven.text and not any(char < " " for line in driven.lines for char in line)

    drive(MadeJob(report()), act)


@given(st.text(st.characters(blacklist_categories=("Cs", "Cc", "Mn", "Me", "Cf"))), st.integers(8, 40))
def test_pieces_hold_the_whole_text_and_fit(text: str, room: int) -> None:
    parts = pieces(text, room)
    assert "".join(parts) == text and parts and all(cell_width(part) <= room for part in parts)


def test_the_start_is_shown_while_lines_are_counted_and_the_wanted_one_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr("doctor.tui.lines.SOON", 1)
    count_on = FileLines.count_on

    def held(self: FileLines, *given: Any) -> None:
        go_on.wait(PATIENCE)
        count_on(self, *given)

    monkeypatch.setattr(FileLines, "count_on", held)
    job = log(tmp_path, *(f"line {number} of many" for number in range(100_000)))

    async def act(driven: Driven) -> None:
        await driven.app.push_screen(viewer(job, 90_001))
        await driven.until("counted so far")
        assert "of many" in driven.text
        go_on.set()
        await driven.until("line 90,001 of 100,000")
        assert "line 90000 of many" in driven.text

    async def elsewhere(driven: Driven) -> None:
        go_on.clear()
        await driven.app.push_screen(viewer(job, 90_001))
        await driven.until("counted so far")
        await driven.pilot.press("g")
        go_on.set()
        await driven.until("line 1 of 100,000")

    drive(MadeJob(report()), act)
    drive(MadeJob(report()), elsewhere)


def test_a_search_through_all_of_a_file_can_be_stopped_and_keeps_no_key_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []

    def endless(self: FileLines, text: str, start: int, *, backward: bool = False, stopped: Any, heard: Any) -> None:
        while not stopped():
            heard(0.34)
            threading.Event().wait(0.005)
        ended.append(True)

    monkeypatch.setattr(FileLines, "find", endless)
    monkeypatch.setattr("doctor.tui.screens.evidence.SOON", 0.0)

    async def act(driven: Driven) -> None:
        screen = viewer(log(tmp_path, "one", "two", "three"), 1)
        await driven.app.push_screen(screen)
        await driven.until("line 1 of 3")
        await driven.pilot.press("slash", *"needle", "enter")
        await driven.until("searching 34%")
        await driven.pilot.press("down")
        await driven.until("> 2")
        await driven.pilot.press("escape")
        await driven.until("line 2 of 3")
        assert driven.app.screen is screen
        await driven.pilot.press("n")
        await driven.until("searching 34%")
        await driven.pilot.press("n", "q")

    drive(MadeJob(report()), act)
    assert len(ended) == 3, "one was stopped, one gave way to the next, the last ended with the app"


def test_memory_stays_flat_however_large_the_file(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "large.log"
    with path.open("wb") as file:
        for number in range(40):
            file.write(f"step {number} of a long log, with a text that goes on for a while\n".encode() * 16_000)
    tracemalloc.start()
    lines = FileLines(path)
    lines.count_on(lambda: False, lambda share: None)
    assert lines.count == 640_000 and lines.find("nowhere", 0) is None and "step 39" in lines.line(639_999)
    assert tracemalloc.get_traced_memory()[1] < 6 * BLOCK + 4 * MEGABYTE
    tracemalloc.stop()
    lines.close()
