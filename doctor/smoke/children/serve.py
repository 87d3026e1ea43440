"""The user's model behind a real OpenAI server: started with the user's own flags, asked, put under load, stopped in order.

job: device, dtype, model ("" for the tiny model), flags, folder, ready_seconds, load, load_seconds.
"""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

CLI = "import sys; from vllm.entrypoints.cli.main import main; sys.argv[0] = 'vllm'; sys.exit(main())"
"""What the script `vllm` does; there may be none beside the interpreter."""
STOP = 30.0
"""Seconds for an orderly stop."""


def run(say: Any, job: Mapping[str, Any]) -> None:
    model, flags = job["model"], list(job["flags"])
    if not model:
        model, flags = _tiny(say, job), [*flags, *_tiny_flags(job)]
    port, taken = _port(flags)
    host = _flag(flags, "host") or "127.0.0.1"
    given = [] if _flag(flags, "host") else ["--host", host]
    given += [] if _flag(flags, "port") else ["--port", str(port)]
    if not taken:
        say.occupied("port", str(port))
    say.stage("start the server")
    print("vllm serve " + " ".join([model, *flags, *given]), flush=True)
    start = time.monotonic()
    server = subprocess.Popen([sys.executable, "-c", CLI, "serve", model, *flags, *given], stdin=subprocess.DEVNULL)
    client = say.load("client")
    api = client.Api(f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}", _flag(flags, "api-key") or os.environ.get("VLLM_API_KEY", ""))
    try:
        _until_ready(say, server, api, float(job["ready_seconds"]), taken)
        say.figure("start of the server", round(time.monotonic() - start, 2), "s")
        client.examine(say, api, {**job, "judge": bool(job["model"])})
        if server.poll() is not None:
            say.check("server still runs", False, f"exit {server.returncode}")
    finally:
        _stop(say, server)


def _tiny(say: Any, job: Mapping[str, Any]) -> str:
    import importlib

    say.stage("make the tiny model")
    folder = os.path.join(job["folder"], "tiny-served")
    say.load("tiny_model").write(importlib.import_module("torch"), folder, job["dtype"], 8)
    return folder


def _tiny_flags(job: Mapping[str, Any]) -> list[str]:
    share = [] if job["device"] == "cpu" else ["--gpu-memory-utilization", "0.2"]
    return ["--max-model-len", "512", "--max-num-seqs", "16", "--dtype", job["dtype"], "--enforce-eager", *share]


def _flag(flags: Sequence[str], name: str) -> str:
    """The value of `--name value` or `--name=value`, the last one given."""
    value = ""
    for index, word in enumerate(flags):
        head, has, tail = word.partition("=")
        if head.replace("_", "-") == f"--{name}":
            value = tail if has else flags[index + 1] if index + 1 < len(flags) else ""
    return value


def _port(flags: Sequence[str]) -> tuple[int, bool]:
    """The port that the user wants, and whether somebody has it; else a free one."""
    wanted = _flag(flags, "port")
    if wanted.isdecimal():
        with socket.socket() as probe:
            probe.settimeout(1.0)
            return int(wanted), probe.connect_ex(("127.0.0.1", int(wanted))) == 0
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1]), False


def _until_ready(say: Any, server: subprocess.Popen[bytes], api: Any, seconds: float, taken: bool) -> None:
    """Until /health answers. Where the port was taken before, it would be the other server that answers: only the end of ours tells then."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        code = server.poll()
        if code is not None:
            raise say.fail("server starts", f"it ended with signal {signal.Signals(-code).name}" if code < 0 else f"it ended with exit code {code}")
        if not taken:
            try:
                if api.ask("GET", "/health", None, 5.0)[0] == 200:
                    return
            except (OSError, http.client.HTTPException):
                pass
        time.sleep(0.25)
    raise say.fail("server starts", f"not ready within {seconds:.0f} s")


def _stop(say: Any, server: subprocess.Popen[bytes]) -> None:
    if server.poll() is not None:
        return
    say.stage("stop the server")
    start = time.monotonic()
    server.send_signal(signal.SIGTERM)
    try:
        server.wait(STOP)
        say.figure("stop of the server", round(time.monotonic() - start, 2), "s")
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
        say.check("server stops when asked", False, f"not within {STOP:g} s")
