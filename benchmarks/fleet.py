"""Judging and comparing many snapshots, against one of them as often: what a fleet costs beyond its nodes. One core, one process.

`python -m benchmarks.fleet --nodes 1000` prints the table alone.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time
from pathlib import Path

from doctor.fleet.between import examine
from doctor.fleet.judge import Asked, judge, judge_all
from doctor.rulebook import load

HOSTS = Path(__file__).resolve().parents[1] / "fixtures" / "hosts"
NODES = 1000
LIMIT = 1.1


def promises(nodes: int = NODES) -> list[tuple[str, float, float, str]]:
    """(what, measured, at most, unit) of a fleet in which every recorded host stands equally often."""
    hosts = sorted(path for path in HOSTS.iterdir() if path.is_dir())
    asked = [Asked(f"node{number}", str(hosts[number % len(hosts)])) for number in range(nodes)]
    rules = load().rules
    for host in hosts:
        judge(Asked("warm", str(host)))  # rules and conditions are compiled once
    alone = []
    for host in hosts:
        start = time.process_time()
        judge(Asked("one", str(host)))
        alone.append(time.process_time() - start)
    start = time.process_time()
    found = judge_all(asked, workers=1)
    middle = time.process_time()
    examine(found, rules)
    end = time.process_time()
    once = statistics.mean(alone)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [
        (f"judging and comparing {nodes} snapshots, against one times {nodes}", (end - start) / (once * nodes), LIMIT, "x"),
        (f"of it comparing {nodes} snapshots", (end - middle) / (end - start), 0.1, "of the whole"),
        (f"memory with {nodes} snapshots", peak, 500.0, "MB"),
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = promises(given.nodes)
    if given.json:
        print(json.dumps(rows))
    else:
        for what, measured, most, unit in rows:
            print(f"{what}: {measured:.2f} {unit} (at most {most:g})")
