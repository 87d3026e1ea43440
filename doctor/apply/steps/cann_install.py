"""`cann`: CANN from local packages, judged before anything runs, beside what is there, and put to use through the environment."""

from __future__ import annotations

import os
import posixpath
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

from doctor.apply.cann_package import ORDER, Machine, Package, judge_packages, package_of
from doctor.apply.cannchange import CannChange, Piece, digest_of
from doctor.apply.change import Change
from doctor.apply.environments import Lacking
from doctor.apply.kind import Context
from doctor.apply.looking import blocked_step
from doctor.apply.plan import Disturbed, Effect, Needs, Note, StepPlan
from doctor.apply.plan_packages import row_of
from doctor.apply.runfile import Read, damage, read_head
from doctor.apply.steps import environment
from doctor.apply.users import lost_with_container, servers
from doctor.facts.cann import Cann
from doctor.facts.npu import Chip
from doctor.fix import InstallCann
from doctor.host import Kind, Unavailable
from doctor.text import clean_line
from doctor.ways import Installed
from doctor.words import Words

EXPANDS = 4
"""A package unpacks to at most so many times its size, and the installer needs room for both; used where its head does not tell."""
SUMS = ("SHA256SUMS", "sha256sum.txt", "sha256sums.txt")
_SUM = re.compile(r"^([0-9a-fA-F]{64})[ \t]+\*?(\S{1,300})[ \t]*$", re.MULTILINE)
KEEPS = Words("keeps using the old CANN until it is started again", "重启前继续使用旧的 CANN")


@dataclass(frozen=True)
class _File:
    path: str
    package: Package
    size: int
    sha256: str


class CannInstallKind:
    action: type[Any] = InstallCann
    changes: tuple[type[Change], ...] = (CannChange,)

    def plan(self, key: str, action: InstallCann, context: Context) -> StepPlan:
        title = Words("Install CANN from local packages, beside what is there", "用本地安装包并存安装 CANN")
        if not context.live:
            return blocked_step(key, action, title, Words("CANN can only be installed on this running machine", "只能在本机上安装 CANN"))
        paths = _paths(context)
        if not paths:
            return blocked_step(key, action, title, _nothing_given(context))
        files: list[_File] = []
        for path in paths:
            found = _file(context, path)
            if isinstance(found, Words):
                return blocked_step(key, action, title, found)
            files.append(found)
        machine = _machine(context)
        against = next(judge_packages([one.package for one in files], machine, action.parts), None)
        against = against or next((why for one in files if (why := _unsound(context, one)) is not None), None)
        if against is not None:
            return blocked_step(key, action, title, against)
        return _step(key, action, context, sorted(files, key=lambda one: ORDER.index(one.package.part)), machine)


def _step(key: str, action: InstallCann, context: Context, files: Sequence[_File], machine: Machine) -> StepPlan:
    version = files[0].package.version
    title = Words(f"Install CANN {version} beside what is there", f"并存安装 CANN {version}")
    folder = posixpath.join(_base(context), f"Ascend-{version}")
    kernel = next((one.package.kernel for one in files if one.package.kernel), "")
    cann = context.fact(Cann)
    home = cann.active.path if cann and cann.active and files[0].package.part != "toolkit" else ""
    change = CannChange(folder, version, tuple(Piece(one.package.part, one.path, one.sha256) for one in files), kernel, home)
    if not isinstance(context.host.stat(folder), Unavailable):
        mark = context.host.read(f"{folder}/.ascend-doctor", 64)
        if not isinstance(mark, str) or mark.strip() != "installed":
            return blocked_step(key, action, title, Words(f"{folder} is there already", f"{folder} 已存在"))
        installed: tuple[Change, ...] = ()
    else:
        installed = (change,)
        if why := _no_room(files, folder):
            return blocked_step(key, action, title, why)
    switched = environment.written(Lacking(source=(change.script,)), context)
    if isinstance(switched, Words):
        return blocked_step(key, action, title, switched)
    running = servers(context)
    notes = [Note(Words(f"{clean_line(one.path)}: SHA-256 {one.sha256}", f"{clean_line(one.path)}：SHA-256 {one.sha256}")) for one in files]
    notes += lost_with_container(context)
    if machine.row is None:
        notes.append(Note(Words("no vllm-ascend is installed, so nothing tells which CANN is wanted", "未安装 vllm-ascend，无法判断所需的 CANN 版本"), conflict=True))
    return StepPlan(
        key, action, title, (*installed, *switched), Needs(root=context.euid == 0, restart=tuple(one.name for one in running)),
        tuple(Disturbed(one.pid, one.name, KEEPS) for one in running), Effect.NEXT_START, tuple(notes),
        undo=Words(f"the environment goes back to the old CANN, which is never touched, and {folder} is removed", f"环境切回旧 CANN（从未改动），并删除 {folder}"),
    )  # fmt: skip


def _base(context: Context) -> str:
    """Where the new folder goes: beside the Ascend folder that is there, if we may write there, else /usr/local or the home."""
    cann = context.fact(Cann)
    for install in cann.installs if cann else ():
        beside, found, _ = install.path.partition("/Ascend/")
        if found and beside and os.access(beside, os.W_OK):
            return beside
    return "/usr/local" if context.euid == 0 else os.path.expanduser("~")


def _paths(context: Context) -> tuple[str, ...]:
    """The packages that were named; of a folder, those in it."""
    found: list[str] = []
    for path in dict.fromkeys(one for one in (*context.choices.packages, context.choices.package) if one):
        path = os.path.abspath(path)
        if os.path.isdir(path):
            found += sorted(entry.path for entry in os.scandir(path) if package_of(entry.name) is not None)
        else:
            found.append(path)
    return tuple(dict.fromkeys(found))


def _nothing_given(context: Context) -> Words:
    names = ", ".join(_wanted_files(context))
    en, zh = (f": {names}", f"：{names}") if names else ("", "")
    return Words(f"name the packages with --package FILE, or a folder that holds them{en}", f"请用 --package 指定安装包文件或其所在目录{zh}")


def _wanted_files(context: Context) -> tuple[str, ...]:
    """The names of the files that would fit."""
    from doctor import compat
    from doctor.stack import OPS_NAMED_SINCE
    from doctor.versions import Scheme, compare

    machine = _machine(context)
    if machine.row is None:
        return ()
    version, arch = machine.row.cann_for(machine.family), machine.arch or "<arch>"
    chip = compat.chips().get(machine.family)
    name = chip.cann_package if chip else "<chip>"
    old = compare(version, OPS_NAMED_SINCE, Scheme.CANN) == -1
    ops = ("Atlas-A3-cann-kernels" if name == "A3" else f"Ascend-cann-kernels-{name}") if old else f"Ascend-cann-{name}-ops"
    return tuple(f"{stem}_{version}_linux-{arch}.run" for stem in ("Ascend-cann-toolkit", ops, "Ascend-cann-nnal"))


def _machine(context: Context) -> Machine:
    installed = Installed.from_facts(context.facts)
    chip = context.fact(Chip)
    row = row_of(installed) if installed.vllm_ascend else None
    return Machine(installed.arch or "", installed.family or "", (chip.kernel or "") if chip else "", installed.hdk or "", installed.cann or "", row)


def _file(context: Context, path: str) -> _File | Words:
    shown, info = clean_line(path), context.host.stat(path)
    package = package_of(posixpath.basename(path))
    if package is None:
        return Words(f"{shown} is not named as a CANN package is", f"{shown} 的文件名不是 CANN 安装包的名称")
    if isinstance(info, Unavailable) or info.kind is not Kind.FILE:
        return Words(f"{shown} is no file that can be read", f"{shown} 不是可读的文件")
    for each in (info, context.host.stat(posixpath.dirname(path))):
        if isinstance(each, Unavailable) or each.mode is None:
            continue
        if each.uid not in (context.euid, 0) or each.mode & stat.S_IWOTH and not each.mode & stat.S_ISVTX:
            return Words(f"others could change {clean_line(each.path)}; put the package where only you may write", f"其他用户可改动 {clean_line(each.path)}；请把安装包放到只有自己可写的目录")
    sha256 = digest_of(path)
    if not sha256:
        return Words(f"{shown} cannot be read", f"无法读取 {shown}")
    return _File(path, package, info.size, sha256)


def _unsound(context: Context, one: _File) -> Words | None:
    """What speaks against the file itself: the sum that came with it, its own head."""
    shown = clean_line(one.path)
    told = list(_sums(context, one.path))
    if told and one.sha256 not in told:
        return Words(f"the SHA-256 of {shown} is not the one beside it: {one.sha256}", f"{shown} 的 SHA-256 与随附的校验值不符：{one.sha256}")

    try:
        # Not through the Host: a recording of the machine would keep gigabytes.
        with open(one.path, "rb") as file:
            read = _reader(file)
            head = read_head(read)
            wrong = damage(head, read, one.size) if head is not None else ""
    except OSError as problem:
        return Words(f"{shown} cannot be read: {problem.strerror}", f"无法读取 {shown}：{problem.strerror}")
    if head is None:
        return Words(f"{shown} is no self-extracting package", f"{shown} 不是自解压安装包")
    return Words(f"{shown} is damaged: {wrong}", f"{shown} 已损坏：{wrong}") if wrong else None


def _reader(file: IO[bytes]) -> Read:
    def read(offset: int, length: int) -> bytes:
        file.seek(offset)
        return file.read(length)

    return read


def _sums(context: Context, path: str) -> Iterator[str]:
    folder, name = posixpath.split(path)
    for place in (f"{path}.sha256", *(f"{folder}/{one}" for one in SUMS)):
        text = context.host.read(place, 64 * 1024)
        if isinstance(text, str):
            single = re.fullmatch(r"\s*([0-9a-fA-F]{64})\s*", text)
            yield from ((single[1].lower(),) if single else (digest.lower() for digest, named in _SUM.findall(text) if posixpath.basename(named) == name))


def _no_room(files: Sequence[_File], folder: str) -> Words | None:
    """Whether the disk holds what the packages unpack to."""
    needed = 0
    for one in files:
        with open(one.path, "rb") as file:
            head = read_head(_reader(file))
        needed += head.unpacked * 2 if head is not None and head.unpacked else one.size * EXPANDS
    parent = posixpath.dirname(folder)
    info = os.statvfs(parent)
    free = info.f_bavail * info.f_frsize
    if needed <= free:
        return None
    return Words(f"the installation needs about {needed >> 20} MiB below {parent}, {free >> 20} MiB are free", f"安装约需 {needed >> 20} MiB（{parent}），可用 {free >> 20} MiB")


KIND = CannInstallKind()
