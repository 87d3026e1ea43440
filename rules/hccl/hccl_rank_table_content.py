"""Whether the fields of the rank table that is set fit each other."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.rank_table import RankTable
from doctor.finding import Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(table: RankTable | None, matches: Matches) -> Iterator[Hit]:
    if table is None:
        if not matches.looked:
            raise Skip("no rank table is set, and no log was given")
        return
    if table.faults:
        yield Hit(
            found=f"{table.path}: " + "; ".join(table.faults),
            wanted="status completed, ranks counted from 0 without a gap, valid addresses",
            evidence=tuple(Evidence(table.path, fault) for fault in table.faults),
            values={"file": table.path},
        )
