"""Judges made series whose truth is known and writes the table of docs/watch.md: `python tools/watch_table.py [--write] [--series N]`."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from doctor.watch.judge import HOUR, MIB, Settings, Trend, Verdict, judge  # noqa: E402
from tools.watch_series import LEAKS, QUIET_KINDS, Made, filling, leaking, quiet  # noqa: E402

PAGE = ROOT / "docs" / "watch.md"
BEGIN, END = "<!-- table: python tools/watch_table.py --write -->", "<!-- end of table -->"
SERIES = 1500
"""Of each kind of truth; seeds count from 0."""
LONG = (Verdict.LEAK, Verdict.CRITICAL)
SPANS = (2.0, 3.5, 6.0, 12.0, 24.0)


@dataclass(frozen=True)
class Score:
    """What became of the series of one kind. `above`: leaks larger than the size that the judge itself says it could have shown."""

    name: str
    count: int
    leak: int
    suspect: int
    above: int = 0
    found: int = 0
    """Of those above: called a leak."""
    found_or_suspect: int = 0


def verdict_on(made: Made, settings: Settings) -> Trend:
    """The worst verdict on its lives, of equals the longest."""
    return max((judge(life, settings) for life in made.lives), key=lambda trend: (trend.verdict.rank, trend.window))


def score(name: str, series: Iterator[Made], settings: Settings) -> Score:
    counts: Counter[Verdict] = Counter()
    above = found = either = 0
    for made in series:
        trend = verdict_on(made, settings)
        counts[trend.verdict] += 1
        if made.leaks and trend.detectable is not None and made.slope > trend.detectable and trend.window >= 0.98 * settings.least_leak:
            above += 1
            found += trend.verdict in LONG
            either += trend.verdict.bad
    return Score(name, sum(counts.values()), sum(counts[each] for each in LONG), counts[Verdict.SUSPECT], above, found, either)


def scores(count: int) -> tuple[list[Score], list[Score], Score, list[tuple[float, float, Score]]]:
    """Series without a leak by kind, leaks by report, caches that are still filling, and one leak of 2 GiB/h and all by length of the watch."""
    usual = Settings()
    quiet_scores = [score(kind, (quiet(seed) for seed in range(index, count, len(QUIET_KINDS))), usual) for index, kind in enumerate(QUIET_KINDS)]
    leak_scores = [score(name, (leaking(seed) for seed in range(index, count, len(LEAKS))), usual) for index, name in enumerate(LEAKS)]
    full = score("cache not full at the end", (filling(seed) for seed in range(count // 15)), usual)
    by_span = []
    for hours in SPANS:
        settings = Settings.for_span(hours * HOUR) if hours < 3.5 else usual
        made = [leaking(seed, hours) for seed in range(count // 5)]
        sizes = sorted(trend.detectable / MIB for trend in (verdict_on(each, settings) for each in made) if trend.detectable)
        by_span.append((hours, sizes[len(sizes) // 2] if sizes else 0.0, score(f"{hours:g} h", iter(made), settings)))
    return quiet_scores, leak_scores, full, by_span


def table(count: int) -> str:
    quiet_scores, leak_scores, full, by_span = scores(count)
    lines = [f"{count} series without a leak, {count} with one, seeds 0 to {count - 1}; a sample every 30 s, 2.4 to 24 h.", "", "| without a leak | series | called a leak | suspect |", "|---|---|---|---|"]
    lines += [f"| {each.name} | {each.count} | {each.leak} | {each.suspect} |" for each in quiet_scores]
    lines.append(_sum("all", quiet_scores, lambda s: f"| **{s.name}** | {s.count} | **{s.leak} ({s.leak / s.count:.2%})** | {s.suspect} ({s.suspect / s.count:.1%}) |"))
    lines += ["", "| with a leak | series | above the detectable size | called a leak | or suspect |", "|---|---|---|---|---|"]

    def row(each: Score) -> str:
        return f"| {each.name} | {each.count} | {each.above} | {each.found} ({_share(each.found, each.above)}) | {_share(each.found_or_suspect, each.above)} |"

    lines += [row(each) for each in leak_scores]
    lines.append(_sum("**all**", leak_scores, row))
    lines += ["", "| length of the watch | smallest leak that half of the series could show | above the detectable size | called a leak | or suspect |", "|---|---|---|---|---|"]
    lines += [f"| {hours:g} h | {size:.1f} MiB/h | {each.above} | {each.found} ({_share(each.found, each.above)}) | {_share(each.found_or_suspect, each.above)} |" for hours, size, each in by_span]
    lines += ["", f"Not decidable, and counted nowhere above: of {full.count} caches that were still filling in a straight line when the watch ended, {full.leak} were called a leak and {full.suspect} suspect."]
    return "\n".join(lines)


def _sum(name: str, scores_: list[Score], row: Callable[[Score], str]) -> str:
    return row(Score(name, *(sum(getattr(each, part) for each in scores_) for part in ("count", "leak", "suspect", "above", "found", "found_or_suspect"))))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=SERIES)
    parser.add_argument("--write", action="store_true", help="into docs/watch.md instead of standard output")
    asked = parser.parse_args()
    text = table(asked.series)
    if not asked.write:
        print(text)
        return
    page = PAGE.read_text(encoding="utf-8")
    head, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
