"""Which vLLM a command is judged by: the one that was named, that of its container's image, the installed one, or the newest known."""

from __future__ import annotations

import enum
import re

from doctor import compat
from doctor.facts import Facts, known
from doctor.facts.target import Packages, module_folder
from doctor.host import Host, Unavailable
from doctor.lint import shipped
from doctor.lint.flags import Table
from doctor.lint.source import read_table
from doctor.record import dataclass

SOURCE_LIMIT = 2 * 1024 * 1024
"""Bytes of one source file of vLLM; its largest has 150 KB."""

_ASCEND_IMAGE = re.compile(r"vllm-ascend:v?(\d+\.\d+\.\d+(?:rc\d+|\.post\d+)?)", re.IGNORECASE)
_VLLM_IMAGE = re.compile(r"vllm-openai:v?(\d+\.\d+\.\d+(?:\.\d+)?(?:rc\d+|\.post\d+)?)", re.IGNORECASE)


class Basis(enum.Enum):
    """How the release is known."""

    NAMED = "named"
    IMAGE = "image"
    INSTALLED = "installed"
    RELEASE = "release"
    """The version is known, its source is not there."""
    NEWEST = "newest"
    """Nothing tells it: the newest release that doctor knows is taken."""


@dataclass(frozen=True)
class Chosen:
    """The table, how it was chosen, and the releases of vLLM and vllm-ascend ("" where not known)."""

    table: Table
    basis: Basis
    vllm: str = ""
    ascend: str = ""

    @property
    def sure(self) -> bool:
        """Whether what is not in the table is certainly not in the vLLM that is meant."""
        return self.basis is not Basis.NEWEST and self.table.exact

    @property
    def said(self) -> str:
        """For people: the release, and where its flags were read."""
        version = self.vllm or self.table.version
        where = f"table of {self.table.version}" if self.table.origin == shipped.ORIGIN and not self.table.exact else self.table.origin
        return f"vLLM {version} ({where})"


class Chooser:
    """Chooses a table for each command; the installed vLLM is read at most once."""

    def __init__(self, host: Host | None, facts: Facts | None, named: str | None = None) -> None:
        self._host, self._facts, self._named = host, facts, named
        self._installed: Chosen | None = None
        self._looked = False

    def choose(self, image: str | None = None) -> Chosen:
        """The release for a command that runs in `image` (None: not in a container)."""
        if self._named:
            return named_release(self._named) or newest()
        told = image_release(image) if image else None
        if told is not None:
            return told
        if not self._looked:
            self._looked = True
            self._installed = self._read_installed()
        return self._installed or newest()

    def _read_installed(self) -> Chosen | None:
        packages = known(self._facts.get(Packages)) if self._facts is not None else None
        if packages is None or self._facts is None:
            return None
        ascend = packages.versions.get("vllm-ascend", "")
        row = compat.nearest(ascend) if ascend else None
        version = packages.versions.get("vllm", "") or (row.vllm if row else "")
        folder = module_folder(self._facts, "vllm") if self._host is not None else None
        table = read_table(lambda path: self._text(f"{folder}/{path}"), version, f"read from {folder}") if folder else None
        if table is not None:
            return Chosen(table, Basis.INSTALLED, version, ascend)
        shipped_table = shipped.table_of(version) if version else None
        return Chosen(shipped_table, Basis.RELEASE, version, ascend) if shipped_table is not None else None

    def _text(self, path: str) -> str | None:
        text = self._host.read(path, SOURCE_LIMIT) if self._host is not None else None
        return None if text is None or isinstance(text, Unavailable) else text


def newest() -> Chosen:
    """The newest release of doctor's table, for commands of which nothing tells the release."""
    return Chosen(shipped.newest(), Basis.NEWEST)


def named_release(version: str) -> Chosen | None:
    """A release that the user named: one of vLLM, or "vllm-ascend 0.11.0rc1" by its own number; None if it is no version."""
    text = version.strip()
    if text.lower().startswith("vllm-ascend"):
        row = compat.nearest(re.sub(r"(?i)^vllm-ascend[ =:v]*", "", text))
        table = shipped.table_of(row.vllm) if row else None
        return Chosen(table, Basis.NAMED, row.vllm, row.version) if row and table else None
    table = shipped.table_of(text.removeprefix("v"))
    return Chosen(table, Basis.NAMED, text.removeprefix("v")) if table is not None else None


def image_release(image: str) -> Chosen | None:
    """The release in an image's tag: vllm-ascend:v0.18.0-a3, vllm-openai:v0.11.0; None where the tag tells none."""
    ascend, plain = _ASCEND_IMAGE.search(image), _VLLM_IMAGE.search(image)
    row = compat.nearest(ascend[1]) if ascend else None
    version = row.vllm if row else plain[1] if plain else ""
    table = shipped.table_of(version) if version else None
    return Chosen(table, Basis.IMAGE, version, ascend[1] if ascend else "") if table is not None else None
