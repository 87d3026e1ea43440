"""What `doctor model` shows besides findings: the memory of one card, and the hashes of the weight files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from doctor.fit import GIB
from doctor.locale import Speak
from doctor.text import cell_width, clean_line

if TYPE_CHECKING:
    from doctor.modelcheck import Checked

KIB = 1024


def model_lines(checked: Checked, speak: Speak) -> Iterator[str]:
    """The section as lines."""
    yield ""
    yield from _memory(checked, speak)
    if checked.hashing is not None:
        yield ""
        yield speak("model_hashed", size=_gib(checked.hashing.size), seconds=f"{checked.hashing.seconds:.1f}")
        for shard in checked.model.shards.shards:
            hub = "" if not shard.hub_sha256 else speak("model_hub_same" if shard.hub_sha256 == shard.sha256 else "model_hub_other")
            yield f"{shard.sha256 or speak('model_not_read'):64}  {shard.size:>14}  {clean_line(shard.name)}{'  ' + hub if hub else ''}"


def _memory(checked: Checked, speak: Speak) -> Iterator[str]:
    fit, plan, card = checked.fit, checked.plan, checked.card
    if fit is None:
        yield speak("model_no_fit")
        return
    share = speak("model_share", share=f"{plan.utilization:g}", total=_gib(card.total)) if card else speak("model_no_card")
    yield speak("model_head", tp=plan.tp, pp=plan.pp, dp=plan.dp, share=share)
    rows = [("model_weights", _gib(fit.weights)), ("model_besides", speak("model_at_least", size=_gib(fit.overhead), least=_gib(fit.least)))]
    if fit.kv_per_token is None:
        rows.append(("model_kv", speak("model_kv_unknown")))
    elif card is None:
        rows.append(("model_kv", speak("model_per_token", size=f"{fit.kv_per_token / KIB:.1f}")))
    else:
        rows.append(("model_kv", speak("model_kv_size", room=_gib(fit.kv_room), tokens=f"{fit.tokens:,}", size=f"{fit.kv_per_token / KIB:.1f}")))
    if card is not None and fit.tokens:
        rows.append(("model_at_once", speak("model_requests", count=fit.concurrent or 0, length=f"{fit.max_model_len or 0:,}")))
        rows.append(("model_largest", f"--max-model-len {fit.longest}   --max-num-seqs {max(fit.concurrent or 0, 1)}"))
    if card is not None and card.used is not None:
        late = card.total - card.used < fit.budget
        rows.append(("model_others", _gib(card.used) + ("  " + speak("model_too_full", wanted=_gib(fit.budget)) if late else "")))
    width = max(cell_width(speak(key)) for key, _ in rows)
    for key, value in rows:
        yield f"  {speak(key)}{' ' * (width - cell_width(speak(key)) + 2)}{value}"
    yield "  " + speak("model_estimate")


def model_json(checked: Checked) -> dict[str, Any]:
    """The same for machines; sizes in bytes."""
    fit, plan, card, model = checked.fit, checked.plan, checked.card, checked.model
    config = model.folder.config
    return {
        "path": model.path,
        "architectures": list(config.architectures) if config else [],
        "quantization": model.folder.quantization,
        "tensors": sum(len(shard.tensors) for shard in model.shards.shards),
        "tensor_bytes": model.shards.size,
        "plan": {"tp": plan.tp, "pp": plan.pp, "dp": plan.dp, "utilization": plan.utilization},
        "card": {"total": card.total, "used": card.used} if card else None,
        "fit": {
            "weights": fit.weights, "overhead": fit.overhead, "least_overhead": fit.least, "kv_per_token": fit.kv_per_token, "max_model_len": fit.max_model_len,
            **({"budget": fit.budget, "kv_room": fit.kv_room, "tokens": fit.tokens, "concurrent": fit.concurrent, "longest": fit.longest} if card else {}),
        } if fit else None,
        "files": [
            {"name": shard.name, "size": shard.size, "damage": shard.damage.name.lower() if shard.damage else None, "sha256": shard.sha256 or None,
             "hub_sha256": shard.hub_sha256 or None}
            for shard in model.shards.shards
        ],
    }  # fmt: skip


def _gib(size: int) -> str:
    return f"{size / GIB:.2f} GiB"
