"""The command that follows a running server over time."""

from __future__ import annotations

import click

from doctor.commands.params import Register
from doctor.locale import Speak, room_speaker


def add(register: Register, speak: Speak) -> None:
    from doctor.watch.words import WORDS

    say = room_speaker(WORDS, speak("language_code"))

    def option(*names: str, **settings: object) -> click.Option:
        key = "help_" + str(settings.pop("said", names[0].lstrip("-").replace("-", "_")))
        return click.Option(list(names), help=say(key), **settings)  # type: ignore[arg-type]

    register(
        "watch", say("help_watch"), click.Argument(["files"], nargs=-1, metavar="[FILE...]"),
        option("--pid", "pids", type=click.IntRange(2, 1 << 30), multiple=True, metavar="PID"),
        option("--url", metavar="URL"),
        option("--log", "log", metavar="FILE", said="watch_log"),
        option("--from", "recorded", metavar="FILE", said="watch_from"),
        option("--root", metavar="DIR"),
        option("--every", metavar="TIME", default="30s", show_default=True),
        option("--for", "lasting", metavar="TIME"),
        option("--warmup", metavar="TIME"),
        option("--least", metavar="TIME"),
        option("--npu-every", metavar="TIME", default="5m", show_default=True),
        option("--samples", metavar="FILE"),
        option("--stream", is_flag=True),
        option("--textfile", metavar="FILE"),
        option("--svg", metavar="FILE"),
        option("--start", "action", flag_value="start"),
        option("--stop", "action", flag_value="stop"),
        option("--status", "action", flag_value="status"),
        option("--systemd", "action", flag_value="systemd"),
        click.Option(["--wait"], is_flag=True, hidden=True),
    )  # fmt: skip
