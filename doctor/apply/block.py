"""A marked block of doctor's own inside a file that others write as well: put in, replaced, taken out; the rest stays byte for byte."""

from __future__ import annotations

BEGIN, END = "# >>> ascend-doctor: {name} >>>", "# <<< ascend-doctor: {name} <<<"


def with_block(text: str, name: str, content: str) -> str:
    """The text with the block's content, in its place if it was there, else at the end. Raises ValueError for marks that do not pair."""
    lines = text.splitlines(keepends=True)
    first, last = _place(lines, name)
    body = content if not content or content.endswith("\n") else content + "\n"
    block = f"{BEGIN.format(name=name)}\n{body}{END.format(name=name)}\n"
    if first is None or last is None:
        return text + ("" if not text or text.endswith("\n") else "\n") + block
    return "".join(lines[:first]) + block + "".join(lines[last + 1 :])


def without_block(text: str, name: str) -> str:
    """The text without the block."""
    lines = text.splitlines(keepends=True)
    first, last = _place(lines, name)
    return text if first is None or last is None else "".join(lines[:first] + lines[last + 1 :])


def block_of(text: str, name: str) -> str | None:
    """What stands in the block, None where there is none."""
    lines = text.splitlines(keepends=True)
    first, last = _place(lines, name)
    return None if first is None or last is None else "".join(lines[first + 1 : last])


def _place(lines: list[str], name: str) -> tuple[int | None, int | None]:
    begins = [number for number, line in enumerate(lines) if line.strip() == BEGIN.format(name=name)]
    ends = [number for number, line in enumerate(lines) if line.strip() == END.format(name=name)]
    if not begins and not ends:
        return None, None
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise ValueError(f"the marks of the block {name!r} do not pair: {len(begins)} begin, {len(ends)} end")
    return begins[0], ends[0]


__all__ = ["block_of", "with_block", "without_block"]
