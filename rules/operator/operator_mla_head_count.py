"""Heads of an MLA model on one card against the counts that the attention kernel has in graph mode."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Models, setting
from doctor.facts.target import Packages
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.fit import Plan
from doctor.logscan.signature import Matches
from doctor.versions import Scheme, satisfies

HEADS = (32, 64, 128)


def judge(models: Models | None, packages: Packages | None, matches: Matches) -> Iterator[Hit]:
    if models is None or packages is None:
        if not matches.looked:
            raise Skip("the model, or the installed release, is not known")
        return
    for model in models.models:
        config, plan = model.folder.config, Plan.of(model.command)
        heads = config.number("heads") if config and config.is_mla else None
        compiled = setting(model.command, "compilation-config") or ""
        if not heads or plan.eager or '"NONE"' in compiled or heads % plan.tp or heads // plan.tp in HEADS:
            continue
        release = packages.versions.get("vllm-ascend", "")
        old = bool(release) and satisfies(release, "<= 0.9.1", Scheme.PACKAGE) is True
        found = f"{heads} heads, tensor parallel size {plan.tp}: {heads // plan.tp} on each card"
        yield Hit(
            found=found,
            wanted="32, 64 or 128 on each card",
            evidence=(Evidence(model.folder.file("config.json"), found),),
            confidence=Confidence.LIKELY if old else Confidence.POSSIBLE,
            severity=None if old else Severity.NOTE,
        )
        return
