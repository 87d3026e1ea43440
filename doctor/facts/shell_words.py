"""The simple commands of a shell text, as words: quotes, comments, continuation lines and redirections are understood. Pure; never raises."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.regex import regex

WORD_LIMIT = 64 * 1024
"""Characters of a text that are looked at."""

_SPECIAL = regex(r"[\s'\"\\;|&()<>#`]")
_IN_QUOTES = regex(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_ESCAPED = regex(r'\\(\n|["\\$`])')
_CONTINUED = regex(r"[ \t\r]*\n")
_REDIRECTION = regex(r"[<>]+&?\s*")


def shell_commands(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of each command.

    Tolerant where a shell is not: an unclosed quote is a character, and blanks after a continuing backslash are forgiven.
    """
    return tuple(_Reader(text[:WORD_LIMIT]).commands())


class _Reader:
    """Walks through the text once; `word` is None between words."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.words: list[str] = []
        self.word: str | None = None
        self.is_redirected = False
        """Whether the next word is the file of a redirection, which is none of the command's."""
        self.unclosed: set[str] = set()

    def commands(self) -> Iterator[tuple[str, ...]]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in "\n;|()`" or char == "&" and self.text[self.at + 1 : self.at + 2] != ">":
                self.at += 1
                yield from self._ended()
            else:
                self._read(char)
        yield from self._ended()

    def _ended(self) -> Iterator[tuple[str, ...]]:
        self._close()
        self.is_redirected = False
        if self.words:
            yield tuple(self.words)
            self.words = []

    def _read(self, char: str) -> None:
        if char in "'\"" and char not in self.unclosed:
            self._quoted(char)
        elif char == "\\":
            self._escape()
        elif char in " \t\r&":  # an & that came here belongs to &>
            self._close()
            self.at += 1
        elif char == "#" and self.word is None:
            newline = self.text.find("\n", self.at)
            self.at = len(self.text) if newline < 0 else newline
        elif char in "<>":
            self._redirection()
        else:
            following = _SPECIAL.search(self.text, self.at + 1)
            self._take(following.start() if following else len(self.text))

    def _take(self, stop: int) -> None:
        self.word = (self.word or "") + self.text[self.at : stop]
        self.at = stop

    def _close(self) -> None:
        if self.word is None:
            return
        if not self.is_redirected:
            self.words.append(self.word)
        self.is_redirected = False
        self.word = None

    def _quoted(self, quote: str) -> None:
        stop = _closing(self.text, self.at, quote)
        if stop < 0:
            self.unclosed.add(quote)
            return
        inside = self.text[self.at + 1 : stop]
        self.word = (self.word or "") + (_ESCAPED.sub(lambda match: match[1].strip("\n"), inside) if quote == '"' else inside)
        self.at = stop + 1

    def _escape(self) -> None:
        continued = _CONTINUED.match(self.text, self.at + 1)
        if continued:
            self._close()
            self.at = continued.end()
        else:
            self.at += 1
            self._take(min(self.at + 1, len(self.text)))

    def _redirection(self) -> None:
        if self.word is not None and self.word.isdigit():
            self.word = None  # the number of the file that is redirected
        self._close()
        match = _REDIRECTION.match(self.text, self.at)
        self.at = match.end() if match else self.at + 1
        self.is_redirected = True


def _closing(text: str, start: int, quote: str) -> int:
    """Position of the quote that closes the one at `start`, -1 if there is none."""
    if quote == "'":
        return text.find("'", start + 1)
    match = _IN_QUOTES.match(text, start + 1)
    stop = match.end() if match else len(text)
    return stop if text[stop : stop + 1] == '"' else -1


__all__ = ["WORD_LIMIT", "shell_commands"]
