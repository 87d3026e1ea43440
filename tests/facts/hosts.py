"""Makes a recorded host on the spot: files by path, and a terminal's transcript."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from doctor.facts import HostFacts
from doctor.host.plain import PlainHost


def facts_of(folder: Path, files: Mapping[str, str] | None = None, commands: Mapping[str, str] | None = None) -> HostFacts:
    """`files`: path -> text; `commands`: command line -> output, which succeeded unless it ends in "[exit N]"."""
    (folder / "files").mkdir()
    for path, text in (files or {}).items():
        target = folder / "files" / path.lstrip("/")
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    blocks = []
    for line, output in (commands or {}).items():
        ending = "" if output.rstrip().endswith("]") and "[exit " in output else "\n[exit 0]"
        blocks.append(f"$ {line}\n{output.rstrip()}{ending}\n\n")
    (folder / "commands.txt").write_text("".join(blocks), encoding="utf-8")
    return HostFacts(PlainHost(folder))
