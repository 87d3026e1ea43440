"""Where the package doctor.rules and its data lie: installed, editable, or beside `doctor` in a bare checkout; and whether others' packs are installed."""

from __future__ import annotations

import functools
import os
import sys

TYPE_CHECKING = False  # see doctor.locale: a shell's Tab asks here for the names of rules
if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

PACKAGE = "doctor.rules"
ENTRY_POINTS = "doctor.rules"
"""The group under which others' packs of rules are found."""


@functools.cache
def rules_folder() -> Path:
    """The folder of doctor.rules, found without importing it.

    What lies with this very copy of doctor comes first: an editable install of another checkout would otherwise lend its rules.
    """
    from pathlib import Path

    if beside := _beside():
        return Path(beside)
    import importlib.util

    here = os.path.dirname(os.path.realpath(__file__))
    spec = importlib.util.find_spec(PACKAGE)
    if spec is not None and spec.origin is not None:
        return Path(spec.origin).parent
    raise ModuleNotFoundError(f"the rules are neither installed as {PACKAGE} nor found beside {here}", name=PACKAGE)


def _beside() -> str:
    """The folder that lies with this copy of doctor; "" for none."""
    here = os.path.dirname(os.path.realpath(__file__))
    for folder in (os.path.join(here, "rules"), os.path.join(os.path.dirname(here), "rules")):
        if os.path.isfile(os.path.join(folder, "__init__.py")) and os.path.isdir(os.path.join(folder, "data")):
            return folder
    return ""


def rules_package() -> ModuleType:
    """The package doctor.rules, loaded under that name from `rules_folder`."""
    if PACKAGE in sys.modules:
        return sys.modules[PACKAGE]
    import importlib.util

    folder = rules_folder()
    spec = importlib.util.spec_from_file_location(PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)])
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"{folder} is no package", name=PACKAGE)
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)
    return module


def rule_names() -> tuple[str, ...]:
    """The ids of the built-in rules, which are the names of their files; in order."""
    with os.scandir(_beside() or rules_folder()) as areas:
        folders = [area.path for area in areas if area.is_dir() and area.name != "data"]
    return tuple(sorted(name.removesuffix(".yaml") for folder in folders for name in os.listdir(folder) if name.endswith(".yaml")))


def data_text(name: str) -> str:
    """A data file that ships with the rules: "compat.yaml", "errors/acl.json"."""
    return (rules_folder() / "data" / name).read_text(encoding="utf-8")


def packs_installed() -> bool:
    """Whether any installed distribution names a rule pack, seen without importlib.metadata, which takes longer than all the rules.

    Archives on the path cannot be seen so: then the answer is yes, and importlib.metadata has the last word.
    """
    for entry in dict.fromkeys(sys.path):
        try:
            with os.scandir(entry or ".") as files:
                told = [file.path for file in files if file.name.endswith((".dist-info", ".egg-info"))]
        except NotADirectoryError:
            return True
        except OSError:
            continue
        if any(_names_packs(os.path.join(path, "entry_points.txt")) for path in told):
            return True
    return False


def _names_packs(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return ENTRY_POINTS.encode() in file.read()
    except OSError:
        return False
