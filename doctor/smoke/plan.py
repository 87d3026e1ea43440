"""What would be done, in which order, what it occupies and for how long; or why it is refused. Pure: nothing is started here.

Contract: `plan` gives every step of the level, those that will not run with their reason; a reason is a key of `words.py` and its values.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from doctor.smoke.expected import peak
from doctor.smoke.request import FULL, STANDARD, Request, Seen

STEPS = ("device", "operators", "cards", "engine", "model", "server")

LIMITS: Mapping[str, tuple[float, float]] = {
    "device": (20, 120), "operators": (40, 300), "cards": (40, 300), "engine": (90, 600), "model": (180, 1800), "server": (20, 300),
}  # fmt: skip
"""Seconds: what a step usually takes, and its deadline. A cold import of torch from a network disk was seen to take 30 s; compiling for the graph
mode takes minutes on a first run; weights of a large model are read for many minutes."""
QUICK = (10.0, 60.0)
"""The same at level 1: under 30 s, unless torch is imported from a cold network disk."""

HOST_MB = 6 * 1024
"""Memory of the host that the steps up to the engine take at the most."""
CONTEXT_MB = 2 * 1024
"""Memory of a card that torch_npu, its operators and HCCL take before any tensor."""
UNKNOWN_CARD_MB = 64 * 1024
CPU_CACHE_GIB = 1
ANSWER = 60.0
"""Seconds for a short answer of a server; the first one may compile."""
TINY_SHARE = 0.2
"""Share of a card's memory that the engine with the tiny model may take: less leaves no cache beside the context on a card of 24 GB."""
MEMORY_SHARE_CPU = 0.3
SPAWN = {"VLLM_WORKER_MULTIPROC_METHOD": "spawn"}
"""A second engine is started after the comparison has used threads, which a fork does not survive."""


class Refusal(Exception):
    """The run is refused: `key` and `values` say why, and what to do instead."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key, self.values = key, values


@dataclass(frozen=True)
class Reason:
    """Why a step does not run."""

    key: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One step. `own_python`: it talks to a server only, and needs nothing of the target. `needs`: steps that must not have failed before."""

    id: str
    script: str = ""
    job: Mapping[str, Any] = field(default_factory=dict)
    usual: float = 0.0
    deadline: float = 0.0
    skip: Reason | None = None
    needs: tuple[str, ...] = ()
    own_python: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """The whole run. `host_mb`, `card_mb`: memory that it takes at the most; None where that is the user's model's affair."""

    device: str
    level: int
    cards: tuple[int, ...]
    python: str
    environment: Mapping[str, str] = field(repr=False)
    steps: tuple[Step, ...] = ()
    host_mb: int | None = HOST_MB
    card_mb: int | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def running(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.skip is None)

    @property
    def usual(self) -> float:
        """Seconds."""
        return sum(step.usual for step in self.running)

    @property
    def deadline(self) -> float:
        """Seconds after which it has ended in any case."""
        return sum(step.deadline for step in self.running)


def plan(request: Request, seen: Seen) -> Plan:
    """The plan for this machine. Raises `Refusal`."""
    device = _device(request, seen)
    url = request.url or (seen.url if request.level >= STANDARD else "")
    cards, taken = _cards(request, seen, device, url)
    if not seen.python and not request.url:
        raise Refusal("refused_no_python")
    maker = _Maker(request, seen, device, cards, url, taken)
    steps = tuple(maker.steps())
    environment = {**seen.environment, **_quiet(seen.environment, device, cards, request)}
    return Plan(
        device, request.level, cards, seen.python, environment, steps,
        None if request.model else HOST_MB if any(step.id == "engine" and step.skip is None for step in steps) else HOST_MB // 3,
        _card_mb(request, seen, device, cards, steps), tuple(key for key in (request.key, seen.key) if key),
    )  # fmt: skip


def _card_mb(request: Request, seen: Seen, device: str, cards: tuple[int, ...], steps: tuple[Step, ...]) -> int | None:
    """What each card is taken by at the most, the engine's share included."""
    running = [step for step in steps if step.skip is None and not step.own_python]
    if request.model or device == "cpu" or not running:
        return None
    if all(step.id in ("device", "operators", "cards") for step in running):
        return CONTEXT_MB
    largest = max((card.total_mb for card in seen.cards if card.number in cards and card.total_mb), default=UNKNOWN_CARD_MB)
    return CONTEXT_MB + int(TINY_SHARE * largest)


def _device(request: Request, seen: Seen) -> str:
    """An installed torch_npu means an NPU even where none is seen: then that is what is wrong."""
    if request.device != "auto":
        return request.device
    return "npu" if seen.npu or "torch-npu" in seen.packages else "cpu"


def _cards(request: Request, seen: Seen, device: str, url: str) -> tuple[tuple[int, ...], Reason | None]:
    """The cards, and the reason why none may be used where there is a server to test all the same."""
    if device == "cpu":
        return request.cards or (0,), None
    there = {card.number: card for card in seen.cards}
    if request.cards is not None:
        missing = [number for number in request.cards if there and number not in there]
        if missing:
            raise Refusal("refused_no_card", cards=_list(missing), there=_list(sorted(there)))
        wanted = list(request.cards)
    else:
        visible = [int(word) for word in seen.environment.get("ASCEND_RT_VISIBLE_DEVICES", "").split(",") if word.strip().isdecimal()]
        wanted = [number for number in visible if not there or number in there] or sorted(there) or list(range(len(seen.nodes))) or [0]
    busy = [there[number] for number in wanted if number in there and there[number].user]
    if not busy or request.use_busy:
        return tuple(wanted), None
    free = [number for number in wanted if number not in {card.number for card in busy}]
    if request.cards is None and free:
        return tuple(free), None
    if url and request.cards is None and not request.model:
        return (), Reason("skip_busy", {"card": busy[0].number, "user": busy[0].user})
    raise Refusal("refused_busy", card=busy[0].number, user=busy[0].user, free=_list(number for number, card in sorted(there.items()) if not card.user) or "-")


def _list(numbers: Any) -> str:
    return ",".join(str(number) for number in numbers)


def _quiet(environment: Mapping[str, str], device: str, cards: tuple[int, ...], request: Request) -> dict[str, str]:
    """What every step has beside the target's own environment: the cards, no statistics sent home, no files beside the libraries."""
    chosen = {"PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1", "PYTHONDONTWRITEBYTECODE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"}
    if device == "npu":
        chosen["ASCEND_RT_VISIBLE_DEVICES"] = _list(cards)
    elif "VLLM_CPU_KVCACHE_SPACE" not in environment:
        chosen["VLLM_CPU_KVCACHE_SPACE"] = str(CPU_CACHE_GIB)
    return chosen


@dataclass(frozen=True)
class _Maker:
    """Makes the steps of one plan."""

    request: Request
    seen: Seen
    device: str
    cards: tuple[int, ...]
    url: str
    taken: Reason | None

    def steps(self) -> Iterator[Step]:
        yield self._step("device", "device", {"nodes": [f"/dev/davinci{node}" for node in self.seen.nodes], "known_cards": len(self.seen.cards)})
        yield self._step("operators", "operators", {"size": 4096 if self.device == "npu" else 256, "should": self._should()}, ("device",), self._low())
        yield self._step("cards", "together", {}, ("device",), self._low() or (Reason("skip_one_card") if len(self.cards) < 2 else None))
        yield self._step("engine", "engine", {"modes": self._modes(), "memory_share": TINY_SHARE if self.device == "npu" else MEMORY_SHARE_CPU}, ("device",), self._low())
        yield self._model()
        yield self._server()

    def _low(self) -> Reason | None:
        return Reason("skip_level", {"level": STANDARD}) if self.request.level < STANDARD else None

    def _step(self, name: str, script: str, job: Mapping[str, Any], needs: tuple[str, ...] = (), skip: Reason | None = None) -> Step:
        usual, deadline = LIMITS[name]
        if name == "device" and self.request.level < STANDARD:
            usual, deadline = QUICK
        if name == "engine":
            usual, deadline = usual * len(job["modes"]), deadline * len(job["modes"])
        whole = {"device": self.device, "torch_device": self.device, "cards": list(range(len(self.cards))), "family": self.seen.family, "dtype": self._dtype(), **job}
        environment = SPAWN if name == "engine" and SPAWN.keys().isdisjoint(self.seen.environment) else {}
        return Step(name, script, whole, usual, deadline * self.request.scale, self.taken or skip, needs, environment=environment)

    def _dtype(self) -> str:
        """310P computes no bf16; on a CPU fp32 leaves nothing to rounding."""
        return "float32" if self.device == "cpu" else "float16" if self.seen.family == "310p" else "bfloat16"

    def _should(self) -> list[float | None]:
        found = peak(self.seen.chip, self.seen.family) if self.device == "npu" else None
        return [found.tflops, found.bandwidth] if found else []

    def _modes(self) -> list[dict[str, Any]]:
        modes: list[dict[str, Any]] = [{"eager": True, "tensor_parallel": 1}]
        if self.request.level >= FULL:
            modes.append({"eager": False, "tensor_parallel": 1})
            if len(self.cards) > 1:
                modes.append({"eager": True, "tensor_parallel": 2 ** (len(self.cards).bit_length() - 1)})
        return modes

    def _client(self) -> dict[str, Any]:
        return {"load": self.request.load, "load_seconds": self.request.load_seconds, "answer_seconds": ANSWER * self.request.scale}

    def _model(self) -> Step:
        """The user's model behind a real server; at level 3 without one, the tiny model."""
        asked = bool(self.request.model)
        skip = None if asked else Reason("skip_no_model") if self.request.level < FULL or self.url else None
        model = os.path.abspath(self.request.model) if os.path.exists(self.request.model) else self.request.model
        step = self._step("model", "serve", {"model": model, "flags": list(self.request.flags), **self._client()}, ("device",), skip)
        longer = self.request.load_seconds if self.request.load else 0
        return Step(
            step.id, step.script, {**step.job, "ready_seconds": step.deadline * 0.8}, step.usual + longer, step.deadline + longer, step.skip,
            step.needs, environment={"VLLM_API_KEY": self.request.key} if self.request.key else {},
        )  # fmt: skip

    def _server(self) -> Step:
        usual, deadline = LIMITS["server"]
        longer = self.request.load_seconds if self.request.load else 0
        skip = None if self.url else Reason("skip_level", {"level": STANDARD}) if self.request.level < STANDARD else Reason("skip_no_server")
        job = {"url": self.url, "server_pid": self.seen.server_pid if not self.request.url else 0, **self._client()}
        key = self.request.key or ("" if self.request.url else self.seen.key)
        environment = {"DOCTOR_SMOKE_KEY": key} if key else {}
        return Step("server", "server", job, usual + longer, deadline * self.request.scale + longer, skip, (), own_python=True, environment=environment)


def own_interpreter() -> str:
    return sys.executable
