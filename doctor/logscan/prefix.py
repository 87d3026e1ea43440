"""Takes the prefixes of log lines off: timestamps, process tags, ranks, journald, docker, kubectl, Ray, Markdown quotes.

The message is what remains. Bounded: at most `MOST` prefixes, each found by an anchored expression in linear time.
"""

from __future__ import annotations

import re

from doctor.regex import regex
from doctor.text import docker_message

MOST = 12
"""Prefixes taken off one line at the most: docker compose + Ray + timestamp + rank + vLLM's own are seven."""

_PREFIX = regex(
    r"""\s*(?:
      (?:>\ ?)+                                                                   # Markdown quote
    | \((?:EngineCore|APIServer|ApiServer|Worker|VllmWorker|VLLM|DPCoordinator|DP|TP|PP|EP|Rank|RayWorker|pid|Engine|Proc|MPClient|client|api|autoscaler|raylet|\w{1,60}(?=\ (?:pid|rank)=\d))
        [^()\n]{0,80}(?:\([^()\n]{0,40}\))?[^()\n]{0,40}\)                        # (EngineCore_DP0 pid=1) (RayWorkerWrapper pid=2, ip=…)
    | \[?rank[\ _:]?\d{1,5}\]?\s?[:\]]                                            # [rank0]:
    | \[\d{1,5}\]:(?=\s)                                                          # torchrun's [0]:
    | \[?\d{4}[-/.]\d\d[-/.]\d\d[T\ _-]?(?:\d\d:\d\d(?::\d\d)?(?:[.,:]\d{1,9}){0,3})?(?:Z|\ ?[+-]\d\d:?\d\d)?\]?  # 2025-11-03T10:11:12.123+08:00
    | \d\d-\d\d\ \d\d:\d\d:\d\d(?:[.,]\d{1,6})?                                   # vLLM's 11-30 09:38:38
    | \[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?(?=\s)
    | (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ {1,2}\d{1,2}\ \d\d:\d\d:\d\d(?:\.\d{1,6})?(?:\ \S{1,64}\ [\w.@/-]{1,64}(?:\[\d{1,10}\])?:)?  # journald
    | (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\ (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\ {1,2}\d{1,2}\ \d\d:\d\d:\d\d(?:\ [A-Z]{3,4})?\ \d{4}(?=\s)
    | (?:CRITICAL|ERROR|WARNING|WARN|INFO|DEBUG|TRACE|FATAL|EVENT)(?:\s\[[\w./:\ -]{1,80}\])?(?:\s?:(?=\s)|(?=\s))   # level, with its source
    | \[(?:CRITICAL|ERROR|WARNING|WARN|INFO|DEBUG|TRACE|FATAL|EVENT)\](?:\ (?=[\w/]{1,20}\())?   # [ERROR]
    | \[?[\w./-]{1,60}\.(?:py|cpp|cc|h|go|rs):\d{1,6}\]                           # [core.py:586], before vLLM 0.8 core.py:586]
    | (?:stdout|stderr)\ [FP]\ (?=\S)                                             # CRI
    | [\w.-]{1,63}\s{1,24}\|\s                                                    # docker compose: service |
    | \[(?:pod|container)/[\w./-]{1,200}\]                                        # kubectl logs --prefix
    | \[\s{0,6}\d{1,10}\.\d{1,9}\]                                                # dmesg
    | <\d{1,3}>(?=\S)                                                             # syslog priority
    )\s?""",
    re.VERBOSE,
)  # fmt: skip


def message(line: str) -> str:
    """The line without its prefixes and the white space around it. A docker JSON line gives its `log` value."""
    if line.startswith('{"log":'):
        line = docker_message(line)
    start = 0
    for _ in range(MOST):
        found = _PREFIX.match(line, start)
        if found is None or found.end() == start:
            break
        start = found.end()
    return line[start:].strip()
