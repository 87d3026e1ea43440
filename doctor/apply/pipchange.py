"""Packages of one Python environment, brought to exact versions, with the replaced ones kept so that going back needs no network and no pip."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from doctor.apply import sitestate
from doctor.apply.change import ChangeError, Ground, Scripted, Standing
from doctor.apply.pipreport import Installer, complaint, requirement_lines
from doctor.apply.shellwords import heredoc, quoted
from doctor.apply.sitestate import Places
from doctor.host import Unavailable
from doctor.text import clean_line

INSTALL_TIMEOUT = 3600.0
"""Seconds: torch alone is 800 MB, and a slow mirror was seen to take half an hour for a whole row."""
PASSED = (
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy", "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST", "PIP_CERT", "SSL_CERT_FILE", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL",
)  # fmt: skip
"""Variables that say where packages come from; given to the installer when it may use the network."""


@dataclass(frozen=True)
class PipChange:
    """`before` and `after` are versions by normalised name, "" where a package is not there; `hashes` the SHA-256 of the files to install."""

    KIND: ClassVar[str] = "packages"

    installer: Installer
    places: Places
    before: Mapping[str, str]
    after: Mapping[str, str]
    hashes: Mapping[str, str] = field(default_factory=dict)
    again: tuple[str, ...] = ()
    """Installed again although their version stays: a removed package took files of theirs along."""
    damaged: tuple[str, ...] = ()
    """Packages of which files were changed or missing before; they are put back as they were."""

    @property
    def subject(self) -> str:
        return f"packages of {self.installer.python}"

    @property
    def nothing(self) -> bool:
        return dict(self.before) == dict(self.after) and not self.again

    @property
    def _installed(self) -> dict[str, str]:
        return {name: version for name, version in self.after.items() if version and (self.before.get(name) != version or name in self.again)}

    @property
    def _gone(self) -> list[str]:
        return sorted(name for name, version in self.after.items() if not version and self.before.get(name))

    @property
    def _hashed(self) -> bool:
        return all(self.hashes.get(name) for name in self._installed)

    def commands(self) -> tuple[tuple[str, ...], ...]:
        first = (self.installer.uninstall(self._gone),) if self._gone else ()
        names = requirement_lines(self._installed, {})
        return (self.installer.freeze(), *first, *((self.installer.install("", hashes=False)[:-2] + names,) if names else ()))

    def diff(self) -> str:
        lines = []
        for name in sorted({*self.before, *self.after}):
            old, new = self.before.get(name, ""), self.after.get(name, "")
            if old != new or name in self.again:
                lines += [f"-{name}=={old}\n"] if old else []
                lines += [f"+{name}=={new}\n"] if new else []
        return "".join((f"--- {self.installer.python}\n", f"+++ {self.installer.python}\n", *lines)) if lines else ""

    def look(self, ground: Ground) -> Standing:
        names = {*self.before, *self.after}
        if state := sitestate.marked(self.places):
            return Standing.UNFINISHED if state == sitestate.MAKING else Standing.MIXED
        found = sitestate.distributions(self.places, names)
        now = {name: ",".join(versions) for name, versions in sitestate.versions(found).items()}
        fits = [state for state, told in ((Standing.BEFORE, self.before), (Standing.AFTER, self.after)) if all(now[name] == told.get(name, "") for name in names)]
        if fits:
            checked = [one for name, some in found.items() for one in some if name not in self.damaged]
            return fits[0] if all(sitestate.whole(self.places, one) for one in checked) else Standing.UNFINISHED
        mixed = all(now[name] in (self.before.get(name, ""), self.after.get(name, "")) for name in names)
        return Standing.MIXED if mixed else Standing.OTHER

    def save(self, ground: Ground, name: str) -> Mapping[str, Any]:
        folder = ground.backups.folder(name)
        frozen = ground.run(self.installer.freeze(), timeout=120.0, env=self._environment())
        files = sitestate.files_of(self.places, [one for one, version in self.before.items() if version])
        before = sitestate.listing(self.places)
        sitestate.write_listing(f"{folder}/before.gz", before)
        digest = sitestate.pack(self.places, files, f"{folder}/replaced.tar")
        return {
            "folder": folder,
            "sha256": digest,
            "files": len(files),
            "freeze": [] if isinstance(frozen, Unavailable) else [clean_line(line) for line in frozen.stdout.splitlines()][:5000],
        }

    def make(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        if self.look(ground) is Standing.OTHER:
            raise ChangeError(f"the packages of {self.installer.python} were changed by something else meanwhile")
        sitestate.mark(self.places, sitestate.MAKING)
        ground.reached("packages marked")
        if self._gone:
            self._run(ground, self.installer.uninstall(self._gone), 300.0)
            ground.reached("packages removed")
        if self._installed:
            listed = f"{saved['folder']}/requirements.txt"
            with open(listed, "w", encoding="utf-8") as file:
                file.write("\n".join(requirement_lines(self._installed, self.hashes)) + "\n")
            self._run(ground, (*self.installer.install(listed, hashes=self._hashed), self.installer.again), INSTALL_TIMEOUT)
            ground.reached("packages installed")
        sitestate.write_listing(f"{saved['folder']}/after.gz", sitestate.listing(self.places))
        ground.reached("packages listed")
        os.unlink(self.places.mark)
        if self.look(ground) is not Standing.AFTER:
            raise ChangeError("the installer ended without an error, but not all packages have the wanted version")

    def unmake(self, ground: Ground, saved: Mapping[str, Any]) -> None:
        if self.look(ground) is Standing.BEFORE:
            return
        archive = f"{saved['folder']}/replaced.tar"
        sitestate.checked(archive, str(saved["sha256"]))
        before = sitestate.read_listing(f"{saved['folder']}/before.gz")
        if before is None:
            raise ChangeError(f"the list of files in {saved['folder']} cannot be read")
        interrupted = sitestate.marked(self.places) == sitestate.MAKING
        if not interrupted:
            sitestate.mark(self.places, sitestate.UNDOING)
        # After a whole installation only what it brought goes; others may have added something since.
        after = None if interrupted else sitestate.read_listing(f"{saved['folder']}/after.gz")
        present = sitestate.listing(self.places)
        added = (set(after if after is not None else present) - set(before)) & set(present)
        sitestate.restore(self.places, archive, sorted(added | set(sitestate.elsewhere(self.places, {*self.before, *self.after}))))
        sitestate.sync_tree(self.places, before)
        ground.reached("packages put back")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.places.mark)

    def difference(self, ground: Ground, saved: Mapping[str, Any]) -> str:
        names = sorted({*self.before, *self.after})
        installed = sitestate.distributions(self.places, names)
        now = sitestate.versions(installed)
        told = []
        for name in names:
            found = ",".join(now[name])
            if found not in (self.before.get(name, ""), self.after.get(name, "")):
                told.append(f"{name}: before {self.before.get(name) or '-'}, set by doctor to {self.after.get(name) or '-'}, now {found or '-'}")
            elif found and not all(sitestate.whole(self.places, one) for one in installed[name]):
                told.append(f"{name} {found}: files are missing or were changed")
        return "\n".join(told)

    def _run(self, ground: Ground, argv: tuple[str, ...], timeout: float) -> None:
        output = ground.run(argv, timeout=timeout, env=self._environment())
        if isinstance(output, Unavailable):
            raise ChangeError(f"{argv[0]}: {output.why.value} {output.detail}".strip())
        if output.exit != 0:
            raise ChangeError(f"the installer failed ({output.exit}): {complaint(output.text)}")

    def _environment(self) -> Mapping[str, str]:
        return install_environment(self.installer, os.environ)

    def scripted(self) -> Scripted:
        name = f"{os.path.basename(self.places.prefix)}-packages"
        kept, wanted = f'"$BACKUP"/{quoted(name)}.txt', f"/tmp/ascend-doctor-{name}.txt"
        lines = "\n".join(requirement_lines(self._installed, self.hashes)) + "\n"
        shell = [f"{_line(self.installer.freeze())} > {kept}"]
        shell += [_line(self.installer.uninstall(self._gone))] if self._gone else []
        shell += [*heredoc(wanted, lines, "0600"), _line(self.installer.install(wanted, hashes=self._hashed))] if self._installed else []
        old = {one: version for one, version in self.before.items() if version and version != self.after.get(one)}
        new = sorted(one for one, version in self.after.items() if version and not self.before.get(one))
        undo = [_line(self.installer.uninstall(new))] if new else []
        undo += ["# the old versions have to be found again: in the folder of wheels, or in an index"] if old else []
        undo += [*heredoc(wanted, "\n".join(requirement_lines(old, {})) + "\n", "0600"), _line(self.installer.install(wanted, hashes=False))] if old else []
        tasks: list[Mapping[str, Any]] = []
        if self._gone:
            tasks.append({"ansible.builtin.command": {"argv": list(self.installer.uninstall(self._gone))}})
        if self._installed:
            tasks.append({"ansible.builtin.copy": {"dest": wanted, "content": lines, "mode": "0600"}})
            tasks.append({"ansible.builtin.command": {"argv": list(self.installer.install(wanted, hashes=self._hashed))}})
        return Scripted(tuple(shell), tuple(undo), tuple(tasks))

    def data(self) -> Mapping[str, Any]:
        one = self.installer
        return {
            "python": one.python, "uv": one.uv, "wheels": one.wheels, "indexes": list(one.indexes), "isolation": one.isolation,
            "prefix": self.places.prefix, "sites": list(self.places.sites), "scripts": self.places.scripts,
            "before": dict(self.before), "after": dict(self.after), "hashes": dict(self.hashes), "again": list(self.again),
            "damaged": list(self.damaged),
        }  # fmt: skip

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> PipChange:
        installer = Installer(str(data["python"]), str(data["uv"]), str(data["wheels"]), tuple(map(str, data["indexes"])), bool(data["isolation"]))
        places = Places(str(data["prefix"]), tuple(map(str, data["sites"])), str(data["scripts"]))
        if not places.sites or not all(os.path.isabs(path) for path in (installer.python, places.prefix, *places.sites, places.scripts)):
            raise ValueError("a path that is not absolute")
        return cls(installer, places, _texts(data["before"]), _texts(data["after"]), _texts(data["hashes"]), tuple(map(str, data["again"])), tuple(map(str, data["damaged"])))


def install_environment(installer: Installer, environment: Mapping[str, str]) -> Mapping[str, str]:
    """Offline nothing that names an index counts, not even a configuration file; else the user's mirrors and proxies do."""
    common = {"PIP_NO_INPUT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    if installer.wheels:
        return {**common, "PIP_CONFIG_FILE": os.devnull, "UV_NO_CONFIG": "1", "UV_OFFLINE": "1"}
    return {**common, **{name: environment[name] for name in PASSED if name in environment}}


def _line(argv: tuple[str, ...]) -> str:
    return " ".join(quoted(word) for word in argv)


def _texts(data: Mapping[Any, Any]) -> dict[str, str]:
    return {str(key): str(value) for key, value in data.items()}


__all__ = ["PipChange", "install_environment"]
