"""The text of an issue: everything that vllm-ascend's collect_env.py asks for and what it does not see, as Markdown or as one HTML page.

Contract: nothing in it comes out unmasked or unescaped; what is not known is said to be so, and nothing that is missing ends it early.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeVar

from doctor.bundle.redact import Redactor
from doctor.bundle.seen import SeenHost, learn
from doctor.examine import Examination, Selection, examine_host
from doctor.facts import Facts
from doctor.facts.cann import Cann
from doctor.facts.container import Container
from doctor.facts.driver import Driver, Firmware
from doctor.facts.kernel import Sysctls
from doctor.facts.machine import Machine, OperatingSystem
from doctor.facts.npu import NpuDetail
from doctor.facts.target import Environment, Packages, Target, module_folder
from doctor.facts.vllm import ServeCommands
from doctor.host import Host, Output, Unavailable
from doctor.locale import Speak
from doctor.logscan.scan import Chunk
from doctor.rulebook import Rulebook
from doctor.text import clean, clean_line

T = TypeVar("T")

PACKAGES = re.compile(r"torch|numpy|transformers|vllm|ascend|npu|cann|triton|zmq|optree|onnx|mypy|flake8|mooncake|mindie|modelslim|compressed|safetensors|tokenizers|ray|xgrammar|outlines|numba|scipy|protobuf|pydantic|fastapi|huggingface|modelscope")
PREFIXES = ("TORCH", "PYTORCH", "ASCEND_", "ATB_", "HCCL_", "VLLM_", "LD_", "OMP_", "NPU_", "TASK_QUEUE_ENABLE", "PYTHONPATH", "LCCL_", "ACL_", "CPU_AFFINITY_CONF", "MASTER_", "RAY_", "HF_", "MODELSCOPE_", "VIRTUAL_ENV", "CONDA_PREFIX", "PATH")
MOST_CAUSES = 12
TOOLS = (("GCC version", ("gcc", "--version")), ("Clang version", ("clang", "--version")), ("CMake version", ("cmake", "--version")))


@dataclass(frozen=True)
class Section:
    """A heading and the text below it, both plain; `wide` is shown as it is, in a fixed font."""

    title: str
    text: str
    wide: bool = True


def ticket(host: Host, book: Rulebook, chunks: Sequence[Chunk], redactor: Redactor, language: str, say: Speak, python: str | None = None) -> list[Section]:
    """Looks at the host and tells it, masked."""
    seen = SeenHost(host)
    examination = examine_host(seen, book, Selection(), python=python, chunks=chunks)
    sections = _sections(seen, examination, language, say)
    learn(redactor, host, seen.seen(), [section.text for section in sections])
    return [Section(section.title, redactor.text(clean(section.text)), section.wide) for section in sections]


def _sections(host: Host, examination: Examination, language: str, say: Speak) -> list[Section]:
    facts = examination.facts
    return [
        Section(say("ticket_findings"), _findings(examination, language, say), wide=False),
        Section("Versions", _versions(host, facts, say)),
        Section("NPU (npu-smi info)", _output(host, ("npu-smi", "info"), say)),
        Section("CANN", _cann(host, facts, say)),
        Section("Versions of relevant libraries", _packages(host, facts, say)),
        Section("ENV Variables", _variables(facts, say)),
        Section("How vLLM is started", _commands(facts, say)),
        Section("Settings", _settings(facts, say)),
        Section("CPU", _output(host, ("lscpu",), say)),
    ]


def _findings(examination: Examination, language: str, say: Speak) -> str:
    lines = []
    for cause in examination.causes[:MOST_CAUSES]:
        finding = cause.finding
        told = f" ({clean_line(finding.found)})" if finding.found else ""
        lines.append(f"{say(finding.severity.name)} {finding.rule}: {clean_line(finding.title[language])}{told}")
    if len(examination.causes) > MOST_CAUSES:
        lines.append(say("more_causes", count=len(examination.causes) - MOST_CAUSES))
    if examination.first_error is not None:
        lines.append(clean_line(examination.first_error.evidence.text)[:400])
    return "\n".join(lines) or say("ticket_none")


def _fact(facts: Facts, kind: type[T]) -> T | None:
    try:
        found = facts.get(kind)
    except Exception:  # noqa: BLE001  a provider that breaks costs its own line
        return None
    return None if isinstance(found, Unavailable) else found


def _versions(host: Host, facts: Facts, say: Speak) -> str:
    system, machine, target, packages = _fact(facts, OperatingSystem), _fact(facts, Machine), _fact(facts, Target), _fact(facts, Packages)
    driver, firmware, cann, detail, container = (_fact(facts, kind) for kind in (Driver, Firmware, Cann, NpuDetail, Container))
    versions = packages.versions if packages else {}
    rows: list[tuple[str, object]] = [
        ("PyTorch version", versions.get("torch")),
        ("Is debug build", _debug_build(host, facts)),
        ("OS", f"{system.name or system.id or ''} {system.version_id or ''} ({machine.arch if machine else ''})".replace(" ()", "").strip() if system else None),
        ("Kernel", system.kernel if system else None),
        ("Libc version", f"glibc-{system.glibc}" if system and system.glibc else None),
        ("Container", (container.kind or "no") if isinstance(container, Container) else None),
        ("Python version", (packages.python if packages else None) or (target.version if target else None)),
        ("Python", target.python if target else None),
        ("Python platform", _platform(system, machine)),
        *((title, _first_line(host, argv)) for title, argv in TOOLS),
        ("vLLM Version", versions.get("vllm")),
        ("vLLM Ascend Version", versions.get("vllm-ascend")),
        ("torch-npu", versions.get("torch-npu")),
        ("Driver (HDK)", driver.version if isinstance(driver, Driver) else None),
        ("Firmware", (firmware.package_version or firmware.version) if isinstance(firmware, Firmware) else None),
        ("Firmware per NPU", ", ".join(f"{npu}: {version}" for npu, version in sorted(detail.firmware.items())) if isinstance(detail, NpuDetail) else None),
        ("CANN", cann.version if isinstance(cann, Cann) else None),
    ]
    return "\n".join(f"{title}: {clean_line(str(value)) if value else say('unknown_value')}" for title, value in rows)


def _platform(system: OperatingSystem | None, machine: Machine | None) -> str | None:
    if system is None or not system.kernel:
        return None
    return "-".join(part for part in ("Linux", system.kernel, machine.arch if machine else "", f"with-glibc{system.glibc}" if system.glibc else "") if part)


def _debug_build(host: Host, facts: Facts) -> str | None:
    folder = module_folder(facts, "torch")
    text = host.read(f"{folder}/version.py", 16 * 1024) if folder else ""
    told = re.search(r"^debug\s*(?::[^=\n]*)?=\s*(True|False)", text, re.MULTILINE) if isinstance(text, str) else None
    return told[1] if told else None


def _first_line(host: Host, argv: Sequence[str]) -> str | None:
    output = host.run(argv, 5.0)
    return output.stdout.split("\n")[0].strip() if isinstance(output, Output) and output.exit == 0 else None


def _output(host: Host, argv: Sequence[str], say: Speak) -> str:
    output = host.run(argv, 20.0)
    if isinstance(output, Unavailable):
        return f"{say('unknown_value')}: {output}"
    return output.text.strip() or f"exit {output.exit}"


def _cann(host: Host, facts: Facts, say: Speak) -> str:
    cann = _fact(facts, Cann)
    if cann is None or not cann.installs:
        return say("unknown_value")
    parts = []
    for install in cann.installs:
        listed = host.list(posixpath.join(install.path, "*-linux/ascend_toolkit_install.info"))
        for path in listed if isinstance(listed, tuple) else ():
            text = host.read(path, 64 * 1024)
            parts += [f"# {path}", text.strip()] if isinstance(text, str) else []
        parts.append(f"{install.path}: {install.version or say('unknown_value')}")
    return "\n".join(parts)


def _packages(host: Host, facts: Facts, say: Speak) -> str:
    packages = _fact(facts, Packages)
    target = _fact(facts, Target)
    lines = [f"[pip3] {name}=={version}" for name, version in sorted(packages.versions.items()) if PACKAGES.search(name)] if packages else []
    prefix = posixpath.dirname(posixpath.dirname(target.python)) if target else ""
    listed = host.list(f"{prefix}/conda-meta/*.json") if prefix else ()
    lines += [f"[conda] {posixpath.basename(path)[:-5]}" for path in (listed if isinstance(listed, tuple) else ()) if PACKAGES.search(path.rpartition("/")[2])]
    return "\n".join(lines) or say("unknown_value")


def _variables(facts: Facts, say: Speak) -> str:
    environment = _fact(facts, Environment)
    lines = [f"{name}={value}" for name, value in sorted(environment.values.items()) if name.startswith(PREFIXES)] if environment else []
    return "\n".join(lines) or say("unknown_value")


def _commands(facts: Facts, say: Speak) -> str:
    commands = _fact(facts, ServeCommands)
    return "\n".join(" ".join([command.source, *(f"--{name} {value}".strip() for name, value in command.flags.items())]) for command in (commands.commands if commands else ())) or say("unknown_value")


def _settings(facts: Facts, say: Speak) -> str:
    sysctls = _fact(facts, Sysctls)
    return "\n".join(f"{name} = {value}" for name, value in sorted(sysctls.values.items())) if sysctls and sysctls.values else say("unknown_value")


def as_markdown(sections: Sequence[Section], say: Speak) -> str:
    """For a GitHub issue: what was found stands open, the environment in a block that is folded."""
    found, *rest = sections
    body = "\n\n".join(f"{section.title}\n{section.text}" for section in rest)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", body + found.text)), default=0))
    parts = [
        f"### {say('ticket_expected')}", say("ticket_write_here"), f"### {found.title}", f"{fence}text\n{found.text}\n{fence}",
        f"<details>\n<summary>{escape(say('ticket_summary'))}</summary>\n\n{fence}text\n{body}\n{fence}\n\n</details>",
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


_STYLE = (
    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,'Noto Sans CJK SC','Microsoft YaHei',sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}"
    "pre{background:#8882;padding:.6rem .8rem;border-radius:.3rem;white-space:pre-wrap;overflow-wrap:anywhere}section{break-inside:auto}h2{font-size:1.1rem;margin-bottom:.3rem}@media print{body{margin:0}}"
)


def as_html(sections: Sequence[Section], language: str, say: Speak) -> str:
    """One page without anything remote: it can be mailed, opened and printed."""
    blocks = "".join(f"<section><h2>{escape(section.title)}</h2><pre>{escape(section.text)}</pre></section>\n" for section in sections)
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>ascend-doctor</title><style>{_STYLE}</style>"
    )
    return f'<!DOCTYPE html>\n<html lang="{"zh-CN" if language == "zh" else "en"}"><head>{head}</head><body><h1>{escape(say("ticket_summary"))}</h1>\n{blocks}</body></html>\n'


__all__ = ["Section", "as_html", "as_markdown", "ticket"]
