"""Folders of caches that the user of the server may not write to."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.rights import SEARCH, WRITE, Rights
from doctor.finding import Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(rights: Rights | None, matches: Matches) -> Iterator[Hit]:
    if rights is None or rights.own is None or not rights.caches:
        if not matches.looked:
            raise Skip("the modes of the caches' folders, or the user of the server, are not known")
        return
    denied = [right for right in rights.caches if right.folder and right.refuses(rights.own, WRITE | SEARCH)]
    if denied:
        first = denied[0]
        yield Hit(
            found=f"user {rights.own.uid} may not write to {first.path} ({first.told})",
            wanted="a folder of that user",
            evidence=(Evidence(first.path, first.told), Evidence(rights.own.source, f"uid {rights.own.uid}, groups {rights.own.groups}")),
        )
