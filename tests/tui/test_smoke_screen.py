"""The smoke screen: the plan first, nothing without a confirmation, steps live, output, diagnosis, load; everything ended when it is left."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from doctor.host.live import LiveHost
from doctor.smoke import run as smoke_run
from doctor.smoke import tree
from doctor.smoke.child import Ended, How, Launch
from doctor.smoke.events import Check, Figure
from doctor.smoke.leftovers import Leftovers
from doctor.smoke.outcome import Outcome, Result, State
from doctor.smoke.plan import Plan, Reason, Refusal, Step
from doctor.smoke.request import Card, Request, Seen
from doctor.text import cell_width, clean
from doctor.tui.form import Values
from doctor.tui.glyphs import ASCII, UNICODE
from doctor.tui.job import HostJob
from doctor.tui.screens.inputs import InputsScreen
from doctor.tui.screens.smoke import SmokeScreen
from doctor.tui.smokejob import NOTHING_ASKED, Bench, Looked, Running
from doctor.tui.smokeview import SmokeView, load_curve
from tests.smoke.test_run import NO_HCCL, planned, step
from tests.tui.driving import PATIENCE, Driven, drive, host_job
from tests.tui.made import MadeJob, report
from tests.tui.standins import Working
from tests.tui.test_golden import LANGUAGES, SIZES, compared

LOAD = str(Path(__file__).parent / "steps" / "under_load")


class Made(Bench):
    """A bench whose plan is known; keeps what was asked of it."""

    asked: list[Values]

    def __init__(self, *steps: Step, device: str = "cpu") -> None:
        super().__init__(LiveHost())
        object.__setattr__(self, "asked", [])
        object.__setattr__(self, "made", planned(*steps, device=device))

    def plan(self, asked: Values) -> Looked:
        self.asked.append(dict(asked))
        return Looked(self.made, Seen(url="http://127.0.0.1:8000", cards=(Card(0), Card(1, user="[red]python3 (7)"))))  # type: ignore[attr-defined]


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[str]]]:
    """Living processes of every step that was started."""
    made: list[str] = []

    def launched(*given: Any) -> Launch:
        launch = real(*given)
        made.append(launch.mark)
        return launch

    real = smoke_run.launch_of
    monkeypatch.setattr(smoke_run, "launch_of", launched)
    yield lambda: [name for mark in made for name in tree.named(tree.members(-1, mark))]


def on_smoke(bench: Bench, act: Callable[[Driven, SmokeScreen], Any], size: tuple[int, int] = (80, 24), language: str = "en", **given: Any) -> None:
    async def whole(driven: Driven) -> None:
        screen = SmokeScreen("atlas-01", bench)
        await driven.app.push_screen(screen)
        await act(driven, screen)

    drive(MadeJob(report()), whole, size, language, examined=False, **given)


async def confirmed(driven: Driven) -> None:
    await driven.until("ctrl+a")
    await driven.press("A", "y", "enter")


async def over(driven: Driven, screen: SmokeScreen) -> None:
    async def there() -> None:
        while screen.runs:
            await driven.pilot.pause(0.01)

    await asyncio.wait_for(there(), PATIENCE)
    await driven.until("Left behind")


def test_the_plan_is_told_and_no_key_alone_starts_it(marks: Callable[[], list[str]]) -> None:
    async def act(driven: Driven, screen: SmokeScreen) -> None:
        await driven.until("Nothing is started yet")
        assert "host memory" in driven.text and "60 s at the most" in driven.text
        for keys in (["ctrl+a"], ["n", "enter"], ["A"], ["escape"], ["enter"], ["l"], ["X"], ["x"], ["a"], ["s"]):
            await driven.press(*keys)
        assert screen._test is None and not marks()
        assert "Nothing was started: not confirmed." in driven.notes

    on_smoke(Made(step("device", "pass")), act)
    starting = next(key for key in SmokeScreen.KEYS if key.action == "start")
    assert all(len(key) > 1 or key.isupper() for key in starting.keys.split(","))


def test_steps_run_live_and_a_failure_is_diagnosed() -> None:
    async def act(driven: Driven, screen: SmokeScreen) -> None:
        await confirmed(driven)
        await over(driven, screen)
        assert "pass" in driven.text and "operators did not pass" in driven.text and "1 failed, 1 passed" in driven.text
        assert "libhccl.so: cannot open" in driven.text and "doctor explain cann" in driven.text, "the cursor stands on the failure"
        await driven.press("l")
        assert "Traceback" in driven.text
        await driven.press("enter")
        await driven.until("raise ImportError")
        await driven.press("escape", "e")
        await driven.until("CANN")
        await driven.press("escape", "y")
        assert "Traceback" in driven.app.clipboard
        assert "FAIL" in screen.plain_text() and "cann" in screen.plain_text()
        await driven.press("A")
        assert "There is no plan to start; r makes a new one." in driven.notes
        await driven.press("r")
        await driven.until("Nothing is started yet")

    on_smoke(Made(step("device", "pass"), step("operators", "raise", text=NO_HCCL), step("engine", "pass", needs=("operators",)), device="npu"), act)


def test_a_load_is_plotted_while_it_lasts(tmp_path: Path) -> None:
    until = tmp_path / "until"

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        await confirmed(driven)
        await driven.until("Load: requests/s")
        assert "latency p95: 1.25 s" in driven.text and "#" in driven.text and "200 |" in driven.text
        await driven.press("l")
        assert "hello" in driven.text
        await driven.press("l")
        until.touch()
        await over(driven, screen)
        assert "Load: tokens/s" in driven.text and "load, now" not in driven.text, "the points stand in the plot only"

    on_smoke(Made(Step("server", LOAD, {"until": str(until)}, 5.0, 120.0)), act, (80, 40), glyphs=ASCII)


async def typed(driven: Driven, screen: InputsScreen, name: str, text: str) -> None:
    """Puts a text into a field and presses enter."""
    screen.items.highlighted = [field.name for field in screen._fields].index(name)
    await driven.press("enter")
    screen.query_one("#answer").value = text  # type: ignore[attr-defined]
    await driven.press("enter")


async def inputs_opened(driven: Driven) -> InputsScreen:
    await driven.until("ctrl+a")
    await driven.press("i")
    screen = driven.app.screen
    assert isinstance(screen, InputsScreen)
    return screen


def test_what_is_typed_is_planned_anew_and_starts_nothing(tmp_path: Path, marks: Callable[[], list[str]]) -> None:
    bench, model = Made(step("device", "pass")), tmp_path / "Qwen3-8B"
    model.mkdir()

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        inputs = await inputs_opened(driven)
        for name, text in (("model", str(model)), ("flags", "--max-model-len 4096"), ("url", "127.0.0.1:9000"), ("load", "8"), ("seconds", "5"), ("cards", "0,1")):
            await typed(driven, inputs, name, text)
        for name in ("level", "device", "busy"):
            inputs.items.highlighted = [field.name for field in inputs._fields].index(name)
            await driven.press("enter")
        assert len(bench.asked) == 1, "one plan for all of it, on the way back"
        await driven.press("escape")
        await driven.until("load of 8")
        assert "Qwen3-8B" in driven.text and "level 3" in driven.text and "127.0.0.1:9000" in driven.text
        assert screen._test is None and not marks()
        await driven.press("i", "escape")
        assert len(bench.asked) == 2, "nothing was changed"

    on_smoke(bench, act, (120, 40))
    request = Bench(LiveHost()).request(bench.asked[1])
    assert request == Request(
        3, "npu", (0, 1), str(model), ("--max-model-len", "4096"), "http://127.0.0.1:9000", 8, 5.0, use_busy=True, key=request.key,
    )  # fmt: skip
    assert Bench(LiveHost()).request(NOTHING_ASKED).cards is None


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("model", "/nowhere/[red]x", "There is nothing at /nowhere/[red]x."), ("flags", '--a "b', "a quote that does not end"), ("flags", "--api-key x", "can be seen by everyone"),
        ("url", "ftp://x", "is no address of a server"), ("load", "many", "a number of requests"), ("load", "5000", "at most 1000"), ("seconds", "0", "lasts 1 to 3600"),
        ("cards", "0,0", "each once"), ("python", "/nowhere/python", "no program that can be run"), ("key_file", "/nowhere/key", "cannot be read"),
    ],
)  # fmt: skip
def test_what_is_refused_is_told_and_can_be_mended_where_it_stands(name: str, text: str, why: str) -> None:
    bench = Made(step("device", "pass"))

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        inputs = await inputs_opened(driven)
        await typed(driven, inputs, name, text)
        assert why in " ".join(driven.text.split()) and inputs.query_one("#answer").value == text  # type: ignore[attr-defined]
        await driven.press("escape", "escape")
        assert driven.app.screen is screen and len(bench.asked) == 1

    on_smoke(bench, act, (120, 40))


def test_an_input_is_emptied_and_the_hint_tells_what_is_here() -> None:
    async def act(driven: Driven, screen: SmokeScreen) -> None:
        inputs = await inputs_opened(driven)
        await typed(driven, inputs, "cards", "1")
        assert "1: [red]python3 (7)" in " ".join(driven.text.split())
        await driven.press("delete", "L")
        assert inputs._values["cards"] == "" and "ASCEND_RT_VISIBLE_DEVICES" in driven.text and "本机的卡" in driven.text

    on_smoke(Made(step("device", "pass")), act, (120, 40))


def test_the_report_is_written_to_a_new_file_only_and_names_no_paths(tmp_path: Path) -> None:
    async def act(driven: Driven, screen: SmokeScreen) -> None:
        driven.app.folder = tmp_path
        await driven.until("ctrl+a")
        await driven.press("W")
        assert "There is a report once a test is over." in driven.notes
        await confirmed(driven)
        await over(driven, screen)
        for expected in ("Saved: ", "Not saved: File exists"):
            await driven.press("W")
            screen.query_one("#answer").value = "report.txt"  # type: ignore[attr-defined]
            await driven.press("enter")
            await told(driven, expected)

    on_smoke(Made(step("device", "pass")), act)
    text = (tmp_path / "report.txt").read_text()
    assert "ascend-doctor: " in text and "device" in text


async def told(driven: Driven, text: str) -> None:
    """Waits for a note."""

    async def there() -> None:
        while not any(note.startswith(text) for note in driven.notes):
            await driven.pilot.pause(0.01)

    await asyncio.wait_for(there(), PATIENCE)


def test_a_run_from_the_app_is_kept_for_a_bundle(state: Path) -> None:
    from doctor.bundle.results import newest_results

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        await confirmed(driven)
        await over(driven, screen)

    on_smoke(Made(step("device", "pass")), act)
    ((item, _, text),) = newest_results({"XDG_STATE_HOME": str(state)}, os.geteuid())
    assert item == "smoke:newest" and '"device"' in text


def test_the_load_is_told_before_it_starts() -> None:
    loaded = Step("server", LOAD, {"url": "http://[red]x:1", "load": 8, "load_seconds": 20.0}, 5.0, 120.0)

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        await driven.until("8 requests at once for 20 s on http://[red]x:1")
        await driven.press("A")
        assert driven.text.count("8 requests at once") == 2

    on_smoke(Made(loaded), act, (120, 40))


@pytest.mark.parametrize("keys", [["escape"], ["X"], ["q"], ["ctrl+c"]])
def test_leaving_or_stopping_ends_every_child_at_once(keys: list[str], marks: Callable[[], list[str]]) -> None:
    runs: list[Running] = []

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        await confirmed(driven)
        await driven.until("spawned")
        assert screen._test is not None and marks()
        runs.append(screen._test)
        await driven.press(*keys)
        if keys == ["X"]:
            await over(driven, screen)
            assert "STOP" in driven.text and driven.app.screen is screen

    on_smoke(Made(step("device", "spawn", stay=True), step("engine", "pass")), act)
    assert runs[0].over.wait(PATIENCE) and not marks()
    assert runs[0].outcome is not None and [result.state for result in runs[0].outcome.results] == [State.STOPPED, State.SKIPPED]


def test_the_app_waits_at_its_end_for_a_run_that_stops() -> None:
    endings: list[threading.Event] = []

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        await confirmed(driven)
        await driven.until("all-reduce")
        endings.extend(driven.app.endings)
        await driven.press("escape")

    on_smoke(Made(step("device", "hang")), act)
    assert len(endings) == 1 and endings[0].wait(PATIENCE)


def test_a_refusal_and_a_bug_are_told_and_start_nothing() -> None:
    class Busy(Made):
        def plan(self, asked: Values) -> Looked:
            if asked["level"] == "3":
                raise ValueError("a bug [/nope]")
            return Looked(Refusal("refused_busy", card=0, user="[red]python3\x1b[31m (7)", free="1"))

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        await driven.until("Card 0 is in use by [red]python3")
        await driven.press("ctrl+a", "y", "enter")
        assert screen._test is None
        await driven.press("3")
        await driven.until("a bug [/nope]")

    on_smoke(Busy(), act)


def test_level_and_load_are_chosen_and_planned_anew() -> None:
    bench = Made(step("device", "pass"))

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        for key, shown in (("3", "level 3"), ("o", "load of 1"), ("o", "load of 4"), ("1", "level 1")):
            await driven.press(key)
            await driven.until(shown)
        await driven.until("Nothing is started yet")

    on_smoke(bench, act)
    assert [(asked["level"], asked["load"]) for asked in bench.asked] == [("2", "0"), ("3", "0"), ("3", "1"), ("3", "4"), ("1", "4")]


def test_what_a_step_prints_is_text_and_nothing_else(tmp_path: Path) -> None:
    until, hostile = tmp_path / "until", "[red]x[/nope] [@click=app.quit]y \x1b]0;owned\x07\x1b[2J\u202eabc 中文"

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        await confirmed(driven)
        await driven.until("load of 4")
        await driven.press("l")
        await driven.until("[red]x[/nope] [@click=app.quit]y")
        until.touch()
        await over(driven, screen)
        for key in ("l", "l", "L", "enter"):
            await driven.press(key)
            assert clean(driven.text) == driven.text

    on_smoke(Made(Step("server", LOAD, {"until": str(until), "prints": hostile}, 5.0, 120.0)), act)


def test_it_is_not_there_where_nothing_may_be_put_under_load() -> None:
    async def absent(driven: Driven) -> None:
        await driven.press("t")
        assert not isinstance(driven.app.screen, SmokeScreen)
        driven.app.open_smoke()
        await driven.pilot.pause()
        assert not isinstance(driven.app.screen, SmokeScreen)
        await driven.press("question_mark")
        assert "Smoke test" not in driven.text

    async def there(driven: Driven) -> None:
        await driven.press("t")
        await driven.until("level 2")
        assert isinstance(driven.app.screen, SmokeScreen)

    drive(HostJob(Working()), absent, (80, 60), examined=False, read_only=True)
    drive(host_job("a2-healthy", "driver"), absent, (80, 60))
    drive(HostJob(Working(), root="/mnt/image"), absent, (80, 60), examined=False)
    drive(HostJob(Working()), there, examined=False)


# Letter by letter


def made_plan() -> Plan:
    def one(name: str, usual: float, deadline: float, skip: Reason | None = None) -> Step:
        return Step(name, name, {}, usual, deadline, skip)

    steps = (one("device", 20, 120), one("operators", 40, 300), one("cards", 40, 300, Reason("skip_one_card")), one("engine", 90, 600), one("server", 40, 320))
    return Plan("npu", 2, (0,), "/opt/venv/bin/python3", {}, steps, 6144, 15155)


def made_running() -> Running:
    """A run in the middle of its last step."""
    now = [0.0]
    running, plan = Running(made_plan(), lambda: now[0]), made_plan()
    failed = Ended(How.FINISHED, 0, "matmul", 33.0, "loading [kernel]\nmatmul bf16 is off", (Check("matmul fp32", True), Check("matmul bf16", False, "off by 0.4, at most 0.06")))
    for result in (
        Result("device", State.PASSED, ended=Ended(How.FINISHED, 0, "read back", 12.0)), Result("operators", State.FAILED, ended=failed),
        Result("cards", State.SKIPPED, Reason("skip_one_card")), Result("engine", State.SKIPPED, Reason("skip_after", {"step": "operators"})),
    ):  # fmt: skip
        running.ended(result)
    now[0] = 45.0
    running.began(plan.steps[-1])
    now[0] = 60.0
    running.steps["server"].stage = "load of 4"
    for second in range(20):
        curves = ((200.0 + 20 * (second % 5), "tokens/s"), (2.0 + second % 3, "requests/s"), *((0.02 * share + 0.1 * (second % 4), f"s p{share}") for share in (50, 95, 99)))
        for value, unit in curves:
            running.steps["server"].figures.append(Figure("load, now", value, unit, str(second)))
    return running


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("language", LANGUAGES)
def test_golden(language: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    bench = Made()
    object.__setattr__(bench, "made", made_plan())

    async def act(driven: Driven, screen: SmokeScreen) -> None:
        await driven.until("ctrl+a")
        compared("smoke-plan", language, size, driven.lines)
        await driven.press("A")
        compared("smoke-confirm", language, size, driven.lines)
        await driven.press("escape", *["down"] * 4)
        screen._test = made_running()
        screen._show()
        await driven.pilot.pause()
        compared("smoke-running", language, size, driven.lines)
        await driven.press("up", "up", "up")
        compared("smoke-failed", language, size, driven.lines)
        screen._test = None

    on_smoke(bench, act, size, language, glyphs=ASCII if language == "zh" else UNICODE)


def test_rows_and_detail_fit_and_are_ascii_where_they_must_be() -> None:
    running = made_running()
    running.outcome = Outcome(running.plan, tuple(running.results.values()), Leftovers(), 61.0)
    for language in LANGUAGES:
        view = SmokeView(None, running, language, ASCII)
        for width in (40, 57, 117):
            assert max(cell_width(row.plain) for row in view.rows(width)) <= width
        if language == "en":
            assert all(row.plain.isascii() for row in view.rows(77)) and view.detail("server", 77).plain.isascii()


def test_points_of_a_load_that_are_no_seconds_are_left_out() -> None:
    figures = [Figure("load, now", 1.0, "tokens/s", subject) for subject in ("0", "1", "x", "", "9" * 30)]
    assert load_curve(figures, "tokens/s") == [(0.0, 1.0), (1.0, 1.0)]
