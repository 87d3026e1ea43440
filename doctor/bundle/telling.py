"""How a bundle's items are told, by the command line and the app: sizes, and what was masked by kind."""

from __future__ import annotations

from collections.abc import Mapping

from doctor.locale import Speak


def counts(masked: Mapping[str, int], say: Speak) -> str:
    """The kinds that were masked, the most frequent first."""
    return ", ".join(f"{count} {say(f'kind_{kind}')}" for kind, count in sorted(masked.items(), key=lambda each: -each[1]) if count)


def human(size: int) -> str:
    """Bytes in a unit that fits."""
    for unit, one in (("MiB", 2**20), ("KiB", 2**10)):
        if size >= one:
            return f"{size / one:.1f} {unit}"
    return f"{size} B"


__all__ = ["counts", "human"]
