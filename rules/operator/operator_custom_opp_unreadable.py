"""Folders of custom operators that this user may not read."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.cann import CustomOps
from doctor.facts.rights import READ, SEARCH, Rights
from doctor.finding import Evidence, Hit


def judge(custom: CustomOps | None, rights: Rights | None) -> Iterator[Hit]:
    for path in custom.unreadable if custom else ():
        yield Hit(subject=path, found=f"{path} cannot be read", wanted="readable for the user of the server", evidence=(Evidence(path, "permission denied"),))
    own = rights.own if rights else None
    for right in rights.vendors if rights and own else ():
        if own is not None and right.refuses(own, READ | SEARCH if right.folder else READ):
            yield Hit(subject=right.path, found=f"{right.path} cannot be read", wanted="readable for the user of the server", evidence=(Evidence(right.path, right.told),))
