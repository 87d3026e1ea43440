"""A short text of this machine for others (the report of a smoke test), masked as a bundle of the profile `public` is."""

from __future__ import annotations

from doctor.bundle.redact import Redactor
from doctor.bundle.seen import learn_names
from doctor.host import Host


def sendable(text: str, host: Host) -> str:
    """The text without secrets, addresses, names of this machine and its users, own paths and own models."""
    redactor = Redactor("public")
    learn_names(redactor, host)
    redactor.learn([text])
    return redactor.text(text)


__all__ = ["sendable"]
