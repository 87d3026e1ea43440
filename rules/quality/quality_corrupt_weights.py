"""Weights on disk that are not whole: where vLLM loads them at all, it answers garbage."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches


def judge(models: Models | None, matches: Matches) -> Iterator[Hit]:
    if models is None:
        if not matches.looked:
            raise Skip("no serving command names a model's folder that can be looked at")
        return
    for model in models.models:
        shards = model.shards
        broken = [shard.name for shard in shards.damaged]
        if broken:
            found = f"{len(broken)} weight files are not whole: {', '.join(broken[:3])}"
            yield Hit(
                subject=model.path,
                found=found,
                wanted="the files of the source",
                evidence=(Evidence(model.path, found),),
                confidence=Confidence.POSSIBLE,
                severity=Severity.NOTE,
            )
            return
