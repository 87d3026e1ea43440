"""What the kernel said and did while a step ran: its log since then, and whether it killed for a memory limit. Reads only; never raises.

A process that the kernel kills says nothing itself: without this, "the engine died" is all that a step's output tells. A container that may
not read the kernel's log can still read the counter of its own group.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from doctor.host import KIB, Host, Output

MOST_LINES = 300
DMESG_SECONDS = 5.0
SLACK = 1.0
"""Seconds by which the kernel's clock and the uptime may differ."""

_STAMP = re.compile(r"\[\s{0,8}(\d{1,10}\.\d{1,9})\]")
_KILLS = re.compile(r"(?m)^oom_kill (\d{1,9})$")


@dataclass(frozen=True)
class Moment:
    """When a step began: seconds since the machine started, None where they are not known, and kills for a limit until then."""

    uptime: float | None
    kills: int | None


def now(host: Host) -> Moment:
    """This moment."""
    text = host.read("/proc/uptime", KIB)
    word = text.split()[:1] if isinstance(text, str) else []
    return Moment(float(word[0]) if word and re.fullmatch(r"\d{1,10}(?:\.\d{1,9})?", word[0]) else None, _kills(host))


def since(host: Host, moment: Moment) -> str:
    """The kernel's lines since then, and the counter of kills where it has grown, as a log."""
    kills = _kills(host)
    lines = list(_lines(host, moment.uptime))[-MOST_LINES:] if moment.uptime is not None else []
    if kills is not None and moment.kills is not None and kills > moment.kills:
        lines.append(f"oom_kill {kills - moment.kills}")
    return "\n".join(lines)


def _lines(host: Host, uptime: float | None) -> Iterator[str]:
    said = host.run(("dmesg",), timeout=DMESG_SECONDS)
    for line in said.stdout.splitlines() if isinstance(said, Output) and uptime is not None else ():
        stamp = _STAMP.match(line)
        if stamp and float(stamp[1]) >= (uptime or 0.0) - SLACK:
            yield line


def _kills(host: Host) -> int | None:
    """Of the control group that this process is in, and so the steps too; None where nobody counts."""
    groups = host.read("/proc/self/cgroup", 64 * KIB)
    for line in groups.splitlines() if isinstance(groups, str) else ():
        number, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if ".." in path.split("/"):
            continue
        place = path.rstrip("/")
        if "memory" in controllers.split(","):
            files = [f"/sys/fs/cgroup/memory{place}/memory.oom_control", "/sys/fs/cgroup/memory/memory.oom_control"]
        elif number == "0":
            files = [f"/sys/fs/cgroup{place}/memory.events", "/sys/fs/cgroup/memory.events"]
        else:
            continue
        for file in files:  # within a container the group's own path may be the host's
            text = host.read(file, 4 * KIB)
            if isinstance(text, str) and (match := _KILLS.search(text)):
                return int(match[1])
    return None


__all__ = ["Moment", "now", "since"]
