"""Over a slow line the terminal gets less, and shows the same: every paint is compared on an emulated terminal, cell by cell."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.tui.app import SLOW, DoctorApp
from doctor.tui.frugal import Painted, normal
from doctor.words import Words
from tests.tui.driving import Driven, drive
from tests.tui.emulator import Emulator
from tests.tui.made import RULES, MadeJob, finding, report

COLUMNS, LINES = 30, 6

COLOURS = ("", "\x1b[1;31;49m", "\x1b[2;39;49m", "\x1b[30;47m", "\x1b[38;5;39;48;2;1;49;0m")
words = st.lists(st.sampled_from([*"abc 中文，─█", "e\u0301", " " * 9]), min_size=1, max_size=12).map("".join)
runs = st.tuples(st.integers(0, LINES - 1), st.integers(0, COLUMNS - 1), st.sampled_from(COLOURS), words)


def paint(run: tuple[int, int, str, str]) -> str:
    """One styled run, as Textual writes it; cut at the edge, as Textual cuts it."""
    line, column, colour, text = run
    kept, used = "", column
    for char in text:
        used += 2 if char in "中文，" else 0 if char == "\u0301" else 1
        if used > COLUMNS:
            break
        kept += char
    reset = "\x1b[0m" if colour else ""
    return f"\x1b[{line + 1};{column + 1}H{colour}{kept}{reset}" if kept else ""


def whole(draw: random.Random) -> str:
    """A whole screen of plain text."""
    return "\n".join(f"\x1b[{line + 1};1H" + "".join(draw.choice("ab  ") for _ in range(COLUMNS)) for line in range(LINES))


@settings(max_examples=60)
@given(st.lists(st.lists(runs, max_size=6), max_size=8), st.integers(0, 9))
def test_the_screen_is_the_same_as_without_it(paints: list[list[tuple[int, int, str, str]]], seed: int) -> None:
    full, frugal, painted = Emulator(COLUMNS, LINES), Emulator(COLUMNS, LINES), Painted()
    for data in [whole(random.Random(seed)), *("".join(map(paint, each)) for each in paints)]:
        if _tears(full, data):
            continue
        full.feed(data)
        frugal.feed(painted.reduce(data, COLUMNS))
        assert frugal.cells == full.cells


def _tears(full: Emulator, data: str) -> bool:
    """Whether a wide character would lose a half: Textual paints whole characters, so that it never does."""
    trial = Emulator(COLUMNS, LINES)
    trial.cells = [list(line) for line in full.cells]
    trial.feed(data)
    for line in trial.cells:
        for column, (char, _) in enumerate(line):
            wide = char[:1] in ("中", "文", "，") and char != ""
            if (char == "" and (column == 0 or line[column - 1][0][:1] not in ("中", "文", "，"))) or (wide and line[column + 1 : column + 2][0][0] != ""):
                return True
    return False


def test_what_is_shown_already_costs_nothing() -> None:
    painted = Painted()
    screen = whole(random.Random(1))
    first = painted.reduce(screen, COLUMNS)
    assert len(first) > LINES * COLUMNS / 2
    assert painted.reduce(screen, COLUMNS) == ""
    assert painted.reduce(screen.replace("\x1b[2;1H", "\x1b[2;1H\x1b[39;49m"), COLUMNS) == ""
    changed = painted.reduce("\x1b[3;5H\x1b[1mX\x1b[0m", COLUMNS)
    assert changed == "\x1b[3;5H\x1b[1mX\x1b[m"


def test_after_a_resize_everything_is_painted_again() -> None:
    painted = Painted()
    painted.reduce("\x1b[1;1Hhello", COLUMNS)
    assert painted.reduce("\x1b[1;1Hhello", COLUMNS + 1).startswith("\x1b[m\x1b[2J")
    painted.forget()
    assert "hello" in painted.reduce("\x1b[1;1Hhello", COLUMNS + 1)


def test_what_is_no_paint_goes_through() -> None:
    painted = Painted()
    for data in ("\x1b[?1049h", "\x1b[?2026$p", "\x1b]52;c;aGk=\x07", "\x1b[>25u"):
        assert painted.reduce(data, COLUMNS) == data


def test_a_line_with_marks_of_doubtful_width_is_painted_whole() -> None:
    """Where a terminal shows such a mark two cells wide, a part of the line would come to stand in the wrong place."""
    painted = Painted()
    painted.reduce("\x1b[1;1H█ one two three four five", COLUMNS)
    assert "two three" in painted.reduce("\x1b[1;3Hone two three four six!", COLUMNS)


@given(st.text(st.characters(max_codepoint=0x2FFF), max_size=200))
def test_no_output_breaks_it(text: str) -> None:
    Painted().reduce(text, COLUMNS)


def test_codes_that_change_nothing_are_the_same() -> None:
    assert normal("39;49") == normal("0") == normal("") == ""
    assert normal("1;31;49") == "1;31"
    assert normal("38;5;39;49") == "38;5;39"
    assert normal("38;2;39;49;0;1") == "38;2;39;49;0;1"
    assert normal("1;0;4") == "4"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
def test_a_move_of_the_cursor_is_under_a_kilobyte_however_long_the_detail(size: tuple[int, int], language: str) -> None:
    long = Words("Kernels built for this CANN call driver entry points that an older driver lacks. " * 30, "为该 CANN 编译的算子会调用旧驱动没有的接口。" * 40)
    rules = tuple(replace(rule, why=Words(f"{number} {long.en[number:]}", f"{number} {long.zh[number:]}")) for number, rule in enumerate(RULES))
    findings = [replace(finding(rule), why=rule.why) for rule in rules]
    painted, sent = Painted(), []

    def screen(app: DoctorApp) -> str:
        """The whole of it, as Textual would paint it."""
        strips = enumerate(app.screen._compositor.render_strips(), 1)
        return "\n".join(f"\x1b[{line};1H{strip.render(app.console)}" for line, strip in strips)

    async def act(driven: Driven) -> None:
        painted.reduce(screen(driven.app), size[0])
        for key in ("down", "down", "up", "up"):
            await driven.press(key)
            await driven.pilot.pause(0.01)
            driven.app.screen._detail()  # type: ignore[attr-defined]  # as soon as the cursor rests
            await driven.pilot.pause()
            sent.append(len(painted.reduce(screen(driven.app), size[0]).encode()))
            assert size == (80, 24) or driven.app.speak("detail_rest") in driven.text

    drive(MadeJob(report(findings, rules)), act, size, language, pace=SLOW, theme="ansi-dark")
    assert len(sent) == 4 and min(sent) > 100 and max(sent) < 1000, sent
