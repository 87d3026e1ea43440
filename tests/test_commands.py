"""Only the commands of one room are made ready where the line names its command plainly; what is answered is the same."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from doctor.commands import FLAGS, ROOMS, build, rooms_for

WHOLE = build("en")


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_adds_the_commands_that_are_listed_for_it(room: str) -> None:
    assert tuple(build("en", [room]).commands) == ROOMS[room]


def test_every_command_is_in_one_room() -> None:
    names = [name for room in ROOMS.values() for name in room]
    assert names == list(WHOLE.commands) and len(names) == len(set(names))


def test_the_flags_are_flags_of_every_command() -> None:
    for command in WHOLE.commands.values():
        flags = {name for param in command.params if getattr(param, "is_flag", False) for name in param.opts}
        assert set(FLAGS) <= flags, command.name


@pytest.mark.parametrize(
    ("line", "rooms"),
    [
        ("", ["looking"]),
        ("--json", ["looking"]),
        ("-q --json", ["looking"]),
        ("log file", ["reading"]),
        ("--json log file", ["reading"]),
        ("fix --only x", ["fixing"]),
        ("--only fix log file", list(ROOMS)),
        ("--from log", list(ROOMS)),
        ("--lang zh log", list(ROOMS)),
        ("vllm.log", list(ROOMS)),
        ("-- log", list(ROOMS)),
        ("--help", list(ROOMS)),
    ],
)
def test_rooms(line: str, rooms: list[str]) -> None:
    assert list(rooms_for(line.split())) == rooms


@pytest.mark.parametrize(
    "line", ["log", "log --bogus", "-q log", "nothing-like-that", "--only fix", "explain", "--json bogus", "completion tcsh", "--timeout-scale -1 log x", "undo a b c", "rules --fail-on x"]
)
def test_an_error_is_the_same(line: str) -> None:
    arguments = line.split()
    told = [CliRunner().invoke(group, arguments, obj="en") for group in (WHOLE, build("en", rooms_for(arguments)))]
    assert told[0].exit_code == told[1].exit_code == 2
    assert told[0].output == told[1].output
