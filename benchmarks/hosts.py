"""Recorded servers of any size, made from a recorded one: more cards, more processes."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "fixtures" / "hosts" / "a2-healthy"
CARDS = 8
"""That the source has."""

_RULE = "+===========================+===============+====================================================+\n"
_OF_CARD = re.compile(r"(\$ (?:npu-smi info|hccn_tool) .*?-i )(\d+)\b")


def with_cards(folder: Path, cards: int) -> Path:
    """The source with that many cards: rows of the tables, and answers about each."""
    shutil.copytree(SOURCE, folder)
    path = folder / "commands.txt"
    blocks = re.split(r"^(?=\$ )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    path.write_text("".join(text for block in blocks for text in _of_cards(block, cards)), encoding="utf-8")
    return folder


def _of_cards(block: str, cards: int) -> Iterator[str]:
    if found := _OF_CARD.match(block):
        for card in range(int(found[2]), cards, CARDS):
            yield _OF_CARD.sub(rf"\g<1>{card}", block, count=1)
    elif block.startswith("$ npu-smi info\n"):
        head, *rows = re.split(r"(?=^\| \d+ +910B)", block, flags=re.MULTILINE)
        last = rows[-1].partition(_RULE)[2]
        yield head
        yield from (re.sub(r"^\| \d+ +", f"| {card:<6}", rows[card % CARDS].partition(_RULE)[0]) + _RULE for card in range(cards))
        yield last
    elif "/dev/davinci" in block:
        yield re.sub(r"^.* /dev/davinci7\n", "".join(f"crw-rw---- 1 HwHiAiUser HwHiAiUser 236, {card} Nov 28 08:00 /dev/davinci{card}\n" for card in range(7, cards)), block, flags=re.MULTILINE)
    else:
        yield block


def with_processes(folder: Path, processes: int) -> Path:
    """The source with that many processes, half of them vLLM's workers."""
    shutil.copytree(SOURCE, folder)
    for pid in range(1000, 1000 + processes):
        words = ["python3", "-m", "vllm.entrypoints.cli.main", "serve", "/models/qwen", "--port", str(pid)] if pid % 2 else ["/usr/sbin/agent", str(pid)]
        path = folder / "files" / "proc" / str(pid)
        path.mkdir(parents=True)
        (path / "cmdline").write_bytes(b"\0".join(word.encode() for word in words) + b"\0")
        (path / "status").write_text(f"Name:\t{words[0][:15]}\nState:\tS (sleeping)\nPid:\t{pid}\nPPid:\t1\nUid:\t0\t0\t0\t0\n", encoding="utf-8")
    return folder
