"""What tells whether two runs found the same: a short hash of the rule and the subject."""

from __future__ import annotations

import hashlib

from doctor.regex import regex
from doctor.rule import Rule

_PID = regex(r"(?i)\b(pid[ =:]{0,2})[0-9]{1,10}\b")


def fingerprint(rule: str, subject: str) -> str:
    """The same for the same cause at the same subject, on every machine and at every time: no host, no time, no process id goes in."""
    stable = _PID.sub(r"\1", subject)
    return hashlib.sha256(f"{rule}\0{stable}".encode("utf-8", "replace")).hexdigest()[:32]


def fingerprints(rule: Rule, subject: str) -> tuple[str, ...]:
    """Under the rule's name, and under the names that it had."""
    return tuple(fingerprint(name, subject) for name in (rule.id, *rule.formerly))


__all__ = ["fingerprint", "fingerprints"]
