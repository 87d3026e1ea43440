"""What the start of a server leans on outside vLLM: Mooncake's configuration, models in the cache of a hub, counters of the kernel that run full."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from doctor.facts import Facts, Provider, known
from doctor.facts.number import whole
from doctor.facts.target import Environment
from doctor.facts.vllm import ServeCommands
from doctor.host import KIB, Host, Unavailable, Why
from doctor.record import dataclass
from doctor.regex import regex


@dataclass(frozen=True)
class MooncakeConfig:
    """The file that MOONCAKE_CONFIG_PATH names. `problem`: "unset", "missing", "invalid" or ""."""

    path: str
    problem: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class HubModels:
    """Names on a hub that commands serve, and whether the cache of the server's user holds a snapshot of each."""

    cached: tuple[tuple[str, bool], ...]
    source: str = ""


@dataclass(frozen=True)
class Counters:
    """What is in use of what there may be at most; None where it is not told."""

    pids: int | None = None
    pids_max: int | None = None
    connections: int | None = None
    connections_max: int | None = None
    source: str = "/sys/fs/cgroup/pids.current"


@dataclass(frozen=True)
class ArticleConfig:
    """A config.py in the folder where the server would be started, with those of the article's settings that it has."""

    path: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clock:
    """Whether the clock was synchronised, by a recorded `timedatectl`."""

    synchronized: bool
    source: str = "timedatectl"


_SETTING = regex(r"^(model|device|quantization|tensor_parallel_size|batch_size|dynamic_batching|prefetch)[ \t]{0,20}=(?!=)", re.MULTILINE)
_HUB_NAME = regex(r"[A-Za-z0-9][\w.-]{0,95}/[\w.-]{1,95}", re.ASCII)
_PIDS = (("/sys/fs/cgroup/pids.current", "/sys/fs/cgroup/pids.max"), ("/sys/fs/cgroup/pids/pids.current", "/sys/fs/cgroup/pids/pids.max"))
_CONNECTIONS = ("/proc/sys/net/netfilter/nf_conntrack_count", "/proc/sys/net/netfilter/nf_conntrack_max")


def read_mooncake(host: Host, facts: Facts) -> MooncakeConfig | Unavailable:
    environment = facts.get(Environment)
    if isinstance(environment, Unavailable):
        return environment
    path = environment.values.get("MOONCAKE_CONFIG_PATH", "")
    if not path:
        return MooncakeConfig("", "unset")
    text = host.read(path, 64 * KIB) if path.startswith("/") else Unavailable(path, Why.NOT_RECORDED)
    if isinstance(text, Unavailable):
        return MooncakeConfig(path, "missing") if text.why is Why.MISSING else text
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return MooncakeConfig(path, "invalid")
    return MooncakeConfig(path, "", values) if isinstance(values, dict) else MooncakeConfig(path, "invalid")


def read_hub_models(host: Host, facts: Facts) -> HubModels | Unavailable:
    commands, environment = facts.get(ServeCommands), known(facts.get(Environment))
    if isinstance(commands, Unavailable):
        return commands
    values = environment.values if environment else {}
    home = values.get("HOME", "/root")
    hub = values.get("HF_HUB_CACHE") or posixpath.join(values.get("HF_HOME") or f"{home}/.cache/huggingface", "hub")
    scope = values.get("MODELSCOPE_CACHE") or f"{home}/.cache/modelscope"
    names = {name for command in commands.commands if _HUB_NAME.fullmatch(name := command.model or command.keywords.get("model") or "")}
    told = ((name, _is_cached(host, hub, scope, name)) for name in sorted(names))
    return HubModels(tuple((name, cached) for name, cached in told if cached is not None), hub)


def _is_cached(host: Host, hub: str, scope: str, name: str) -> bool | None:
    """None where a cache could not be looked at."""
    folders = (f"{hub}/models--{name.replace('/', '--')}/snapshots/*", f"{scope}/hub/{name}", f"{scope}/hub/models/{name}", f"{scope}/models/{name}")
    answers = [host.list(f"{folder}/config.json") for folder in folders]
    if any(not isinstance(answer, Unavailable) and answer for answer in answers):
        return True
    return None if any(isinstance(answer, Unavailable) and answer.why is not Why.MISSING for answer in answers) else False


def read_counters(host: Host, facts: Facts) -> Counters | Unavailable:
    def number(path: str) -> int | None:
        text = host.read(path, KIB)
        return whole(text.strip()) if isinstance(text, str) else None

    pids = next(((now, most) for current, limit in _PIDS if (now := number(current)) is not None and (most := number(limit)) is not None), (None, None))
    found = Counters(*pids, *(number(path) for path in _CONNECTIONS))
    if found.pids_max is None and found.connections_max is None:
        return Unavailable("counters of processes and connections", Why.MISSING)
    return found


def read_article_config(host: Host, facts: Facts) -> ArticleConfig | Unavailable:
    environment = facts.get(Environment)
    if isinstance(environment, Unavailable):
        return environment
    work = environment.values.get("PWD", "")
    for path in dict.fromkeys((f"{work.rstrip('/')}/config.py", "/root/config.py")):
        text = host.read(path, 64 * KIB)
        if isinstance(text, str) and text:
            return ArticleConfig(path, tuple(dict.fromkeys(_SETTING.findall(text))))
    return ArticleConfig("")


def read_clock(host: Host, facts: Facts) -> Clock | Unavailable:
    if host.live:
        return Unavailable("timedatectl", Why.NOT_RECORDED)  # a running machine is not asked: it would start a service of the system
    for command in (("timedatectl",), ("timedatectl", "status"), ("timedatectl", "show")):
        output = host.run(command)
        told = None if isinstance(output, Unavailable) else re.search(r"(?:NTPSynchronized|synchronized)\s*[:=]\s*(yes|no)\b", output.stdout)
        if told:
            return Clock(told[1] == "yes", " ".join(command))
    return Unavailable("timedatectl", Why.NOT_RECORDED)


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(MooncakeConfig, read_mooncake, per_target=True),
    Provider(HubModels, read_hub_models, per_target=True),
    Provider(Counters, read_counters),
    Provider(ArticleConfig, read_article_config, per_target=True),
    Provider(Clock, read_clock),
)
