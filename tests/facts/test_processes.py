"""Who doctor runs as, who may open the NPU's nodes, and what /proc says about a running server; and the rules that judge them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor import checkup, rulebook
from doctor.checkup import FactSet
from doctor.facts import FixedFacts
from doctor.facts.container import Container
from doctor.facts.kernel import Accounts
from doctor.facts.processes import Node, NodeAccess, OwnStatus, ServerProcesses, parse_limits, parse_own, parse_status
from doctor.finding import Outcome
from doctor.host import Unavailable, Why
from doctor.logscan.scan import Scan

from .hosts import facts_of

ROOT = OwnStatus(0, (0,), 0x1FFFFFFFFFF)
BARE_ROOT = OwnStatus(0, (0,), 0)
USER = OwnStatus(1002, (1002,), 0)
MEMBER = OwnStatus(1002, (1002, 1000), 0)
NODES = NodeAccess((Node("/dev/davinci0", 0o660, 1000, 1000), Node("/dev/davinci_manager", 0o660, 1000, 1000)))


def test_own_status() -> None:
    text = "Name:\tpython3\nUid:\t1002\t0\t0\t0\nGid:\t1002\t1000\t1000\t1000\nGroups:\t10 1000 \nCapEff:\t00000000a80425fb\n"
    assert parse_own(text) == OwnStatus(0, (1000, 10), 0xA80425FB)
    assert parse_own("Name:\tpython3\n") is None


@pytest.mark.parametrize(("own", "opens"), [(ROOT, True), (BARE_ROOT, False), (USER, False), (MEMBER, True), (OwnStatus(1000), True), (OwnStatus(0), True)])
def test_who_may_open_a_node(own: OwnStatus, opens: bool) -> None:
    assert NODES.nodes[0].opens_for(own) is opens


def test_a_mode_that_lets_only_read_is_not_enough() -> None:
    assert not Node("/dev/davinci0", 0o640, 1000, 1000).opens_for(MEMBER)


def test_soft_limits() -> None:
    text = "Limit                     Soft Limit           Hard Limit           Units\nMax processes             unlimited            unlimited            processes\n"
    text += "Max open files            1024                 524288               files\n"
    assert parse_limits(text) == {"Max processes": None, "Max open files": 1024}


def test_processes_of_a_server(tmp_path: Path) -> None:
    files = {
        "/proc/7/status": "VmRSS:\t81234560 kB\nVmSwap:\t2048 kB\nCpus_allowed_list:\t0-11\n",
        "/proc/7/maps": "ffff8000-ffff9000 r-xp 00000000 08:02 12 /usr/lib64/libjemalloc.so.2\n",
    }
    commands = {"ps -eo pid,ppid,user,args": "  PID PPID USER COMMAND\n    7    1 root python3 -m vllm.entrypoints.openai.api_server --model /m"}
    found = facts_of(tmp_path, files, commands).get(ServerProcesses)
    assert isinstance(found, ServerProcesses)
    (process,) = found.processes
    assert (process.swapped, process.resident, process.cpus_allowed, process.allocator) == (2048, 81234560, "0-11", True)
    assert process.limits == {}


def test_modes_that_were_not_recorded_are_not_known(tmp_path: Path) -> None:
    found = facts_of(tmp_path, {"/dev/davinci0": "", "/dev/davinci_manager": ""}).get(NodeAccess)
    assert isinstance(found, Unavailable) and found.why is Why.NOT_RECORDED


CONTAINER, METAL = Container("docker"), Container("")


@pytest.mark.parametrize(
    ("rule", "facts", "outcome"),
    [
        ("container-cap-dac-override-dropped", (BARE_ROOT, NODES, CONTAINER), Outcome.FOUND),
        ("container-cap-dac-override-dropped", (ROOT, NODES, CONTAINER), Outcome.CLEAR),
        ("container-cap-dac-override-dropped", (OwnStatus(0, (0, 1000), 0), NODES, CONTAINER), Outcome.CLEAR),
        ("container-cap-dac-override-dropped", (BARE_ROOT, NODES, METAL), Outcome.SKIPPED),
        ("container-node-permission-uid", (USER, NODES, CONTAINER), Outcome.FOUND),
        ("container-node-permission-uid", (MEMBER, NODES, CONTAINER, Accounts({"root": 0})), Outcome.FOUND),
        ("container-node-permission-uid", (MEMBER, NODES, CONTAINER, Accounts({"mia": 1002})), Outcome.CLEAR),
        ("container-node-permission-uid", (BARE_ROOT, NODES, CONTAINER), Outcome.CLEAR),
        ("host-node-permission-user", (USER, NODES, METAL), Outcome.FOUND),
        ("host-node-permission-user", (MEMBER, NODES, METAL), Outcome.CLEAR),
        ("host-node-permission-user", (USER, NODES, CONTAINER), Outcome.CLEAR),
        ("host-node-permission-user", (METAL,), Outcome.SKIPPED),
    ],
)
def test_rules_about_rights(rule: str, facts: tuple[object, ...], outcome: Outcome) -> None:
    verdict = checkup.judge(rulebook.load().rules[rule], [FactSet("", FixedFacts(*facts))], Scan())
    assert verdict.outcome is outcome, verdict.why


@given(st.text())
def test_any_text_is_read_without_an_exception(text: str) -> None:
    parse_status(text)
    parse_limits(text)
    assert parse_own(text) is None or "Uid" in text
