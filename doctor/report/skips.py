"""Groups the reasons why rules could not look, so that a hundred skips are told in a few lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from doctor.checkup import NO_LOG
from doctor.finding import Outcome, Verdict
from doctor.locale import Speak
from doctor.report.style import short

SHOWN = 6
"""Things named in one line."""

_REASON = re.compile(r"(?P<what>.{1,200}?): (?P<why>missing|denied|timed out|too big|not recorded)(?: \((?P<detail>.*)\))?")
"""`str(Unavailable)`."""

_KEYS = {"missing": "skipped_missing", "denied": "skipped_denied", "timed out": "skipped_timed_out", "too big": "skipped_too_big"}


def told(verdicts: Iterable[Verdict], speak: Speak) -> Iterator[str]:
    """One line a kind of reason, that of most rules first."""
    groups: dict[str, dict[str, None]] = {}
    counts: dict[str, int] = {}
    for verdict in verdicts:
        if verdict.outcome is not Outcome.SKIPPED:
            continue
        kinds = [_kind(reason) for reason in verdict.why.split("; ")]
        for key, what in kinds:
            groups.setdefault(key, {}).setdefault(what)
        for key in {key for key, _ in kinds}:
            counts[key] = counts.get(key, 0) + 1
    for key in sorted(groups, key=lambda key: -counts[key]):
        whats = list(groups[key])
        shown = ", ".join(whats[:SHOWN])
        if len(whats) > SHOWN:
            shown = speak("and_more", shown=shown, count=len(whats) - SHOWN)
        yield speak(key, whats=shown) + f" ({counts[key]})"


def _kind(reason: str) -> tuple[str, str]:
    if reason == NO_LOG:
        return "skipped_no_log", ""
    found = _REASON.fullmatch(reason)
    if not found:
        return "skipped_other", short(reason, 80)
    what = short(found["what"], 60)
    if found["why"] == "not recorded":
        return ("skipped_text" if found["detail"] == "not in this text" else "skipped_not_recorded"), what
    return _KEYS[found["why"]], what
