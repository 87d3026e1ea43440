"""Folders on the way to CANN that the user of the server may not search."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.rights import READ, SEARCH, Rights
from doctor.finding import Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(rights: Rights | None, matches: Matches) -> Iterator[Hit]:
    if rights is None or rights.own is None or not rights.toolkit:
        if not matches.looked:
            raise Skip("the modes of CANN's folders, or the user of the server, are not known")
        return
    denied = [right for right in rights.toolkit if right.refuses(rights.own, SEARCH if right.folder else READ)]
    if denied:
        first = denied[0]
        yield Hit(
            found=f"user {rights.own.uid} may not enter {first.path} ({first.told})",
            wanted="mode 755",
            evidence=(Evidence(first.path, first.told), Evidence(rights.own.source, f"uid {rights.own.uid}, groups {rights.own.groups}")),
        )
