"""`packages`: Python packages of the target brought to the versions of its release's row, dry run first, never in a system Python."""

from __future__ import annotations

import dataclasses
import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from doctor.apply import sitestate
from doctor.apply.change import Change
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step, missing_values
from doctor.apply.pipchange import PipChange, install_environment
from doctor.apply.pipreport import CONFLICT, Installer, Resolved, complaint, parse_report, parse_uv
from doctor.apply.plan import Disturbed, Effect, Needs, Note, StepPlan
from doctor.apply.plan_packages import ROW, Wanted, row_of, wanted
from doctor.apply.pyenv import PythonEnvironment, read_environment
from doctor.apply.sitestate import Places
from doctor.apply.users import elsewhere, lost_with_container, servers_of
from doctor.compat import Release
from doctor.facts.distributions import normalised
from doctor.facts.target import Packages, Target
from doctor.fix import PinPackages
from doctor.host import Unavailable
from doctor.text import clean_line
from doctor.ways import Installed
from doctor.words import Words

DRY_RUN_TIMEOUT = 600.0
"""Seconds; a resolver that has to look into source archives takes minutes."""
REPLACES = Words("imports these packages; it has to be restarted afterwards", "正在使用这些包；之后需要重启")


class PipInstallKind:
    action: type[Any] = PinPackages
    changes: tuple[type[Change], ...] = (PipChange,)

    def plan(self, key: str, action: PinPackages, context: Context) -> StepPlan:
        title = Words("Bring the Python packages to the versions that fit", "将 Python 包调整为配套版本")
        target, packages = context.fact(Target), context.fact(Packages)
        if why := missing_values(action):
            return blocked_step(key, action, title, why)
        if target is None or packages is None or not context.live:
            return blocked_step(key, action, title, Words("only a target on this running machine can be changed", "只能更改本机上正在运行的目标环境"))
        if why := elsewhere(context, target):
            return blocked_step(key, action, title, why)
        environment = read_environment(context.host, target, context.euid)
        if environment.refused is not None:
            return blocked_step(key, action, title, environment.refused)
        asked = _asked(action, context, packages)
        if isinstance(asked, Words):
            return blocked_step(key, action, title, asked)
        return _planned(key, action, context, _Look(environment, packages, asked), title)


@dataclass(frozen=True)
class _Look:
    environment: PythonEnvironment
    packages: Packages
    asked: Wanted


def _asked(action: PinPackages, context: Context, packages: Packages) -> Wanted | Words:
    """What the row wants; only the action's own requirements where there is no row and none is needed."""
    installed = Installed.from_facts(context.facts)
    row = row_of(installed)
    gone = tuple(name for name in map(normalised, action.remove) if name in packages.versions)
    if action.remove and not action.names and not action.requirements:
        return Wanted(row, (), (), gone)
    found = _of_row(action, packages, installed, row)
    return found if isinstance(found, Words) else dataclasses.replace(found, removed=tuple(dict.fromkeys((*found.removed, *gone))))


def _of_row(action: PinPackages, packages: Packages, installed: Installed, row: Release | None) -> Wanted | Words:
    if row is None:
        return Words("no vllm-ascend release is known that fits this machine", "没有已知的 vllm-ascend 版本适合本机")
    names = action.names if action.names or action.requirements else ()
    if action.requirements and not action.names:
        whole = wanted(row, installed, packages.versions, ("vllm-ascend",))
        own = {normalised(text.partition("=")[0].partition("<")[0].partition(">")[0]) for text in action.requirements}
        present = tuple(f"{name}=={packages.versions[name]}" for name in ROW if name in packages.versions)
        ranges = tuple(text for text in whole.constraints if "==" not in text)
        kept = tuple(text for text in (*present, *ranges) if normalised(text.partition("=")[0].partition("<")[0].partition(">")[0]) not in own)
        return Wanted(row, action.requirements, kept, (), whole.indexes)
    return wanted(row, installed, packages.versions, names, action.requirements)


def _planned(key: str, action: PinPackages, context: Context, look: _Look, title: Words) -> StepPlan:
    environment, asked = look.environment, look.asked
    if asked.row is not None and (action.names or not (action.requirements or action.remove)):
        title = Words(f"Bring the Python packages to those of vllm-ascend {asked.row.version}", f"将 Python 包调整为 vllm-ascend {asked.row.version} 的配套版本")
    wheels = context.choices.wheels
    installer = Installer(environment.python, environment.uv, wheels, () if wheels else asked.indexes, action.build != "no-isolation")
    typed = (shlex.join(installer.dry_run(asked.pins)),)
    if wheels and not os.path.isdir(wheels):
        return blocked_step(key, action, title, Words(f"{clean_line(wheels)} is no folder", f"{clean_line(wheels)} 不是目录"))
    if not wheels and not context.choices.online and asked.pins:
        why = Words("name a folder of wheels with --wheels DIR, or allow the network with --online", "请用 --wheels 目录 指定离线 wheel，或用 --online 允许联网")
        return blocked_step(key, action, title, why, typed)
    resolved, notes = _resolve(context, installer, look) if _differs(look) else (Resolved(), ())
    if resolved is None:
        return blocked_step(key, action, title, notes[0].text, typed)
    change = _change(installer, look, resolved)
    unnamed = [server for server in servers_of(context, environment.prefix) if server.pid not in context.choices.pids]
    disturbs = tuple(Disturbed(server.pid, server.name, REPLACES) for server in servers_of(context, environment.prefix))
    if unnamed and not change.nothing:
        pids = " ".join(f"--pid {server.pid}" for server in unnamed)
        told = ", ".join(f"{server.name} ({server.pid})" for server in unnamed)
        why = Words(f"a running server uses this environment: {told}; stop it, or name it with {pids}", f"正在运行的服务使用该环境：{told}；请先停止，或用 {pids} 指明")
        return StepPlan(key, action, title, blocked=why, disturbs=disturbs, notes=notes)
    return StepPlan(
        key, action, title, () if change.nothing else (change,), Needs(root=False, network=bool(asked.pins) and not wheels, restart=tuple(server.name for server in servers_of(context, environment.prefix))),
        disturbs, Effect.NEXT_START if disturbs else Effect.NOW, (*notes, *_warnings(context, look, change), *lost_with_container(context)),
        undo=Words("the replaced packages are kept as they are and put back from there, without a network", "被替换的包会原样备份，恢复时直接放回，无需网络"),
    )  # fmt: skip


def _differs(look: _Look) -> bool:
    """Whether anything asked for is not there; a range has to be asked of the installer."""
    return bool(look.asked.pins or look.asked.removed)


def _resolve(context: Context, installer: Installer, look: _Look) -> tuple[Resolved | None, tuple[Note, ...]]:
    """What would be installed. vLLM pins the torch of its CUDA builds, so that its own dependencies are left out where they conflict."""
    asked, notes = look.asked, list[Note]()
    with tempfile.TemporaryDirectory(prefix="ascend-doctor-") as folder:
        constraints = os.path.join(folder, "constraints.txt")
        with open(constraints, "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in asked.constraints))
        first = _ask(context, installer, asked.pins, constraints, dependencies=True)
        if isinstance(first, str) and CONFLICT.search(first):
            own = [pin for pin in asked.pins if pin.startswith("vllm==")]
            others = [pin for pin in asked.pins if pin not in own]
            parts = [_ask(context, installer, others, constraints, dependencies=True), _ask(context, installer, own, constraints, dependencies=False) if own else Resolved()]
            if isinstance(parts[0], str):
                parts[0] = _ask(context, installer, others, constraints, dependencies=False)
            notes.append(Note(Words(f"not all dependencies agree, so these are installed without theirs: {first[:300]}", f"部分依赖互相冲突，相关包将不带依赖安装：{first[:300]}")))
            failed = next((part for part in parts if isinstance(part, str)), None)
            first = failed if failed is not None else Resolved().joined(parts[0]).joined(parts[1])  # type: ignore[arg-type]
        again = "triton-ascend"
        if isinstance(first, Resolved) and "triton" in asked.removed and again in look.packages.versions and again not in first.versions and again not in asked.removed:
            more = _ask(context, installer, [f"{again}=={look.packages.versions[again]}"], "", dependencies=False, again=True)
            first = more if isinstance(more, str) else first.joined(more)
    if isinstance(first, str):
        return None, (Note(Words(f"the dry run failed: {first}", f"试运行失败：{first}")),)
    return first, tuple(notes)


def _ask(context: Context, installer: Installer, pins: Sequence[str], constraints: str, *, dependencies: bool, again: bool = False) -> Resolved | str:
    """The installer's answer, or what it complained about."""
    if not pins:
        return Resolved()
    argv = (*installer.dry_run(pins, constraints, dependencies=dependencies), *((installer.again,) if again else ()))
    around = context.host.environ(0)
    output = context.host.run(argv, DRY_RUN_TIMEOUT, install_environment(installer, {} if isinstance(around, Unavailable) else around))
    if isinstance(output, Unavailable):
        return f"{output.why.value} {output.detail}".strip()
    if output.exit != 0:
        return complaint(output.text) or f"exit status {output.exit}"
    if installer.uv:
        return parse_uv(output.text)
    return parse_report(output.stdout) or "pip printed no report; it has to be 22.2 or newer"


def _change(installer: Installer, look: _Look, resolved: Resolved) -> PipChange:
    present, environment = look.packages.versions, look.environment
    names = {*resolved.versions, *look.asked.removed}
    before = {name: present.get(name, "") for name in sorted(names)}
    after = {name: resolved.versions.get(name, "") for name in sorted(names)}
    again = tuple(name for name, version in resolved.versions.items() if present.get(name) == version)
    places = Places(environment.prefix, environment.sites, environment.scripts)
    installed = sitestate.distributions(places, [name for name, version in before.items() if version])
    damaged = tuple(sorted(name for name, some in installed.items() if not all(sitestate.whole(places, one) for one in some)))
    return PipChange(installer, places, before, after, {name: told for name, told in resolved.hashes.items() if told}, again, damaged)


def _warnings(context: Context, look: _Look, change: PipChange) -> Iterator[Note]:
    if look.environment.kind == "conda":
        for name in sorted(name for name, version in change.before.items() if version and change.after.get(name) != version):
            found = context.host.list(f"{look.environment.prefix}/conda-meta/{name.replace('-', '_')}-*.json")
            again = context.host.list(f"{look.environment.prefix}/conda-meta/{name}-*.json")
            if any(isinstance(one, tuple) and one for one in (found, again)):
                yield Note(Words(f"conda installed {name}; its own list will still name the old version", f"{name} 由 conda 安装；conda 的记录仍会显示旧版本"))
    editable = sorted(set(look.packages.editable) & {name for name in change.after if change.before.get(name) != change.after[name]})
    if editable:
        told = ", ".join(editable)
        yield Note(Words(f"installed in place from a source folder, which stays as it is: {told}", f"以源码目录方式安装（源码目录保持不变）：{told}"))
    unhashed = sorted(name for name, version in change.after.items() if version and not change.hashes.get(name))
    if unhashed:
        told = ", ".join(unhashed)
        yield Note(Words(f"the files to install were not told by their hash: {told}", f"未给出待安装文件的哈希：{told}"))


KIND = PipInstallKind()
