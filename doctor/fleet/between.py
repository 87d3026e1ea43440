"""What only shows between nodes: versions and settings that must be the same, addresses that must be different, clocks, and who failed first.

Contract: pure. A value that a node does not tell contradicts nobody.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from doctor.bundle.diff import Comparison, Difference, compare
from doctor.finding import Severity
from doctor.fleet.node import Node, judged
from doctor.fleet.words import WORDS
from doctor.rule import Rule
from doctor.words import Words

CLOCK_SKEW = 5.0
"""Seconds between the clocks of two nodes from which on it is told: logs are compared by their times, and certificates and leases by less."""

ARRIVAL = 120.0
"""Seconds by which a snapshot may be older than its arrival: recording and fetching take some. The least delay of all nodes is taken off."""

NOT_TOLD = ("absent", "unknown")
"""Values that say that there is none: a node without CANN has no other version of it."""

SAME = {
    "driver-versions-differ-between-nodes": ("driver.version",),
    "hccl-version-differs-between-nodes": ("cann.version",),
}
"""Rule -> fields that must be the same on all nodes of one job."""

STACK = ("vllm", "vllm-ascend", "torch", "torch-npu", "transformers", "triton-ascend")
"""Packages that must be the same where one model is served by several nodes (vLLM pickles between them)."""


@dataclass(frozen=True)
class Between:
    """One thing that is wrong between nodes. `groups` says which nodes have which value; `rule` is the id of its page, "" where there is none."""

    rule: str
    severity: Severity
    title: Words
    groups: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Common:
    """One cause and the nodes that have it; `all` where every judged node has it."""

    rule: str
    severity: Severity
    title: Words
    nodes: tuple[str, ...]
    all: bool


@dataclass(frozen=True)
class Odd:
    """One thing in which a minority of nodes differs from most. `usual` is the value of most."""

    difference: Difference
    usual: str
    groups: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Fleet:
    """The whole answer. `first` are the nodes with an error in their logs, the earliest first."""

    nodes: tuple[Node, ...]
    common: tuple[Common, ...]
    between: tuple[Between, ...]
    odd: tuple[Odd, ...]
    first: tuple[Node, ...]
    comparison: Comparison


def examine(nodes: Sequence[Node], rules: Mapping[str, Rule]) -> Fleet:
    """Everything about all nodes."""
    seen = judged(nodes)
    sides = [node.side for node in seen if node.side is not None]
    comparison = compare(sides, rules)
    between = tuple(sorted(_between(seen, rules), key=lambda item: (-item.severity, item.rule, item.title.en)))
    return Fleet(tuple(nodes), _common(seen), between, _odd(comparison), _first(seen), comparison)


def _common(nodes: Sequence[Node]) -> tuple[Common, ...]:
    where: dict[str, dict[str, None]] = defaultdict(dict)
    worst: dict[str, tuple[Severity, Words]] = {}
    for node in nodes:
        for cause in node.causes:
            where[cause.rule][node.name] = None
            if cause.rule not in worst or cause.severity > worst[cause.rule][0]:
                worst[cause.rule] = (cause.severity, cause.title)
    found = [Common(rule, *worst[rule], tuple(names), len(names) == len(nodes)) for rule, names in where.items()]
    return tuple(sorted(found, key=lambda item: (-item.severity, -len(item.nodes), item.rule)))


def _odd(comparison: Comparison) -> tuple[Odd, ...]:
    found = []
    for difference in comparison.differences:
        if difference.section == "findings" or not difference.odd:
            continue
        usual = Counter(value for index, value in enumerate(difference.values) if index not in difference.odd).most_common(1)[0][0]
        groups = _grouped((difference.values[index], comparison.labels[index]) for index in difference.odd)
        found.append(Odd(difference, usual, groups))
    return tuple(found)


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for value, name in pairs:
        groups[value].append(name)
    return {value: tuple(names) for value, names in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))}


def _between(nodes: Sequence[Node], rules: Mapping[str, Rule]) -> Iterator[Between]:
    yield from _versions(nodes, rules)
    yield from _packages(nodes)
    yield from _environment(nodes, rules)
    yield from _tls(nodes, rules)
    yield from _addresses(nodes)
    yield from _rank_tables(nodes, rules)
    yield from _clocks(nodes)


def _titled(rule: str, rules: Mapping[str, Rule], severity: Severity, groups: Mapping[str, tuple[str, ...]], words: str = "") -> Between:
    known = rules.get(rule)
    title = WORDS[words] if words or known is None else known.title
    return Between(rule if known else "", known.severity if known else severity, title, groups)


def _values(nodes: Sequence[Node], section: str, key: str) -> dict[str, tuple[str, ...]]:
    return _grouped((value, node.name) for node in nodes if node.side and (value := node.side.values.get((section, key))) and value not in NOT_TOLD)


def _versions(nodes: Sequence[Node], rules: Mapping[str, Rule]) -> Iterator[Between]:
    for rule, fields in SAME.items():
        for name in fields:
            groups = _values(nodes, "versions", name)
            if len(groups) > 1:
                yield _titled(rule, rules, Severity.FAIL, groups, "")


def _packages(nodes: Sequence[Node]) -> Iterator[Between]:
    for name in STACK:
        groups = _values(nodes, "packages", name)
        if len(groups) > 1:
            yield Between("", Severity.FAIL, WORDS["package_differs"].filled({"name": name}), groups)


def _environment(nodes: Sequence[Node], rules: Mapping[str, Rule]) -> Iterator[Between]:
    names = sorted({key for node in nodes if node.side for section, key in node.side.values if section == "environment" and key.startswith("HCCL_")})
    for name in names:
        if name in ("HCCL_IF_IP", "HCCL_SOCKET_IFNAME"):
            continue  # a node's own address, and the name of its own interface
        told = [node for node in nodes if node.side and "environment" not in node.side.unknown]
        groups = _grouped((node.side.values.get(("environment", name), "-"), node.name) for node in told if node.side)
        if len(groups) > 1:
            known = _titled("hccl-env-differs-between-nodes", rules, Severity.WARN, groups)
            yield Between(known.rule, known.severity, WORDS["variable_differs"].filled({"name": name}), groups)


def _tls(nodes: Sequence[Node], rules: Mapping[str, Rule]) -> Iterator[Between]:
    groups = _grouped((f"TLS switch {switch}", node.name) for node in nodes for switch in sorted(set(node.wire.tls.values())))
    if len(groups) > 1:
        yield _titled("network-tls-mismatch", rules, Severity.FAIL, groups)


def _addresses(nodes: Sequence[Node]) -> Iterator[Between]:
    places = _grouped((address, f"{node.name} NPU {npu}") for node in nodes for npu, address in node.wire.addresses.items())
    twice = {address: names for address, names in places.items() if len(names) > 1}
    if twice:
        yield Between("", Severity.FAIL, WORDS["address_twice"], twice)


def _rank_tables(nodes: Sequence[Node], rules: Mapping[str, Rule]) -> Iterator[Between]:
    """Every address of a rank table must belong to a node; only judged where all nodes told their addresses."""
    tables = _grouped((repr(sorted(node.wire.ranks)), node.name) for node in nodes if node.wire.ranks)
    if len(tables) > 1:
        numbered = {f"#{number}": names for number, names in enumerate(tables.values(), 1)}
        yield Between("", Severity.FAIL, WORDS["tables_differ"], numbered)
    if not tables or not all(node.wire.addresses for node in nodes):
        return
    own = {address for node in nodes for address in node.wire.addresses.values()}
    strange = _grouped((address, node.name) for node in nodes for _, _, address in node.wire.ranks if address and address not in own)
    if strange:
        yield _titled("hccl-rank-table-ip-mismatch", rules, Severity.FAIL, strange, "table_strange")


def _clocks(nodes: Sequence[Node]) -> Iterator[Between]:
    late = {node.name: node.late for node in nodes if node.late is not None}
    if len(late) < 2:
        return
    least = min(late.values())
    off = {name: seconds for name, seconds in late.items() if seconds - least > ARRIVAL + CLOCK_SKEW}
    ahead = {name: seconds for name, seconds in late.items() if seconds < -CLOCK_SKEW}
    if ahead:  # a snapshot cannot be younger than its arrival
        off = {**{name: seconds for name, seconds in off.items() if name not in ahead and seconds > ARRIVAL + CLOCK_SKEW}, **ahead}
    if off:
        groups = _grouped((f"{-seconds:+.0f} s", name) for name, seconds in off.items())
        yield Between("", Severity.WARN, WORDS["clocks_differ"], groups)


def _first(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """By their times, put right by what is known of their clocks; those without a time last."""

    def order(node: Node) -> tuple[bool, float]:
        error = node.first_error
        if error is None or error.time is None:
            return True, 0.0
        shift = node.late if node.late is not None and (node.late < -CLOCK_SKEW or node.late > ARRIVAL) else 0.0
        return False, (error.time + timedelta(seconds=shift)).timestamp()

    return tuple(sorted((node for node in nodes if node.first_error is not None), key=order))


__all__ = ["ARRIVAL", "Between", "CLOCK_SKEW", "Common", "Fleet", "Odd", "examine"]
