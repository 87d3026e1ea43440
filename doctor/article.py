"""What old deployment articles advise, what is true, and what to do instead: the table behind `doctor explain article`."""

from __future__ import annotations

from typing import Any

from doctor.record import dataclass
from doctor.rulepackage import data_text
from doctor.words import Words


@dataclass(frozen=True)
class Advice:
    """One piece of old advice. `rules` are the causes by which doctor recognises that it was followed."""

    advice: Words
    truth: Words
    instead: Words
    rules: tuple[str, ...]


def table() -> tuple[Advice, ...]:
    """Every piece of advice, in the order of the articles."""
    import yaml

    rows: list[dict[str, Any]] = yaml.load(data_text("article.yaml"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return tuple(Advice(Words(**row["advice"]), Words(**row["truth"]), Words(**row["instead"]), tuple(row["rules"])) for row in rows)
