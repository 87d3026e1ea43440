"""What was watched, as a text in the words that the rule book hears: versions, the command line, what grows, what the log said.

So the same cause files judge a watch and a pasted report, known releases first; and the text alone, with `doctor log`, gives the same causes on
another machine. Pure, except `about`, which reads facts.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from doctor.facts import HostFacts, known
from doctor.facts.cann import Cann
from doctor.facts.npu import Chip
from doctor.facts.target import Packages, discover
from doctor.host import Host
from doctor.watch.history import Judged
from doctor.watch.judge import HOUR, MIB, Settings, Verdict
from doctor.watch.outlook import Group
from doctor.watch.roles import Member
from doctor.watch.smaps import Kinds

PACKAGES = ("torch", "torch-npu", "vllm", "vllm-ascend", "triton-ascend", "mooncake-transfer-engine", "transformers", "nixl")
_SECRET = ("key", "token", "password", "secret")
_WHO = {
    "worker": "the worker processes (VLLM::Worker)", "engine": "the EngineCore process", "api": "the API server process", "mooncake": "the mooncake process",
    "proxy": "the proxy process in front of vLLM",
}  # fmt: skip
_CACHE = re.compile(r"--mm[-_](?:pre)?processor[-_]cache[-_]gb[ =](\d{1,6}(?:\.\d{1,6})?)(?!\S)")
MOST_CACHE = 1024.0
"""GiB beyond which a bound says nothing."""
_COUNTED = {"fds": "Open files", "threads": "Threads"}
_ENDS = {"host": "the memory of the host", "cgroup": "the memory limit of the container", "hbm": "the memory of the NPU", "shm": "the space of /dev/shm"}


def about(host: Host, members: Sequence[Member], kinds: Sequence[type] = (Packages, Cann, Chip)) -> tuple[str, ...]:
    """Versions and command lines of the server, without secrets. `kinds`: the facts that may be read; Chip asks npu-smi."""
    shared = HostFacts(host)
    targets = discover(host, None)
    facts = HostFacts(host, targets[0], shared) if targets else shared
    lines = []
    packages, cann, chip = (known(facts.get(kind)) if kind in kinds else None for kind in (Packages, Cann, Chip))
    if isinstance(packages, Packages):
        lines += [f"[pip3] {name.replace('-', '_')}=={packages.versions[name]}" for name in PACKAGES if name in packages.versions]
    if isinstance(cann, Cann) and cann.version:
        lines.append(f"CANN version: {cann.version}")
    if isinstance(chip, Chip):
        lines.append(f"NPU: Ascend {chip.name}")
    lines += [f"$ {shlex.join(_without_secrets(member.argv))}" for member in members if member.role == "api" and member.argv][:4]
    return tuple(line[:4000] for line in lines)


def _without_secrets(argv: Sequence[str]) -> list[str]:
    kept: list[str] = []
    hide = False
    for word in argv:
        name, equals, _ = word.partition("=")
        secret = name.startswith("-") and any(part in name.lower() for part in _SECRET) and "tokenizer" not in name and "num" not in name and "max" not in name
        kept.append("***" if hide and not word.startswith("-") else f"{name}=***" if secret and equals else word)
        hide = secret and not equals or (hide and not word.startswith("-"))
    return kept


def caps(lines: Sequence[str]) -> dict[str, float]:
    """Bytes that a cache of unknown filling may take in a process, by class, where a command line of `about` says so: multimodal inputs.

    Both the API server and the engine core may hold them; several servers: the largest.
    """
    found: dict[str, float] = {}
    for line in lines:
        for match in _CACHE.finditer(line) if line.startswith("$ ") else ():
            for role in ("api", "engine"):
                found[role] = max(found.get(role, 0.0), min(float(match[1]), MOST_CACHE) * 1024 * MIB)
    return found


def account(lines: Sequence[str], found: Iterable[Group], kinds: dict[int, Kinds], log: Sequence[str], *, stalled: bool, settings: Settings = Settings()) -> str:  # noqa: B008 - frozen
    """The text: `lines` from `about`, a sentence for each class that leaks and for each end that is near, the log's last lines where something stands still."""
    told = list(lines)
    found = tuple(found)
    for group in found:
        told += _sentences(group, kinds)
    told += _ends(found)
    told += _short(found, settings)
    if stalled:
        told += log
    return "\n".join(told) + "\n"


def _sentences(group: Group, kinds: dict[int, Kinds]) -> Iterable[str]:
    if group.quantity in _COUNTED:
        yield from _count(group)
        return
    if group.verdict.rank < Verdict.LEAK.rank:
        return
    worst = group.worst.trend
    rate = f"+{group.slope / MIB:.1f} MiB per hour over {worst.window / HOUR:.1f} h"
    who = _WHO.get(group.role)
    if group.quantity == "private":
        if who is None:  # a process of its own, of which the rule book knows nothing
            return
        yield f"Host memory (RssAnon) of {who} keeps growing: {rate}."
        native = [kinds[each.key.pid] for each in group.members if each.key.pid in kinds]
        if native and min(each.share("noreserve") for each in native) >= 0.8:
            yield f"{min(each.share('noreserve') for each in native):.0%} of the anonymous memory lies in no-reserve mappings."
    elif group.quantity == "hbm":
        yield f"NPU memory (HBM) of {who or 'the chip'} keeps growing after warm-up: {rate}."


def _count(group: Group) -> Iterator[str]:
    """Open files and threads: of them two hours that rise at an even load are enough."""
    worst = group.worst
    if not group.verdict.bad or worst.trend.why != "rising":
        return
    who = f"{_plain(worst.label)} (pid {worst.key.pid})"
    yield f"{_COUNTED[group.quantity]} of {who} keep rising: +{worst.trend.slope:.1f} per hour over {worst.trend.window / HOUR:.1f} h, {worst.trend.level:.0f} now."


def _ends(found: Sequence[Group]) -> Iterator[str]:
    """What is used up soon, each once: memory that several share, by all of them together."""
    ends: dict[str, Judged] = {}
    for each in (each for group in found for each in group.members):
        near = each.trend.verdict is Verdict.CRITICAL and each.trend.seconds_left is not None and each.trend.ends in _ENDS
        if near and (each.trend.ends not in ends or each.trend.slope > ends[each.trend.ends].trend.slope):
            ends[each.trend.ends] = each
    for what, each in ends.items():
        left, soonest = each.trend.seconds_left or 0.0, each.trend.seconds_left_low or 0.0
        yield f"At the present slope {_ENDS[what]} runs out in {left / HOUR:.1f} h, {soonest / HOUR:.1f} h at the soonest; most of it goes to {_plain(each.label) or 'one process'} (pid {each.key.pid})."


def _short(found: Sequence[Group], settings: Settings) -> Iterator[str]:
    """Where not one process was watched for long enough, that says so: it is no pass."""
    trends = [each.trend for group in found if group.quantity == "private" for each in group.members]
    if trends and all(trend.verdict is Verdict.TOO_SHORT for trend in trends):
        window = max(trend.window for trend in trends)
        yield f"The watch is too short to tell a leak from warm-up: {window / 60:.0f} min after the warm-up, {settings.least_suspect / 60:.0f} min are needed."


def _plain(label: str) -> str:
    """A name out of a process's own hand, so that it cannot speak in sentences of ours."""
    return re.sub(r"[^\w:./@-]", "_", label)[:60]


__all__ = ["about", "account", "caps"]
