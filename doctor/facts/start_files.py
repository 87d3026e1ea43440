"""Files of a host in which a start of vLLM is written: shell scripts, Python, systemd units, compose files and manifests. Bounded; never raises."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from doctor.facts.serve_flags import split_assignments
from doctor.facts.shell_words import shell_commands
from doctor.host import KIB, Host, Unavailable
from doctor.regex import regex

MOST_FILES = 40
FILE_LIMIT = 64 * KIB
FOLDERS = ("/root", "/home/*", "/opt", "/opt/*", "/workspace", "/data", "/srv", "/etc/vllm")
"""Where people keep them; the working folder comes first."""

UNITS = ("/etc/systemd/system/*.service", "/etc/systemd/system/*.service.d/*.conf", "/usr/lib/systemd/system/*vllm*.service", "/lib/systemd/system/*vllm*.service")
PROFILES = ("/etc/environment", "/etc/profile", "/etc/bashrc", "/etc/bash.bashrc", "/etc/profile.d/*.sh", "/root/.profile", "/root/.bash_profile", "/root/.bashrc")
"""Start files of root's shell, in the order in which they are read."""

_NAMES = ("*.y*ml", "*.sh", "*.py")
_TELLING = regex(r"vllm|serv|infer|deploy|compose|k8s|kube|start|run|launch|ascend|npu|llm|model|pod|main|app|demo|config|api", re.IGNORECASE)
_PLAIN_PATH = regex(r"(?:/[\w.@+-]+){1,16}", re.ASCII)
_ABOUT = regex(r"vllm|docker|podman|nerdctl|isula|ascend", re.IGNORECASE)
_SETS = regex(r"^[ \t]{0,20}(?:export[ \t]{1,8})?[A-Za-z_]\w{0,80}=[^\n]{0,4000}$", re.MULTILINE | re.ASCII)
_UNIT_SETS = regex(r"^Environment=([^\n]{1,4000})$", re.MULTILINE)
_UNIT_FILE = regex(r"^EnvironmentFile=-?[\"']?(/[\w./@+-]{1,300})", re.MULTILINE | re.ASCII)


def launch_files(host: Host, here: str) -> tuple[tuple[str, str], ...]:
    """(path, text) of every file that may start vLLM; `here` is the working folder, "" where it is not known."""
    found: dict[str, str] = {}
    folders = ([here] if _PLAIN_PATH.fullmatch(here) and ".." not in here.split("/") else []) + list(FOLDERS)
    patterns = [f"{folder}/{name}" for folder in dict.fromkeys(folders) for name in _NAMES]
    for path in (*_listed(host, *patterns), *_listed(host, *UNITS)):
        named = path.endswith(".sh") or path.startswith(("/etc/systemd/", "/usr/lib/", "/lib/")) or _TELLING.search(posixpath.basename(path))
        if path in found or not named or len(found) >= MOST_FILES:
            continue
        text = host.read(path, FILE_LIMIT)
        if isinstance(text, str) and (_ABOUT.search(text) or "compose" in path):
            found[path] = text
    return tuple(found.items())


def _listed(host: Host, *patterns: str) -> Iterator[str]:
    for pattern in patterns:
        paths = host.list(pattern)
        yield from () if isinstance(paths, Unavailable) else paths[:MOST_FILES]


def unit_variables(host: Host, text: str) -> dict[str, str]:
    """Variables that a unit or a drop-in sets, those of its EnvironmentFile last, as systemd has it."""
    found: dict[str, str] = {}
    for match in _UNIT_SETS.finditer(text):
        for words in shell_commands(match[1]):
            found.update(word.partition("=")[::2] for word in words if "=" in word)
    for match in _UNIT_FILE.finditer(text):
        told = host.read(match[1], FILE_LIMIT)
        found.update(listed_variables(told) if isinstance(told, str) else {})
    return found


def listed_variables(text: str) -> dict[str, str]:
    """NAME=value lines that no shell reads: an EnvironmentFile, /etc/environment, a container's env file."""
    lines = (line.strip().removeprefix("export ").partition("=") for line in text.splitlines() if not line.lstrip().startswith(("#", ";")))
    return {name: value.strip().strip("\"'") for name, equals, value in lines if equals and re.fullmatch(r"[A-Za-z_]\w{0,80}", name)}


def assignments(text: str) -> dict[str, str]:
    """NAME=value and `export NAME=value` lines of a shell's text, where the value needs no expansion."""
    found: dict[str, str] = {}
    for match in _SETS.finditer(text):
        for words in shell_commands(re.sub(r"^\s*export\s+", "", match.group())):
            values, rest = split_assignments(words)
            found.update({} if rest else values)
    return {name: value for name, value in found.items() if "$" not in value and "`" not in value}


def profile_variables(host: Host) -> dict[str, tuple[str, str]]:
    """Name -> (value, file) of what the start files of root's shell set."""
    found: dict[str, tuple[str, str]] = {}
    for path in _listed(host, *PROFILES):
        text = host.read(path, FILE_LIMIT)
        read = listed_variables if path == "/etc/environment" else assignments
        found.update({name: (value, path) for name, value in read(text).items()} if isinstance(text, str) else {})
    return found


__all__ = ["FILE_LIMIT", "assignments", "launch_files", "listed_variables", "profile_variables", "unit_variables"]
