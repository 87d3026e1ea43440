"""What servers leave in shared memory: the segments in /dev/shm that carry the names of vLLM, Python, torch or Mooncake."""

from __future__ import annotations

import posixpath
import re
from typing import Any

from doctor.facts import Facts, Provider
from doctor.host import Host, Kind, Unavailable
from doctor.record import dataclass
from doctor.regex import regex

FOLDER = "/dev/shm"
NAME = regex(r"psm_[0-9A-Za-z]{6,40}|(?i:vllm)_\w{1,80}|sem\.mp-\w{6,12}|mooncake_shm\w{0,40}|torch_\d{1,10}_\w{1,40}|vllm_offload_[0-9a-f-]{8,40}", re.ASCII)
"""multiprocessing.shared_memory, vLLM's queues and offload area, POSIX semaphores of multiprocessing, Mooncake, torch.multiprocessing."""

MOST = 2000


@dataclass(frozen=True)
class Segment:
    """One file in /dev/shm; `age` are seconds since its last change, None where the host tells no times."""

    path: str
    size: int
    uid: int | None = None
    age: float | None = None


@dataclass(frozen=True)
class Segments:
    """All segments with such names. Whether a process has them open is not looked at here."""

    found: tuple[Segment, ...]
    source: str = FOLDER


def read_segments(host: Host, facts: Facts) -> Segments | Unavailable:
    listed = host.list(f"{FOLDER}/*")
    if isinstance(listed, Unavailable):
        return listed
    now = host.now().timestamp()
    segments: list[Segment] = []
    for path in [path for path in listed if NAME.fullmatch(posixpath.basename(path))][:MOST]:
        info = host.stat(path)
        if not isinstance(info, Unavailable) and info.kind is Kind.FILE and not info.target:
            segments.append(Segment(path, info.size, info.uid, None if info.mtime is None else now - info.mtime))
    return Segments(tuple(segments))


PROVIDERS: tuple[Provider[Any], ...] = (Provider(Segments, read_segments),)
