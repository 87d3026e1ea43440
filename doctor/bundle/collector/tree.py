"""What is where below the root: nodes by path, the texts of files and the bytes of headers.

Contract: standard library only, in the grammar of Python 3.6 (see `reading`).
"""

# ruff: noqa: UP031

from __future__ import annotations

import fnmatch
import re
import stat
from typing import Any

from doctor.bundle.collector.machine import KINDS, MAX_LINKS, MOST_BYTES, MOST_ENTRIES, MOST_NODES, Machine, why
from doctor.text import clean, decode


class Tree:
    """What was looked at: nodes by path, texts and bytes of files."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.nodes: dict[str, dict[str, Any]] = {}
        self.texts: dict[str, str] = {}
        self.raw: dict[str, bytes] = {}
        self._bytes = 0

    def node(self, path: str) -> dict[str, Any]:
        """The node of this very path (no link followed), looked at once."""
        if path not in self.nodes:
            try:
                info = self.machine.lstat(path)
                kind = KINDS.get(stat.S_IFMT(info.st_mode), "file")
                node: dict[str, Any] = {"k": kind, "s": info.st_size, "m": stat.S_IMODE(info.st_mode), "u": info.st_uid, "g": info.st_gid, "t": info.st_mtime}
                if kind == "link":
                    node["l"] = clean(self.machine.link(path))
            except (OSError, ValueError) as error:
                node = {"k": why(error)} if isinstance(error, OSError) else {"k": "missing"}
            if len(self.nodes) < MOST_NODES:
                self.nodes[path] = node
            return node
        return self.nodes[path]

    def names(self, path: str) -> list[str]:
        """The entries of a folder; none where it cannot be listed, which is kept as well."""
        node = self.node(path)
        if node["k"] != "folder":
            return []
        if "n" not in node:
            try:
                names = [name for name in self.machine.names(path) if clean(name) == name]
                node["n"] = names[:MOST_ENTRIES] if path != "/proc" else [name for name in names if not name.isdigit()]
                if len(names) > MOST_ENTRIES:
                    node["e"] = "too big"
            except OSError as error:
                node["n"], node["e"] = [], why(error)
        return list(node["n"])

    def walk(self, path: str) -> str:
        """Where the path leads, every link followed; "" where it leads nowhere."""
        done: list[str] = []
        todo = path.split("/")[::-1]
        links = 0
        while todo:
            name = todo.pop()
            if name == "..":
                del done[-1:]
            if name in ("", ".", ".."):
                continue
            here = "/" + "/".join(done + [name])
            node = self.node(here)
            if node["k"] == "link":
                links += 1
                if links > MAX_LINKS or not node["l"]:
                    return ""
                if node["l"].startswith("/"):
                    done = []
                todo.extend(node["l"].split("/")[::-1])
            elif node["k"] in ("missing", "denied", "not recorded"):
                return ""
            else:
                done.append(name)
        return "/" + "/".join(done)

    def matches(self, pattern: str) -> list[str]:
        """Paths that match, as they are named, not as their links lead."""
        found = [""]
        for part in pattern.strip("/").split("/"):
            following = []
            first = re.match(r"<(\d+)>$", part)
            for base in found:
                if first or re.search(r"[*?\[]", part):
                    real = self.walk(base or "/")
                    names = self.names(real) if real else []
                    if first:
                        following += [base + "/" + name for name in names if not name.startswith(".")][: int(first.group(1))]
                    else:
                        following += [base + "/" + name for name in names if fnmatch.fnmatchcase(name, part) and (name[0] != "." or part[0] == ".")]
                else:
                    following.append(base + "/" + part)
            found = following[:MOST_ENTRIES]
        for path in found:
            self.walk(path)
        return found

    def keep(self, path: str, limit: int, tail: bool) -> None:
        """The text of the file that the path leads to."""
        real = self.walk(path)
        node: dict[str, Any] = self.node(real) if real else {"k": "missing"}
        if node["k"] != "file" or "f" in node:
            return
        try:
            data = self.machine.read(real, limit, tail)
        except (OSError, ValueError) as error:
            node["e"] = why(error) if isinstance(error, OSError) else "missing"
            return
        self._bytes += len(data)
        if self._bytes > MOST_BYTES:
            node["e"] = "too big"
            return
        node["f"], node["w"], node["x"] = True, len(data) < limit or len(data) == node["s"], tail
        self.texts[real] = clean(decode(data))

    def keep_raw(self, path: str, limit: int) -> None:
        """The first bytes of a file: of a weight file its header, as far as it goes."""
        real = self.walk(path)
        if not real or self.node(real)["k"] != "file":
            return
        try:
            start = self.machine.read(real, 64, False)
            length = int.from_bytes(start[:8], "little") if limit > 64 and len(start) == 64 and start[8:9] == b"{" else 0
            self.raw[real] = self.machine.read(real, min(length + 8, limit), False) if 64 < length + 8 <= limit else start
        except (OSError, ValueError):
            return
