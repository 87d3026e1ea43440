"""What a plan may be given by its user, by the kinds of its steps: a package, a folder of wheels, processes, a form, the network. Knows no Textual."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from doctor.fix import kind_of
from doctor.tui.form import Field, Values
from doctor.tui.told import Told

if TYPE_CHECKING:
    from doctor.apply.engine import Plan
    from doctor.apply.kind import Choices

NOTHING_GIVEN: Values = {"form": "auto", "online": "no"}


def _packages(text: str) -> Told | None:
    paths = paths_of(text)
    missing = [path for path in paths or () if not os.path.exists(path)]
    return Told("input_quotes") if paths is None else Told("refused_model", {"path": missing[0]}) if missing else None


def _folder(text: str) -> Told | None:
    return None if os.path.isdir(os.path.expanduser(text)) else Told("input_no_folder", {"path": text})


def _pids(text: str) -> Told | None:
    return None if all(word.isascii() and word.isdecimal() and len(word) < 9 and int(word) > 1 for word in _words(text)) else Told("input_no_pids")


def _file(text: str) -> Told | None:
    path = os.path.expanduser(text)
    return None if os.path.isdir(os.path.dirname(os.path.abspath(path))) and not os.path.isdir(path) else Told("input_no_file", {"path": text})


PACKAGE = Field("package", "input_package", "input_package_hint", check=_packages)
WHEELS = Field("wheels", "input_wheels", "input_wheels_hint", check=_folder)
ONLINE = Field("online", "input_online", "input_online_hint", ("no", "yes"))
PIDS = Field("pids", "input_pids", "input_pids_hint", check=_pids)
FORM = Field("form", "input_form", "input_form_hint", ("auto", "shell", "systemd", "dockerfile", "compose", "kubernetes"))
WRITTEN_TO = Field("to", "input_to", "input_to_hint", check=_file)
UNIT = Field("unit", "input_unit", "input_unit_hint")

BY_KIND: Mapping[str, tuple[Field, ...]] = {
    "environment": (FORM, WRITTEN_TO, UNIT),
    "systemd": (UNIT,),
    "container": (FORM, WRITTEN_TO, UNIT),
    "packages": (WHEELS, ONLINE, PIDS),
    "cann": (PACKAGE, FORM, WRITTEN_TO, UNIT),
    "operators": (PACKAGE, FORM, WRITTEN_TO, UNIT),
    "guide": (PACKAGE,),
    "processes": (PIDS,),
    "command": (WRITTEN_TO,),
}
"""The inputs that a kind of step reads; a kind that is not named reads none."""


def fields_of(plan: Plan | None) -> tuple[Field, ...]:
    """The inputs of this plan's steps, each once."""
    kinds = (kind_of(step.action) for fix in (plan.fixes if plan is not None else ()) for step in fix.steps)
    return tuple(dict.fromkeys(field for kind in kinds for field in BY_KIND.get(kind, ())))


def choices_of(given: Values) -> Choices:
    """What was typed, as the engine takes it."""
    from doctor.apply.kind import Choices

    packages = tuple(paths_of(given.get("package", "")) or ())
    form = given.get("form", "auto")
    return Choices(
        form="" if form == "auto" else form, to=_whole(given.get("to", "")), unit=given.get("unit", ""), package=packages[0] if packages else "", packages=packages,
        wheels=_whole(given.get("wheels", "")), online=given.get("online") == "yes", pids=tuple(int(word) for word in _words(given.get("pids", ""))),
    )  # fmt: skip


def paths_of(text: str) -> list[str] | None:
    """Paths as in a shell; None where a quote does not end."""
    try:
        return [_whole(word) for word in shlex.split(text)]
    except ValueError:
        return None


def _whole(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path)) if path else ""


def _words(text: str) -> Iterable[str]:
    return text.replace(",", " ").split()


__all__ = ["BY_KIND", "NOTHING_GIVEN", "choices_of", "fields_of"]
