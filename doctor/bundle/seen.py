"""What was seen of a host, kept in memory until it is masked, and the same answers once more as they go into a bundle.

Contract: nothing is written to disk here. A replay of the masked answers asks for masked paths, because `Redactor` makes the same of
the same and of a path what its parts become.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from doctor.bundle.redact import Redactor
from doctor.host import MIB, READ_LIMIT, RUN_TIMEOUT, FileInfo, Host, Listener, Output, Process, Unavailable, Why
from doctor.host.snapshot import question, run_question
from doctor.host.wrapped import WrappedHost

T = TypeVar("T")

MOST_BYTES = 96 * MIB
"""Text of all answers together; a real server has some 3 MiB."""

@dataclasses.dataclass(frozen=True)
class Seen:
    """One question with its answer. `arguments` are those of the `Host` method."""

    kind: str
    arguments: tuple[Any, ...]
    answer: Any


class SeenHost(WrappedHost):
    """Passes everything on to `inner` and remembers it; a question is put once."""

    def __init__(self, inner: Host) -> None:
        super().__init__(inner)
        self._seen: dict[str, Seen] = {}
        self._infos: dict[str, FileInfo] = {}
        self._lock = threading.Lock()
        self._bytes = 0

    def seen(self) -> tuple[Seen, ...]:
        """Everything so far, in order."""
        return tuple(self._seen.values())

    def infos(self) -> Mapping[str, FileInfo]:
        """What the files are that were read, whether or not that was asked."""
        return self._infos

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        text = self._ask(question("read", path, limit, tail), "read", (path, limit, tail), lambda: self.inner.read(path, limit, tail))
        if isinstance(text, str) and path not in self._infos:
            info = self.inner.stat(path)
            if isinstance(info, FileInfo):
                self._infos[path] = info
        return text

    def read_raw(self, path: str, limit: int, offset: int = 0) -> bytes | Unavailable:
        key = question("read_raw", path, limit, offset)
        return self._ask(key, "read_raw", (path, limit, offset), lambda: self.inner.read_raw(path, limit, offset))

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        return self._ask(question("list", glob), "list", (glob,), lambda: self.inner.list(glob))

    def stat(self, path: str) -> FileInfo | Unavailable:
        return self._ask(question("stat", path), "stat", (path,), lambda: self.inner.stat(path))

    def resolve(self, path: str) -> str | Unavailable:
        return self._ask(question("resolve", path), "resolve", (path,), lambda: self.inner.resolve(path))

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        return self._ask(run_question(argv, env), "run", (tuple(argv), dict(env or {})), lambda: self.inner.run(argv, timeout, env))

    def processes(self) -> tuple[Process, ...] | Unavailable:
        return self._ask(question("processes"), "processes", (), self.inner.processes)

    def environ(self, pid: int) -> Mapping[str, str] | Unavailable:
        return self._ask(question("environ", pid), "environ", (pid,), lambda: self.inner.environ(pid))

    def listening(self) -> tuple[Listener, ...] | Unavailable:
        return self._ask(question("listening"), "listening", (), self.inner.listening)

    def now(self) -> datetime:
        return self._ask(question("now"), "now", (), self.inner.now)

    def boot_id(self) -> str | Unavailable:
        return self._ask(question("boot_id"), "boot_id", (), self.inner.boot_id)

    def _ask(self, key: str, kind: str, arguments: tuple[Any, ...], ask: Callable[[], T]) -> T:
        known = self._seen.get(key)
        if known is not None:
            answer: T = known.answer
            return answer
        answer = ask()
        with self._lock:
            self._bytes += _size(answer)
            full = self._bytes > MOST_BYTES
            kept = Unavailable(str(arguments[0] if arguments else kind), Why.TOO_BIG, "the bundle is full") if full and kind != "now" else answer
            return self._seen.setdefault(key, Seen(kind, arguments, kept)).answer  # type: ignore[no-any-return]


def _size(answer: object) -> int:
    if isinstance(answer, Output):
        return len(answer.stdout) + len(answer.stderr)
    return len(answer) if isinstance(answer, str | bytes) else 0


def texts(seen: Sequence[Seen]) -> Iterator[str]:
    """Every text in them, for `Redactor.learn`."""
    for each in seen:
        yield from (text for text in each.arguments if isinstance(text, str))
        answer = each.answer
        if isinstance(answer, str):
            yield answer
        elif isinstance(answer, Output):
            yield from (answer.stdout, answer.stderr, *answer.argv)
        elif isinstance(answer, FileInfo):
            yield from (answer.path, answer.target)
        elif each.kind == "list" and isinstance(answer, tuple):
            yield from answer
        elif each.kind == "processes" and isinstance(answer, tuple):
            for process in answer:
                yield from (*process.argv, process.name, process.exe, process.cwd)
        elif isinstance(answer, Unavailable):
            yield from (answer.what, answer.detail)


def learn(redactor: Redactor, host: Host, seen: Sequence[Seen], more: Sequence[str] = ()) -> None:
    """Teaches the redactor the machine's own names, its secrets, and everything that stands in what was seen."""
    learn_names(redactor, host)
    for each in seen:
        if each.kind == "environ" and isinstance(each.answer, Mapping):
            redactor.mapping(each.answer)
        elif each.kind == "processes" and isinstance(each.answer, tuple):
            for process in each.answer:
                redactor.argv(process.argv)
    redactor.learn((*texts(seen), *more))
    redactor.counts.clear()


def learn_names(redactor: Redactor, host: Host) -> None:
    """What this machine and its users are called."""
    for kind, names in (("host", _host_names(host)), ("user", _user_names(host))):
        redactor.learn_names(kind, names)


def _host_names(host: Host) -> Iterator[str]:
    yield host.label
    for path in ("/etc/hostname", "/proc/sys/kernel/hostname"):
        text = host.read(path, 1024)
        yield from text.split() if isinstance(text, str) else ()
    hosts = host.read("/etc/hosts", 256 * 1024)
    for line in hosts.splitlines() if isinstance(hosts, str) else ():
        yield from line.partition("#")[0].split()[1:]


def _user_names(host: Host) -> Iterator[str]:
    """People, not services: 1000 and above, as every distribution numbers them."""
    passwd = host.read("/etc/passwd")
    for line in passwd.splitlines() if isinstance(passwd, str) else ():
        fields = line.split(":")
        if len(fields) > 5 and fields[2].isdecimal() and 1000 <= int(fields[2]) < 65000:
            yield fields[0]
            yield from (word for word in fields[4].split(",")[:1] if len(word) > 3 and word.lower() != fields[0].lower())
    homes = host.list("/home/*")
    yield from (path.rpartition("/")[2] for path in homes) if isinstance(homes, tuple) else ()


class Masked:
    """The answers of `seen` as a host, masked by `redactor`. It answers only what was asked, in `ask` order."""

    live = False

    def __init__(self, seen: Sequence[Seen], infos: Mapping[str, FileInfo], label: str, time: datetime, redactor: Redactor) -> None:
        self._redactor = redactor
        self.label = redactor.host(label)
        self._time = time
        self._infos = {redactor.text(path): info for path, info in infos.items()}
        self._answer: Any = None

    def ask(self, seen: Seen, of: Host) -> None:
        """Puts the masked question to `of`, which asks this host in turn."""
        arguments = self._arguments(seen)
        self._answer = self._masked(seen)
        if seen.kind == "run":
            of.run(arguments[0], env=arguments[1])
        else:
            getattr(of, seen.kind)(*arguments)

    def _arguments(self, seen: Seen) -> tuple[Any, ...]:
        if seen.kind == "run":
            return tuple(self._redactor.argv(seen.arguments[0])), self._environment(seen.arguments[1])
        return tuple(self._redactor.text(each) if isinstance(each, str) else each for each in seen.arguments)

    def _environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        return self._redactor.environment(variables)

    def _masked(self, seen: Seen) -> Any:
        answer, mask = seen.answer, self._redactor.text
        if isinstance(answer, Unavailable):
            return Unavailable(mask(answer.what), answer.why, mask(answer.detail))
        if isinstance(answer, str):
            return mask(answer)
        if isinstance(answer, bytes):
            return self._bytes(seen, answer)
        if isinstance(answer, Output):
            return dataclasses.replace(answer, argv=tuple(self._redactor.argv(answer.argv)), stdout=mask(answer.stdout), stderr=mask(answer.stderr))
        if isinstance(answer, FileInfo):
            return dataclasses.replace(answer, path=mask(answer.path), target=mask(answer.target))
        if isinstance(answer, Mapping):
            return self._environment(answer)
        if seen.kind == "list":
            return tuple(sorted(map(mask, answer)))
        if seen.kind == "processes":
            return tuple(map(self._process, answer))
        if seen.kind == "listening":
            return tuple(map(self._listener, answer))
        return answer

    def _listener(self, each: Listener) -> Listener:
        port = self._redactor.names.port(each.port) if self._redactor.profile == "public" else each.port
        return dataclasses.replace(each, address=self._redactor.text(each.address), port=port)

    def _process(self, process: Process) -> Process:
        mask = self._redactor.text
        return dataclasses.replace(
            process, name=mask(process.name), argv=tuple(self._redactor.argv(process.argv)), exe=mask(process.exe), cwd=mask(process.cwd)
        )

    def _bytes(self, seen: Seen, data: bytes) -> bytes | Unavailable:
        """Bytes that are text in which nothing is to be masked (the header of a weight file) stay; other bytes nobody can look through."""
        try:
            text = data[8:].decode("utf-8") if data[8:9] == b"{" else data.decode("utf-8")
        except UnicodeDecodeError:
            text = ""
        if self._redactor.profile == "raw" or len(data) <= 8 or (text and self._redactor.text(text) == text):
            return data
        return Unavailable(self._redactor.text(str(seen.arguments[0])), Why.LEFT_OUT, "bytes that are no text")

    # The host's own methods: each answers what `ask` made ready.

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> Any:
        return self._answer

    def read_raw(self, path: str, limit: int, offset: int = 0) -> Any:
        return self._answer

    def list(self, glob: str) -> Any:
        return self._answer

    def stat(self, path: str) -> Any:
        if isinstance(self._answer, (FileInfo, Unavailable)):
            return self._answer
        return self._infos.get(path) or Unavailable(path, Why.NOT_RECORDED)  # the recorder asks for the size of what it keeps

    def resolve(self, path: str) -> Any:
        return self._answer

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Any:
        return self._answer

    def processes(self) -> Any:
        return self._answer

    def environ(self, pid: int) -> Any:
        return self._answer

    def listening(self) -> Any:
        return self._answer

    def now(self) -> datetime:
        return self._answer if isinstance(self._answer, datetime) else self._time

    def boot_id(self) -> Any:
        return self._answer


__all__ = ["Masked", "Seen", "SeenHost", "learn", "learn_names", "texts"]
