"""One examination of a model's folder: the rules that read models, what its memory comes to, and, where asked for, its hashes.

Contract: what is judged is the folder that was named, as it would be served with the options that were given; the machine only tells
its cards and packages.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from doctor import checkup, diagnosis
from doctor.checkup import FactSet, facts_judged
from doctor.examine import Examination, Selection
from doctor.facts import HostFacts, known
from doctor.facts.model import Model, Models
from doctor.facts.npu import Chip, Npu, Npus
from doctor.facts.shards import Shard
from doctor.facts.target import discover
from doctor.facts.vllm import ServeCommand, ServeCommands
from doctor.finding import Outcome, Verdict
from doctor.fit import Card, Fit, Plan, estimate, held_by_others, visible
from doctor.host import KIB, MIB, Host, Unavailable
from doctor.logscan.scan import Scan
from doctor.record import dataclass
from doctor.rule import Rule
from doctor.rulebook import Rulebook

CHUNK = 16 * MIB
_SHA256 = re.compile(r"[0-9a-f]{64}")
FAMILIES = {"a1": "Ascend910", "a2": "910B", "a3": "Ascend910_93", "310p": "310P3", "310b": "310B", "310": "310", "950": "Ascend950"}
"""What --chip may be, and a name for it."""


@dataclass(frozen=True)
class Hashing:
    """How much was hashed, in bytes, and how long it took, in seconds."""

    size: int
    seconds: float


@dataclass(frozen=True)
class Checked:
    """The result. `fit` None: the weights are not whole, or there is no configuration. `card` None: its size is not known."""

    examination: Examination
    model: Model
    plan: Plan
    card: Card | None = None
    fit: Fit | None = None
    hashing: Hashing | None = None


def command_of(path: str, flags: dict[str, str]) -> ServeCommand:
    """The command that would serve the folder with these flags."""
    words = [word for name, value in flags.items() for word in (f"--{name}", *([value] if value else []))]
    return ServeCommand(("vllm", "serve", path, *words), path, flags, source="doctor model")


def examine_model(
    host: Host,
    model: Model,
    book: Rulebook,
    selection: Selection,
    *,
    python: str | None = None,
    hbm_mb: int | None = None,
    chip: str | None = None,
    hashing: Hashing | None = None,
    heard: Callable[[Verdict], None] | None = None,
) -> Checked:
    """Judges the model with every selected rule that reads models. `hbm_mb`, `chip`: of the cards, instead of this machine's."""
    begun = time.perf_counter()
    facts = HostFacts(host)
    command = model.command or command_of(model.path, {})
    plan = Plan.of(command)
    facts.put(ServeCommands((command,), command.source))
    facts.put(Models((model,), source=command.source))
    if hbm_mb is not None:
        facts.put(Npus(tuple(Npu(number, 0, chip or "NPU", hbm_used_mb=0, hbm_total_mb=hbm_mb) for number in range(min(plan.cards, 16))), source="--hbm"))
    if chip is not None:
        facts.put(Chip(chip, FAMILIES.get(chip, chip), source="--chip"))
    target = next(iter(discover(host, python)), None)
    whole = HostFacts(host, target, facts) if target is not None else facts
    sets = (FactSet("", whole),)
    verdicts: list[Verdict] = []
    for verdict in checkup.run([rule for rule in selection.chosen(book.rules.values()) if reads_models(rule)], sets, Scan()):
        verdicts.append(verdict)
        if heard is not None:
            heard(verdict)
    verdicts += [Verdict(problem.name, Outcome.BROKEN, problem.why) for problem in book.problems]
    causes = diagnosis.diagnose(verdicts, book.rules)
    examination = Examination("host", host.label, whole, sets, tuple(verdicts), causes, book, Scan(), time.perf_counter() - begun)
    card = _card(facts)
    return Checked(examination, model, plan, card, _fit(model, plan, card), hashing)


def reads_models(rule: Rule) -> bool:
    """Whether a rule looks at models' files, and not only at log lines."""
    return Models in facts_judged(rule)


def _card(facts: HostFacts) -> Card | None:
    """The smallest of the cards, with what others hold on the fullest."""
    npus, chip = known(facts.get(Npus)), known(facts.get(Chip))
    family = chip.family if chip else None
    totals = [size for one in (npus.chips if npus else ()) if (size := one.hbm_total_mb or one.ddr_total_mb)]
    used = [size for one in (npus.chips if npus else ()) if (size := one.hbm_used_mb or one.ddr_used_mb) is not None]
    return Card(visible(min(totals), family), held_by_others(max(used), family) if used else None) if totals else None


def _fit(model: Model, plan: Plan, card: Card | None) -> Fit | None:
    config = model.folder.config
    if config is None or config.problem or not model.shards.complete:
        return None
    return estimate(config, model.shards.tensors, plan, card or Card(0))


def hashed(host: Host, model: Model, told: Callable[[str], None]) -> tuple[Model, Hashing]:
    """The model with the SHA-256 of each weight file, and what the hub told of it. `told` hears the name of each file before it is read."""
    begun, size, shards = time.perf_counter(), 0, list[Shard]()
    for shard in model.shards.shards:
        told(shard.name)
        digest, read = _sha256(host, model.folder.file(shard.name))
        size += read
        shards.append(replace(shard, sha256=digest, hub_sha256=_hub_sha256(host, model, shard.name)))
    return replace(model, shards=replace(model.shards, shards=tuple(shards))), Hashing(size, time.perf_counter() - begun)


def _sha256(host: Host, path: str) -> tuple[str, int]:
    """The hash, "" where the file cannot be read to its end, and the bytes read."""
    state, offset = hashlib.sha256(), 0
    while True:
        data = host.read_raw(path, CHUNK, offset)
        if isinstance(data, Unavailable):
            return "", offset
        if not data:
            return state.hexdigest(), offset
        state.update(data)
        offset += len(data)


def _hub_sha256(host: Host, model: Model, name: str) -> str:
    """The second line of what huggingface_hub keeps of a download is the file's SHA-256 where it lies in Git LFS."""
    text = host.read(f"{model.path}/.cache/huggingface/download/{name}.metadata", KIB)
    lines: Sequence[str] = text.splitlines() if isinstance(text, str) else ()
    return lines[1].strip() if len(lines) > 1 and _SHA256.fullmatch(lines[1].strip()) else ""
