"""Variables of vllm-ascend that the release does not read: dropped ones, and names that are nearly one of its own. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from doctor.finding import Confidence, Evidence, Hit
from doctor.lint import shipped
from doctor.lint.choose import Chosen
from doctor.lint.flags import likeness
from doctor.lint.judge import SHOWN, Ruled

MISSPELT, DROPPED = "serving-env-misspelt", "serving-env-vllm-ascend-removed"
PREFIX = "VLLM_ASCEND_"
ALIKE = 0.8


def judge_variables(variables: Mapping[str, tuple[str, int]], source: str, chosen: Chosen, installed: frozenset[str]) -> Iterator[Ruled]:
    """Every VLLM_ASCEND_* variable that the release does not read. `installed`: the names in the installed vllm_ascend/envs.py, if it was read."""
    known = shipped.ascend_variables()
    release = shipped.release_of(chosen.ascend) if chosen.ascend else None
    for name, (value, line) in variables.items():
        if not name.startswith(PREFIX) or name in installed:
            continue
        evidence = (Evidence(source or "environment", f"{name}={value}"[:SHOWN], line),)
        history = known.get(name)
        if history is None:
            near = max(known, key=lambda other: likeness(name[len(PREFIX) :], other[len(PREFIX) :]), default="")
            if near and likeness(name[len(PREFIX) :], near[len(PREFIX) :]) >= ALIKE and near not in variables:
                values = {"wrong": name, "right": near, "value": value[:SHOWN]}
                yield Ruled(MISSPELT, Hit(name, f"{name}={value}"[:SHOWN], near, evidence, Confidence.LIKELY, values=values))
            continue
        last = shipped.release_of(history.last)
        gone = bool(installed) or (release is not None and last is not None and last < release)
        if gone:
            found = f"{name} with vllm-ascend {chosen.ascend}" + (f"; {history.last} still read it" if last is not None else "")
            yield Ruled(DROPPED, Hit(name, found, "not set", evidence, Confidence.SURE if installed else Confidence.LIKELY, values={"name": name, "replacement": "-"}))
