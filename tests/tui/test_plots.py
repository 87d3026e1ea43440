"""Plots of characters: nothing is invented, nothing is wider than asked for, several lines can be told apart without colour."""

from __future__ import annotations

import math

from doctor.text import cell_width
from doctor.tui.glyphs import ASCII, UNICODE
from doctor.tui.plots import bounds, chart, columns, letters, plotted, sampled, shares, sparkline

RISING = [(float(t), float(t)) for t in range(100)]


def test_curves_share_one_axis_of_time() -> None:
    whole, late = sampled([RISING, RISING[50:]], 10)
    assert len(whole) == len(late) == 10
    assert late[:5] == [None] * 5 and whole[5:] == late[5:]


def test_holes_are_filled_and_what_is_no_number_is_left_out() -> None:
    assert sampled([[(0.0, 1.0), (90.0, 4.0), (100.0, math.nan), (95.0, math.inf)], RISING], 10)[0][:9] == [1.0] * 9
    assert sampled([[], []], 5) == [[None], [None]]


def test_noise_of_a_quiet_process_is_no_mountain() -> None:
    low, high = bounds([[1000.0, 1001.0, 999.5]])
    assert round(high - low, 2) == 20.02 and low < 999.5 and high > 1001.0
    assert bounds([[0.0, 0.0]], from_zero=True) == (0.0, 1.0) == bounds([], from_zero=True)


def test_columns_rise_and_letters_tell_lines_apart() -> None:
    assert columns([0.0, 0.5, 1.0, None], 2, ASCII) == ["  # ", ".## "]
    assert letters([[0.0, 0.9], [0.0, 0.1], [None, 0.1]], 2) == [" a", "**"]


def test_a_chart_fits_and_names_its_axes() -> None:
    for width in (20, 57, 117):
        for glyphs in (ASCII, UNICODE):
            body, low, high = plotted([RISING], 4, width - 12, glyphs)
            lines = chart(body, "99 GiB", "0 B", "4 h ago", "now", width)
            assert max(map(cell_width, lines)) <= width
            assert "99 GiB" in lines[0] and "0 B" in lines[3] and "4 h ago" in lines[4]
    assert (low, high) == (0.0, 99.0)


def test_few_points_are_drawn_wide() -> None:
    assert plotted([[(0.0, 0.0), (1.0, 8.0)]], 1, 10, ASCII)[0] == [".....#####"]


def test_everything_is_ascii_where_it_must_be() -> None:
    assert sparkline(RISING, 12, ASCII).isascii()
    assert all(line.isascii() for line in plotted([RISING], 5, 40, ASCII)[0])
    assert shares([None, -5.0, 500.0], 0.0, 10.0) == [None, 0.0, 1.0]
