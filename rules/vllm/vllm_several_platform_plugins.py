"""Distributions that each register a platform of vLLM."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.beside import PlatformPlugins
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches


def judge(plugins: PlatformPlugins | None, matches: Matches) -> Iterator[Hit]:
    if plugins is None:
        if not matches.looked:
            raise Skip("the packages of the target are not known, and no log was given")
        return
    names = sorted({name.lower().replace("_", "-") for name, _ in plugins.found})
    if len(names) > 1:
        yield Hit(
            found=f"platform plugins of {' and '.join(names)}",
            wanted="one of them",
            evidence=tuple(Evidence(plugins.source, f"{name}: {entry}") for name, entry in plugins.found[:4]),
            confidence=Confidence.LIKELY,
            severity=Severity.WARN,
        )
