"""The order that doctor computes against what systemd-sysctl and `sysctl --system` really do, in a namespace of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

KEY = "net.core.somaxconn"
SYSTEMD = "/usr/lib/systemd/systemd-sysctl"
FOLDERS = ("/etc/sysctl.d", "/usr/lib/sysctl.d")
LINK = {"/etc/sysctl.d/99-sysctl.conf": "-> ../sysctl.conf"}

CASES: Mapping[str, Mapping[str, str]] = {
    "one file": {"/etc/sysctl.d/50-a.conf": f"{KEY}=1001"},
    "by name over folders": {"/etc/sysctl.d/50-a.conf": f"{KEY}=1001", "/usr/lib/sysctl.d/60-a.conf": f"{KEY}=1002"},
    "one name": {"/etc/sysctl.d/50-a.conf": f"{KEY}=1001", "/usr/lib/sysctl.d/50-a.conf": f"{KEY}=1002"},
    "hidden by nothing": {"/etc/sysctl.d/50-a.conf": "", "/usr/lib/sysctl.d/50-a.conf": f"{KEY}=1002"},
    "masked": {"/etc/sysctl.d/50-a.conf": "-> /dev/null", "/usr/lib/sysctl.d/50-a.conf": f"{KEY}=1002"},
    "run": {"/run/sysctl.d/50-a.conf": f"{KEY}=1003", "/usr/lib/sysctl.d/50-a.conf": f"{KEY}=1002"},
    "a pattern": {"/etc/sysctl.d/50-a.conf": "net.core.somax* = 1004"},
    "a later pattern": {"/etc/sysctl.d/10-a.conf": f"{KEY}=1001", "/etc/sysctl.d/zz.conf": "net.core.somax* = 1004"},
    "slashes": {"/etc/sysctl.d/50-a.conf": "net/core/somaxconn = 1005"},
    "a dash": {"/etc/sysctl.d/50-a.conf": f"-{KEY} = 1005"},
    "sysctl.conf": {"/etc/sysctl.conf": f"{KEY}=1006", "/etc/sysctl.d/50-a.conf": f"{KEY}=1001"},
    "sysctl.conf by its link": {**LINK, "/etc/sysctl.conf": f"{KEY}=1006", "/etc/sysctl.d/50-a.conf": f"{KEY}=1001"},
    "after the link": {**LINK, "/etc/sysctl.conf": f"{KEY}=1006", "/etc/sysctl.d/99-zz-ascend-doctor-x.conf": f"{KEY}=1001"},
    "twice": {"/etc/sysctl.d/50-a.conf": f"{KEY}=1001\n{KEY}=1007"},
    "comments": {"/etc/sysctl.d/50-a.conf": f"# {KEY}=1\n; {KEY}=2\n  {KEY}  =  1008  "},
}

INSIDE = """
import json, os, subprocess, sys
from pathlib import Path
from doctor.apply.sysctlorder import order, winner
from doctor.host.live import LiveHost

key, systemd, folders, cases = json.loads(sys.argv[1])
value, found = Path("/proc/sys") / key.replace(".", "/"), {}
for name, files in cases.items():
    for folder in (*folders, "/run/sysctl.d"):
        os.makedirs(folder, exist_ok=True)
        for path in Path(folder).iterdir():
            path.unlink()
    Path("/etc/sysctl.conf").write_text("")
    for path, text in files.items():
        if text.startswith("-> "):
            os.symlink(text[3:], path)
        else:
            Path(path).write_text(text + "\\n" if text else "")
    told = order(LiveHost("/"), key)
    found[name] = []
    for argv, setters in (([systemd], told.systemd), (["sysctl", "--system"], told.procps)):
        value.write_text("4000")
        subprocess.run(argv, capture_output=True, check=False)
        best = winner(setters)
        found[name].append((value.read_text().strip(), best.value if best else "4000"))
print(json.dumps(found))
"""
MOUNTS = " && ".join((*(f"mount -t tmpfs -o mode=0755 none {folder}" for folder in (*FOLDERS, "/run")), 'mount --bind "$1" /etc/sysctl.conf'))


def test_the_computed_winner_is_the_real_one(tmp_path: Path) -> None:
    needed = (SYSTEMD, "/etc/sysctl.conf", *FOLDERS)
    if missing := [path for path in needed if not os.path.exists(path)]:
        pytest.skip(f"not on this machine: {', '.join(missing)}")
    (tmp_path / "conf").write_text("")
    inside = ["unshare", "--user", "--map-root-user", "--mount", "--net", "sh", "-c", MOUNTS + ' && shift && exec "$@"', "sh", str(tmp_path / "conf")]
    try:
        probe = subprocess.run([*inside, "sh", "-c", "sysctl --version && echo 5 > /proc/sys/net/core/somaxconn"], capture_output=True, timeout=60, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    if probe.returncode:
        pytest.skip("this kernel allows no namespaces here, or there is no sysctl")
    argv = [*inside, sys.executable, "-c", INSIDE, json.dumps([KEY, SYSTEMD, FOLDERS, CASES])]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    ran = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    for name, (by_systemd, by_procps) in json.loads(ran.stdout).items():
        assert by_systemd[0] == by_systemd[1], f"{name}: systemd-sysctl"
        assert by_procps[0] == by_procps[1], f"{name}: sysctl --system"
