"""What lies beside the packages of a target and decides what vLLM can do: its registry of models, platform plugins, folders that shadow packages, FFmpeg."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from doctor.facts import Facts, Provider, known
from doctor.facts.target import Environment, Packages, Sites, Target, module_folder
from doctor.host import KIB, Host, Kind, Unavailable, Why
from doctor.record import dataclass
from doctor.regex import regex


@dataclass(frozen=True)
class Registry:
    """Architectures that the installed vLLM, and plugins in the target, know by name; `removed` are those that vLLM once knew, with their last release."""

    known: frozenset[str]
    removed: tuple[tuple[str, str], ...] = ()
    source: str = ""


@dataclass(frozen=True)
class PlatformPlugins:
    """(distribution, name) of everything that registers as a platform of vLLM."""

    found: tuple[tuple[str, str], ...]
    source: str = ""


@dataclass(frozen=True)
class Shadows:
    """Folders and files of the working folder, or of PYTHONPATH, that have the name of an installed package: (name, path)."""

    found: tuple[tuple[str, str], ...]
    in_path: bool = False
    """Whether one of them is in PYTHONPATH, which counts for every program; the working folder counts for `python -m` and `python -c` only."""
    source: str = ""


@dataclass(frozen=True)
class Codecs:
    """Whether FFmpeg's libavcodec is there, which torchcodec loads."""

    libavcodec: bool
    source: str = "/usr/lib"


REGISTRY_LIMIT = 512 * KIB
MOST_PLUGINS = 40
_ENTRY = regex(r"^[ \t]{0,16}[\"'](\w{3,100})[\"']\s{0,4}:\s{0,12}\(\s{0,20}[\"']", re.MULTILINE)
_REGISTERED = regex(r"register_model\(\s{0,20}[\"'](\w{3,100})[\"']")
_REMOVED = regex(r"_PREVIOUSLY_SUPPORTED_MODELS\s{0,4}(?::[^=\n]{0,80})?=\s{0,4}\{([^}]{0,8000})\}")
_PAIR = regex(r"[\"'](\w{3,100})[\"']\s{0,4}:\s{0,4}[\"']v?([\d.]{1,20})[\"']")
_PLATFORMS = regex(r"^\[vllm\.platform_plugins\]\s*\n((?:[^\[\n][^\n]{0,300}\n?|\n){1,20})", re.MULTILINE)
_NAMES = ("vllm", "vllm_ascend", "torch", "torch_npu", "transformers", "numpy", "ray", "triton")
_LIBRARIES = ("/usr/lib/*/libavcodec.so*", "/usr/lib64/libavcodec.so*", "/usr/lib/libavcodec.so*", "/usr/local/lib/libavcodec.so*", "/usr/local/lib64/libavcodec.so*")


def parse_registry(text: str) -> tuple[frozenset[str], tuple[tuple[str, str], ...]]:
    """(architectures, removed ones with their last release) of vllm/model_executor/models/registry.py."""
    removed = _REMOVED.search(text)
    gone = tuple(_PAIR.findall(removed[1])) if removed else ()
    return frozenset(_ENTRY.findall(text)), gone


def _read_registry(host: Host, facts: Facts) -> Registry | Unavailable:
    folder, plugin = module_folder(facts, "vllm"), module_folder(facts, "vllm_ascend")
    if folder is None:
        return Unavailable("vllm", Why.MISSING, "not installed in the target")
    path = f"{folder}/model_executor/models/registry.py"
    text = host.read(path, REGISTRY_LIMIT)
    if isinstance(text, Unavailable):
        return text
    architectures, gone = parse_registry(text)
    if not architectures:
        return Unavailable(path, Why.MISSING, "no table of models in it")
    extra = host.read(f"{plugin}/models/__init__.py", REGISTRY_LIMIT) if plugin else ""
    return Registry(architectures | frozenset(_REGISTERED.findall(extra if isinstance(extra, str) else "")), gone, path)


def _read_plugins(host: Host, facts: Facts) -> PlatformPlugins | Unavailable:
    sites = facts.get(Sites)
    if isinstance(sites, Unavailable):
        return sites
    found: list[tuple[str, str]] = []
    infos = [one for site in sites.found for one in site.distributions if "vllm" in one.name.lower() and one.path.endswith((".dist-info", ".egg-info"))]
    for distribution in infos[:MOST_PLUGINS]:
        text = host.read(f"{distribution.path}/entry_points.txt", 64 * KIB)
        section = _PLATFORMS.search(text) if isinstance(text, str) else None
        names = [line.partition("=")[0].strip() for line in section[1].splitlines() if "=" in line] if section else []
        found += [(distribution.name, name) for name in names]
    return PlatformPlugins(tuple(dict.fromkeys(found)), sites.found[0].path if sites.found else "")


def _read_shadows(host: Host, facts: Facts) -> Shadows | Unavailable:
    target, environment, packages = facts.get(Target), facts.get(Environment), known(facts.get(Packages))
    if isinstance(target, Unavailable):
        return target
    if isinstance(environment, Unavailable):
        return environment
    named = [path for path in environment.values.get("PYTHONPATH", "").split(":") if path.startswith("/")]
    work = environment.values.get("PWD", "") if target.pid or not host.live else ""
    editable = {name.replace("-", "_") for name in (packages.editable if packages else ())}
    sites = set(target.site_packages) - set(named)
    found = [pair for folder in (*named, work) if folder.startswith("/") and folder not in sites for pair in _shadows(host, folder, editable)]
    return Shadows(tuple(found), any(path.startswith(f"{folder}/") for folder in named for _, path in found), environment.source)


def _shadows(host: Host, folder: str, editable: set[str]) -> list[tuple[str, str]]:
    found = []
    for name in _NAMES:
        for path in (f"{folder.rstrip('/')}/{name}.py", f"{folder.rstrip('/')}/{name}"):
            info = host.stat(path)
            if name in editable or isinstance(info, Unavailable) or info.kind is not (Kind.FILE if path.endswith(".py") else Kind.FOLDER):
                continue
            if path.endswith(".py") or _is_package(host, path):
                found.append((name, path))
    return found


def _is_package(host: Host, path: str) -> bool:
    """A package that is not installed here, or a checkout, which Python takes for a package without code; not any folder with logs."""
    name = posixpath.basename(path)
    installed = host.list(f"{posixpath.dirname(path)}/{name}-*.dist-info")
    if not isinstance(installed, Unavailable) and installed:
        return False
    return any(isinstance(host.stat(f"{path}/{inner}"), Unavailable) is False for inner in ("__init__.py", f"{name}/__init__.py", "setup.py", "pyproject.toml"))


def _read_codecs(host: Host, facts: Facts) -> Codecs | Unavailable:
    target = facts.get(Target)
    folders = [f"{posixpath.dirname(posixpath.dirname(target.python))}/lib/libavcodec.so*"] if isinstance(target, Target) else []
    for pattern in (*_LIBRARIES, *folders):
        found = host.list(pattern)
        if isinstance(found, Unavailable):
            if found.why is Why.NOT_RECORDED:
                return found
            continue
        if found:
            return Codecs(True, found[0])
    return Codecs(False)


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(Registry, _read_registry, per_target=True),
    Provider(PlatformPlugins, _read_plugins, per_target=True),
    Provider(Shadows, _read_shadows, per_target=True),
    Provider(Codecs, _read_codecs, per_target=True),
)

__all__ = ["Codecs", "PROVIDERS", "PlatformPlugins", "Registry", "Shadows", "parse_registry"]
