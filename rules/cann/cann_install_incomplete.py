"""Whether the toolkit in use has its libraries, and whether importing torch_npu found them whole."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import Cann
from doctor.facts.target import Imports
from doctor.finding import Evidence, Hit, Skip
from doctor.regex import regex

_NEEDED = ("libascendcl.so", "libhccl.so")
_DAMAGED = regex(r"\S*/lib\w+\.so[\w.]*: (?:file too short|invalid ELF header)")


def judge(cann: Cann, imports: Imports | None) -> Iterator[Hit]:
    install = cann.active
    damaged = _DAMAGED.search(imports.text) if imports is not None and not imports.ok else None
    if damaged and imports is not None:
        yield Hit(found=damaged[0], wanted="whole libraries", evidence=(Evidence(imports.source, damaged[0]),))
        return
    if install is None or not install.libraries:
        raise Skip("the libraries of the toolkit in use were not looked at")
    missing = [name for name in _NEEDED if install.libraries.get(name) is False]
    if missing:
        yield Hit(
            found=f"{', '.join(missing)} missing in {install.path}",
            wanted="the toolkit's libraries in lib64",
            evidence=(Evidence(f"{install.path}/lib64", "missing: " + ", ".join(missing)),),
        )
