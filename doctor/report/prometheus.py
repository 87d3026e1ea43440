"""Prometheus' text format for the textfile collector of node_exporter: the state of each rule as a number.

Labels hold ids and areas of rules, never text from outside. Write it with `--output prometheus=FILE.prom`, which replaces the file at
once, so that no collector reads half of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from doctor.report.entries import State, entries
from doctor.report.model import Report

NUMBERS = {State.PASS: 0, State.NOTE: 1, State.WARN: 2, State.FAIL: 3, State.SUPPRESSED: -1, State.SKIP: -2, State.BROKEN: -3}
"""The value of `doctor_rule_state`; below zero it was not judged or does not count."""


def render(report: Report) -> str:
    """The whole exposition."""
    return "".join(line + "\n" for line in _lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield "# HELP doctor_rule_state 0 pass, 1 note, 2 warn, 3 fail, -1 suppressed, -2 skipped, -3 broken."
    yield "# TYPE doctor_rule_state gauge"
    for entry in sorted(entries(report), key=lambda entry: entry.name):
        yield f'doctor_rule_state{{rule="{_label(entry.name)}",area="{_label(entry.area)}"}} {NUMBERS[entry.state]}'
    yield "# HELP doctor_causes Causes found, by severity."
    yield "# TYPE doctor_causes gauge"
    for severity, count in report.summary.severities.items():
        yield f'doctor_causes{{severity="{severity}"}} {count}'
    yield "# HELP doctor_exit_code Exit code of the run: 0 nothing, 1 causes at or above --fail-on, 3 doctor could not do its work."
    yield "# TYPE doctor_exit_code gauge"
    yield f"doctor_exit_code {report.exit_code}"
    yield "# HELP doctor_run_timestamp_seconds When the run began."
    yield "# TYPE doctor_run_timestamp_seconds gauge"
    yield f"doctor_run_timestamp_seconds {datetime.fromisoformat(report.run.started).timestamp():.0f}"
    yield "# HELP doctor_run_seconds How long it took."
    yield "# TYPE doctor_run_seconds gauge"
    yield f"doctor_run_seconds {report.examination.seconds:.3f}"


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", " ").replace('"', '\\"')


__all__ = ["NUMBERS", "render"]
