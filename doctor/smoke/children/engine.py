"""vLLM generates tokens from the tiny model, and every token is compared with a plain PyTorch forward pass of the same weights.

Only API that vLLM 0.9 to 0.32 share: `LLM(model=…, skip_tokenizer_init=True)`, prompts as {"prompt_token_ids": …}, `SamplingParams`.
job: device ("npu", "cpu"), dtype, folder, modes (a list of {"eager": bool, "tensor_parallel": int}), memory_share, chip.
"""

from __future__ import annotations

import importlib
import math
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

PROMPTS = (3, 17, 64, 129, 300)
"""Lengths of the prompts: within a block, at its border, and over it, for block sizes of 16, 64 and 128."""
TOKENS = 24
CONTEXT = 512
TOLERANCE = {"float32": 0.01, "bfloat16": 0.35, "float16": 0.1}
"""How far a log-probability may be from that of the fp32 reference. The logits of the tiny model spread over about 25; bf16 keeps 8 bits of
them. Garbage is off by 10 and more."""


def run(say: Any, job: Mapping[str, Any]) -> None:
    say.stage("import torch")
    torch = importlib.import_module("torch")
    if job["device"] == "npu":
        say.stage("import torch_npu")
        importlib.import_module("torch_npu")
    with say.timed("import vllm"):
        vllm = importlib.import_module("vllm")
    say.note("vllm", str(getattr(vllm, "__version__", "")))
    tiny = say.load("tiny_model")
    say.stage("make the tiny model")
    widest = max(mode["tensor_parallel"] for mode in job["modes"])
    heads = 8 if widest <= 4 else 2 * widest
    folder = os.path.join(job["folder"], "tiny-model")
    weights = tiny.write(torch, folder, job["dtype"], heads)
    settings = tiny.config(job["dtype"], heads)
    for mode in job["modes"]:
        name = ("eager" if mode["eager"] else "graph") + (f" tp{mode['tensor_parallel']}" if mode["tensor_parallel"] > 1 else "")
        generated = _generate(say, vllm, tiny, folder, job, mode, name)
        say.stage(f"compare {name}")
        _compare(say, torch, tiny, weights, settings, generated, job["dtype"], name)


def _generate(say: Any, vllm: Any, tiny: Any, folder: str, job: Mapping[str, Any], mode: Mapping[str, Any], name: str) -> list[tuple[list[int], list[int], list[float]]]:
    """(prompt, tokens, their log-probabilities) for each prompt."""
    if job["device"] == "cpu" and mode["tensor_parallel"] > 1:
        # vLLM binds one worker to each NUMA node unless told otherwise, and refuses where there are fewer nodes.
        cores = sorted(os.sched_getaffinity(0))
        os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "|".join(str(cores[rank % len(cores)]) for rank in range(mode["tensor_parallel"])))
    with say.timed(f"start the engine {name}"):
        llm = vllm.LLM(
            model=folder, skip_tokenizer_init=True, dtype=job["dtype"], enforce_eager=mode["eager"], max_model_len=CONTEXT,
            tensor_parallel_size=mode["tensor_parallel"], gpu_memory_utilization=job["memory_share"], max_num_seqs=8, seed=0,
            load_format="safetensors", disable_log_stats=True, enable_prefix_caching=False,
        )  # fmt: skip
    prompts = tiny.prompts(PROMPTS)
    sampling = vllm.SamplingParams(temperature=0.0, max_tokens=TOKENS, logprobs=1, detokenize=False, ignore_eos=True)
    say.stage(f"generate {name}")
    start = time.monotonic()
    outputs = llm.generate([{"prompt_token_ids": ids} for ids in prompts], sampling, use_tqdm=False)
    seconds = time.monotonic() - start
    generated = []
    for ids, output in zip(prompts, outputs):  # noqa: B905  Python 3.9 has no `strict`
        tokens = [int(token) for token in output.outputs[0].token_ids]
        values = [float(entry[token].logprob) for token, entry in zip(tokens, output.outputs[0].logprobs)]  # noqa: B905
        generated.append((ids, tokens, values))
    count = sum(len(tokens) for _, tokens, _ in generated)
    say.check("tokens were generated", count == TOKENS * len(prompts), f"{count} of {TOKENS * len(prompts)} tokens", name)
    say.figure("throughput", round(count / seconds, 1), "tokens/s", name)
    say.stage(f"stop the engine {name}")
    _stop(llm)
    return generated


def _stop(llm: Any) -> None:
    """Ends the engine's processes; how it is done differs between releases."""
    import gc

    engine = getattr(llm, "llm_engine", None)
    for owner in (engine, getattr(engine, "engine_core", None)):
        shutdown = getattr(owner, "shutdown", None)
        if callable(shutdown):
            shutdown()
    del llm, engine
    gc.collect()


def _compare(
    say: Any, torch: Any, tiny: Any, weights: Any, settings: Any, generated: Sequence[tuple[list[int], list[int], list[float]]], dtype: str, name: str
) -> None:
    """Each token must be the reference's choice, or so close to it that rounding decides; and its log-probability the reference's."""
    tolerance = TOLERANCE[dtype]
    worst, equal, count, wrong, invalid = 0.0, 0, 0, "", 0
    for ids, tokens, values in generated:
        reference = tiny.log_probabilities(torch, weights, settings, [*ids, *tokens])
        for index, (token, value) in enumerate(zip(tokens, values)):  # noqa: B905
            row = reference[len(ids) - 1 + index]
            best = int(row.argmax())
            count += 1
            equal += best == token
            if not math.isfinite(value):
                invalid += 1
                continue
            behind, off = float(row[best] - row[token]), abs(value - float(row[token]))
            worst = max(worst, off)
            if (behind > tolerance or off > tolerance) and not wrong:
                wrong = f"the inference result is wrong: prompt of {len(ids)}, token {index}: engine {token} ({value:.4f}), reference {best} ({float(row[best]):.4f}); reference for {token}: {float(row[token]):.4f}"
    say.figure("greatest difference of log-probabilities", round(worst, 5), "", name)
    say.figure("tokens equal to the reference", round(100.0 * equal / max(count, 1), 1), "%", name)
    say.check("log-probabilities are numbers", invalid == 0, f"logits are nan: {invalid} of {count} log-probabilities are not finite" if invalid else "", name)
    say.check("tokens agree with the reference", not wrong, wrong or f"{equal} of {count} equal, the rest within {tolerance}", name)
    say.load("garbage").look(say, [tokens for _, tokens, _ in generated], name, repetition=False)
