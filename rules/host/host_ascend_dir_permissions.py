"""Owner and mode of /usr/local/Ascend against what the installers accept."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.rights import Rights
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(rights: Rights | None, matches: Matches) -> Iterator[Hit]:
    if rights is None or rights.base is None:
        if not matches.looked:
            raise Skip("the mode of /usr/local/Ascend is not known")
        return
    base = rights.base
    if base.uid != 0 or base.mode & 0o022 or base.mode & 0o055 != 0o055:
        yield Hit(
            found=f"{base.path}: {base.told}",
            wanted="mode 755, owner 0:0",
            evidence=(Evidence(base.path, base.told),),
            confidence=Confidence.LIKELY,
        )
