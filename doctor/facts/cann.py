"""CANN: every toolkit on disk in every layout, its operator packages, NNAL/ATB, and which one the target uses."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from doctor.facts import Facts, Provider, cann_disk, known
from doctor.facts.cann_files import (
    compatible_versions,
    is_prerelease,
    parse_install_info,
    parse_nnal_version,
    parse_version_cfg,
    parse_version_info,
    version_in_name,
)
from doctor.facts.target import Target
from doctor.host import Host, Unavailable, Why
from doctor.record import dataclass


@dataclass(frozen=True)
class CannInstall:
    """One toolkit. `path` is its folder with links resolved."""

    path: str
    version: str
    """"8.5.1", "8.3.RC2": version of ascend_toolkit_install.info, else version.cfg, else version.info."""
    layout: str = "new"
    """"old": ascend-toolkit/<version>; "new": cann-<version> (8.5 and later); "nnae"."""
    arch: str | None = None
    inner_version: str | None = None
    compatible_versions: tuple[str, ...] | None = None
    """V100R001Cxx list; None where the file does not carry it (9.x)."""
    component_versions: Mapping[str, str] = field(default_factory=dict)
    """Component -> version from version.cfg's *_running_version or share/info/*/version.info."""
    kernels: tuple[str, ...] | None = None
    """Operator binary folders: ascend910b, ascend910_93, ascend310p, ascend950; () if none is installed, None if not looked."""
    kernels_version: str | None = None
    libraries: Mapping[str, bool] = field(default_factory=dict)
    """Presence of libascendcl.so, libhccl.so, libopapi.so in lib64."""
    prerelease: bool = False
    """alpha, beta, nightly or test build."""
    source: str = ""


@dataclass(frozen=True)
class Cann:
    """All toolkits on disk, and the one that counts. From a pasted text there is one install with only a version.

    `active` is the one that the target's environment points to, else what ascend-toolkit/latest or cann links to.
    `active_by`: "environment", "link", "only one", "text".
    """

    installs: tuple[CannInstall, ...]
    active: CannInstall | None
    active_by: str = ""
    source: str = ""
    line: int = 0

    @property
    def version(self) -> str | None:
        return self.active.version if self.active else None


@dataclass(frozen=True)
class Nnal:
    """NNAL/ATB (Ascend Transformer Boost). `abis` are the cxx_abi_N folders that hold a libatb.so."""

    path: str
    version: str | None
    abis: tuple[int, ...] = ()
    source: str = ""
    line: int = 0


@dataclass(frozen=True)
class NnalSearch:
    """That NNAL was looked for on disk: `found` is None if there is none."""

    found: Nnal | None
    looked_at: tuple[str, ...] = ()


@dataclass(frozen=True)
class CannLibraryPath:
    """What the target's environment says about CANN.

    Fields are None where the variable is not set; `missing` are folders named there that are not on disk.
    """

    home: str | None
    opp: str | None
    atb_home: str | None
    library_path: tuple[str, ...]
    python_path: tuple[str, ...]
    missing: tuple[str, ...] = ()
    stub: tuple[str, ...] = ()
    """LD_LIBRARY_PATH entries in a stub or devlib folder that come before the real library."""
    source: str = ""


@dataclass(frozen=True)
class CustomOps:
    """Custom operator packages: vendors below opp/vendors and ASCEND_CUSTOM_OPP_PATH."""

    vendors: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    source: str = ""


_POINTERS = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ATB_HOME_PATH")
"""Variables that must name a folder on disk."""

_PARTS = ("ASCEND_AICPU_PATH", "TOOLCHAIN_HOME")
"""Variables that set_env.sh sets to parts of the toolkit, whether or not these are installed."""


def _environment(facts: Facts) -> Mapping[str, str]:
    target = known(facts.get(Target))
    return target.environment if target is not None else {}


def _components(host: Host, roots: list[str]) -> dict[str, str]:
    cfg = cann_disk.first_text(host, roots, "version.cfg")
    found = parse_version_cfg(cfg[1]) if cfg else {}
    for component in ("opp", "opp_kernel"):
        text = cann_disk.first_text(host, roots, f"{component}/version.info")
        version = parse_version_info(text[1]).get("version_dir") if text else None
        if version:
            found.setdefault(component, version)
    shared = host.list(posixpath.join(roots[0], "share/info/*/version.info"))
    for path in () if isinstance(shared, Unavailable) else shared:
        info = parse_version_info(cann_disk.text_of(host, path) or "")
        version = info.get("version_dir") or info.get("Version")
        if version:
            found.setdefault(posixpath.basename(posixpath.dirname(path)), version)
    return found


def _layout(path: str) -> str:
    return "nnae" if "/nnae/" in path else "old" if "/ascend-toolkit/" in path else "new"


def read_install(host: Host, path: str, aliases: list[str]) -> CannInstall | None:
    """The toolkit in the folder `path` (links resolved); `aliases` are the paths that lead to it. None if it is no toolkit."""
    roots = [path, *(alias for alias in aliases if alias != path)]
    found = cann_disk.first_text(host, roots, "*-linux/ascend_toolkit_install.info") or cann_disk.first_text(
        host, roots, "*-linux/ascend_nnae_install.info"
    )
    source, info = (found[0], parse_install_info(found[1])) if found else (path, {})
    components = _components(host, roots)
    libraries = cann_disk.libraries(host, path, info.get("arch"))
    told = info.get("version") or next((components[name] for name in ("toolkit", "runtime", "opp", "hccl") if name in components), None)
    if told is None and (components or any(libraries.values())):
        told = version_in_name(posixpath.basename(path)) or next(iter(components.values()), None)
    if told is None:
        return None
    packages = cann_disk.ops_packages(host, path)
    return CannInstall(
        path=path,
        version=told,
        layout=_layout(path),
        arch=info.get("arch"),
        inner_version=info.get("innerversion"),
        compatible_versions=compatible_versions(info),
        component_versions=components,
        kernels=cann_disk.kernels(host, path, packages),
        kernels_version=components.get("opp_kernel") or next((version for version in packages.values() if version), None),
        libraries=libraries,
        prerelease=is_prerelease(told),
        source=source,
    )


def _active(host: Host, environment: Mapping[str, str], installs: tuple[CannInstall, ...]) -> tuple[CannInstall | None, str]:
    by_path = {install.path: install for install in installs}
    for named in cann_disk.toolkit_of_environment(environment):
        real = cann_disk.real_folder(host, named)
        if real in by_path:
            return by_path[real], "environment"
    for entry in _entries(environment.get("LD_LIBRARY_PATH")):
        real_entry = host.resolve(entry)
        for path, install in by_path.items():
            if not isinstance(real_entry, Unavailable) and real_entry.startswith(path + "/lib"):
                return install, "environment"
    for base in cann_disk.bases(environment):
        for link in cann_disk.LINKS if "*" not in base else ():
            real = cann_disk.real_folder(host, posixpath.join(base, link))
            if real in by_path:
                return by_path[real], "link"
    return (installs[0], "only one") if len(installs) == 1 else (None, "")


def _read_cann(host: Host, facts: Facts) -> Cann | Unavailable:
    environment = _environment(facts)
    found = cann_disk.toolkits(host, environment)
    if isinstance(found, Unavailable):
        return found
    read = (read_install(host, path, aliases) for path, aliases in found.items())
    installs = tuple(sorted((install for install in read if install is not None), key=lambda install: install.path))
    active, by = _active(host, environment, installs)
    return Cann(installs, active, by, source=active.source if active else cann_disk.BASES[0])


def _read_nnal(host: Host, facts: Facts) -> NnalSearch | Unavailable:
    environment = _environment(facts)
    patterns = [f"{base}/nnal/atb/{name}" for base in cann_disk.bases(environment) for name in ("latest", "*")]
    home = environment.get("ATB_HOME_PATH", "")
    if home.startswith("/") and posixpath.basename(home.rstrip("/")).startswith("cxx_abi_"):
        patterns.insert(0, posixpath.dirname(posixpath.dirname(home.rstrip("/"))))
    paths = cann_disk.folders(host, patterns)
    if isinstance(paths, Unavailable):
        return paths
    for path in paths[: cann_disk.MOST_TOOLKITS]:
        nnal = _nnal_in(host, path)
        if nnal is not None:
            return NnalSearch(nnal, tuple(patterns))
    return NnalSearch(None, tuple(patterns))


def _nnal_in(host: Host, path: str) -> Nnal | None:
    found = host.list(f"{path}/atb/cxx_abi_*/lib/libatb.so")
    libraries = () if isinstance(found, Unavailable) else found
    abis = {library.split("/cxx_abi_")[-1].split("/")[0] for library in libraries}
    text = cann_disk.text_of(host, f"{path}/version.info")
    if text is None and not abis:
        return None
    real = host.resolve(path)
    folder = path if isinstance(real, Unavailable) else real
    version = parse_nnal_version(text or "") or version_in_name(posixpath.basename(folder))
    return Nnal(folder, version, tuple(sorted(int(abi) for abi in abis if abi in ("0", "1"))), source=f"{path}/version.info")


def _found_nnal(host: Host, facts: Facts) -> Nnal | Unavailable:
    search = facts.get(NnalSearch)
    if isinstance(search, Unavailable):
        return search
    return search.found or Unavailable("NNAL", Why.MISSING, "no version.info or libatb.so in " + ", ".join(search.looked_at))


def _entries(value: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(posixpath.normpath(entry) for entry in (value or "").split(":") if entry.startswith("/")))


def _install_root(path: str) -> str | None:
    """The toolkit or NNAL folder that a path lies in, judged by its spelling; None for other paths (the driver's are not CANN's)."""
    parts = path.split("/")
    for position, part in enumerate(parts):
        if part in ("ascend-toolkit", "nnae") or (part == "atb" and parts[position - 1] == "nnal"):
            return "/".join(parts[: position + 2])
        if (part == "cann" or part.startswith("cann-")) and "Ascend" in parts[:position]:
            return "/".join(parts[: position + 1])
    return None


def _missing(host: Host, environment: Mapping[str, str], entries: tuple[str, ...]) -> Iterator[str]:
    """A part that the installed packages do not bring (lib64/plugin/…) is no sign of a stale environment: its toolkit's folder is."""
    for name in _POINTERS:
        path = environment.get(name, "")
        if path and cann_disk.gone(host, path):
            yield path
    for path in (*(environment.get(name, "") for name in _PARTS), *entries):
        root = _install_root(path)
        if root is not None and cann_disk.gone(host, root):
            yield path


def _stub(host: Host, entries: tuple[str, ...]) -> Iterator[str]:
    for entry in entries:
        if {"stub", "stubs", "devlib"} & set(entry.split("/")):
            if not cann_disk.gone(host, entry):
                yield entry
        elif not isinstance(host.stat(f"{entry}/libascendcl.so"), Unavailable):
            return


def _read_library_path(host: Host, facts: Facts) -> CannLibraryPath | Unavailable:
    target = facts.get(Target)
    if isinstance(target, Unavailable):
        return target
    environment = target.environment
    if not environment:
        return Unavailable("environment of the target", Why.DENIED, target.how)
    library_path, python_path = _entries(environment.get("LD_LIBRARY_PATH")), _entries(environment.get("PYTHONPATH"))
    return CannLibraryPath(
        home=environment.get("ASCEND_HOME_PATH") or environment.get("ASCEND_TOOLKIT_HOME"),
        opp=environment.get("ASCEND_OPP_PATH"),
        atb_home=environment.get("ATB_HOME_PATH"),
        library_path=library_path,
        python_path=python_path,
        missing=tuple(dict.fromkeys(_missing(host, environment, (*library_path, *python_path)))),
        stub=tuple(_stub(host, library_path)),
        source=f"environment of {target.how}",
    )


def _read_custom_ops(host: Host, facts: Facts) -> CustomOps | Unavailable:
    environment = _environment(facts)
    cann = known(facts.get(Cann))
    opp = environment.get("ASCEND_OPP_PATH") or (f"{cann.active.path}/opp" if cann and cann.active else "")
    named = _entries(environment.get("ASCEND_CUSTOM_OPP_PATH"))
    custom = [path for path in named if not cann_disk.gone(host, path)]
    if not opp and not named:
        return Unavailable("custom operators", Why.MISSING, "no CANN in use and no ASCEND_OPP_PATH")
    listed = host.list(f"{opp}/vendors/*") if opp else ()
    config = host.read(f"{opp}/vendors/config.ini", 4096) if opp else ""
    folders = [*custom, *(() if isinstance(listed, Unavailable) else listed)]
    packages = [path for path in folders if not path.endswith("/config.ini")]
    priority = [] if isinstance(config, Unavailable) else parse_install_info(config).get("load_priority", "").split(",")
    names = [posixpath.basename(path) for path in packages]
    first = [name for name in priority if name in names]
    denied = [(f"{opp}/vendors", listed), (f"{opp}/vendors/config.ini", config), *((path, host.list(f"{path}/*")) for path in packages)]
    return CustomOps(
        vendors=tuple(dict.fromkeys((*names[: len(custom)], *first, *names))),
        unreadable=tuple(path for path, answer in denied if isinstance(answer, Unavailable) and answer.why is Why.DENIED),
        source=f"{opp}/vendors" if opp else "ASCEND_CUSTOM_OPP_PATH",
    )


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(Cann, _read_cann, per_target=True),
    Provider(NnalSearch, _read_nnal, per_target=True),
    Provider(Nnal, _found_nnal, per_target=True),
    Provider(CannLibraryPath, _read_library_path, per_target=True),
    Provider(CustomOps, _read_custom_ops, per_target=True),
)
