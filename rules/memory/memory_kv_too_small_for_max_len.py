"""Before the start: whether the KV cache will hold one request of the wanted length."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models, setting
from doctor.facts.npu import Chip, Npus
from doctor.finding import Hit, Skip
from doctor.logscan.signature import Matches

from .forecast import Forecast, forecast_hit, forecasts, gib


def judge(models: Models | None, npus: Npus | None, chip: Chip | None, matches: Matches) -> Iterator[Hit]:
    found = tuple(forecasts(models, npus, chip))
    if not found and not matches.looked:
        raise Skip("no model that is to be started, or the size of the cards is not known")
    for forecast in found:
        yield from _judge(forecast)


def _judge(forecast: Forecast) -> Iterator[Hit]:
    fit = forecast.fit
    wanted, tokens, best = fit.max_model_len, fit.tokens, fit.best_tokens
    fitted = setting(forecast.model.command, "max-model-len") in ("auto", "-1")
    if fit.best_room < 0 or fitted or wanted is None or tokens is None or best is None or wanted <= tokens:
        return
    certain = wanted > best
    holds = best if certain else tokens
    said = f"one request of {wanted} tokens needs {gib(wanted * (fit.kv_per_token or 0))}, about {gib(max(fit.kv_room, 0))} are left for the KV cache"
    limit = f"--max-model-len {holds} or less" if holds else "fewer bytes of weights on each card"
    yield forecast_hit(forecast, said, limit, certain, {"max_len": str(tokens or best)})
