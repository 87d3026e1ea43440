"""Events come from a process that may be broken: whatever it writes, an event is well formed or it is none."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.smoke.events import TEXT, Check, Figure, Note, Occupied, Stage, parse


def test_each_kind() -> None:
    assert parse(b'{"event": "stage", "name": "import torch", "seconds": null}') == Stage("import torch")
    assert parse(b'{"event": "figure", "name": "speed", "value": 3, "unit": "GB/s", "expected": 4.5}') == Figure("speed", 3.0, "GB/s", "", 4.5)
    assert parse(b'{"event": "check", "name": "sum", "passed": true, "detail": "d", "subject": "s"}') == Check("sum", True, "d", "s")
    assert parse(b'{"event": "note", "name": "torch", "detail": "2.13"}') == Note("torch", "2.13")
    assert parse(b'{"event": "occupied", "kind": "port", "name": "8000"}') == Occupied("port", "8000")


@pytest.mark.parametrize(
    "line",
    [
        b"", b"hello", b"[1]", b"null", b'{"event": "stage"}', b'{"event": "stage", "name": 4}', b'{"event": "unknown", "name": "x"}', b"[" * 100000,
        b'{"event": "figure", "name": "x", "value": NaN}', b'{"event": "figure", "name": "x", "value": true}',
        b'{"event": "figure", "name": "x", "value": 1e999}', b'{"event": "figure", "name": "x", "value": ' + b"9" * 400 + b"}", b"\xff\xfe\x00",
    ],
)  # fmt: skip
def test_what_is_no_event_is_none(line: bytes) -> None:
    assert parse(line) is None


def test_a_check_passes_only_where_it_says_so() -> None:
    assert parse(b'{"event": "check", "name": "sum", "passed": "yes"}') == Check("sum", False)


def test_texts_are_cleaned_and_cut() -> None:
    event = parse(b'{"event": "note", "name": "a\\u001b[31mb\\nc", "detail": "' + b"x" * 5000 + b'"}')
    assert isinstance(event, Note) and event.name == "ab c" and len(event.detail) == TEXT


@given(st.binary(max_size=300))
def test_no_bytes_raise(line: bytes) -> None:
    event = parse(line)
    assert not isinstance(event, Figure) or math.isfinite(event.value)
