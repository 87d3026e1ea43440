"""Prints how much of the catalogue of causes is rules by now, area by area, and what is left out and why.

usage: python tools/knowledge.py      (exit status 1 where an id is neither a rule nor left out with a reason)
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from doctor import rulebook  # noqa: E402
from doctor.rulepackage import data_text  # noqa: E402


def table(name: str) -> list[list[str]]:
    """The rows of a data file: words, without comments and empty lines; everything behind the second word of a left-out line is its reason."""
    return [line.split(None, 2) for line in data_text(name).splitlines() if line.strip() and not line.startswith("#")]


def main() -> int:
    book = rulebook.load()
    known = {former for rule in book.rules.values() for former in (rule.id, *rule.formerly)}
    left_out = {ident: reason for ident, *rest in table("left-out.txt") for reason in [" ".join(rest)]}
    areas: dict[str, list[str]] = defaultdict(list)
    for area, ident, _tier in table("catalogue.txt"):
        areas[area].append(ident)
    open_ids = []
    for area, ids in sorted(areas.items()):
        have = [ident for ident in ids if ident in known]
        open_ids += [ident for ident in ids if ident not in known and ident not in left_out]
        out = sum(ident in left_out and ident not in known for ident in ids)
        print(f"{area:<10} {len(have):>3} of {len(ids):>3} causes are rules" + (f", {out} left out" if out else ""))
    total = sum(map(len, areas.values()))
    extra = sorted(ident for ident in book.rules if not any(ident in ids for ids in areas.values()))
    print(f"{'all':<10} {sum(ident in known for ids in areas.values() for ident in ids):>3} of {total:>3}; beyond the catalogue: {', '.join(extra) or 'none'}")
    for ident, reason in sorted(left_out.items()):
        if ident not in known:
            print(f"left out: {ident}: {reason}")
    for ident in open_ids:
        print(f"open: {ident}")
    return 1 if open_ids or book.problems else 0


if __name__ == "__main__":
    sys.exit(main())
