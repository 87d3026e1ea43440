"""Commands that judge what was written down: logs, commands that start vLLM, models' folders."""

from __future__ import annotations

import click

from doctor.commands.params import Register, host_params, report_params
from doctor.locale import Speak


def add(register: Register, speak: Speak) -> None:
    host, report = host_params(speak), report_params(speak)
    register("log", speak("help_log"), click.Argument(["files"], nargs=-1, required=True, metavar="FILE...|-"), *report)
    version = click.Option(["--vllm-version"], metavar="VERSION", help=speak("help_vllm_version"))
    register("lint", speak("help_lint"), click.Argument(["files"], nargs=-1, metavar="[FILE...|-] [-- COMMAND...]"), version, *host, *report, kind=Lint)
    register("model", speak("help_model"), click.Argument(["folder"], metavar="DIR"), *_model_options(speak), *host)


class Lint(click.Command):
    """A command whose arguments after `--` are a command line of another program, and never options of ours."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:at])
        ctx.params["words"] = tuple(args[at + 1 :])
        return rest


def _model_options(speak: Speak) -> list[click.Parameter]:
    """How the model is to be served, under the names of vLLM's own flags, and the cards."""

    def size(*names: str) -> click.Option:
        return click.Option(list(names), type=click.IntRange(min=1), metavar="N", help=speak("help_as_vllm"))

    return [
        click.Option(["--hash", "hashing"], is_flag=True, help=speak("help_hash")),
        size("--tensor-parallel-size", "--tp", "tensor_parallel_size"),
        size("--pipeline-parallel-size", "--pp", "pipeline_parallel_size"),
        size("--data-parallel-size", "--dp", "data_parallel_size"),
        click.Option(["--max-model-len"], metavar="N", help=speak("help_as_vllm")),
        size("--max-num-seqs"),
        size("--max-num-batched-tokens"),
        click.Option(["--gpu-memory-utilization"], type=click.FloatRange(0, 1, min_open=True), metavar="X", help=speak("help_as_vllm")),
        click.Option(["--dtype"], metavar="TYPE", help=speak("help_as_vllm")),
        click.Option(["--kv-cache-dtype"], metavar="TYPE", help=speak("help_as_vllm")),
        click.Option(["--quantization"], metavar="METHOD", help=speak("help_as_vllm")),
        click.Option(["--enforce-eager"], is_flag=True, help=speak("help_as_vllm")),
        click.Option(["--hbm"], metavar="SIZE", help=speak("help_hbm")),
        click.Option(["--chip"], type=click.Choice(["a1", "a2", "a3", "310p", "950"]), help=speak("help_chip")),
    ]
