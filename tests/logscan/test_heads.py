"""The starts of logs that are kept for facts: the same whatever the order and the cuts, and bounded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from doctor.logscan import heads as heads_module
from doctor.logscan.heads import LIMITS, MOST, Heads
from doctor.logscan.scan import Chunk

LINE = b"INFO vllm 0.11.0 on a line of forty bytes\n"


def kept(chunks: list[Chunk]) -> dict[str, bytes]:
    heads = Heads()
    assert list(heads.passing(chunks)) == chunks
    found: dict[str, bytes] = {}
    for chunk in heads.chunks():
        found[chunk.source] = found.get(chunk.source, b"") + chunk.data
    return found


def test_of_few_logs_the_first_megabyte_is_kept() -> None:
    data = LINE * (2 * LIMITS[0] // len(LINE))
    found = kept([Chunk("a", data), Chunk("b", b"one\n"), Chunk("b", b"two\n", 2)])
    assert found["b"] == b"one\ntwo\n"
    assert data.startswith(found["a"])
    assert LIMITS[0] - len(LINE) < len(found["a"]) <= LIMITS[0]


def test_of_thousands_each_keeps_its_start_and_all_are_bounded() -> None:
    found = kept([Chunk(f"log {number}", LINE * 4000) for number in range(1900)])
    assert len(found) == 1900
    assert sum(map(len, found.values())) <= MOST
    assert set(map(len, found.values())) == {LIMITS[2] // len(LINE) * len(LINE)}


@given(st.permutations(range(6)), st.integers(1, 40))
def test_neither_order_nor_cuts_change_what_is_kept(order: list[int], cut: int) -> None:
    before = heads_module.LIMITS, heads_module.MOST
    heads_module.LIMITS, heads_module.MOST = (400, 90, 41), 1000
    try:
        texts = [[LINE] * lines for lines in (1, 3, 8, 20, 40, 2)]
        whole = kept([Chunk(str(number), b"".join(texts[number])) for number in range(6)])
        pieces = [Chunk(str(number), b"".join(texts[number][start : start + cut]), start + 1) for number in order for start in range(0, len(texts[number]), cut)]
        assert kept(pieces) == whole
    finally:
        heads_module.LIMITS, heads_module.MOST = before
