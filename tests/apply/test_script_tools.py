"""What other tools say of the scripts and playbooks of every fix that the fixtures lead to, and what one of each really does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from doctor.apply.plan import Plan
from doctor.apply.script import ansible_playbook, shell_script
from tests.apply.plans import of_fixtures, of_kinds
from tests.apply.trees import make_root, picture

PLAYBOOK = shutil.which("ansible-playbook", path=os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", ""))))
needs_ansible = pytest.mark.skipif(PLAYBOOK is None, reason="there is no ansible-playbook")


def every_plan() -> tuple[Plan, ...]:
    return (*of_fixtures(), *of_kinds())


def written(folder: Path) -> list[str]:
    """Every plan as a script, in the one language or the other."""
    paths = []
    for number, plan in enumerate(every_plan()):
        path = folder / f"{number}.sh"
        path.write_text(shell_script(plan, ("en", "zh")[number % 2]), encoding="utf-8")
        paths.append(str(path))
    return paths


def run(argv: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)


def test_the_fixtures_lead_to_fixes_of_many_kinds() -> None:
    kinds = {change.KIND for plan in every_plan() for step in plan.steps for change in step.changes}
    assert len(of_fixtures()) >= 25 and kinds >= {"file", "kernel", "corrected", "process", "leftover", "packages", "cann", "operators"}


def test_a_shell_reads_every_script(tmp_path: Path) -> None:
    for path in written(tmp_path):
        ran = run(["sh", "-n", path])
        assert ran.returncode == 0, Path(path).read_text() + ran.stderr


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="there is no shellcheck")
def test_shellcheck_is_content_with_every_script(tmp_path: Path) -> None:
    ran = run(["shellcheck", "-s", "sh", *written(tmp_path)])
    assert ran.returncode == 0, ran.stdout


def ansible(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """On this machine, as this user, with nothing of the user's own settings."""
    assert PLAYBOOK is not None
    local = {"ANSIBLE_CONFIG": str(folder / "none.cfg"), "ANSIBLE_HOME": str(folder / "ansible"), "ANSIBLE_LOCAL_TEMP": str(folder / "local"), "ANSIBLE_REMOTE_TEMP": str(folder / "remote")}
    (folder / "none.cfg").write_text("")
    more = {"ANSIBLE_NOCOLOR": "1", "ANSIBLE_LOCALHOST_WARNING": "0", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "0", "LC_ALL": "C.UTF-8"}
    return run([PLAYBOOK, "-i", "localhost,", "-c", "local", "-e", "ansible_become=false", "-e", f"ansible_python_interpreter={sys.executable}", *words], **local, **more)


@needs_ansible
def test_ansible_reads_every_playbook(tmp_path: Path) -> None:
    together = Plan("/", "node-7", tuple(fix for plan in every_plan() for fix in plan.fixes))  # one start of Ansible takes seconds
    playbook = tmp_path / "all.yml"
    playbook.write_text(ansible_playbook(together, "zh"), encoding="utf-8")
    ran = ansible(tmp_path, "--syntax-check", str(playbook))
    assert ran.returncode == 0, ran.stdout + ran.stderr


def swappiness() -> Plan:
    return next(plan for plan in of_fixtures() if plan.fixes[0].rule == "host-swappiness-high")


def moved(text: str, root: Path) -> str:
    """The same text about files below a folder."""
    for place in ("/etc/sysctl.d", "/proc/sys"):
        assert place in text
        text = text.replace(place, f"{root}{place}")
    return text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_root(tmp_path / "root", {"/etc/sysctl.d/10-site.conf": "vm.swappiness = 60\n"})


def looks_fixed(root: Path) -> bool:
    dropped = list((root / "etc/sysctl.d").glob("*ascend-doctor*"))
    return (root / "proc/sys/vm/swappiness").read_text() == "1\n" and len(dropped) == 1 and "vm.swappiness = 1" in dropped[0].read_text()


@needs_ansible
def test_a_playbook_applies_once_and_undoes(tmp_path: Path, root: Path) -> None:
    before = picture(root)
    playbook = tmp_path / "fix.yml"
    playbook.write_text(moved(ansible_playbook(swappiness(), "en"), root))
    first = ansible(tmp_path, str(playbook))
    assert first.returncode == 0 and looks_fixed(root), first.stdout + first.stderr
    again = ansible(tmp_path, str(playbook))
    assert again.returncode == 0 and "changed=0" in again.stdout, again.stdout
    undone = ansible(tmp_path, "-t", "undo", str(playbook))
    assert undone.returncode == 0 and picture(root) == before, undone.stdout + undone.stderr


def test_a_script_applies_once_and_undoes(tmp_path: Path, root: Path) -> None:
    before = picture(root)
    script = tmp_path / "fix.sh"
    script.write_text(moved(shell_script(swappiness(), "zh"), root))
    assert run(["sh", str(script), "apply"], BACKUP=str(tmp_path / "backup")).returncode == 0 and looks_fixed(root)
    again = run(["sh", str(script), "apply"], BACKUP=str(tmp_path / "backup"))
    assert (again.returncode, again.stdout) == (0, "") and looks_fixed(root)
    undone = run(["sh", str(script), "undo"], BACKUP=str(tmp_path / "backup"))
    assert undone.returncode == 0 and picture(root) == before, undone.stderr


def test_an_ended_process_is_told_by_the_undo_part(tmp_path: Path) -> None:
    script = tmp_path / "end.sh"
    script.write_text(shell_script(of_kinds()[0], "en"))
    told = run(["sh", str(script), "undo"], BACKUP=str(tmp_path / "backup"))
    assert told.returncode == 0 and told.stderr == ""
    assert told.stdout == "process 4711 (python3) was ended and cannot be brought back; it was started with: python3 'serve it.py' --name 'it'\"'\"'s $(id) {{ x }} %s \\n'\n"
    (tmp_path / "unknown.sh").write_text(shell_script(of_kinds()[1], "en"))
    assert run(["sh", str(tmp_path / "unknown.sh"), "undo"]).stdout == "process 4711 (python3) was ended and cannot be brought back\n"
