"""What the memory rules share about models that are not started yet: whether they fit on the cards of this machine. Not a rule."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Model, Models
from doctor.facts.npu import Chip, Npus
from doctor.finding import Confidence, Evidence, Hit, Severity
from doctor.fit import GIB, Card, Fit, Plan, estimate, visible
from doctor.record import dataclass


@dataclass(frozen=True)
class Forecast:
    """One model, how it is to be served, and what lies on its fullest card."""

    model: Model
    plan: Plan
    fit: Fit


def forecasts(models: Models | None, npus: Npus | None, chip: Chip | None) -> Iterator[Forecast]:
    """For every model whose weights are whole and whose command is not running yet, where the cards' memory is known."""
    sizes = [one.hbm_total_mb or one.ddr_total_mb for one in npus.chips] if npus else []
    known = [size for size in sizes if size]
    for model in models.models if models and known else ():
        if model.command is None or model.command.pid is not None or not model.shards.complete or model.folder.config is None:
            continue
        plan = Plan.of(model.command)
        total = visible(min(known), chip.family if chip else None)
        yield Forecast(model, plan, estimate(model.folder.config, model.shards.tensors, plan, Card(total)))


def gib(size: int | float) -> str:
    return f"{size / GIB:.1f} GiB"


def forecast_hit(forecast: Forecast, found: str, wanted: str, certain: bool, values: dict[str, str] | None = None) -> Hit:
    """A finding before the start. `certain`: it does not fit even with the least overhead that was ever seen."""
    command = forecast.model.command
    source, line = (command.source or "vllm command", command.line) if command else ("vllm command", 0)
    return Hit(
        subject=forecast.model.path,
        found=found,
        wanted=wanted,
        evidence=(Evidence(source, found, line),),
        confidence=Confidence.LIKELY if certain else Confidence.POSSIBLE,
        severity=None if certain else Severity.WARN,
        values={"model": forecast.model.path, **(values or {})},
    )
