"""The vocabulary of conditions: every field of a fact that a cause file may name, how it is read and how it compares.

Contract: a field that is not known gives a `Reading` without values and with the reason; one that is known not to exist gives `ABSENT`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any

from doctor import versions
from doctor.facts import Facts
from doctor.facts.cann import Cann, CannLibraryPath, NnalSearch
from doctor.facts.container import Container, RunCommands
from doctor.facts.driver import Driver, Firmware
from doctor.facts.kernel import Governors, NumaNodes, Sysctls, TransparentHugePages
from doctor.facts.machine import Disks, Machine, Memory, OperatingSystem
from doctor.facts.model import ModelFolder, Models
from doctor.facts.npu import Chip, DeviceNodes, NpuPresence, Npus, NpuSmi
from doctor.facts.target import AscendBuild, Environment, Packages, Target, TorchBuild
from doctor.facts.vllm import ServeCommands, VllmProcesses
from doctor.host import Unavailable
from doctor.record import dataclass
from doctor.versions import Scheme


class _Absent:
    """The value of a field that is known not to exist."""

    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()

ON_MACHINES = "target.python"
"""Known on a machine only, and then never unknown: a decision that names it says nothing about a text."""

Value = Any
"""str, int, float, bool, a tuple of str, or ABSENT."""


@dataclass(frozen=True)
class Reading:
    """One field as it was read: its values (several where several things have it) and where from; None values: not known."""

    values: tuple[Value, ...] | None
    source: str = ""
    line: int = 0
    why: str = ""


@dataclass(frozen=True)
class FieldKind:
    """How a field is compared: by version order of `scheme`, as numbers, or as text."""

    scheme: Scheme | None = None
    number: bool = False


TEXT, NUMBER = FieldKind(), FieldKind(number=True)
CANN, HDK, PACKAGE = FieldKind(Scheme.CANN), FieldKind(Scheme.HDK), FieldKind(Scheme.PACKAGE)


@dataclass(frozen=True)
class FieldSpec:
    """One name of the vocabulary; a name that ends in `.` takes a key (`package.torch-npu`)."""

    name: str
    kind: FieldKind
    fact: type[Any]
    read: Callable[[Any, str], Value | None | tuple[Value, ...]]
    """(fact, key) -> value; None: not known; ABSENT: known not to be there; a tuple: several, any of which may hold."""
    about: str = ""


def _package(fact: Packages, key: str) -> Value | None:
    version = fact.versions.get(versions.normalise_name(key))
    return version if version is not None else ABSENT if fact.complete else None


def _variable(fact: Environment, key: str) -> Value | None:
    return fact.values.get(key, ABSENT if fact.complete else None)


def _flag(fact: ServeCommands, key: str) -> Value | None | tuple[Value, ...]:
    if not fact.commands:
        return None
    given = tuple(value for command in fact.commands if (value := _given(command.flags, key)) is not None)
    return given or ABSENT


def _given(flags: Mapping[str, str], key: str) -> str | None:
    """The flag's value; of a JSON option that is given key by key (`--compilation-config.cudagraph_mode FULL`), the JSON."""
    dotted = {name[len(key) + 1 :]: value for name, value in flags.items() if name.startswith(f"{key}.")}
    if key in flags or not dotted:
        return flags.get(key)
    return "{" + ", ".join(f'"{name}": ' + (value if value in ("true", "false") or value.isdecimal() else f'"{value}"') for name, value in dotted.items()) + "}"


def _served_names(fact: ServeCommands, _key: str) -> Value | None | tuple[Value, ...]:
    """What the commands call their model: path, name on a hub, served name."""
    told = (name for command in fact.commands for name in (command.model, command.flags.get("served-model-name"), command.keywords.get("model")))
    return tuple(name for name in told if name) or (ABSENT if fact.commands else None)


def _keyword(fact: ServeCommands, key: str) -> Value | None | tuple[Value, ...]:
    given = tuple(command.keywords[key] for command in fact.commands if key in command.keywords)
    return given or (ABSENT if fact.commands else None)


def _disk(fact: Disks, key: str) -> Value | None:
    disk = fact.by_mount.get(key)
    return disk.available if disk else None


def _nnal_version(fact: NnalSearch, _key: str) -> Value | None:
    return ABSENT if fact.found is None else fact.found.version


def _images(fact: RunCommands, _key: str) -> Value | None | tuple[Value, ...]:
    return tuple(command.image for command in fact.commands if command.image) or None


def _model(read: Callable[[ModelFolder], Value | None]) -> Callable[[Any, str], Value | None | tuple[Value, ...]]:
    """A value of every model; ABSENT where each of them was looked at and none has it."""

    def values(fact: Models, _key: str) -> Value | None | tuple[Value, ...]:
        found = tuple(value for model in fact.models if (value := read(model.folder)) is not None)
        return found or (ABSENT if fact.models else None)

    return values


def _of(name: str) -> Callable[[Any, str], Value | None]:
    return lambda fact, _key: getattr(fact, name)


FIELDS: dict[str, FieldSpec] = {
    spec.name: spec
    for spec in (
        FieldSpec("machine.arch", TEXT, Machine, _of("arch"), "uname -m"),
        FieldSpec("machine.cpu_vendor", TEXT, Machine, _of("cpu_vendor")),
        FieldSpec("machine.cpus", NUMBER, Machine, _of("cpus")),
        FieldSpec("machine.page_size", NUMBER, Machine, _of("page_size"), "bytes"),
        FieldSpec("machine.hypervisor", TEXT, Machine, lambda f, _k: ABSENT if f.hypervisor == "" else f.hypervisor),
        FieldSpec("os.id", TEXT, OperatingSystem, _of("id")),
        FieldSpec("os.version", PACKAGE, OperatingSystem, _of("version_id")),
        FieldSpec("os.kernel", PACKAGE, OperatingSystem, lambda f, _k: _kernel(f.kernel), "leading x.y.z of uname -r"),
        FieldSpec("os.glibc", PACKAGE, OperatingSystem, _of("glibc")),
        FieldSpec("memory.total", NUMBER, Memory, _of("total"), "bytes"),
        FieldSpec("memory.available", NUMBER, Memory, _of("available"), "bytes"),
        FieldSpec("memory.swap_total", NUMBER, Memory, _of("swap_total"), "bytes"),
        FieldSpec("memory.cgroup_limit", NUMBER, Memory, _of("cgroup_limit"), "bytes"),
        FieldSpec("disk.available.", NUMBER, Disks, _disk, "bytes free, by mount point"),
        FieldSpec("sysctl.", NUMBER, Sysctls, lambda f, k: f.values.get(k), "running value by dotted name"),
        FieldSpec("thp.enabled", TEXT, TransparentHugePages, _of("enabled")),
        FieldSpec("governor", TEXT, Governors, lambda f, _k: tuple(f.counts) or None, "any CPU's governor"),
        FieldSpec("numa.nodes", NUMBER, NumaNodes, _of("count")),
        FieldSpec("driver.version", HDK, Driver, _of("version")),
        FieldSpec("firmware.version", HDK, Firmware, _of("package_version")),
        FieldSpec("chip.family", TEXT, Chip, _of("family"), "a1, a2, a3, 310p, 310b, 310, 950"),
        FieldSpec("chip.name", TEXT, Chip, _of("name")),
        FieldSpec("npu.present", TEXT, NpuPresence, lambda f, _k: None if f.present is None else "yes" if f.present else "no"),
        FieldSpec("npu.count", NUMBER, Npus, lambda f, _k: len(f.chips) if f.complete else None),
        FieldSpec("npu.health", TEXT, Npus, lambda f, _k: tuple(c.health for c in f.chips if c.health) or None, "any chip's health"),
        FieldSpec("npu.hbm_total_mb", NUMBER, Npus, lambda f, _k: tuple(c.hbm_total_mb for c in f.chips if c.hbm_total_mb) or None),
        FieldSpec("npu_smi.state", TEXT, NpuSmi, _of("state"), "ok, missing, failed, timed out, empty"),
        FieldSpec("device_nodes.count", NUMBER, DeviceNodes, lambda f, _k: len(f.davinci)),
        FieldSpec("cann.version", CANN, Cann, lambda f, _k: f.version or (ABSENT if not f.installs else None), "the active toolkit"),
        FieldSpec("cann.count", NUMBER, Cann, lambda f, _k: len(f.installs)),
        FieldSpec("cann_env.home", TEXT, CannLibraryPath, lambda f, _k: f.home or ABSENT),
        FieldSpec("cann_env.opp", TEXT, CannLibraryPath, lambda f, _k: f.opp or ABSENT),
        FieldSpec("cann_env.atb_home", TEXT, CannLibraryPath, lambda f, _k: f.atb_home or ABSENT),
        FieldSpec("nnal.version", CANN, NnalSearch, _nnal_version),
        FieldSpec("package.", PACKAGE, Packages, _package, "by distribution name"),
        FieldSpec("python.version", PACKAGE, Packages, _of("python")),
        FieldSpec("target.python", TEXT, Target, _of("python"), "path of the interpreter; known on a machine only"),
        FieldSpec("torch.cuda", TEXT, TorchBuild, lambda f, _k: None if f.cuda is None else "yes" if f.cuda else "no"),
        FieldSpec("ascend_build.soc", TEXT, AscendBuild, _of("soc")),
        FieldSpec("env.", TEXT, Environment, _variable, "variable of the target"),
        FieldSpec("flag.", TEXT, ServeCommands, _flag, "vllm flag without dashes; '' for a bare one"),
        FieldSpec("keyword.", TEXT, ServeCommands, _keyword, "argument of LLM(…)"),
        FieldSpec("serve.model", TEXT, ServeCommands, _served_names, "path or name of the model that is served"),
        FieldSpec("vllm.running", TEXT, VllmProcesses, lambda f, _k: "yes" if f.processes else "no"),
        FieldSpec("model.architecture", TEXT, Models, _model(lambda f: f.config.architectures[0] if f.config and f.config.architectures else None), "of config.json"),
        FieldSpec("model.type", TEXT, Models, _model(lambda f: f.config.model_type if f.config else None), "model_type of config.json"),
        FieldSpec("model.dtype", TEXT, Models, _model(lambda f: f.config.dtype if f.config else None), "bfloat16, float16, float32"),
        FieldSpec("model.quantization", TEXT, Models, _model(lambda f: f.quantization), "ascend (msModelSlim), or quant_method of config.json"),
        FieldSpec("model.quant_type", TEXT, Models, _model(lambda f: f.description.main_type if f.description else None), "W8A8_DYNAMIC …"),
        FieldSpec("model.max_positions", NUMBER, Models, _model(lambda f: f.config.number("max_positions") if f.config else None), "tokens"),
        FieldSpec("container.kind", TEXT, Container, lambda f, _k: f.kind or ABSENT),
        FieldSpec("container.image", TEXT, RunCommands, _images),
    )
}


def _kernel(release: str | None) -> str | None:
    found = re.match(r"\d+\.\d+(?:\.\d+)?", release or "")
    return found[0] if found else None


def read_field(name: str, facts: Facts) -> Reading:
    """The field's values now. Raises ValueError for a name that is not in the vocabulary."""
    spec, key = field_spec(name)
    fact = facts.get(spec.fact)
    if isinstance(fact, Unavailable):
        return Reading((ABSENT,)) if name == ON_MACHINES else Reading(None, why=str(fact))
    value = spec.read(fact, key)
    source = getattr(fact, "places", {}).get(key) or str(getattr(fact, "source", ""))
    line = int(getattr(fact, "line", 0) or getattr(fact, "lines", {}).get(key, 0))
    if value is None:
        return Reading(None, source, line, f"{name} is not known")
    return Reading(value if isinstance(value, tuple) else (value,), source, line)


@functools.cache
def field_spec(name: str) -> tuple[FieldSpec, str]:
    if name in FIELDS and not name.endswith("."):
        return FIELDS[name], ""
    for prefix, spec in FIELDS.items():
        if prefix.endswith(".") and name.startswith(prefix) and len(name) > len(prefix):
            return spec, name[len(prefix) :]
    raise ValueError(f"unknown field {name!r}; `doctor rules --fields` lists them")


def field_fact(name: str) -> type[Any]:
    """The fact type that a field is read from. Raises ValueError for a name that is not in the vocabulary."""
    return field_spec(name)[0].fact
