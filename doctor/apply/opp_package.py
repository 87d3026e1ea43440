"""Packages of custom operators: what is in a `custom_opp_*.run` or in a built folder, and whether it fits this chip, this CANN and what is there. Pure."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from doctor.apply.elf import Elf, read_elf
from doctor.versions import Scheme, compare
from doctor.words import Words

KERNELS = "op_impl/ai_core/tbe/kernel"
CONFIG = "op_impl/ai_core/tbe/config"
API = "op_api/lib"
PARTS = ("op_api", "op_impl", "op_proto", "framework")
CANN_NAMES = re.compile(r"_ZNK?(?:2ge|4gert|8optiling|9optiling|2op|6ops|4acl)")
"""Mangled names of CANN's own interfaces that operator packages call; what else a library needs is the C++ library's."""
MOST_NAMED = 4
_VENDOR = re.compile(r"(?:.*/)?vendors/(?P<vendor>[A-Za-z0-9_][\w.-]{0,80})/(?P<path>.+)")
_NAME = re.compile(r"[A-Za-z_]\w{0,120}", re.ASCII)


@dataclass(frozen=True)
class OpPackage:
    """`chips` are kernel folders (ascend910b); `operators` the types that it brings; `libraries` by path within the vendor's folder."""

    vendor: str
    chips: frozenset[str] = frozenset()
    operators: frozenset[str] = frozenset()
    libraries: Mapping[str, Elf | None] = field(default_factory=dict)

    @property
    def apis(self) -> tuple[str, ...]:
        """Libraries that a program loads to call the operators."""
        return tuple(path for path in sorted(self.libraries) if path.startswith(f"{API}/"))


def within(paths: Sequence[str]) -> tuple[str, dict[str, str]] | None:
    """(vendor, path within its folder -> path as given); None where there is no vendor's folder, or more than one."""
    found: dict[str, dict[str, str]] = {}
    for path in paths:
        match = _VENDOR.fullmatch(path)
        if match and match["path"].partition("/")[0] in (*PARTS, "bin", "version.info"):
            found.setdefault(match["vendor"], {})[posixpath.normpath(match["path"])] = path
    usable = {vendor: files for vendor, files in found.items() if any(path.startswith(tuple(f"{part}/" for part in PARTS)) for path in files)}
    return next(iter(usable.items())) if len(usable) == 1 else None


def inspect(vendor: str, files: Mapping[str, Callable[[], bytes]]) -> OpPackage:
    """What the files (by path within the vendor's folder) bring."""
    chips = {path[len(KERNELS) + 1 :].split("/")[0] for path in files if path.startswith(f"{KERNELS}/") and path.endswith((".o", ".json"))}
    chips -= {"config"}
    operators: set[str] = set()
    for path, load in files.items():
        if path.startswith(f"{CONFIG}/") and path.endswith("ops-info.json"):
            operators |= operators_of(load())
            chips.add(path[len(CONFIG) + 1 :].split("/")[0])
    libraries = {path: read_elf(load()) for path, load in files.items() if re.search(r"\.so(?:\.\d+)*$", path)}
    return OpPackage(vendor, frozenset(chips), frozenset(operators), libraries)


def operators_of(data: bytes) -> frozenset[str]:
    """Types in an aic-<chip>-ops-info.json."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(name for name in found if isinstance(name, str) and _NAME.fullmatch(name)) if isinstance(found, dict) else frozenset()


@dataclass(frozen=True)
class Surroundings:
    """What the package meets. `exports` are the symbols of each CANN library that was found; "" and None: not known."""

    arch: str = ""
    kernel: str = ""
    glibc: str = ""
    exports: Mapping[str, frozenset[str]] = field(default_factory=dict)
    builtin: frozenset[str] = frozenset()
    others: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Operators of vendors that are installed already."""


def refusals(package: OpPackage, around: Surroundings) -> Iterator[Words]:
    """Why the package cannot work here."""
    if not package.operators and not package.libraries:
        yield Words("there is no operator in it", "其中没有任何算子")
    if around.kernel and package.chips and around.kernel not in package.chips:
        told = ", ".join(sorted(package.chips))
        yield Words(f"it was built for {told}, this chip needs {around.kernel}", f"该包为 {told} 构建，本机芯片需要 {around.kernel}")
    for path, library in sorted(package.libraries.items()):
        yield from _library(path, library, package, around)


def _library(path: str, library: Elf | None, package: OpPackage, around: Surroundings) -> Iterator[Words]:
    # Packages carry their libraries for both processors in folders of that name.
    if library is None:
        yield Words(f"{path} is no library that can be read", f"{path} 不是可读的动态库")
        return
    other = {"aarch64": "x86_64", "x86_64": "aarch64"}.get(around.arch, "")
    if other and f"/{other}/" in f"/{path}":
        return
    if around.arch and library.machine != around.arch:
        yield Words(f"{path} is for {library.machine}, this machine is {around.arch}", f"{path} 适用于 {library.machine}，本机为 {around.arch}")
        return
    if around.glibc and library.glibc and compare(around.glibc, library.glibc, Scheme.PACKAGE) == -1:
        yield Words(f"{path} needs glibc {library.glibc}, this system has {around.glibc}", f"{path} 需要 glibc {library.glibc}，本机为 {around.glibc}")
    missing = sorted(_missing(library, package, around))
    if missing:
        told = ", ".join(missing[:MOST_NAMED]) + (" …" if len(missing) > MOST_NAMED else "")
        yield Words(
            f"{path} calls what this CANN does not have ({told}): it was built for another CANN or another C++ ABI",
            f"{path} 调用了当前 CANN 没有的接口（{told}）：它是为其他 CANN 版本或其他 C++ ABI 构建的",
        )


def _missing(library: Elf, package: OpPackage, around: Surroundings) -> set[str]:
    """CANN's names that nobody gives; () where not every CANN library that it needs was seen."""
    named = {name for name in library.wanted if CANN_NAMES.match(name)}
    if not named or not around.exports:
        return set()
    given = {name for one in package.libraries.values() if one is not None for name in one.given}
    for exports in around.exports.values():
        given |= exports
    own = {posixpath.basename(path) for path in package.libraries}
    system = re.compile(r"lib(?:c|m|dl|pthread|rt|gcc_s|stdc\+\+|util)\.so|ld-linux")
    if any(name not in around.exports and name not in own and not system.match(name) for name in library.needed):
        return set()
    return named - given


def cautions(package: OpPackage, around: Surroundings) -> Iterator[Words]:
    """What is to be known before it is put to use."""
    shadowed = sorted(package.operators & around.builtin)
    if shadowed:
        told = ", ".join(shadowed[:MOST_NAMED])
        yield Words(f"takes the place of CANN's own operators: {told}", f"会覆盖 CANN 自带的算子：{told}")
    for vendor, operators in sorted(around.others.items()):
        both = sorted(package.operators & operators)
        if both:
            told = ", ".join(both[:MOST_NAMED])
            yield Words(f"the package {vendor} has operators of the same names: {told}; the new one comes first", f"已有的算子包 {vendor} 含同名算子：{told}；新包优先")


__all__ = ["KERNELS", "OpPackage", "Surroundings", "cautions", "inspect", "operators_of", "refusals", "within"]
