"""A config.py as the article has it, in the folder in which the server is started: nothing reads it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.pools import ArticleConfig
from doctor.finding import Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.signature import Matches


def judge(config: ArticleConfig | None, matches: Matches) -> Iterator[Hit]:
    if config is None:
        if not matches.looked:
            raise Skip("the working folder is not known, and no log was given")
        return
    if len(config.keys) > 1:
        found = f"{config.path} sets {', '.join(config.keys)}"
        yield Hit(found=found, wanted="flags, or a YAML file", evidence=(Evidence(config.path, found),), confidence=Confidence.LIKELY, severity=Severity.NOTE)
