"""A small OpenAI server for tests, healthy or broken in one way. It says what a server says, and computes nothing."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = " ".join(f"w{number}" for number in range(24))


class Server(ThreadingHTTPServer):
    """`broken` names what is wrong with it; `key` is wanted of everyone; `seen` are the requests' paths."""

    daemon_threads = True

    def __init__(self, broken: str, key: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.broken, self.key, self.seen = broken, key, list[str]()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        if self._refused():
            return
        if self.path == "/health":
            self._answer(503 if self.server.broken == "health" else 200, "")
        else:
            self._answer(200, {"data": [] if self.server.broken == "models" else [{"id": "tiny"}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._refused():
            return
        broken = self.server.broken
        if broken == "engine dead":
            self._answer(500, {"error": {"message": "EngineCore encountered an issue. See stack trace (above) for the root cause."}})
        elif broken == "engine hangs":
            self.server.over.wait(60)
        elif "chat" in self.path and broken == "no template":
            self._answer(400, {"message": "As of transformers v4.44, default chat template is no longer allowed"})
        elif body.get("stream"):
            self._stream()
        else:
            self._answer(200, self._completion())

    def _refused(self) -> bool:
        self.server.seen.append(self.path)
        if self.server.key and self.headers.get("Authorization") != f"Bearer {self.server.key}":
            self._answer(401, {"error": "Unauthorized"})
            return True
        return False

    def _completion(self) -> dict[str, Any]:
        tokens: list[Any] = ["!"] * 24 if self.server.broken == "one token" else WORDS.split()
        values: list[Any] = [None] * 24 if self.server.broken == "silent" else [float("nan") if self.server.broken == "nan" else -0.5] * 24
        return {"choices": [{"text": " ".join(tokens), "logprobs": {"tokens": tokens, "token_logprobs": values}}], "usage": {"completion_tokens": 24}}

    def _stream(self) -> None:
        self.send_response(200)
        self.end_headers()
        for word in WORDS.split():
            self._event(json.dumps({"choices": [{"text": word}]}))
        if self.server.broken == "stream":
            return
        self._event(json.dumps({"choices": [], "usage": {"completion_tokens": 24}}))
        self._event("[DONE]")

    def _event(self, data: str) -> None:
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def _answer(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None: ...


@contextlib.contextmanager
def serving(broken: str = "", key: str = "") -> Iterator[Server]:
    """A server in a thread."""
    server = Server(broken, key)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
