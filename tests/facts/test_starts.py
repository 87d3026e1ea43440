"""A server that does not run is known by the files and containers that start it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts import HostFacts
from doctor.facts.container import RunCommands
from doctor.facts.docker_inspect import parse_inspect, parse_names
from doctor.facts.start_files import assignments, listed_variables
from doctor.facts.target import Environment, discover
from doctor.facts.vllm import ServeCommands
from doctor.host.plain import PlainHost

ENV = "$ env\nPATH=/opt/venv/bin\nVIRTUAL_ENV=/opt/venv\nPWD=/root\nHOME=/root\n[exit 0]\n"


def facts_of(folder: Path, files: dict[str, str], commands: str = ENV) -> HostFacts:
    for name, text in {"/opt/venv/bin/python3": "", "/opt/venv/pyvenv.cfg": "version = 3.11.4\n", **files}.items():
        path = folder / "files" / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "commands.txt").write_text(commands, encoding="utf-8")
    host = PlainHost(folder)
    shared = HostFacts(host)
    return HostFacts(host, discover(host)[0], shared)


def only(facts: HostFacts) -> dict[str, str]:
    found = facts.get(ServeCommands)
    assert isinstance(found, ServeCommands) and len(found.commands) == 1, found
    return {**found.commands[0].flags, "model": found.commands[0].model or ""}


MANIFEST = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
  - name: llm
    image: quay.io/ascend/vllm-ascend:v0.18.0
    env: [{name: HCCL_BUFFSIZE, value: "512"}]
    command: [/bin/bash, -c]
    args: ["vllm serve Qwen/Qwen3-8B --max-num-seqs 8"]
"""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/root/start.sh", "export HCCL_BUFFSIZE=512\nvllm serve Qwen/Qwen3-8B \\\n  --max-num-seqs 8\n"),
        ("/opt/llm/run.sh", "HCCL_BUFFSIZE=512 vllm serve Qwen/Qwen3-8B --max-num-seqs 8\n"),
        ("/etc/systemd/system/llm.service", '[Service]\nEnvironment="HCCL_BUFFSIZE=512"\nExecStart=/opt/venv/bin/vllm serve Qwen/Qwen3-8B --max-num-seqs 8\n'),
        ("/root/docker-compose.yml", "services:\n  a:\n    image: x/vllm-ascend:v0.18.0\n    environment: [HCCL_BUFFSIZE=512]\n    command: >\n      vllm serve Qwen/Qwen3-8B\n      --max-num-seqs 8\n"),
        ("/root/compose.yaml", "services:\n  a:\n    image: vllm/vllm-openai:v0.18.0\n    environment: {HCCL_BUFFSIZE: '512'}\n    command: [--model, Qwen/Qwen3-8B, --max-num-seqs, '8']\n"),
        ("/root/vllm.yaml", MANIFEST),
        ("/root/run.sh", "docker run -d -e HCCL_BUFFSIZE=512 x/vllm-ascend:v0.18.0 vllm serve Qwen/Qwen3-8B --max-num-seqs 8\n"),
    ],
)
def test_flags_and_variables_of_a_start(tmp_path: Path, path: str, text: str) -> None:
    facts = facts_of(tmp_path, {path: text})
    assert only(facts)["max-num-seqs"] == "8" and only(facts)["model"] == "Qwen/Qwen3-8B"
    environment = facts.get(Environment)
    assert isinstance(environment, Environment) and environment.values["HCCL_BUFFSIZE"] == "512" and environment.places["HCCL_BUFFSIZE"] == path


def test_a_units_environment_file(tmp_path: Path) -> None:
    unit = "[Service]\nEnvironmentFile=-/etc/default/llm\nExecStart=/opt/venv/bin/vllm serve $MODEL --max-num-seqs 8\n"
    facts = facts_of(tmp_path, {"/etc/systemd/system/llm.service": unit, "/etc/default/llm": "MODEL=/models/a\nASCEND_RT_VISIBLE_DEVICES=0;1\n"})
    environment = facts.get(Environment)
    assert only(facts)["model"] == "/models/a"
    assert isinstance(environment, Environment) and environment.values["ASCEND_RT_VISIBLE_DEVICES"] == "0;1"


def test_options_of_a_config_file_count_where_the_command_gives_none(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"/root/a.sh": "vllm serve --config c.yaml --port 9\n", "/root/c.yaml": "model: /models/a\nmax_num_seqs: 8\nport: 1\nenforce-eager: true\nasync-scheduling: false\n"})
    assert only(facts) == {"config": "c.yaml", "port": "9", "max-num-seqs": "8", "enforce-eager": "", "model": "/models/a"}


def test_a_search_path_of_a_script_is_not_that_of_the_target(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, {"/root/a.sh": "export ASCEND_HOME_PATH=/other\nexport LD_LIBRARY_PATH=/x:$LD_LIBRARY_PATH\nvllm serve a/b\n"})
    environment = facts.get(Environment)
    assert isinstance(environment, Environment) and "ASCEND_HOME_PATH" not in environment.values and "LD_LIBRARY_PATH" not in environment.values


def test_a_running_servers_environment_is_its_own(tmp_path: Path) -> None:
    listing = "$ ps -eo pid,ppid,user,args\n PID PPID USER COMMAND\n 47 1 root /opt/venv/bin/python3 /opt/venv/bin/vllm serve a/b\n[exit 0]\n"
    facts = facts_of(tmp_path, {"/root/a.sh": "export HCCL_BUFFSIZE=1\nvllm serve c/d\n", "/proc/47/environ": "VIRTUAL_ENV=/opt/venv\0HCCL_BUFFSIZE=2\0"}, ENV + "\n" + listing)
    environment = facts.get(Environment)
    assert isinstance(environment, Environment) and environment.values["HCCL_BUFFSIZE"] == "2"


def test_a_container_that_docker_inspect_told(tmp_path: Path) -> None:
    told = [{"Config": {"Image": "x/vllm-ascend:v0.18.0", "Env": ["HCCL_BUFFSIZE=512"], "Cmd": ["vllm", "serve", "a/b", "--max-num-seqs", "8"]}, "HostConfig": {"Privileged": True, "ShmSize": 67108864, "Devices": [{"PathOnHost": "/dev/davinci3"}], "Binds": ["/a:/b:ro"]}}]
    commands = f"{ENV}\n$ docker ps\nCONTAINER ID   IMAGE   COMMAND   NAMES\n0a1b2c3d4e5f   x   y   llm\n[exit 0]\n\n$ docker inspect llm\n{json.dumps(told)}\n[exit 0]\n"
    facts = facts_of(tmp_path, {}, commands)
    runs = facts.get(RunCommands)
    assert isinstance(runs, RunCommands)
    run = runs.commands[0]
    assert (run.privileged, run.shm_size, run.devices, run.volumes) == (True, 64 * 2**20, ("/dev/davinci3",), (("/a", "/b"),))
    assert only(facts)["max-num-seqs"] == "8"


def test_lines_that_no_shell_reads() -> None:
    assert listed_variables("# a\nA=1;2\nexport B='x y'\n3=4\n") == {"A": "1;2", "B": "x y"}
    assert assignments("export A=1\nB=$HOME/x\nfoo\n") == {"A": "1"}


@given(st.text(max_size=300))
def test_no_text_makes_them_raise(text: str) -> None:
    assert isinstance(parse_inspect(text), tuple) and isinstance(parse_names(text), tuple)
    assert isinstance(assignments(text), dict) and isinstance(listed_variables(text), dict)
