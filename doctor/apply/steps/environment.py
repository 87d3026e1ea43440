"""`environment`: what the process that runs vLLM lacks, written in the form in which vLLM is started there.

Forms: shell (an environment file with one marked block a cause, and a wrapper that runs any command in it), systemd (a drop-in of the unit),
dockerfile, compose, kubernetes (a file that `--to` names). A running process keeps its environment: all take effect at its next start.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from typing import Any

from doctor.apply import environments
from doctor.apply.block import with_block
from doctor.apply.change import Change
from doctor.apply.environments import Lacking
from doctor.apply.filechange import FileChange
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step, in_container, needs_root, text_of
from doctor.apply.plan import Effect, Needs, Note, StepPlan
from doctor.apply.steps.systemd import drop_in_head, drop_in_path, no_unit, reload
from doctor.apply.units import escaped, exec_start, unit_of
from doctor.apply.users import servers
from doctor.facts.vllm import ServeCommands
from doctor.fix import SetEnvironment
from doctor.words import Words

SYSTEM = "/etc/ascend-doctor"
FILE, WRAPPER = "environment.sh", "with-ascend"
FORMS = ("shell", "systemd", "dockerfile", "compose", "kubernetes")
HEAD = "# Read by with-ascend beside it; or: source this file before vLLM is started. Written by ascend-doctor.\n"
_COMMAND = ("vllm", "serve", "<model>")


class EnvironmentKind:
    action: type[Any] = SetEnvironment
    changes: tuple[type[Change], ...] = ()

    def plan(self, key: str, action: SetEnvironment, context: Context) -> StepPlan:
        form = context.choices.form or ("systemd" if not context.contained and not context.choices.to and unit_of(context) else "shell")
        need = environments.lacking(action, context)
        title = Words(f"Complete the environment of vLLM ({form})", f"补全 vLLM 的环境变量（{form}）")
        if isinstance(need, Words):
            return blocked_step(key, action, title, need)
        made = _made(form, need, context)
        if isinstance(made, Words):
            return blocked_step(key, action, title, made, environments.shell_lines(need))
        changes = tuple(change for change in made if not change.nothing)
        root = any(needs_root(context, change.path) for change in changes)
        restart = tuple(dict.fromkeys(server.name for server in servers(context)[:1]))
        notes = tuple(Note(text) for text in _notes(form, context))
        return StepPlan(key, action, title, changes, Needs(root=root, restart=restart), effect=Effect.NEXT_START, notes=notes)


def written(need: Lacking, context: Context) -> tuple[FileChange, ...] | Words:
    """The changes that give the process what it lacks, for steps that bring it along themselves (a new CANN's script); why not, where it cannot be."""
    form = context.choices.form or ("systemd" if not context.contained and not context.choices.to and unit_of(context) else "shell")
    made = _made(form, need, context)
    return made if isinstance(made, Words) else tuple(change for change in made if not change.nothing)


def _made(form: str, need: Lacking, context: Context) -> tuple[FileChange, ...] | Words:
    if form == "shell":
        return _shell(need, context)
    if form == "systemd":
        return _systemd(need, context)
    if form not in FORMS:
        return Words(f"the form is one of {', '.join(FORMS)}", f"形式须为 {'、'.join(FORMS)} 之一")
    if not context.choices.to.startswith("/"):
        return Words("say where to write it, as an absolute path: --to FILE", "请用 --to FILE 指定写入位置（绝对路径）")
    if form != "dockerfile" and not context.choices.unit:
        return Words("say which service or container runs vLLM: --unit NAME", "请用 --unit NAME 指定运行 vLLM 的服务或容器名")
    service = context.choices.unit
    text = {
        "dockerfile": lambda: environments.dockerfile(need),
        "compose": lambda: environments.compose(need, service),
        "kubernetes": lambda: environments.kubernetes(need, service, _command(context)),
    }[form]()
    return _whole(context, context.choices.to, f"# Written by ascend-doctor for {context.rule}.\n{text}")


def _whole(context: Context, path: str, content: str, mode: int = 0o644, then: tuple[tuple[str, ...], ...] = ()) -> tuple[FileChange, ...] | Words:
    before = text_of(context.host, path)
    return before if isinstance(before, Words) else (FileChange(path, before, content, mode, then),)


def folder(context: Context) -> str:
    """Where environment file and wrapper lie: the system's for root, else the user's own."""
    if context.euid == 0 or context.root != "/":
        return SYSTEM
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return f"{base if base.startswith('/') else os.path.expanduser('~') + '/.config'}/ascend-doctor"


def _shell(need: Lacking, context: Context) -> tuple[FileChange, ...] | Words:
    path = context.choices.to or f"{folder(context)}/{FILE}"
    if not path.startswith("/"):
        return Words("--to wants an absolute path", "--to 需要绝对路径")
    before = text_of(context.host, path)
    if isinstance(before, Words):
        return before
    try:
        after = with_block(before if before is not None else HEAD, context.mark, "\n".join(environments.shell_lines(need)))
    except ValueError as problem:
        return Words(f"{path}: {problem}", f"{path}：块标记不成对（{problem}）")
    wrapper = f'#!/bin/bash\n# Runs a command with the environment of {FILE} beside it. Written by ascend-doctor.\n. {shlex.quote(path)}\nexec "$@"\n'
    more = _whole(context, f"{path.rpartition('/')[0]}/{WRAPPER}", wrapper, 0o755)
    return more if isinstance(more, Words) else (FileChange(path, before, after), *more)


def _systemd(need: Lacking, context: Context) -> tuple[FileChange, ...] | Words:
    if context.contained:
        return in_container()
    unit = unit_of(context)
    if not unit:
        return no_unit()
    path = drop_in_path(unit, context.mark)
    unset = [f"UnsetEnvironment={' '.join(need.unset)}"] if need.unset else []  # before any program starts: a preloaded library may end them all
    lines = [*unset, *(f"Environment={escaped(f'{name}={value}')}" for name, value in need.set.items())]
    files: tuple[FileChange, ...] = ()
    if need.source or need.prepend:
        command = exec_start(context.host, unit, without=path)
        plain = command.lstrip("-@:+!")
        marks = command[: len(command) - len(plain)]
        if not plain or "@" in marks:
            return Words(f"the start command of {unit} is not understood", f"无法识别 {unit} 的启动命令")
        made = _shell(need, context)
        if isinstance(made, Words):
            return made
        files = made
        wrapper = files[-1].path
        lines = unset if plain.startswith(wrapper) else [*unset, "ExecStart=", f"ExecStart={marks}{wrapper} {plain}"]
    if not lines:
        return files
    whole = _whole(context, path, drop_in_head(context.rule) + "[Service]\n" + "\n".join(lines) + "\n", then=reload(context))
    return whole if isinstance(whole, Words) else (*files, *whole)


def _command(context: Context) -> tuple[str, ...]:
    found = context.fact(ServeCommands)
    return next((command.argv for command in found.commands if len(command.argv) > 1), _COMMAND) if found else _COMMAND


def _notes(form: str, context: Context) -> Iterator[Words]:
    if form == "shell":
        path = context.choices.to or f"{folder(context)}/{FILE}"
        start = shlex.join((f"{path.rpartition('/')[0]}/{WRAPPER}", *_command(context)))
        yield Words(f"start vLLM with: {start}", f"用以下命令启动 vLLM：{start}")
    elif form == "systemd":
        unit = unit_of(context)
        yield Words(f"takes effect with: systemctl restart {unit}", f"执行 systemctl restart {unit} 后生效")
    elif form == "compose":
        yield Words(f"use it with: docker compose -f <your file> -f {context.choices.to} up -d", f"使用：docker compose -f <原文件> -f {context.choices.to} up -d")
    elif form == "kubernetes":
        to = context.choices.to
        yield Words(f"use it with: kubectl patch <deployment> --patch-file {to}", f"使用：kubectl patch <deployment> --patch-file {to}")
    else:
        yield Words("put the lines at the end of the Dockerfile", "将这些行放在 Dockerfile 末尾")


KIND = EnvironmentKind()

__all__ = ["FORMS", "KIND", "folder"]
