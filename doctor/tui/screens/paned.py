"""A screen with a pane of details beside its list, which two keys scroll."""

from __future__ import annotations

from textual.containers import VerticalScroll

from doctor.tui.screens.base import DoctorScreen


class PanedScreen(DoctorScreen):
    """Has a VerticalScroll with the id `pane`."""

    def action_detail_down(self) -> None:
        self.query_one("#pane", VerticalScroll).scroll_page_down(animate=False)

    def action_detail_up(self) -> None:
        self.query_one("#pane", VerticalScroll).scroll_page_up(animate=False)


__all__ = ["PanedScreen"]
