"""Which operators the custom packages that CANN loads bring, in the order in which they win, and which of those are built in.

The lists are `<package>/op_impl/ai_core/tbe/config/<chip>/*ops-info.json`: one object, a key an operator's type.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from doctor.facts import Facts, Provider, known
from doctor.facts.cann import Cann, CustomOps
from doctor.facts.cann_files import parse_install_info
from doctor.facts.npu import Chip
from doctor.facts.target import Environment
from doctor.host import MIB, Host, Unavailable, Why
from doctor.record import dataclass

CONFIG = "op_impl/ai_core/tbe/config"
LIMIT = 16 * MIB
"""Bytes read of one list; that of CANN 8 for one chip has 4 MB."""
MOST_PACKAGES, MOST_LISTS = 32, 8


@dataclass(frozen=True)
class OpPackage:
    """One custom package that is loaded. `operators` are its types for this chip."""

    path: str
    operators: frozenset[str]

    @property
    def name(self) -> str:
        return posixpath.basename(self.path.rstrip("/"))


@dataclass(frozen=True)
class OpPackages:
    """Those whose operators are known, the one that wins first. `builtin`: what CANN itself brings; None where that is not known."""

    packages: tuple[OpPackage, ...] = ()
    builtin: frozenset[str] | None = None
    unread: tuple[str, ...] = field(default=())
    """Packages without a list that could be read."""
    source: str = ""


@dataclass(frozen=True)
class OpLoading:
    """Custom packages that CANN does not load: (path, why), why one of "missing", "root" (the folder above `vendors` was named) and "priority"."""

    lost: tuple[tuple[str, str], ...]
    source: str = ""


def operator_types(text: str) -> frozenset[str]:
    """The operators of one list; () for anything else. Never raises."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return frozenset()
    return frozenset(name for name in found if isinstance(name, str) and 0 < len(name) <= 120 and name.isidentifier()) if isinstance(found, dict) else frozenset()


def _read_packages(host: Host, facts: Facts) -> OpPackages | Unavailable:
    custom = facts.get(CustomOps)
    if isinstance(custom, Unavailable):
        return custom
    if not custom.vendors:
        return OpPackages(source=custom.source)
    cann, chip, environment = known(facts.get(Cann)), known(facts.get(Chip)), known(facts.get(Environment))
    opp = (environment.values.get("ASCEND_OPP_PATH") if environment else "") or (f"{cann.active.path}/opp" if cann and cann.active else "")
    kernel = (chip.kernel if chip else None) or "*"
    paths = _loaded(host, opp, environment.values.get("ASCEND_CUSTOM_OPP_PATH", "") if environment else "")
    lists = {path: _operators(host, path, kernel) for path in paths[:MOST_PACKAGES]}
    packages = tuple(OpPackage(path, found) for path, found in lists.items() if found)
    builtin = _operators(host, f"{opp}/built-in", kernel) if packages and opp else None
    if paths and not packages:
        return Unavailable("lists of custom operators", Why.MISSING, f"no ops-info.json below {', '.join(paths[:4])}")
    return OpPackages(packages, builtin, tuple(path for path, found in lists.items() if not found), custom.source)


def _loaded(host: Host, opp: str, named: str) -> list[str]:
    """The folders that CANN loads, the first that wins first: those of the variable, then those of load_priority in config.ini."""
    paths = [path.rstrip("/") for path in named.split(":") if path.startswith("/")]
    config = host.read(f"{opp}/vendors/config.ini", 4096) if opp else ""
    if isinstance(config, str):
        names = (name.strip() for name in parse_install_info(config).get("load_priority", "").split(","))
        paths += [f"{opp}/vendors/{name}" for name in names if name and "/" not in name and name not in (".", "..")]
    return list(dict.fromkeys(paths))


def _operators(host: Host, package: str, kernel: str) -> frozenset[str] | None:
    """None where there is no list to be read."""
    listed = host.list(f"{package}/{CONFIG}/{kernel}/*ops-info.json")
    if isinstance(listed, Unavailable) or not listed:
        return None
    texts: Sequence[str | Unavailable] = [host.read(path, LIMIT) for path in listed[:MOST_LISTS]]
    found = frozenset[str]().union(*(operator_types(text) for text in texts if isinstance(text, str)))
    return found or None


def _read_loading(host: Host, facts: Facts) -> OpLoading | Unavailable:
    cann, environment = known(facts.get(Cann)), known(facts.get(Environment))
    values = environment.values if environment else {}
    opp = values.get("ASCEND_OPP_PATH") or (f"{cann.active.path}/opp" if cann and cann.active else "")
    named = [path.rstrip("/") for path in values.get("ASCEND_CUSTOM_OPP_PATH", "").split(":") if path.startswith("/")]
    if not opp and not named:
        return Unavailable("custom operators", Why.MISSING, "no CANN in use and no ASCEND_OPP_PATH")
    lost = [(path, why) for path in named if (why := _fault(host, path))]
    listed, config = host.list(f"{opp}/vendors/*/op_*") if opp else (), host.read(f"{opp}/vendors/config.ini", 4096) if opp else ""
    names = {posixpath.basename(posixpath.dirname(path)) for path in ([] if isinstance(listed, Unavailable) else listed)}
    if isinstance(config, str) and config:
        loaded = {name.strip() for name in parse_install_info(config).get("load_priority", "").split(",")}
        lost += [(path, "priority") for name in sorted(names - loaded) if (path := f"{opp}/vendors/{name}") not in named]
    return OpLoading(tuple(lost[:MOST_PACKAGES]), f"{opp}/vendors/config.ini" if opp else "ASCEND_CUSTOM_OPP_PATH")


def _fault(host: Host, path: str) -> str:
    if isinstance(info := host.stat(path), Unavailable):
        return "missing" if info.why is Why.MISSING else ""
    inside = host.list(f"{path}/op_*")
    return "root" if inside == () and not isinstance(host.stat(f"{path}/vendors"), Unavailable) else ""


PROVIDERS: tuple[Provider[Any], ...] = (Provider(OpPackages, _read_packages, per_target=True), Provider(OpLoading, _read_loading, per_target=True))

__all__ = ["OpLoading", "OpPackage", "OpPackages", "PROVIDERS", "operator_types"]
