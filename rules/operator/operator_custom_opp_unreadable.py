"""Folders of custom operators that this user may not read."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import CustomOps
from doctor.finding import Evidence, Hit


def judge(custom: CustomOps | None) -> Iterator[Hit]:
    for path in custom.unreadable if custom else ():
        yield Hit(subject=path, found=f"{path} cannot be read", wanted="readable for the user of the server", evidence=(Evidence(path, "permission denied"),))
