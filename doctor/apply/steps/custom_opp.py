"""`operators`: a package of custom operators, checked as data, put into a folder of its own, loaded once in the target, and named in its environment."""

from __future__ import annotations

import os
import posixpath
from typing import Any

from doctor.apply.change import Change
from doctor.apply.elf import read_elf
from doctor.apply.environments import Lacking
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step
from doctor.apply.opp_package import CONFIG, OpPackage, Surroundings, cautions, inspect, operators_of, refusals
from doctor.apply.oppchange import MARK, OppChange, joint_digest, read_package
from doctor.apply.plan import Effect, Needs, Note, StepPlan
from doctor.apply.steps import environment
from doctor.apply.users import elsewhere, lost_with_container, servers
from doctor.facts.cann import Cann
from doctor.facts.machine import Machine, OperatingSystem
from doctor.facts.npu import Chip
from doctor.facts.target import Environment, Target
from doctor.fix import InstallOperators
from doctor.host import MIB, Host, Unavailable
from doctor.text import clean_line
from doctor.words import Words

LIBRARY_LIMIT = 256 * MIB
MOST_TRIED = 32
DRIVER_LIBRARIES = ("/usr/local/Ascend/driver/lib64", "/usr/local/Ascend/driver/lib64/driver", "/usr/local/Ascend/driver/lib64/common")


class CustomOppKind:
    action: type[Any] = InstallOperators
    changes: tuple[type[Change], ...] = (OppChange,)

    def plan(self, key: str, action: InstallOperators, context: Context) -> StepPlan:
        title = Words("Install a package of custom operators", "安装自定义算子包")
        if not context.live:
            return blocked_step(key, action, title, Words("operators can only be installed on this running machine", "只能在本机上安装算子包"))
        given = context.choices.package or next(iter(context.choices.packages), "")
        if not given:
            why = Words("name the package with --package: custom_opp_<os>_<arch>.run, or the folder that was built", "请用 --package 指定算子包：custom_opp_<os>_<arch>.run 或构建出的目录")
            return blocked_step(key, action, title, why)
        source = os.path.abspath(given)
        found = read_package(source)
        if found is None:
            shown = clean_line(source)
            return blocked_step(key, action, title, Words(f"{shown} holds no vendors/<name> with operators", f"{shown} 中没有含算子的 vendors/<name> 目录"))
        vendor, files = found
        package = inspect(vendor, files)
        around = surroundings(context, package)
        against = next(refusals(package, around), None)
        if against is not None:
            return blocked_step(key, action, title, against)
        change = _change(action, context, source, joint_digest(files), package)
        return _step(key, action, context, change, tuple(Note(text, conflict=True) for text in cautions(package, around)))


def _change(action: InstallOperators, context: Context, source: str, digest: str, package: OpPackage) -> OppChange:
    base = action.folder or ("/opt/ascend-doctor/operators" if context.euid == 0 else os.path.expanduser("~/.local/share/ascend-doctor/operators"))
    target, cann = context.fact(Target), context.fact(Cann)
    home = cann.active.path if cann and cann.active else ""
    python = target.python if target is not None and elsewhere(context, target) is None and _may_run(context, target.python) else ""
    search = tuple(path for path in (f"{home}/lib64" if home else "", *DRIVER_LIBRARIES) if path and not isinstance(context.host.stat(path), Unavailable))
    libraries = package.apis
    return OppChange(source, digest, f"{base}/{package.vendor}-{digest[:12]}", package.vendor, python, tuple(sorted(package.operators))[:MOST_TRIED], libraries, search)


def _may_run(context: Context, python: str) -> bool:
    """Whether the interpreter is our own user's or root's: running it runs its owner's code."""
    real = context.host.resolve(python)
    info = context.host.stat(real) if isinstance(real, str) else real
    folder = context.host.stat(posixpath.dirname(python))
    return python.startswith("/") and all(not isinstance(one, Unavailable) and one.uid in (None, 0, context.euid) for one in (info, folder))


def _step(key: str, action: InstallOperators, context: Context, change: OppChange, notes: tuple[Note, ...]) -> StepPlan:
    title = Words(f"Install the custom operators {change.vendor}", f"安装自定义算子包 {change.vendor}")
    installed: tuple[Change, ...] = (change,)
    if not isinstance(context.host.stat(change.folder), Unavailable):
        mark = context.host.read(f"{change.folder}/{MARK}", 128)
        if not isinstance(mark, str) or mark.strip() != change.sha256:
            return blocked_step(key, action, title, Words(f"{change.folder} is there already", f"{change.folder} 已存在"))
        installed = ()
    variables = context.fact(Environment)
    named = (variables.values.get("ASCEND_CUSTOM_OPP_PATH", "") if variables else "").split(":")
    prepend = {"ASCEND_CUSTOM_OPP_PATH": change.home, **({"LD_LIBRARY_PATH": f"{change.home}/op_api/lib"} if change.libraries else {})}
    switched = () if change.home in named else environment.written(Lacking(prepend=prepend), context)
    if isinstance(switched, Words):
        return blocked_step(key, action, title, switched)
    if not change.python:
        notes += (Note(Words("loading is not tried: the target's interpreter belongs to another user or container", "未试加载：目标解释器属于其他用户或容器")),)
    notes += lost_with_container(context)
    running = tuple(one.name for one in servers(context))
    return StepPlan(key, action, title, (*installed, *switched), Needs(root=context.euid == 0, restart=running), (), Effect.NEXT_START, notes)


def surroundings(context: Context, package: OpPackage) -> Surroundings:
    """What the package meets on this machine."""
    machine, system = context.fact(Machine), context.fact(OperatingSystem)
    chip, cann = context.fact(Chip), context.fact(Cann)
    home = cann.active.path if cann and cann.active else ""
    kernel = (chip.kernel or "") if chip else ""
    needed = {name for library in package.libraries.values() if library is not None for name in library.needed}
    exports = {name: given for name in sorted(needed) if home and (given := _exports(context.host, home, name)) is not None}
    builtin = _operators(context.host, f"{home}/opp/built-in", kernel) if home else frozenset()
    others: dict[str, frozenset[str]] = {}
    variables = context.fact(Environment)
    named = (variables.values.get("ASCEND_CUSTOM_OPP_PATH", "") if variables else "").split(":")
    listed = context.host.list(f"{home}/opp/vendors/*") if home else ()
    for path in (*(one for one in named if one.startswith("/")), *(() if isinstance(listed, Unavailable) else listed)):
        if operators := _operators(context.host, path, kernel):
            others[posixpath.basename(path.rstrip("/"))] = operators
    return Surroundings(machine.arch or "" if machine else "", kernel, system.glibc or "" if system else "", exports, builtin, others)


def _exports(host: Host, home: str, name: str) -> frozenset[str] | None:
    for folder in (f"{home}/lib64", f"{home}/devlib"):
        data = host.read_raw(f"{folder}/{name}", LIBRARY_LIMIT) if "/" not in name else b""
        library = read_elf(data) if isinstance(data, bytes) else None
        if library is not None:
            return library.given
    return None


def _operators(host: Host, vendor: str, kernel: str) -> frozenset[str]:
    found: set[str] = set()
    listed = host.list(f"{vendor}/{CONFIG}/{kernel or '*'}/*ops-info.json")
    for path in (() if isinstance(listed, Unavailable) else listed)[:16]:
        data = host.read_raw(path, 32 * MIB)
        found |= operators_of(data) if isinstance(data, bytes) else frozenset()
    return frozenset(found)


KIND = CustomOppKind()
