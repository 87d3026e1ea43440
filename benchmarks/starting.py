"""Measures starts and checks: what a user waits for before anything is looked at, and a check of this machine and of a recorded one."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.inputs import small_log
from benchmarks.measuring import Promise, in_turn, sample

HOST = Path(__file__).resolve().parents[1] / "fixtures" / "hosts" / "a3-healthy"

FACTS = """
import sys
from pathlib import Path
from doctor.cli import run
import doctor.rulebook
if sys.argv[1] == "facts":
    doctor.rulebook.load = lambda: doctor.rulebook.Rulebook({}, {})
    import doctor.examine as examine
    from doctor.facts import providers
    finish = examine._finish
    def read(kind, label, sets, *rest):
        for one in sets:
            for fact in providers():
                one.facts.get(fact)
        return finish(kind, label, sets, *rest)
    examine._finish = read
sys.exit(run(["--json", "--from", sys.argv[2]]))
"""
"""Doctor with its rules, or with all facts read and no rule at all."""


def starting(python: str, doctor: str, folder: Path, runs: int) -> Iterator[Promise]:
    """What a user waits for before anything is looked at, and the checks."""
    log = folder / "small.log"
    small_log(log)
    tab = ["env", "_DOCTOR_COMPLETE=bash_complete", "COMP_WORDS=doctor explain cann-", "COMP_CWORD=2", doctor]
    nothing, version, usage, completed, read = in_turn(
        [
            lambda: sample([python, "-c", "pass"]),
            lambda: sample([doctor, "--version"]),
            lambda: sample([doctor, "--help"]),
            lambda: sample(tab),
            lambda: sample([doctor, "log", str(log)]),
        ],
        runs,
    )
    yield Promise("`doctor --version` / `python -c pass`", version.seconds / nothing.seconds, 3)
    yield Promise("`doctor --help` / `python -c pass`", usage.seconds / nothing.seconds, 3)
    yield Promise("a shell's Tab after `doctor explain` / `python -c pass`", completed.seconds / nothing.seconds, 3)
    yield Promise("`doctor log`, 100 kB / `python -c pass`", read.seconds / nothing.seconds, 8)


def checking(python: str, doctor: str, _folder: Path, runs: int) -> Iterator[Promise]:
    """A check of this machine and of a recorded one."""
    commands = [
        lambda: sample([doctor, "--json"]),
        lambda: sample([python, "-c", FACTS, "rules", str(HOST)]),
        lambda: sample([python, "-c", FACTS, "facts", str(HOST)], accepted=(0, 1, 3)),  # 3: no rule could look
    ]
    other = shutil.which("msprechecker")
    if other:
        commands.append(lambda: sample([str(other), "precheck"]))
    check, rules, facts, *yardstick = in_turn(commands, runs)
    if yardstick:
        yield Promise("`doctor --json` / `msprechecker precheck`, this machine", check.seconds / yardstick[0].seconds, 1)
    else:
        print("Left out: msprechecker is not on PATH (pip install msprechecker==0.4.0 into an environment of its own).", file=sys.stderr)
    yield Promise("`doctor --json` / its facts without rules, a recorded server", rules.seconds / facts.seconds, 1.3)
    yield Promise("`doctor --json`, this machine, peak memory", check.megabytes, 80, "MB")
