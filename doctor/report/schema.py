"""The published JSON Schema of doctor's output (draft 2020-12), as it ships with the package."""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).with_name("report.schema.json")


def text() -> str:
    """The schema as JSON text."""
    return FILE.read_text(encoding="utf-8")
