"""GitLab's Code Quality report: one entry a cause, with a fingerprint that is the same on every machine and at every time.

GitLab ties an entry to a file of the repository: log evidence names its log; what was found on a machine has no such file, and names
`doctor.toml`, where it can be suppressed. JUnit is the better form for a machine.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from doctor.diagnosis import Cause
from doctor.finding import Severity
from doctor.fingerprint import fingerprint
from doctor.report.model import Report
from doctor.said import said
from doctor.text import clean, clean_line

NO_FILE = "doctor.toml"

_SEVERITIES = {Severity.FAIL: "critical", Severity.WARN: "major", Severity.NOTE: "info"}


def render(report: Report) -> str:
    """A JSON array."""
    seen: Counter[str] = Counter()
    return json.dumps([_entry(cause, report.run.language, seen) for cause in report.examination.causes], ensure_ascii=False, indent=2) + "\n"


def _entry(cause: Cause, language: str, seen: Counter[str]) -> dict[str, Any]:
    finding = cause.finding
    mark = fingerprint(finding.rule, finding.subject)
    seen[mark] += 1
    path, line = place(cause)
    return {
        "description": clean_line(finding.title[language]) + (f" ({clean_line(said(finding.found, language))})" if finding.found else ""),
        "check_name": finding.rule,
        "fingerprint": mark if seen[mark] == 1 else f"{mark}-{seen[mark]}",
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": path, "lines": {"begin": line}},
    }


def place(cause: Cause) -> tuple[str, int]:
    """(file, line) of the first evidence in a file that may belong to a repository: a relative path without `..`; else `NO_FILE`."""
    for item in cause.finding.evidence:
        source = clean(item.source).removeprefix("./")
        if item.line and source and not source.startswith(("/", "-", "~")) and " " not in source and ".." not in source.split("/") and ":" not in source:
            return source, item.line
    return NO_FILE, 1


__all__ = ["NO_FILE", "place", "render"]
