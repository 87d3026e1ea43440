"""`doctor config`: the configuration that is in force, and where each value comes from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from doctor.tasks import Answer, Options
from doctor.tasks.common import enveloped, rulebook
from doctor.tasks.configured import policy_of
from doctor.text import clean

DEFAULTS = {"fail_on": "fail", "profile": "standard", "timeout_scale": 1.0, "python": None, "logs": (), "only": (), "skip": ()}


def run(options: Options) -> Answer:
    """Reads it as every other command would, errors included."""
    from doctor.config import Config, places

    config = options.config or Config()
    policy = policy_of(options, rulebook())
    values = {name: config.options.get(name, default) for name, default in DEFAULTS.items()} | {"baseline": options.baseline}
    searched = [str(path) for path in places(os.environ, Path(), os.geteuid() == 0)]
    if options.as_json:
        suppressions = [
            {"rule": item.rule, "subject": item.subject, "reason": item.reason, "until": item.until.isoformat() if item.until else None}
            for item in policy.suppressions
        ]
        told: dict[str, Any] = {
            "path": config.path or None, "searched": searched, "values": values, "suppress": suppressions,
            "severity": {name: severity.word for name, severity in policy.severities.items()},
        }  # fmt: skip
        return enveloped(options, config=told)
    speak = options.speak
    lines = [speak("config_from", path=config.path)] if config.path else [speak("config_none"), *(f"  {path}" for path in searched)]
    for name, value in values.items():
        origin = config.path if name in config.options or (name == "baseline" and config.baseline) else speak("config_default")
        shown = ", ".join(value) if isinstance(value, tuple) else str(value if value is not None else "")
        lines.append(f"{name.replace('_', '-')} = {shown or '-'}   ({origin})")
    lines += [speak("config_severity", rule=name, severity=severity.word) for name, severity in policy.severities.items()]
    for item in policy.suppressions:
        until = speak("config_until", until=item.until) if item.until else ""
        lines.append(speak("config_suppresses", rule=item.rule, subject=f" {item.subject}" if item.subject else "", reason=item.reason, until=until))
    return Answer("".join(clean(line) + "\n" for line in lines))
