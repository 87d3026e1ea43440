"""Whether bytes of a log may be used as they lie: UTF-8 that `clean` would not change, and no line of Docker's json-file log.

Contract: `is_clear` gives the same with hyperscan, which looks at 5 GB a second without the interpreter's lock, and without. It does not import
hyperscan: who scans much has done so before.
"""

from __future__ import annotations

import sys
import threading
from functools import lru_cache
from typing import Any

from doctor.text import clean

DOCKER = b'{"log":'
"""What a line of Docker's json-file log begins with."""

_KEPT_CONTROLS = b"\t\n"
_DIRTY = bytes(byte for byte in range(256) if (byte < 32 and byte not in _KEPT_CONTROLS) or byte >= 127)

_CONTROLS = rb"[\x00-\x08\x0b-\x1f\x7f]"
_HIDING = (
    rb"\xc2[\x80-\x9f]",  # C1
    rb"\xd8\x9c",
    rb"\xe1\xa0\x8e",
    rb"\xe2\x80[\x8b-\x8f\xa8-\xae]",
    rb"\xe2\x81[\xa0-\xaf]",
    rb"\xef\xbb\xbf",
    rb"\xef\xbf[\xb9-\xbb]",
    rb"\xf3\xa0[\x80\x81]",
)
"""What `clean` takes out beyond ASCII, as UTF-8; a test compares it with `clean` for every character."""

_local = threading.local()


def is_clear(data: bytes) -> bool:
    """Whether it is UTF-8 in which nothing has to be cleaned or opened."""
    hyperscan = sys.modules.get("hyperscan")
    if data.isascii():
        return not _found(hyperscan, False, data) if hyperscan else len(data.translate(None, _DIRTY)) == len(data) and DOCKER not in data
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return not _found(hyperscan, True, data) if hyperscan else DOCKER not in data and clean(text) is text


def _found(hyperscan: Any, beyond: bool, data: bytes) -> bool:
    found: list[int] = []

    def matched(index: int, _start: int, _end: int, _flags: int, _context: Any) -> None:
        found.append(index)

    database = _database(hyperscan, beyond)
    scratches: dict[bool, Any] = _local.__dict__.setdefault("scratches", {})
    if beyond not in scratches:
        scratches[beyond] = hyperscan.Scratch(database)
    database.scan(data, match_event_handler=matched, scratch=scratches[beyond])
    return bool(found)


@lru_cache(maxsize=2)
def _database(hyperscan: Any, beyond: bool) -> Any:
    expressions = [_CONTROLS, rb"\{\x22log\x22:", *(_HIDING if beyond else ())]
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    count = len(expressions)
    database.compile(expressions=expressions, ids=list(range(count)), elements=count, flags=[hyperscan.HS_FLAG_SINGLEMATCH] * count)
    return database
