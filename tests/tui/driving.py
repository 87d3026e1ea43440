"""Drives the app without a terminal: opens it on a job, waits for its examination, reads back what stands on the screen."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from doctor.examine import Selection
from doctor.host.recorded import open_host
from doctor.tui.app import DoctorApp
from doctor.tui.job import HostJob, Job, TextJob
from doctor.tui.screens.checkup import CheckupScreen

HOSTS = Path(__file__).resolve().parents[2] / "fixtures" / "hosts"
OLD_DRIVER = "driver-too-old-for-cann"

PATIENCE = 60
"""Seconds until something that does not come is a failure."""

Act = Callable[["Driven"], Awaitable[None]]


class Driven:
    """A running app."""

    def __init__(self, app: DoctorApp, pilot: Pilot[Any]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def text(self) -> str:
        """What the screen shows, line by line."""
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        return [strip.text for strip in self.app.screen._compositor.render_strips()]

    @property
    def notes(self) -> list[str]:
        """The notes in the corner, oldest first."""
        return [str(note.message) for note in self.app._notifications]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.app.workers.wait_for_complete()
        await self.pilot.pause()

    async def until(self, text: str) -> None:
        """Waits for a text that something behind the screen brings."""

        async def there() -> None:
            while text not in self.text:
                await self.pilot.pause(0.01)

        try:
            await asyncio.wait_for(there(), PATIENCE)
        except asyncio.TimeoutError:
            raise AssertionError(f"{text!r} did not come:\n{self.text}") from None

    async def examined(self) -> CheckupScreen:
        """The checkup on top, once its examination is over."""
        screen = self.app.screen
        assert isinstance(screen, CheckupScreen)
        await asyncio.wait_for(screen.idle.wait(), PATIENCE)
        await self.pilot.pause()
        return screen


@asynccontextmanager
async def opened(job: Job, size: tuple[int, int] = (80, 24), language: str = "en", *, examined: bool = True, **given: Any) -> AsyncIterator[Driven]:
    app = DoctorApp(job, language, **given)
    with tempfile.TemporaryDirectory() as folder:
        app.folder = Path(folder)  # what is saved goes there, not into the checkout
        async with app.run_test(size=size, notifications=True) as pilot:
            driven = Driven(app, pilot)
            if examined:
                await driven.examined()
            yield driven


def drive(job: Job, act: Act, size: tuple[int, int] = (80, 24), language: str = "en", *, examined: bool = True, **given: Any) -> None:
    """Runs `act` in the app of a job, after its examination unless that does not matter."""

    async def whole() -> None:
        async with opened(job, size, language, examined=examined, **given) as driven:
            await act(driven)

    asyncio.run(whole())


def host_job(name: str, *only: str) -> HostJob:
    return HostJob(open_host(HOSTS / name), Selection(only=only))


def text_job(text: str, *only: str) -> TextJob:
    return TextJob("pasted", text=text, selection=Selection(only=only))
