"""A terminal as far as the app uses one: moves, colours, clearing. Says what stands in every cell after some output."""

from __future__ import annotations

import re

from doctor.text import cell_width
from doctor.tui.frugal import normal

_TOKEN = re.compile(r"\x1b\[([0-9;]*)([HmKJX])|\x1b(?:\[[^a-zA-Z]*[a-zA-Z]|.)|([^\x1b])", re.DOTALL)

Cell = tuple[str, str]


class Emulator:
    """`cells[line][column]` is (character, colours); the second cell of a wide character holds ""."""

    def __init__(self, columns: int, lines: int) -> None:
        self.columns, self.lines = columns, lines
        self.cells: list[list[Cell]] = []
        self._at, self._style = (0, 0), ""
        self._clear()

    def _clear(self) -> None:
        self.cells = [[(" ", "") for _ in range(self.columns)] for _ in range(self.lines)]

    @property
    def text(self) -> list[str]:
        return ["".join(char for char, _ in line) for line in self.cells]

    def feed(self, data: str) -> None:
        for match in _TOKEN.finditer(data):
            codes, command, char = match.groups()
            line, column = self._at
            if command == "H":
                row, col = (int(code or 1) for code in (codes or "1;1").split(";"))
                self._at = row - 1, col - 1
            elif command == "m":
                self._style = normal(f"{self._style};{codes}" if self._style and codes.split(";")[0] not in ("", "0") else codes)
            elif command == "K":
                assert not codes and not self._style, "an erased line takes the colours of the moment on some terminals only"
                self.cells[line][column:] = [(" ", "")] * (self.columns - column)
            elif command == "X":
                assert not self._style and column + int(codes) <= self.columns
                self.cells[line][column : column + int(codes)] = [(" ", "")] * int(codes)
            elif command == "J":
                assert codes == "2" and not self._style
                self._clear()
            elif char == "\n":
                continue
            elif char is not None:
                self._put(char)

    def _put(self, char: str) -> None:
        line, column = self._at
        width = cell_width(char)
        if not width:
            before = max(0, column - 1)
            self.cells[line][before] = (self.cells[line][before][0] + char, self._style)
        elif column + width <= self.columns:
            self.cells[line][column] = (char, self._style)
            if width == 2:
                self.cells[line][column + 1] = ("", self._style)
            self._at = line, column + width


__all__ = ["Emulator"]
