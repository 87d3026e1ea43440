"""CANN from local packages, into a folder of its own: nothing that is installed is touched, and going back removes only that folder.

Contract: a package is run only after its SHA-256 is the reviewed one and its own `--check` is content. Doctor's mark in the folder says how far
it came.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from doctor.apply.change import ChangeError, Ground, Scripted, Standing
from doctor.apply.rootfiles import FileState
from doctor.apply.shellwords import quoted
from doctor.apply.sitestate import sync_folder
from doctor.facts.cann import read_install
from doctor.facts.cann_disk import LINKS
from doctor.host import Unavailable
from doctor.host.live import LiveHost
from doctor.text import clean_line

MARK = ".ascend-doctor"
SET_ENV = "set_env.sh"
SHELL = "/bin/bash"
INSTALL_TIMEOUT = 3600.0
"""Seconds; a toolkit unpacks several gigabytes, onto network disks as well."""
CHECK_TIMEOUT = 1200.0
RECORDS = ("/etc/Ascend/ascend_cann_install.info",)
"""Files outside of the folder that an installer rewrites; they are kept and put back."""
ARGUMENTS = {"toolkit": ("--full",), "ops": ("--install",), "nnal": ("--install",)}


@dataclass(frozen=True)
class Piece:
    """One package file, and its SHA-256 when it was reviewed."""

    part: str
    path: str
    sha256: str


@dataclass(frozen=True)
class CannChange:
    """`folder` does not exist before. `kernel`: the operator binaries that have to be there afterwards, "" where none are installed."""

    KIND: ClassVar[str] = "cann"

    folder: str
    version: str
    pieces: tuple[Piece, ...]
    kernel: str = ""
    home: str = ""
    """Toolkit that operators and NNAL are added to, where no toolkit is among the pieces."""

    @property
    def subject(self) -> str:
        return f"CANN {self.version} in {self.folder}"

    @property
    def nothing(self) -> bool:
        return False

    @property
    def script(self) -> str:
        """What to source for this CANN."""
        return f"{self.folder}/{SET_ENV}"

    def commands(self) -> tuple[tuple[str, ...], ...]:
        return tuple(argv for piece in self.pieces for argv in ((SHELL, piece.path, "--check"), self._install(piece)))

    def _install(self, piece: Piece) -> tuple[str, ...]:
        return (SHELL, piece.path, *ARGUMENTS[piece.part], "--quiet", f"--install-path={self.folder}")

    def diff(self) -> str:
        return ""

    def look(self, ground: Ground) -> Standing:
        try:
            info = os.lstat(self.folder)
        except FileNotFoundError:
            return Standing.BEFORE
        if not stat.S_ISDIR(info.st_mode):
            return Standing.OTHER
        state = self._mark()
        if state == "installed":
            return Standing.AFTER
        if state == "removing":
            return Standing.MIXED
        return Standing.UNFINISHED if state or not os.listdir(self.folder) else Standing.OTHER

    def _mark(self) -> str:
        try:
            with open(f"{self.folder}/{MARK}", encoding="utf-8", errors="replace") as file:
                return file.read(64).strip() or "installing"
        except OSError:
            return ""

    def _write(self, name: str, text: str) -> None:
        with open(f"{self.folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self.folder)

    def save(self, ground: Ground, name: str) -> Mapping[str, Any]:
        kept: dict[str, Any] = {}
        for number, path in enumerate(RECORDS):
            now = ground.files.read(path)
            if now is not None:
                attributes = {key: base64.b64encode(value).decode() for key, value in now.attributes.items()}
                digest = ground.backups.keep(f"{name}-record-{number}", now.data)
                kept[path] = {"backup": f"{name}-record-{number}", "sha256": digest, "mode": now.mode, "uid": now.uid, "gid": now.gid, "attributes": attributes}
        return {"records": kept}

    def make(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        if self.look(ground) is Standing.OTHER:
            raise ChangeError(f"{self.folder} is there already, and not by doctor")
        os.makedirs(self.folder, mode=0o755, exist_ok=True)
        self._write(MARK, "installing\n")
        ground.reached("folder made")
        for piece in self.pieces:
            self._run_piece(ground, piece)
            ground.reached(f"{piece.part} installed")
        self._write(SET_ENV, _set_env(self.folder, self.home))
        self._verify()
        self._write(MARK, "installed\n")

    def _run_piece(self, ground: Ground, piece: Piece) -> None:
        if digest_of(piece.path) != piece.sha256:
            raise ChangeError(f"{piece.path} is not the file that was reviewed")
        env = self._environment()
        for argv, timeout, what in (((SHELL, piece.path, "--check"), CHECK_TIMEOUT, "its own check"), (self._install(piece), INSTALL_TIMEOUT, "the installation")):
            output = ground.run(argv, timeout=timeout, env=env)
            if isinstance(output, Unavailable):
                raise ChangeError(f"{os.path.basename(piece.path)}: {what}: {output.why.value} {output.detail}".strip())
            if output.exit != 0:
                last = [clean_line(line) for line in output.text.splitlines() if line.strip()][-3:]
                raise ChangeError(f"{os.path.basename(piece.path)}: {what} failed ({output.exit}): {'; '.join(last)}")
            ground.reached(f"{piece.part} {what}")

    def _environment(self) -> Mapping[str, str]:
        """What set_env.sh would set, computed: root sources nobody's script."""
        home = toolkit_in(self.folder) or self.home
        if not home:
            return {}
        return {"ASCEND_HOME_PATH": home, "ASCEND_TOOLKIT_HOME": home, "ASCEND_OPP_PATH": f"{home}/opp", "ASCEND_AICPU_PATH": home, "LD_LIBRARY_PATH": f"{home}/lib64"}

    def _verify(self) -> None:
        home = toolkit_in(self.folder)
        if any(piece.part == "toolkit" for piece in self.pieces):
            found = read_install(LiveHost("/"), home, []) if home else None
            if found is None:
                raise ChangeError(f"the installer ended without an error, but there is no toolkit in {self.folder}")
            if found.version != self.version:
                raise ChangeError(f"the installer ended without an error, but the toolkit in {self.folder} is {found.version}")
            if self.kernel and self.kernel not in (found.kernels or ()):
                raise ChangeError(f"the operators of {self.kernel} are not in {self.folder}")

    def unmake(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        standing = self.look(ground)
        if standing is Standing.OTHER:
            raise ChangeError(f"{self.folder} is not what doctor left")
        if standing is not Standing.BEFORE:
            users = list(mapped_below(self.folder))
            if users:
                raise ChangeError(f"{self.folder} is in use by process {', '.join(map(str, users[:8]))}; stop it first")
            self._write(MARK, "removing\n")
            ground.reached("removing begun")
            # The mark goes last: what is left of an interrupted removal is still known as ours.
            for name in os.listdir(self.folder):
                if name != MARK:
                    path = f"{self.folder}/{name}"
                    shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)
            os.unlink(f"{self.folder}/{MARK}")
            os.rmdir(self.folder)
        for path, kept in saved["records"].items():
            self._put_back(ground, path, kept)

    def _put_back(self, ground: Ground, path: str, kept: Mapping[str, Any]) -> None:
        now, data = ground.files.read(path), ground.backups.kept(kept["backup"], kept["sha256"])
        if now is None or now.data != data:
            attributes = {key: base64.b64decode(value) for key, value in kept["attributes"].items()}
            ground.files.replace(FileState(path, data, kept["mode"], kept["uid"], kept["gid"], attributes), f".ascend-doctor-{ground.transaction}-cann")

    def difference(self, ground: Ground, saved: Mapping[str, Any]) -> str:
        return f"{self.folder} does not carry doctor's mark"

    def scripted(self) -> Scripted:
        lines = [f"mkdir -p -- {quoted(self.folder)}"]
        for piece in self.pieces:
            lines += [f"echo {quoted(f'{piece.sha256}  {piece.path}')} | sha256sum -c -"]
            lines += [" ".join(quoted(word) for word in argv) for argv in ((SHELL, piece.path, "--check"), self._install(piece))]
        tasks: tuple[Mapping[str, Any], ...] = tuple({"ansible.builtin.command": {"argv": list(argv)}} for argv in self.commands())
        return Scripted(tuple(lines), (f"rm -rf -- {quoted(self.folder)}",), tasks, ({"ansible.builtin.file": {"path": self.folder, "state": "absent"}},))

    def data(self) -> Mapping[str, Any]:
        return {
            "folder": self.folder, "version": self.version, "kernel": self.kernel, "home": self.home,
            "pieces": [[piece.part, piece.path, piece.sha256] for piece in self.pieces],
        }  # fmt: skip

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> CannChange:
        folder = str(data["folder"])
        if not folder.startswith("/") or folder != os.path.normpath(folder) or folder.count("/") < 2:
            raise ValueError("a folder that cannot be doctor's own")
        pieces = tuple(Piece(*map(str, piece)) for piece in data["pieces"])
        if any(piece.part not in ARGUMENTS for piece in pieces):
            raise ValueError("a package that doctor does not install")
        return cls(folder, str(data["version"]), pieces, str(data["kernel"]), str(data["home"]))


def toolkit_in(folder: str) -> str:
    """The toolkit's folder in an install path, whatever its layout; "" if there is none."""
    for link in LINKS:
        real = os.path.realpath(f"{folder}/{link}")
        if os.path.isdir(real) and real.startswith(folder + "/"):
            return real
    return ""


def _set_env(folder: str, home: str) -> str:
    own = [f"{folder}/cann/set_env.sh", f"{folder}/ascend-toolkit/set_env.sh"] + ([f"{home}/set_env.sh"] if home else [])
    words = " ".join(quoted(path) for path in own)
    nnal = quoted(f"{folder}/nnal/atb/set_env.sh")
    return (
        "# Written by ascend-doctor: the CANN of this folder, whichever way its installer lays it out.\n"
        f'for ascend_doctor_env in {words}; do\n    if [ -r "$ascend_doctor_env" ]; then . "$ascend_doctor_env"; break; fi\ndone\n'
        f"unset ascend_doctor_env\nif [ -r {nnal} ]; then . {nnal}; fi\n"
    )


def digest_of(path: str) -> str:
    """SHA-256 of a file; "" where it cannot be read."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while data := file.read(1 << 20):
                digest.update(data)
    except OSError:
        return ""
    return digest.hexdigest()


def mapped_below(folder: str) -> Iterator[int]:
    """Processes that have a file below the folder mapped (libraries), as far as this user may see."""
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
            if any(f" {folder}/" in line for line in maps):
                yield int(pid)


__all__ = ["CannChange", "MARK", "Piece", "digest_of", "mapped_below", "toolkit_in"]
