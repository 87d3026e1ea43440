"""A name on a hub that is not in the cache, while the hub is switched off."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.pools import HubModels
from doctor.facts.target import Environment
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches

SWITCHES = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")


def judge(models: HubModels | None, environment: Environment | None, matches: Matches) -> Iterator[Hit]:
    if models is None or environment is None:
        if not matches.looked:
            raise Skip("the commands, or the environment, are not known")
        return
    switch = next((name for name in SWITCHES if environment.values.get(name, "").strip().lower() in ("1", "true", "yes", "on")), None)
    for name, cached in models.cached if switch else ():
        if not cached:
            found = f"{switch}={environment.values[switch or '']}, and {name} is not below {models.source}"
            yield Hit(found=found, wanted="a downloaded model", evidence=(Evidence(environment.source, found),), confidence=Confidence.LIKELY, values={"model": name})
            return
