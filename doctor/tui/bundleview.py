"""What a bundle would hold as styled text: a line an item, and what is told of one. Texts from outside are cleaned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from doctor.bundle.telling import counts, human
from doctor.bundle.words import WORDS as BUNDLE_WORDS
from doctor.locale import Speak, room_speaker
from doctor.report.style import Style, padded
from doctor.said import said
from doctor.text import cell_width, clean_line, truncate
from doctor.tui.words import WORDS

if TYPE_CHECKING:
    from doctor.bundle.gather import Gathered, Item

LEAST_NAME = 20
"""Cells of an item's name."""


def bundle_speaker(language: str) -> Speak:
    """The words of bundles, else those of the app."""
    return room_speaker({**WORDS, **BUNDLE_WORDS}, language)


@dataclass(frozen=True)
class BundleView:
    """Tells of what was gathered, without what is left out."""

    gathered: Gathered | None
    language: str

    @property
    def say(self) -> Speak:
        return bundle_speaker(self.language)

    @property
    def items(self) -> tuple[Item, ...]:
        return self.gathered.items if self.gathered is not None else ()

    def ready(self, profile: str) -> str:
        """How much would be written, in a sentence."""
        gone = self.gathered.gone if self.gathered is not None else ()
        kept = [item for item in self.items if item.id not in gone]
        told = self.say("bundle_ready", on=len(kept), all=len(self.items), size=human(sum(item.size for item in kept)))
        return f"{told}. {self.say('bundle_raw')}" if profile == "raw" else told

    def lines(self, width: int) -> list[Content]:
        """Every item: in or out, its name, its size, how much of it was masked."""
        items, left_out = self.items, self.gathered.gone if self.gathered is not None else ()
        sums = {item.id: f"{self.say('masked')} {sum(item.masked.values()):,}" if any(item.masked.values()) else "" for item in items}
        last = max(map(cell_width, sums.values()), default=0)
        name = min(max((cell_width(clean_line(item.id)) for item in items), default=0), max(LEAST_NAME, width - 4 - 11 - 2 - last))
        lines = []
        for item in items:
            gone = item.id in left_out
            text = f"{'[ ]' if gone else '[x]'} {padded(_middle(clean_line(item.id), name), name)} {human(item.size):>10}  {self.say('left_out_mark') if gone else sums[item.id]}"
            lines.append(Content.styled(text, "dim" if gone else ""))
        return lines

    def detail(self, item: Item | None, style: Style) -> Iterator[Content]:
        say, chosen = self.say, self.gathered
        """What is told of one item, and of the whole."""
        if chosen is None:
            return
        if item is not None:
            yield from (Content.styled(line, "bold") for line in style.lines(item.id, ""))
            yield from self._told(say("size"), human(item.size), style)
            yield from self._told(say("masked"), counts(item.masked, say) or "-", style)
            if item.lacking:
                yield from self._told(say("lacking"), ", ".join(f"{count} {said(reason, self.language)}" for reason, count in sorted(item.lacking.items())), style)
            if item.left_out:
                yield from self._told("", say("lines_left_out", count=item.left_out), style)
        yield Content("")
        yield Content.styled(say("bundle_whole"), "bold")
        yield from self._told(say("masked"), counts(chosen.masked, say) or "-", style)
        for problem in chosen.problems:
            yield from (Content.styled(line, "bold $text-warning") for line in style.lines(problem, "  ", ""))

    @staticmethod
    def _told(label: str, text: str, style: Style) -> Iterator[Content]:
        head = f"{label}: " if label else ""
        for index, line in enumerate(style.lines(text, "  ", head)):
            cut = len(head) if not index and line.startswith(head) else 0
            yield Content.assemble((line[:cut], "dim"), line[cut:])


def _middle(text: str, cells: int) -> str:
    """Cut in its middle where it is too long: the end of a path tells more than its start."""
    if cell_width(text) <= cells:
        return text
    head = truncate(text, cells // 3, "")
    tail = ""
    for char in reversed(text):
        if cell_width(head) + 3 + cell_width(tail) + cell_width(char) > cells:
            break
        tail = char + tail
    return f"{head}...{tail}"


__all__ = ["BundleView", "bundle_speaker"]
