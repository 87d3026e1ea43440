"""The command palette: the actions of the screen below it, every rule, and every error code that is typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from doctor.tui.keys import COMMON
from doctor.tui.screens.base import DoctorScreen

if TYPE_CHECKING:
    from doctor.tui.app import DoctorApp

_HIDDEN = ("command_palette",)


class DoctorCommands(Provider):
    """Finds actions, rules and codes."""

    @property
    def doctor(self) -> DoctorApp:
        return cast("DoctorApp", self.app)

    def _actions(self) -> Iterator[tuple[str, str, Callable[[], object]]]:
        """(what is typed, what stands below it, what it does)"""
        keys = self.screen.offered if isinstance(self.screen, DoctorScreen) else ()
        for key in (*keys, *COMMON):
            if key.action not in _HIDDEN and any(hasattr(each, f"action_{key.action}") for each in (self.screen, self.app)):
                yield self.doctor.speak(key.word), key.shown, partial(self._act, key.action)

    async def _act(self, action: str) -> None:
        await self.screen.run_action(action if hasattr(self.screen, f"action_{action}") else f"app.{action}")

    def _pages(self, query: str) -> Iterator[tuple[str, str, Callable[[], object]]]:
        from doctor.errorcodes import explain
        from doctor.rulebook import load

        if len(query) > 3 and (entries := explain(query.strip())):
            yield query.strip(), entries[0].meaning[self.doctor.language], partial(self.doctor.explain_code, query.strip())
        for rule in load().rules.values():
            yield rule.id, rule.title[self.doctor.language], partial(self.doctor.explain, rule.id)

    async def discover(self) -> Hits:
        for name, note, act in self._actions():
            yield DiscoveryHit(Content(name), act, text=name, help=escape(note))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, note, act in (*self._actions(), *self._pages(query)):
            score = max(matcher.match(name), 0.8 * matcher.match(note))
            if score > 0:
                yield Hit(score, Content(name), act, text=name, help=escape(note))


__all__ = ["DoctorCommands"]
