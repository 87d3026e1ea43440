"""One line as a monitoring plugin says it (Nagios, Icinga, Zabbix, Centreon), with performance data.

This is the one format whose exit code is another's: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN, since that is what the caller reads
(monitoring-plugins.org, "Plugin Return Codes"). `--fail-on` has no say: each severity has its own code.
"""

from __future__ import annotations

from doctor.finding import Severity
from doctor.report.model import CANNOT, Report
from doctor.text import clean_line

_STATES = ("OK", "WARNING", "CRITICAL", "UNKNOWN")


def code(report: Report) -> int:
    """The plugin's exit code. A run that did not do its work is UNKNOWN unless a failure is certain already."""
    worst = max((cause.finding.severity for cause in report.examination.causes), default=None)
    if worst is Severity.FAIL:
        return 2
    if report.exit_code == CANNOT:
        return 3
    return 1 if worst is Severity.WARN else 0


def render(report: Report) -> str:
    """The line."""
    causes, language = report.examination.causes, report.run.language
    first = f"{causes[0].finding.rule}: {_text(causes[0].finding.title[language])}" if causes else "no cause found"
    more = f" (+{len(causes) - 1})" if len(causes) > 1 else ""
    counts = {**report.summary.severities, "skipped": report.summary.outcomes.get("skipped", 0), "broken": report.summary.outcomes.get("broken", 0)}
    data = " ".join(f"{name}={number};;;0;{report.summary.rules}" for name, number in counts.items())
    return f"DOCTOR {_STATES[code(report)]} - {first}{more} | {data} time={report.examination.seconds:.3f}s;;;0;\n"


def _text(text: str) -> str:
    """`|` would begin the performance data."""
    return clean_line(text).replace("|", "/")[:300]


__all__ = ["code", "render"]
