"""Kinds of memory: a made smaps, our own, any text; amounts as people read and write them."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.host import Unavailable
from doctor.host.live import LiveHost
from doctor.watch.amounts import seconds_of, size, span
from doctor.watch.smaps import from_event, parse_smaps, read_kinds, told

KB = 1024
TEXT = """55d0-55d1 rw-p 00000000 00:00 0                          [heap]
Rss:                 400 kB
Pss:                 300 kB
Anonymous:           400 kB
Swap:                 10 kB
VmFlags: rd wr mr mw me ac
7f00-7f01 rw-p 00000000 00:00 0
Rss:                1000 kB
Anonymous:          1000 kB
VmFlags: rd wr mr mw me nr
7f02-7f03 rw-p 00000000 00:00 0
Anonymous:            50 kB
VmFlags: rd wr
7f04-7f05 rw-s 00000000 00:19 7                          /dev/shm/psm_1 (deleted)
Rss:                  70 kB
7f06-7f07 r-xp 00000000 08:01 9                          /usr/lib/libtorch.so
Rss:                 900 kB
Anonymous:             4 kB
"""


def test_sums_by_kind() -> None:
    kinds = parse_smaps(TEXT)
    assert kinds.by_kind == {"heap": 410 * KB, "noreserve": 1000 * KB, "anonymous": 50 * KB, "shared": 70 * KB, "file": 4 * KB}
    assert (kinds.largest, kinds.mappings, kinds.pss) == ("noreserve", 5, 300 * KB)
    assert kinds.share("noreserve") == pytest.approx(1000 / 1464)


def test_an_event_gives_the_kinds_back() -> None:
    kinds = parse_smaps(TEXT)
    found = from_event(told(7, kinds))
    assert found is not None and (found[0], found[1].by_kind) == (7, kinds.by_kind)
    assert from_event("started api 7 x") is None and from_event("smaps x heap=1") is None


def test_our_own_memory() -> None:
    kinds = read_kinds(LiveHost(), os.getpid())
    assert not isinstance(kinds, Unavailable) and kinds.private > 1 << 20 and kinds.mappings > 10


@given(st.text(max_size=300))
def test_any_text_has_kinds(text: str) -> None:
    assert parse_smaps(text).private >= 0
    from_event(text)
    seconds_of(text)


def test_amounts() -> None:
    assert [seconds_of(text) for text in ("90", "30s", "5m", "1h30m", "1d", "soon", "", "-1s")] == [90, 30, 300, 5400, 86400, None, None, None]
    assert [size(amount) for amount in (12, 2048, 3.5 * 2**30, -2**20, 240 * 2**20)] == ["12 B", "2 KiB", "3.5 GiB", "-1 MiB", "240 MiB"]
    assert [span(seconds) for seconds in (45, 720, 23400, 276480)] == ["45 s", "12 min", "6.5 h", "3.2 d"]
