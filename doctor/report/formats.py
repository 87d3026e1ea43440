"""The output formats by name; each is one module of this package with `render(report) -> str`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from doctor.report.model import Report

MODULES: Mapping[str, str] = {
    "json": "json_format",
    "junit": "junit",
    "sarif": "sarif",
    "github": "github",
    "gitlab": "gitlab",
    "markdown": "markdown",
    "html": "html",
    "prometheus": "prometheus",
    "nagios": "nagios",
    "tap": "tap",
}
"""Format -> module. `text` is missing: it needs to know the terminal (`doctor.report.text_format`)."""

NAMES = ("text", *MODULES)


def render(name: str, report: Report) -> str:
    """The report in one of `MODULES`."""
    text: str = importlib.import_module(f"doctor.report.{MODULES[name]}").render(report)
    return text


__all__ = ["MODULES", "NAMES", "render"]
