"""Text from outside comes out harmless, whole, and measured in cells."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.text import cell_width, clean, clean_line, decode, truncate

KEPT_CONTROLS = {0x09, 0x0A}
TO_NEWLINE = {0x0D, 0x2028, 0x2029}
GOES = {
    *range(0x20), *range(0x7F, 0xA0), 0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A),
    *range(0x200B, 0x200E), 0x2060, 0xFEFF, *range(0xE0000, 0xE0080), 0xD800, 0xDFFF,
} - KEPT_CONTROLS - TO_NEWLINE  # fmt: skip
CONSIDERED = sorted({*range(0x100), *range(0x2000, 0x2070)} | GOES | TO_NEWLINE)


@pytest.mark.parametrize("code", CONSIDERED)
def test_each_character_goes_or_stays(code: int) -> None:
    # A digit cannot continue an escape sequence of one character, except of a CSI; the letter ends that.
    after = "m" if code == 0x9B else ""
    cleaned = clean("ab" + chr(code) + after + "\ncd")
    if code in TO_NEWLINE:
        assert cleaned in ("ab\n\ncd", "ab\ncd")
        assert clean("ab" + chr(code) + "cd") == "ab\ncd"
    elif code in GOES:
        assert cleaned == "ab\ncd"
    elif 0x2061 <= code <= 0x206F:
        assert cleaned in ("ab\ncd", "ab" + chr(code) + "\ncd")
    else:
        assert cleaned == "ab" + chr(code) + "\ncd"


@pytest.mark.parametrize(
    "dirty, expected",
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b1;31mred\x9b0m", "red"),
        ("\x1b[?25l\x1b[2Kbar", "bar"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9ctext", "text"),
        ("\x1bP1$r0m\x1b\\text", "text"),
        ("\x1b_payload\x1b\\text", "text"),
        ("\x1b(Btext\x1bM\x1b#8", "text"),
        ("\x1b]0;never closed\nEZ9999", "0;never closed\nEZ9999"),
        ("\x1b", ""),
        ("\x1b[", ""),
        ("10%\r20%\r\n", "10%\n20%\n"),
        ("a\r\r\nb", "a\nb"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("中文\x1b[1m粗\x1b[0m\u202e", "中文粗"),
        ("nul\x00nul", "nulnul"),
        ("plain\ttext\n", "plain\ttext\n"),
        ("", ""),
    ],
)
def test_sequences(dirty: str, expected: str) -> None:
    assert clean(dirty) == expected


@given(st.text(st.characters(codec=None) | st.sampled_from("\x1b\x9b\x9d\x07\\[]Pm0;\r\n\u202e\ud800")))
def test_clean_is_idempotent_and_leaves_nothing_unsafe(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert not any(ord(char) in GOES or ord(char) in TO_NEWLINE for char in cleaned)


@pytest.mark.parametrize("unit", ["\x1b]", "\x9d", "\x9b", "\x1b[", "\x1b", "\x1b]a", "\x9b0", "\r", "\x1bP\x1b", "\x9b;; "])
def test_clean_is_linear(unit: str) -> None:
    assert len(clean(unit * 200_000)) <= 200_000


def test_clean_line_is_one_line() -> None:
    assert clean_line(" a\tb\r\n\x1b[1mc\u2028d ") == "a b c d"


@pytest.mark.parametrize("text, cells", [("abc", 3), ("中文", 4), ("e\u0301", 1), ("ｗ", 2), ("", 0), ("…", 1), ("한", 2)])
def test_cell_width(text: str, cells: int) -> None:
    assert cell_width(text) == cells


@pytest.mark.parametrize(
    "text, cells, expected",
    [("abcdef", 6, "abcdef"), ("abcdef", 4, "abc…"), ("中文字", 4, "中…"), ("中文字", 5, "中文…"), ("abc", 0, ""), ("abc", 1, "…"), ("abc", -1, "")],
)
def test_truncate(text: str, cells: int, expected: str) -> None:
    assert truncate(text, cells) == expected


@given(st.text(), st.integers(0, 20), st.text(max_size=3))
def test_truncate_fits(text: str, cells: int, ellipsis: str) -> None:
    assert cell_width(truncate(text, cells, ellipsis)) <= cells


@pytest.mark.parametrize(
    "data, expected",
    [
        ("驱动 ok".encode(), "驱动 ok"),
        (b"\xef\xbb\xbfabc", "abc"),
        (b"\xff\xfe" + "驱动".encode("utf-16-le"), "驱动"),
        (b"\xfe\xff" + "驱动".encode("utf-16-be"), "驱动"),
        ("错误：设备不存在 (EL0001)".encode("gb18030"), "错误：设备不存在 (EL0001)"),
        ("驱动\n".encode() + "错误：设备".encode("gb18030") + b"\nplain", "驱动\n错误：设备\nplain"),
        ("设备错误".encode()[:-1], "设备错\ufffd"),
        ("设备错误".encode()[1:], "\ufffd\ufffd备错误"),
        ("na\xefve caf\xe9".encode("latin-1"), "na\ufffdve caf\ufffd"),
        (b"\xff\xff\xff", "\ufffd\ufffd\ufffd"),
        (b"", ""),
    ],
)
def test_decode(data: bytes, expected: str) -> None:
    assert decode(data) == expected


@given(st.binary())
def test_decode_never_raises(data: bytes) -> None:
    assert isinstance(clean(decode(data)), str)
