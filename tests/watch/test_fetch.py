"""A server's page over HTTP: bounded, no redirects, and a reason for everything that goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from doctor.watch import fetch as module
from doctor.watch.fetch import fetch


class Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/moved":
            self.send_response(302)
            self.send_header("Location", "/metrics")
            self.end_headers()
            return
        self.send_response(503 if self.path == "/health" else 200)
        self.end_headers()
        if self.path == "/long":
            self.wfile.write(b"x" * 5000)
        elif self.path == "/metrics":
            self.wfile.write(b"a 1\n\x1b[31m")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_page_and_a_status(address: str) -> None:
    assert (fetch(address + "/metrics").status, fetch(address + "/metrics").text) == (200, "a 1\n")
    assert fetch(address + "/health").status == 503


def test_a_redirect_is_not_followed(address: str) -> None:
    assert fetch(address + "/moved").status == 302


def test_a_page_is_cut(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LIMIT", 1000)
    assert len(fetch(address + "/long").text) < 70_000


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/metrics", "file:///etc/passwd", "http://[::1", "http://127.0.0.1:99999/", "nonsense", ""])
def test_no_answer_has_a_reason(url: str) -> None:
    page = fetch(url)
    assert page.status == 0 and page.problem
