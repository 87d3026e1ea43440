"""Asks a server's own pages (`/metrics`, `/health`) over HTTP: a deadline, a size limit, no redirects, no proxies. The only network of the room."""

from __future__ import annotations

import http.client
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from doctor.text import clean, clean_line, decode

TIMEOUT = 5.0
"""Seconds for one answer; a live API server answers /metrics within 0.1 s."""
LIMIT = 8 << 20
"""Bytes read of one page."""


@dataclass(frozen=True)
class Page:
    """What came back. `status` 0: no answer, and `problem` says why."""

    status: int
    text: str = ""
    problem: str = ""


Fetch = Callable[[str], Page]


def fetch(url: str) -> Page:
    """GET of an http(s) address. Never raises."""
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return Page(0, problem=f"not an http address: {clean_line(url)[:200]}")
        return _get(parts.scheme, parts.hostname, parts.port, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
    except (OSError, ValueError, http.client.HTTPException, ssl.SSLError) as problem:
        return Page(0, problem=clean_line(str(problem) or type(problem).__name__)[:200])


def _get(scheme: str, host: str, port: int | None, path: str) -> Page:
    kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
    connection = kind(host, port, timeout=TIMEOUT)
    end = time.monotonic() + TIMEOUT
    try:
        connection.request("GET", path, headers={"User-Agent": "ascend-doctor", "Accept": "text/plain", "Connection": "close"})
        answer = connection.getresponse()
        data = b""
        while len(data) < LIMIT and (piece := answer.read(1 << 16)):
            data += piece
            if time.monotonic() > end:  # a server that drips bytes
                raise TimeoutError("timed out")
        return Page(answer.status, clean(decode(data)))
    finally:
        connection.close()


__all__ = ["Fetch", "Page", "fetch"]
