"""Where the package doctor.rules and its data lie: installed, editable, or beside `doctor` in a bare checkout."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

PACKAGE = "doctor.rules"


@functools.cache
def rules_folder() -> Path:
    """The folder of doctor.rules, found without importing it.

    What lies with this very copy of doctor comes first: an editable install of another checkout would otherwise lend its rules.
    """
    here = Path(__file__).resolve().parent
    for folder in (here / "rules", here.parent / "rules"):
        if (folder / "__init__.py").is_file() and (folder / "data").is_dir():
            return folder
    spec = importlib.util.find_spec(PACKAGE)
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent
    raise ModuleNotFoundError(f"the rules are neither installed as {PACKAGE} nor found beside {here}", name=PACKAGE)


def rules_package() -> ModuleType:
    """The package doctor.rules, loaded under that name from `rules_folder`."""
    if PACKAGE in sys.modules:
        return sys.modules[PACKAGE]
    folder = rules_folder()
    spec = importlib.util.spec_from_file_location(PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"{folder} is no package", name=PACKAGE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)
    return module


def data_text(name: str) -> str:
    """A data file that ships with the rules: "compat.yaml", "errors/acl.json"."""
    return (rules_folder() / "data" / name).read_text(encoding="utf-8")
