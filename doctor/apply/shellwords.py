"""POSIX shell as text, for the scripts that doctor writes for others to read and run. Nothing here is ever executed by doctor."""

from __future__ import annotations

import shlex


def quoted(word: str) -> str:
    return shlex.quote(word)


def heredoc(path: str, content: str, mode: str = "") -> tuple[str, ...]:
    """Lines that write the content to the path, through a file beside it; the content is taken literally."""
    mark = "ASCEND_DOCTOR_END"
    while any(line == mark for line in content.split("\n")):
        mark += "_"
    body = content if content.endswith("\n") else content + "\n"
    lines = [f"put {shlex.quote(path)} {mode or 'same'} <<'{mark}'", *body.split("\n")[:-1], mark]
    return tuple(lines)


__all__ = ["heredoc", "quoted"]
