"""A text that scrolls and changes often. Unlike a `Static` in a scrolling container it never lays out the screen anew."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual


class TextView(ScrollView, can_focus=False):
    """Shows one `Content`, wrapped to the width, with a blank on its left."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._content = Content("")
        self._strips: list[Strip] = []
        self._wide = 0

    @property
    def room(self) -> int:
        """Cells of a line."""
        return max(1, self.scrollable_content_region.width - 1)

    def show(self, content: Content) -> None:
        """Shows this text from its start."""
        if content.is_same(self._content) and self._wide == self.room and self._strips:
            return
        self._content = content
        self._lay_out()
        if self.scroll_offset.y:
            self.scroll_to(y=0, animate=False, immediate=True, force=True)

    def on_resize(self) -> None:
        if self._wide != self.room:
            self._lay_out()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._lay_out()  # another theme, other colours

    def _lay_out(self) -> None:
        if not self.is_attached:
            return
        self._wide = self.room
        self._strips = Visual.to_strips(self, self._content, self._wide, None, self.visual_style)
        size = Size(self._wide, len(self._strips))
        if size != self.virtual_size:
            # Setting it would lay out the whole screen; the scroll bar, which is always there, is all that changes.
            self.set_reactive(TextView.virtual_size, size)
            self._scroll_update(size)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        number, style = self.scroll_offset.y + y, self.visual_style.rich_style
        if number >= len(self._strips):
            return Strip.blank(self.size.width, style)
        return Strip.join([Strip.blank(1, style), self._strips[number]]).crop_extend(0, self.size.width, style)


__all__ = ["TextView"]
