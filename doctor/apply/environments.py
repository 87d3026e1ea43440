"""What the environment of vLLM's process lacks, resolved on this machine, and how it is written for each way of starting vLLM."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from doctor.apply.kind import Context
from doctor.facts.cann import Cann, NnalSearch
from doctor.facts.machine import Machine
from doctor.facts.target import Environment
from doctor.fix import SetEnvironment, unfilled
from doctor.host import Unavailable
from doctor.words import Words

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_ALLOCATORS = ("libjemalloc.so.2", "libjemalloc.so", "libtcmalloc.so.4", "libtcmalloc_minimal.so.4")
_LIBRARIES = ("/usr/lib64", "/usr/lib/aarch64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/lib", "/usr/local/lib", "/usr/local/lib64")
SMALL_PAGE = 4096
"""Bytes; a jemalloc from a package is built for it, and refuses to start with larger pages unless it was built for them."""


@dataclass(frozen=True)
class Lacking:
    """What is to be done to an environment, in this order: remove, read scripts, set, put before a list."""

    unset: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    set: Mapping[str, str] = field(default_factory=dict)
    prepend: Mapping[str, str] = field(default_factory=dict)

    @property
    def plain(self) -> bool:
        """Only variables with a value: no shell is needed."""
        return not (self.unset or self.source or self.prepend)

    @property
    def nothing(self) -> bool:
        return self.plain and not self.set


def lacking(action: SetEnvironment, context: Context) -> Lacking | Words:
    """What of the action is still to be done to the target's environment, or why that cannot be told."""
    environment = context.fact(Environment)
    now = environment.values if environment is not None else {}
    values = {**action.set}
    for wrong, right in action.rename.items():
        if wrong in now:
            values[right] = now[wrong]
    names = (*values, *action.prepend, *action.unset, *action.rename)
    if odd := [name for name in names if not NAME.fullmatch(name)]:
        return Words(f"{odd[0]!r} is no name of a variable", f"{odd[0]!r} 不是合法的变量名")
    scripts, prepended = _scripts(action, context), _prepended(action, context, now)
    if isinstance(scripts, Words):
        return scripts
    if isinstance(prepended, Words):
        return prepended
    known = {name: value for name, value in values.items() if not unfilled(value) and "\n" not in value and "\0" not in value}
    if not known and not scripts and not prepended and (values or action.rename) and not action.unset:
        return Words("a value is not known on this machine", "本机上无法得知所需的值")
    return Lacking(tuple(dict.fromkeys((*action.unset, *action.rename))), scripts, known, prepended)


def _scripts(action: SetEnvironment, context: Context) -> tuple[str, ...] | Words:
    found: list[str] = []
    for name in action.source:
        script = _cann_script(context) if name == "cann" else _atb_script(context) if name == "atb" else name
        if script and script.startswith("/") and not isinstance(context.host.stat(script), Unavailable):
            found.append(script)
        elif name != "atb":  # NNAL is a package of its own, and not everybody has it
            return Words(f"no set_env.sh was found for {name}", f"未找到 {name} 的 set_env.sh")
    return tuple(found)


def _cann_script(context: Context) -> str:
    cann = context.fact(Cann)
    installs = [*([cann.active] if cann and cann.active else []), *(cann.installs if cann else ())]
    places = [f"{folder}/set_env.sh" for install in installs for folder in (install.path, install.path.rpartition("/")[0])]
    return next((path for path in places if not isinstance(context.host.stat(path), Unavailable)), "")


def _atb_script(context: Context) -> str:
    search = context.fact(NnalSearch)
    nnal = search.found.path if search and search.found else ""
    places = [f"{nnal}/{more}" for more in ("set_env.sh", "atb/set_env.sh", "../set_env.sh")] if nnal else []
    places.append("/usr/local/Ascend/nnal/atb/set_env.sh")
    return next((path for path in places if not isinstance(context.host.stat(path), Unavailable)), "")


def _prepended(action: SetEnvironment, context: Context, now: Mapping[str, str]) -> dict[str, str] | Words:
    found: dict[str, str] = {}
    for name, value in action.prepend.items():
        entry = allocator(context) if value == "allocator" else value
        if isinstance(entry, Words):
            return entry
        if unfilled(entry):
            return Words(f"a value is not known on this machine: {entry}", f"本机上无法得知所需的值：{entry}")
        there = () if name in action.unset else re.split(r"[: ]", now.get(name, ""))
        if more := [part for part in entry.split(":") if part not in there]:
            found[name] = ":".join(more)
    return found


def allocator(context: Context) -> str | Words:
    """The allocator to preload that fits the page size: jemalloc on 4K pages, tcmalloc (which adapts itself) on larger ones."""
    machine = context.fact(Machine)
    page = machine.page_size if machine else None
    names = [name for name in _ALLOCATORS if page == SMALL_PAGE or "tcmalloc" in name]
    for folder in _LIBRARIES:
        for name in names:
            if not isinstance(context.host.stat(f"{folder}/{name}"), Unavailable):
                return f"{folder}/{name}"
    told = "jemalloc or tcmalloc" if page == SMALL_PAGE else "tcmalloc (a packaged jemalloc does not start with larger pages)"
    told_zh = "jemalloc 或 tcmalloc" if page == SMALL_PAGE else "tcmalloc（软件源中的 jemalloc 不支持更大的页）"
    return Words(f"no {told} is installed", f"未安装 {told_zh}")


def shell_lines(need: Lacking) -> tuple[str, ...]:
    """Lines for a POSIX shell (CANN's own scripts want bash)."""
    lines = [f"unset {' '.join(need.unset)}"] if need.unset else []
    lines += [f". {shlex.quote(script)}" for script in need.source]
    lines += [f"export {name}={shlex.quote(value)}" for name, value in need.set.items()]
    lines += [f'export {name}={shlex.quote(value)}"${{{name}:+:${name}}}"' for name, value in need.prepend.items()]
    return tuple(lines)


def dockerfile(need: Lacking) -> str:
    """Lines for a Dockerfile. Scripts cannot become ENV: they are read by the entry point."""
    lines = [f"ENV {name}={json.dumps(value)}".replace("$", "\\$") for name, value in need.set.items()]
    if not need.plain:
        lines.append("ENTRYPOINT " + json.dumps(entry(need)))
    return "\n".join(lines) + "\n"


def compose(need: Lacking, service: str) -> str:
    """An override file for docker compose."""
    lines = ["services:", f"  {service}:"]
    if need.plain:
        lines += ["    environment:", *(f"      {name}: {json.dumps(value.replace('$', '$$'))}" for name, value in need.set.items())]
    else:
        lines.append("    entrypoint: " + json.dumps([word.replace("$", "$$") for word in entry(need)]))
    return "\n".join(lines) + "\n"


def kubernetes(need: Lacking, container: str, command: Sequence[str]) -> str:
    """A strategic merge patch for a Deployment or StatefulSet; `command` is what the container runs now."""
    lines = ["spec:", "  template:", "    spec:", "      containers:", f"      - name: {json.dumps(container)}"]
    if need.plain:
        lines += ["        env:", *(f"        - {{name: {name}, value: {json.dumps(value)}}}" for name, value in need.set.items())]
    else:
        lines += ["        command: " + json.dumps(entry(need)), "        args: " + json.dumps(list(command))]
    return "\n".join(lines) + "\n"


def entry(need: Lacking) -> list[str]:
    """An entry point that sets the environment and then becomes the command it is given."""
    return ["/bin/bash", "-c", " && ".join((*shell_lines(need), 'exec "$@"')), "--"]


__all__ = ["Lacking", "allocator", "compose", "dockerfile", "entry", "kubernetes", "lacking", "shell_lines"]
