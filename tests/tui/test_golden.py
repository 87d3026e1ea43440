"""The main screens, letter by letter, in both languages at three sizes. After a wanted change: DOCTOR_GOLDEN=write pytest tests/tui/test_golden.py"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from doctor import __version__
from doctor.text import cell_width
from doctor.tui.job import HostJob
from tests.tui.driving import Driven, drive
from tests.tui.made import MadeJob, report
from tests.tui.standins import Working

GOLDEN = Path(__file__).parent / "golden"
SIZES = [(60, 16), (80, 24), (120, 40)]
LANGUAGES = ("en", "zh")
WRITE = os.environ.get("DOCTOR_GOLDEN") == "write"

SCREENS = {"checkup": (), "all-rows": ("x", "p", "space"), "cause": ("enter",), "filter": ("slash", *"driver")}


def compared(name: str, language: str, size: tuple[int, int], lines: list[str]) -> None:
    assert {cell_width(line) for line in lines} == {size[0]}, "every line is as wide as the screen"
    text = "\n".join(line.rstrip() for line in lines).replace(__version__, "VERSION") + "\n"
    path = GOLDEN / f"{name}-{language}-{size[0]}x{size[1]}.txt"
    if WRITE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_screens_of_a_checkup(language: str, size: tuple[int, int]) -> None:
    async def act(driven: Driven) -> None:
        for name, keys in SCREENS.items():
            await driven.press(*keys)
            compared(name, language, size, driven.lines)
            if name == "all-rows":
                await driven.press("x", "p", "space")
            elif keys:
                await driven.press("escape")

    drive(MadeJob(report()), act, size, language)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("language", LANGUAGES)
def test_npus(language: str, size: tuple[int, int]) -> None:
    host = Working()
    host.live = False  # so that no time of day is told

    async def act(driven: Driven) -> None:
        await driven.press("n")
        await driven.until("910B3" if size[0] > 60 else "Warning")
        compared("npus", language, size, driven.lines)

    drive(HostJob(host), act, size, language, examined=False)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("language", LANGUAGES)
def test_logs(language: str, size: tuple[int, int]) -> None:
    async def act(driven: Driven) -> None:
        await driven.press("l")
        compared("logs", language, size, driven.lines)

    drive(MadeJob(report()), act, size, language)
