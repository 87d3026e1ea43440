"""Files of the model that the user of the server may not read."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.rights import READ, SEARCH, Rights
from doctor.finding import Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(rights: Rights | None, matches: Matches) -> Iterator[Hit]:
    if rights is None or rights.own is None or not rights.model:
        if not matches.looked:
            raise Skip("the modes of the model's files, or the user of the server, are not known")
        return
    denied = [right for right in rights.model if right.refuses(rights.own, READ | SEARCH if right.folder else READ)]
    if denied:
        first = denied[0]
        yield Hit(
            found=f"user {rights.own.uid} may not read {first.path} ({first.told})" + (f" and {len(denied) - 1} more" if len(denied) > 1 else ""),
            wanted="mode 644, folders 755",
            evidence=tuple(Evidence(right.path, right.told) for right in denied[:4]),
            values={"file": first.path},
        )
