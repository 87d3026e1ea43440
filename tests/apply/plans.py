"""Plans for tests of scripts: of every fix that the fixtures lead to, and of each kind of change that no fixture can show."""

from __future__ import annotations

import functools
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from doctor.apply.cannchange import CannChange, Piece
from doctor.apply.change import Change
from doctor.apply.endchange import EndChange
from doctor.apply.kind import Choices
from doctor.apply.leftoverchange import LeftoverChange
from doctor.apply.oppchange import OppChange
from doctor.apply.pipchange import PipChange
from doctor.apply.pipreport import Installer
from doctor.apply.plan import FixPlan, Plan, StepPlan
from doctor.apply.planning import Looked, plan_fix
from doctor.apply.sitestate import Places
from doctor.examine import Selection, examine_host
from doctor.fix import EndProcesses, Safety
from doctor.host.plain import PlainHost
from doctor.logscan.sources import text_chunk
from doctor.words import Words
from tests.fixture_cases import FIXTURES, SmallCase, _write_host, book, small_cases


class Running(PlainHost):
    """A recorded machine that a plan takes for the one it will be made on."""

    live = True


MOST_TEXTS = 2
"""Firing texts of one rule that are tried: their fixes differ in nothing that a script would show."""


@functools.cache
def of_fixtures() -> tuple[Plan, ...]:
    """One plan for each fix that doctor can make in a firing case, each once. A text is taken as found on a healthy server."""
    doing = {rule.id for rule in book().rules.values() if any(fix.do for fix in rule.fixes)}
    plans: dict[str, Plan] = {}
    with tempfile.TemporaryDirectory() as scratch:
        texts: Counter[str] = Counter()
        for number, case in enumerate(small_cases()):
            texts[case.rule] += case.expect == "fires" and case.text is not None
            if case.expect == "fires" and case.rule in doing and (case.text is None or texts[case.rule] <= MOST_TEXTS):
                for fix in _fixes(case, Path(scratch) / str(number)):
                    plan = Plan("/", "node-7", (fix,))
                    plans[plan.hash] = plan
    return tuple(plans.values())


def _fixes(case: SmallCase, folder: Path) -> Iterator[FixPlan]:
    if case.text is None:
        if case.base:
            shutil.copytree(FIXTURES / "hosts" / case.base, folder, symlinks=True)
        _write_host(folder, case)
    host = Running(folder if case.text is None else FIXTURES / "hosts" / "a2-healthy")
    chunks = [text_chunk(case.text, "input.txt")] if case.text is not None else []
    examination = examine_host(host, book(), Selection(only=(case.rule,)), chunks=chunks)
    looked = Looked(examination, host, "/", 0, Choices())
    for cause in examination.causes:
        for fix in cause.finding.fixes:
            plan = plan_fix(looked, cause.finding, fix)
            if plan.applicable:
                yield plan


def of_changes(*changes: Change) -> Plan:
    """A plan of just these changes."""
    words = Words("It's $(touch /tmp/x) `id`\nrm -rf /", "设置")
    step = StepPlan("end", EndProcesses("port"), words, changes)
    return Plan("/", "node-7", (FixPlan("host-x", "set", "", words, words, Safety.ASK, (step,)),))


HOSTILE = "/srv/a b's $(id) {{ x }}"


def of_kinds() -> tuple[Plan, ...]:
    """Changes of the kinds that need a running machine, a package, or an interpreter."""
    return (
        of_changes(EndChange(4711, 123, 0, "python3", ("python3", "serve it.py", "--name", "it's $(id) {{ x }} %s \\n"))),
        of_changes(EndChange(4711, 123, 0, "python3")),
        of_changes(LeftoverChange("/dev/shm/psm_0a1b2c", 100, 1, 0, 0, 0o600)),
        of_changes(OppChange(f"{HOSTILE}/custom_opp.run", "0" * 64, "/opt/ascend-doctor/opp/a", "customize", "/usr/bin/python3", ("MyOp",), (), ())),
        of_changes(PipChange(Installer("/v v/bin/python", wheels=HOSTILE), Places("/v v", ("/v v/lib",), "/v v/bin"), {"torch": "2.6.0", "x": "1", "y": ""}, {"torch": "2.7.1", "x": "", "y": "3"})),
        of_changes(PipChange(Installer("/v/bin/python", wheels="/w"), Places("/v", ("/v/lib",), "/v/bin"), {"x": "1"}, {"x": ""})),
        of_changes(CannChange("/opt/ascend/cann-8.5.1", "8.5.1", (Piece("toolkit", f"{HOSTILE}/toolkit.run", "0" * 64),), "ascend910b")),
    )


__all__ = ["of_changes", "of_fixtures", "of_kinds"]
