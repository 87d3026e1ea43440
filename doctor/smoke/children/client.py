"""Talks to an OpenAI server under deadlines: health, models, a completion, a chat, a stream, a bounded load. Standard library only.

An API that answers while its engine is dead is caught: what only the API needs answers, what needs the engine does not.
"""

from __future__ import annotations

import http.client
import json
import math
import threading
import time
import urllib.parse
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

QUICK = 10.0
"""Seconds for what needs no engine."""
ANSWER = 60.0
"""Seconds for a short answer; the first one may compile."""
LARGEST = 4 * 1024 * 1024
"""Bytes of one answer that are read."""
PROMPTS = (
    "The capital of France is", "List three uses of copper:", "def fibonacci(n):", "中国的首都是", "Explain in one sentence why the sky is blue:",
)  # fmt: skip
MOST_REQUESTS = 20000
MOST_POINTS = 240
"""Of each curve of a load."""
MOST_FAILURES = 10
"""Failures in a row after which one of the load's clients gives up: the server is gone."""


class Api:
    """One server. `key` goes into a header and nowhere else."""

    def __init__(self, url: str, key: str = "") -> None:
        parts = urllib.parse.urlsplit(url if "://" in url else "http://" + url)
        path = parts.path.rstrip("/")
        self.prefix = path[: -len("/v1")] if path.endswith("/v1") else path
        self.secure = parts.scheme == "https"
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port
        self.headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}

    def ask(self, method: str, path: str, body: Any = None, seconds: float = QUICK) -> tuple[int, str]:
        """(status, text). Raises OSError or http.client.HTTPException."""
        connection = self._connection(seconds)
        try:
            connection.request(method, self.prefix + path, json.dumps(body) if body is not None else None, self.headers)
            answer = connection.getresponse()
            return answer.status, answer.read(LARGEST).decode("utf-8", "replace")
        finally:
            connection.close()

    def lines(self, path: str, body: Any, seconds: float) -> Iterator[str]:
        """The `data:` lines of a stream, within so many seconds altogether."""
        until = time.monotonic() + seconds
        connection = self._connection(seconds)
        try:
            connection.request("POST", self.prefix + path, json.dumps(body), self.headers)
            answer = connection.getresponse()
            if answer.status != 200:
                raise http.client.HTTPException(f"{answer.status} {answer.read(4096).decode('utf-8', 'replace')}")
            while line := answer.readline(256 * 1024):
                if time.monotonic() > until:
                    raise TimeoutError(f"the stream has not ended within {seconds:g} s")
                text = line.decode("utf-8", "replace").strip()
                if text.startswith("data:"):
                    yield text[5:].strip()
        finally:
            connection.close()

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection
        return kind(self.host, self.port, timeout=seconds)


class Streamed:
    """What one stream gave: seconds to the first token and altogether, tokens, and an error's text."""

    def __init__(self) -> None:
        self.first, self.seconds, self.tokens, self.done, self.error = 0.0, 0.0, 0, False, ""


def stream(api: Api, body: Mapping[str, Any], seconds: float = ANSWER, path: str = "/v1/completions") -> Streamed:
    """Never raises for what a server does."""
    result, start, counted = Streamed(), time.monotonic(), 0
    try:
        for data in api.lines(path, {**body, "stream": True, "stream_options": {"include_usage": True}}, seconds):
            if data == "[DONE]":
                result.done = True
                break
            told = json.loads(data)
            if told.get("error"):
                raise http.client.HTTPException(json.dumps(told["error"])[:600])
            if told.get("choices"):
                counted += 1
                result.first = result.first or time.monotonic() - start
            usage = told.get("usage")
            result.tokens = int(usage["completion_tokens"]) if isinstance(usage, dict) and "completion_tokens" in usage else counted
    except (OSError, ValueError, KeyError, TypeError, AttributeError, http.client.HTTPException) as problem:
        result.error = f"{type(problem).__name__}: {problem}"[:600]
    result.seconds = time.monotonic() - start
    if not result.error and not result.done:
        result.error = "the stream ended without [DONE]"
    return result


def examine(say: Any, api: Api, job: Mapping[str, Any]) -> None:
    """All of it. `job`: answer_seconds (deadline of a short answer), load, load_seconds, judge (whether the answers are looked at for garbage)."""
    patience = float(job.get("answer_seconds", ANSWER))
    _try(say, api, "health", "GET", "/health", None, QUICK)
    name = _model(say, api)
    if not name:
        return
    if not _completion(say, api, name, patience):
        if _try(say, api, "health after that", "GET", "/health", None, QUICK):
            say.check("engine behind the API", False, "the API answers, but requests for text fail or hang: its engine is dead or stuck")
        return
    _chat(say, api, name, patience)
    _stream(say, api, name, patience)
    _quality(say, api, name, patience, job)
    if job.get("load"):
        _load(say, api, name, patience, int(job["load"]), float(job["load_seconds"]))
        _try(say, api, "health after the load", "GET", "/health", None, QUICK)


def _try(say: Any, api: Api, check: str, method: str, path: str, body: Any, seconds: float) -> str:
    """The text of a good answer, "" else; told as a check. What the server said is printed, for the rules to read."""
    say.stage(check)
    start = time.monotonic()
    try:
        status, text = api.ask(method, path, body, seconds)
    except TimeoutError:
        status, text = 0, f"no answer within {seconds:g} s"
    except (OSError, http.client.HTTPException) as problem:
        status, text = 0, f"{type(problem).__name__}: {problem}"
    took = time.monotonic() - start
    good = status == 200
    if not good:
        print(f"{method} {path}: {status or ''} {text[:4000]}", flush=True)
    say.check(check, good, f"{took:.2f} s" if good else f"{status or ''} {text[:300]}".strip(), path)
    return text or " " if good else ""


def _model(say: Any, api: Api) -> str:
    text = _try(say, api, "models", "GET", "/v1/models", None, QUICK)
    if not text:
        return ""
    try:
        name = str(json.loads(text)["data"][0]["id"])
    except (ValueError, LookupError, TypeError):
        say.check("models", False, f"no model in the list: {text[:200]}", "/v1/models")
        return ""
    say.note("model", name)
    return name


def _completion(say: Any, api: Api, name: str, patience: float) -> bool:
    body = {"model": name, "prompt": PROMPTS[0], "max_tokens": 16, "temperature": 0, "logprobs": 1}
    start = time.monotonic()
    text = _try(say, api, "completion", "POST", "/v1/completions", body, patience)
    if not text:
        return False
    say.figure("completion of 16 tokens", round(time.monotonic() - start, 3), "s")
    return True


def _chat(say: Any, api: Api, name: str, patience: float) -> None:
    """A base model has no chat template, which is no fault of the server."""
    say.stage("chat")
    body = {"model": name, "messages": [{"role": "user", "content": PROMPTS[0]}], "max_tokens": 16, "temperature": 0}
    try:
        status, text = api.ask("POST", "/v1/chat/completions", body, patience)
    except (OSError, http.client.HTTPException) as problem:
        status, text = 0, f"{type(problem).__name__}: {problem}"
    if status == 400 and "chat template" in text:
        say.note("chat", "the model has no chat template")
        return
    if status != 200:
        print(f"POST /v1/chat/completions: {status or ''} {text[:4000]}", flush=True)
    say.check("chat", status == 200, "" if status == 200 else f"{status or ''} {text[:300]}".strip(), "/v1/chat/completions")


def _stream(say: Any, api: Api, name: str, patience: float) -> None:
    say.stage("stream")
    result = stream(api, {"model": name, "prompt": PROMPTS[0], "max_tokens": 64, "temperature": 0, "ignore_eos": True}, patience)
    if result.error:
        print(f"stream: {result.error}", flush=True)
    say.check("stream", not result.error, result.error or f"{result.tokens} tokens", "/v1/completions")
    if not result.error and result.tokens:
        say.figure("time to first token", round(result.first, 3), "s")
        after = result.seconds - result.first
        say.figure("tokens of one stream", round((result.tokens - 1) / after, 1) if after > 0 else 0.0, "tokens/s")


def _quality(say: Any, api: Api, name: str, patience: float, job: Mapping[str, Any]) -> None:
    """A few prompts, sampled, so that a greedy loop of a small model is not taken for a broken one."""
    say.stage("a few prompts")
    garbage = say.load("garbage")
    answers: list[Sequence[Any]] = []
    values: list[Any] = []
    for number, prompt in enumerate(PROMPTS):
        body = {"model": name, "prompt": prompt, "max_tokens": 128, "temperature": 0.8, "seed": number, "logprobs": 1}
        try:
            status, text = api.ask("POST", "/v1/completions", body, 2 * patience)
            told = json.loads(text)["choices"][0]["logprobs"] if status == 200 else {}
        except (OSError, ValueError, LookupError, TypeError, http.client.HTTPException) as problem:
            status, text, told = 0, f"{type(problem).__name__}: {problem}", {}
        if status != 200:
            print(f"POST /v1/completions: {status or ''} {text[:4000]}", flush=True)
            say.check("a few prompts", False, f"{status or ''} {text[:300]}".strip(), repr(prompt))
            return
        answers.append(told.get("tokens") or [])
        values += [value for value in told.get("token_logprobs") or [] if value is not None]
    wrong = garbage.not_numbers(values)
    say.check("log-probabilities are numbers", not wrong, wrong)
    if job.get("judge", True):
        garbage.look(say, answers)


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _tell_point(say: Any, second: str, span: float, ended: Sequence[Streamed]) -> None:
    """What the requests that have ended since the point before tell: a point of each curve of the load."""
    say.figure("load, now", round(sum(one.tokens for one in ended) / span, 1), "tokens/s", second)
    say.figure("load, now", round(len(ended) / span, 2), "requests/s", second)
    took = [one.seconds for one in ended if not one.error]
    for share in (50, 95, 99) if took else ():
        say.figure("load, now", round(quantile(took, share / 100), 3), f"s p{share}", second)


def _load(say: Any, api: Api, name: str, patience: float, count: int, seconds: float) -> None:
    """So many requests at once for so long; requests under way at its end are waited for, within their own deadline."""
    say.stage(f"load of {count}")
    results: list[Streamed] = []
    lock, start = threading.Lock(), time.monotonic()

    def work(number: int) -> None:
        turn = failed = 0
        while time.monotonic() - start < seconds and len(results) < MOST_REQUESTS and failed < MOST_FAILURES:
            prompt = PROMPTS[(number + turn) % len(PROMPTS)]
            one = stream(api, {"model": name, "prompt": prompt, "max_tokens": 32, "temperature": 0, "ignore_eos": True}, patience)
            with lock:
                results.append(one)
            failed = failed + 1 if one.error else 0
            if one.error:
                time.sleep(0.2)
            turn += 1

    workers = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(count)]
    for worker in workers:
        worker.start()
    done, before = 0, start
    while any(worker.is_alive() for worker in workers):
        time.sleep(1.0)
        now = time.monotonic()
        if now - before < seconds / MOST_POINTS and any(worker.is_alive() for worker in workers):
            continue
        with lock:
            fresh = results[done:]
        _tell_point(say, f"{now - start:.0f}", now - before, fresh)
        done, before = done + len(fresh), now
    took = time.monotonic() - start
    good = [one for one in results if not one.error]
    errors = [one.error for one in results if one.error]
    for error in errors[:5]:
        print(f"load: {error}", flush=True)
    say.check("load without errors", bool(good) and not errors, f"{len(errors)} of {len(results)} failed" + (f": {errors[0][:200]}" if errors else ""))
    say.figure("load, requests", len(results), "", f"{count} at once, {took:.0f} s")
    say.figure("load, errors", len(errors), "")
    for share in (50, 95, 99):
        say.figure(f"latency p{share}", round(quantile([one.seconds for one in good], share / 100), 3), "s")
        say.figure(f"time to first token p{share}", round(quantile([one.first for one in good], share / 100), 3), "s")
    say.figure("load, throughput", round(sum(one.tokens for one in good) / took, 1), "tokens/s")
    say.figure("load, throughput", round(len(good) / took, 2), "requests/s")
