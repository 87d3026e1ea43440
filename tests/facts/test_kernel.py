"""Kernel settings: running values, and the files that set them in the order in which they win."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.kernel import (
    Accounts,
    Governors,
    Modules,
    NumaNodes,
    Sysctls,
    TransparentHugePages,
    dotted,
    parse_accounts,
    parse_modules,
    parse_sysctl_file,
    parse_transparent_huge_pages,
    sysctl_path,
)
from doctor.facts.number import span
from doctor.host import Unavailable, Why

from .hosts import facts_of


def test_running_values(tmp_path: Path) -> None:
    files = {
        "/proc/sys/vm/swappiness": "60\n",
        "/proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
        "/sys/kernel/debug/sched/migration_cost_ns": "500000\n",
    }
    found = facts_of(tmp_path, files).get(Sysctls)
    assert isinstance(found, Sysctls)
    assert found.values == {"vm.swappiness": "60", "net.ipv4.ip_local_port_range": "32768 60999", "kernel.sched_migration_cost_ns": "500000"}


def test_who_sets_a_value_in_the_order_of_reading(tmp_path: Path) -> None:
    files = {
        "/proc/sys/vm/swappiness": "10\n",
        "/usr/lib/sysctl.d/50-default.conf": "vm.swappiness = 60\n",
        "/etc/sysctl.d/90-mine.conf": "# mine\n-vm/swappiness=1\n;vm.swappiness=2\n",
        "/usr/lib/sysctl.d/90-mine.conf": "vm.swappiness = 99\n",
        "/run/sysctl.d/10-early.conf": "vm.swappiness=30\n",
        "/etc/sysctl.conf": "vm.swappiness=10\n",
    }
    found = facts_of(tmp_path, files).get(Sysctls)
    assert isinstance(found, Sysctls)
    assert found.set_in["vm.swappiness"] == (
        ("/run/sysctl.d/10-early.conf", "30"),
        ("/usr/lib/sysctl.d/50-default.conf", "60"),
        ("/etc/sysctl.d/90-mine.conf", "1"),
        ("/etc/sysctl.conf", "10"),
    )


@pytest.mark.parametrize(
    ("key", "name"), [("net/ipv4/conf/eth0.1/arp", "net.ipv4.conf.eth0/1.arp"), ("vm.swappiness", "vm.swappiness"), ("plain", "plain")]
)
def test_key_spellings(key: str, name: str) -> None:
    assert dotted(key) == name


def test_the_file_of_a_key() -> None:
    assert sysctl_path("net.ipv4.conf.eth0/1.arp") == "/proc/sys/net/ipv4/conf/eth0.1/arp"


@pytest.mark.parametrize(
    ("text", "word"), [("[always] madvise never\n", "always"), ("always [madvise] never\n", "madvise"), ("always madvise [never]\n", "never")]
)
def test_transparent_huge_pages(tmp_path: Path, text: str, word: str) -> None:
    found = facts_of(tmp_path, {"/sys/kernel/mm/transparent_hugepage/enabled": text}).get(TransparentHugePages)
    assert isinstance(found, TransparentHugePages) and found.enabled == word


def test_governors_are_counted_and_their_absence_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    some = {f"/sys/devices/system/cpu/cpu{n}/cpufreq/scaling_governor": ("powersave\n" if n == 3 else "performance\n") for n in range(12)}
    found = facts_of(tmp_path / "a", some).get(Governors)
    assert isinstance(found, Governors) and found.counts == {"performance": 11, "powersave": 1}
    none = facts_of(tmp_path / "b", {"/etc/os-release": "ID=x\n"}).get(Governors)
    assert isinstance(none, Unavailable) and none.why is Why.MISSING


def test_modules_of_proc_and_of_lsmod(tmp_path: Path) -> None:
    found = facts_of(tmp_path, {"/proc/modules": "drv_svm 393216 0 - Live 0x0 (OE)\next4 1 2 -\n"}).get(Modules)
    assert isinstance(found, Modules) and found.names == {"drv_svm", "ext4"}
    assert parse_modules("Module                  Size  Used by\ndrv_svm 1 0\n") == {"drv_svm"}


@pytest.mark.parametrize(("text", "count"), [("0-7\n", 8), ("0\n", 1), ("0,2-3\n", 3), ("", None), ("3-1", None), ("x", None)])
def test_numa_nodes(tmp_path: Path, text: str, count: int | None) -> None:
    assert span(text) == count
    found = facts_of(tmp_path, {"/sys/devices/system/node/online": text}).get(NumaNodes)
    assert (found.count if isinstance(found, NumaNodes) else None) == count


def test_half_of_the_accounts_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    both = {"/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nHwHiAiUser:x:1000:1000::/home/h:/sbin/nologin\n", "/etc/group": "HwHiAiUser:x:1001:\n"}
    found = facts_of(tmp_path / "a", both).get(Accounts)
    assert found == Accounts({"root": 0, "HwHiAiUser": 1000}, {"HwHiAiUser": 1001})
    assert isinstance(facts_of(tmp_path / "b", {"/etc/passwd": both["/etc/passwd"]}).get(Accounts), Unavailable)


@given(st.text())
def test_no_text_makes_a_parser_raise(text: str) -> None:
    for parser in (parse_sysctl_file, parse_transparent_huge_pages, parse_modules, parse_accounts, span, dotted, sysctl_path):
        parser(text)
