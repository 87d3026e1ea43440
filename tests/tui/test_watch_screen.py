"""The watch screen: verdict and projected end, a history and a plot for every class, live and from a file; looks never overlap and end with it."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from doctor.text import cell_width, clean
from doctor.tui.glyphs import ASCII, UNICODE
from doctor.tui.job import HostJob
from doctor.tui.screens.watching import WatchScreen
from doctor.tui.watch import Stopped
from doctor.tui.watchjob import FileSource, LiveSource, Seen, Source, source_of
from doctor.tui.watchview import WatchView
from doctor.watch import background
from doctor.watch.judge import Verdict
from doctor.watch.sample import HostSample, ProcessSample, Sample
from doctor.watch.samplefile import SampleFile
from tests.tui.driving import Driven, drive, host_job
from tests.tui.made import MadeJob, report
from tests.tui.standins import Working
from tests.tui.test_golden import LANGUAGES, SIZES, compared
from tests.watch.fakehost import FakeHost, server
from tests.watch.test_sampler import Web, sampler

GIB = 1 << 30
LEAKING = {3: 20 * GIB, 4: 20 * GIB}


def samples(steps: int = 480, grows: dict[int, int] | None = None, label: str = "VLLM::Worker_TP", begin: int = 0) -> Iterator[Sample]:
    """A server of an API server, an engine core and two workers, every 30 s; `grows`: bytes an hour by pid."""
    roles = [(1, "api", "vllm"), (2, "engine", "VLLM::EngineCore"), (3, "worker", f"{label}0"), (4, "worker", f"{label}1")]
    for step in range(begin, steps):
        t, wave = 30.0 * step, math.sin(step / 20)
        rows = tuple(
            ProcessSample(pid, 100, role, name, int(2 * GIB + (grows or {}).get(pid, 0) * t / 3600 + step % 7 * 1e6), 0, 0, 0, fds=40, threads=20)
            for pid, role, name in roles
        )
        values = {"running": 8 + 5 * wave, "waiting": 0.0, "requests": 10.0 * step, "generated": 3000.0 * step, "prompted": 500.0 * step, "kv": 0.5 + 0.3 * wave}
        yield Sample(1.796e9 + t, 1.0 + t, "boot", 30.0, rows, HostSample(available=200 * GIB, shm=1 << 20), metrics=values)


def recorded(folder: Path, **given: Any) -> Path:
    path = folder / "watch.ndjson"
    file = SampleFile(path)
    for sample in samples(**given):
        file.append(sample)
    return path


def on_watch(opening: Callable[[], Source], act: Callable[[Driven, WatchScreen], Any], size: tuple[int, int] = (80, 24), language: str = "en", **given: Any) -> None:
    async def whole(driven: Driven) -> None:
        screen = WatchScreen("atlas-01", opening)
        await driven.app.push_screen(screen)
        await act(driven, screen)

    drive(MadeJob(report()), whole, size, language, examined=False, **given)


# From a file


def test_a_leak_has_its_verdict_its_end_a_plot_and_its_cause(tmp_path: Path) -> None:
    path = recorded(tmp_path, grows=LEAKING)

    async def act(driven: Driven, screen: WatchScreen) -> None:
        await driven.until("Critical: workers (memory) grows by 40 GiB/h")
        await driven.until("[leak-worker-rss-growth]")
        assert "host memory ends in 5.0 h" in driven.text and "+40 GiB/h" in driven.text and "no leak" in driven.text and "recorded" in driven.text
        assert "a VLLM::Worker_TP0 (3)  b VLLM::Worker_TP1 (4)" in driven.text, "the cursor stands on what grows; both lines are named"
        await driven.press("up")
        assert [line.strip() for line in driven.lines].count("engine core, memory") == 1, "the plot of the class above"
        await driven.press("e")
        await driven.until("leak-worker-rss-growth")
        await driven.press("escape", "l")
        await driven.until("Watched atlas-01 for 4.0 h")
        await driven.press("escape", "y", "L")
        assert "Critical" in driven.app.clipboard and "4.0 h ago" in driven.app.clipboard
        assert "危急" in driven.text
        assert "Watched atlas-01" not in screen.plain_text() and "观察 atlas-01" in screen.plain_text()

    on_watch(lambda: FileSource(path), act, (100, 36))


def test_a_file_that_grows_and_is_rotated_is_followed(tmp_path: Path) -> None:
    path = recorded(tmp_path, steps=10)
    source = FileSource(path, 5.0)
    assert source.look().samples == 10 == source.look().samples
    file = SampleFile(path)
    for sample in samples(12, begin=10):
        file.append(sample)
    with path.open("a") as raw:
        raw.write('{"half a li')
    assert source.look().samples == 12
    os.replace(path, path.with_name(path.name + ".1"))
    for sample in samples(15, begin=12):
        file.append(sample)
    seen = source.look()
    assert seen.samples == 15 and seen.processes == 4
    assert [len(seen.traffic[name]) for name in ("running", "tokens", "kv")] == [15, 14, 15]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    async def act(driven: Driven, screen: WatchScreen) -> None:
        await driven.until("Broke off")
        for key in ("e", "l", "y", "space", "space", "r"):
            await driven.press(key)
        await driven.until("Broke off")
        assert "[none]" in driven.text

    on_watch(lambda: FileSource(tmp_path / "[none]"), act)


# Live


def live(host: FakeHost, web: Web | None = None) -> LiveSource:
    return LiveSource(host, 3600.0, lambda host, every: sampler(host, web=web or Web(), every=every))  # type: ignore[arg-type]


def test_recorded_samples_are_opened_by_a_key_and_a_path(tmp_path: Path) -> None:
    path = recorded(tmp_path, grows=LEAKING)
    (tmp_path / "[red]empty").write_text("no sample\n\x1b[31m[/nope]\n")

    async def act(driven: Driven, screen: WatchScreen) -> None:
        for name, shown in ((str(tmp_path / "[nope]"), "There is no file"), (str(path), "recorded")):
            await driven.press("o") if driven.app.focused is screen.items else None
            screen.query_one("#answer").value = name  # type: ignore[attr-defined]
            await driven.press("enter")
            await driven.until(shown)
        opened = driven.app.screen
        assert isinstance(opened, WatchScreen) and opened is not screen
        await driven.until("Critical: workers")
        await driven.press("escape")
        assert driven.app.screen is screen
        await driven.press("o")
        screen.query_one("#answer").value = str(tmp_path / "[red]empty")  # type: ignore[attr-defined]
        await driven.press("enter")
        await driven.until("holds no samples")
        assert "[red]empty" in driven.text
        await driven.press("escape", "o", "escape")
        assert driven.app.screen is screen and driven.app.focused is screen.items

    on_watch(lambda: LiveSource(FakeHost()), act, (120, 40))


def test_a_running_server_is_looked_at_again_and_again() -> None:
    host = FakeHost()
    server(host)

    async def act(driven: Driven, screen: WatchScreen) -> None:
        await driven.until("A plot needs two samples.")
        await driven.until("workers, memory x2")
        assert "1 samples" in driven.text and "too short" in driven.text
        assert screen._next is not None, "the next look is set"
        host.tick()
        await driven.press("r")
        await driven.until("30 s ago")
        await driven.until("requests that run")
        assert "2 samples" in driven.text
        await driven.press("space")
        assert screen._next is None and "held" in driven.text
        host.tick()
        await driven.press("space")
        await driven.until("3 samples")

    on_watch(lambda: live(host), act)
    assert not any("npu-smi" in argv for argv in host.asked[3:]), "npu-smi is asked seldom"


def test_a_machine_without_a_server_says_so_and_sees_one_that_comes() -> None:
    host = FakeHost()

    async def act(driven: Driven, screen: WatchScreen) -> None:
        await driven.until("No vLLM, Mooncake or proxy process runs here")
        server(host)
        host.tick()
        await driven.press("r")
        await driven.until("engine core")
        await driven.until("Too short")

    on_watch(lambda: live(host, Web(page="")), act)


def test_looks_never_overlap_and_one_that_hangs_keeps_nothing_waiting() -> None:
    begun, go_on = threading.Event(), threading.Event()
    running, most, stopped = [0], [0], threading.Event()

    class Hanging:
        label, every = "host", 1.0

        def look(self) -> Seen:
            running[0] += 1
            most[0] = max(most[0], running[0])
            begun.set()
            go_on.wait(120)
            running[0] -= 1
            raise OSError("over")

        def stop(self) -> None:
            stopped.set()

    async def act(driven: Driven, screen: WatchScreen) -> None:
        assert begun.wait(60)
        for key in ("r", "r", "space", "space", "question_mark", "escape", "L", "l", "r"):
            await driven.press(key)
        await driven.press("escape")
        assert driven.app.screen is not screen

    on_watch(Hanging, act)
    assert most[0] == 1 and stopped.is_set()
    go_on.set()


def test_a_look_that_is_under_way_ends_at_its_next_step_once_the_screen_is_left() -> None:
    host = FakeHost()
    server(host)
    source = live(host)
    source.stop()
    with pytest.raises(Stopped):
        source.look()


def test_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    host = FakeHost()
    server(host)
    source = source_of(host, os.environ)
    assert isinstance(source, LiveSource)
    for _ in range(3):
        live(host).look()
        host.tick()
    assert not list(tmp_path.rglob("*"))


def test_the_watch_in_the_background_is_shown_with_all_that_it_has_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = recorded(tmp_path, grows=LEAKING)
    monkeypatch.setattr(background, "running", lambda folder: background.Running(7, 1, 0.0, str(path)))
    source = source_of(FakeHost(), {})
    assert source.every > 0 and source.look().result.verdict is Verdict.CRITICAL


# What is shown


def test_labels_of_processes_are_text_and_nothing_else(tmp_path: Path) -> None:
    path = recorded(tmp_path, steps=30, label="[red]x[/nope]\x1b]0;owned\x07\u202e中文" * 5)

    async def act(driven: Driven, screen: WatchScreen) -> None:
        await driven.until("too short")
        for key in ("down", "down", "L", "l", "escape"):
            await driven.press(key)
            assert clean(driven.text) == driven.text

    on_watch(lambda: FileSource(path), act)
    view = WatchView(FileSource(path).look(), "zh", ASCII)
    for width in (40, 57, 117):
        assert all(cell_width(line.plain) <= width and clean(line.plain) == line.plain for line in view.lines(width))


def test_ascii_where_it_must_be(tmp_path: Path) -> None:
    view = WatchView(FileSource(recorded(tmp_path, grows=LEAKING)).look(), "en", ASCII)
    assert all(line.plain.isascii() for line in view.lines(77))
    assert all(view.detail(at, 77, 20).plain.isascii() for at in range(len(view.rows())))


def test_it_is_there_in_read_only_and_not_for_recordings() -> None:
    async def there(driven: Driven) -> None:
        await driven.press("w")
        assert isinstance(driven.app.screen, WatchScreen)

    async def absent(driven: Driven) -> None:
        await driven.press("w")
        assert not isinstance(driven.app.screen, WatchScreen)

    drive(HostJob(Working()), there, examined=False, read_only=True)
    drive(host_job("a2-healthy", "driver"), absent)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("language", LANGUAGES)
def test_golden(language: str, size: tuple[int, int], tmp_path: Path) -> None:
    path = recorded(tmp_path, grows=LEAKING)

    async def act(driven: Driven, screen: WatchScreen) -> None:
        await driven.until(" |")
        for _ in range(3):
            await driven.pilot.pause()
        compared("watch-leak", language, size, driven.lines)
        await driven.press("down", "down")
        compared("watch-traffic", language, size, driven.lines)

    on_watch(lambda: FileSource(path), act, size, language, glyphs=ASCII if language == "zh" else UNICODE)
