"""The engine gives the same whatever finds the candidates, however a log is cut, and with or without a cache."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from doctor.logscan import ahead, cache, finder
from doctor.logscan import scan as scan_module
from doctor.logscan.clear import is_clear
from doctor.logscan.expression import escaped, expression, expressions
from doctor.logscan.finder import HyperscanFinder, PlainFinder
from doctor.logscan.literals import parse, required
from doctor.logscan.needle import Needle
from doctor.logscan.prefix import message
from doctor.logscan.scan import Chunk, Scan, Scanner
from doctor.logscan.signature import hits
from doctor.logscan.sources import text_chunk
from doctor.rule import Near, Signature
from doctor.rulebook import load
from doctor.text import clean

pytest.importorskip("hyperscan")

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
SMALL, LARGE = 0, 10**9


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="module")
def literals() -> Mapping[str, frozenset[str]]:
    return load().literals


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Every line of every case, once."""
    return list(dict.fromkeys(line for text in _texts() for line in text_chunk(text, "").data.decode().splitlines()))


def _texts() -> Iterator[str]:
    for path in sorted(FIXTURES.glob("*/*.yaml")):
        cases = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        yield from (case["text"] for case in cases if isinstance(case, dict) and "text" in case)
    for path in sorted(FIXTURES.glob("reports/*/input.txt")):
        yield path.read_text(encoding="utf-8", errors="replace")[:200_000]


def chunk_of(lines: list[str], first: int = 1) -> Chunk:
    return Chunk("log", "".join(line + "\n" for line in lines).encode(), first)


def found(scan: Scan) -> dict[str, list[tuple[int, int, str]]]:
    return {pattern: [(match.line, match.ordinal, match.text) for match in hits.kept] for pattern, hits in scan.hits.items()}


def test_both_finders_give_the_same_for_every_line_of_every_case(
    literals: Mapping[str, frozenset[str]], lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_module, "KEPT", 10**9)
    scanner = Scanner(literals)
    with_plain = found(scanner.scan([chunk_of(lines)], SMALL))
    assert len(with_plain) > 1000
    assert with_plain == found(scanner.scan([chunk_of(lines)], LARGE))


def test_the_fast_paths_leave_out_nothing_that_matches(literals: Mapping[str, frozenset[str]], lines: list[str]) -> None:
    needles = [Needle.of(pattern, needed) for pattern, needed in literals.items()]
    compiled = [re.compile(needle.pattern, re.ASCII) for needle in needles]
    finders = PlainFinder(needles), HyperscanFinder(needles)
    for line in lines[:: max(1, len(lines) // 150)]:
        matching = {index for index, pattern in enumerate(compiled) if pattern.search(message(line))}
        for one in finders:
            assert matching <= set(one.find(line.encode() + b"\n")), line


@given(st.data())
def test_where_a_log_is_cut_does_not_matter(data: st.DataObject) -> None:
    words = st.sampled_from(["needle", "Needle two", "INFO healthy", "(EngineCore_DP0 pid=1) ERROR needle 7", "", "错误 needle", "x" * 50])
    text = data.draw(st.lists(words, min_size=1, max_size=60))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=5)) | {0, len(text)})
    pieces = [chunk_of(text[start:end], start + 1) for start, end in zip(cuts, cuts[1:], strict=False)]
    scanner = Scanner.of(["needle", "(?i)needle two", r"^needle (?P<n>\d)", "错误"])
    whole = found(scanner.scan([chunk_of(text)], SMALL))
    assert whole == found(scanner.scan(pieces, SMALL))
    assert whole == found(scanner.scan(pieces, LARGE))


def test_neither_pieces_nor_threads_change_what_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"INFO line {number} " + ("needle" if number % 97 == 0 else "of hay") + "…" * (number % 5) for number in range(20_000)]
    chunks = [chunk_of(lines[start : start + 500], start + 1) for start in range(0, len(lines), 500)]
    scanner = Scanner.of(["needle", "of hay", "(?i)LINE 19"])
    expected = found(scanner.scan([chunk_of(lines)], SMALL))
    assert expected["needle"][-1][0] == 1 + max(number for number in range(20_000) if number % 97 == 0)
    for piece, threads in ((64, 1), (1000, 3), (10**9, 2)):
        monkeypatch.setattr(ahead, "PIECE", piece)
        monkeypatch.setattr(ahead, "LARGE", 1000)
        monkeypatch.setattr(finder, "LARGE", 1000)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _pid, threads=threads: set(range(threads)), raising=False)
        assert found(scanner.scan(iter(chunks), LARGE)) == expected
        assert found(scanner.scan(iter(chunks), -1)) == expected


@pytest.mark.parametrize("before", [0, 5, 8_000, 16_300, 16_400, 40_000])
def test_a_message_deep_in_a_long_line_is_found_by_both(before: int) -> None:
    line = "x " * before + "NPU error code is 207008 " + "y" * 40_000
    scanner = Scanner.of([r"error code is (?P<code>\d{6})"])
    plain = found(scanner.scan([chunk_of([line])], SMALL))
    assert len(plain) == 1
    assert plain == found(scanner.scan([chunk_of([line])], LARGE))


def test_a_docker_line_is_read_without_its_escapes() -> None:
    chunk = text_chunk('{"log":"ERROR \\"needle\\" in \\u001b[31m\\u5bb9\\u5668\\n","stream":"stderr"}\n{"log":"next\\n"}\n', "log")
    assert chunk.data.decode() == 'ERROR "needle" in 容器\nnext\n'


@pytest.mark.parametrize(
    ("pattern", "coarse"),
    [
        ("ab cd", r"\x61\x62\x20\x63\x64"),
        (r"^ab.{0,80}cd$", r"\x61\x62.*\x63\x64"),
        (r"ab(?!x)(?:cx|d)e?", r"\x61\x62(?:\x63\x78|\x64)(?:\x65)?"),
        (r"ab[0-9x]\d{2,3}c{1,9}", r"\x61\x62[\x30-\x39\x78](?:[0-9]){2,3}\x63"),
        (r"ab[^c]d", r"\x61\x62.*\x64"),
        (r"ab(?:c.{0,3}|.{1,9})d", r"\x61\x62.*\x64"),
        ("错误", r"\xe9\x94\x99\xe8\xaf\xaf"),
    ],
)
def test_the_coarse_expression(pattern: str, coarse: str) -> None:
    assert expression(parse(pattern)) == coarse


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("needle in the hay", ["needle in the hay"]),
        ("throughput", ["throughput"]),
        (r"(?i)hccl|EJ0003|ranktable \d", ["hccl", "EJ0003", "ranktable "]),
        (r"(?i)throughput.{0,80}(?:zmq|slow)", ["zmq", "slow"]),
        (r"(?i)(?=.{0,300}?(?:slow|poor)).{0,300}throughput", ["slow", "poor"]),
        (r"\s\d{1,3}t\s{1,9}\S.{0,60}python", [f"{digit}t{space}" for digit in range(10) for space in " \t"]),
    ],
)
def test_what_stands_in_every_healthy_line_is_not_looked_for_where_something_is_rarer(pattern: str, found: list[str]) -> None:
    assert sorted(expressions(Needle.of(pattern, required(pattern)))) == sorted(escaped(text.encode()) for text in found)


def test_an_everyday_pattern_that_has_all_its_matches_is_not_told_any_more() -> None:
    patterns = [r"Avg prompt throughput: \d", "needle"]
    one = HyperscanFinder([Needle.of(pattern, required(pattern)) for pattern in patterns])
    line = b"Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s needle\n"
    assert sorted(one.find(line)) == [0, 1]
    one.drop([0, 1])
    assert 0 not in one.find(line)


@pytest.mark.parametrize("with_hyperscan", [True, False])
def test_what_is_clear_is_what_cleaning_leaves_alone(with_hyperscan: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not with_hyperscan:
        monkeypatch.delitem(sys.modules, "hyperscan", raising=False)
    else:
        import hyperscan  # noqa: F401
    blocks = ["".join(map(chr, range(start, start + 256))) for start in range(0, 0x110000, 256) if not 0xD800 <= start < 0xE000]
    changed = {character for block in blocks if clean(block) != block for character in block if clean(character) != character}
    assert is_clear("".join(blocks).translate(dict.fromkeys(map(ord, changed))).encode())
    assert len(changed) > 150
    for character in changed:
        assert not is_clear(f"a{character}b\n".encode()), hex(ord(character))
        assert not is_clear(f"错{character}误\n".encode()), hex(ord(character))
    for data in (b'x {"log":"y"}\n', '错 {"log":"y"}\n'.encode(), b"\xff broken\n", "错误\n".encode("gb18030")):
        assert not is_clear(data)


@given(st.permutations(["a", "b", "c"]))
def test_the_order_of_files_changes_neither_what_is_found_nor_what_is_near(order: list[str]) -> None:
    texts = {
        "a": "INFO start\nERROR the library of the operators that this release needs is\nmissing in the folder that the environment names\nneedle\n",
        "b": "INFO one\nINFO two\nneedle and haystack\n",
        "c": "haystack\nERROR the library of the operators that this release needs is\nmissing in the folder that the environment names\n",
    }
    scanner = Scanner.of(["needle", "haystack", "release needs is missing"])
    scan = scanner.scan([text_chunk(texts[name], name) for name in order])
    places = {(pattern, match.source, match.line) for pattern, found in scan.hits.items() for match in found.kept}
    assert {place for place in places if place[0] == "release needs is missing"} == {("release needs is missing", "a", 2), ("release needs is missing", "c", 2)}
    assert len(places) == 6
    near = hits(Signature(("needle",), near=(Near(("haystack",), lines=5),)), scan)
    assert [(match.source, match.line) for match in near] == [("b", 3)]


def test_a_sign_is_told_with_its_chunk_whatever_finds_it() -> None:
    chunks = [chunk_of(["x"] * 9), chunk_of(["a (us) b"], 10), chunk_of(["y"], 11)]
    for size in (SMALL, LARGE):
        told: list[tuple[int, bool]] = []

        def hear(chunk: Chunk, signs: frozenset[str], told: list[tuple[int, bool]] = told) -> None:
            told.append((chunk.first, "(us)" in signs))

        Scanner({"needle": ["needle"]}, ["(us)"]).scan(iter(chunks), size, hear)
        assert told == [(1, False), (10, True), (11, False)]


def test_a_damaged_foreign_or_missing_cache_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    needles = [Needle.of("needle", required("needle"))]
    assert HyperscanFinder(needles).find(b"a needle\n") == [0]
    (stored,) = tmp_path.glob("ascend-doctor/patterns-*.hs")
    good = stored.read_bytes()
    for bad in (b"", good[:-1], good[:40] + b"\0" * 40 + good[80:]):
        stored.write_bytes(bad)
        assert HyperscanFinder(needles).find(b"a needle\n") == [0]
        assert stored.read_bytes() == good
    cache.save(stored.name, b"no database")
    assert HyperscanFinder(needles).find(b"a needle\n") == [0]
    monkeypatch.setenv("XDG_CACHE_HOME", str(stored))
    assert HyperscanFinder(needles).find(b"a needle\n") == [0]


def test_only_what_this_user_alone_can_write_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache.save("x.bin", b"kept")
    path = cache.cache_folder() / "x.bin"
    assert cache.load("x.bin") == b"kept"
    path.chmod(0o666)
    assert cache.load("x.bin") is None
    path.chmod(0o600)
    path.rename(path.with_name("real"))
    path.symlink_to("real")
    assert cache.load("x.bin") is None
    cache.save("x.bin", b"new")
    assert (cache.load("x.bin"), path.is_symlink()) == (b"new", False)
    cache.cache_folder().chmod(0o777)
    assert cache.load("x.bin") is None


def test_the_cache_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for number in range(3 * cache.KEPT):
        cache.save(f"patterns-{number:03}.hs", b"x")
        os.utime(cache.cache_folder() / f"patterns-{number:03}.hs", (number, number))
    cache.save("patterns-last.hs", b"x")
    assert len(list(cache.cache_folder().iterdir())) == cache.KEPT
    assert cache.load("patterns-last.hs") == b"x"
