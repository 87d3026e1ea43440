"""Keeps what a stall shows before time-outs end the processes: stacks, wait channels, the last log lines. Writes one folder of its own; reads only.

Contract: bounded in time (`BUDGET`) and size; what cannot be had is noted in `missing.txt`, never raised. py-spy runs with --nonblocking, so that
no process is paused.
"""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from doctor.host import KIB, Host, Unavailable
from doctor.watch.roles import Member
from doctor.watch.sampler import Sampler

BUDGET = 60.0
"""Seconds for everything: vLLM ends itself 300 s after a stall begins."""
DUMP_TIMEOUT = 8.0
MOST_PROCESSES = 64
MOST_THREADS = 128
MOST_FOLDERS = 20


def collect(host: Host, sampler: Sampler, folder: Path, kind: str, stamp: str, members: Sequence[Member]) -> str:
    """Writes the evidence of one stall below `folder`, and returns where; "" where that cannot be written or there is enough already."""
    place = folder / f"{re.sub(r'[^A-Za-z0-9]', '', stamp)[:20]}-{kind}"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if len(list(folder.iterdir())) >= MOST_FOLDERS:
            return ""
        place.mkdir(mode=0o700)
    except OSError:
        return ""
    missing: list[str] = []
    end = time.monotonic() + BUDGET
    _write(place / "log-tail.txt", "\n".join(sampler.tail.lines) if sampler.tail is not None else "", missing)
    _write(place / "metrics.txt", sampler.page, missing)
    first = sorted(members, key=lambda member: ("engine", "worker", "api").index(member.role) if member.role in ("engine", "worker", "api") else 9)
    for member in first[:MOST_PROCESSES]:
        if time.monotonic() > end:
            missing.append(f"process {member.pid} and those after it: no time was left")
            break
        _write(place / f"{member.role}-{member.pid}.txt", "\n".join(_of_process(host, member, missing)), missing)
    if host.live and time.monotonic() < end:
        answer = host.run(["npu-smi", "info"], DUMP_TIMEOUT)
        _write(place / "npu-smi.txt", "" if isinstance(answer, Unavailable) else answer.text, missing)
    _write(place / "missing.txt", "\n".join(dict.fromkeys(missing)), [])
    return str(place)


def _of_process(host: Host, member: Member, missing: list[str]) -> Iterable[str]:
    yield f"# {member.label} (pid {member.pid}, {member.role})"
    yield from _stacks(host, member, missing)
    folder = f"/proc/{member.pid}"
    for name in ("status", "limits"):
        yield from _section(host, f"{folder}/{name}", missing)
    tasks = host.list(f"{folder}/task/[0-9]*")
    for task in () if isinstance(tasks, Unavailable) else tasks[:MOST_THREADS]:
        parts = [host.read(f"{task}/{name}", 8 * KIB) for name in ("comm", "wchan", "syscall", "stack")]
        told = [part.strip() if isinstance(part, str) else "?" for part in parts]
        yield f"thread {posixpath.basename(task)}  {told[0]}  waits in {told[1] or '-'}  syscall {told[2].partition(' ')[0]}"
        if told[3] not in ("", "?"):
            yield told[3]
        elif told[3] == "?":
            missing.append(f"{folder}/task/*/stack: only root may read kernel stacks")


def _section(host: Host, path: str, missing: list[str]) -> Iterable[str]:
    text = host.read(path, 64 * KIB)
    if isinstance(text, Unavailable):
        missing.append(str(text))
    else:
        yield f"## {path}\n{text}"


def _stacks(host: Host, member: Member, missing: list[str]) -> Iterable[str]:
    """Python stacks by py-spy, the target's own or the system's."""
    if not host.live:
        return
    exe = host.resolve(f"/proc/{member.pid}/exe")
    beside = [posixpath.join(posixpath.dirname(word), "py-spy") for word in (*member.argv[:1], exe if isinstance(exe, str) else "") if word.startswith("/")]
    for program in (*dict.fromkeys(beside), "py-spy"):
        answer = host.run([program, "dump", "--nonblocking", "--pid", str(member.pid)], DUMP_TIMEOUT)
        if not isinstance(answer, Unavailable) and answer.exit == 0:
            yield f"## {program} dump\n{answer.stdout}"
            return
        missing.append(str(answer) if isinstance(answer, Unavailable) else f"{program}: exit {answer.exit}: {answer.text.strip()[:200]}")


def _write(path: Path, text: str, missing: list[str]) -> None:
    if not text:
        return
    try:
        path.write_text(text + "\n", encoding="utf-8", errors="replace")
        path.chmod(0o600)
    except OSError as problem:
        missing.append(f"{path.name}: {problem.strerror}")


__all__ = ["collect"]
