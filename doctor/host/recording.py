"""A host that writes down everything it is asked, negative answers included, so that `RecordedHost` can answer the same.

Contract: a question is put to the recorded host once; asked again, it has the same answer, so that what was seen while recording is
what a replay sees. Nothing on this machine is changed but the snapshot's folder, which nobody else may read.
"""

from __future__ import annotations

import base64
import json
import os
import pathlib
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from doctor import __version__
from doctor.host import READ_LIMIT, RUN_TIMEOUT, FileInfo, Host, Listener, Output, Process, Unavailable
from doctor.host.snapshot import (
    MANIFEST,
    RECORDS,
    SCHEMA_VERSION,
    Json,
    command_folder,
    digest,
    file_name,
    info_to_json,
    listener_to_json,
    output_to_json,
    process_to_json,
    question,
    run_question,
    unavailable_to_json,
)
from doctor.host.wrapped import WrappedHost

T = TypeVar("T")


class FolderNotEmptyError(ValueError):
    """A snapshot would be mixed with what already lies in its folder."""


class Store(Protocol):
    """Where the parts of a snapshot are written: a folder, or an archive to be."""

    def write(self, name: str, text: str) -> None:
        """A new part. Raises FileExistsError, NotADirectoryError or IsADirectoryError where the name is taken, OSError where it cannot be written."""
        ...

    def holds(self, name: str, text: str) -> bool:
        """Whether this very text lies there."""
        ...

    def append(self, name: str, line: str) -> None: ...


class RecordingHost(WrappedHost):
    """Wraps `host` and writes its answers to `store`, or below that folder, which is made or must be empty; raises `FolderNotEmptyError` otherwise."""

    def __init__(self, host: Host, store: Store | pathlib.Path) -> None:
        super().__init__(host)
        self._store = FolderStore(store) if isinstance(store, pathlib.Path) else store
        self._answers: dict[str, object] = {}
        self._lock = threading.Lock()
        self.problem = ""
        """Why the snapshot is not complete (a full disk), "" as long as it is. The host goes on answering."""
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "tool": f"ascend-doctor {__version__}",
            "host": host.label,
            "time": host.now().isoformat(),
            "records": RECORDS,
        }
        self._store.write(MANIFEST, json.dumps(manifest, indent=1))
        self._store.write(RECORDS, "")

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        return self._ask(
            question("read", path, limit, tail), lambda: self.inner.read(path, limit, tail), lambda text: self._keep_text(path, text, limit)
        )

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        key = question("read_raw", path, limit, offset)
        return self._ask(key, lambda: self.inner.read_raw(path, limit, offset), lambda data: self._keep_raw(key, data))

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        return self._ask(question("list", glob), lambda: self.inner.list(glob), lambda paths: {"paths": [*paths]})

    def stat(self, path: str) -> FileInfo | Unavailable:
        return self._ask(question("stat", path), lambda: self.inner.stat(path), lambda info: {"info": info_to_json(info)})

    def resolve(self, path: str) -> str | Unavailable:
        return self._ask(question("resolve", path), lambda: self.inner.resolve(path), lambda resolved: {"text": resolved})

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        folder = command_folder(argv, env)
        return self._ask(
            run_question(argv, env), lambda: self.inner.run(argv, timeout, env), lambda output: self._keep_output(folder, output)
        )

    def processes(self) -> tuple[Process, ...] | Unavailable:
        return self._ask(
            question("processes"), self.inner.processes, lambda found: self._keep_json("processes.json", [*map(process_to_json, found)])
        )

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        name = f"environ/{int(pid)}.json"
        return self._ask(question("environ", pid), lambda: self.inner.environ(pid), lambda env: self._keep_json(name, dict(env)))

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        return self._ask(question("listening"), self.inner.listening, lambda found: {"listeners": [*map(listener_to_json, found)]})

    def now(self) -> datetime:
        answer = self._ask(question("now"), self.inner.now, lambda now: {"text": now.isoformat()})
        assert isinstance(answer, datetime)  # a clock is never unavailable
        return answer

    def boot_id(self) -> str | Unavailable:
        return self._ask(question("boot_id"), self.inner.boot_id, lambda text: {"text": text})

    def _ask(self, key: str, ask: Callable[[], T | Unavailable], keep: Callable[[T], Json]) -> T | Unavailable:
        with self._lock:
            if key in self._answers:
                return self._answers[key]  # type: ignore[return-value]  # the key tells the type
        answer = ask()
        with self._lock:
            if key in self._answers:  # another thread was faster; its answer is the one on disk
                return self._answers[key]  # type: ignore[return-value]
            self._answers[key] = answer
            try:
                kept = unavailable_to_json(answer) if isinstance(answer, Unavailable) else keep(answer)
                self._store.append(RECORDS, json.dumps({"question": json.loads(key), "answer": kept}) + "\n")
            except OSError as error:
                self.problem = self.problem or f"the snapshot could not be written: {error.strerror}"
        return answer

    def _keep_text(self, path: str, text: str, limit: int) -> Json:
        info = self.inner.stat(path)
        # Only of a file that tells its size is it known that the text is all of it; then it also answers for other limits.
        whole = isinstance(info, FileInfo) and 0 < info.size <= limit
        for name in (file_name(path), "files/.hashed/" + digest(path), "files/.hashed/" + digest(f"{path}\0{text}")):
            try:
                self._store.write(name, text)
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                # Another part of the same file, or a path that runs through what is a file here.
                if self._store.holds(name, text):
                    return {"file": name, "whole": whole}
            else:
                return {"file": name, "whole": whole}
        raise FileExistsError(17, "name taken")

    def _keep_raw(self, key: str, data: bytes) -> Json:
        """As base64, so that a snapshot holds nothing but text."""
        name = f"raw/{digest(key)}.b64"
        self._store.write(name, base64.b64encode(data).decode("ascii"))
        return {"base64": name}

    def _keep_output(self, folder: str, output: Output) -> Json:
        self._store.write(f"{folder}/stdout", output.stdout)
        self._store.write(f"{folder}/stderr", output.stderr)
        self._store.write(f"{folder}/meta.json", json.dumps(output_to_json(output)))
        return {"command": folder}

    def _keep_json(self, name: str, value: Json) -> Json:
        self._store.write(name, json.dumps(value))
        return {"file": name}


class FolderStore:
    """A new or empty folder that nobody else may read."""

    def __init__(self, folder: pathlib.Path) -> None:
        self._folder = folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise FolderNotEmptyError(f"{folder} is not empty: name a new folder for the snapshot, or empty this one")
        folder.chmod(0o700)

    def write(self, name: str, text: str) -> None:
        path = self._folder / name
        # Folder by folder: makedirs gives its mode to the last one only.
        for folder in reversed(path.relative_to(self._folder).parents[:-1]):
            try:
                os.mkdir(self._folder / folder, 0o700)
            except FileExistsError:
                if not (self._folder / folder).is_dir():
                    raise
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))

    def holds(self, name: str, text: str) -> bool:
        try:
            return (self._folder / name).read_bytes() == text.encode("utf-8", "surrogatepass")
        except OSError:
            return False

    def append(self, name: str, line: str) -> None:
        descriptor = os.open(self._folder / name, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "wb") as file:
            file.write(line.encode("ascii"))


__all__ = ["FolderNotEmptyError", "FolderStore", "RecordingHost", "Store"]
