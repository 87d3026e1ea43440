"""A package of custom operators, copied into a folder of its own under one name that appears only when it is whole.

Contract: nothing of the package is executed to install it; its files are those that were reviewed, by their joint SHA-256.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from doctor.apply.cannchange import mapped_below
from doctor.apply.change import ChangeError, Ground, Scripted, Standing
from doctor.apply.opp_package import within
from doctor.apply.runfile import members, read_head
from doctor.apply.shellwords import quoted
from doctor.apply.sitestate import sync_folder
from doctor.host import Unavailable
from doctor.text import clean_line

MARK = ".ascend-doctor"
MOST_FILES = 20_000
LARGEST = 1024**3
CHECK_TIMEOUT = 120.0
"""Seconds; loading CANN's libraries from a cold disk takes tens of seconds."""

CHECK = """
import ctypes, json, sys
libraries, names = json.loads(sys.argv[1]), json.loads(sys.argv[2])
loaded = [ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL) for path in libraries]
found = [name for name in names if any(hasattr(one, "aclnn%sGetWorkspaceSize" % name) and hasattr(one, "aclnn" + name) for one in loaded)]
print(json.dumps(found))
"""
"""Loads the libraries as a program does that calls the operators, and looks for the two functions of each operator (aclnn interface)."""

Files = Mapping[str, Callable[[], bytes]]


@dataclass(frozen=True)
class OppChange:
    """`source`: run-file or folder; `folder`: where the vendors' folder is put; `python` loads it once to see that it works."""

    KIND: ClassVar[str] = "operators"

    source: str
    sha256: str
    folder: str
    vendor: str
    python: str = ""
    operators: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    """Folders in which CANN's libraries are found."""

    @property
    def subject(self) -> str:
        return f"custom operators {self.vendor} in {self.folder}"

    @property
    def nothing(self) -> bool:
        return False

    @property
    def home(self) -> str:
        """What ASCEND_CUSTOM_OPP_PATH has to name."""
        return f"{self.folder}/vendors/{self.vendor}"

    def commands(self) -> tuple[tuple[str, ...], ...]:
        if os.path.isdir(self.source):
            return (("cp", "-r", self.source, self.home),)
        return (("bash", self.source, "--quiet", f"--install-path={self.folder}"),)

    def diff(self) -> str:
        return ""

    @property
    def _part(self) -> str:
        return f"{self.folder}.ascend-doctor-part"

    def look(self, ground: Ground) -> Standing:
        if not os.path.lexists(self.folder):
            return Standing.BEFORE
        try:
            with open(f"{self.folder}/{MARK}", encoding="utf-8", errors="replace") as file:
                return Standing.AFTER if file.read(80).strip() == self.sha256 else Standing.OTHER
        except OSError:
            return Standing.OTHER

    def save(self, ground: Ground, name: str) -> Mapping[str, Any]:
        missing, above = [], os.path.dirname(self.folder)
        while above != "/" and not os.path.isdir(above):
            missing.append(above)
            above = os.path.dirname(above)
        return {"folders": missing}

    def make(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        if self.look(ground) is Standing.OTHER:
            raise ChangeError(f"{self.folder} is there already, and not by doctor")
        found = read_package(self.source)
        if found is None or joint_digest(found[1]) != self.sha256:
            raise ChangeError(f"{self.source} is not what was reviewed")
        shutil.rmtree(self._part, ignore_errors=True)
        home = f"{self._part}/vendors/{self.vendor}"
        for path, load in found[1].items():
            target = f"{home}/{path}"
            os.makedirs(os.path.dirname(target), mode=0o755, exist_ok=True)
            with open(target, "xb") as file:
                file.write(load())
                os.fchmod(file.fileno(), 0o755 if path.endswith(".so") else 0o644)
                file.flush()
                os.fsync(file.fileno())
        ground.reached("operators copied")
        self._check(ground, home)
        ground.reached("operators loaded")
        with open(f"{self._part}/{MARK}", "w", encoding="utf-8") as file:
            file.write(self.sha256 + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.rename(self._part, self.folder)
        sync_folder(os.path.dirname(self.folder))

    def _check(self, ground: Ground, home: str) -> None:
        """Loads the package in a child of the target's interpreter and looks for one operator."""
        if not self.python or not self.libraries:
            return
        argv = (self.python, "-I", "-c", CHECK, json.dumps([f"{home}/{path}" for path in self.libraries]), json.dumps(list(self.operators)))
        places = [*(f"{home}/{os.path.dirname(path)}" for path in self.libraries), *self.search]
        output = ground.run(argv, timeout=CHECK_TIMEOUT, env={"LD_LIBRARY_PATH": ":".join(dict.fromkeys(places)), "ASCEND_CUSTOM_OPP_PATH": home})
        if isinstance(output, Unavailable):
            raise ChangeError(f"the operators could not be loaded in the target: {output.why.value} {output.detail}".strip())
        if output.exit != 0:
            last = [clean_line(line) for line in output.stderr.splitlines() if line.strip()][-1:]
            raise ChangeError(f"the operators cannot be loaded in the target: {'; '.join(last) or f'exit status {output.exit}'}")
        if self.operators and output.stdout.strip() in ("", "[]"):
            raise ChangeError(f"the library loads, but none of its operators is in it: {', '.join(self.operators[:4])}")

    def unmake(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        shutil.rmtree(self._part, ignore_errors=True)
        gone = f"{self.folder}.ascend-doctor-gone"
        if self.look(ground) is Standing.AFTER:
            users = list(mapped_below(self.folder))
            if users:
                raise ChangeError(f"{self.folder} is in use by process {', '.join(map(str, users[:8]))}; stop it first")
            shutil.rmtree(gone, ignore_errors=True)
            os.rename(self.folder, gone)
            ground.reached("operators put aside")
        shutil.rmtree(gone, ignore_errors=True)
        for folder in saved["folders"]:
            try:
                os.rmdir(folder)
            except OSError:
                break

    def difference(self, ground: Ground, saved: Mapping[str, Any]) -> str:
        return f"{self.folder} holds another package than the one that doctor put there"

    def scripted(self) -> Scripted:
        lines = (f"mkdir -p -- {quoted(self.folder)}", *(" ".join(quoted(word) for word in argv) for argv in self.commands()))
        return Scripted(lines, (f"rm -rf -- {quoted(self.folder)}",), tuple({"ansible.builtin.command": {"argv": list(argv)}} for argv in self.commands()))

    def data(self) -> Mapping[str, Any]:
        return {
            "source": self.source, "sha256": self.sha256, "folder": self.folder, "vendor": self.vendor, "python": self.python,
            "operators": list(self.operators), "libraries": list(self.libraries), "search": list(self.search),
        }  # fmt: skip

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> OppChange:
        folder, vendor = str(data["folder"]), str(data["vendor"])
        if not folder.startswith("/") or folder != os.path.normpath(folder) or folder.count("/") < 2 or "/" in vendor:
            raise ValueError("a folder that cannot be doctor's own")
        lists = (tuple(map(str, data[name])) for name in ("operators", "libraries", "search"))
        return cls(str(data["source"]), str(data["sha256"]), folder, vendor, str(data["python"]), *lists)


def read_package(source: str) -> tuple[str, Files] | None:
    """(vendor, its files by path) of a run-file or a built folder, nothing executed; None for what is neither."""
    return _folder(source) if os.path.isdir(source) else _run_file(source)


def _run_file(source: str) -> tuple[str, Files] | None:
    try:
        with open(source, "rb") as file:

            def read(offset: int, length: int) -> bytes:
                file.seek(offset)
                return file.read(length)

            head = read_head(read)
            if head is None:
                return None
            held: dict[str, bytes] = {}
            for member, load in members(head, read, LARGEST):
                if member.isreg() and not member.name.startswith("/") and ".." not in member.name.split("/"):
                    held[member.name] = load()
    except (OSError, ValueError):
        return None
    found = within(tuple(held))
    return None if found is None else (found[0], {path: functools.partial(bytes, held[name]) for path, name in found[1].items()})


def _folder(source: str) -> tuple[str, Files] | None:
    """The folder may be the vendor's own (it holds op_impl or op_api), or one above it."""
    paths = list(_walk(source))
    own = {"op_impl", "op_api"} & set(os.listdir(source))
    base = os.path.basename(source.rstrip("/"))
    found = within([f"vendors/{base}/{path}" if own else path for path in paths] if len(paths) <= MOST_FILES else [])
    if found is None:
        return None
    prefix = f"vendors/{base}/" if own else ""
    return found[0], {path: functools.partial(_read, f"{source}/{name[len(prefix):]}") for path, name in found[1].items()}


def _walk(folder: str) -> Iterator[str]:
    for above, _, names in os.walk(folder):
        for name in sorted(names):
            path = os.path.join(above, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, folder)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(LARGEST)


def joint_digest(files: Files) -> str:
    """One SHA-256 over all paths and contents."""
    digest = hashlib.sha256()
    for path, load in sorted(files.items()):
        digest.update(f"{path}\0{hashlib.sha256(load()).hexdigest()}\n".encode())
    return digest.hexdigest()


__all__ = ["CHECK", "Files", "MARK", "OppChange", "joint_digest", "read_package"]
