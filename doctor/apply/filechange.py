"""A file that is written, replaced or removed: atomically, keeping mode, owner, labels and links, and undone from a copy."""

from __future__ import annotations

import base64
import difflib
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from doctor.apply.change import ChangeError, Ground, Scripted, Standing
from doctor.apply.rootfiles import FileState
from doctor.apply.shellwords import heredoc, quoted
from doctor.text import clean

NEW_MODE = 0o644


@dataclass(frozen=True)
class FileChange:
    """`before` and `after` are whole contents; None: no such file. `then` are commands by which the running system hears of it; they
    must be harmless however often they run, and run after the undo as well."""

    KIND: ClassVar[str] = "file"

    path: str
    before: str | None
    after: str | None
    mode: int = NEW_MODE
    """Of a file that does not exist yet."""
    then: tuple[tuple[str, ...], ...] = ()

    @property
    def subject(self) -> str:
        return self.path

    @property
    def nothing(self) -> bool:
        return self.before == self.after

    def commands(self) -> tuple[tuple[str, ...], ...]:
        return self.then

    def diff(self) -> str:
        return unified(self.before, self.after, self.path)

    def look(self, ground: Ground) -> Standing:
        now = ground.files.read(self.path)
        data = None if now is None else now.data
        if data == _bytes(self.after):
            return Standing.AFTER
        return Standing.BEFORE if data == _bytes(self.before) else Standing.OTHER

    def save(self, ground: Ground, name: str) -> Mapping[str, Any]:
        now = ground.files.read(self.path)
        saved: dict[str, Any] = {"folders": list(ground.files.missing_folders(self.path)), "temporary": _temporary(ground, name)}
        if now is not None:
            attributes = {key: base64.b64encode(value).decode() for key, value in now.attributes.items()}
            digest = ground.backups.keep(name, now.data)
            saved["file"] = {"backup": name, "sha256": digest, "path": now.path, "mode": now.mode, "uid": now.uid, "gid": now.gid, "attributes": attributes}
        return saved

    def make(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        if self.look(ground) is Standing.OTHER:
            raise ChangeError(f"{self.path} was changed by something else meanwhile")
        if self.after is None:
            ground.files.remove(self.path)
        else:
            for folder in saved["folders"]:
                ground.files.make_folder(folder)
            ground.reached(f"folders of {self.path}")
            ground.files.replace(self._made(saved), saved["temporary"])
        self._tell(ground)

    def _made(self, saved: Mapping[str, Any]) -> FileState:
        kept = saved.get("file")
        data = _bytes(self.after) or b""
        if kept is None:
            return FileState(self.path, data, self.mode, os.geteuid(), os.getegid())
        attributes = {key: base64.b64decode(value) for key, value in kept["attributes"].items()}
        return FileState(kept["path"], data, kept["mode"], kept["uid"], kept["gid"], attributes)

    def unmake(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        ground.files.sweep(self.path, saved["temporary"])
        kept, standing = saved.get("file"), self.look(ground)
        if standing is Standing.BEFORE and not self.nothing:
            pass
        elif kept is None:
            ground.files.remove(self.path)
        else:
            data = ground.backups.kept(kept["backup"], kept["sha256"])
            attributes = {key: base64.b64decode(value) for key, value in kept["attributes"].items()}
            ground.files.replace(FileState(kept["path"], data, kept["mode"], kept["uid"], kept["gid"], attributes), saved["temporary"])
        for folder in reversed(saved["folders"]):
            ground.files.remove_folder(folder)
        self._tell(ground)

    def _tell(self, ground: Ground) -> None:
        if ground.live:
            for argv in self.then:
                ground.run(argv, timeout=60.0)

    def difference(self, ground: Ground, saved: Mapping[str, Any]) -> str:
        now = ground.files.read(self.path)
        return unified(self.after, None if now is None else now.data.decode("utf-8", "replace"), self.path)

    def scripted(self) -> Scripted:
        path, kept = quoted(self.path), f'"$BACKUP"/{quoted(_backup_name(self.path))}'
        keep = (f"keep {path} {kept}",)
        tell = tuple(" ".join(quoted(word) for word in argv) for argv in self.then)
        undo = (f"restore {path} {kept}", *tell)
        if self.after is None:
            return Scripted((*keep, f"rm -f -- {path}", *tell), undo, ({"ansible.builtin.file": {"path": self.path, "state": "absent"}},), (self._back(),))
        folder = quoted(os.path.dirname(self.path))
        write = (f"mkdir -p -- {folder}", *heredoc(self.path, self.after, f"{self.mode:04o}" if self.before is None else ""))
        copy = {"dest": self.path, "content": self.after, **({"mode": f"{self.mode:04o}"} if self.before is None else {})}
        made: tuple[Mapping[str, Any], ...] = (
            {"ansible.builtin.file": {"path": os.path.dirname(self.path), "state": "directory"}},
            {"ansible.builtin.copy": copy},
            *({"ansible.builtin.command": {"argv": list(argv)}, "changed_when": False} for argv in self.then),
        )
        return Scripted((*keep, *write, *tell), undo, made, (self._back(),))

    def _back(self) -> Mapping[str, Any]:
        if self.before is None:
            return {"ansible.builtin.file": {"path": self.path, "state": "absent"}}
        return {"ansible.builtin.copy": {"dest": self.path, "content": self.before}}

    def data(self) -> Mapping[str, Any]:
        return {"path": self.path, "before": self.before, "after": self.after, "mode": self.mode, "then": [list(argv) for argv in self.then]}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> FileChange:
        then = tuple(tuple(str(word) for word in argv) for argv in data["then"])
        return cls(str(data["path"]), _text(data["before"]), _text(data["after"]), int(data["mode"]), then)


def unified(before: str | None, after: str | None, path: str) -> str:
    """A unified diff of two contents, either of which may be missing; cleaned for a terminal."""
    old, new = (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True)
    names = ("/dev/null" if before is None else path), ("/dev/null" if after is None else path)
    lines = list(difflib.unified_diff(old, new, *names))
    return clean("".join(line if line.endswith("\n") else line + "\n\\ no newline at the end\n" for line in lines))


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _temporary(ground: Ground, name: str) -> str:
    return f".ascend-doctor-{ground.transaction}-{name}"


def _backup_name(path: str) -> str:
    return f"{hashlib.sha256(path.encode()).hexdigest()[:8]}-{os.path.basename(path)}"


__all__ = ["FileChange", "unified"]
