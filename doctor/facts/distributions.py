"""Python packages of an interpreter, read from its site-packages folders without running it. Reads only through `Host`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import field

from doctor.host import Host, Unavailable
from doctor.record import dataclass
from doctor.regex import regex

HEADER_LIMIT = 8 * 1024
"""Bytes of a METADATA file that are read: Name and Version stand in its first lines."""

MOST_DISTRIBUTIONS = 2000

MODULES = frozenset((
    "absl", "attr", "cffi", "cv2", "decorator", "flash_attn", "flash_attn_npu", "google/protobuf", "mindie_turbo", "modelscope",
    "mooncake", "msmodelslim", "numba", "numpy", "outlines", "pandas", "packaging", "pathlib2", "psutil", "ray", "requests", "scipy",
    "setuptools", "sklearn", "sympy", "te", "tbe", "tokenizers", "torch", "torch_npu", "torchair", "torchaudio", "torchcodec",
    "torchvision", "transformers", "triton", "typing_extensions", "vllm", "vllm_ascend", "wheel", "xgrammar", "yaml",
))  # fmt: skip
"""Importable top-level names that doctor asks for: what CANN's operator compiler needs, and what vLLM on an NPU is made of."""

_DIST_INFO = regex(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._]*)-(?P<version>[^-]+)\.dist-info")
_EGG_INFO = regex(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._]*)-(?P<version>[^-]+?)(?:-py[\d.]+)?(?:-[\w.-]+)?\.egg-info")
_HEADER = regex(r"^(Name|Version)[ \t]*:[ \t]*(\S+)", re.MULTILINE | re.IGNORECASE)
_MANYLINUX = regex(r"^Tag:[ \t]{0,4}\S{1,60}-manylinux_2_(\d{1,3})_", re.MULTILINE)
_PIP_LINE = regex(r"([A-Za-z0-9][\w.-]*)(?:[ \t]+|==)(\d[\w.+!-]*)(?:[ \t].*)?")


@dataclass(frozen=True)
class Distribution:
    """One installed distribution. `version` is None where no metadata tells; `location` is the source folder of an editable one."""

    name: str
    version: str | None
    path: str
    location: str | None = None


@dataclass(frozen=True)
class Site:
    """What one site-packages folder holds."""

    path: str
    distributions: tuple[Distribution, ...] = ()
    leftovers: tuple[str, ...] = ()
    modules: Mapping[str, str] = field(default_factory=dict)
    """Top-level name -> folder or file."""


def normalised(name: str) -> str:
    """Name as PEP 503 compares it: `torch_npu` -> torch-npu."""
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_metadata(text: str) -> tuple[str | None, str | None]:
    """(Name, Version) of a METADATA or PKG-INFO text."""
    header = re.split(r"\r?\n\r?\n", text[:HEADER_LIMIT], maxsplit=1)[0]
    found: dict[str, str] = {}
    for key, value in _HEADER.findall(header):
        found.setdefault(key.lower(), value)
    return found.get("name"), found.get("version")


def parse_pip_list(text: str) -> dict[str, str]:
    """Normalised name -> version of `pip list` (any format but JSON) and `pip freeze`."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _PIP_LINE.fullmatch(line[:1024].strip())
        if match:
            found.setdefault(normalised(match.group(1)), match.group(2))
    return found


def read_site(host: Host, path: str) -> Site | None:
    """What is installed in the folder; None if it cannot be listed or is empty."""
    listed = host.list(f"{path}/*")
    if isinstance(listed, Unavailable) or not listed:
        return None
    names = [posixpath.basename(entry) for entry in listed]
    found = tuple(_distributions(host, path, names))
    return Site(path, found, tuple(name for name in names if name.startswith("~")), _modules(host, path, names, found))


def _distributions(host: Host, site: str, names: list[str]) -> Iterator[Distribution]:
    with_metadata = _folders_with(host, site, "METADATA")
    with_url = _folders_with(host, site, "direct_url.json") or frozenset()
    infos = [name for name in names if name.endswith((".dist-info", ".egg-info", ".egg-link")) and not name.startswith("~")]
    for name in infos[:MOST_DISTRIBUTIONS]:
        path = f"{site}/{name}"
        if name.endswith(".dist-info"):
            location = _editable_location(host, path) if name in with_url else None
            yield _dist_info(host, path, name, with_metadata is None or name in with_metadata, location)
        elif name.endswith(".egg-info"):
            yield _egg_info(host, path, name)
        else:
            yield _egg_link(host, path, name)


def _folders_with(host: Host, site: str, file: str) -> frozenset[str] | None:
    """Names of the dist-info folders that hold the file; None where that cannot be told."""
    listed = host.list(f"{site}/*.dist-info/{file}")
    return None if isinstance(listed, Unavailable) else frozenset(posixpath.basename(posixpath.dirname(path)) for path in listed)


def _dist_info(host: Host, path: str, folder: str, has_metadata: bool, location: str | None) -> Distribution:
    """The folder's name tells both name and version, so that hundreds of files need not be read."""
    match = _DIST_INFO.fullmatch(folder)
    name, version = (match["name"], match["version"]) if match else (folder[: -len(".dist-info")], None)
    if not has_metadata:
        return Distribution(name, None, path, location)
    if version is None:
        name_told, version = parse_metadata(_text(host, f"{path}/METADATA"))
        name = name_told or name
    return Distribution(name, version, path, location)


def _egg_info(host: Host, path: str, entry: str) -> Distribution:
    match = _EGG_INFO.fullmatch(entry)
    if match:
        return Distribution(match["name"], match["version"], path)
    name, version = parse_metadata(_text(host, f"{path}/PKG-INFO") or _text(host, path))
    return Distribution(name or entry[: -len(".egg-info")], version, path)


def _egg_link(host: Host, path: str, entry: str) -> Distribution:
    """`setup.py develop`: the file's first line is the source folder, which holds the egg-info."""
    location = _text(host, path).partition("\n")[0].strip()
    name, version = entry[: -len(".egg-link")], None
    if location.startswith("/"):
        infos = host.list(f"{location}/*.egg-info/PKG-INFO")
        for info in () if isinstance(infos, Unavailable) else infos:
            told, told_version = parse_metadata(_text(host, info))
            if told is not None and normalised(told) == normalised(name):
                version = told_version
    return Distribution(name, version, path, location or None)


def parse_wheel_glibc(text: str) -> str | None:
    """The oldest glibc that the tags of a WHEEL file (PEP 427, PEP 600) accept, "2.34"; None where they name none."""
    minors = [int(minor) for minor in _MANYLINUX.findall(text[:HEADER_LIMIT])]
    return f"2.{min(minors)}" if minors else None


def wheel_glibc(host: Host, site: str, name: str) -> str | None:
    """The glibc that the wheel of this distribution was made for."""
    listed = host.list(f"{site}/{name}-*.dist-info/WHEEL")
    return parse_wheel_glibc(_text(host, listed[0])) if not isinstance(listed, Unavailable) and len(listed) == 1 else None


def _editable_location(host: Host, path: str) -> str | None:
    """Source folder of an editable install by its direct_url.json (PEP 610); None for any other."""
    text = _text(host, f"{path}/direct_url.json")
    if not re.search(r'"editable"\s*:\s*true', text):
        return None
    match = re.search(r'"url"\s*:\s*"file://([^"]*)"', text)
    return match.group(1) if match else path


def _modules(host: Host, site: str, names: list[str], distributions: tuple[Distribution, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in names:
        head = name.partition(".")[0]
        if head in MODULES and (name == head or name == f"{head}.py" or name.endswith(".so")):
            found.setdefault(head, f"{site}/{name}")
    if "google" in names and not isinstance(host.stat(f"{site}/google/protobuf"), Unavailable):
        found["google/protobuf"] = f"{site}/google/protobuf"
    for distribution in distributions:
        name = normalised(distribution.name).replace("-", "_")
        if distribution.location and name in MODULES:
            found.setdefault(name, f"{distribution.location}/{name}")
    return found


def _text(host: Host, path: str) -> str:
    text = host.read(path, HEADER_LIMIT)
    return "" if isinstance(text, Unavailable) else text
