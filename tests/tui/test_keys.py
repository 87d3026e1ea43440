"""Every action of every screen has a key, help and a place in the palette; nothing that changes or loads a machine is on a lower-case letter."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest
from textual.binding import Binding

from doctor.tui import screens
from doctor.tui.app import DoctorApp
from doctor.tui.keys import COMMON, Key
from doctor.tui.screens.base import DoctorScreen
from doctor.tui.screens.inputs import InputsScreen
from doctor.tui.words import WORDS
from tests.tui.driving import Driven, drive
from tests.tui.made import MadeJob, report

SCREENS = sorted(
    {
        kind
        for module in pkgutil.iter_modules(screens.__path__)
        for kind in vars(importlib.import_module(f"doctor.tui.screens.{module.name}")).values()
        if inspect.isclass(kind) and issubclass(kind, DoctorScreen) and kind.KEYS
    },
    key=lambda kind: kind.__name__,
)

OWN = {"CheckupScreen": {"open", "areas"}, "SmokeScreen": {"whole", "levels"}, "InputsScreen": {"edit"}}
"""Actions whose keys a list takes itself, or that stand for several keys with a number each."""


def actions(kind: type[DoctorScreen]) -> set[str]:
    """What the classes of this project give a screen to do, keys with an argument left out."""
    ours = [each for each in kind.__mro__ if each.__module__.startswith("doctor.")]
    return {name.removeprefix("action_") for each in ours for name in vars(each) if name.startswith("action_")} - {"area", "level"}


def bound(kind: type[DoctorScreen]) -> dict[str, str]:
    """Action by key."""
    found = {}
    for binding in kind.BINDINGS:
        assert isinstance(binding, Binding)
        found.update(dict.fromkeys(binding.key.split(","), binding.action))
    return found


def test_every_screen_is_walked() -> None:
    assert {kind.__name__ for kind in SCREENS} >= {
        "BundleScreen", "CauseScreen", "CheckupScreen", "EvidenceScreen", "FixScreen", "HistoryScreen", "InputsScreen", "LogsScreen", "NpusScreen", "PageScreen",
        "SmokeScreen", "WatchScreen",
    }  # fmt: skip


@pytest.mark.parametrize("kind", SCREENS, ids=lambda kind: kind.__name__)
def test_every_action_has_a_key_and_every_key_an_action(kind: type[DoctorScreen]) -> None:
    listed = {key.action for key in kind.KEYS}
    assert actions(kind) <= listed | OWN.get(kind.__name__, set()), "an action without a key"
    keys = bound(kind)
    for key in kind.KEYS:
        if key.action not in OWN.get(kind.__name__, set()):
            assert all(keys.get(each) == key.action for each in key.keys.split(",")), key
        assert hasattr(kind, f"action_{key.action}"), f"{key}: else the palette could not do it"
        assert key.word in WORDS, key
    assert len(keys) == sum(len(binding.key.split(",")) for binding in kind.BINDINGS if isinstance(binding, Binding)), "one key, one action"
    common = {each for key in COMMON for each in key.keys.split(",")}
    assert not common & set(keys), "a key of every screen is taken"


@pytest.mark.parametrize("kind", SCREENS, ids=lambda kind: kind.__name__)
def test_what_changes_or_loads_a_machine_is_on_no_lower_case_letter(kind: type[DoctorScreen]) -> None:
    for key in kind.KEYS:
        if key.action in ("apply", "undo", "start", "write", "report") and kind.__name__ != "WatchScreen":
            assert all(len(each) > 1 or each.isupper() for each in key.keys.split(",")), key


@pytest.mark.parametrize("kind", SCREENS, ids=lambda kind: kind.__name__)
def test_every_action_is_in_the_palette_and_in_the_help(kind: type[DoctorScreen]) -> None:
    """On a screen that stands for this one: its keys, and actions that do nothing."""
    pressed: list[str] = []
    made = {f"action_{key.action}": (lambda self, name=key.action: pressed.append(name)) for key in kind.KEYS}
    stand_in = type("StandIn", (DoctorScreen,), {"KEYS": kind.KEYS, "BINDINGS": [], **made})

    async def act(driven: Driven) -> None:
        driven.app.read_only = False
        screen = stand_in()
        type(driven.app).live = property(lambda self: True)  # type: ignore[assignment, method-assign]
        await driven.app.push_screen(screen)
        from doctor.tui.palette import DoctorCommands

        commands = {hit.text: hit async for hit in DoctorCommands(screen).discover()}
        for key in (*kind.KEYS, *COMMON):
            if key.action != "command_palette":
                assert driven.app.speak(key.word) in commands, key
        assert len(commands) == len({key.word for key in (*kind.KEYS, *COMMON)}) - 1, "nothing else, and the palette not in itself"
        await driven.press("question_mark")
        told = driven.app.screen.plain_text()  # type: ignore[attr-defined]
        assert all(driven.app.speak(key.word) in " ".join(told.split()) for key in kind.KEYS), told

    live = DoctorApp.live
    try:
        drive(MadeJob(report()), act, (120, 60), examined=False)
    finally:
        DoctorApp.live = live  # type: ignore[method-assign]


def test_a_key_without_a_word_would_be_seen() -> None:
    assert Key("z", "nothing", "key_nothing").word not in WORDS and InputsScreen in SCREENS
