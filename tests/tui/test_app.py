"""What somebody who uses the app relies on: the cause first, its steps on enter, a filter, both languages, and that nothing from outside harms it."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from textual import events

from doctor.host.recorded import open_host
from doctor.report.model import Report
from doctor.text import cell_width, clean
from doctor.tui.app import DoctorApp
from doctor.tui.job import TextJob
from doctor.tui.screens.cause import CauseScreen
from doctor.tui.screens.checkup import CheckupScreen
from doctor.tui.screens.evidence import EvidenceScreen
from doctor.tui.screens.logs import LONG, LogsScreen, PasteArea
from doctor.tui.screens.page import PageScreen
from doctor.tui.terminal import THEMES
from doctor.tui.watch import Stopped, Watch, WatchedHost
from doctor.tui.widgets.findings import Findings
from doctor.tui.widgets.linesview import LinesView
from tests.tui.driving import HOSTS, OLD_DRIVER, Driven, drive, host_job, text_job
from tests.tui.made import MadeJob, report

SIZES = [(60, 16), (80, 24), (120, 40)]
HOSTILE = "\x1b[31m\x1b]0;owned\x07 [/nope] [@click=app.quit]quit[/] [b]bold \u202egnp.exe \x00 \x9b2J 中文宽字符"
FLAGS = "error: unrecognized arguments: "
"""What argparse prints for an option that vLLM does not know, up to the option itself."""


def table(driven: Driven) -> Findings:
    return driven.app.screen.query_one(Findings)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_cause_stands_first_with_its_state_in_words(size: tuple[int, int]) -> None:
    async def act(driven: Driven) -> None:
        row = table(driven).current
        assert row is not None and row.rule == OLD_DRIVER and row.state == "FAIL"
        first = driven.lines[next(number for number, line in enumerate(driven.lines) if "What was found" in line) + 1]
        assert first.split()[:2] == [">FAIL", "The"] and "by hand" in first
        assert "1 FAIL" in driven.text and "8 x 910B3" in driven.text

    drive(host_job("a2-old-driver"), act, size)


def test_a_wide_window_shows_the_detail_beside_the_list_and_a_low_one_none() -> None:
    async def beside(driven: Driven) -> None:
        assert "What was found" in driven.lines[3][:60] and "FAIL  The NPU driver" in driven.lines[3][60:]

    async def none(driven: Driven) -> None:
        assert "wanted" not in driven.text

    drive(host_job("a2-old-driver"), beside, (120, 40))
    drive(host_job("a2-old-driver"), none, (80, 16))


def test_enter_shows_the_steps_and_escape_goes_back() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("enter")
        assert isinstance(driven.app.screen, CauseScreen)
        text = driven.app.screen.plain_text()
        assert "HDK 25.2.0 or newer" in text and "--upgrade" in text and "/usr/local/Ascend/driver/version.info" in text
        await driven.press("n")
        assert driven.app.screen.row.rule != OLD_DRIVER
        await driven.press("escape")
        assert isinstance(driven.app.screen, CheckupScreen)
        await driven.press("escape")
        assert isinstance(driven.app.screen, CheckupScreen)

    drive(host_job("a2-old-driver"), act)


def test_the_filter_chooses_rows_while_it_is_typed_and_escape_ends_it() -> None:
    async def act(driven: Driven) -> None:
        every = table(driven).row_count
        await driven.press("slash", *"npu !timeout")
        assert [row.rule for row in table(driven).rows] and all("npu" in row.words and "timeout" not in row.words for row in table(driven).rows)
        assert table(driven).row_count < every
        await driven.press("escape")
        assert table(driven).row_count == every and driven.app.focused is table(driven)
        await driven.press("slash", *"state:skip", "enter")
        assert {row.state for row in table(driven).rows} == {"SKIP"}
        await driven.press("slash", *"zzz", "enter")
        assert "No row matches" in driven.text

    drive(host_job("a2-old-driver"), act)


def test_skipped_and_passed_rules_stand_behind_a_key() -> None:
    async def act(driven: Driven) -> None:
        assert {row.state for row in table(driven).rows} <= {"FAIL", "WARN", "NOTE", "BROKEN"}
        await driven.press("x", "p")
        assert {"SKIP", "PASS"} <= {row.state for row in table(driven).rows}
        await driven.press("x", "p")
        assert not {"SKIP", "PASS"} & {row.state for row in table(driven).rows}

    drive(host_job("a2-old-driver"), act)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_the_language_changes_everywhere_and_wide_characters_stay_in_their_cells(size: tuple[int, int]) -> None:
    async def act(driven: Driven) -> None:
        await driven.press("L")
        assert "NPU 驱动" in driven.text and "帮助" in driven.text and "What was found" not in driven.text
        assert {cell_width(line) for line in driven.lines} == {size[0]}
        await driven.press("enter")
        assert "处理" in driven.text
        await driven.press("L")
        assert "what to do" in driven.text
        await driven.press("escape")
        assert "What was found" in driven.text

    drive(host_job("a2-old-driver"), act, size)


def test_symptoms_are_folded_under_their_cause() -> None:
    log = "\n".join(
        [
            "RuntimeError: [Errno 12] Cannot allocate memory",
            "(EngineCore_DP0 pid=77) ERROR 07-01 10:00:01 [core.py:708] EngineCore failed to start.",
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
            "ImportError: libascend_hal.so: cannot open shared object file: No such file or directory",
        ]
    )

    async def act(driven: Driven) -> None:
        cause = next((row for row in table(driven).rows if row.symptoms), None)
        assert cause is not None, driven.text
        before = table(driven).row_count
        table(driven).move_cursor(row=table(driven).rows.index(cause))
        await driven.press("space")
        rows = table(driven).rows
        assert len(rows) == before + cause.symptoms
        assert [row.depth for row in rows[rows.index(cause) + 1 :][: cause.symptoms]] == [1] * cause.symptoms
        await driven.press("space")
        assert table(driven).row_count == before

    drive(text_job(log), act)


def test_running_again_keeps_the_place_and_says_that_nothing_changed() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("down")
        row = table(driven).current
        await driven.press("r")
        screen = await driven.examined()
        assert "0 new, 0 gone" in driven.text
        now = table(driven).current
        assert row is not None and now is not None and now.key == row.key
        await driven.press("R")
        await driven.examined()
        assert screen.report is not None and screen.report.summary.rules > 100

    drive(host_job("a2-old-driver"), act, (120, 24))


def test_every_screen_has_help_from_its_own_keys() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("question_mark")
        assert isinstance(driven.app.screen, PageScreen)
        text = driven.app.screen.plain_text()
        assert all(word in text for word in ("Run again", "Filter", "Quit", "area:"))
        await driven.press("escape", "enter", "question_mark")
        assert "Copy commands" in driven.text

    drive(host_job("a2-old-driver"), act, (100, 40))


def test_saving_writes_the_report_into_new_files_only(tmp_path: Path) -> None:
    async def act(driven: Driven) -> None:
        driven.app.folder = tmp_path
        await driven.press("s", "s", "S")
        texts, images = sorted(tmp_path.glob("*.txt")), list(tmp_path.glob("*.svg"))
        assert len(texts) == 2 and len(images) == 1
        assert OLD_DRIVER in texts[0].read_text(encoding="utf-8") and "<svg" in images[0].read_text(encoding="utf-8")
        driven.app.folder = tmp_path / "missing"
        await driven.press("s")
        assert driven.notes[-1].startswith("Not saved")

    drive(host_job("a2-old-driver"), act)


def test_copying_gives_the_cause_and_its_commands_alone() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("y")
        assert "HDK 25.2.0 or newer" in driven.app.clipboard
        await driven.press("enter", "c")
        assert driven.app.clipboard.splitlines()[0].startswith("./Ascend-hdk")
        assert "found" not in driven.app.clipboard

    drive(host_job("a2-old-driver"), act)


def test_the_page_of_the_rule_and_every_theme_can_be_seen() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("e")
        assert driven.lines[1].strip() == OLD_DRIVER
        for _ in THEMES:
            await driven.press("T")
            assert OLD_DRIVER in driven.text
        assert driven.app.theme == THEMES[0]

    drive(host_job("a2-old-driver"), act)


def test_the_palette_finds_a_rule_and_an_action_in_the_users_language() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("ctrl+p", *"driver-too-old-for-cann")
        await driven.press("enter", "enter")
        assert isinstance(driven.app.screen, PageScreen) and OLD_DRIVER in driven.text

    drive(host_job("a2-old-driver"), act, language="zh")


def test_q_ends_the_app_from_any_screen() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("enter", "e", "q")
        assert not driven.app.is_running or driven.app._exit

    drive(host_job("a2-old-driver"), act)


# Text from outside


def test_hostile_text_neither_harms_nor_styles_anything() -> None:
    """A line whose text becomes a finding, evidence and a row, driven through every screen."""
    log = f"api_server.py: error: unrecognized arguments: --bad {HOSTILE}\nValueError: {HOSTILE}\n" + "x" * 200_000

    async def act(driven: Driven) -> None:
        for keys in (["enter"], ["question_mark"], ["escape"], ["v"], ["n"], ["escape"], ["escape"], ["y"], ["x"], ["slash", *"nope"]):
            await driven.press(*keys)
            shown = driven.text.replace("\n", "")
            assert clean(shown) == shown and "owned" not in shown
            assert {cell_width(line) for line in driven.lines} == {80}
        assert "[/nope]" in driven.text
        assert driven.app.is_running

    drive(text_job(clean(log)), act)


def test_a_hostile_file_name_is_told_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "[b]host[@click=app.quit]\x1b[2J[red]"
    (folder / "files" / "etc").mkdir(parents=True)
    (folder / "files" / "etc" / "os-release").write_text('PRETTY_NAME="[red]\x1b[31m[/nope]"\n', encoding="utf-8")
    from doctor.tui.job import HostJob

    async def act(driven: Driven) -> None:
        assert "[b]host[@click=app.quit][red]" in driven.text
        await driven.press("p", "x", "down", "enter", "escape", "y")
        assert driven.app.is_running

    drive(HostJob(open_host(folder)), act, (120, 40))


def test_an_examination_that_breaks_is_told_and_the_app_goes_on() -> None:
    class Breaking:
        label = "breaks"

        def run(self, watch: Watch, only: str = "") -> Report:
            raise ValueError("[/nope] \x1b[31mred")

    async def act(driven: Driven) -> None:
        assert "ValueError: [/nope] red" in driven.text
        await driven.press("r")
        await driven.examined()
        assert driven.app.is_running

    drive(Breaking(), act)


# Logs


def test_a_pasted_text_is_diagnosed_and_escape_comes_back() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("l")
        assert isinstance(driven.app.screen, LogsScreen)
        await driven.press("ctrl+r")
        assert "Name a file or paste" in driven.text
        area = driven.app.screen.query_one(PasteArea)
        area.focus()
        area.post_message(events.Paste("ImportError: libascend_hal.so: cannot open shared object file\x1b[31m: No such file or directory\n"))
        await driven.pilot.pause()
        assert "\x1b" not in area.text and "libascend_hal.so" in area.text
        await driven.press("ctrl+r")
        await driven.examined()
        row = table(driven).current
        assert row is not None and row.state == "FAIL"
        await driven.press("v")
        assert isinstance(driven.app.screen, EvidenceScreen) and "libascend_hal.so" in driven.text
        await driven.press("escape", "escape")
        assert isinstance(driven.app.screen, LogsScreen)

    drive(host_job("a2-healthy", "driver"), act)


def test_a_long_paste_is_kept_aside_whole() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("l")
        area = driven.app.screen.query_one(PasteArea)
        area.focus()
        area.post_message(events.Paste("harmless line\n" * LONG + "the end"))
        await driven.pilot.pause()
        assert area.whole.endswith("the end") and len(area.text) < 10_000
        assert f"{len(area.whole):,} characters" in driven.text

    drive(host_job("a2-healthy", "driver"), act)


def test_a_file_is_opened_by_its_path_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    log = tmp_path / "serve.log"
    log.write_text("INFO start\n" * 5000 + "ImportError: libascend_hal.so: cannot open shared object file: No such file or directory\n", encoding="utf-8")

    async def act(driven: Driven) -> None:
        await driven.press("l", *str(tmp_path / "none"), "enter")
        assert "No such file" in driven.text.replace("\n", " ")
        await driven.press(*(["backspace"] * 4), *"serve.log", "enter")
        await driven.examined()
        await driven.press("v")
        assert driven.app.screen.query_one(LinesView).marked == 5000
        assert "> 5001" in driven.text and "libascend_hal" in driven.text

    drive(host_job("a2-healthy", "driver"), act, (120, 24))


# While rules run


def test_the_app_answers_while_a_check_hangs_and_leaves_at_once() -> None:
    """Nothing waits for the thread: neither the first paint, nor a key, nor the end of the app."""
    begun, go_on = threading.Event(), threading.Event()

    class Hanging:
        label = "slow-host"
        ended = False

        def run(self, watch: Watch, only: str = "") -> Report:
            watch.total = 7
            begun.set()
            with watch.looking("npu-smi info"):
                go_on.wait(120)
            self.ended = True
            raise AssertionError("a stopped watch goes no further")

    job = Hanging()

    async def whole() -> None:
        app = DoctorApp(job)
        async with app.run_test(size=(80, 24)) as pilot:
            assert begun.wait(60)
            await pilot.press("question_mark")
            assert isinstance(app.screen, PageScreen)
            await pilot.press("escape")
            screen = app.screen
            assert isinstance(screen, CheckupScreen)
            screen._tick()
            await pilot.pause()
            text = "\n".join(strip.text for strip in screen._compositor.render_strips())
            assert "slow-host" in text and "checking 0 of 7" in text
            await pilot.press("q")

    asyncio.run(whole())
    go_on.set()
    assert not job.ended


def test_a_slow_look_is_named_with_its_time() -> None:
    from doctor.tui.headlines import counts
    from doctor.tui.words import speaker

    now = [0.0]
    watch = Watch(lambda: now[0])
    watch.total = 10
    with watch.looking("npu-smi info [/nope]"):
        now[0] = 3.25
        assert "npu-smi info [/nope] 3.2 s" in counts(None, watch, None, speaker("en"), 120).plain
    assert "npu-smi" not in counts(None, watch, None, speaker("en"), 120).plain


def test_a_stopped_watch_ends_at_the_next_look() -> None:
    watch = Watch()
    host: Any = WatchedHost(open_host(HOSTS / "a2-healthy"), watch)
    assert isinstance(host.read("/etc/os-release"), str)
    watch.stop()
    for look in (lambda: host.read("/etc/os-release"), lambda: host.run(["npu-smi", "info"]), host.processes, lambda: watch.read(1)):
        with pytest.raises(Stopped):
            look()


def test_a_text_job_reads_its_sources(tmp_path: Path) -> None:
    from doctor.logscan.sources import open_sources

    (tmp_path / "a.log").write_text("one\ntwo\n", encoding="utf-8")
    watch = Watch()
    report = TextJob("a.log", tuple(open_sources([str(tmp_path / "a.log")]))).run(watch)
    assert report.examination.scan.lines == 2 and watch.bytes_read == 8 and watch.total == len(watch.verdicts) > 100


def test_why_a_rule_could_not_look_follows_the_language() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("x", "slash", *"state:skip", "enter")
        assert "hccn_tool: denied (not root)" in driven.text
        await driven.press("L")
        assert "hccn_tool：无权读取（非 root）" in driven.text and "denied" not in driven.text
        await driven.press("slash", *["backspace"] * 10, *"root", "enter")
        assert "hccn_tool" in driven.text
        await driven.press("enter")
        assert "hccn_tool：无权读取（非 root）" in driven.text
        await driven.press("L")
        assert "hccn_tool: denied (not root)" in driven.text

    drive(MadeJob(report()), act, (120, 40))
