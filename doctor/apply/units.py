"""systemd units as files: which unit runs vLLM, what its files and drop-ins set, and which of them wins."""

from __future__ import annotations

import re
from dataclasses import dataclass

from doctor.apply.kind import Context
from doctor.apply.tuners import text
from doctor.facts.target import Target
from doctor.facts.vllm import VllmProcesses
from doctor.host import KIB, Host, Unavailable

FOLDERS = ("/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
"""From the strongest."""
NAME = re.compile(r"[A-Za-z0-9:_.@\\-]{1,200}\.service")
_GROUP = re.compile(r"/system\.slice/(?:[^/\n]{1,200}/){0,4}?([A-Za-z0-9:_.@\\-]{1,200}\.service)")
_CALLS = re.compile(r"(?m)^[ \t]*ExecStart[ \t]*=.{0,2000}?\bvllm\b")


@dataclass(frozen=True)
class Setting:
    """One line of a unit's files; `value` as it stands there."""

    path: str
    value: str


def unit_of(context: Context, named: str = "") -> str:
    """The unit that runs vLLM: the one that is named, that of a running server, or the only one whose ExecStart calls vLLM; "" if none."""
    if wanted := named or context.choices.unit:
        wanted = wanted if "." in wanted else f"{wanted}.service"
        return wanted if NAME.fullmatch(wanted) and fragment(context.host, wanted) else ""
    target, running = context.fact(Target), context.fact(VllmProcesses)
    pids = [target.pid] if target is not None and target.pid else [process.pid for process in running.processes] if running else []
    for pid in pids[:8]:
        groups = context.host.read(f"/proc/{pid}/cgroup", 64 * KIB)
        match = _GROUP.search(groups) if isinstance(groups, str) else None
        if match and fragment(context.host, match[1]):
            return match[1]
    found = context.host.list("/etc/systemd/system/*.service")
    units = [] if isinstance(found, Unavailable) else [path for path in found[:200] if _CALLS.search(text(context.host, path))]
    return units[0].rpartition("/")[2] if len(units) == 1 else ""


def fragment(host: Host, unit: str) -> str:
    """Path of the unit's own file, "" where there is none; an instance has its template's."""
    names = [unit, re.sub(r"@[^.]*\.", "@.", unit)]
    return next((path for name in names for folder in FOLDERS if not isinstance(host.stat(path := f"{folder}/{name}"), Unavailable)), "")


def drop_ins(host: Host, unit: str, own: str = "") -> tuple[str, ...]:
    """The unit's drop-ins in the order in which systemd reads them; `own` is one that will be there."""
    by_name: dict[str, str] = {}
    for folder in FOLDERS:
        found = host.list(f"{folder}/{unit}.d/*.conf")
        for path in () if isinstance(found, Unavailable) else found:
            by_name.setdefault(path.rpartition("/")[2], path)
    if own:
        by_name[own.rpartition("/")[2]] = own
    return tuple(path for _, path in sorted(by_name.items()))


def settings(host: Host, unit: str, name: str, without: str = "") -> tuple[Setting, ...]:
    """Every line that sets `name` in [Service], in the order in which systemd reads them; the file `without` is left out."""
    paths = [path for path in (fragment(host, unit), *drop_ins(host, unit)) if path and path != without]
    return tuple(Setting(path, value) for path in paths for key, value in service_lines(text(host, path)) if key == name)


def service_lines(content: str) -> tuple[tuple[str, str], ...]:
    """(name, value) of the [Service] section; lines that end with a backslash go on."""
    found: list[tuple[str, str]] = []
    section, kept = "", ""
    for line in content.splitlines():
        stripped = kept + line.strip()
        kept = ""
        if stripped.endswith("\\"):
            kept = stripped[:-1].rstrip() + " "
        elif stripped.startswith("["):
            section = stripped
        elif section == "[Service]" and stripped and stripped[0] not in "#;":
            key, equals, value = stripped.partition("=")
            found += [(key.strip(), value.strip())] if equals else []
    return tuple(found)


def exec_start(host: Host, unit: str, without: str = "") -> str:
    """The one command that the unit starts, "" where there is none or several."""
    commands: list[str] = []
    for setting in settings(host, unit, "ExecStart", without):
        commands = [*commands, setting.value] if setting.value else []
    return commands[0] if len(commands) == 1 else ""


def escaped(value: str) -> str:
    """A value of `Environment=` in double quotes, with what systemd would expand taken literally."""
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%") + '"'


__all__ = ["NAME", "Setting", "drop_ins", "escaped", "exec_start", "fragment", "service_lines", "settings", "unit_of"]
