"""What `doctor rules --timings` shows."""

from __future__ import annotations

from doctor.logscan.cost import LINE, worst


def test_every_pattern_has_a_cost() -> None:
    assert worst("needle", ["needle"]) >= 0


def test_a_pattern_that_searches_the_line_again_from_every_literal_costs_more_than_one_that_does_not() -> None:
    """A hundredfold apart, so that no clock decides."""
    assert worst(r"need.{0,3000}le\d.{0,3000}X", ["need"]) > worst("needle", ["need"])
    assert LINE == 16 * 1024
