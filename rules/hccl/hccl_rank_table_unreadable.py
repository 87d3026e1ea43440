"""Whether the rank table that is set is there and is JSON."""

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
    if table.unreadable:
        yield Hit(
            found=f"{table.variable}={table.path}: {table.unreadable}",
            wanted="a file that is there and is JSON",
            evidence=(Evidence(table.path, table.unreadable),),
            values={"file": table.path},
        )
