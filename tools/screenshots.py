"""Draws the screenshots of README and docs with the real app: `make screenshots` writes docs/images/*.svg, in both languages.

Contract: the machines are recordings of fixtures/hosts and a made-up one with a server at work, so that the pictures hold nobody's data. The
pictures name no font of the network.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from doctor.host.recorded import open_host  # noqa: E402  the checkout's own modules
from doctor.logscan.sources import open_sources  # noqa: E402
from doctor.tui.app import DoctorApp  # noqa: E402
from doctor.tui.glyphs import choose  # noqa: E402
from doctor.tui.job import HostJob, Job, TextJob  # noqa: E402
from doctor.tui.screens.checkup import CheckupScreen  # noqa: E402
from tests.tui.standins import Working  # noqa: E402

IMAGES = ROOT / "docs" / "images"
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', 'Microsoft YaHei Mono', monospace"
PATIENCE = 120


@dataclass(frozen=True)
class Shot:
    """One picture: a job, its size in cells, the keys that lead to it, and a text that must stand on it, by language."""

    name: str
    size: tuple[int, int]
    keys: tuple[str, ...]
    holds: str


SHOTS = (
    Shot("checkup", (120, 32), (), "1 FAIL"),
    Shot("cause", (96, 34), ("enter",), "version.info"),
    Shot("npus", (120, 18), ("n",), "EngineCore"),
    Shot("evidence", (96, 16), ("v",), "libascend_hal"),
)


def job_of(name: str) -> Job:
    if name == "npus":
        return HostJob(Working())
    if name == "evidence":
        shutil.copy(ROOT / "fixtures" / "reports" / "r-ca-054" / "input.txt", "vllm.log")
        return TextJob("vllm.log", tuple(open_sources(["vllm.log"])))
    return HostJob(open_host(ROOT / "fixtures" / "hosts" / "a2-old-driver"))


def _trimmed(match: re.Match[str]) -> str:
    """The text without blanks at its ends, moved to where it begins: viewers drop such blanks. Cells are 12.2 wide."""
    style, x, y, length, clip, text = match.groups()
    text = text.replace("&#160;", " ")
    kept = text.strip(" ")
    if not kept:
        return ""
    lead, dropped = len(text) - len(text.lstrip(" ")), len(text) - len(kept)
    place = f'x="{float(x) + 12.2 * lead:.1f}" y="{y}" textLength="{float(length) - 12.2 * dropped:.1f}"'
    return f'<text class="{style}" {place} clip-path="{clip}">{kept.replace(" ", "&#160;")}</text>'


def without_network(svg: str) -> str:
    """The picture without fonts that are fetched, and without ids that differ from run to run."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: Fira Code, monospace", f"font-family: {FONTS}", svg)
    svg = re.sub(r'<text class="([^"]*)" x="([^"]*)" y="([^"]*)" textLength="([^"]*)" clip-path="([^"]*)">([^<]*)</text>', _trimmed, svg)
    svg = re.sub(r"terminal-\d+-", "t-", svg)
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)


async def shoot(shot: Shot, language: str) -> str:
    app = DoctorApp(job_of(shot.name), language, glyphs=choose({"TERM": "xterm"}, language, encoding="utf-8"))
    async with app.run_test(size=shot.size) as pilot:
        screen = app.screen
        assert isinstance(screen, CheckupScreen)
        await asyncio.wait_for(screen.idle.wait(), PATIENCE)
        await pilot.pause()
        await pilot.press(*shot.keys)
        await app.workers.wait_for_complete()
        for _ in range(PATIENCE * 10):
            if shot.holds in "".join(strip.text for strip in app.screen._compositor.render_strips()):
                break
            await pilot.pause(0.1)
        else:
            raise SystemExit(f"{shot.name}: {shot.holds!r} is not on the screen:\n" + "\n".join(strip.text for strip in app.screen._compositor.render_strips()))
        return without_network(app.export_screenshot(title="doctor", simplify=False))


def main(names: Sequence[str]) -> int:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # so that no picture holds a path of this machine
        drawn(names)
    return 0


def drawn(names: Sequence[str]) -> None:
    for shot in SHOTS:
        for language in ("en", "zh"):
            if names and shot.name not in names:
                continue
            path = IMAGES / f"{shot.name}-{language}.svg"
            path.write_text(asyncio.run(shoot(shot, language)), encoding="utf-8")
            print(f"{path.relative_to(ROOT)}  {path.stat().st_size // 1000} kB")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
