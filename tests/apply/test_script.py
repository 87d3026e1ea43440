"""Plans as scripts: run for real on a tree, applied twice, undone; playbooks that are valid and say the same."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from doctor.apply.engine import make_plan
from doctor.apply.filechange import FileChange
from doctor.apply.kernelchange import KernelChange
from doctor.apply.plan import FixPlan, Note, Plan, StepPlan
from doctor.apply.script import ansible_playbook, shell_script
from doctor.fix import Safety, SetSysctl
from doctor.words import Words
from tests.apply.trees import RULE, make_root, picture, site_of


def plan_for(root: Path) -> Plan:
    """A plan whose paths lie on this machine, below the folder."""
    changes = (
        FileChange(f"{root}/etc/new dir/it's.conf", None, "a = 1\nASCEND_DOCTOR_END\n$HOME `id` \\ {{ x }}\n", 0o600),
        FileChange(f"{root}/etc/there.conf", "old\n", "new\n"),
        FileChange(f"{root}/etc/gone.conf", "bye\n", None),
        KernelChange("x.y", {f"{root}/value": "60"}, "1"),
    )
    words = Words("Set it\nrm -rf /", "设置")
    step = StepPlan("sysctl", SetSysctl("x.y", "1"), words, changes, notes=(Note(Words("a\nb", "说明")),))
    return Plan("/", "node\nrm -rf /", (FixPlan("host-x", "set", "", words, words, Safety.SAFE, (step,)),))


def made(tmp_path: Path) -> tuple[Path, Path]:
    root = make_root(tmp_path / "root", {"/etc/there.conf": "old\n", "/etc/gone.conf": "bye\n", "/value": "60\n"})
    os.chmod(root / "etc/there.conf", 0o640)
    script = tmp_path / "fix.sh"
    script.write_text(shell_script(plan_for(root), "en"))
    return root, script


def run(script: Path, *words: str) -> subprocess.CompletedProcess[str]:
    backup = {"BACKUP": str(script.parent / "backup")}
    return subprocess.run(["sh", str(script), *words], env={**os.environ, **backup}, capture_output=True, text=True, timeout=60, check=False)


def test_the_shell_script_applies_once_and_undoes(tmp_path: Path) -> None:
    root, script = made(tmp_path)
    before = picture(root)
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
    first = run(script, "apply")
    assert first.returncode == 0, first.stderr
    assert (root / "etc/new dir/it's.conf").read_text() == "a = 1\nASCEND_DOCTOR_END\n$HOME `id` \\ {{ x }}\n"
    assert (root / "etc/new dir/it's.conf").stat().st_mode & 0o777 == 0o600
    assert (root / "etc/there.conf").read_text() == "new\n" and (root / "etc/there.conf").stat().st_mode & 0o777 == 0o640
    assert not (root / "etc/gone.conf").exists() and (root / "value").read_text() == "1\n"
    after = picture(root)
    again = run(script, "apply")
    assert again.returncode == 0 and again.stdout == "" and picture(root) == after
    undone = run(script, "undo")
    assert undone.returncode == 0, undone.stderr
    left = picture(root)
    left.pop("etc/new dir")
    assert left == before


def test_without_a_word_it_changes_nothing(tmp_path: Path) -> None:
    root, script = made(tmp_path)
    before = picture(root)
    assert run(script).returncode == 2 and picture(root) == before


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="there is no shellcheck")
def test_shellcheck_is_content(tmp_path: Path) -> None:
    _, script = made(tmp_path)
    ran = subprocess.run(["shellcheck", "-s", "sh", str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stdout


class _Loader(yaml.SafeLoader):
    """Ansible's own tag for a text that is no template."""


_Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))  # type: ignore[arg-type]

IDEMPOTENT = {"ansible.builtin.file", "ansible.builtin.copy"}


def test_the_playbook_is_valid_and_says_the_same(tmp_path: Path) -> None:
    root = make_root(tmp_path / "root")
    text = ansible_playbook(plan_for(root), "en")
    apply, undo = yaml.load(text, Loader=_Loader)
    assert apply["become"] and undo["tags"] == ["never", "undo"] and "!unsafe" in text
    for task in (*apply["tasks"], *undo["tasks"]):
        (module,) = [key for key in task if "." in key]
        assert module in IDEMPOTENT or task.get("changed_when") is False or "when" in task, task
        assert "\n" not in task["name"]
    copies = {task["ansible.builtin.copy"]["dest"]: task["ansible.builtin.copy"]["content"] for task in apply["tasks"] if "ansible.builtin.copy" in task}
    assert copies[f"{root}/etc/there.conf"] == "new\n" and "{{ x }}" in copies[f"{root}/etc/new dir/it's.conf"]
    back = {task["ansible.builtin.copy"]["dest"]: task["ansible.builtin.copy"]["content"] for task in undo["tasks"] if "ansible.builtin.copy" in task}
    assert back == {f"{root}/etc/there.conf": "old\n", f"{root}/etc/gone.conf": "bye\n"}


def test_a_real_plan_becomes_both(tmp_path: Path) -> None:
    plan = make_plan(site_of(make_root(tmp_path / "root"), RULE).look(), ("host-swappiness-high",))
    assert "vm.swappiness = 1" in shell_script(plan, "zh") and plan.hash in shell_script(plan, "zh")
    assert len(yaml.load(ansible_playbook(plan, "zh"), Loader=_Loader)) == 2
