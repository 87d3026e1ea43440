"""Scanning: prefixes, literals, line numbers, wrapped lines, both finders, and hostile text."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.logscan import scan as scan_module
from doctor.logscan.literals import required
from doctor.logscan.prefix import message
from doctor.logscan.scan import Chunk, Scan, Scanner
from doctor.logscan.sources import CHUNK, SourceError, all_chunks, chunks, open_sources, text_chunk

MESSAGE = "RuntimeError: NPU function error: aclrtCreateStream, error code is 207008"
PREFIXES = [
    "",
    "(EngineCore_DP0 pid=123) ERROR 11-03 20:18:46 [core.py:586] ",
    "[rank0]: ",
    "[rank12]: ",
    "Nov 30 10:00:00 node-1 docker[123]: (APIServer pid=1) ERROR 11-30 09:38:38 [api_server.py:1] ",
    "vllm-1  | (VllmWorker rank=0 pid=33) ERROR 07-01 00:00:01 [multiproc_executor.py:546] ",
    "2025-11-03T10:11:12.123456789Z stderr F ",
    "2025-11-03 10:11:12,123 ",
    "[2025-11-03 10:11:12] [ERROR] ",
    "[pod/vllm-0/server] ",
    "(RayWorkerWrapper pid=3, ip=192.0.2.4) ERROR 07-01 00:00:01 [worker.py:1] ",
    "> > ",
    "[ 1234.567890] ",
]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_prefixes_are_taken_off(prefix: str) -> None:
    assert message(prefix + MESSAGE) == MESSAGE


def test_a_docker_json_line_is_opened() -> None:
    assert message('{"log":"ERROR 07-01 11:11:11 [core.py:1] boom\\n","stream":"stderr","time":"2025-07-01T00:00:00Z"}') == "boom"


@given(st.text(max_size=300))
def test_taking_prefixes_off_never_fails(line: str) -> None:
    assert message(line) in line or line.startswith('{"log":')


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        (r"error code is 20700[78]", {"error code is 20700"}),
        (r"(?i)out of memory", {"out of memory"}),
        (r"lib(?:hccl|ascendcl)\.so: cannot open", {".so: cannot open"}),
        (r"(?:EL0009|EE1023)", {"EL0009", "EE1023"}),
        (r"(?:low|poor) (?:speed|throughput)", {"low speed", "low throughput", "poor speed", "poor throughput"}),
        (r"(?:AB|CD)(?=x)-?(?:1[ef])\b", {"AB-1e", "AB-1f", "AB1e", "AB1f", "CD-1e", "CD-1f", "CD1e", "CD1f"}),
        (r"(?:fail|error).{0,9}code \d", {"code "}),
        (r"^Traceback \(most", {"Traceback (most"}),
    ],
)
def test_literals(pattern: str, literals: set[str]) -> None:
    assert required(pattern) == literals


@pytest.mark.parametrize("pattern", [r"\d+", "abc", "(?:error|ok)", r"(a+)+error", r"(error)\1", "(error", r"(?:x|longer literal)"])
def test_slow_or_unspecific_patterns_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="."):
        required(pattern)


def run(text: str, *patterns: str) -> Scan:
    return Scanner.of(patterns).scan([text_chunk(text, "log")], len(text))


def test_line_numbers_groups_and_counts() -> None:
    found = run("one\nerror code is 42\ntwo\nerror code is 43\nerror code is 42\n", r"error code is (?P<code>\d{1,9})").of(r"error code is (?P<code>\d{1,9})")
    assert [(match.line, match.groups["code"]) for match in found.kept] == [(2, "42"), (4, "43"), (5, "42")]
    assert found.count == 3


def test_line_numbers_go_on_over_chunks_and_ordinals_over_sources() -> None:
    pieces = [Chunk("a", b"x\nneedle\n", 1), Chunk("a", b"needle\n", 3), Chunk("b", b"needle\n", 1)]
    found = Scanner.of(["needle"]).scan(pieces).of("needle")
    assert [(match.source, match.line) for match in found.kept] == [("a", 2), ("a", 3), ("b", 1)]
    assert sorted({match.ordinal for match in found.kept}) == [match.ordinal for match in found.kept]
    assert len({match.ordinal for match in found.kept}) == 3


@pytest.mark.parametrize("glue", ["", " "])
def test_a_message_that_was_wrapped_is_found(glue: str) -> None:
    line = "(EngineCore_DP0 pid=9) ERROR 11-03 20:18:46 [core.py:586] RuntimeError: the graph capture needs more streams than this device has left for it"
    cut = 80 if not glue else line.rfind(" ", 0, 80)
    wrapped = line[:cut] + "\n" + line[cut + len(glue) :] + "\n"
    pattern = "RuntimeError: the graph capture needs more streams than this device has"
    found = run("INFO start\n" + wrapped + "INFO end\n", pattern).of(pattern)
    assert [match.line for match in found.kept] == [2]


def test_memory_is_bounded_for_many_matches() -> None:
    pieces = [Chunk("log", b"needle here\n" * 1000, first) for first in range(1, 5000, 1000)]
    found = Scanner.of(["needle"]).scan(pieces).of("needle")
    assert [match.line for match in found.kept] == list(range(1, scan_module.KEPT + 1))
    assert found.count == scan_module.KEPT


def test_a_line_of_ten_megabytes() -> None:
    text = "x" * 5_000_000 + " error code is 207008 " + "y" * 5_000_000
    assert run(text, "error code is 207008").of("error code is 207008").count == 1


def test_ignoring_case() -> None:
    assert run("Out Of Memory\n", "(?i)out of memory").of("(?i)out of memory").count == 1


def read(path: Path) -> str:
    return b"".join(chunk.data for source in open_sources([str(path)]) for chunk in chunks(source)).decode()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\r\nb\r\n", "a\nb\n"),
        ("错误\n".encode("gb18030") * 20, "错误\n" * 20),
        ("h\u00e9\n".encode("utf-16"), "h\u00e9\n"),
        (b"\x1b[31mred\x1b[0m\n", "red\n"),
        (b"a\x00b\n", "ab\n"),
        (b"\xff\xfe\xfa broken \x80\n"[2:], "\ufffd broken \ufffd\n"),
        (b"no end", "no end\n"),
        (b"", ""),
    ],
)
def test_any_bytes_become_clean_lines(tmp_path: Path, data: bytes, text: str) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(data)
    assert read(path) == text


def test_gzip_and_line_numbers_over_many_chunks(tmp_path: Path) -> None:
    path = tmp_path / "x.log.gz"
    line = b"INFO a healthy line of a log that goes on and on\n"
    count = 3 * CHUNK // len(line)
    path.write_bytes(gzip.compress(line * count + b"needle\n"))
    found = Scanner.of(["needle"]).scan(chunk for source in open_sources([str(path)]) for chunk in chunks(source)).of("needle")
    assert [match.line for match in found.kept] == [count + 1]


def test_a_damaged_gzip_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.log.gz"
    path.write_bytes(gzip.compress(os.urandom(10_000))[:5_000])
    with pytest.raises(SourceError, match=r"x\.log\.gz: damaged"):
        read(path)


def test_what_is_no_log_is_refused_with_the_remedy(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    empty = tmp_path / "empty"
    empty.mkdir()
    for name in (str(tmp_path / "missing"), str(tmp_path / "fifo"), "/dev/null", str(empty), "a\0b"):
        with pytest.raises(SourceError):
            open_sources([name])


def test_a_folder_gives_the_tables_of_a_profile_and_no_other_csv(tmp_path: Path) -> None:
    for name in ("op_summary_20261130.csv", "step_trace_time.csv", "api_statistic_20261130.csv"):
        (tmp_path / name).write_text("a,b\n")
    assert {Path(source.label).name for source in open_sources([str(tmp_path)])} == {"op_summary_20261130.csv", "step_trace_time.csv"}


def test_a_folder_is_searched_for_logs(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "plog-1_2.log").write_text("x\n")
    (tmp_path / "picture.png").write_text("x\n")
    (tmp_path / "vllm.log.1").write_text("x\n")
    assert {Path(source.label).name for source in open_sources([str(tmp_path)])} == {"plog-1_2.log", "vllm.log.1"}


def test_a_word_longer_than_the_width_does_not_hide_the_wrapping() -> None:
    lines = ["INFO loading", "/very/long/path" * 10, "ERROR the library of the operators that this release needs is", "missing in the folder that the environment names"]
    pattern = "this release needs is missing"
    assert [match.line for match in run("\n".join(lines) + "\n", pattern).of(pattern).kept] == [3]


def test_a_wrapped_text_that_was_quoted_is_found() -> None:
    lines = ["> INFO loading", "> ERROR the library of the operators that this release needs is", "> missing in the folder that the environment names"]
    pattern = "this release needs is missing"
    assert [match.line for match in run("\n".join(lines) + "\n", pattern).of(pattern).kept] == [2]


def test_the_parts_of_a_broken_line_stand_beside_each_other() -> None:
    text = (
        "WARNING [system_utils.py:255] Found a limit of 20000 and could not raise it by\n"
        "itself to the wanted one. This can cause errors such as the well known one of:\n"
        "too many open files. Consider raising it.\n"
        "INFO another line\n"
    )
    found = run(text, "Found a limit of", "too many open files", "another line")
    places = {pattern: found.of(pattern).kept[0].ordinal for pattern in found.hits}
    assert places["Found a limit of"] == places["too many open files"] < places["another line"]
    assert found.of("too many open files").kept[0].line == 3


def test_a_source_that_breaks_off_is_told_and_the_next_one_follows(tmp_path: Path) -> None:
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(os.urandom(10_000))[:5_000])
    (tmp_path / "b.log").write_text("whole\n")
    problems: list[str] = []
    sizes: list[int] = []
    found = list(all_chunks(open_sources([str(tmp_path / "a.log.gz"), str(tmp_path / "b.log")]), problems, sizes.append))
    assert [len(problems), found[-1].data] == [1, b"whole\n"]
    assert "a.log.gz: damaged" in problems[0]
    assert sizes == [len(chunk.data) for chunk in found]
