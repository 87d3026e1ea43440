"""What lies in integrations/: the scripts run, and the YAML is what GitHub, GitLab and Kubernetes accept, by the schemas that they publish."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "integrations"
ARTICLE = ROOT / "fixtures" / "hosts" / "followed-the-article"


def schema(name: str) -> Any:
    folder = resources.files("check_jsonschema") / "builtin_schemas" / "vendor"
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))


def valid(document: Any, name: str) -> None:
    whole = schema(name)
    jsonschema.validators.validator_for(whole)(whole).validate(document)


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder for PATH with `ascend-doctor` as a user has it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "ascend-doctor"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m doctor "$@"\n')
    script.chmod(0o755)
    return folder


def bash(script: Path, folder: Path, programs: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "LANG": "C.UTF-8", **environ}
    return subprocess.run(["bash", str(script)], cwd=folder, env=kept, capture_output=True, text=True, timeout=120)


def test_the_github_action_is_one_by_its_schema() -> None:
    action = yaml.safe_load((FOLDER / "github-action" / "action.yml").read_text())
    valid(action, "github-actions")
    step = action["runs"]["steps"][0]
    assert "${{" not in step["run"], "an input in the script's text could become a command"
    script = (FOLDER / "github-action" / "run.sh").read_text()
    assert all(name in script for name in step["env"])


def test_the_github_action_diagnoses_logs_by_glob(tmp_path: Path, programs: Path) -> None:
    logs = tmp_path / "run logs"
    logs.mkdir()
    (logs / "a b.log").write_text("all quiet\n")
    shutil.copy(next((ROOT / "fixtures" / "reports").glob("*/input.txt")), logs / "c;touch forged.log")
    done = bash(
        FOLDER / "github-action" / "run.sh", tmp_path, programs,
        DOCTOR_VERSION="installed", DOCTOR_LOGS="  run logs/*.log  \n\n", RUNNER_TEMP=str(tmp_path),
        GITHUB_OUTPUT=str(tmp_path / "output"), GITHUB_STEP_SUMMARY=str(tmp_path / "summary"),
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error title=FAIL ")
    assert "| FAIL |" in (tmp_path / "summary").read_text()
    told = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert told["exit-code"] == "1" and json.loads(Path(told["json"]).read_text())["run"]["exit_code"] == 1
    assert Path(told["junit"]).read_text().startswith("<?xml") and json.loads(Path(told["sarif"]).read_text())["version"] == "2.1.0"
    assert not (tmp_path / "forged.log").exists()


def test_the_github_action_says_when_no_log_is_there(tmp_path: Path, programs: Path) -> None:
    done = bash(FOLDER / "github-action" / "run.sh", tmp_path, programs, DOCTOR_VERSION="installed", DOCTOR_LOGS="gone/*.log", RUNNER_TEMP=str(tmp_path))
    assert done.returncode == 2 and "gone/*.log" in done.stderr


def test_the_github_action_checks_the_image_that_it_runs_in(tmp_path: Path, programs: Path) -> None:
    done = bash(FOLDER / "github-action" / "run.sh", tmp_path, programs, DOCTOR_VERSION="installed", DOCTOR_FAIL_ON="never", RUNNER_TEMP=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "ascend-doctor" / "doctor.json").read_text())["host"]["kind"] == "host"


def test_the_gitlab_template_is_one_by_its_schema_and_its_script_runs(tmp_path: Path, programs: Path) -> None:
    template = yaml.safe_load((FOLDER / "gitlab" / "ascend-doctor.gitlab-ci.yml").read_text())
    job = template[".ascend-doctor"]
    valid({**template, "doctor": {"extends": ".ascend-doctor", "script": job["script"]}}, "gitlab-ci")
    script = tmp_path / "job.sh"
    script.write_text("set -e\n" + "\n".join([*job["before_script"], *job["script"]]) + "\n")
    done = bash(script, tmp_path, programs, DOCTOR_ARGS=f"check --from {ARTICLE}", DOCTOR_VERSION="")
    assert done.returncode == 1, done.stderr
    for name in (job["artifacts"]["reports"]["junit"], job["artifacts"]["reports"]["codequality"], *job["artifacts"]["paths"]):
        assert (tmp_path / name).stat().st_size > 2, name


@pytest.mark.parametrize("name", ["job", "daemonset"])
def test_the_kubernetes_manifests_are_valid_and_change_nothing(name: str) -> None:
    for document in yaml.safe_load_all((FOLDER / "kubernetes" / f"{name}.yaml").read_text()):
        kubernetes_validate.validate(document, "1.30", strict=True)
        spec = document["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        assert "privileged" not in container["securityContext"] and container["securityContext"]["readOnlyRootFilesystem"]
        mounted = {mount["name"]: mount for mount in container["volumeMounts"]}
        assert mounted["host"]["readOnly"] is True
        assert spec["automountServiceAccountToken"] is False and container["resources"]["limits"]["memory"]


def test_the_command_of_the_job_tells_causes_without_failing(tmp_path: Path, programs: Path) -> None:
    job = yaml.safe_load((FOLDER / "kubernetes" / "job.yaml").read_text())
    command = job["spec"]["template"]["spec"]["containers"][0]["command"][2]
    script = tmp_path / "job.sh"
    script.write_text(command.replace("--root /host", f"--from {ARTICLE}") + "\n")
    done = bash(script, tmp_path, programs)
    assert done.returncode == 0 and json.loads(done.stdout)["run"]["exit_code"] == 1
    script.write_text(command.replace("--root /host", "--from /nowhere") + "\n")
    assert bash(script, tmp_path, programs).returncode != 0


@pytest.fixture
def slurm(programs: Path, tmp_path: Path) -> Path:
    """A stand-in for scontrol that writes down its arguments."""
    script = programs / "scontrol"
    script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/drained\n')
    script.chmod(0o755)
    return programs


def prolog(tmp_path: Path, slurm: Path, doctor: str) -> tuple[int, str]:
    """The prolog with its PATH led to the stand-ins, and a doctor that does what the case wants."""
    (slurm / "ascend-doctor").write_text(f"#!/bin/sh\n{doctor}\n")
    script = tmp_path / "prolog.sh"
    text = (FOLDER / "slurm" / "prolog.sh").read_text()
    script.write_text(re.sub(r"^PATH=.*$", f"PATH={slurm}:/usr/bin:/bin", text, flags=re.MULTILINE))
    done = bash(script, tmp_path, slurm, SLURMD_NODENAME="node7")
    drained = tmp_path / "drained"
    return done.returncode, drained.read_text() if drained.exists() else ""


def test_the_prolog_drains_a_node_with_the_cause_as_its_reason(tmp_path: Path, slurm: Path) -> None:
    code, drained = prolog(tmp_path, slurm, "printf 'WARN  a: b\\nFAIL  driver-too-old: The driver\\tis too old.\\n'; exit 1")
    assert code == 1
    assert drained.splitlines() == ["update", "NodeName=node7", "State=DRAIN", "Reason=ascend-doctor: FAIL  driver-too-old: The driver is too old."]


@pytest.mark.parametrize("doctor", ["exit 0", "exit 2", "exit 3", "kill -9 $$", "exit 127"])
def test_the_prolog_never_holds_a_job_back_for_a_doctor_that_failed(tmp_path: Path, slurm: Path, doctor: str) -> None:
    assert prolog(tmp_path, slurm, doctor) == (0, "")


def test_the_prolog_asks_for_what_the_command_line_has(tmp_path: Path, programs: Path) -> None:
    line = re.search(r"ascend-doctor (check .*?) </dev/null", (FOLDER / "slurm" / "prolog.sh").read_text())
    assert line is not None
    script = tmp_path / "line.sh"
    script.write_text(f"ascend-doctor {line[1]} --from {ARTICLE}\n")
    assert bash(script, tmp_path, programs).returncode == 1


def test_the_hook_runs_as_pre_commit_would_run_it(tmp_path: Path, programs: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert {"id", "name", "entry", "language"} <= set(hook)
    path = tmp_path / "serve_vllm.sh"
    path.write_text("vllm serve model --ascend-opt=1\n")
    assert re.search(hook["files"], path.name)
    (programs / "doctor").symlink_to("ascend-doctor")
    done = subprocess.run([*hook["entry"].split(), str(path)], env={"PATH": f"{programs}:{os.environ['PATH']}"}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "serving-flag-ascend-opt" in done.stdout
