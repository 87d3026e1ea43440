"""Files of a host that were recorded as a tree of what is where (by `doctor collect`), and not question by question.

    tree.jsonl     one node a line: p path, k kind (or missing, denied), s size, m mode, u uid, g gid, t mtime, l where a link points,
                   n every name in a folder, e why it could not be listed or read, f the member with its text, w whether that is all of it,
                   x whether it is the end of the file, r its first bytes in base64

Contract: as `doctor.host.recorded`; a path of which nothing was recorded is NOT_RECORDED, one that a listed folder does not name is MISSING.
"""

from __future__ import annotations

import base64
import fnmatch
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from doctor.host import FileInfo, Kind, Unavailable, Why
from doctor.text import clean

MAX_LINKS = 40
MOST_NODES = 300_000
_MAGIC = re.compile(r"[*?\[]")
_GONE = {"missing": Why.MISSING, "denied": Why.DENIED, "not recorded": Why.NOT_RECORDED, "too big": Why.TOO_BIG, "timed out": Why.TIMED_OUT}


class RecordedTree:
    """`lines` are those of tree.jsonl; `text` gives a member's text or raises ValueError."""

    def __init__(self, lines: Iterable[bytes], text: Callable[[str], str]) -> None:
        self._text = text
        self._nodes: dict[str, dict[str, Any]] = {}
        for line in lines:
            try:
                node = json.loads(line)
                path = clean(node["p"])
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
            if len(self._nodes) < MOST_NODES:
                self._nodes[path] = node

    def resolve(self, path: str) -> str | Unavailable:
        found = self._walk(path)
        return Unavailable(path, found) if isinstance(found, Why) else found

    def _walk(self, path: str) -> str | Why:
        done: list[str] = []
        todo = path.split("/")[::-1]
        links = 0
        while todo:
            name = todo.pop()
            if name == "..":
                del done[-1:]
            if name in ("", ".", ".."):
                continue
            here = "/" + "/".join([*done, name])
            kind = self._kind(here)
            if isinstance(kind, Why):
                return kind
            if kind is Kind.LINK:
                links += 1
                target = self._target(here)
                if links > MAX_LINKS or not target:
                    return Why.MISSING
                if target.startswith("/"):
                    done = []
                todo.extend(target.split("/")[::-1])
            elif todo and any(todo) and kind is not Kind.FOLDER:
                return Why.MISSING
            else:
                done.append(name)
        return "/" + "/".join(done)

    def _kind(self, path: str) -> Kind | Why:
        """Of this very path, in a folder that is none of a link's."""
        node = self._nodes.get(path)
        if node is not None:
            told = node.get("k")
            return _GONE.get(str(told)) or next((kind for kind in Kind if kind.value == told), Why.NOT_RECORDED)
        parent = self._nodes.get(posixpath.dirname(path) or "/")
        whole = parent is not None and isinstance(parent.get("n"), list) and "e" not in parent and posixpath.dirname(path) != "/proc"
        return Why.MISSING if whole and posixpath.basename(path) not in self._names(posixpath.dirname(path)) else Why.NOT_RECORDED

    def _target(self, path: str) -> str:
        target = self._nodes.get(path, {}).get("l")
        return clean(target) if isinstance(target, str) else ""

    def _names(self, path: str) -> frozenset[str]:
        names = self._nodes.get(path, {}).get("n")
        return frozenset(clean(name) for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()

    def stat(self, path: str) -> FileInfo | Unavailable:
        parent, _, name = path.rstrip("/").rpartition("/")
        folder = self._walk(parent or "/")
        if isinstance(folder, Why):
            return Unavailable(path, folder)
        here = posixpath.join(folder, name) if name not in ("", ".", "..") else folder
        kind = self._kind(here)
        if isinstance(kind, Why):
            return Unavailable(path, kind)
        target = self._target(here)
        behind = self._walk(here) if target else here
        return self._info(path, self._nodes[behind if isinstance(behind, str) and behind in self._nodes else here], target)

    def _info(self, path: str, node: dict[str, Any], target: str) -> FileInfo | Unavailable:
        try:
            kind = Kind(node["k"])
            return FileInfo(path, kind, int(node["s"]), int(node["m"]), int(node["u"]), int(node["g"]), float(node["t"]), target)
        except (KeyError, ValueError, TypeError, OverflowError):
            return Unavailable(path, Why.NOT_RECORDED, "the snapshot is damaged here")

    def read(self, path: str, limit: int, tail: bool) -> str | Unavailable:
        found = self._walk(path)
        if isinstance(found, Why):
            return Unavailable(path, found)
        node = self._nodes[found]
        if node.get("k") != "file":
            return Unavailable(path, Why.DENIED, "not a regular file")
        name = node.get("f")
        if not isinstance(name, str):
            return Unavailable(path, _GONE.get(str(node.get("e")), Why.NOT_RECORDED))
        if not node.get("w") and bool(node.get("x")) != tail:
            return Unavailable(path, Why.NOT_RECORDED)
        try:
            data = self._text(name).encode("utf-8", "replace")
        except ValueError:
            return Unavailable(path, Why.NOT_RECORDED, "the snapshot is damaged here")
        part = data[max(len(data) - max(limit, 0), 0) :] if tail else data[: max(limit, 0)]
        return clean(part.decode("utf-8", "replace"))

    def read_raw(self, path: str, limit: int, offset: int) -> bytes | Unavailable:
        found = self._walk(path)
        if isinstance(found, Why):
            return Unavailable(path, found)
        node = self._nodes[found]
        try:
            data = base64.b64decode(node["r"], validate=True)
        except (KeyError, ValueError, TypeError):
            return Unavailable(path, Why.NOT_RECORDED)
        enough = offset + limit <= len(data) or len(data) == node.get("s")
        return data[offset : offset + limit] if enough else Unavailable(path, Why.NOT_RECORDED)

    def list(self, glob: str) -> tuple[str, ...] | Unavailable:
        search = _Search()
        matches = sorted(self._matches("", [name for name in glob.split("/") if name], search))
        return tuple(matches) if matches or search.why is None else Unavailable(glob, search.why)

    def _matches(self, base: str, names: Sequence[str], search: _Search) -> Iterator[str]:
        if not names:
            yield base or "/"
            return
        name, rest = names[0], names[1:]
        if not _MAGIC.search(name):
            answer = self.stat(f"{base}/{name}")
            if not isinstance(answer, Unavailable):
                yield from self._matches(f"{base}/{name}", rest, search)
            else:
                search.note(answer.why)
            return
        folder = self._walk(base or "/")
        if isinstance(folder, Why):
            search.note(folder)
            return
        node = self._nodes.get(folder, {})
        if node.get("k") == "folder" and not isinstance(node.get("n"), list):
            search.note(Why.NOT_RECORDED)
        elif "e" in node:
            search.note(_GONE.get(str(node["e"]), Why.NOT_RECORDED))
        for entry in self._names(folder):
            if (entry[:1] != "." or name[0] == ".") and fnmatch.fnmatchcase(entry, name):
                yield from self._matches(f"{base}/{entry}", rest, search)


class _Search:
    """Why something could not be looked at, if anything."""

    def __init__(self) -> None:
        self.why: Why | None = None

    def note(self, why: Why) -> None:
        if why is not Why.MISSING and self.why is not Why.NOT_RECORDED:
            self.why = why


__all__ = ["RecordedTree"]
