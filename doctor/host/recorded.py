"""A replay of a snapshot: each question that was asked when it was recorded has the same answer, every other is NOT_RECORDED.

Contract: a snapshot comes from outside. Nothing in it makes doctor read a file outside its folder, and nothing in it raises once the
host is open; a folder that is no recording raises `NotAHost`.
"""

from __future__ import annotations

import base64
import json
import os
import pathlib
import shlex
import stat
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Protocol, TypeVar

from doctor.host import MIB, READ_LIMIT, RUN_TIMEOUT, FileInfo, Host, Listener, Output, Process, Unavailable, Why
from doctor.host.plain import PlainHost
from doctor.host.recorded_tree import RecordedTree
from doctor.host.snapshot import (
    MANIFEST,
    RECORDS,
    SCHEMA_VERSION,
    Json,
    info_from_json,
    listener_from_json,
    output_from_json,
    process_from_json,
    question,
    run_question,
    text_from_json,
    texts_from_json,
    unavailable_from_json,
)
from doctor.text import clean, clean_line

T = TypeVar("T")

MANIFEST_LIMIT = MIB
RECORDS_LIMIT = 256 * MIB
ANSWER_LIMIT = 64 * MIB
RAW_LIMIT = 160 * MIB
"""Of an answer in base64: the largest header of a weight file is 100 MB before it is encoded."""


class NotAHost(ValueError):  # noqa: N818  # read as "that is not a host"
    """The folder holds no recording that this version can read. The message is a sentence for people, with the remedy."""


def open_host(folder: pathlib.Path) -> Host:
    """The recorded host in the folder, whichever layout it has."""
    if (folder / MANIFEST).is_file():
        return RecordedHost(folder)
    if (folder / "files").is_dir() or (folder / "commands.txt").is_file():
        return PlainHost(folder)
    if not folder.is_dir():
        raise NotAHost(f"{folder} is not a folder: name the folder of a snapshot")
    raise NotAHost(f"{folder} is no recorded host: it holds neither {MANIFEST} nor files/ nor commands.txt")


class Members(Protocol):
    """What holds the parts of a snapshot: a folder, or an archive that was read."""

    @property
    def name(self) -> str:
        """How messages name it."""
        ...

    def get(self, name: str, limit: int) -> bytes | None:
        """At most `limit` bytes of the regular file of this name, None for anything else."""
        ...


class RecordedHost:
    """The snapshot in `members` (or in that folder), in the layout of `doctor.host.snapshot`."""

    live = False

    def __init__(self, members: Members | pathlib.Path) -> None:
        self._members = FolderMembers(members) if isinstance(members, pathlib.Path) else members
        manifest = self._manifest()
        self.label = clean_line(str(manifest.get("host", ""))) or clean_line(self._members.name.rstrip("/").rpartition("/")[2])
        self._time = _time(manifest.get("time")) or datetime.now(timezone.utc)
        self._answers: dict[str, Json] = {}
        self._whole: dict[str, str] = {}
        for line in (self._bytes(RECORDS, RECORDS_LIMIT) or b"").splitlines():
            self._take(line)
        # What `doctor collect` recorded: files as a tree, commands without the environment that they ran in.
        told = manifest.get("tree")
        tree = self._bytes(told, RECORDS_LIMIT) if isinstance(told, str) else None
        self._tree = None if tree is None else RecordedTree(tree.splitlines(), self._text)

    def _manifest(self) -> dict[str, Json]:
        try:
            manifest = json.loads(self._bytes(MANIFEST, MANIFEST_LIMIT) or b"")
        except (ValueError, RecursionError):
            manifest = None
        if not isinstance(manifest, dict) or not isinstance(manifest.get("schema_version"), int):
            raise NotAHost(f"{self._members.name}/{MANIFEST} is not the manifest of a snapshot: record it anew")
        if manifest["schema_version"] > SCHEMA_VERSION:
            raise NotAHost(f"{self._members.name} was recorded by a newer version of doctor ({clean_line(str(manifest.get('tool')))}): update doctor")
        return manifest

    def _take(self, line: bytes) -> None:
        try:
            record = json.loads(line)
            asked, answer = record["question"], record["answer"]
            key = question(*asked)
            if not isinstance(answer, dict):
                return
        except (ValueError, TypeError, KeyError, RecursionError):  # a torn last line, or garbage: was not recorded
            return
        self._answers[key] = answer
        if asked[0] == "read" and answer.get("whole") is True and isinstance(asked[1], str):
            self._whole[asked[1]] = key

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        key = question("read", path, limit, tail)
        if self._tree is not None and key not in self._answers:
            return self._tree.read(path, limit, tail)
        if key in self._answers or path not in self._whole:
            return self._answer(key, path, lambda answer: self._text(answer["file"]))
        text = self._answer(self._whole[path], path, lambda answer: self._text(answer["file"]))
        return text if isinstance(text, Unavailable) else _cut(text, limit, tail)

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        key = question("read_raw", path, limit, offset)
        if self._tree is not None and key not in self._answers:
            return self._tree.read_raw(path, limit, offset)
        return self._answer(key, path, lambda answer: self._raw(answer["base64"]))

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        if self._tree is not None and question("list", glob) not in self._answers:
            return self._tree.list(glob)
        return self._answer(question("list", glob), glob, lambda answer: texts_from_json(answer["paths"]))

    def stat(self, path: str) -> FileInfo | Unavailable:
        if self._tree is not None and question("stat", path) not in self._answers:
            return self._tree.stat(path)
        return self._answer(question("stat", path), path, lambda answer: info_from_json(answer["info"]))

    def resolve(self, path: str) -> str | Unavailable:
        if self._tree is not None and question("resolve", path) not in self._answers:
            return self._tree.resolve(path)
        return self._answer(question("resolve", path), path, lambda answer: text_from_json(answer["text"]))

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        asked = run_question(argv, env)
        key = run_question(argv, None) if self._tree is not None and asked not in self._answers else asked
        return self._answer(key, shlex.join(argv), self._output)

    def processes(self) -> tuple[Process, ...] | Unavailable:
        return self._answer(
            question("processes"), "processes", lambda answer: tuple(map(process_from_json, _inline(answer, "processes", self._text)))
        )

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        return self._answer(question("environ", pid), f"environment of process {pid}", lambda answer: self._environ(_inline(answer, "environ", self._text)))

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        return self._answer(question("listening"), "listening sockets", lambda answer: tuple(map(listener_from_json, answer["listeners"])))

    def now(self) -> datetime:
        """The recorded clock, that of the recording's start where it was not asked."""
        answer = self._answers.get(question("now"), {})
        return _time(answer.get("text")) or self._time

    def boot_id(self) -> str | Unavailable:
        return self._answer(question("boot_id"), "boot id", lambda answer: text_from_json(answer["text"]))

    def _answer(self, key: str, what: str, understand: Callable[[Json], T]) -> T | Unavailable:
        answer = self._answers.get(key)
        if answer is None:
            return Unavailable(what, Why.NOT_RECORDED)
        try:
            return unavailable_from_json(answer["unavailable"]) if "unavailable" in answer else understand(answer)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return Unavailable(what, Why.NOT_RECORDED, "the snapshot is damaged here")

    def _environ(self, values: Json) -> dict[str, str]:
        return {clean(key): text_from_json(value) for key, value in values.items()}

    def _output(self, answer: Json) -> Output:
        if "output" in answer:
            told = answer["output"]
            return output_from_json(told, text_from_json(told["stdout"]), text_from_json(told["stderr"]))
        folder = answer["command"]
        meta = json.loads(self._text(f"{folder}/meta.json"))
        return output_from_json(meta, self._text(f"{folder}/stdout"), self._text(f"{folder}/stderr"))

    def _text(self, name: str) -> str:
        data = self._bytes(name, ANSWER_LIMIT)
        if data is None:
            raise ValueError(name)
        # Cleaned when it was recorded, if doctor recorded it.
        return clean(data.decode("utf-8", "replace"))

    def _raw(self, name: str) -> bytes:
        data = self._bytes(name, RAW_LIMIT)
        if data is None:
            raise ValueError(name)
        return base64.b64decode(data, validate=True)

    def _bytes(self, name: str, limit: int) -> bytes | None:
        if not isinstance(name, str) or name.startswith("/") or any(part in ("", ".", "..") for part in name.split("/")):
            return None
        return self._members.get(name, limit)


class FolderMembers:
    """A snapshot's folder; no link in it is followed."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        self.name = str(folder.resolve())

    def get(self, name: str, limit: int) -> bytes | None:
        try:
            here = os.path.realpath(self._folder)
            located = os.path.join(here, name)
            if os.path.realpath(located) != located or not stat.S_ISREG(os.lstat(located).st_mode):
                return None
            descriptor = os.open(located, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:
                return file.read(limit)
        except (OSError, ValueError):
            return None


def _inline(answer: Json, name: str, text: Callable[[str], str]) -> Json:
    """The answer itself, or the file that holds it."""
    return answer[name] if name in answer else json.loads(text(answer["file"]))


def _cut(text: str, limit: int, tail: bool) -> str:
    data = text.encode("utf-8", "replace")
    part = data[: max(limit, 0)] if not tail else data[max(len(data) - max(limit, 0), 0) :]
    return part.decode("utf-8", "replace")


def _time(text: Json) -> datetime | None:
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=timezone.utc)


__all__ = ["FolderMembers", "Members", "NotAHost", "RecordedHost", "open_host"]
