"""The screens behind the main ones, letter by letter: history, inputs, evidence, a rule's page, help. Written anew as those of test_golden.py."""

from __future__ import annotations

import pytest

from doctor.apply.journal import MadeChange, Transaction
from doctor.finding import Evidence
from doctor.tui.fixinputs import BY_KIND, NOTHING_GIVEN
from doctor.tui.fixjob import Place
from doctor.tui.fixview import fix_speaker
from doctor.tui.job import TextJob
from doctor.tui.screens.cause import CauseScreen
from doctor.tui.screens.evidence import EvidenceScreen
from doctor.tui.screens.help import help_page
from doctor.tui.screens.history import HistoryScreen
from doctor.tui.screens.inputs import InputsScreen
from doctor.tui.screens.page import PageScreen
from doctor.tui.smokeinputs import FIELDS
from doctor.tui.smokejob import NOTHING_ASKED
from doctor.tui.smokeview import smoke_speaker
from tests.tui.driving import Driven, drive
from tests.tui.made import RULES, MadeJob, report
from tests.tui.test_golden import LANGUAGES, SIZES, compared

EVERY = pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
IN_BOTH = pytest.mark.parametrize("language", LANGUAGES)


def _made(ident: str, time: str, fixes: list[str], path: str, **told: str) -> Transaction:
    return Transaction(ident, time, {"fixes": fixes, "who": {"user": "root", "uid": 0}}, [MadeChange(1, "drop-in", {"kind": "file", "path": path}, {}, done=True)], **told)


TRANSACTIONS = (
    _made("20261130-140211-1f3a", "2026-11-30T14:02:11.000+00:00", ["host-swappiness/lower"], "/etc/sysctl.d/99-zz-ascend-doctor-vm-swappiness.conf", outcome="fixed"),
    _made("20261130-120000-77aa", "2026-11-30T12:00:00.000+00:00", ["cann-env-not-sourced/environment"], "/var/lib/ascend-doctor/env/environment.sh"),
    _made("20261129-080000-0001", "2026-11-29T08:00:00.000+00:00", ["host-thp/never"], "/sys/kernel/mm/transparent_hugepage/enabled", outcome="fixed", undone="2026-11-29T09:00:00"),
)  # fmt: skip


@EVERY
@IN_BOTH
def test_history(language: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("doctor.tui.screens.history.journal", lambda place: TRANSACTIONS)

    def nowhere() -> None:
        raise AssertionError("nothing is planned")

    async def act(driven: Driven) -> None:
        await driven.app.push_screen(HistoryScreen(Place(nowhere)))  # type: ignore[arg-type]
        await driven.until("host-thp")
        await driven.press("down")
        compared("history", language, size, driven.lines)
        await driven.press("up", "U")
        compared("history-confirm", language, size, driven.lines)

    drive(MadeJob(report()), act, size, language)


@EVERY
@IN_BOTH
def test_inputs(language: str, size: tuple[int, int]) -> None:
    given = {**NOTHING_GIVEN, "pids": "4711 4712"}
    fields = tuple(dict.fromkeys(field for kind in ("environment", "packages", "cann") for field in BY_KIND[kind]))

    async def act(driven: Driven) -> None:
        known = {"cards": "0, 1: VLLM::Worker_TP (4711)", "server": "http://127.0.0.1:8000"}
        await driven.app.push_screen(InputsScreen("inputs_smoke", FIELDS, {**NOTHING_ASKED, "model": "/models/Qwen3-8B"}, smoke_speaker, lambda values: None, known))
        await driven.press("down", "down")
        compared("inputs-smoke", language, size, driven.lines)
        await driven.press("enter", *"ftp://x", "enter")
        compared("inputs-refused", language, size, driven.lines)
        await driven.press("escape", "escape")
        await driven.app.push_screen(InputsScreen("inputs_fix", fields, given, fix_speaker, lambda values: None))
        await driven.pilot.pause()
        compared("inputs-fix", language, size, driven.lines)

    drive(MadeJob(report()), act, size, language)


@EVERY
@IN_BOTH
def test_evidence_and_pages(language: str, size: tuple[int, int]) -> None:
    from doctor.report.page import rule_page

    lines = [f"2026-11-30 12:00:{number % 60:02} [{'ERROR' if number == 30 else 'WARNING' if number % 9 == 0 else 'INFO'}] step {number} 推理" for number in range(60)]
    job = TextJob("serve.log", text="\n".join(lines))

    async def act(driven: Driven) -> None:
        await driven.app.push_screen(EvidenceScreen(job, Evidence("serve.log", lines[30], 31)))
        await driven.until("step 30")
        await driven.press("slash", *"step 31", "enter")
        compared("evidence", language, size, driven.lines)
        await driven.press("escape")
        await driven.app.push_screen(PageScreen(lambda tongue, style: rule_page(RULES[0], tongue, style)))
        await driven.pilot.pause()
        compared("page", language, size, driven.lines)
        await driven.press("escape")
        await driven.app.push_screen(PageScreen(help_page(CauseScreen.KEYS)))
        await driven.pilot.pause()
        compared("help", language, size, driven.lines)

    drive(MadeJob(report()), act, size, language)
