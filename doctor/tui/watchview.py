"""A watch as styled text: its verdict, a line with its history for every class, the plot of one class, stalls and pressure. Texts are cleaned.

Verdicts are words; a style is never alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from textual.content import Content

from doctor.locale import Speak, room_speaker
from doctor.record import dataclass
from doctor.report.style import Style, padded, short
from doctor.text import cell_width, clean_line, truncate
from doctor.tui.glyphs import Glyphs
from doctor.tui.plots import LETTERS, Curve, chart, plotted, sparkline
from doctor.tui.watchjob import TRAFFIC, Seen
from doctor.tui.words import WORDS
from doctor.watch.amounts import counted, span
from doctor.watch.judge import Unit, Verdict
from doctor.watch.outlook import Group
from doctor.watch.render import class_name, class_text, headline, render
from doctor.watch.words import WORDS as WATCH_WORDS

STYLES = {Verdict.SUSPECT: "bold $text-primary", Verdict.LEAK: "bold $text-warning", Verdict.CRITICAL: "bold $text-error"}
WARNING = "bold $text-warning"
MOST_NAMED = 8
"""Processes that the legend of a plot names."""


def watch_speaker(language: str) -> Speak:
    """The words of a watch, else those of the app."""
    return room_speaker({**WORDS, **WATCH_WORDS}, language)


@dataclass(frozen=True)
class Row:
    """A class of processes, or a curve of the server's own page."""

    name: str
    level: str
    slope: str
    verdict: str
    style: str
    curves: Mapping[str, Curve]
    unit: Unit | None
    """None: of the server's page."""
    group: Group | None = None


@dataclass(frozen=True)
class WatchView:
    """Tells of what was seen."""

    seen: Seen
    language: str
    glyphs: Glyphs

    @property
    def say(self) -> Speak:
        return watch_speaker(self.language)

    def headline(self) -> str:
        """The verdict in a sentence, with its end where there is one."""
        ever = any(each.key.pid for group in self.seen.result.groups for each in group.members)
        if not self.seen.processes and not self.seen.traffic and not ever:
            return self.say("watch_nothing" if self.seen.live else "watch_no_samples")
        return headline(self.seen.result, self.say)

    def progress(self) -> str:
        """How long, how many."""
        seen = self.seen
        return self.say("watch_progress", time=span(seen.seconds), samples=seen.samples, every=span(seen.every), processes=seen.processes)

    # Rows

    def rows(self) -> list[Row]:
        return [*(self._class(group) for group in self.seen.result.groups), *(self._traffic(name) for name in TRAFFIC if name in self.seen.traffic)]

    def _class(self, group: Group) -> Row:
        curves = self.seen.curves.get(group.key, {})
        unit, bad = group.worst.trend.unit, group.verdict.bad
        living = {each.subject for each in group.members if each.alive} or set(curves)
        level = sum(curve[-1][1] for subject, curve in curves.items() if curve and subject in living)
        count = f" x{len(living)}" if len(living) > 1 else ""
        slope = f"+{counted(group.slope, unit)}/h" if bad else ""
        return Row(class_name(group, self.say) + count, counted(level, unit), slope, self.say(group.verdict.value), STYLES.get(group.verdict, ""), curves, unit, group)

    def _traffic(self, name: str) -> Row:
        curve = self.seen.traffic[name]
        now = curve[-1][1]
        level = f"{now:.0%}" if name == "kv" else f"{now:.3g}"
        return Row(self.say(f"watch_{name}"), level, "", "", "", {self.say(f"watch_{name}"): curve}, None)

    @property
    def worst(self) -> int:
        """The row that matters most; the first where nothing grows."""
        ranks = [row.group.verdict.rank if row.group is not None and row.group.verdict.bad else 0 for row in self.rows()]
        return ranks.index(max(ranks)) if ranks else 0

    def lines(self, width: int) -> list[Content]:
        """The rows for a width, the history as long as there is room."""
        rows = self.rows()
        names, levels = _widest([row.name for row in rows]), _widest([row.level for row in rows])
        verdicts, slopes = _widest([row.verdict for row in rows]), _widest([row.slope for row in rows])
        names = min(names, max(16, width - levels - verdicts - slopes - 18))
        room = max(0, width - names - levels - verdicts - slopes)
        return [self._line(row, (names, levels, slopes, verdicts), room) for row in rows]

    def _line(self, row: Row, cells: tuple[int, int, int, int], room: int) -> Content:
        names, levels, slopes, verdicts = cells
        leading = next(iter(row.curves.values()), ())
        history = sparkline(leading, min(room, 48), self.glyphs, from_zero=row.unit is None) if room >= 4 else ""
        name = padded(truncate(clean_line(row.name), names - 2, "..."), names)
        level = " " * max(0, levels - 2 - cell_width(row.level)) + row.level + "  "
        return Content.assemble(name, level, padded(row.slope, slopes), (padded(row.verdict, verdicts), row.style), history)

    # Beside them

    def detail(self, at: int, width: int, height: int) -> Content:
        """The plot of one row and what is told of it, then what stands still or presses."""
        return Content("\n").join(list(self._detail(at, width, height)))

    def _detail(self, at: int, width: int, height: int) -> Iterator[Content]:
        rows = self.rows()
        if 0 <= at < len(rows):
            yield from self._plot(rows[at], width, max(3, min(12, height // 2)))
        yield from self._wrong(Style(width if width >= 20 else 0))

    def _plot(self, row: Row, width: int, height: int) -> Iterator[Content]:
        style = Style(width if width >= 20 else 0)
        yield Content.styled(truncate(row.name, width, "..."), "bold")
        curves = [curve for curve in row.curves.values() if curve][: len(LETTERS)]
        if not any(len(curve) > 1 for curve in curves):
            yield Content(self.say("watch_one_point"))
        else:
            yield from self._chart(row, curves, width, height, style)
        if row.group is not None:
            yield from (Content(line) for line in style.lines(class_text(row.group, self.say), "  ", ""))

    def _chart(self, row: Row, curves: Sequence[Curve], width: int, height: int, style: Style) -> Iterator[Content]:
        body, low, high = plotted(curves, height, max(8, width - 14), self.glyphs, from_zero=row.unit is None)
        ends = [counted(value, row.unit) if row.unit is not None else f"{value:.0%}" if row.level.endswith("%") else f"{value:.3g}" for value in (high, low)]
        begin, end = min(curve[0][0] for curve in curves), max(curve[-1][0] for curve in curves)
        yield from (Content(line) for line in chart(body, ends[0], ends[1], self.say("watch_ago", time=span(end - begin)), self.say("watch_now"), width))
        if len(curves) > 1:
            names = [f"{letter} {short(name, 40)}" for letter, name in zip(LETTERS, row.curves, strict=False)]
            more = [f"+{len(row.curves) - MOST_NAMED}"] if len(row.curves) > MOST_NAMED else []
            yield from (Content.styled(line, "dim") for line in style.lines("  ".join([*names[:MOST_NAMED], *more]), ""))

    def _wrong(self, style: Style) -> Iterator[Content]:
        say, result = self.say, self.seen.result
        for stall in result.stalls[-4:]:
            lasted = say("lasts") if stall.end is None else span(stall.end - stall.begin)
            text = f"{say('stall_' + stall.kind)} ({lasted}{', ' + short(stall.detail, 100) if stall.detail else ''})"
            yield from (Content.styled(line, "" if stall.harmless else WARNING) for line in style.lines(text, "  ", "! "))
        for signal in result.signals:
            if signal.state in ("warn", "note"):
                text = f"{say('signal_' + signal.name)}  {say('state_' + signal.state)}  {signal.measured}"
                yield from (Content.styled(line, WARNING) for line in style.lines(text, "  ", "! "))
        for cause in result.causes[:3]:
            yield from (Content.styled(line, "bold") for line in style.lines(f"{cause.finding.title[self.language]} [{cause.finding.rule}]", "  ", "> "))
        for name, why in list(self.seen.problems.items())[:3]:
            yield from (Content.styled(line, "dim") for line in style.lines(f"{say('missing')}: {short(name, 40)}: {short(why, 200)}", "  ", ""))
        if self.seen.metrics_problem:
            yield from (Content.styled(line, "dim") for line in style.lines(f"/metrics: {short(self.seen.metrics_problem, 200)}", "  ", ""))

    def plain(self, label: str) -> str:
        """The whole report, as `doctor watch` prints it."""
        return render(self.seen.result, Style(110), self.say, self.language, host=label, problems=dict(self.seen.problems))


def _widest(texts: list[str]) -> int:
    """Cells of a column with two blanks behind it; 0 for an empty one."""
    widest = max(map(cell_width, texts), default=0)
    return widest + 2 if widest else 0


__all__ = ["Row", "WatchView", "watch_speaker"]
