"""memcheck's text: what was lost, and by whose code."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.memcheck import Memcheck, MemcheckReader

RECORD = """\
==9128== 4,600 (100 direct, 4,500 indirect) bytes in 46 blocks are definitely lost in loss record 829 of 829
==9128==    at 0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so)
==9128==    by 0x53EA130: pool_take (pool.c:4)
==9128==    by 0x53F8F79: ??? (in /opt/lib/libfabric.so.1)
==9128==
"""
INTERPRETER = """\
==17== 24 bytes in 1 blocks are definitely lost in loss record 130 of 3,569
==17==    at 0x48417B4: malloc (vg_replace_malloc.c:381)
==17==    by 0x49C8C89: PyFloat_FromDouble (floatobject.c:149)
"""


def read(text: str) -> Memcheck:
    reader = MemcheckReader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.feed("vg.txt", number, line)
    (found,) = reader.facts()
    assert isinstance(found, Memcheck)
    return found


def test_a_record_tells_its_bytes_and_its_first_frames_outside_the_allocator() -> None:
    (lost,) = read(RECORD).lost
    assert (lost.bytes, lost.blocks, lost.by_design, lost.line) == (4600, 46, False, 1)
    assert lost.where == "pool_take (pool.c:4) < ??? (/opt/lib/libfabric.so.1)"


def test_the_same_stack_is_one_place_and_the_largest_comes_first() -> None:
    found = read(INTERPRETER + RECORD + INTERPRETER)
    assert [(lost.bytes, lost.by_design) for lost in found.lost] == [(4600, False), (48, True)]
    assert found.processes == 2


def test_a_record_without_a_stack_is_nobodys() -> None:
    (lost,) = read("==1== 64 bytes in 1 blocks are definitely lost in loss record 3 of 9").lost
    assert not lost.by_design and not lost.frames


@given(st.lists(st.sampled_from([*RECORD.split("\n"), *INTERPRETER.split("\n"), "==1== 9 bytes in , blocks are definitely lost in loss record"]) | st.text(), max_size=30))
def test_any_text_is_read_without_an_error(lines: list[str]) -> None:
    reader = MemcheckReader()
    for number, line in enumerate(lines, 1):
        reader.feed("x", number, line)
    assert len(list(reader.facts())) <= 1
