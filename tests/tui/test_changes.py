"""What changed since the last run is marked; one rule can be run alone; areas are chosen by their number; hostile text goes through every screen."""

from __future__ import annotations

from dataclasses import replace

from textual import events

from doctor.finding import Evidence
from doctor.host import Process
from doctor.text import cell_width, clean
from doctor.tui.app import SLOW
from doctor.tui.job import HostJob
from doctor.tui.screens.cause import CauseScreen
from doctor.tui.screens.checkup import CheckupScreen
from doctor.tui.widgets.filterbox import FilterBox
from doctor.tui.widgets.findings import Findings
from doctor.words import Words
from tests.tui.driving import Driven, drive
from tests.tui.made import RULES, MadeJob, finding, report
from tests.tui.standins import TABLE, Working

HOSTILE = "\x1b[31m\x1b]0;owned\x07 [/nope] [@click=app.quit]quit[/] \u202egnp.exe \x00 \x9b2J 中文宽字符 " + "x" * 1_000_000


def rules(driven: Driven) -> list[str]:
    return [row.rule for row in driven.app.screen.query_one(Findings).rows]


def test_what_is_found_anew_is_marked_and_what_has_gone_is_counted() -> None:
    first = [finding(rule) for rule in RULES[:2]]
    job = MadeJob(report(first), report([first[0], finding(RULES[2])]))

    async def act(driven: Driven) -> None:
        assert "[new]" not in driven.text
        await driven.press("r")
        await driven.examined()
        assert "1 new, 1 gone" in driven.text
        assert [row.rule for row in driven.app.screen.query_one(Findings).rows if row.new] == ["npu-idle"]
        assert sum("[new]" in line for line in driven.lines) == 1

    drive(job, act, (120, 24))


def test_one_rule_is_run_alone_and_the_others_keep_their_verdicts() -> None:
    job = MadeJob(report(), report([], RULES[1:2]))

    async def act(driven: Driven) -> None:
        await driven.press("down", "R")
        await driven.examined()
        assert job.asked == "host-swappiness" and job.runs == 2
        assert "host-swappiness" not in rules(driven) and "driver-too-old" in rules(driven)
        assert "0 new, 1 gone" in driven.text

    drive(job, act, (120, 24))


def test_a_number_shows_one_area_and_again_all() -> None:
    async def act(driven: Driven) -> None:
        every = rules(driven)
        await driven.press("2")
        assert rules(driven) == ["host-swappiness"] and "area:host" in driven.text
        await driven.press("2")
        assert rules(driven) == every
        await driven.press("1", "0")
        assert rules(driven) == every and isinstance(driven.app.focused, Findings)
        await driven.press("9")
        assert rules(driven) == every

    drive(MadeJob(report()), act)


def test_what_ruled_out_a_look_alike_stands_with_the_cause() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("enter")
        assert isinstance(driven.app.screen, CauseScreen)
        text = driven.app.screen.plain_text()
        assert "ruled out" in text and "[cann-row]" in text

    drive(MadeJob(report()), act)


def test_over_a_slow_line_the_detail_follows_as_soon_as_the_cursor_rests() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("down")
        await driven.until("WARN  The kernel swaps")

    drive(MadeJob(report()), act, (120, 24), pace=replace(SLOW, rest=0.01))


def test_a_filter_that_is_typed_in_one_piece_loses_nothing() -> None:
    """As over a slow line: the keys come before the editor has been made."""

    async def act(driven: Driven) -> None:
        for key, character in (("slash", "/"), *((letter, letter) for letter in "npu")):
            driven.app.post_message(events.Key(key, character))
        await driven.until("1 skipped")
        for _ in range(3):
            await driven.pilot.pause()
        assert driven.app.screen.query_one(FilterBox).value == "npu" and isinstance(driven.app.screen, CheckupScreen)

    drive(MadeJob(report()), act)


def test_hostile_text_in_every_field_goes_through_every_screen() -> None:
    words = Words(HOSTILE, HOSTILE)
    rule = replace(RULES[1], title=words, why=words, references=(HOSTILE,))
    found = replace(finding(rule, HOSTILE, HOSTILE, HOSTILE), title=words, why=words, evidence=(Evidence(HOSTILE, HOSTILE, 3, 3, 9, 4),))
    whole = report([found], (rule, *RULES[2:]))
    whole = replace(whole, problems=(HOSTILE,), host=replace(whole.host, label=HOSTILE, driver=HOSTILE, cann=HOSTILE))
    job = MadeJob(whole, label=HOSTILE)

    async def act(driven: Driven) -> None:
        for keys in (["enter"], ["e"], ["escape"], ["v"], ["escape"], ["x"], ["p"], ["L"], ["y"], ["question_mark"], ["escape"], ["n"], ["escape"], ["l"], ["escape"], ["slash", "n", "o"], ["ctrl+p"]):
            await driven.press(*keys)
            for line in driven.lines:
                assert clean(line) == line and cell_width(line) == 80 and "owned" not in line
        assert driven.app.is_running

    drive(job, act)


def test_hostile_processes_leave_the_table_of_npus_unharmed() -> None:
    processes = tuple(Process(pid, 1, HOSTILE[:4000], (HOSTILE[:4000],)) for pid in (4711, 5000))

    async def act(driven: Driven) -> None:
        await driven.press("n")
        await driven.until("910B3")
        assert {cell_width(line) for line in driven.lines} == {80}
        await driven.press("escape")
        assert isinstance(driven.app.screen, CheckupScreen)

    drive(HostJob(Working(lambda: TABLE.replace("VLLM::Worker_TP", "[/nope]\x1b[31m..")[:8000], processes)), act, examined=False)
