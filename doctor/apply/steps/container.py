"""`container`: options of the container in which vLLM runs. The script that starts it is corrected beside itself; `--form compose` and
`--form kubernetes` write an override or a patch instead. A running container keeps its options until it is started anew."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from doctor.apply.change import Change
from doctor.apply.filechange import FileChange
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step, missing_values, needs_root, text_of
from doctor.apply.plan import Effect, Needs, Note, StepPlan
from doctor.apply.steps.edit_command import CorrectedFile, beside_of
from doctor.facts.container import RunCommands
from doctor.fix import ContainerOptions
from doctor.words import Words

KNOWN = ("shm-size", "ulimit", "pids-limit")
_VALUE = re.compile(r"[A-Za-z0-9=:.-]{1,64}")
_RUN = re.compile(r"\b(?:docker|podman|nerdctl|isula)[ \t]+(?:container[ \t]+)?run(?=[ \t\\]|$)", re.ASCII)
_MOST_LINES = 120
"""Lines that one command may go on for."""


class ContainerKind:
    action: type[Any] = ContainerOptions
    changes: tuple[type[Change], ...] = ()

    def plan(self, key: str, action: ContainerOptions, context: Context) -> StepPlan:
        told = " ".join(f"--{name}={value}" for name, value in action.run.items())
        title = Words(f"Start the container with {told}", f"以 {told} 启动容器")
        if why := missing_values(action):
            return blocked_step(key, action, title, why)
        if not all(name in KNOWN and _VALUE.fullmatch(value) for name, value in action.run.items()):
            return blocked_step(key, action, title, Words("an option is not understood", "选项无法识别"))
        made = _written(action, context) if context.choices.form in ("compose", "kubernetes") else _scripts(action, context)
        if isinstance(made, Words):
            return blocked_step(key, action, title, made, (f"docker run {told} …",))
        changes = tuple(change for change in made if not change.nothing)
        root = any(needs_root(context, change.path) for change in changes)
        notes = tuple(Note(text) for text in _notes(action, context, made))
        return StepPlan(key, action, title, changes, Needs(root=root, restart=("container",)), effect=Effect.NEXT_START, notes=notes)


def _written(action: ContainerOptions, context: Context) -> tuple[FileChange, ...] | Words:
    to, name = context.choices.to, context.choices.unit
    if not to.startswith("/") or not name:
        return Words("say where to write it and which service or container runs vLLM: --to FILE --unit NAME", "请用 --to FILE 和 --unit NAME 指定写入位置和运行 vLLM 的服务或容器名")
    content = compose(action, name) if context.choices.form == "compose" else kubernetes(action, name)
    if not content:
        return Words("a pod has no such option; the kubelet and the container runtime set it", "Pod 没有对应选项，需在 kubelet 或容器运行时中设置")
    before = text_of(context.host, to)
    text = f"# Written by ascend-doctor for {context.rule}.\n" + yaml.safe_dump(content, sort_keys=False)
    return before if isinstance(before, Words) else (FileChange(to, before, text),)


def compose(action: ContainerOptions, service: str) -> dict[str, Any]:
    """An override file for docker compose."""
    options: dict[str, Any] = {}
    for name, value in action.run.items():
        if name == "ulimit":
            limit, _, sizes = value.partition("=")
            soft, _, hard = sizes.partition(":")
            options.setdefault("ulimits", {})[limit] = {"soft": int(soft), "hard": int(hard or soft)}
        elif name == "shm-size":
            options["shm_size"] = value
        else:
            options["pids_limit"] = int(value)
    return {"services": {service: options}}


def kubernetes(action: ContainerOptions, container: str) -> dict[str, Any]:
    """A strategic merge patch for a Deployment or StatefulSet; {} where a pod knows nothing of the kind."""
    size = action.run.get("shm-size", "")
    if not size:
        return {}
    limit = re.sub(r"(?i)^(\d+)([kmgt])b?$", lambda match: f"{match[1]}{match[2].upper()}i", size)
    return {
        "spec": {"template": {"spec": {
            "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": limit}}],
            "containers": [{"name": container, "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}]}],
        }}}
    }  # fmt: skip


def _scripts(action: ContainerOptions, context: Context) -> tuple[FileChange, ...] | Words:
    """Every script in which a container is started, corrected beside itself."""
    runs = context.fact(RunCommands)
    paths = dict.fromkeys(run.source for run in (runs.commands if runs else ()) if run.source.endswith(".sh") and ".corrected." not in run.source)
    made: list[FileChange] = []
    for path in paths:
        text = text_of(context.host, path)
        if not isinstance(text, str) or (corrected := with_options(text, action)) == text:
            continue
        beside = context.choices.to or beside_of(path)
        there = text_of(context.host, beside)
        if isinstance(there, Words):
            return there
        made.append(CorrectedFile(beside, there, corrected, 0o755, original=text))
    if made:
        return tuple(made)
    return Words(
        "no script that starts the container was found; start it anew with the option, or use --form compose or kubernetes",
        "未找到启动容器的脚本；请在启动时加上该选项，或使用 --form compose / kubernetes",
    )


def with_options(text: str, action: ContainerOptions) -> str:
    """The script with the options in every `docker run`; values that are there already give way, ulimits of other names stay."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        match = None if lines[at].lstrip().startswith("#") else _RUN.search(lines[at])
        last = at
        while match and last + 1 < len(lines) and last - at < _MOST_LINES and lines[last].rstrip().endswith("\\"):
            last += 1
        if match:
            for number in range(at, last + 1):
                lines[number] = _without(lines[number], action)
            start = _RUN.search(lines[at])
            assert start
            told = "".join(f" --{name}={value}" for name, value in action.run.items())
            lines[at] = lines[at][: start.end()] + told + lines[at][start.end() :]
        at = last + 1
    return "\n".join(lines)


def _without(line: str, action: ContainerOptions) -> str:
    for name, value in action.run.items():
        wanted = re.escape(value.partition("=")[0] + "=") + r"\S+" if name == "ulimit" else r"[^\s\\]+"
        line = re.sub(rf"[ \t]--{re.escape(name)}[= ]{wanted}", "", line)
    return line


def _notes(action: ContainerOptions, context: Context, made: tuple[FileChange, ...]) -> Iterator[Words]:
    to = context.choices.to
    if context.choices.form == "compose":
        yield Words(f"use it with: docker compose -f <your file> -f {to} up -d", f"使用：docker compose -f <原文件> -f {to} up -d")
    elif context.choices.form == "kubernetes":
        yield Words(f"use it with: kubectl patch <deployment> --patch-file {to}", f"使用：kubectl patch <deployment> --patch-file {to}")
        if set(action.run) - {"shm-size"}:
            yield Words("a pod knows no ulimits and no pid limit: they are set on the node", "Pod 无法设置 ulimit 与 pid 上限，需在节点上设置")
    else:
        for change in made:
            yield Words(f"remove the container and start it anew with: sh {change.path}", f"删除原容器后重新启动：sh {change.path}")


KIND = ContainerKind()

__all__ = ["KIND", "compose", "kubernetes", "with_options"]
