"""Does what a plan says, step by step, and tells a listener; `stop` ends it at once, cleaned up all the same.

Contract: `run` returns an `Outcome` whatever the steps do; every process, file and port of a step is gone before the next one starts.
A KeyboardInterrupt ends the running step's processes and is raised again after the cleaning.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from threading import Event as Flag
from typing import Protocol

from doctor.facts import HostFacts, known
from doctor.facts.npu import Npus
from doctor.host import Host
from doctor.rulebook import Rulebook
from doctor.smoke import child, kernel, tree
from doctor.smoke.diagnose import compared, diagnose
from doctor.smoke.events import Event, Line
from doctor.smoke.leftovers import Ledger
from doctor.smoke.outcome import Outcome, Result, State, state_of
from doctor.smoke.plan import Plan, Reason, Step, own_interpreter
from doctor.smoke.request import cards_of

CHILDREN = Path(__file__).parent / "children"
KEY_VARIABLES = ("VLLM_API_KEY", "OPENAI_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
"""Variables of the target whose values never appear in what is kept."""
SHORTEST_SECRET = 6
PLOG_BYTES = 256 * 1024
SETTLE = 10.0
"""Seconds in which the driver frees a card's memory after the last process is gone."""


class Listener(Protocol):
    """What a face wants to know while it goes on. Called in the thread of `run`."""

    def began(self, step: Step) -> None: ...

    def heard(self, step: Step, event: Event | Line) -> None: ...

    def ended(self, result: Result) -> None: ...


class Silent:
    """Nobody listens."""

    def began(self, step: Step) -> None: ...

    def heard(self, step: Step, event: Event | Line) -> None: ...

    def ended(self, result: Result) -> None: ...


@dataclass(frozen=True)
class _Run:
    """What the steps of one run share."""

    plan: Plan
    host: Host
    book: Rulebook
    listener: Listener
    stop: Flag
    folder: str
    ledger: Ledger


def run(plan: Plan, host: Host, book: Rulebook, listener: Listener | None = None, stop: Flag | None = None) -> Outcome:
    """The whole run."""
    start = time.monotonic()
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    before = card_memory(host) if plan.device == "npu" and plan.cards else {}
    folder = tempfile.mkdtemp(prefix="ascend-doctor-smoke-")
    shared = _Run(plan, host, book, listener or Silent(), stop or Flag(), folder, Ledger())
    results: list[Result] = []
    try:
        for step in plan.steps:
            result = _step(shared, step, results)
            results.append(result)
            shared.listener.ended(result)
    finally:
        leftovers = shared.ledger.settle(folder, before, _memory_after(host, before, 0.0 if shared.stop.is_set() else SETTLE))
    return Outcome(plan, tuple(results), leftovers, round(time.monotonic() - start, 3), started)


def _step(shared: _Run, step: Step, results: list[Result]) -> Result:
    reason = step.skip or (Reason("skip_stopped") if shared.stop.is_set() else _blocked(step, results))
    if reason is not None:
        return Result(step.id, State.SKIPPED, reason)
    shared.listener.began(step)
    folder = os.path.join(shared.folder, step.id)
    os.mkdir(folder)
    began = kernel.now(shared.host)
    try:
        launch = launch_of(shared.plan, step, folder)
        ended = child.run(launch, lambda event: shared.listener.heard(step, event), shared.stop, shared.ledger.seen)
        shared.ledger.ended(ended.left, ended.ports)
        log = _plog(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    state = state_of(ended)
    result = Result(step.id, state, ended=ended)
    if state is State.FAILED and not shared.stop.is_set():
        python = None if step.own_python else shared.plan.python
        log = "\n".join((log, kernel.since(shared.host, began)))
        result = replace(result, diagnosis=diagnose(shared.host, shared.book, step.id, ended, shared.plan.device, python, log))
    elif state is State.PASSED and shared.plan.device == "npu":
        result = replace(result, diagnosis=compared(shared.host, shared.book, step.id, ended))
    return result


def _blocked(step: Step, results: list[Result]) -> Reason | None:
    """A step is not tried where one that it builds on has failed or was left out for the same reason."""
    for result in results:
        if result.step in step.needs and result.state in (State.FAILED, State.STOPPED):
            return Reason("skip_after", {"step": result.step})
    return None


def launch_of(plan: Plan, step: Step, folder: str) -> child.Launch:
    """How the step's process is started: the target's environment with the step's own, in a folder that is all its own."""
    mark = secrets.token_hex(8)
    job = os.path.join(folder, "job.json")
    with open(job, "w", encoding="utf-8") as file:
        json.dump({**step.job, "script": str(CHILDREN / f"{step.script}.py"), "folder": folder}, file)
    base: Mapping[str, str] = dict(os.environ) if step.own_python else plan.environment
    environment = {**base, **step.environment, tree.MARK: mark, "TMPDIR": folder, "ASCEND_PROCESS_LOG_PATH": os.path.join(folder, "plog")}
    if step.id == "engine":
        environment["VLLM_CACHE_ROOT"] = os.path.join(folder, "cache")
    python = own_interpreter() if step.own_python else plan.python
    hidden = {*plan.secrets, *(environment.get(name, "") for name in KEY_VARIABLES), *_keys_of(step.job.get("flags", ()))}
    known_secrets = tuple(sorted((secret for secret in hidden if len(secret) >= SHORTEST_SECRET), key=len, reverse=True))
    return child.Launch(python, (str(CHILDREN / "start.py"), job), folder, environment, step.deadline, mark, known_secrets)


def _keys_of(flags: object) -> Iterator[str]:
    """Values of --api-key among the user's own flags."""
    words = [str(word) for word in flags] if isinstance(flags, list | tuple) else []
    for index, word in enumerate(words):
        if word.startswith("--api-key="):
            yield word.partition("=")[2]
        elif word == "--api-key":
            yield from words[index + 1 : index + 2]


def _plog(folder: str) -> str:
    """The ends of CANN's own logs of this step, the newest last."""
    files = sorted((path for path in Path(folder, "plog").rglob("*.log") if path.is_file() and not path.is_symlink()), key=lambda path: path.stat().st_mtime)
    texts = []
    for path in files[-4:]:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - PLOG_BYTES // 4))
            texts.append(file.read(PLOG_BYTES // 4).decode("utf-8", "replace"))
    return "\n".join(texts)


def card_memory(host: Host) -> dict[int, int]:
    """Used memory in MB by card, as far as npu-smi tells."""
    npus = known(HostFacts(host).get(Npus))
    return {card.number: card.used_mb for card in cards_of(npus) if card.used_mb is not None} if npus else {}


def _memory_after(host: Host, before: Mapping[int, int], seconds: float) -> Mapping[int, int] | None:
    """The same, once it is no more than before, or after so many seconds as it is."""
    if not before:
        return None
    until = time.monotonic() + seconds
    while True:
        after = card_memory(host)
        if not after or all(after.get(card, 0) <= used for card, used in before.items()) or time.monotonic() > until:
            return after or None
        time.sleep(1.0)
