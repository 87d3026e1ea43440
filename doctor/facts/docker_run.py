"""Reads `docker run` (podman, nerdctl, isula) command lines out of scripts and pasted text. Pure functions; no text makes them raise."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from doctor.facts.number import size, whole
from doctor.facts.run_command import RunCommand
from doctor.regex import regex

_START = regex(
    r"(?<![\w/.-])(?:/[\w/.-]{1,64}/)?(?:docker|podman|nerdctl|isula)\s+(?:-[-\w]+(?:[= ]\S+)?\s+){0,4}(?:container\s+)?run(?=\s|\\|$)", re.ASCII
)
_BEFORE = regex(r"(?:^|.*(?:&&|\|\||[;|(`:：]|[#$>-]\s))\s*(?:(?:sudo|nohup|exec|time)\s+(?:-\S+\s+)*|[A-Za-z_]\w*=\S*\s+)*", re.ASCII)
"""What may stand before a command: a prompt, another command, sudo, variables; but not prose."""
_QUOTE = regex(r"^[\s>]*")
_MOST_LINES = 120
"""Lines that one command may go on for."""
_LONGEST_COMMAND = 32 * 1024
_LONGEST_PROMPT = 200
_OPERATORS = ("&&", "||", ";", "|", "&", ">", ">>", "2>&1", "<")

_SWITCHES = frozenset({
    "detach", "interactive", "tty", "rm", "privileged", "init", "read-only", "no-healthcheck", "oom-kill-disable", "publish-all",
    "sig-proxy", "disable-content-trust", "quiet", "help", "replace", "no-hosts", "rmi", "tls-verify", "env-host", "http-proxy",
    "use-api-socket", "external-rootfs", "system-container",
})  # fmt: skip
"""Long flags that take no value unless it is joined by "="."""
_SHORT_SWITCHES = "ditPq"
_SHORT_NAMES = {"v": "volume", "e": "env", "u": "user", "h": "hostname", "p": "publish", "w": "workdir", "m": "memory"}
_BRACES = regex(r"^(.*?)\{([0-9]{1,3})\.\.([0-9]{1,3})\}(.*)$", re.ASCII | re.DOTALL)
_MOST_EXPANDED = 64


def parse_docker_run(text: str, source: str = "", line: int = 0) -> RunCommand | None:
    """The first run command of a line, or of lines joined by a backslash; None if there is none."""
    return next(iter(parse_docker_runs(text, source, line)), None)


def parse_docker_runs(text: str, source: str = "", line: int = 1) -> tuple[RunCommand, ...]:
    """Every run command of a text whose first line has the number `line` (0: not told, as for a command by itself)."""
    found: list[RunCommand] = []
    lines = [_QUOTE.sub("", raw[:_LONGEST_COMMAND]) for raw in text.splitlines()]
    at = 0
    while at < len(lines):
        start = _START.search(lines[at])
        if start is None or not _BEFORE.fullmatch(lines[at][: start.start()][-_LONGEST_PROMPT:]):
            at += 1
            continue
        joined, taken = _join(lines, at)
        command = _read(_words(joined[start.end() :]), source, line + at if line else 0)
        if command is not None:
            found.append(command)
        at += taken
    return tuple(found)


def _join(lines: list[str], at: int) -> tuple[str, int]:
    """The command with its further lines, and how many lines it took. A line that begins with a flag goes on even where the backslash was lost."""
    first = lines[at].rstrip()
    parts, taken = [first.removesuffix("\\")], 1
    more = first.endswith("\\")
    while at + taken < len(lines) and taken < _MOST_LINES:
        line = lines[at + taken].rstrip()
        if not more and not re.match(r"--?[a-z]", line):
            break
        if not line.startswith("#"):
            parts.append(line.removesuffix("\\"))
            more = line.endswith("\\")
        taken += 1
    return " ".join(parts)[:_LONGEST_COMMAND], taken


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:  # a quote was lost
        words = [word.strip("\"'`") for word in command.split()]
    for index, word in enumerate(words):
        if word in _OPERATORS:
            return words[:index]
        if word.endswith(";") and len(word) > 1:
            return [*words[:index], word[:-1]]
    return words


def _read(words: list[str], source: str, line: int) -> RunCommand | None:
    """None for prose about `docker run`: no flag, and no word that looks like an image."""
    flags, rest = _flags(words)
    if not flags and not (rest and re.search(r"[/:$]", rest[0])):
        return None
    environment: dict[str, str] = {}
    devices: list[str] = []
    volumes: list[tuple[str, str]] = []
    single: dict[str, str] = {}
    for name, value in flags:
        if name == "env":
            key, equals, text = value.partition("=")
            if equals and key:
                environment[key] = text
        elif name == "device":
            devices += _expanded(device_path(value))
        elif name == "volume":
            volumes.append(volume(value))
        elif name == "mount":
            mount = _mount(value)
            if mount.get("type") == "tmpfs" and mount.get("target") == "/dev/shm":
                single.setdefault("shm-size", mount.get("tmpfs-size", ""))
            elif "target" in mount:
                volumes.append((mount.get("source", ""), mount["target"]))
        else:
            single["network" if name == "net" else name] = value
    return RunCommand(
        image=rest[0] if rest else None, devices=tuple(devices), volumes=tuple(volumes), environment=environment,
        privileged=single.get("privileged", "false").lower() in ("", "true", "1"), shm_size=size(single.get("shm-size")),
        network=single.get("network"), ipc=single.get("ipc"), user=single.get("user"), runtime=single.get("runtime"),
        command=tuple(rest[1:]), source=source, line=line,
    )  # fmt: skip


def _flags(words: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """(long name, value) of every flag, and what follows the flags: image and command."""
    flags: list[tuple[str, str]] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            return flags, words[at + 1 :]
        if not word.startswith("-") or word == "-":
            if word.strip():
                return flags, words[at:]
            at += 1
            continue
        following = words[at + 1] if at + 1 < len(words) else ""
        name, value, used = _long(word, following) if word.startswith("--") else _short(word, following)
        flags.append((name, value))
        at += used
    return flags, []


def _long(word: str, following: str) -> tuple[str, str, int]:
    name, equals, value = word[2:].partition("=")
    if equals or name in _SWITCHES:
        return name, value, 1
    return name, following, 2


def _short(word: str, following: str) -> tuple[str, str, int]:
    """A cluster such as -itd, -v /a:/b, -eNAME=1 or -itv /a:/b; the first letter that takes a value takes the rest."""
    for index, letter in enumerate(word[1:], start=1):
        if letter not in _SHORT_SWITCHES:
            rest = word[index + 1 :].removeprefix("=")
            name = _SHORT_NAMES.get(letter, letter)
            return (name, rest, 1) if rest else (name, following, 2)
    return word[1:], "", 1


def device_path(value: str) -> str:
    """The host's path of "/dev/davinci0:/dev/davinci0:rwm"; a CDI name stays as it is."""
    return value.partition(":")[0] if value.startswith("/") else value


def volume(value: str) -> tuple[str, str]:
    """ (source, destination) of "/a:/b:ro"; the source is "" for an anonymous volume."""
    parts = value.split(":")
    return (parts[0], parts[1]) if len(parts) > 1 else ("", parts[0])


_MOUNT_NAMES = {"src": "source", "dst": "target", "destination": "target"}


def _mount(value: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in value.split(","))
    return {_MOUNT_NAMES.get(key.strip(), key.strip()): text for key, _, text in pairs}


def _expanded(path: str) -> Iterator[str]:
    """/dev/davinci{0..7} as bash would expand it."""
    match = _BRACES.match(path)
    low, high = (whole(match[2]), whole(match[3])) if match else (None, None)
    if match is None or low is None or high is None or not 0 <= high - low < _MOST_EXPANDED:
        yield path
        return
    for number in range(low, high + 1):
        yield f"{match[1]}{number}{match[4]}"
