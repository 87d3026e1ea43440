"""The command that tests inference on this machine."""

from __future__ import annotations

import click

from doctor.commands.params import Register
from doctor.commands.reading import Lint
from doctor.locale import Speak, room_speaker


def add(register: Register, speak: Speak) -> None:
    from doctor.smoke.words import WORDS

    say = room_speaker(WORDS, speak("language_code"))

    def option(*names: str, **settings: object) -> click.Option:
        key = "help_" + str(settings.pop("said", names[0].lstrip("-").replace("-", "_")))
        return click.Option(list(names), help=say(key), **settings)  # type: ignore[arg-type]

    register(
        "smoke", say("help_smoke"), click.Argument(["words"], nargs=-1, metavar="[-- VLLM FLAGS...]"),
        option("--level", type=click.IntRange(1, 3), default=2, show_default=True),
        option("--device", type=click.Choice(["auto", "npu", "cpu"]), default="auto", show_default=True),
        option("--cards", metavar="0,1"),
        option("--model", metavar="PATH", said="model_path"),
        option("--url", metavar="URL"),
        option("--load", type=click.IntRange(1, 1000), metavar="N"),
        option("--load-seconds", type=click.FloatRange(1, 3600), default=20.0, show_default=True, metavar="S"),
        option("--key-env", metavar="NAME"),
        option("--key-file", metavar="FILE"),
        option("--use-busy", is_flag=True),
        option("--plan", "plan_only", is_flag=True, said="plan"),
        option("--report", "feedback", is_flag=True, said="smoke_report"),
        click.Option(["--python"], metavar="PATH", help=speak("help_python")), kind=Lint,
    )  # fmt: skip
