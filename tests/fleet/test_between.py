"""What only shows between nodes: found where it is, silent where nodes are alike or say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone

import pytest

from doctor.bundle.diff import Side
from doctor.finding import Severity
from doctor.fleet.between import Fleet, examine
from doctor.fleet.node import FirstError, Node, Standing, Told, Wire
from doctor.rulebook import load
from doctor.words import Words

RULES = load().rules


def node(name: str, values: Mapping[tuple[str, str], str] | None = None, **changed: object) -> Node:
    side = Side(name, {("versions", "cann.version"): "9.0.0", **(values or {})})
    return Node(name, Standing.JUDGED, side=side, **changed)  # type: ignore[arg-type]


def between(*nodes: Node) -> dict[str, dict[str, tuple[str, ...]]]:
    return {item.rule or item.title.en: dict(item.groups) for item in examine(nodes, RULES).between}


def told(rule: str, severity: Severity = Severity.FAIL) -> Told:
    return Told(rule, severity, Words(rule, rule))


def test_nodes_that_are_alike_have_nothing_between_them() -> None:
    wire = {name: Wire({0: f"10.0.0.{number}"}, {0: 0}, (("s", 0, "10.0.0.1"), ("t", 0, "10.0.0.2"))) for number, name in enumerate("ab", 1)}
    fleet = examine([node(name, {("environment", "HCCL_BUFFSIZE"): "200"}, wire=wire[name], late=3.0) for name in "ab"], RULES)
    assert (fleet.between, fleet.odd, fleet.common, fleet.first) == ((), (), (), ())


def test_versions_that_differ_have_the_page_of_their_cause() -> None:
    found = between(node("a"), node("b", {("versions", "cann.version"): "8.5.1", ("versions", "driver.version"): "25.5.2"}), node("c", {("versions", "driver.version"): "24.1.0"}))
    assert found["hccl-version-differs-between-nodes"] == {"9.0.0": ("a", "c"), "8.5.1": ("b",)}
    assert found["driver-versions-differ-between-nodes"] == {"24.1.0": ("c",), "25.5.2": ("b",)}


def test_a_node_without_cann_has_no_other_version_of_it() -> None:
    assert between(node("a"), node("b", {("versions", "cann.version"): "absent"})) == {}


def test_packages_of_the_stack_must_be_the_same_and_others_need_not() -> None:
    found = between(node("a", {("packages", "vllm"): "0.11.0", ("packages", "pip"): "23"}), node("b", {("packages", "vllm"): "0.13.0", ("packages", "pip"): "24"}))
    assert list(found) == ["The nodes have different versions of vllm."]


@pytest.mark.parametrize(("name", "differs"), [("HCCL_BUFFSIZE", True), ("HCCL_IF_IP", False), ("HCCL_SOCKET_IFNAME", False), ("PATH", False)])
def test_hccl_variables_must_be_the_same_but_not_a_nodes_own(name: str, differs: bool) -> None:
    found = between(node("a", {("environment", name): "1"}), node("b", {("environment", name): "2"}))
    assert bool(found) is differs


def test_a_variable_that_one_node_lacks_differs() -> None:
    assert between(node("a", {("environment", "HCCL_BUFFSIZE"): "1"}), node("b", {("environment", "X"): "1"}))["hccl-env-differs-between-nodes"] == {"-": ("b",), "1": ("a",)}


def test_tls_must_be_the_same_on_all_cards() -> None:
    found = between(node("a", wire=Wire(tls={0: 0, 1: 0})), node("b", wire=Wire(tls={0: 1, 1: 1})))
    assert found["network-tls-mismatch"] == {"TLS switch 0": ("a",), "TLS switch 1": ("b",)}
    assert between(node("a", wire=Wire(tls={0: 1})), node("b", wire=Wire(tls={0: 1})), node("c")) == {}


def test_an_address_belongs_to_one_npu() -> None:
    found = between(node("a", wire=Wire({0: "10.0.0.1", 1: "10.0.0.2"})), node("b", wire=Wire({0: "10.0.0.1"})))
    assert found["Several NPUs have the same address."] == {"10.0.0.1": ("a NPU 0", "b NPU 0")}


def test_a_rank_table_names_addresses_that_are_there() -> None:
    ranks = (("s", 0, "10.0.0.1"), ("t", 0, "10.0.0.9"))
    found = between(node("a", wire=Wire({0: "10.0.0.1"}, ranks=ranks)), node("b", wire=Wire({0: "10.0.0.2"}, ranks=ranks)))
    assert found["hccl-rank-table-ip-mismatch"] == {"10.0.0.9": ("a", "b")}


def test_a_rank_table_is_not_judged_where_a_node_tells_no_addresses() -> None:
    ranks = (("s", 0, "10.0.0.1"), ("t", 0, "10.0.0.9"))
    assert between(node("a", wire=Wire({0: "10.0.0.1"}, ranks=ranks)), node("b")) == {}


def test_all_nodes_have_the_same_rank_table() -> None:
    found = between(node("a", wire=Wire(ranks=(("s", 0, "1"),))), node("b", wire=Wire(ranks=(("s", 0, "2"),))), node("c", wire=Wire(ranks=(("s", 0, "2"),))))
    assert sorted(found["The nodes do not have the same rank table."].values()) == [("a",), ("b", "c")]


@pytest.mark.parametrize(
    ("late", "off"),
    [((3.0, 40.0), set()), ((3.0, 500.0), {"b"}), ((-60.0, 4.0), {"a"}), ((-60.0, 3600.0), {"a", "b"}), ((None, 500.0), set())],
)
def test_a_clock_is_wrong_beyond_what_recording_takes(late: tuple[float | None, float | None], off: set[str]) -> None:
    found = between(node("a", late=late[0]), node("b", late=late[1]))
    names = {name for groups in found.values() for nodes in groups.values() for name in nodes}
    assert names == off


def at(second: int, **changed: object) -> FirstError:
    return FirstError("boom", "log", 1, datetime(2026, 1, 1, 0, 0, second, tzinfo=timezone.utc), **changed)  # type: ignore[arg-type]


def test_who_failed_first_stands_first_and_clocks_are_put_right() -> None:
    nodes = [node("a", first_error=at(30)), node("b", first_error=at(20)), node("c"), node("d", first_error=FirstError("x", "log", 1))]
    assert [item.name for item in examine(nodes, RULES).first] == ["b", "a", "d"]
    behind = [node("a", first_error=at(30), late=2.0), node("b", first_error=at(20), late=900.0)]
    assert [item.name for item in examine(behind, RULES).first] == ["a", "b"]


def test_common_causes_come_with_their_nodes_worst_first() -> None:
    nodes = [node("a", causes=(told("x", Severity.NOTE), told("y"))), node("b", causes=(told("x", Severity.NOTE),)), Node("c", Standing.UNREACHABLE)]
    common = examine(nodes, RULES).common
    assert [(item.rule, item.nodes, item.all) for item in common] == [("y", ("a",), False), ("x", ("a", "b"), True)]


def test_the_odd_ones_out_are_the_minority() -> None:
    key = ("settings", "sysctl vm.swappiness")
    fleet: Fleet = examine([node("a", {key: "1"}), node("b", {key: "1"}), node("c", {key: "60"})], RULES)
    (odd,) = fleet.odd
    assert (odd.usual, dict(odd.groups)) == ("1", {"60": ("c",)})
