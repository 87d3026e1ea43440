"""Measures time against size for logs, rules, cards, processes and snapshots: each is linear or better.

Contract: processor time of one core, the best of two. `python -m benchmarks.growing KIND SIZE FOLDER` measures one size in a process of its own
and prints the seconds. A size four times as large takes at most four times as long, and a tenth more.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.hosts import with_cards, with_processes
from benchmarks.inputs import large_log
from benchmarks.measuring import Promise, one_core, sample
from benchmarks.plot import Curve

ROOT = Path(__file__).resolve().parents[1]
BEST_OF = 2
LINEAR = 1.1
"""Of the time for each unit at the largest size, against that at the smallest."""

SIZES: Mapping[str, tuple[str, Sequence[int]]] = {
    "logs": ("MB", (10, 20, 40, 80)),
    "rules": ("rules, a log of 10 MB", (125, 250, 375, 500)),
    "cards": ("cards", (8, 16, 32, 64)),
    "processes": ("processes", (50, 100, 200, 400)),
    "snapshots": ("snapshots", (8, 16, 32, 64)),
}


def measure(folder: Path) -> list[Curve]:
    """The seconds of every kind and size."""
    return [Curve(kind, unit, tuple((size, _seconds(kind, size, folder)) for size in sizes)) for kind, (unit, sizes) in SIZES.items()]


def _seconds(kind: str, size: int, folder: Path) -> float:
    seconds = float(sample([sys.executable, "-m", "benchmarks.growing", kind, str(size), str(folder)], one_core, (0,), ROOT).output)
    print(f"{kind}, {size}: {seconds:.3f} s", file=sys.stderr)
    return seconds


def promises(curves: Sequence[Curve]) -> Iterator[Promise]:
    for curve in curves:
        (small, least), (large, most) = curve.points[0], curve.points[-1]
        yield Promise(f"time per unit at {large} {curve.unit} / at {small}", (most / large) / (least / small), LINEAR)


def _child(kind: str, size: int, folder: Path) -> float:
    work = PREPARE[kind](size, folder)
    work()  # what is compiled or imported once is no growth
    return min(_once(work) for _ in range(BEST_OF))


def _once(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _logs(size: int, folder: Path) -> Callable[[], object]:
    from doctor.logscan.scan import Scanner
    from doctor.logscan.sources import chunks, open_sources
    from doctor.rulebook import load

    path = folder / f"growing-{size}.log"
    if not path.exists():
        large_log(path, size)
    (source,) = open_sources([str(path)])
    scanner = Scanner(load().literals)
    return lambda: scanner.scan(chunks(source), source.size)


def _rules(size: int, folder: Path) -> Callable[[], object]:
    from doctor.examine import Selection, examine_text
    from doctor.logscan.sources import chunks, open_sources
    from doctor.rulebook import Rulebook, load

    path = folder / "growing-10.log"
    if not path.exists():
        large_log(path, 10)
    (source,) = open_sources([str(path)])
    book = load()
    chosen = sorted(book.rules)[:: max(1, len(book.rules) // size)][:size]
    some = Rulebook({name: book.rules[name] for name in chosen}, book.literals)
    return lambda: examine_text("growing", chunks(source), some, Selection(), source.size)


def _host(folder: Path) -> Callable[[], object]:
    from doctor.examine import Selection, examine_host
    from doctor.host.recorded import open_host
    from doctor.rulebook import load

    book = load()
    return lambda: examine_host(open_host(folder), book, Selection())


def _snapshots(size: int, _folder: Path) -> Callable[[], object]:
    from doctor.fleet.judge import Asked, judge_all

    hosts = sorted(path for path in (ROOT / "fixtures" / "hosts").iterdir() if path.is_dir())
    asked = [Asked(f"node{number}", str(hosts[number % len(hosts)])) for number in range(size)]
    return lambda: judge_all(asked, workers=1)


PREPARE: Mapping[str, Callable[[int, Path], Callable[[], object]]] = {
    "logs": _logs,
    "rules": _rules,
    "cards": lambda size, folder: _host(with_cards(folder / f"cards-{size}", size)),
    "processes": lambda size, folder: _host(with_processes(folder / f"processes-{size}", size)),
    "snapshots": _snapshots,
}


if __name__ == "__main__":
    print(_child(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
