"""Where CANN and NNAL lie on a disk: the folders of every layout, and what is installed in one. Reads only through `Host`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping

from doctor.facts.cann_files import FILE_LIMIT, kernel_folder, parse_install_info
from doctor.host import Host, Kind, Unavailable, Why

BASES = ("/usr/local/Ascend", "/root/Ascend", "/home/*/Ascend")
"""Folders into which the installers put CANN: for root by default the first, for others $HOME/Ascend."""

TOOLKITS = ("cann", "cann-*", "ascend-toolkit/*", "nnae/*", "latest")
LINKS = ("ascend-toolkit/latest", "cann", "nnae/latest", "latest")
"""The links (of a base) that name the toolkit in use, strongest first."""

HOME_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
LIBRARIES = ("libascendcl.so", "libhccl.so", "libopapi.so")
MOST_TOOLKITS = 64
_KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel"
_INSIDE = ("opp", "runtime", "compiler", "lib64", "*-linux")
_ENTRIES_TRIED = 16


def toolkit_of_environment(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Toolkit folders that variables name, the one that counts first."""
    named = [environment.get(name, "") for name in HOME_VARIABLES]
    opp = environment.get("ASCEND_OPP_PATH", "").rstrip("/")
    named.append(posixpath.dirname(opp) if posixpath.basename(opp) == "opp" else "")
    return tuple(dict.fromkeys(posixpath.normpath(path) for path in named if path.startswith("/")))


def bases(environment: Mapping[str, str]) -> tuple[str, ...]:
    home = environment.get("HOME", "")
    own = (posixpath.join(posixpath.normpath(home), "Ascend"),) if home.startswith("/") and not set("*?[") & set(home) else ()
    return tuple(dict.fromkeys((*BASES, *own)))


def folders(host: Host, patterns: Iterable[str]) -> list[str] | Unavailable:
    """What matches any of the patterns; Unavailable only if no pattern could be looked for and one was refused."""
    found: list[str] = []
    refused: Unavailable | None = None
    for pattern in patterns:
        paths = host.list(pattern)
        if isinstance(paths, Unavailable):
            refused = refused if paths.why is Why.MISSING else refused or paths
        else:
            found.extend(paths)
    return refused if refused is not None and not found else list(dict.fromkeys(found))


def real_folder(host: Host, path: str) -> str | None:
    """The version folder behind a path; None where it leads nowhere.

    Up to CANN 8.3 `latest` is a folder of links into the version folder, not a link itself: then a link in it tells.
    """
    real = host.resolve(path)
    if isinstance(real, Unavailable):
        return None
    if posixpath.basename(real).endswith("-linux"):
        real = posixpath.dirname(real)
    if posixpath.basename(real) != "latest":
        return real
    for name in _INSIDE:
        inside = host.list(posixpath.join(real, name)) if "*" in name else (posixpath.join(real, name),)
        for entry in () if isinstance(inside, Unavailable) else inside:
            behind = host.resolve(entry)
            if not isinstance(behind, Unavailable) and posixpath.dirname(behind) != real:
                return posixpath.dirname(behind)
    return real


def toolkits(host: Host, environment: Mapping[str, str]) -> dict[str, list[str]] | Unavailable:
    """Version folder -> the paths that lead to it (itself included), of everything that may be a toolkit."""
    found = folders(host, [posixpath.join(base, name) for base in bases(environment) for name in TOOLKITS])
    if isinstance(found, Unavailable):
        return found
    behind: dict[str, list[str]] = {}
    for path in [*found, *toolkit_of_environment(environment)][: 4 * MOST_TOOLKITS]:
        info = host.stat(path)
        if isinstance(info, Unavailable) or info.kind is not Kind.FOLDER:
            continue
        real = real_folder(host, path)
        if real is not None and (real in behind or len(behind) < MOST_TOOLKITS):
            behind.setdefault(real, [real])
            if path not in behind[real]:
                behind[real].append(path)
    return behind


def text_of(host: Host, path: str) -> str | None:
    text = host.read(path, FILE_LIMIT)
    return None if isinstance(text, Unavailable) else text


def first_text(host: Host, roots: Iterable[str], name: str) -> tuple[str, str] | None:
    """(path, text) of the first root's file; `name` may be a pattern."""
    for root in roots:
        path = posixpath.join(root, name)
        paths = host.list(path) if "*" in name else (path,)
        for candidate in () if isinstance(paths, Unavailable) else paths:
            text = text_of(host, candidate)
            if text is not None:
                return candidate, text
    return None


def ops_packages(host: Host, root: str) -> dict[str, str]:
    """Operator packages by their own records: name -> version ("Ascend-cann-950-ops", "ops_910b")."""
    found: dict[str, str] = {}
    for pattern in ("*-linux/ascend_ops_install.info", "*-linux/ascend_kernels_install.info", "share/info/*ops*/version.info"):
        paths = host.list(posixpath.join(root, pattern))
        for path in () if isinstance(paths, Unavailable) else paths:
            info = parse_install_info(text_of(host, path) or "")
            name = info.get("package_name") or posixpath.basename(posixpath.dirname(path))
            if name:
                found.setdefault(name, info.get("version") or info.get("version_dir") or info.get("Version", ""))
    return found


def kernels(host: Host, root: str, packages: Iterable[str]) -> tuple[str, ...] | None:
    """Chips whose operator binaries are installed. An empty folder does not count, even where a package claims it; None if not looked."""
    found = host.list(f"{root}/{_KERNELS}/*")
    if isinstance(found, Unavailable) and found.why is not Why.MISSING:
        return None
    paths = () if isinstance(found, Unavailable) else found
    if any(posixpath.basename(path) == "config" for path in paths):
        more = host.list(f"{root}/{_KERNELS}/config/*")
        paths = (*(path for path in paths if posixpath.basename(path) != "config"), *(() if isinstance(more, Unavailable) else more))
    holding: dict[str, bool] = {}
    for path in paths:
        name = posixpath.basename(path)
        if "." not in name:
            holding[name] = holding.get(name, False) or _holds_binaries(host, path, depth=3)
    for package in packages:
        chip = kernel_folder(package)
        if chip is not None:
            holding.setdefault(chip, True)
    return tuple(sorted(name for name, holds in holding.items() if holds))


def _holds_binaries(host: Host, folder: str, depth: int) -> bool:
    """Whether a .o or .json file lies below; a few entries of each level suffice, a full folder has tens of thousands."""
    entries = host.list(f"{folder}/*")
    if isinstance(entries, Unavailable):
        return False
    if any(entry.endswith((".o", ".json")) for entry in entries):
        return True
    return depth > 1 and any(_holds_binaries(host, entry, depth - 1) for entry in entries[:_ENTRIES_TRIED])


def libraries(host: Host, root: str, arch: str | None) -> dict[str, bool]:
    """Presence of the libraries; one that could not be looked for is left out."""
    places = [f"{root}/lib64", *([f"{root}/{arch}-linux/lib64"] if arch else [])]
    found: dict[str, bool] = {}
    for name in LIBRARIES:
        answers = [host.stat(f"{place}/{name}") for place in places]
        if any(not isinstance(answer, Unavailable) for answer in answers):
            found[name] = True
        elif all(isinstance(answer, Unavailable) and answer.why is Why.MISSING for answer in answers):
            found[name] = False
    return found


def gone(host: Host, path: str) -> bool:
    """Whether the path leads nowhere for sure (not merely refused or not recorded)."""
    found = host.resolve(path)
    return isinstance(found, Unavailable) and found.why is Why.MISSING
