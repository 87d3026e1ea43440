"""Starts test steps in children as a run does."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from threading import Event as Flag
from typing import Any

from doctor.smoke import child, tree
from doctor.smoke.run import CHILDREN

STEPS = Path(__file__).parent / "steps"


def launch(folder: Path, do: str, seconds: float = 60.0, secrets: tuple[str, ...] = (), script: Path = STEPS / "talks.py", **job: Any) -> child.Launch:
    """How one test step is started."""
    path = folder / "job.json"
    path.write_text(json.dumps({"script": str(script), "do": do, **job}))
    mark = f"test-{os.getpid()}-{folder.name}"
    environment = {**os.environ, tree.MARK: mark, "PYTHONDONTWRITEBYTECODE": "1"}
    return child.Launch(sys.executable, (str(CHILDREN / "start.py"), str(path)), str(folder), environment, seconds, mark, secrets)


def ran(folder: Path, do: str, seconds: float = 60.0, **job: Any) -> child.Ended:
    """Runs one to its end."""
    return child.run(launch(folder, do, seconds, **job), lambda event: None, Flag())


def marked(folder: Path) -> tuple[str, ...]:
    """Living processes that carry the mark of a step in that folder."""
    return tree.named(tree.members(-1, f"test-{os.getpid()}-{folder.name}"))
