"""The layout of a snapshot on disk: where each answer lies, and what it looks like as JSON.

    manifest.json                          schema_version, tool, host (its label), time, records (the name of the next)
    records.jsonl                          one question a line with its answer, or with the name of the file that holds it
    files/…                                a mirror of / with the text of what was read
    raw/<hash>.b64                         bytes that are no text (headers of weight files), as base64
    commands/<slug>-<hash>/                meta.json, stdout, stderr
    processes.json  environ/<pid>.json     whole answers

A snapshot of `doctor collect` has its files in tree.jsonl (see `recorded_tree`), which the manifest names as `tree`, and short answers in
the records themselves.

The records grow by a line a question, so that a recording that was killed can be replayed as far as it came.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from doctor.host import FileInfo, Kind, Listener, Output, Process, Unavailable, Why
from doctor.text import clean

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
RECORDS = "records.jsonl"

Json = Any
"""What `json.loads` makes."""

LONGEST_NAME = 200
"""Bytes of a path's component that is kept as it is; file systems allow 255."""
LONGEST_PATH = 1000
"""Bytes of a path that is kept as it is; Linux allows 4096, of which the snapshot's own folder takes some."""


def question(kind: str, *arguments: Json) -> str:
    """The key of a question: the same question has the same key."""
    return json.dumps([kind, *arguments], ensure_ascii=True, separators=(",", ":"))


def run_question(argv: Sequence[str], env: Mapping[str, str] | None) -> str:
    """Its time limit does not make a command another one."""
    return question("run", list(argv), sorted((env or {}).items()))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def file_name(path: str) -> str:
    """Where in a snapshot the text of the host's file lies; a path that could do harm as a name is hashed."""
    names = path.split("/")[1:]
    plain = path.startswith("/") and len(path.encode("utf-8", "surrogatepass")) <= LONGEST_PATH
    if plain and names[0] != ".hashed" and all(map(_is_harmless, names)):
        return "files" + path
    return "files/.hashed/" + digest(path)


def _is_harmless(name: str) -> bool:
    return name not in ("", ".", "..") and name.isprintable() and len(name.encode("utf-8", "surrogatepass")) <= LONGEST_NAME


def command_folder(argv: Sequence[str], env: Mapping[str, str] | None) -> str:
    """`commands/<slug>-<hash>`: the slug is for people, the hash keeps commands apart."""
    words = [argv[0].rpartition("/")[2], *argv[1:]] if argv else []
    slug = re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()[:200]).strip("-")[:60]
    return f"commands/{slug or 'command'}-{digest(run_question(argv, env))}"


# Answers as JSON and back. What comes back is from outside: it is of the right type and clean, or ValueError, TypeError or KeyError is raised.


def text_from_json(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return clean(value)


def _number(value: Json) -> int:
    if not isinstance(value, int):
        raise TypeError(value)
    return value


def _optional_number(value: Json) -> int | None:
    return None if value is None else _number(value)


def _optional_time(value: Json) -> float | None:
    return None if value is None else float(value)


def texts_from_json(values: Json) -> tuple[str, ...]:
    return tuple(text_from_json(value) for value in values)


def unavailable_to_json(answer: Unavailable) -> Json:
    return {"unavailable": {"what": answer.what, "why": answer.why.value, "detail": answer.detail}}


def unavailable_from_json(value: Json) -> Unavailable:
    return Unavailable(text_from_json(value["what"]), Why(value["why"]), text_from_json(value["detail"]))


def info_to_json(info: FileInfo) -> Json:
    return asdict(info) | {"kind": info.kind.value}


def info_from_json(value: Json) -> FileInfo:
    return FileInfo(
        text_from_json(value["path"]), Kind(value["kind"]), _number(value["size"]), _optional_number(value["mode"]), _optional_number(value["uid"]),
        _optional_number(value["gid"]), _optional_time(value["mtime"]), text_from_json(value["target"]),
    )  # fmt: skip


def process_to_json(process: Process) -> Json:
    return asdict(process)


def process_from_json(value: Json) -> Process:
    return Process(
        _number(value["pid"]), _number(value["ppid"]), text_from_json(value["name"]), texts_from_json(value["argv"]), text_from_json(value["exe"]),
        _optional_number(value["uid"]), text_from_json(value["state"]), _optional_time(value["started"]), text_from_json(value["cwd"]),
    )  # fmt: skip


def listener_to_json(listener: Listener) -> Json:
    return asdict(listener)


def listener_from_json(value: Json) -> Listener:
    return Listener(text_from_json(value["address"]), _number(value["port"]), _optional_number(value["pid"]))


def output_to_json(output: Output) -> Json:
    """Its meta.json; what it printed lies beside it."""
    return {"argv": [*output.argv], "exit": output.exit, "seconds": output.seconds, "truncated": output.truncated}


def output_from_json(meta: Json, stdout: str, stderr: str) -> Output:
    return Output(texts_from_json(meta["argv"]), _number(meta["exit"]), stdout, stderr, float(meta["seconds"]), bool(meta["truncated"]))


__all__ = [
    "MANIFEST", "RECORDS", "SCHEMA_VERSION", "Json", "command_folder", "digest", "file_name", "info_from_json", "info_to_json",
    "listener_from_json", "listener_to_json", "output_from_json", "output_to_json", "process_from_json", "process_to_json", "question",
    "run_question", "text_from_json", "texts_from_json", "unavailable_from_json", "unavailable_to_json",
]  # fmt: skip
