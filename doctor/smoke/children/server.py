"""A server that runs already. job: url, server_pid (0 if it is not known), load, load_seconds. The key is in the variable DOCTOR_SMOKE_KEY."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


def run(say: Any, job: Mapping[str, Any]) -> None:
    client = say.load("client")
    api = client.Api(job["url"], os.environ.pop("DOCTOR_SMOKE_KEY", ""))
    say.note("url", job["url"])
    if job.get("server_pid"):
        _engine(say, int(job["server_pid"]))
    client.examine(say, api, job)


def _engine(say: Any, server: int) -> None:
    """The server's engine processes: one that is stopped, dead or gone is told. They name themselves from vLLM 0.10 on."""
    say.stage("engine process")
    found = {}
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                text = file.read()
            name, rest = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
        except (OSError, ValueError):
            continue
        if rest[1] == str(server) and "EngineCor" in name:
            found[int(entry)] = (name, rest[0])
    for pid, (name, state) in found.items():
        say.check("engine process runs", state not in "TtZX", f"{name} ({pid}) is in state {state}", str(pid))
