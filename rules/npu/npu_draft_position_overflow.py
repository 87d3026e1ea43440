"""The length that is served against the positions that the draft model knows."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Drafts, Models
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.fit import Plan
from doctor.logscan.signature import Matches


def judge(models: Models | None, drafts: Drafts | None, matches: Matches) -> Iterator[Hit]:
    if drafts is None:
        if not matches.looked:
            raise Skip("no serving command names a draft model's folder that can be looked at")
        return
    own = {model.command.argv: model for model in (models.models if models else ()) if model.command}
    for draft in drafts.models:
        known = draft.folder.config.number("max_positions") if draft.folder.config else None
        main = own.get(draft.command.argv) if draft.command else None
        length = Plan.of(draft.command).max_model_len or (main.folder.config.number("max_positions") if main and main.folder.config else None)
        if known and length and length > known:
            found = f"length {length}, the draft model knows {known} positions"
            yield Hit(
                found=found,
                wanted=f"--max-model-len {known} or less",
                evidence=(Evidence(draft.folder.file("config.json"), found),),
                confidence=Confidence.LIKELY,
                severity=Severity.WARN,
            )
            return
