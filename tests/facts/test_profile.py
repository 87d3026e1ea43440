"""Profiles of the NPU: every variant of the tables, and what is no table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.profile import OpSummary, ProfileReader, StepTrace, header
from doctor.facts.streams import Streams


def facts(text: str) -> list[object]:
    streams = Streams()
    streams.feed("a.csv", 1, text.encode())
    return list(streams.facts())


def summary(text: str) -> OpSummary:
    found = next(fact for fact in facts(text) if isinstance(fact, OpSummary))
    return found


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Model ID,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time,Task Duration(us),Task Wait Time(us),Block Dim", "op_summary"),
        ("Device_id,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Block Num", "op_summary"),
        ("Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim", "kernel_details"),
        ("Device_id,Model Name,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)", "op_statistic"),
        ("Step,Computing,Communication( Not Overlapped ),Overlapped,Communication,Free", "step_trace"),
    ],
)
def test_headers_of_all_releases_are_known(line: str, kind: str) -> None:
    found = header(line)
    assert found is not None and found.kind == kind


@pytest.mark.parametrize("line", ["Device_id,API Name,Time(us),Count,Avg(us)", "Name,Host Self Duration(us),Host Total Duration(us)", "took 12(us)"])
def test_other_tables_are_left_alone(line: str) -> None:
    assert header(line) is None


def test_rows_with_commas_in_quotes_tabs_behind_times_and_without_a_time() -> None:
    found = summary(
        "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us),Input Shapes\n"
        'a,MatMulV2,AI_CORE,17.5\t,30.5\t,2.0,"4,5120;5120,27648"\n'
        '"b,c",MatMulV2,AI_CORE,19.5\t,9.5\t,1.0,"4,5120"\n'
        "d,Add,AI_VECTOR_CORE,20.5,N/A,N/A,N/A\n"
    )
    assert (found.time, found.wait, found.count, found.unread, found.line) == (40.0, 3.0, 2, 1, 1)


def test_types_on_several_cores_are_one_type() -> None:
    found = summary("Name,Type,Accelerator Core,Duration(us)\na,Cast,AI_CORE,1\nb,Cast,AI_CPU,5\nc,Mul,AI_CORE,3\n")
    assert [(total.type, total.time) for total in found.by_type] == [("Cast", 6.0), ("Mul", 3.0)]
    assert dict(found.by_core) == {"AI_CPU": 5.0, "AI_CORE": 4.0}


def test_a_table_goes_on_in_the_next_chunk_and_ends_with_its_source() -> None:
    streams = Streams()
    streams.feed("a.csv", 1, b"Name,Type,Accelerator Core,Duration(us)\na,Cast,AI_CORE,1\n")
    streams.feed("a.csv", 3, b"b,Cast,AI_CORE,2\n")
    streams.feed("b.log", 1, b"c,Cast,AI_CORE,4\n")
    (found,) = streams.facts()
    assert isinstance(found, OpSummary) and found.time == 3.0


def test_of_one_run_only_the_most_telling_table_counts() -> None:
    found = summary("OP Type,Core Type,Count,Total Time(us)\nCast,AI_CORE,2,9\n\nOp Name,OP Type,Task Type,Task Duration(us)\na,Cast,AI_CORE,9\n")
    assert (found.table, found.time) == ("op_summary", 9.0)


def test_communication_is_told_by_core_or_by_name() -> None:
    found = summary(
        "Op Name,OP Type,Task Type,Task Duration(us)\nx,hcom_allGather_,COMMUNICATION,1\ny,MoeDistributeDispatchV2,AI_VECTOR_CORE,2\nz,AllGatherMatmul,MIX_AIC,4\n"
    )
    assert found.communication == 3.0


def test_steps_are_shares_of_computing_communication_and_free() -> None:
    (found,) = facts("Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n1,2,1,0,1,1\n2,2,1,0,1,1\n")
    assert isinstance(found, StepTrace) and (found.steps, found.share(found.free)) == (2, 0.25)


@given(st.lists(st.sampled_from(["Name,Type,Accelerator Core,Duration(us)", 'a,"b', "a,b,c,inf", "a,b,c,-1", "a,b,c,1e400", '"', "", "x,y,z,3"]) | st.text(), max_size=30))
def test_any_text_is_read_without_an_error(lines: list[str]) -> None:
    reader = ProfileReader()
    for number, line in enumerate(lines, 1):
        reader.feed("x", number, line)
    for fact in reader.facts():
        assert isinstance(fact, OpSummary) and fact.time >= 0
