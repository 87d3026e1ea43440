"""Makes text from outside safe to show, and measures it in terminal cells. Imports nothing of ours.

Contract: no function raises on any text or bytes; what `clean` returns holds no character that a terminal would obey or
that hides or reorders others, and cleaning it again changes nothing.
"""

from __future__ import annotations

import functools
import json
import re
import unicodedata

_INVISIBLE = (
    "\u061c"  # Arabic letter mark
    "\u180e"
    "\u200b-\u200f"  # zero-width space and joiners, direction marks
    "\u202a-\u202e"  # bidi embeddings and overrides
    "\u2060-\u206f"  # word joiner, invisible operators, bidi isolates
    "\ufeff"
    "\ufff9-\ufffb"  # interlinear annotation
    "\U000e0000-\U000e007f"  # tags
)
_UNSAFE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff" + _INVISIBLE
_DIRTY = f"[{_UNSAFE}]"

# A control string (OSC, DCS, SOS, PM, APC) goes as a whole only when it is closed within its line; of an open one only the introducer
# goes, so that nobody can hide the rest of a log. Its body holds no control character, which keeps the scan linear. The pattern starts
# with one set of characters, and looks back at the one it found, because `re` skips ahead fast over text only for such a start.
_CLOSED = "[^\x00-\x1f\x7f-\x9f]*(?:\x07|\x1b\\\\|\x9c)"
_PARAMETERS = "[0-?]*[ -/]*[@-~]?"
_STRIP = (
    f"[{_UNSAFE}](?:"
    rf"(?<=\x1b)(?:[\]PX^_]{_CLOSED}|\[{_PARAMETERS}|[ -/]*[0-~]?)"
    rf"|(?<=\x9b){_PARAMETERS}"
    rf"|(?<=[\x90\x98\x9d-\x9f]){_CLOSED}"
    ")?"
)
_NEWLINE = "\r+\n?|[\u2028\u2029]"
_ASCII_CONTROLS = bytes([*range(0x09), *range(0x0B, 0x20), 0x7F])


@functools.lru_cache(maxsize=16)
def _compiled(expression: str) -> re.Pattern[str]:
    """Compiled at the first text that needs it: sets of characters of the whole of Unicode take milliseconds, and most text is clean ASCII."""
    return re.compile(expression)


def clean(text: str) -> str:
    """The text without escape sequences, controls other than tab and newline, bidi, zero-width and tag characters, and surrogates.

    A carriage return before a newline goes; a lone one, as progress bars print it, becomes a newline, and so do U+2028 and U+2029.
    """
    if text.isascii():
        if len(text.encode("ascii").translate(None, _ASCII_CONTROLS)) == len(text):
            return text
    elif not _compiled(_DIRTY).search(text):
        return text
    if "\r" in text or "\u2028" in text or "\u2029" in text:
        text = _compiled(_NEWLINE).sub("\n", text)
    return _compiled(_STRIP).sub("", text)


def clean_line(text: str) -> str:
    """The cleaned text as one line: every run of white space is one space, none at the ends."""
    return " ".join(clean(text).split())


@functools.lru_cache(maxsize=4096)
def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cc", "Cf", "Cs") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def cell_width(text: str) -> int:
    """How many terminal cells one cleaned line takes: wide East Asian characters two, combining ones none."""
    if text.isascii() and text.isprintable():
        return len(text)
    return sum(map(_char_width, text))


def truncate(text: str, cells: int, ellipsis: str = "…") -> str:
    """The text if it fits into `cells` terminal cells, otherwise as much of its start as fits with the ellipsis behind it."""
    if cell_width(text) <= cells:
        return text
    room = cells - cell_width(ellipsis)
    if room < 0:
        return _fit(ellipsis, cells)
    return _fit(text, room) + ellipsis


def _fit(text: str, cells: int) -> str:
    used = 0
    for index, char in enumerate(text):
        used += _char_width(char)
        if used > cells:
            return text[:index]
    return text


_CJK = "[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]"
_BEYOND_ASCII = "[\x80-\ufffc\ufffe-\U0010ffff]"
_GB2312 = re.compile(rb"[\xa1-\xf7][\xa1-\xfe]")
_ASCII = bytes(range(0x80))


def decode(data: bytes) -> str:
    """The bytes as text: UTF-16 where a byte order mark says so, else UTF-8, else GB18030 for the lines that are Chinese in it.

    What is in none of these becomes U+FFFD. NUL and other controls are left to `clean`.
    """
    if data[:2] == b"\xff\xfe":
        return data[2:].decode("utf-16-le", "replace")
    if data[:2] == b"\xfe\xff":
        return data[2:].decode("utf-16-be", "replace")
    data = data[3:] if data[:3] == b"\xef\xbb\xbf" else data  # as removeprefix, which Python 3.6 has not: `doctor collect` carries this module
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        # Line by line: logs mix encodings, and no GB18030 character holds the byte of a newline.
        return "\n".join(map(_decode_line, data.split(b"\n")))


def _decode_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        pass
    as_utf8 = line.decode("utf-8", "replace")
    # Mostly valid UTF-8: damaged, or cut at a limit. Such bytes read as GB18030 would be mojibake that looks Chinese.
    if len(_compiled(_BEYOND_ASCII).findall(as_utf8)) >= as_utf8.count("\ufffd"):
        return as_utf8
    as_gb = line.decode("gb18030", "replace")
    high = len(line.translate(None, _ASCII))
    pairs = len(_GB2312.findall(line))
    # Real Chinese text is nearly all characters of two bytes above ASCII; Latin-1 read as GB18030 is not.
    if 2 * pairs >= 0.8 * high and len(_compiled(_CJK).findall(as_gb)) >= 0.8 * len(_compiled(_BEYOND_ASCII).findall(as_gb)):
        return as_gb
    return as_utf8


def docker_message(line: str) -> str:
    """What a line of Docker's json-file log holds in `log`; any other line as it is."""
    if not line.startswith('{"log":'):
        return line
    try:
        value = json.loads(line).get("log")
    except (ValueError, AttributeError, RecursionError):
        return line
    return value if isinstance(value, str) else line


__all__ = ["cell_width", "clean", "clean_line", "decode", "docker_message", "truncate"]
