"""Where the package doctor.rules and its data lie: installed, editable, or beside `doctor` in a bare checkout."""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

PACKAGE = "doctor.rules"


@functools.cache
def rules_folder() -> Path:
    """The folder of doctor.rules, found without importing it."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent
    folder = Path(__file__).resolve().parent.parent / "rules"
    if not (folder / "__init__.py").is_file():
        raise ModuleNotFoundError(f"the rules are neither installed as {PACKAGE} nor found at {folder}", name=PACKAGE)
    return folder


def data_text(name: str) -> str:
    """A data file that ships with the rules: "compat.yaml", "errors/acl.json"."""
    return (rules_folder() / "data" / name).read_text(encoding="utf-8")
