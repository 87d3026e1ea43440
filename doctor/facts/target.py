"""Targets: the interpreters and environments in which vLLM runs, and the packages in each."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from doctor.facts import Facts, Provider, known
from doctor.facts.container import RunCommands
from doctor.facts.distributions import Site, normalised, parse_pip_list, read_site, wheel_glibc
from doctor.facts.interpreter import describe, is_version, on_path
from doctor.facts.start_files import profile_variables
from doctor.facts.vllm import ServeCommands, VllmProcess, vllm_processes
from doctor.host import Host, Output, Probe, Process, Unavailable, Why
from doctor.record import dataclass
from doctor.regex import regex


@dataclass(frozen=True)
class Target:
    """One interpreter with the environment that it is (or would be) started in.

    `how`: "process 4711", "--python", "VIRTUAL_ENV", "CONDA_PREFIX", "PATH", "text". `pid` is the vLLM process, None if none runs.
    """

    python: str
    how: str
    environment: Mapping[str, str] = field(default_factory=dict)
    pid: int | None = None
    version: str | None = None
    """Of Python, "3.11.14"."""
    site_packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Environment:
    """Environment variables of the target. `complete` is False where only some are known (a pasted text)."""

    values: Mapping[str, str]
    complete: bool = True
    source: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Line in a pasted text by variable."""
    places: Mapping[str, str] = field(default_factory=dict)
    """File or container that sets a variable for the server, where it is not the environment itself."""


@dataclass(frozen=True)
class Packages:
    """Python packages of a target by normalised name (torch-npu -> version). `complete` False: only those that a text names.

    `broken` are distributions without usable metadata (leftovers "~orch", missing METADATA); `editable` those installed in
    place; `modules` top-level folders present in site-packages among those that doctor asks for.
    """

    versions: Mapping[str, str]
    complete: bool = True
    python: str | None = None
    """Version of the interpreter, "3.11.14"."""
    broken: tuple[str, ...] = ()
    duplicates: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name -> versions, where one site-packages folder holds several distributions of that name."""
    editable: tuple[str, ...] = ()
    modules: frozenset[str] | None = None
    source: str = ""
    lines: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class AscendBuild:
    """What the installed vllm_ascend package was built for.

    `soc` from _build_info.py ("ascend910b1", "A3" …), `extension` whether vllm_ascend_C*.so is there, `custom_ops` whether libcust_opapi.so is.
    """

    soc: str | None
    device_type: str | None
    extension: bool
    custom_ops: bool
    files: Mapping[str, bool] = field(default_factory=dict)
    source: str = ""
    wheel_glibc: str | None = None
    """The glibc that the installed wheel was made for, "2.34"; None where it is no wheel, or its tags do not tell."""


@dataclass(frozen=True)
class TorchBuild:
    """How the target's torch was built: `cuda` True for a CUDA wheel; `cxx11_abi` None if not known."""

    version: str
    cuda: bool | None = None
    cxx11_abi: bool | None = None
    source: str = ""


@dataclass(frozen=True)
class Imports:
    """What importing torch and torch_npu in a child of the target said, on a recording that holds it: `ok`, else the error's text."""

    ok: bool
    text: str = ""
    seconds: float = 0.0
    device_count: int | None = None
    source: str = ""


IMPORT_CHECK = "import torch, torch_npu; print(torch.npu.device_count())"
IMPORT_TIMEOUT = 60.0
"""Seconds; a cold import of torch and torch_npu from a network disk was seen to take 30 s."""

IMPORT_TEXT = 16 * 1024
ABI_CHECK = "import torch; print(torch.compiled_with_cxx11_abi())"
MOST_INTERPRETERS = 8
_VOLATILE = frozenset({"_", "SHLVL", "PWD", "OLDPWD", "PPID", "LINES", "COLUMNS", "SHELL", "TERM"})
_COUNTS_FOR_SERVERS = regex(r"(?!(?:ASCEND_(?:HOME_PATH|OPP_PATH|TOOLKIT_HOME|AICPU_PATH)|ATB_|VLLM_TARGET_DEVICE))(?:VLLM_|HCCL_|ASCEND_|PYTORCH_|TORCH_|OMP_|UCX_|HF_|TRANSFORMERS_|MOONCAKE_|LD_PRELOAD|TASK_QUEUE_|CPU_AFFINITY_|GLOO_|TP_|RAY_|MSMONITOR_|DYNAMIC_|MALLOC_|NPU_|LCCL_|ACL_|USE_|INF_NAN|CUDA_|PYTHON(?!PATH))")
_PYTHON = regex(r"(?:python|pypy)[\d.]*")
_BUILD_INFO = regex(r"^_*(soc_version|device_type)_*[ \t]*(?::[^=\n]*)?=[ \t]*['\"]([^'\"\n]*)['\"]", re.MULTILINE | re.IGNORECASE)
_TORCH_VERSION = regex(r"^(__version__|cuda)[ \t]*(?::[^=\n]*)?=[ \t]*(None|['\"][^'\"\n]*['\"])", re.MULTILINE)
_ABI_FLAG = regex(r"_GLIBCXX_USE_CXX11_ABI=([01])")


def discover(host: Host, python: str | None = None) -> tuple[Target, ...]:
    """The targets on a host: those of running vLLM servers first, then `python`; without either, that of the shell's environment."""
    own = host.environ(0)
    environment = {} if isinstance(own, Unavailable) else own
    found = list(_running(host))
    if python is not None:
        found.append(_target(host, python, "--python", environment))
    if not found:
        found.extend(_of_shell(host, environment))
    unique: dict[object, Target] = {}
    for target in found:
        settled = frozenset(item for item in target.environment.items() if item[0] not in _VOLATILE)
        unique.setdefault((target.python, settled), target)
    return tuple(unique.values())


def _target(host: Host, python: str, how: str, environment: Mapping[str, str], pid: int | None = None) -> Target:
    version, sites = describe(host, python, environment)
    if not host.live and (version is None or version.count(".") < 2):  # a recording may hold what must not be run here
        output = host.run((python, "--version"))
        told = re.search(r"Python (\S+)", "" if isinstance(output, Unavailable) else output.text)
        version = (is_version(told.group(1)) if told else None) or version
    return Target(python, how, environment, pid, version, sites)


def _running(host: Host) -> Iterator[Target]:
    """One target for each server: engine cores and workers belong to the server that started them."""
    processes = host.processes()
    if isinstance(processes, Unavailable):
        return
    everyone = {process.pid: process for process in processes}
    ours = {process.pid: process for process in vllm_processes(processes)}
    for process in sorted(ours.values(), key=lambda process: (process.role != "api", process.pid)):
        if process.role == "other" or process.ppid in ours:
            continue
        told = host.environ(process.pid)
        if isinstance(told, Unavailable) and not host.live:
            told = host.environ(0)  # a recording's `env` is that of the process that starts vLLM
        environment = {} if isinstance(told, Unavailable) else told
        python = _interpreter(host, process, everyone.get(process.ppid), environment)
        if python:
            yield _target(host, python, f"process {process.pid}", environment, process.pid)


def _interpreter(host: Host, process: VllmProcess, parent: Process | None, environment: Mapping[str, str]) -> str:
    """The interpreter as it was called, for its path tells the virtual environment; /proc/PID/exe has lost it."""
    for argv in (process.argv, parent.argv if parent else ()):
        program = argv[0] if argv else ""
        if _PYTHON.fullmatch(posixpath.basename(program)):
            found = program if program.startswith("/") else next(on_path(host, environment, posixpath.basename(program)), "")
            if found:
                return posixpath.normpath(found)
    own = next((python for python, _ in _candidates(host, environment)), "")
    return own or (process.exe if _PYTHON.fullmatch(posixpath.basename(process.exe)) else "")


def _candidates(host: Host, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(interpreter, how it was found) in the order in which a shell with that environment would prefer them."""
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        prefix = environment.get(variable, "").rstrip("/")
        for name in ("python3", "python") if prefix.startswith("/") else ():
            if not isinstance(host.stat(f"{prefix}/bin/{name}"), Unavailable):
                yield f"{prefix}/bin/{name}", variable
                break
    for name in ("python3", "python"):
        for path in on_path(host, environment, name):
            yield path, "PATH"


def _of_shell(host: Host, environment: Mapping[str, str]) -> Iterator[Target]:
    """The first interpreter in which vLLM or torch_npu is installed, else the first: doctor may run in a venv of its own."""
    candidates: dict[str, str] = {}
    for python, how in _candidates(host, environment):
        candidates.setdefault(python, how)
    targets = (_target(host, python, how, environment) for python, how in list(candidates.items())[:MOST_INTERPRETERS])
    first: Target | None = None
    for target in targets:
        if any(_has(host, site, name) for site in target.site_packages for name in ("vllm", "vllm_ascend", "torch_npu")):
            first = target
            break
        first = first or target
    if first is None and not host.live and not isinstance(host.run(("python3", "--version")), Unavailable):
        first = _target_of_recorded_command(host, environment)
    if first is not None:
        yield first


def _target_of_recorded_command(host: Host, environment: Mapping[str, str]) -> Target:
    """A recording in which python3 answers but its file was not kept: the system's interpreter is meant."""
    system = _target(host, "/usr/bin/python3", "PATH", environment)
    named = _target(host, "python3", "PATH", environment)
    return Target("python3", "PATH", environment, None, named.version or system.version, system.site_packages)


def _has(host: Host, site: str, name: str) -> bool:
    found = host.list(f"{site}/{name}-*")
    return not isinstance(found, Unavailable) and bool(found)


@dataclass(frozen=True)
class Sites:
    """What the target's site-packages folders hold, in the order of sys.path; other facts of this area are made from it."""

    found: tuple[Site, ...]


def _read_sites(host: Host, facts: Facts) -> Sites | Unavailable:
    target = facts.get(Target)
    if isinstance(target, Unavailable):
        return target
    return Sites(tuple(site for path in target.site_packages if (site := read_site(host, path)) is not None))


def _read_packages(host: Host, facts: Facts) -> Packages | Unavailable:
    target, read = facts.get(Target), facts.get(Sites)
    if isinstance(target, Unavailable):
        return target
    sites = () if isinstance(read, Unavailable) else read.found
    versions: dict[str, str] = {}
    broken: list[str] = []
    editable: list[str] = []
    duplicates: dict[str, tuple[str, ...]] = {}
    for site in sites:
        broken.extend(site.leftovers)
        here: dict[str, list[str]] = {}
        for distribution in site.distributions:
            name = normalised(distribution.name)
            if distribution.version is None:
                broken.append(posixpath.basename(distribution.path))
                continue
            here.setdefault(name, []).append(distribution.version)
            versions.setdefault(name, distribution.version)
            editable += [name] if distribution.location else []
        duplicates.update({name: tuple(told) for name, told in here.items() if len(set(told)) > 1})
    if not host.live:
        listed = host.run((target.python, "-m", "pip", "list"))
        versions = {**({} if isinstance(listed, Unavailable) else parse_pip_list(listed.stdout)), **versions}
    if not versions and not sites:
        return Unavailable(f"packages of {target.python}", Why.MISSING, "no site-packages folder was found")
    return Packages(
        versions=versions,
        python=target.version,
        broken=tuple(dict.fromkeys(broken)),
        duplicates=duplicates,
        editable=tuple(dict.fromkeys(editable)),
        modules=frozenset(name for site in sites for name in site.modules) if sites else None,
        source=sites[0].path if sites else f"{target.python} -m pip list",
    )


def module_folder(facts: Facts, name: str) -> str | None:
    """Folder of an importable package of the target ("vllm_ascend"), in site-packages or where an editable install points."""
    sites = facts.get(Sites)
    for site in () if isinstance(sites, Unavailable) else sites.found:
        if name in site.modules:
            return site.modules[name]
    return None


def parse_build_info(text: str) -> tuple[str | None, str | None]:
    """(soc, device type) of vllm_ascend/_build_info.py: `__soc_version__ = 'ASCEND310P3'` up to 0.11, `__device_type__ = 'A2'` since."""
    told = {key.lower(): value for key, value in _BUILD_INFO.findall(text)}
    return (told.get("soc_version") or "").lower() or None, told.get("device_type") or None


def _read_ascend_build(host: Host, facts: Facts) -> AscendBuild | Unavailable:
    folder = module_folder(facts, "vllm_ascend")
    if folder is None:
        return Unavailable("vllm_ascend", Why.MISSING, "not installed in the target")
    path = f"{folder}/_build_info.py"
    text = host.read(path, IMPORT_TEXT)
    soc, device_type = (None, None) if isinstance(text, Unavailable) else parse_build_info(text)
    patterns = {
        "vllm_ascend_C.so": "vllm_ascend_C*.so",
        "libcust_opapi.so": "_cann_ops_custom/vendors/*/op_api/lib/libcust_opapi.so",
        "libvllm_ascend_kernels.so": "lib/libvllm_ascend_kernels.so",
    }
    files = {name: bool(found) for name, glob in patterns.items() if not isinstance(found := host.list(f"{folder}/{glob}"), Unavailable)}
    files["_build_info.py"] = not isinstance(text, Unavailable)
    glibc = wheel_glibc(host, posixpath.dirname(folder), "vllm_ascend")
    return AscendBuild(soc, device_type, files.get("vllm_ascend_C.so", False), files.get("libcust_opapi.so", False), files, path, glibc)


def parse_torch_version(text: str) -> tuple[str | None, bool | None]:
    """(version, built for CUDA) of torch/version.py; None where the text does not tell."""
    told = dict(_TORCH_VERSION.findall(text))
    version = told.get("__version__", "None").strip("'\"")
    return None if version == "None" else version, None if "cuda" not in told else told["cuda"] != "None"


def _read_torch(host: Host, facts: Facts) -> TorchBuild | Unavailable:
    packages, target = facts.get(Packages), facts.get(Target)
    if isinstance(packages, Unavailable):
        return packages
    folder = module_folder(facts, "torch")
    text = host.read(f"{folder}/version.py", IMPORT_TEXT) if folder else ""
    version, cuda = (None, None) if isinstance(text, Unavailable) else parse_torch_version(text)
    source = f"{folder}/version.py" if version else packages.source
    version = version or packages.versions.get("torch")
    if version is None or isinstance(target, Unavailable):
        return Unavailable("torch", Why.MISSING, "not installed in the target")
    local = version.partition("+")[2]
    if cuda is None and re.match(r"cu\d|cpu", local):
        cuda = local.startswith("cu")
    abi, abi_source = _cxx11_abi(host, target, folder, version)
    return TorchBuild(version, cuda, abi, source="; ".join(filter(None, (source, abi_source))))


def _cxx11_abi(host: Host, target: Target, folder: str | None, version: str) -> tuple[bool | None, str]:
    """(the C++ ABI that torch was compiled with, what told it)."""
    if not host.live:
        output = host.run((target.python, "-c", ABI_CHECK))
        answer = "" if isinstance(output, Unavailable) else output.stdout.strip()
        if answer in ("True", "False"):
            return answer == "True", "torch.compiled_with_cxx11_abi()"
    path = f"{folder}/share/cmake/Torch/TorchConfig.cmake"
    text = host.read(path, 64 * 1024) if folder else ""
    flag = None if isinstance(text, Unavailable) else _ABI_FLAG.search(text)
    if flag:
        return flag.group(1) == "1", path
    numbers = re.match(r"(\d{1,4})\.(\d{1,4})", version)
    if numbers and (int(numbers.group(1)), int(numbers.group(2))) >= (2, 7):
        return True, "official wheels since torch 2.7 use the C++11 ABI"
    return None, ""


def _read_imports(host: Host, facts: Facts) -> Imports | Unavailable:
    if host.live:
        # A running check must not start a process's interpreter, which may be another user's, nor wake a busy NPU: that is the smoke test's.
        return Unavailable("import of torch_npu", Why.NOT_RECORDED, "a check of a running machine imports nothing")
    target, packages = facts.get(Target), facts.get(Packages)
    if isinstance(target, Unavailable):
        return target
    if isinstance(packages, Unavailable):
        return packages
    for name in ("torch", "torch-npu"):
        if name not in packages.versions and name.replace("-", "_") not in (packages.modules or ()):
            return Unavailable(f"import of {name}", Why.MISSING, "not installed in the target")
    output = host.run((target.python, "-c", IMPORT_CHECK), timeout=IMPORT_TIMEOUT, env=target.environment)
    if isinstance(output, Unavailable) and not host.live:
        shorter = host.run((target.python, "-c", "import torch, torch_npu"))
        output = output if isinstance(shorter, Unavailable) else shorter
    return output if isinstance(output, Unavailable) else imports_of(output)


def imports_of(output: Output) -> Imports:
    """What the import check's output says. A crash prints nothing: its signal is told instead."""
    count = re.search(r"^(\d{1,4})\s*\Z", output.stdout, re.MULTILINE)
    text = output.text.strip()[-IMPORT_TEXT:] or ("" if output.exit == 0 else f"exit status {output.exit}")
    return Imports(
        ok=output.exit == 0,
        text=text,
        seconds=output.seconds,
        device_count=int(count.group(1)) if count and output.exit == 0 else None,
        source=" ".join(output.argv),
    )


def _read_environment(host: Host, facts: Facts) -> Environment | Unavailable:
    target = facts.get(Target)
    if isinstance(target, Unavailable):
        return target
    if not target.environment:
        return Unavailable("environment of the target", Why.DENIED, target.how)
    values, places = dict(target.environment), dict[str, str]()
    for name, (value, place) in (_set_for_servers(host, facts) if target.pid is None else {}).items():
        if values.get(name) != value:
            values[name], places[name] = value, place
    source = ", ".join(dict.fromkeys((f"environment of {target.how}", *places.values())))
    return Environment(values, complete=True, source=source, places=places)


def _set_for_servers(host: Host, facts: Facts) -> dict[str, tuple[str, str]]:
    """Name -> (value, place) of what the shells' start files and the starts of vLLM set for a server that does not run.

    A start file counts only for what is not in the environment already. Search paths and a container's own folders say nothing about the target.
    """
    own, runs, commands = known(host.environ(0)) or {}, known(facts.get(RunCommands)), known(facts.get(ServeCommands))
    found = {name: told for name, told in profile_variables(host).items() if name not in own}
    for run in runs.commands if runs else ():
        if re.search(r"vllm", " ".join((run.image or "", *run.command))):
            found.update({name: (value, run.source) for name, value in run.environment.items()})
    for command in commands.commands if commands else ():
        found.update({name: (value, command.source) for name, value in command.environment.items()})
    return {name: told for name, told in found.items() if _COUNTS_FOR_SERVERS.match(name) and not re.search(r"[$`]", told[0])}


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(Sites, _read_sites, per_target=True),
    Provider(Packages, _read_packages, per_target=True),
    Provider(AscendBuild, _read_ascend_build, per_target=True),
    Provider(TorchBuild, _read_torch, per_target=True),
    Provider(Imports, _read_imports, probe=Probe.PROCESS, per_target=True),
    Provider(Environment, _read_environment, per_target=True),
)
