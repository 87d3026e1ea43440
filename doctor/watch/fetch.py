"""Asks a server's own pages (`/metrics`, `/health`) over HTTP: a deadline, a size limit, no redirects, no proxies. The only network of the room."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from doctor.text import clean, clean_line, decode

TIMEOUT = 10.0
"""Seconds for one whole answer, from the connection to the last byte; a live API server answers /metrics within 0.1 s, one on a starved machine takes seconds."""
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
        connection.connect()
        connection.sock = cast("socket.socket", _Bounded(connection.sock, end))
        connection.request("GET", path, headers={"User-Agent": "ascend-doctor", "Accept": "text/plain", "Connection": "close"})
        answer = connection.getresponse()
        data = b""
        while len(data) < LIMIT and (piece := answer.read(1 << 16)):
            data += piece
        return Page(answer.status, clean(decode(data)))
    finally:
        connection.close()


class _Bounded:
    """A connected socket with one deadline for all that is read and written: one for each call lets a server that drips bytes keep us for ever."""

    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock, self._end = sock, end

    def sendall(self, data: bytes) -> None:
        _leave(self._sock, self._end)
        self._sock.sendall(data)

    def makefile(self, *_: Any) -> io.BufferedReader:
        return io.BufferedReader(_Reader(self._sock, self._end))

    def close(self) -> None:
        self._sock.close()


class _Reader(io.RawIOBase):
    """Reads until the deadline; the socket stays open until this is closed as well."""

    def __init__(self, sock: socket.socket, end: float) -> None:
        self._sock, self._end = sock, end
        self._file = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        _leave(self._sock, self._end)
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()


def _leave(sock: socket.socket, end: float) -> None:
    """Lets the next call have what is left of the time."""
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    sock.settimeout(left)


__all__ = ["Fetch", "Page", "fetch"]
