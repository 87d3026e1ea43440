"""Records the nodes of an inventory through Ansible: the one file of `doctor collect` runs there, its snapshot comes back.

Contract: Ansible is asked as a program, with our own playbook and callback and nothing of the current folder; its connections, users and
passwords are the site's. Every host of the inventory has a result.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from doctor.fleet.node import Standing
from doctor.text import clean_line

HERE = Path(__file__).parent / "ansible"
TIMEOUT = 120
"""Seconds that recording one node may take."""
LAST = "Bring the snapshot back"


class AnsibleMissing(RuntimeError):
    """There is no ansible-playbook."""


class AnsibleFailed(RuntimeError):
    """Ansible did not get as far as the hosts; the text is its own."""


@dataclass(frozen=True)
class Wanted:
    """What is to be recorded, and how. `inventory` as Ansible takes it; `logs` are paths or globs on the nodes."""

    inventory: str
    folder: Path
    collector: Path
    limit: str = ""
    forks: int = 10
    become: bool = False
    ask_become_pass: bool = False
    profile: str = "support"
    key: str = ""
    logs: tuple[str, ...] = ()
    timeout: int = TIMEOUT


@dataclass
class Recorded:
    """What became of one host; `path` is its snapshot where it was recorded."""

    name: str
    standing: Standing
    path: str = ""
    why: str = ""
    arrived: datetime | None = None


@dataclass
class _Heard:
    """The events of one host so far."""

    state: str = ""
    why: str = ""
    done: float | None = None
    tasks: list[str] = field(default_factory=list)


def program() -> str:
    """ansible-playbook beside this interpreter, else on PATH. Raises `AnsibleMissing`."""
    beside = Path(sys.executable).parent / "ansible-playbook"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("ansible-playbook")
    if not found:
        raise AnsibleMissing
    return found


def gather(wanted: Wanted, heard: Callable[[str, str], None]) -> tuple[Recorded, ...]:
    """Records all hosts; `heard(host, state)` is told as they end. Raises `AnsibleMissing`, `AnsibleFailed`."""
    playbook = program()
    hosts = _hosts(playbook, wanted)
    files = file_names(hosts)
    events = wanted.folder / "events.jsonl"
    events.touch(mode=0o600)
    variables: dict[str, Any] = {
        "doctor_collector": str(wanted.collector), "doctor_out": str(wanted.folder), "doctor_files": files, "doctor_profile": wanted.profile,
        "doctor_key": wanted.key, "doctor_logs": list(wanted.logs), "doctor_timeout": str(wanted.timeout),
    }  # fmt: skip
    extra = wanted.folder / "variables.json"
    extra.touch(mode=0o600)
    extra.write_text(json.dumps(variables), encoding="utf-8")
    command = [playbook, *_common(wanted), "--forks", str(wanted.forks), "--extra-vars", f"@{extra}"]
    command += ["--become"] if wanted.become else []
    command += ["--ask-become-pass"] if wanted.ask_become_pass else []
    process = subprocess.Popen([*command, str(HERE / "playbook.yaml")], env=_environ(wanted.folder, events), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        told = _follow(process, events, hosts, heard)
        output = process.communicate()[0].decode("utf-8", "replace")
    finally:
        _end(process)
        with suppress(OSError):
            extra.unlink()
    if not told and process.returncode not in (0, 2, 4):
        raise AnsibleFailed(f"{process.returncode}: {clean_line(output)[-600:]}")
    return tuple(_recorded(name, told.get(name), wanted.folder / f"{files[name]}.tar.gz") for name in hosts)


def file_names(hosts: Sequence[str]) -> dict[str, str]:
    """Host -> name of its file: letters that are safe anywhere, and different ones for different hosts."""
    names: dict[str, str] = {}
    for number, host in enumerate(hosts, 1):
        name = re.sub(r"[^A-Za-z0-9_-]|^-", "_", host)[:80]
        names[host] = name if name not in names.values() else f"{name}.{number}"
    return names


def _common(wanted: Wanted) -> list[str]:
    return ["--inventory", wanted.inventory, *(["--limit", wanted.limit] if wanted.limit else [])]


def _environ(folder: Path, events: Path) -> dict[str, str]:
    """The site's own settings stay; what decides about our output is ours. An ansible.cfg of the current folder counts only where ANSIBLE_CONFIG names it."""
    own = folder / "ansible.cfg"
    own.touch(mode=0o600)
    sites = (os.path.expanduser("~/.ansible.cfg"), "/etc/ansible/ansible.cfg")
    return {
        **os.environ,
        "ANSIBLE_CONFIG": os.environ.get("ANSIBLE_CONFIG") or next((path for path in sites if os.path.isfile(path)), str(own)),
        "ANSIBLE_CALLBACK_PLUGINS": str(HERE),
        "ANSIBLE_CALLBACKS_ENABLED": "doctor_events",
        "ANSIBLE_RETRY_FILES_ENABLED": "0",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_NOCOWS": "1",
        "ANSIBLE_LOCAL_TEMP": str(folder / "ansible"),
        "ANSIBLE_DEPRECATION_WARNINGS": "0",
        "DOCTOR_EVENTS": str(events),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
    }


def _hosts(playbook: str, wanted: Wanted) -> list[str]:
    """The hosts of the inventory, numbers in their names in their order: Ansible tells them in none."""
    done = subprocess.run(
        [playbook, *_common(wanted), "--list-hosts", str(HERE / "playbook.yaml")],
        env=_environ(wanted.folder, Path(os.devnull)), capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=120, check=False,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    start = next((index for index, line in enumerate(lines) if line.strip().startswith("hosts (")), None)
    if done.returncode or start is None:
        raise AnsibleFailed(f"{done.returncode}: {clean_line(done.stderr or done.stdout)[-600:]}")
    names = (line.strip() for line in lines[start + 1 :])
    return sorted((name for name in names if name), key=lambda name: [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"([0-9]+)", name)])


def _follow(process: subprocess.Popen[bytes], events: Path, hosts: Sequence[str], heard: Callable[[str, str], None]) -> Mapping[str, _Heard]:
    """Reads the events while Ansible runs."""
    told: dict[str, _Heard] = {}
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    output = b""
    with open(events, encoding="utf-8", errors="replace") as file:
        part = ""
        while True:
            running = process.poll() is None
            with suppress(BlockingIOError):
                output += process.stdout.read() or b""  # so that a full pipe never stops Ansible
            part += file.read()
            *whole, part = part.split("\n")
            for line in whole:
                _hear(line, told, hosts, heard)
            if not running:
                break
            time.sleep(0.1)
    os.set_blocking(process.stdout.fileno(), True)
    return told


def _hear(line: str, told: dict[str, _Heard], hosts: Sequence[str], heard: Callable[[str, str], None]) -> None:
    try:
        event = json.loads(line)
        name, task, state = str(event["host"]), str(event["task"]), str(event["state"])
    except (ValueError, KeyError, TypeError):
        return
    if name not in hosts:
        return
    host = told.setdefault(name, _Heard())
    host.tasks.append(task)
    if state == "ok" and task == LAST:
        host.done = float(event.get("time") or time.time())
        heard(name, "recorded")
    elif state != "ok" and not host.state:
        host.state, host.why = state, clean_line(str(event.get("why", "")))[:600]
        heard(name, state)


def _recorded(name: str, heard: _Heard | None, path: Path) -> Recorded:
    if heard is not None and heard.done is not None and path.is_file():
        return Recorded(name, Standing.JUDGED, str(path), arrived=datetime.fromtimestamp(heard.done, timezone.utc))
    if heard is not None and heard.state == "unreachable":
        return Recorded(name, Standing.UNREACHABLE, why=heard.why)
    return Recorded(name, Standing.FAILED, why=heard.why if heard else "")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


__all__ = ["AnsibleFailed", "AnsibleMissing", "Recorded", "TIMEOUT", "Wanted", "file_names", "gather", "program"]
