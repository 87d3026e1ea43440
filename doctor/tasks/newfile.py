"""A text that a user asked to have in a new file: complete or not at all, never over another one."""

from __future__ import annotations

import os

from doctor.tasks import Refused
from doctor.text import clean


def write_new(name: str, text: str, mode: int = 0o600) -> None:
    """Writes the file. Raises `Refused` where the name is taken or cannot be written."""
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    except (OSError, ValueError) as problem:
        raise Refused(f"{clean(name)}: {getattr(problem, 'strerror', None) or problem}") from None
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


__all__ = ["write_new"]
