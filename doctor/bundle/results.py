"""Results of watches and smoke tests on this machine: where the newest of them is kept, and what of it goes into a bundle.

Contract: nothing here raises because there is no result, or because it cannot be read or kept: a bundle then lacks it, and nothing else happens.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping
from typing import Any

from doctor.text import clean

LARGEST = 4 * 2**20
"""Bytes of one result."""
WATCHED = 2**20
"""Bytes of a watch's samples: the newest half day."""

Member = tuple[str, str, str]
"""(item of the bundle, name of the file in it, text)"""


def newest_results(environ: Mapping[str, str], euid: int) -> list[Member]:
    """The newest watch and the newest smoke test of this machine, as far as there are any."""
    return [*_watched(environ, euid), *_smoked(environ, euid)]


def _watched(environ: Mapping[str, str], euid: int) -> list[Member]:
    """The end of the newest watch's sample file."""
    from doctor.watch.background import state_folder

    try:
        newest = max(state_folder(environ, euid).glob("watch-*Z-*.ndjson"), default=None)
        data = newest.read_bytes()[-WATCHED:] if newest is not None else b""
    except OSError:
        return []
    lines = data.decode("utf-8", "replace").split("\n")
    text = "\n".join(lines if len(data) < WATCHED else lines[1:])
    return [("watch:newest", "results/watch.ndjson", clean(text))] if text.strip() else []


def _smoked(environ: Mapping[str, str], euid: int) -> list[Member]:
    from doctor.watch.background import newest_smoke

    try:
        with newest_smoke(environ, euid).open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError:
        return []
    return [("smoke:newest", "results/smoke.json", clean(data.decode("utf-8", "replace")))] if 0 < len(data) <= LARGEST else []


def keep_smoke(told: Mapping[str, Any], environ: Mapping[str, str], euid: int) -> None:
    """Keeps the result of a smoke test (as `outcome_json` tells it) in the place of the one before; readable by its user alone."""
    from doctor.watch.background import newest_smoke

    path = newest_smoke(environ, euid)
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=".doctor-")  # 0600
        try:
            with open(handle, "w", encoding="utf-8", errors="replace") as file:
                file.write(json.dumps(told, ensure_ascii=False))
            os.replace(part, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(part)
            raise


__all__ = ["LARGEST", "keep_smoke", "newest_results"]
