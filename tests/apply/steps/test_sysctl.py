"""`sysctl`: every way in which others set the key, who wins after a reboot, and real parameters in a namespace."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from doctor.apply.kind import Context
from doctor.apply.plan import StepPlan
from doctor.apply.steps.sysctl import KIND
from doctor.apply.sysctlorder import order
from doctor.facts import HostFacts
from doctor.fix import SetSysctl
from doctor.host.live import LiveHost
from tests.apply.trees import make_root

KEY = "vm.swappiness"
OWN = "/etc/sysctl.d/99-zz-ascend-doctor-vm-swappiness.conf"
SYSTEMD = {"/usr/lib/systemd/systemd-sysctl": ""}
LINK = {"/etc/sysctl.d/99-sysctl.conf": "-> ../sysctl.conf"}
TUNED = {
    "/etc/tuned/active_profile": "throughput-performance\n",
    "/etc/systemd/system/multi-user.target.wants/tuned.service": "-> /usr/lib/systemd/system/tuned.service",
    "/usr/lib/tuned/throughput-performance/tuned.conf": "[main]\ninclude=base\n[sysctl]\nnet.core.somaxconn=>2048\n",
    "/usr/lib/tuned/base/tuned.conf": "[sysctl]\nvm.swappiness=10\n",
}


def step(root: Path, value: str = "1") -> StepPlan:
    host = LiveHost(str(root))
    return KIND.plan("sysctl", SetSysctl(KEY, value), Context(host, HostFacts(host), "host-swappiness-high", "set", str(root)))


def conflicts(found: StepPlan) -> str:
    return "\n".join(note.text.en for note in found.notes if note.conflict)


def told(found: StepPlan) -> str:
    return "\n".join(note.text.en for note in found.notes)


MATRIX: Mapping[str, tuple[Mapping[str, str], str, str, str]] = {
    # case: files, path that is written ("" none is needed), winner after a reboot, what is told as a conflict ("" none)
    "nobody sets it": ({}, OWN, OWN, ""),
    "only a comment": ({"/etc/sysctl.conf": "# vm.swappiness = 1\n;vm.swappiness=1\n"}, OWN, OWN, ""),
    "right in sysctl.d": ({"/etc/sysctl.d/50-a.conf": "vm.swappiness = 1\n"}, "", "/etc/sysctl.d/50-a.conf", ""),
    "right in usr": ({"/usr/lib/sysctl.d/50-a.conf": "vm.swappiness=1\n"}, "", "/usr/lib/sysctl.d/50-a.conf", ""),
    "wrong in sysctl.d": ({"/etc/sysctl.d/50-a.conf": "vm.swappiness = 60\n"}, OWN, OWN, "50-a.conf:1 sets it to 60"),
    "wrong in usr, right in etc": (
        {"/usr/lib/sysctl.d/50-a.conf": "vm.swappiness=60\n", "/etc/sysctl.d/60-b.conf": "vm.swappiness=1\n"}, "", "/etc/sysctl.d/60-b.conf", "sets it to 60",
    ),
    "right in etc, wrong in usr, which sorts later": (
        {"/usr/lib/sysctl.d/70-a.conf": "vm.swappiness=60\n", "/etc/sysctl.d/60-b.conf": "vm.swappiness=1\n"}, OWN, OWN, "70-a.conf:1 sets it to 60",
    ),
    "two files that contradict": (
        {"/etc/sysctl.d/10-a.conf": "vm.swappiness=1\n", "/etc/sysctl.d/20-b.conf": "vm.swappiness=30\n"}, OWN, OWN, "20-b.conf:1 sets it to 30",
    ),
    "one name in two folders: etc hides usr": (
        {"/etc/sysctl.d/50-a.conf": "vm.swappiness=1\n", "/usr/lib/sysctl.d/50-a.conf": "vm.swappiness=60\n"}, "", "/etc/sysctl.d/50-a.conf", "",
    ),
    "an empty file hides the wrong one": ({"/etc/sysctl.d/50-a.conf": "", "/usr/lib/sysctl.d/50-a.conf": "vm.swappiness=60\n"}, OWN, OWN, ""),
    "a mask hides the wrong one": (
        {"/etc/sysctl.d/50-a.conf": "-> /dev/null", "/usr/lib/sysctl.d/50-a.conf": "vm.swappiness=60\n", "/dev/null": ""}, OWN, OWN, "",
    ),
    "run outdoes usr": (
        {"/run/sysctl.d/50-a.conf": "vm.swappiness=60\n", "/usr/lib/sysctl.d/50-a.conf": "vm.swappiness=1\n"}, OWN, OWN, "/run/sysctl.d/50-a.conf:1",
    ),
    "sysctl.conf with its link": ({**LINK, "/etc/sysctl.conf": "vm.swappiness = 60\n"}, OWN, OWN, "reads /etc/sysctl.conf last"),
    "sysctl.conf with its link and sysctl.d contradict": (
        {**LINK, "/etc/sysctl.conf": "vm.swappiness = 60\n", "/etc/sysctl.d/10-a.conf": "vm.swappiness=1\n"}, OWN, OWN, "reads /etc/sysctl.conf last",
    ),
    "sysctl.conf without its link, which systemd does not read": (
        {"/etc/sysctl.conf": "vm.swappiness = 60\n"}, OWN, OWN, "whoever runs it sets 60",
    ),
    "sysctl.conf twice by links": (
        {**LINK, "/etc/sysctl.d/10-x.conf": "-> ../sysctl.conf", "/etc/sysctl.conf": "vm.swappiness = 60\n"}, OWN, OWN, "whoever runs it sets 60",
    ),
    "the key with slashes": ({"/etc/sysctl.d/50-a.conf": "vm/swappiness = 60\n"}, OWN, OWN, "50-a.conf:1 sets it to 60"),
    "an assignment whose failure is ignored": ({"/etc/sysctl.d/50-a.conf": "-vm.swappiness = 60\n"}, OWN, OWN, "50-a.conf:1 sets it to 60"),
    "twice in one file, the last counts": ({"/etc/sysctl.d/50-a.conf": "vm.swappiness=60\nvm.swappiness=1\n"}, "", "/etc/sysctl.d/50-a.conf", "sets it to 60"),
    "a pattern": ({"/etc/sysctl.d/50-a.conf": "vm.swapp* = 60\n"}, OWN, OWN, "50-a.conf:1 sets it to 60"),
    "a later pattern does not outdo a line with the key": (
        {"/etc/sysctl.d/10-a.conf": "vm.swappiness=1\n", "/etc/sysctl.d/zz-b.conf": "vm.swapp*=60\n"}, "", "/etc/sysctl.d/10-a.conf", "sets it to 60",
    ),
    "a file that sorts after ours would": (
        {"/etc/sysctl.d/99-zzz-site.conf": "vm.swappiness=60\n"}, "/etc/sysctl.d/zz-ascend-doctor-vm-swappiness.conf",
        "/etc/sysctl.d/zz-ascend-doctor-vm-swappiness.conf", "99-zzz-site.conf:1 sets it to 60",
    ),
    "tuned gives way": (TUNED, OWN, OWN, "tuned (/usr/lib/tuned/base/tuned.conf) sets it to 10"),
    "tuned does not give way": (
        {**TUNED, "/etc/tuned/tuned-main.conf": "daemon = 1\nreapply_sysctl = 0\n"}, OWN, "tuned (/usr/lib/tuned/base/tuned.conf)", "The new file does not last",
    ),
    "tuned is installed and not started": (
        {key: value for key, value in TUNED.items() if "wants" not in key}, OWN, OWN, "",
    ),
    "A-Tune": (
        {"/etc/systemd/system/multi-user.target.wants/atuned.service": "-> /usr/lib/systemd/system/atuned.service",
         "/usr/lib/atuned/profiles/database/mysql/kunpeng.conf": "[sysctl]\nvm.swappiness=0\n"}, OWN, OWN, "A-Tune runs and may set it",
    ),
    "a start script": ({"/etc/rc.local": "#!/bin/sh\nsysctl -q -w vm.swappiness=60\n"}, OWN, "/etc/rc.local", "The new file does not last"),
    "a start script that writes to proc": ({"/etc/rc.d/rc.local": "echo 40 > /proc/sys/vm/swappiness\n"}, OWN, "/etc/rc.d/rc.local", "sets it to 40"),
    "ufw": (
        {"/etc/ufw/ufw.conf": "ENABLED=yes\n", "/etc/ufw/sysctl.conf": "vm/swappiness=33\n"}, OWN, "/etc/ufw/sysctl.conf", "The new file does not last",
    ),
    "ufw that is off": ({"/etc/ufw/ufw.conf": "ENABLED=no\n", "/etc/ufw/sysctl.conf": "vm/swappiness=33\n"}, OWN, OWN, ""),
    "systemd-sysctl is masked": (
        {"/etc/systemd/system/systemd-sysctl.service": "-> /dev/null", "/dev/null": ""}, OWN, "", "no file is applied at boot",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MATRIX)
def test_who_else_sets_it_and_who_wins(case: str, tmp_path: Path) -> None:
    files, written, winner, conflict = MATRIX[case]
    root = make_root(tmp_path / "root", {**SYSTEMD, **files})
    found = step(root)
    assert [change.subject for change in found.changes] == ([written] if written else [])
    content = f"{KEY} = 1\n" if written else ""
    boot = order(LiveHost(str(root)), KEY, written, content).boot
    assert (boot.source if boot else "") == winner
    assert (conflict in conflicts(found)) if conflict else not conflicts(found), told(found)


def test_without_systemd_sysctl_conf_comes_last_at_boot_too(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", {"/etc/sysctl.conf": "vm.swappiness = 60\n"})
    found = step(root)
    assert "/etc/sysctl.conf:1 wins: 60. The new file does not last" in conflicts(found)


def test_a_drop_in_that_somebody_masked_is_left_alone(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root", {**SYSTEMD, OWN: "-> /dev/null", "/dev/null": ""})
    found = step(root)
    assert found.blocked is not None and "masked" in found.blocked.en


@pytest.mark.parametrize("value", ["1\nkernel.core_pattern = |/tmp/x", "", "1 # x", "x" * 500])
def test_a_value_that_would_be_another_line_is_refused(tmp_path: Path, value: str) -> None:
    assert step(make_root(tmp_path / "root"), value).blocked is not None


def test_inside_a_container_the_hosts_command_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Context, "contained", property(lambda self: True))
    found = step(make_root(tmp_path / "root"))
    assert not found.changes and found.blocked is not None and found.host_commands[0] == "sysctl -w 'vm.swappiness=1'"


IN_NAMESPACE = """
import sys
from dataclasses import replace
from pathlib import Path
from doctor.apply.engine import Outcome, Site, apply_plan, history, make_plan, undo
from doctor.facts.container import Container
from tests.apply.trees import book_of

import doctor.apply.kind
doctor.apply.kind.Context.contained = property(lambda self: False)  # wherever the tests run

RULE = '''
id: host-somaxconn-low
severity: warn
title: {en: Too low., zh: 过低。}
why: {en: It drops., zh: 丢连接。}
decide:
- when: {sysctl.net.core.somaxconn: '< 5000'}
fixes:
- id: raise
  title: {en: Raise it, zh: 调高}
  safety: safe
  steps: [sysctl -w net.core.somaxconn=8192]
  do:
  - sysctl: {key: net.core.somaxconn, value: '%s'}
'''
value, drop_in = Path("/proc/sys/net/core/somaxconn"), Path("/etc/sysctl.d/99-zz-ascend-doctor-net-core-somaxconn.conf")
before = value.read_text()
name = ("host-somaxconn-low",)

site = Site(book_of(RULE % "8192"), environ={})
plan = make_plan(site.look(), name)
assert [change.KIND for change in plan.steps[0].changes] == ["file", "kernel"], plan
(done,) = apply_plan(site, name, plan.hash)
assert done.outcome is Outcome.FIXED, done
assert value.read_text() == "8192\\n" and drop_in.exists()
assert undo(site).put_back.subjects == ("net.core.somaxconn", str(drop_in))
assert value.read_text() == before and not drop_in.exists()

site = Site(book_of(RULE % "4999"), environ={})  # the kernel takes it, and the rule is not content
(done,) = apply_plan(site, name, make_plan(site.look(), name).hash)
assert done.outcome is Outcome.ROLLED_BACK and value.read_text() == before and not drop_in.exists(), done

site = Site(book_of(RULE % "many"), environ={})  # the kernel refuses
(done,) = apply_plan(site, name, make_plan(site.look(), name).hash)
assert done.outcome is Outcome.ROLLED_BACK and "Invalid argument" in done.why and not drop_in.exists(), done

site = Site(book_of(RULE % "8192"), environ={})
(done,) = apply_plan(site, name, make_plan(site.look(), name).hash)
value.write_text("6000")
try:
    undo(site)
except Exception as problem:
    assert "net.core.somaxconn" in str(problem) and value.read_text() == "6000\\n" and drop_in.exists()
else:
    raise SystemExit("an undo over somebody else's value")
print("whole")
"""
SET_UP = "mount -t tmpfs -o mode=0755 none /etc/sysctl.d && mount -t tmpfs -o mode=0755 none /var/lib && exec \"$@\""


def test_real_parameters_in_a_namespace_of_their_own() -> None:
    """A network namespace has parameters of its own; mounts over /etc/sysctl.d and /var/lib keep this machine out of it."""
    inside = ["unshare", "--user", "--map-root-user", "--mount", "--net", "sh", "-c", SET_UP, "sh"]
    try:
        probe = subprocess.run([*inside, "sh", "-c", "echo 5000 > /proc/sys/net/core/somaxconn"], capture_output=True, timeout=60, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if probe.returncode:
        pytest.skip(f"this kernel allows no namespaces here: {probe.stderr.decode()[-200:]}")
    top = Path(__file__).parents[3]
    ran = subprocess.run(
        [*inside, sys.executable, "-c", IN_NAMESPACE], cwd=top, env={**os.environ, "PYTHONPATH": str(top)}, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0 and ran.stdout == "whole\n", ran.stdout + ran.stderr
