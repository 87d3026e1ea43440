"""Settings that are right one by one and cannot work together, on this chip, with so many cards, or with the model's own files. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.finding import Confidence, Evidence, Hit, Severity
from doctor.lint.judge import METHOD, SHOWN, TOKENS, VALUE, Ruled
from doctor.lint.parse import Parsed, unfinished
from doctor.lint.starts import Start
from doctor.record import dataclass

CARDS, HEADS = "serving-world-size-exceeds-visible", "model-heads-not-divisible-by-tp"
MLA, BF16, EAGER = "operator-mla-head-count", "operator-bf16-unsupported", "perf-enforce-eager"
MISMATCH = "model-quantization-flag-mismatch"

WITHOUT_BF16 = frozenset({"310p", "310", "310b", "a1"})
MLA_HEADS = frozenset({32, 64, 128})
"""Heads on one card that the MLA kernel takes in graph mode; vllm-ascend FAQ 13."""

OTHER_METHODS = frozenset({"ascend", "compressed-tensors"})
"""Values of --quantization that name a loader, whatever the weights call themselves."""

_PAIRS = (
    ("enable-auto-tool-choice", "tool-call-parser"),
    ("enable-log-outputs", "enable-log-requests"),
)
"""Flags that vLLM refuses without the other one."""


@dataclass(frozen=True)
class Place:
    """What is known of the machine that the command would run on. None: not known."""

    cards: int | None = None
    """NPUs that the process would see, from the host; a container's own list goes before it."""
    family: str | None = None
    model: Mapping[str, Any] | None = None
    """The model's config.json."""


def judge_settings(start: Start, parsed: Parsed, place: Place, label: str = "", said: str = "") -> Iterator[Ruled]:
    """Every contradiction that the flags and what is known of the machine decide."""
    told = _Told(start, parsed, label)
    yield from _cards(told, place)
    yield from _tokens(told)
    yield from _pairs(told)
    yield from _ranges(told)
    yield from _eager(told)
    if place.model is not None:
        yield from _model(told, place, place.model)


def model_config(text: str) -> Mapping[str, Any] | None:
    """The model's config.json; None for what is no JSON object. The text part of a multimodal model counts."""
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(config, dict):
        return None
    inner = config.get("text_config")
    return {**config, **inner} if isinstance(inner, dict) and "num_attention_heads" not in config else config


@dataclass(frozen=True)
class _Told:
    start: Start
    parsed: Parsed
    label: str

    def text(self, name: str) -> str | None:
        value = self.parsed.flags.get(name)
        return None if value is None or unfinished(value) else value

    def number(self, name: str, default: int | None = None) -> int | None:
        """The flag's integer; `default` where it is not given, None where it cannot be told."""
        if name not in self.parsed.flags:
            return default
        value = self.text(name) or ""
        match = re.fullmatch(r"(\d{1,12})(?:\.0)?([kKmM]?)", value)
        if match is None:
            return None
        return int(match[1]) * {"": 1, "k": 1000, "K": 1024, "m": 10**6, "M": 2**20}[match[2]]

    def on(self, name: str) -> bool:
        return self.parsed.flags.get(name, "false") != "false"

    def ruled(self, rule: str, flags: tuple[str, ...], found: str, wanted: str, confidence: Confidence = Confidence.SURE, severity: Severity | None = None, **values: str) -> Ruled:
        spelt = [self.spelt(flag) for flag in flags]
        lines = [self.start.line_of(name) for name in spelt]
        place = f"{self.label}:{lines[0]}" if self.label and lines[0] else self.label
        source = self.start.command.source or "command line"
        evidence = tuple(
            Evidence(source, f"{name} {self.parsed.flags.get(flag, '')}".strip()[:SHOWN], line)
            for flag, name, line in zip(flags, spelt, lines, strict=True)
            if flag in self.parsed.flags
        )
        subject = f"{spelt[0]} ({place})" if place else spelt[0]
        return Ruled(rule, Hit(subject, found[:300], wanted[:300], evidence, confidence, severity, {"bad": spelt[0], "flag": spelt[0], **values}))

    def spelt(self, flag: str) -> str:
        """The flag as it was typed, or as it would be."""
        at = self.parsed.places.get(flag)
        if at is not None and at < len(self.start.words):
            return self.start.words[at].partition("=")[0]
        return flag.replace("-", "_") if self.start.how == "python" else f"--{flag}"


def _cards(told: _Told, place: Place) -> Iterator[Ruled]:
    if told.text("distributed-executor-backend") in ("ray", "external_launcher") or (told.number("nnodes", 1) or 2) > 1 or told.on("headless"):
        return
    sizes = [told.number(name, 1) for name in ("tensor-parallel-size", "pipeline-parallel-size", "prefill-context-parallel-size")]
    local = "data-parallel-size-local" if "data-parallel-size-local" in told.parsed.flags else "data-parallel-size"
    spread = {"data-parallel-address", "data-parallel-rank", "data-parallel-start-rank"} & told.parsed.flags.keys()
    sizes.append(1 if local == "data-parallel-size" and spread else told.number(local, 1))
    cards, where = _visible(told, place)
    if cards is None or None in sizes:
        return
    ranks = 1
    for size in sizes:
        ranks *= size or 1
    if ranks > cards:
        given = [name for name in ("tensor-parallel-size", "pipeline-parallel-size", local) if name in told.parsed.flags] or ["tensor-parallel-size"]
        confidence = Confidence.LIKELY if where == "this machine" and told.start.how != "argument" else Confidence.SURE
        found = f"{ranks} NPUs are asked for ({' × '.join(str(size) for size in sizes if size != 1)}), {cards} are visible ({where})"
        yield told.ruled(CARDS, tuple(given), found, f"{cards} or fewer", confidence, wanted_ranks=str(ranks), visible=str(cards))


def _visible(told: _Told, place: Place) -> tuple[int | None, str]:
    """(cards that the process would see, what tells it)."""
    listed = told.start.command.environment.get("ASCEND_RT_VISIBLE_DEVICES", "")
    if re.fullmatch(r"\d{1,4}(?:\s*,\s*\d{1,4})*", listed.strip()):
        return len({part.strip() for part in listed.split(",")}), f"ASCEND_RT_VISIBLE_DEVICES={listed}"
    if told.start.cards is not None:
        return told.start.cards, "the container's devices"
    if told.start.image is not None or told.start.how == "manifest" or listed:
        return None, ""
    return place.cards, "this machine"


def _tokens(told: _Told) -> Iterator[Ruled]:
    chunked = told.parsed.flags.get("enable-chunked-prefill")
    tokens, length = told.number("max-num-batched-tokens"), told.number("max-model-len")
    if chunked in ("false", "False") and tokens is not None and length is not None and tokens < length:
        found = f"chunked prefill is off, and {tokens} tokens a step are fewer than the length of {length}"
        yield told.ruled(
            TOKENS, ("max-num-batched-tokens", "max-model-len"), found, f"{length} or more", tokens=str(tokens), max_model_len=str(length)
        )


def _pairs(told: _Told) -> Iterator[Ruled]:
    if told.start.how in ("config", "python") or "config" in told.parsed.flags:
        return  # the other one may stand elsewhere
    for flag, needed in _PAIRS:
        if told.on(flag) and not told.on(needed):
            yield told.ruled(VALUE, (flag,), f"--{flag} without --{needed}", f"--{needed} beside it")


def _ranges(told: _Told) -> Iterator[Ruled]:
    share = told.text("gpu-memory-utilization")
    try:
        outside = share is not None and not 0 < float(share) <= 1
    except ValueError:
        outside = False
    if outside:
        yield told.ruled(VALUE, ("gpu-memory-utilization",), f"{told.spelt('gpu-memory-utilization')} {share}", "more than 0, at most 1")
    for name in ("tensor-parallel-size", "pipeline-parallel-size", "data-parallel-size", "max-num-seqs", "max-num-batched-tokens"):
        if told.number(name) == 0 or re.fullmatch(r"-\d+", told.text(name) or ""):
            yield told.ruled(VALUE, (name,), f"{told.spelt(name)} {told.text(name)}", "1 or more")


def _eager(told: _Told) -> Iterator[Ruled]:
    """--enforce-eager wins over every setting of graphs beside it."""
    if not told.on("enforce-eager"):
        return
    for name in ("compilation-config", "cudagraph-capture-sizes", "max-cudagraph-capture-size", "compilation-config.cudagraph_mode"):
        value = told.text(name)
        if value and (name.startswith(("cudagraph", "max-")) or re.search(r"cudagraph_mode[\"']?\s*:?\s*[\"']?(?:FULL|PIECEWISE)|^(?:FULL|PIECEWISE)", value)):
            found = f"{told.spelt('enforce-eager')} beside {told.spelt(name)} {value[:80]}: eager mode wins, no graph is captured"
            yield told.ruled(EAGER, ("enforce-eager", name), found, "one of the two")
            return


def _model(told: _Told, place: Place, config: Mapping[str, Any]) -> Iterator[Ruled]:
    heads, size = config.get("num_attention_heads"), told.number("tensor-parallel-size", 1)
    if isinstance(heads, int) and heads > 0 and size:
        if heads % size:
            found = f"{heads} attention heads on {size} cards"
            yield told.ruled(HEADS, ("tensor-parallel-size",), found, f"a divisor of {heads}", heads=str(heads), size=str(size))
        elif config.get("kv_lora_rank") and not told.on("enforce-eager") and heads // size not in MLA_HEADS:
            found = f"{heads} MLA heads on {size} cards: {heads // size} on each"
            yield told.ruled(MLA, ("tensor-parallel-size",), found, "32, 64 or 128 on each card", Confidence.LIKELY, Severity.WARN)
    stored = config.get("torch_dtype") or config.get("dtype")
    if stored == "bfloat16" and place.family in WITHOUT_BF16 and (told.text("dtype") or "auto") == "auto":
        found = f"the model's config.json says bfloat16, and no --dtype; the chip ({place.family}) has none"
        yield told.ruled(BF16, ("dtype",), found, "--dtype float16")
    own = config.get("quantization_config")
    method = own.get("quant_method") if isinstance(own, dict) else None
    given = told.text("quantization")
    if isinstance(method, str) and given and given != method and given not in OTHER_METHODS and not given.startswith(method):
        found = f"--quantization {given}, and the model's config.json says {method}"
        yield told.ruled(MISMATCH, ("quantization",), found, "no --quantization", Confidence.LIKELY, own=method, given=given)


__all__ = ["METHOD", "Place", "judge_settings", "model_config"]
