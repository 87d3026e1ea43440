"""The parts of the app that need no screen: filters, lines of files of any size, and its words."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.locale import words_of
from doctor.text import clean
from doctor.tui.keys import COMMON
from doctor.tui.lines import BLOCK, CUT, LONGEST, FileLines, TextLines
from doctor.tui.rows import Filter, Row, Shown
from doctor.tui.screens.cause import CauseScreen
from doctor.tui.screens.checkup import CheckupScreen
from doctor.tui.screens.evidence import EvidenceScreen
from doctor.tui.screens.logs import LogsScreen
from doctor.tui.screens.npus import NpusScreen
from doctor.tui.screens.page import PageScreen
from doctor.tui.words import WORDS, speaker
from doctor.words import Words

SCREENS = (CauseScreen, CheckupScreen, EvidenceScreen, LogsScreen, NpusScreen, PageScreen)


def row(state: str = "FAIL", area: str = "driver", words: str = "driver too old") -> Row:
    return Row("key", state, "rule", Words("", ""), area, words=words)


def test_all_parts_of_a_filter_must_hold() -> None:
    assert Filter.of("").passes(row())
    assert Filter.of("Driver OLD").passes(row()) and not Filter.of("driver new").passes(row())
    assert not Filter.of("driver !old").passes(row()) and Filter.of("!new").passes(row())
    assert Filter.of("area:dri state:fail,warn").passes(row()) and not Filter.of("area:npu").passes(row())
    assert Filter.of("state:clear").passes(row("PASS")) and Filter.of("state:clear").opened(Shown()).passed
    assert not Filter.of("state:fail").opened(Shown()).skipped


@given(st.text())
def test_no_filter_breaks(text: str) -> None:
    Filter.of(text).passes(row())


def test_every_word_has_both_languages_with_the_same_values() -> None:
    for key, words in WORDS.items():
        fields = [{name for _, name, _, _ in string.Formatter().parse(text) if name is not None} for text in (words.en, words.zh)]
        assert words.en and words.zh and fields[0] == fields[1], key
        assert key not in words_of("en"), f"{key} is said twice"


@pytest.mark.parametrize("screen", SCREENS)
def test_every_key_does_something_and_is_named(screen: type[CheckupScreen]) -> None:
    speak = speaker("zh")
    for key in screen.KEYS:
        assert speak(key.word)
        assert key.action in ("open", "areas") or hasattr(screen, f"action_{key.action}"), key
    names = [name for key in (*screen.KEYS, *COMMON) for name in key.keys.split(",")]
    assert len(names) == len(set(names))


# Lines


def file_lines(folder: Path, data: bytes) -> FileLines:
    (folder / "log").write_bytes(data)
    return FileLines(folder / "log")


def test_every_line_of_a_large_file_is_found_by_its_number(tmp_path: Path) -> None:
    wanted = [f"{number} " + "x" * (number % 997) for number in range(5000)]
    data = "\n".join(wanted).encode()
    assert len(data) > 8 * BLOCK
    lines = file_lines(tmp_path, data)
    assert lines.count == 5000
    assert [lines.line(number) for number in range(5000)] == wanted
    assert lines.line(5000) == lines.line(-1) == ""


def test_lines_that_end_with_a_block_belong_to_the_right_number(tmp_path: Path) -> None:
    lines = file_lines(tmp_path, b"a" * (BLOCK - 1) + b"\n" + b"second\nthird\n")
    assert lines.count == 3
    assert (lines.line(1), lines.line(2)) == ("second", "third")
    assert lines.line(0) == "a" * LONGEST + CUT


def test_a_search_goes_both_ways_and_round_the_end(tmp_path: Path) -> None:
    text = "".join(f"line {number}{' Needle' if number in (10, 40_000) else ''}\n" for number in range(60_000))
    for lines in (file_lines(tmp_path, text.encode()), TextLines(text)):
        assert lines.find("needle", 0) == 10
        assert lines.find("needle", 11) == 40_000
        assert lines.find("needle", 40_001) == 10
        assert lines.find("needle", 39_999, backward=True) == 10
        assert lines.find("needle", 9, backward=True) == 40_000
        assert lines.find("nowhere", 5) is None


@pytest.mark.parametrize("data", [b"", b"\n", b"\x00\xff\xfe\x1b[2J\x9b31m\n[/nope]\r\n", b"\x1b" * 3 * LONGEST, "宽字符\t制表".encode("gb18030")])
def test_no_bytes_break_a_view(tmp_path: Path, data: bytes) -> None:
    lines = file_lines(tmp_path, data)
    for number in range(-1, lines.count + 2):
        line = lines.line(number)
        assert clean(line) == line and "\n" not in line and "\t" not in line
    lines.find("x", 0)


def test_a_file_that_shrinks_while_it_is_shown_gives_empty_lines(tmp_path: Path) -> None:
    lines = file_lines(tmp_path, b"line\n" * 200_000)
    (tmp_path / "log").write_bytes(b"gone")
    assert lines.line(199_000) == ""
    assert lines.find("line", 0) is None
