"""Ansible callback: writes what becomes of each host as one JSON object a line, to the file that DOCTOR_EVENTS names. Runs inside ansible-playbook."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ansible.plugins.callback import CallbackBase  # type: ignore[import-not-found,import-untyped,unused-ignore]

DOCUMENTATION = """
    name: doctor_events
    type: notification
    short_description: events of doctor fleet
    description: Writes one JSON object a line for each host that was reached, failed or was unreachable.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc,unused-ignore]
    """Only events of hosts; no arguments of tasks, so that no secret is written."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "doctor_events"

    def v2_runner_on_ok(self, result: Any) -> None:
        self._tell(result, "ok")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._tell(result, "failed")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._tell(result, "unreachable")

    def _tell(self, result: Any, state: str) -> None:
        told = result._result
        parts = [told.get("stderr")] if told.get("stderr") else [told.get(name) for name in ("msg", "module_stdout", "module_stderr")]
        why = "" if state == "ok" else " ".join(str(part).strip() for part in parts if part)
        event = {"host": result._host.get_name(), "task": result._task.get_name(), "state": state, "why": why[-2000:], "time": time.time()}
        with open(os.environ["DOCTOR_EVENTS"], "a", encoding="utf-8", errors="replace") as file:
            file.write(json.dumps(event) + "\n")
