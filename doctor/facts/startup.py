"""How vLLM is started on this host: its systemd units, shells' start files, listening sockets, and the kernels that have the driver's modules.

Contract: parsers are pure and never raise; the files that are looked at are bounded. A setting that is None was not told.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.facts import Facts, Provider, known
from doctor.facts.machine import OperatingSystem
from doctor.host import KIB, Host, Unavailable, Why
from doctor.record import dataclass
from doctor.regex import regex


@dataclass(frozen=True)
class Socket:
    """One listening TCP socket; `name` is its process's name, "" where it may not be read."""

    address: str
    port: int
    pid: int | None = None
    name: str = ""


@dataclass(frozen=True)
class ListeningSockets:
    """Every listening TCP socket of this host."""

    sockets: tuple[Socket, ...]
    source: str = "/proc/net/tcp"


@dataclass(frozen=True)
class DriverKernels:
    """The running kernel, and every installed kernel with whether its folder below /lib/modules holds modules of the NPU driver."""

    running: str
    kernels: Mapping[str, bool]
    source: str = "/lib/modules"


@dataclass(frozen=True)
class ServiceUnit:
    """A systemd unit that starts vLLM, with its drop-ins. `settings` are those of [Service] that count, by name: (value, file, line)."""

    name: str
    settings: Mapping[str, tuple[str, str, int]]
    environment: frozenset[str] = frozenset()
    """Names of the variables that it sets."""
    cann: bool | None = None
    """Whether the server gets CANN's variables; None where what it starts or reads is not known."""


@dataclass(frozen=True)
class ServiceUnits:
    """The units that start vLLM; empty if there is none."""

    units: tuple[ServiceUnit, ...]
    source: str = "/etc/systemd/system"


@dataclass(frozen=True)
class ShellFiles:
    """Where start files of shells source a set_env.sh of Ascend: (file, line, text)."""

    sourcing: tuple[tuple[str, int, str], ...]
    source: str = "~/.bashrc, /etc/profile"


UNITS = "/etc/systemd/system/*.service"
SHELL_FILES = ("/root/.bashrc", "/root/.bash_profile", "/root/.profile", "/home/*/.bashrc", "/home/*/.bash_profile", "/etc/profile", "/etc/profile.d/*.sh", "/etc/bashrc", "/etc/bash.bashrc")  # fmt: skip
MOST_FILES = 40
FILE_LIMIT = 64 * KIB
MOST_KERNELS = 40

_SECTION = regex(r"\[(\w{1,40})\]\s*")
_CALLS = regex(r"\bvllm\b(?! ?-ascend-doctor)")
_SOURCES = regex(r"^[^#]{0,200}(?:source|\.)\s{1,8}[\"']?\S{0,200}set_env\.sh")
_SHELL_FILE = regex(r"(?:source|\.)\s{1,8}[\"']?\S{0,200}(?:\.bashrc|profile)")
_CONTAINERS = regex(r"(?:^|/)(?:docker|podman|nerdctl|docker-compose|kubectl|ctr|crictl)$")
_READS_FILES = regex(r"^-\w*[li]\w*$|^--login$")
_SS = regex(r"^(?:LISTEN)\s+\d+\s+\d+\s+(?P<address>\S+):(?P<port>\d{1,5})\s+\S+(?:\s+users:\(\(\"(?P<name>[^\"]{1,40})\",pid=(?P<pid>\d{1,9}))?", re.MULTILINE)
CANN_VARIABLES = frozenset(("ASCEND_OPP_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"))


def parse_service(texts: Iterator[tuple[str, str]] | tuple[tuple[str, str], ...]) -> dict[str, list[tuple[str, str, int]]]:
    """Every setting of [Service] of the files (path, text) in the order in which systemd reads them; an empty value starts a list anew."""
    found: dict[str, list[tuple[str, str, int]]] = {}
    for path, text in texts:
        section, lines, number = "", text.split("\n"), 0
        while number < len(lines):
            first, line = number + 1, lines[number].strip()
            while line.endswith("\\") and number + 1 < len(lines):
                number += 1
                line = f"{line[:-1].rstrip()} {lines[number].strip()}"
            number += 1
            if not line or line[0] in "#;":
                continue
            if head := _SECTION.fullmatch(line):
                section = head[1]
                continue
            name, equals, value = (part.strip() for part in line.partition("="))
            if section == "Service" and equals:
                found[name] = [*found.get(name, ()), (value, path, first)] if value else []
    return found


def parse_ss(text: str) -> tuple[Socket, ...]:
    """The sockets of `ss -ltnp` (or `ss -ltn`)."""
    return tuple(
        Socket(row["address"].strip("[]").partition("%")[0], int(row["port"]), int(row["pid"]) if row["pid"] else None, row["name"] or "")
        for row in _SS.finditer(text)
        if int(row["port"]) < 65536
    )


def _words(command: str) -> list[str]:
    try:
        return shlex.split(re.sub(r"^[-@:+!|]+", "", command))
    except ValueError:
        return command.split()


def _listed(host: Host, pattern: str) -> tuple[str, ...]:
    found = host.list(pattern)
    return () if isinstance(found, Unavailable) else tuple(found[:MOST_FILES])


def _read_sockets(host: Host, facts: Facts) -> ListeningSockets | Unavailable:
    told = host.listening()
    if not isinstance(told, Unavailable):
        processes = host.processes()
        names = {} if isinstance(processes, Unavailable) else {process.pid: process.name for process in processes}
        return ListeningSockets(tuple(Socket(one.address, one.port, one.pid, names.get(one.pid or 0, "")) for one in told))
    if not host.live:
        for command in (("ss", "-ltnp"), ("ss", "-tlnp"), ("ss", "-lntp"), ("ss", "-ltn")):
            output = host.run(command)
            if not isinstance(output, Unavailable) and (sockets := parse_ss(output.stdout)):
                return ListeningSockets(sockets, " ".join(command))
    return told


def _read_kernels(host: Host, facts: Facts) -> DriverKernels | Unavailable:
    system = known(facts.get(OperatingSystem))
    if system is None or not system.kernel:
        return Unavailable("the running kernel", Why.MISSING)
    folders = _listed(host, "/lib/modules/*/modules.dep") or _listed(host, "/lib/modules/*/modules.order")
    kernels: dict[str, bool] = {}
    for path in folders[:MOST_KERNELS]:
        folder = posixpath.dirname(path)
        kernels[posixpath.basename(folder)] = any(_listed(host, f"{folder}/{place}/drv_*.ko*") for place in ("updates", "updates/dkms", "extra", "weak-updates"))
    return DriverKernels(system.kernel, kernels) if kernels else Unavailable("/lib/modules", Why.MISSING)


def _read_units(host: Host, facts: Facts) -> ServiceUnits | Unavailable:
    paths = host.list(UNITS)
    if isinstance(paths, Unavailable):
        return paths
    units: list[ServiceUnit] = []
    for path in paths[:MOST_FILES]:
        files = (path, *_listed(host, f"{path}.d/*.conf"))
        texts = tuple((file, text) for file in files if isinstance(text := host.read(file, FILE_LIMIT), str))
        told = parse_service(texts)
        commands = [value for value, _, _ in told.get("ExecStart", ())]
        scripts = {word: host.read(word, FILE_LIMIT) for command in commands for word in _words(command) if word.startswith("/") and _is_script(word)}
        if any(_CALLS.search(text) for text in (*commands, *(text for text in scripts.values() if isinstance(text, str)))):
            units.append(_unit(host, posixpath.basename(path), told, scripts))
    return ServiceUnits(tuple(units))


def _is_script(path: str) -> bool:
    return path.endswith((".sh", ".bash")) or "." not in posixpath.basename(path) and not posixpath.basename(path).startswith(("python", "vllm", "bash", "sh", "env"))


def _unit(host: Host, name: str, told: Mapping[str, list[tuple[str, str, int]]], scripts: Mapping[str, str | Unavailable]) -> ServiceUnit:
    variables = {word.partition("=")[0] for value, _, _ in told.get("Environment", ()) for word in _words(value)}
    whole = "PassEnvironment" not in told
    for value, _, _ in told.get("EnvironmentFile", ()):
        text = host.read(value.removeprefix("-").strip("\"'"), FILE_LIMIT)
        if isinstance(text, Unavailable):
            whole = whole and text.why is Why.MISSING and value.startswith("-")
        else:
            variables |= {line.partition("=")[0].strip() for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#")}
    counting = {key: values[-1] for key, values in told.items() if values}
    return ServiceUnit(name, counting, frozenset(variables), _has_cann(told, variables, whole, scripts))


def _has_cann(told: Mapping[str, list[tuple[str, str, int]]], variables: set[str], whole: bool, scripts: Mapping[str, str | Unavailable]) -> bool | None:
    commands = [value for value, _, _ in told.get("ExecStart", ())]
    if variables & CANN_VARIABLES or any("set_env.sh" in command for command in commands):
        return True
    words = [word for command in commands for word in _words(command)]
    if any(_CONTAINERS.search(word) for word in words) or any(_READS_FILES.match(word) for word in words[:4]):
        return None  # a container has an environment of its own; a login shell reads its start files
    texts = [text for path, text in scripts.items() if path in words]
    read = [text for text in texts if isinstance(text, str)]
    if any("set_env.sh" in text or any(f"{name}=" in text for name in CANN_VARIABLES) for text in read):
        return True
    unsure = any(_SHELL_FILE.search(text) or re.search(r"\b(?:docker|podman|nerdctl)\s+(?:run|start|exec|compose)", text) for text in (*read, *commands))
    return None if unsure or not whole or any(isinstance(text, Unavailable) and text.why is not Why.MISSING for text in texts) else False


def _read_shells(host: Host, facts: Facts) -> ShellFiles | Unavailable:
    found: list[tuple[str, int, str]] = []
    answered = False
    for pattern in SHELL_FILES:
        for path in _listed(host, pattern) if "*" in pattern else (pattern,):
            text = host.read(path, FILE_LIMIT)
            if isinstance(text, Unavailable):
                continue
            answered = True
            found += [(path, number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if _SOURCES.match(line)]
    return ShellFiles(tuple(found)) if answered else Unavailable("start files of shells", Why.MISSING)


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(ListeningSockets, _read_sockets),
    Provider(DriverKernels, _read_kernels),
    Provider(ServiceUnits, _read_units),
    Provider(ShellFiles, _read_shells),
)
