"""Stalls are seen; a start, a long prefill, a shutdown, a sleeping engine are none."""

from __future__ import annotations

from doctor.watch.sample import LogSample, ProcessSample, Sample
from doctor.watch.stall import Stall, StallWatch

API, ENGINE = ProcessSample(10, 1, "api", "vllm"), ProcessSample(11, 2, "engine", "VLLM::EngineCore")


def at(step: int, *, processes: tuple[ProcessSample, ...] = (API, ENGINE), health: int | None = 200, log: LogSample | None = None, events: tuple[str, ...] = (), **metrics: float) -> Sample:
    return Sample(30.0 * step, 30.0 * step, processes=processes, metrics=metrics or None, health=health, log=log, events=events)


def watched(*samples: Sample) -> tuple[Stall, ...]:
    watch = StallWatch()
    for sample in samples:
        watch.add(sample)
    return tuple(watch.stalls)


def kinds(*samples: Sample) -> list[str]:
    return [stall.kind for stall in watched(*samples)]


def test_requests_without_tokens_begin_and_end() -> None:
    stuck = [at(step, running=3, generated=100, prompted=50) for step in range(1, 5)]
    moving = [at(0, running=3, generated=90, prompted=50), *stuck, at(5, running=3, generated=120, prompted=50)]
    (stall,) = watched(*moving)
    assert (stall.kind, stall.begin, stall.end) == ("no_tokens", 30.0, 150.0)
    assert stall.rule == "hang-stall-running-no-tokens" and stall.detail == "3 running"


def test_a_long_prefill_moves() -> None:
    assert kinds(*(at(step, running=1, generated=100, prompted=1000.0 * step) for step in range(10))) == []


def test_an_idle_server_does_not_stall() -> None:
    assert kinds(*(at(step, running=0, waiting=0, generated=100, prompted=50, kv=0.01) for step in range(10))) == []


def test_a_full_cache_without_tokens_is_a_cause_of_its_own() -> None:
    assert kinds(*(at(step, running=3, generated=100, prompted=50, kv=0.99) for step in range(6))) == ["kv_stuck"]


def test_the_log_alone_shows_it() -> None:
    log = LogSample(0.0, 0.0, 5.0, 0.0, 0.4, 5.0)
    assert kinds(*(at(step, log=log) for step in range(6))) == ["no_tokens"]
    assert kinds(*(at(step, log=LogSample(0.0, 0.0, 5.0, 0.0, 0.4, 500.0)) for step in range(6))) == []  # a log that ended long ago


def test_an_engine_that_is_gone_behind_a_live_api() -> None:
    ready = at(0, running=0, requests=5)
    assert kinds(ready, at(1, health=503, running=0, requests=5)) == ["engine_dead"]
    alone = [at(step, processes=(API,), health=None, running=0, requests=5) for step in range(1, 4)]
    assert kinds(ready, *alone) == ["engine_dead"]


def test_a_shutdown_or_a_sleeping_engine_is_not_dead() -> None:
    ready = at(0, running=0, requests=5)
    shutdown = at(1, log=LogSample(signs=("shutdown",)), running=0, requests=5)
    assert kinds(ready, shutdown, *(at(step, processes=(API,), health=503, running=0, requests=5) for step in range(2, 5))) == []
    assert kinds(ready, *(at(step, health=503, awake=0, running=0, requests=5) for step in range(1, 4))) == []


def test_a_server_that_is_only_starting_has_no_dead_engine() -> None:
    assert kinds(*(at(step, processes=(API,), health=0) for step in range(10))) == []


def test_the_broadcast_message_is_harmless_before_the_start_is_complete() -> None:
    sign = LogSample(signs=("broadcast",))
    (stall,) = watched(at(0, log=sign), at(1))
    assert stall.kind == "broadcast_start" and stall.harmless


def test_the_broadcast_message_while_requests_stand_still() -> None:
    sign = LogSample(signs=("broadcast",))
    found = kinds(at(0, running=2, requests=5, generated=7), at(1, running=2, requests=5, generated=7), at(2, running=2, requests=5, generated=7, log=sign))
    assert "broadcast" in found and "broadcast_start" not in found


def test_a_silent_api() -> None:
    silent = [at(step, health=0) for step in range(1, 5)]
    assert kinds(at(0, running=0, requests=5), *silent) == ["api_silent"]


def test_kv_blocks_that_stay_in_use() -> None:
    assert kinds(*(at(step, running=0, waiting=0, kv=0.2) for step in range(5))) == ["kv_idle"]


def test_a_restart_forgets_what_was() -> None:
    again = at(2, processes=(API,), health=503, events=("started api 10 vllm",))
    assert kinds(at(0, running=0, requests=5), again, at(3, processes=(API,), health=503)) == []
