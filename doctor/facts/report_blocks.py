"""Runs of KEY=value lines in a text: version files of CANN, driver and firmware, os-release, sysctls, and environment variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from doctor.facts.cann import CannInstall
from doctor.facts.cann_files import compatible_versions, is_prerelease, kernel_folder, parse_install_info, parse_version_cfg
from doctor.facts.driver import parse_driver_version, parse_firmware
from doctor.facts.machine import parse_os_release
from doctor.facts.report_prose import plausible
from doctor.facts.report_text import Sightings, Strength, Text, bare
from doctor.regex import regex

ENVIRONMENT = "env:"
SYSCTL = "sysctl:"

_ASSIGNMENT = regex(r"[ \t]{0,12}(?:[-*][ \t]{1,3})?([A-Za-z_][\w.\-/]{0,79})([ \t]{0,8}=[ \t]{0,8})(?!=)")
_PAIR = regex(r"""(?:^|[\s;&])([A-Za-z_]\w{0,79})=("[^"\n]*"|'[^'\n]*'|[^\s;&"'#]*)""")
_COMMAND = regex(r"(?:.{0,400}(?:&&|;|\||RUN|then|do|[\"'])\s{0,4})?export ")
"""An export that is typed; in a sentence ("please export X=1") it is advice."""
_PYTHON = regex(r"""os\.environ(?:\.setdefault\(|\[)\s{0,3}["']([A-Za-z_]\w{0,79})["']\]?\s{0,3}[=,]\s{0,3}(?:str\()?["']?([^"'()\n]{0,400})""")
_YAML = regex(r"""(?:-\s{0,3})?["']?([A-Z][A-Z0-9_]{2,79})["']?\s{0,3}[:=]\s{0,3}["']?([^"'\n]{1,400}?)["']?,?$""")
_SYSCTL_KEY = regex(r"(?:vm|kernel|net|fs|user)\.[a-z][\w.]{1,80}$")
_ECHO = regex(r"echo\s{1,4}[\"']?\$\{?([A-Za-z_]\w{0,79})\}?[\"']?$")

FAMILIES = (
    "ASCEND", "HCCL_", "VLLM_", "PYTORCH_", "TORCH", "LD_", "PYTHON", "OMP_", "GLOO_", "TP_SOCKET", "ATB_", "TASK_QUEUE", "CPU_AFFINITY", "HF_",
    "RAY_", "NPU_", "LCCL", "ACL", "INF_NAN", "TRANSFORMERS_", "CUDA_", "NCCL_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "MASTER_", "SOC_VERSION",
    "COMPILE_CUSTOM", "MAX_JOBS", "DYNAMIC_EPLB", "MINDIE_", "MULTI_STREAM", "CANN_", "MODELSCOPE", "USE_MODELSCOPE", "TOOLCHAIN_HOME", "MALLOC_",
    "JEMALLOC", "OPENBLAS", "MKL_", "TMPDIR", "OOM_SNAPSHOT", "COMBINED_ENABLE", "PROFILING", "DISABLE_L2", "USE_OPTIMIZED_MODEL", "VIRTUAL_ENV",
    "CONDA_", "ENABLE_", "RANK_TABLE", "WORLD_SIZE", "LOCAL_RANK", "MOONCAKE_", "TRITON_", "LMCACHE_", "DISAGGREGATED_", "ATLAS_", "EXPERIMENTAL_",
)  # fmt: skip
"""Beginnings of variables that a line of its own may set without `export`."""

_WHOLE = ("PATH", "HOME", "PWD")
"""Variables that a whole `env` always has."""


def tell_blocks(text: Text, told: Sightings) -> None:
    for start, end in _runs(text):
        _tell_run(text, told, start, end)
    _tell_exports(text, told)
    _tell_echoes(text, told)


def _runs(text: Text) -> Iterator[tuple[int, int]]:
    """Stretches of lines that begin with KEY=; one line that is wrapped or empty does not end a run of an info file, a prompt does."""
    start: int | None = None
    for at, line in enumerate(text.lines):
        if "=" in line[:100] and _ASSIGNMENT.match(line):
            start = at if start is None else start
        elif start is not None:
            yield start, at
            start = None
    if start is not None:
        yield start, len(text.lines)


def _tell_run(text: Text, told: Sightings, start: int, end: int) -> None:
    block = "\n".join(text.lines[start:end])
    values = parse_install_info(block)
    above = " ".join(text.line(at) for at in (start - 2, start - 1)).lower()
    if "package_name" in values and "version" in values:
        _tell_cann(told, values, start)
    elif "ascendhal_version" in values or ("Version" in values and "driver/version.info" in above):
        driver = parse_driver_version(block, *text.place(start))
        if driver is not None and plausible("driver", driver.version):
            told.tell("driver", driver.version, Strength.OUTPUT, start, driver)
    elif "firmware_version" in values or "compatible_version_drv" in values or ("Version" in values and "firmware/version.info" in above):
        firmware = parse_firmware(block, text.place(start)[0])
        if firmware is not None:
            told.tell("firmware", firmware.version, Strength.OUTPUT, start, firmware)
    elif "_running_version" in block:
        _tell_version_cfg(told, block, start)
    elif "version_dir" in values and "Version" in values and plausible("cann", values["version_dir"]):
        told.tell("cann", values["version_dir"], Strength.LOG, start)
    elif "PRETTY_NAME" in values or ("ID" in values and "VERSION_ID" in values):
        system = parse_os_release(block)
        if system is not None:
            told.tell("os", system.id or "?", Strength.OUTPUT, start, system)
    else:
        _tell_settings(text, told, start, end)


def _tell_cann(told: Sightings, values: dict[str, str], at: int) -> None:
    """ascend_toolkit_install.info, or the file of an operator package beside it."""
    name, version = values["package_name"], values["version"]
    if not plausible("cann", version):
        return
    folder = kernel_folder(name)
    if folder:
        told.tell("cann.kernels", folder, Strength.OUTPUT, at, version)
    if "nnal" in name.lower() or "atb" in name.lower():
        told.tell("nnal", version, Strength.OUTPUT, at)
    elif "toolkit" in name or "nnae" in name or "nnrt" in name:
        path = values.get("path", "")
        layout = "nnae" if "nnae" in name else "old" if "ascend-toolkit/" in path else "new"
        install = CannInstall(
            path, version, layout, values.get("arch"), values.get("innerversion"), compatible_versions(values), prerelease=is_prerelease(version)
        )
        told.tell("cann", version, Strength.OUTPUT, at, install)


def _tell_version_cfg(told: Sightings, block: str, at: int) -> None:
    components = parse_version_cfg(block)
    version = components.get("runtime") or next(iter(components.values()), None)
    if version and plausible("cann", version):
        install = CannInstall("", version, component_versions=components, prerelease=is_prerelease(version))
        told.tell("cann", version, Strength.OUTPUT, at, install)


def _tell_settings(text: Text, told: Sightings, start: int, end: int) -> None:
    """Sysctls and variables, line by line; a run that holds PATH, HOME and PWD is a whole environment."""
    names: set[str] = set()
    listing = any("sysctl" in text.line(at) and "conf" in text.line(at) for at in (start - 2, start - 1))
    for at in range(start, end):
        label, _, value = text.lines[at].strip(" \t-*").partition("=")
        name, value = label.strip(), value.strip()
        if _SYSCTL_KEY.match(name):
            if not listing:
                told.tell(SYSCTL + name, " ".join(value.split()), Strength.OUTPUT, at)
            continue
        if name == label:
            names.add(name)
            _tell_variable(told, name, value, at, end - start)
    if names.issuperset(_WHOLE):
        told.tell("environment.whole", "yes", Strength.OUTPUT, start)
        for at in range(start, end):
            name, _, value = text.lines[at].strip().partition("=")
            told.tell(ENVIRONMENT + name, _unquoted(value), Strength.OUTPUT, at)


def _tell_variable(told: Sightings, name: str, value: str, at: int, length: int) -> None:
    if not name.isidentifier():
        return
    if name.upper().startswith(FAMILIES) and name.upper() == name:
        pairs = _PAIR.findall(f"{name}={value}") if " " in value else [(name, value)]
        for key, given in pairs[:40]:
            if key.upper() == key:
                told.tell(ENVIRONMENT + key, _unquoted(given), Strength.OUTPUT if length > 2 else Strength.LOG, at)


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _tell_exports(text: Text, told: Sightings) -> None:
    """`export A=1 B=2`, Dockerfile ENV, os.environ[…] = …, and YAML mappings of well-known variables."""
    scripts = any(text.lines[at].lstrip().startswith("export ") for at in text.having("export "))
    for at in text.having("export "):
        line, prompted = bare(text.lines[at])
        commented = line.startswith("#") or (prompted and scripts and text.lines[at].lstrip().startswith("# "))
        if not commented and _COMMAND.match(line):
            _tell_export(told, line, at)
    for at in text.having("\nenv "):
        _tell_export(told, "export " + text.line(at + 1).strip()[4:], at + 1)
    for at in text.having("os.environ"):
        if not text.lines[at].lstrip().startswith("#"):
            for name, value in _PYTHON.findall(text.lines[at])[:20]:
                told.tell(ENVIRONMENT + name, value.strip(), Strength.LOG, at)
    _tell_yaml(text, told)


def _tell_export(told: Sightings, line: str, at: int) -> None:
    position = line.find("export ")
    while position >= 0:
        following = line.find("export ", position + 7)
        for name, value in _PAIR.findall(line[position + 6 : following if following > 0 else None])[:40]:
            value = _unquoted(value)
            if value != f"${name}":
                told.tell(ENVIRONMENT + name, value, Strength.LOG, at)
        position = following


def _tell_yaml(text: Text, told: Sightings) -> None:
    for at in text.having(*(family.lower() for family in ("ASCEND_", "HCCL_", "VLLM_", "PYTORCH_NPU", "TASK_QUEUE", "LD_PRELOAD"))):
        line = text.lines[at].strip()
        if line.startswith("- name:") and "value:" in text.line(at + 1):
            told.tell(ENVIRONMENT + line[7:].strip(" \"'"), _unquoted(text.line(at + 1).partition("value:")[2]), Strength.KEYED, at)
            continue
        pair = _YAML.match(line) if len(line) < 600 else None
        if pair and pair[1].startswith(FAMILIES):
            told.tell(ENVIRONMENT + pair[1], pair[2].strip(), Strength.KEYED, at)


def _tell_echoes(text: Text, told: Sightings) -> None:
    """`echo $X` and the line after it, which holds its value."""
    for at in text.having("echo "):
        asked = _ECHO.match(bare(text.lines[at])[0])
        answer = text.line(at + 1).strip()
        if asked and answer and not bare(answer)[1] and not answer.startswith(("```", "#")):
            told.tell(ENVIRONMENT + asked[1], answer, Strength.OUTPUT, at + 1)


def cann_install(told: Sightings) -> CannInstall | None:
    """The toolkit that the text tells, with the operator package that stands beside it."""
    cann = told.best("cann")
    if cann is None:
        return None
    install = cann.detail if isinstance(cann.detail, CannInstall) else CannInstall("", cann.value, "", prerelease=is_prerelease(cann.value))
    kernels = told.best("cann.kernels")
    if kernels is not None:
        install = replace(install, kernels=(kernels.value,), kernels_version=str(kernels.detail))
    return install
