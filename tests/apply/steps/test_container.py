"""`container`: the scripts, overrides and patches that start vLLM's container with other options."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from doctor.apply.kind import Choices, Context
from doctor.apply.plan import Effect, StepPlan
from doctor.apply.steps.container import KIND, with_options
from doctor.facts import HostFacts
from doctor.fix import ContainerOptions
from doctor.host.live import LiveHost
from tests.apply.trees import make_root

SHM = ContainerOptions({"shm-size": "16g"})
SCRIPT = """#!/bin/bash
# docker run --shm-size=1g an old one
docker pull image
docker run -itd \\
  --name vllm --shm-size 64m \\
  --ulimit nofile=1024:1024 --ulimit core=0 \\
  quay.io/ascend/vllm-ascend:v0.11.0 bash
"""


def step(root: Path, action: ContainerOptions = SHM, choices: Choices | None = None) -> StepPlan:
    host = LiveHost(str(root))
    return KIND.plan("container", action, Context(host, HostFacts(host), "container-shm-small", "larger-shm", str(root), 0, choices or Choices()))


def test_the_script_is_corrected_beside_itself(tmp_path: Path) -> None:
    found = step(make_root(tmp_path, {"/root/start.sh": SCRIPT}))
    (change,) = found.changes
    assert change.subject == "/root/start.corrected.sh" and found.effect is Effect.NEXT_START
    assert "-docker run -itd \\" in change.diff() and "+docker run --shm-size=16g -itd \\" in change.diff()
    comment = change.after.splitlines()[1]  # type: ignore[attr-defined]
    assert comment == SCRIPT.splitlines()[1]


def test_the_corrected_script_says_the_same_to_docker(tmp_path: Path) -> None:
    action = ContainerOptions({"shm-size": "16g", "ulimit": "nofile=65536:65536", "pids-limit": "-1"})
    text = with_options(SCRIPT, action)
    ran = subprocess.run(["bash"], input=f'docker() {{ echo "$@"; }}\n{text}', capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[1] == (
        "run --shm-size=16g --ulimit=nofile=65536:65536 --pids-limit=-1 -itd --name vllm --ulimit core=0 quay.io/ascend/vllm-ascend:v0.11.0 bash"
    )
    assert with_options(text, action) == text


def test_compose_and_kubernetes(tmp_path: Path) -> None:
    root = make_root(tmp_path)
    action = ContainerOptions({"shm-size": "16g", "ulimit": "nofile=65536"})
    (override,) = step(root, action, Choices(form="compose", to="/srv/o.yaml", unit="vllm")).changes
    assert yaml.safe_load(override.after)["services"]["vllm"] == {"shm_size": "16g", "ulimits": {"nofile": {"soft": 65536, "hard": 65536}}}  # type: ignore[attr-defined]
    (patch,) = step(root, action, Choices(form="kubernetes", to="/srv/p.yaml", unit="server")).changes
    pod = yaml.safe_load(patch.after)["spec"]["template"]["spec"]  # type: ignore[attr-defined]
    assert pod["volumes"][0]["emptyDir"] == {"medium": "Memory", "sizeLimit": "16Gi"} and pod["containers"][0]["name"] == "server"


@pytest.mark.parametrize("run", [{"shm-size": "16g; rm -rf /"}, {"privileged": "true"}, {"shm-size": "<size>"}])
def test_what_is_not_understood_is_refused(tmp_path: Path, run: dict[str, str]) -> None:
    assert step(make_root(tmp_path, {"/root/start.sh": SCRIPT}), ContainerOptions(run)).blocked is not None


def test_without_a_script_the_option_is_told(tmp_path: Path) -> None:
    found = step(make_root(tmp_path))
    assert found.blocked is not None and found.host_commands == ("docker run --shm-size=16g …",)
