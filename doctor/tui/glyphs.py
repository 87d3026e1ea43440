"""The few marks beyond letters that the app paints: bars, histories, the thumb of scroll bars; and where they must be ASCII. Knows no Textual.

Block characters are "ambiguous" in Unicode's table of widths: terminals set up for Chinese show them two cells wide.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from doctor.record import dataclass


@dataclass(frozen=True)
class Glyphs:
    """`levels` rise from nothing to everything."""

    full: str
    empty: str
    levels: str
    ascii_only: bool

    def bar(self, share: float | None, cells: int) -> str:
        """A bar of so many cells for a share of 0 to 1; blank where it is not known."""
        if share is None:
            return " " * cells
        filled = round(min(1.0, max(0.0, share)) * cells)
        return self.full * filled + self.empty * (cells - filled)

    def history(self, shares: Sequence[float | None], cells: int) -> str:
        """The last values, the newest at the right; blank where one is not known."""
        top = len(self.levels) - 1
        told = ["" if share is None else self.levels[round(min(1.0, max(0.0, share)) * top)] for share in shares[-cells:]]
        return "".join(mark or " " for mark in told).rjust(cells)


UNICODE = Glyphs("\u2588", "\u2591", " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588", False)
ASCII = Glyphs("#", ".", "_.-=*#", True)


def choose(environ: Mapping[str, str], language: str, *, ascii_only: bool = False, encoding: str | None = None) -> Glyphs:
    """ASCII where it is asked for, for Chinese (and any locale of East Asia), on the console, and where the output is not UTF-8."""
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    wide = language == "zh" or locale[:2] in ("zh", "ja", "ko")
    told = encoding if encoding is not None else getattr(sys.__stderr__, "encoding", None) or ""
    plain = ascii_only or wide or environ.get("TERM", "") in ("linux", "vt100", "vt220") or told.lower().replace("-", "") != "utf8"
    return ASCII if plain else UNICODE


__all__ = ["ASCII", "Glyphs", "UNICODE", "choose"]
