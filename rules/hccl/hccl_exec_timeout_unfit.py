"""Compares HCCL_EXEC_TIMEOUT with HCCL_CONNECT_TIMEOUT and with what AIV mode makes of it."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Environment
from doctor.finding import Evidence, Hit, Skip

DEFAULT_EXEC, DEFAULT_CONNECT = 1836, 120
"""Seconds (HCCL's reference of environment variables)."""
AIV_MOST = 1091
"""Seconds; in AIV mode longer values and 0 are cut to this."""
EXEC, CONNECT, MODE = "HCCL_EXEC_TIMEOUT", "HCCL_CONNECT_TIMEOUT", "HCCL_OP_EXPANSION_MODE"


def judge(environment: Environment) -> Iterator[Hit]:
    exec_text, connect_text = environment.values.get(EXEC), environment.values.get(CONNECT)
    if exec_text is None and connect_text is None:
        if environment.complete:
            return
        raise Skip("the text names neither time-out")
    longest, connect = _seconds(exec_text, DEFAULT_EXEC), _seconds(connect_text, DEFAULT_CONNECT)
    if longest is None or connect is None:
        raise Skip("a time-out is not a number")
    fault = _fault(longest, connect, environment.values.get(MODE, "").upper() == "AIV")
    if fault:
        lines = tuple(
            Evidence(environment.source, f"{name}={environment.values[name][:60]}", environment.lines.get(name, 0))
            for name in (EXEC, CONNECT, MODE)
            if name in environment.values
        )
        yield Hit(found=fault, wanted=f"{EXEC} above 0 and above {CONNECT}", evidence=lines)


def _fault(longest: int, connect: int, aiv: bool) -> str:
    if aiv and longest > AIV_MOST and longest != DEFAULT_EXEC:
        return f"{EXEC} is {longest} s; AIV mode cuts it to {AIV_MOST} s"
    if longest == 0 and not aiv:
        return f"{EXEC} is 0: a hang is never reported"
    if connect >= (AIV_MOST if aiv and longest == 0 else longest):
        return f"{CONNECT} ({connect} s) is not below {EXEC} ({longest or AIV_MOST} s)"
    return ""


def _seconds(text: str | None, default: int) -> int | None:
    if text is None:
        return default
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 12 else None
