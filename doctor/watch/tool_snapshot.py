"""torch's memory snapshots (torch.npu.memory._dump_snapshot), read without unpickling: nothing in the file is ever called or imported.

Contract: only the opcodes that plain data need are understood; any other (a class, a call) refuses the file with the remedy. Work and memory are
bounded. A snapshot as JSON is read as well.
"""

from __future__ import annotations

import json
import pickletools
from collections.abc import Callable
from typing import Any

from doctor.watch.toolsummary import Device, Place, ToolSummary, UnreadableError, largest, library_of

MOST_OPCODES = 6_000_000
"""About half a minute; a snapshot without history has far fewer."""
MOST_DEPTH = 10_000
REMEDY = "Make it without history, or as JSON: import json, torch; json.dump({'segments': torch.npu.memory_snapshot()}, open('snapshot.json', 'w'))"

_MARK = object()


def is_pickle(head: bytes) -> bool:
    return head[:1] == b"\x80" and len(head) > 2 and head[1] <= 5


def snapshot(data: bytes) -> ToolSummary:
    """The summary of a snapshot's segments. Raises UnreadableError."""
    record = _plain(data) if is_pickle(data) else _json(data)
    segments = record.get("segments") if isinstance(record, dict) else record
    if not isinstance(segments, list) or not all(isinstance(each, dict) for each in segments):
        raise UnreadableError("no list of segments in it")
    return _summed(segments)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise UnreadableError(f"not JSON: {problem}") from None


def _summed(segments: list[Any]) -> ToolSummary:
    devices: dict[int, Device] = {}
    places: dict[str, Place] = {}
    for segment in segments:
        number = _int(segment.get("device"))
        blocks = [block for block in segment.get("blocks") or () if isinstance(block, dict)]
        active = [block for block in blocks if str(block.get("state", "")).startswith("active")]
        free = max((_int(block.get("size")) for block in blocks if block.get("state") == "inactive"), default=0)
        known = devices.get(number, Device(number, 0, 0, 0))
        size = sum(_int(block.get("size")) for block in active)
        devices[number] = Device(number, known.reserved + _int(segment.get("total_size")), known.active + size, known.segments + 1, max(known.largest_free, free))
        for block in active:
            where, library = _where(block)
            if where:
                old = places.get(where, Place(0, 0, where, library))
                places[where] = Place(old.size + _int(block.get("size")), (old.blocks or 0) + 1, where, library)
    found = tuple(devices[number] for number in sorted(devices))
    return ToolSummary("snapshot", sum(device.reserved for device in found), largest(places.values())[:1000], found)


def _where(block: dict[str, Any]) -> tuple[str, str]:
    """The innermost Python frame outside torch, where history was recorded."""
    frames = block.get("frames") or next((each.get("frames") for each in block.get("history") or () if isinstance(each, dict)), None)
    named = [frame for frame in frames or () if isinstance(frame, dict) and str(frame.get("filename", "")).endswith(".py")]
    frame = next((each for each in named if library_of(str(each["filename"])) not in ("torch", "torch_npu", "python")), named[0] if named else None)
    if frame is None:
        return "", ""
    filename = str(frame["filename"])[:400]
    return f"{str(frame.get('name'))[:80]} ({filename}:{_int(frame.get('line'))})", library_of(filename)


def _int(value: Any) -> int:
    return int(value) if isinstance(value, int) and abs(value) < 1 << 62 else 0


class _Machine:
    """The stack and memo of a pickle that holds plain data."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def pop_mark(self) -> list[Any]:
        at = len(self.stack) - 1
        while self.stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise UnreadableError("a broken pickle")
        found = self.stack[at + 1 :]
        del self.stack[at:]
        return found


def _put_items(machine: _Machine, items: list[Any]) -> None:
    target = machine.stack[-1]
    if not isinstance(target, dict):
        raise UnreadableError("a broken pickle")
    target.update(zip(items[::2], items[1::2], strict=False))


def _extend(machine: _Machine, items: list[Any]) -> None:
    target = machine.stack[-1]
    if not isinstance(target, list):
        raise UnreadableError("a broken pickle")
    target.extend(items)


def _pair(machine: _Machine, argument: Any) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    _put_items(machine, [key, value])


def _append(machine: _Machine, argument: Any) -> None:
    value = machine.stack.pop()
    _extend(machine, [value])


def _tuple(count: int) -> Callable[[_Machine, Any], None]:
    def make(machine: _Machine, argument: Any) -> None:
        found = tuple(machine.stack[len(machine.stack) - count :]) if count else ()
        if count:
            del machine.stack[-count:]
        machine.stack.append(found)

    return make


def _push(make: Callable[[Any], Any]) -> Callable[[_Machine, Any], None]:
    return lambda machine, argument: machine.stack.append(make(argument))


_VALUE = _push(lambda argument: argument)
_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    **dict.fromkeys(
        ("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8",
         "STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"), _VALUE,
    ),
    "NONE": _push(lambda _: None), "NEWTRUE": _push(lambda _: True), "NEWFALSE": _push(lambda _: False),
    "EMPTY_LIST": _push(lambda _: []), "EMPTY_DICT": _push(lambda _: {}), "EMPTY_TUPLE": _tuple(0), "TUPLE1": _tuple(1), "TUPLE2": _tuple(2), "TUPLE3": _tuple(3),
    "MARK": lambda machine, _: machine.stack.append(_MARK),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.pop_mark())),
    "LIST": lambda machine, _: machine.stack.append(machine.pop_mark()),
    "APPEND": _append, "APPENDS": lambda machine, _: _extend(machine, machine.pop_mark()),
    "SETITEM": _pair, "SETITEMS": lambda machine, _: _put_items(machine, machine.pop_mark()),
    "MEMOIZE": lambda machine, _: machine.memo.__setitem__(len(machine.memo), machine.stack[-1]),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), lambda machine, argument: machine.memo.__setitem__(argument, machine.stack[-1])),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), lambda machine, argument: machine.stack.append(machine.memo[argument])),
    **dict.fromkeys(("PROTO", "FRAME"), lambda machine, _: None),
    "POP": lambda machine, _: machine.stack.pop() and None,
}  # fmt: skip
"""What plain data need. GLOBAL, REDUCE, BUILD and all other opcodes that make or call something are not here."""


def _plain(data: bytes) -> Any:
    machine = _Machine()
    try:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(data)):
            if opcode.name == "STOP":
                return machine.stack[-1]
            step = _STEPS.get(opcode.name)
            if step is None:
                raise UnreadableError(f"it holds objects ({opcode.name}), which are never loaded. {REMEDY}")
            if count > MOST_OPCODES:
                raise UnreadableError(f"too long to be read safely. {REMEDY}")
            step(machine, argument)
    except UnreadableError:
        raise
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, UnicodeError, MemoryError) as problem:
        raise UnreadableError(f"a broken pickle ({type(problem).__name__})") from None
    raise UnreadableError("a broken pickle")


__all__ = ["is_pickle", "snapshot"]
