"""What the rules of this area share: the models that are served, and findings about them. Not a rule."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.facts.model import Model, Models
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches

NOT_NAMED = "no serving command names a model's folder that can be looked at"


def served(models: Models | None, matches: Matches) -> tuple[Model, ...]:
    """The models; () where only a log can be judged. Raises `Skip` where there is neither."""
    if models is None and not matches.looked:
        raise Skip(NOT_NAMED)
    return models.models if models is not None else ()


def about(
    model: Model,
    file: str,
    found: str,
    wanted: str = "",
    severity: Severity | None = None,
    confidence: Confidence = Confidence.SURE,
    values: Mapping[str, str] | None = None,
) -> Hit:
    """A finding about one file of a model ("" for the command that serves it)."""
    command = model.command
    source = model.folder.file(file) if file else (command.source if command and command.source else "vllm command")
    line = command.line if command and not file else 0
    return Hit(
        subject=model.path,
        found=found,
        wanted=wanted,
        evidence=(Evidence(source, found, line),),
        severity=severity,
        confidence=confidence,
        values={"model": model.path, "path": model.path, **(values or {})},
    )


def listed(names: tuple[str, ...], most: int = 5) -> str:
    """The first names, and how many more there are."""
    more = len(names) - most
    return "; ".join(names[:most]) + (f"; and {more} more" if more > 0 else "")
