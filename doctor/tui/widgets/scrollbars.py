"""A scroll bar of whole cells, for terminals on which eighths of a block are not one cell wide."""

from __future__ import annotations

from textual.scrollbar import ScrollBar, ScrollBarRender


class AsciiScrollBar(ScrollBarRender):
    """Blank cells in two colours."""

    VERTICAL_BARS = [" "] * 8
    HORIZONTAL_BARS = [" "] * 8


def set_scroll_bars(*, ascii_only: bool) -> None:
    """For every scroll bar of this process."""
    ScrollBar.renderer = AsciiScrollBar if ascii_only else ScrollBarRender


__all__ = ["AsciiScrollBar", "set_scroll_bars"]
