"""The NPUs' screen: what holds which chip is told and what is odd is marked; looks follow each other and never overlap."""

from __future__ import annotations

import threading

import pytest

from doctor.facts import FixedFacts, HostFacts
from doctor.facts.npu import Npus
from doctor.facts.npu_smi import parse_npu_smi
from doctor.facts.npu_types import Npu, NpuProcess
from doctor.facts.npu_use import HELD, LEFTOVER, OTHER, SERVER, SHARED, UNHEALTHY, UNKNOWN, UNSEEN, ZOMBIE, chip_uses
from doctor.host import Process, Unavailable, Why
from doctor.host.recorded import open_host
from doctor.report.model import Report
from doctor.text import cell_width, clean
from doctor.tui.cards import History, Look, Table, look, told
from doctor.tui.glyphs import ASCII, UNICODE, choose
from doctor.tui.job import HostJob
from doctor.tui.screens.npus import PACE, NpusScreen
from doctor.tui.watch import Watch
from doctor.tui.words import speaker
from tests.tui.driving import HOSTS, Driven, drive, host_job, text_job
from tests.tui.standins import PROCESSES, TABLE, Working


def npus(table: str = TABLE) -> Npus:
    found = parse_npu_smi(table)
    assert found is not None
    return found


# Who holds what


def test_a_worker_belongs_to_its_server_and_one_without_a_server_is_left_over() -> None:
    uses = chip_uses(npus(), PROCESSES)
    assert [[holder.state for holder in use.holders] for use in uses] == [[SERVER], [LEFTOVER], [], [UNSEEN]]
    assert uses[0].holders[0].root == 4000 and uses[1].holders[0].odd


def test_chips_that_are_odd_are_marked() -> None:
    assert [use.marks for use in chip_uses(npus(), PROCESSES)] == [(), (), (UNHEALTHY, HELD), ()]
    other = (*PROCESSES, Process(6000, 1, "python3", ("python3", "train.py"), state="S"))
    table = TABLE.replace("| 1       0                 | 5000 ", "| 0       0                 | 6000 ")
    assert chip_uses(npus(table), other)[0].marks == (SHARED,)
    assert chip_uses(npus(table), other)[0].holders[1].state == OTHER


def test_a_zombie_is_told_and_unknown_processes_are_not_called_gone() -> None:
    zombie = tuple(Process(p.pid, p.ppid, p.name, p.argv, state="Z" if p.pid == 5000 else "S") for p in PROCESSES)
    assert chip_uses(npus(), zombie)[1].holders[0].state == ZOMBIE
    assert {holder.state for use in chip_uses(npus(), None) for holder in use.holders} == {UNKNOWN}


def test_processes_that_are_each_others_parents_do_not_go_round_for_ever() -> None:
    ring = (Process(7, 8, "VLLM::Worker_TP", ("VLLM::Worker_TP0",)), Process(8, 7, "VLLM::Worker_TP", ("VLLM::Worker_TP1",)))
    table = Npus((Npu(0, 0, "910B3"),), (NpuProcess(0, 0, 7, "x", 5000),))
    assert chip_uses(table, ring)[0].holders[0].state == SERVER


# Looks


@pytest.mark.parametrize("name", ["a2-healthy", "a3-healthy", "310p-wrong-kernels", "950-healthy"])
def test_every_layout_of_npu_smi_is_shown(name: str) -> None:
    host = open_host(HOSTS / name)
    found, expected = look(host), HostFacts(host).get(Npus)
    assert not isinstance(expected, Unavailable) and len(found.uses) == len(expected.chips) > 1
    for width in (57, 77, 117):
        lines = [line.plain for line in Table(found, History(), speaker("en"), UNICODE, width).lines()]
        assert max(map(cell_width, lines)) <= width
        assert sum("OK" in line for line in lines) == len(found.uses)


@pytest.mark.parametrize("name", ["no-npu", "container-no-hal"])
def test_a_machine_without_npu_smi_says_why(name: str) -> None:
    found = look(open_host(HOSTS / name))
    assert "npu-smi info: missing" in found.problem
    assert "no NPU" in Table(found, History(), speaker("en"), UNICODE, 80).content().plain


def test_a_text_tells_its_own_table() -> None:
    assert len(told(FixedFacts(npus())).uses) == 4
    assert told(FixedFacts()).problem


def test_what_a_table_holds_stays_in_its_cells() -> None:
    hostile = Npu(0, 0, "[/nope]\x1b[31m910" * 9, "[red]\u202eAlarm" * 9, 1e12, -4.0, 1e9, hbm_used_mb=10**9, hbm_total_mb=1)
    table = Npus((hostile,), (NpuProcess(0, 0, 7, "\x1b]0;owned\x07中文" * 400, 10**9),))
    history = History()
    for _ in range(3):
        history.add(chip_uses(table, None))
    for width in (57, 77, 117):
        for line in Table(Look(chip_uses(table, None), table), history, speaker("zh"), ASCII, width).lines():
            assert clean(line.plain) == line.plain and cell_width(line.plain) <= width


# Bars


def test_bars_and_histories() -> None:
    assert ASCII.bar(0.5, 8) == "####...." and ASCII.bar(7, 4) == "####" and ASCII.bar(None, 4) == "    "
    assert ASCII.history([None, 0.0, 1.0], 5) == "   _#"
    assert len(UNICODE.history([0.1] * 50, 12)) == 12


@pytest.mark.parametrize(
    ("environ", "language", "encoding", "plain"),
    [
        ({"TERM": "xterm", "LANG": "en_US.UTF-8"}, "en", "utf-8", False),
        ({"TERM": "xterm", "LANG": "zh_CN.UTF-8"}, "en", "utf-8", True),
        ({"TERM": "xterm"}, "zh", "utf-8", True),
        ({"TERM": "linux"}, "en", "utf-8", True),
        ({"TERM": "screen"}, "en", "gb18030", True),
    ],
)
def test_marks_of_doubtful_width_are_not_used_where_they_may_be_wide(environ: dict[str, str], language: str, encoding: str, plain: bool) -> None:
    assert choose(environ, language, encoding=encoding).ascii_only == plain
    assert choose(environ, language, encoding=encoding, ascii_only=True).ascii_only


# The screen


def test_the_table_is_opened_by_its_key_and_copied() -> None:
    async def act(driven: Driven) -> None:
        await driven.press("n")
        await driven.until("LEFTOVER")
        assert "Memory is in use, but npu-smi lists no process" in driven.text and "####" in driven.text
        await driven.press("y")
        assert "EngineCore_DP0" in driven.app.clipboard
        await driven.press("L")
        assert "残留" in driven.text
        await driven.press("escape")
        assert not isinstance(driven.app.screen, NpusScreen)

    drive(HostJob(Working()), act, (120, 30), examined=False, glyphs=ASCII)


def test_a_recording_is_looked_at_once_and_a_text_shows_its_table() -> None:
    async def recorded(driven: Driven) -> None:
        await driven.press("n")
        await driven.until("recorded, not refreshed")
        assert driven.app.screen._next is None  # type: ignore[attr-defined]

    async def text(driven: Driven) -> None:
        await driven.press("n")
        await driven.until("301.2 W")

    drive(host_job("a2-healthy", "driver"), recorded)
    drive(text_job(TABLE, "npu-idle*"), text)


def test_looks_never_overlap_and_a_hanging_one_keeps_nothing_waiting() -> None:
    """While npu-smi hangs, more looks are asked for, other screens opened, and the app left."""
    running, most, begun, go_on = [0], [0], threading.Event(), threading.Event()

    def table() -> str:
        running[0] += 1
        most[0] = max(most[0], running[0])
        begun.set()
        go_on.wait(120)
        running[0] -= 1
        return TABLE

    async def act(driven: Driven) -> None:
        await driven.press("n")
        assert begun.wait(60)
        for keys in (["r"], ["r"], ["question_mark"], ["escape"], ["space"], ["space"], ["r"]):
            await driven.press(*keys)
        assert "asking npu-smi" in driven.text
        await driven.press("q")

    class Nothing(HostJob):
        def run(self, watch: Watch, only: str = "") -> Report:
            raise ValueError("no check here")

    drive(Nothing(Working(table)), act)
    assert most[0] == 1
    go_on.set()


def test_a_look_that_took_long_is_followed_by_a_longer_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def act(driven: Driven) -> None:
        screen = NpusScreen("host", lambda watch: Look(problem="x"))
        await driven.app.push_screen(screen)
        monkeypatch.setattr(screen, "set_timer", lambda seconds, callback: pauses.append(seconds))
        for seconds in (0.4, 12.0):
            screen.post_message(NpusScreen.Looked(Look(seconds=seconds, problem="npu-smi info: timed out")))
            await driven.pilot.pause()
        assert pauses == [PACE, 48.0]

    drive(text_job("nothing", "driver"), act)


def test_unavailable_processes_are_no_empty_list() -> None:
    class Blind(Working):
        def processes(self) -> Unavailable:  # type: ignore[override]
            return Unavailable("processes", Why.DENIED)

    found = look(Blind())
    assert not found.processes_known
    assert "list of processes is not known" in Table(found, History(), speaker("en"), ASCII, 100).content().plain
