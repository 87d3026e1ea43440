"""Whether the numbers of an NPU-OOM message show that torch itself has filled the card; before a start, whether it would."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models
from doctor.facts.npu import Chip, Npus
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Hit, Skip
from doctor.logscan.signature import Matches

from . import npu_oom
from .forecast import Forecast, forecast_hit, forecasts, gib


def judge(commands: ServeCommands | None, models: Models | None, npus: Npus | None, chip: Chip | None, matches: Matches) -> Iterator[Hit]:
    planned = tuple(forecasts(models, npus, chip))
    if not planned and not matches.looked:
        raise Skip("no log, and no model that is to be started on cards of known size")
    for forecast in planned:
        yield from _before(forecast)
    if matches.looked:
        yield from _after(commands, matches)


def _before(forecast: Forecast) -> Iterator[Hit]:
    fit, plan = forecast.fit, forecast.plan
    if fit.kv_room >= 0:
        return
    certain = fit.best_room < 0
    overhead = gib(fit.least if certain else fit.overhead)
    said = f"{gib(fit.weights)} of weights and {overhead} besides on each card, of {gib(fit.budget)} ({plan.utilization:g} of the card)"
    yield forecast_hit(forecast, said, "weights and overhead below the share that vLLM may use", certain)


def _after(commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    found = npu_oom.seen(matches)
    if found is None or found.oom.cause is not npu_oom.Cause.SHORTAGE:
        return
    oom = found.oom
    if npu_oom.too_high(found, commands, matches["loaded"]) is not None:
        return  # the pool was made too large, not the model: memory-utilization-too-high
    started = any(match.ordinal < found.match.ordinal for match in matches["loaded"])
    said = f"{npu_oom.shown(oom.allocated)} of {npu_oom.shown(oom.total)} are allocated by torch itself ({oom.used_share or 0:.1%})"
    yield npu_oom.hit(found, said, Confidence.LIKELY if started else Confidence.SURE, wanted="at most 93 % of the card")
