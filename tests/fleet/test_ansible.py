"""Nodes behind real sshd on loopback, each with a root of its own, recorded by the real ansible-playbook. The roots are made by the test: no NPU."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from doctor.bundle.archive import read_archive
from doctor.fleet.gather import file_names

ROOT = Path(__file__).resolve().parents[2]
SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")

pytestmark = [
    pytest.mark.skipif(SSHD is None or shutil.which("ssh-keygen") is None, reason="there is no sshd here (openssh-server)"),
    pytest.mark.skipif(not (Path(sys.executable).parent / "ansible-playbook").exists() and not shutil.which("ansible-playbook"), reason="there is no ansible-playbook here"),
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Node:
    """One sshd, and the root that its host has in the inventory."""

    def __init__(self, folder: Path, key: Path) -> None:
        assert SSHD is not None
        folder.mkdir()
        self.root, self.port, self.tmp = folder / "root", free_port(), folder / "tmp"
        self.tmp.mkdir()
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / "host")], check=True)
        config = folder / "sshd_config"
        config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nAuthorizedKeysFile {key}.pub\nStrictModes no\nUsePAM no\nPidFile none\n"
            f"PasswordAuthentication no\nPermitRootLogin yes\nSubsystem sftp internal-sftp\nSetEnv TMPDIR={self.tmp}\n"
        )
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(config)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert self.process.stderr is not None
        for line in self.process.stderr:  # "Server listening on …" is its first line
            if b"listening" in line:
                break
        else:
            raise AssertionError("sshd did not start")

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


def cann(root: Path, version: str) -> None:
    """A toolkit as its info file tells it, an address that all nodes tell in their logs, and an error each at its own time."""
    (root / "var" / "log" / "vllm").mkdir(parents=True)
    second = {"8.5.1": 9, "9.0.0": 5}[version]
    (root / "var" / "log" / "vllm" / "serve.log").write_text(f"2026-01-02 03:04:01 INFO master is 10.20.30.40\n2026-01-02 03:04:0{second} ERROR [rank2]: boom\n")
    folder = root / "usr" / "local" / "Ascend" / "ascend-toolkit" / version / "aarch64-linux"
    folder.mkdir(parents=True)
    (folder / "ascend_toolkit_install.info").write_text(f"package_name=Ascend-cann-toolkit\nversion={version}\ninnerversion=V100\narch=aarch64\n")
    (root / "usr" / "local" / "Ascend" / "ascend-toolkit" / "latest").symlink_to(version)
    (root / "etc").mkdir()
    (root / "etc" / "os-release").write_text('ID="openEuler"\nVERSION_ID="22.03"\nPRETTY_NAME="openEuler 22.03"\n')


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[tuple[list[Node], Path]]:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    started = []
    try:
        for number, version in enumerate(("8.5.1", "8.5.1", "9.0.0")):
            node = Node(tmp_path / f"node{number}", key)
            started.append(node)
            cann(node.root, version)
        yield started, key
    finally:
        for node in started:
            node.stop()


def inventory(folder: Path, nodes: list[Node], key: Path) -> Path:
    path = folder / "inventory.ini"
    common = f"ansible_host=127.0.0.1 ansible_user={getpass.getuser()} ansible_ssh_private_key_file={key} ansible_python_interpreter={sys.executable}"
    lines = [f"node{number} ansible_port={node.port} doctor_root={node.root} {common}" for number, node in enumerate(nodes)]
    lines.append(f"gone ansible_port={free_port()} {common}")
    lines.append(f"lame ansible_port={nodes[0].port} {common.replace(sys.executable, '/no/such/python')}")
    path.write_text("\n".join(lines) + "\n")
    return path


def fleet(folder: Path, *arguments: str) -> tuple[int, Any]:
    environ = {
        **os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), "TERM": "dumb",
        "ANSIBLE_SSH_ARGS": f"-o ConnectTimeout=5 -o StrictHostKeyChecking=no -o UserKnownHostsFile={folder}/known -o ControlMaster=no",
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "doctor", "fleet", *arguments, "--json"], cwd=folder, env=environ, capture_output=True, text=True, timeout=300)
    return done.returncode, json.loads(done.stdout)


def test_every_node_has_a_result_and_the_odd_one_is_named(tmp_path: Path, nodes: tuple[list[Node], Path]) -> None:
    started, key = nodes
    code, told = fleet(tmp_path, str(inventory(tmp_path, started, key)), "--keep", "kept", "--log", "/var/log/vllm/*.log")
    answer = told["fleet"]
    standing = {node["name"]: node["standing"] for node in answer["nodes"]}
    assert standing == {"node0": "judged", "node1": "judged", "node2": "judged", "gone": "unreachable", "lame": "failed"}, answer
    assert "onnect" in next(node["why"] for node in answer["nodes"] if node["name"] == "gone")
    assert "/no/such/python" in next(node["why"] for node in answer["nodes"] if node["name"] == "lame")
    assert code == 3, "not the whole fleet was judged"
    different = next(item for item in answer["between"] if item["rule"] == "hccl-version-differs-between-nodes")
    assert {group["value"]: group["nodes"] for group in different["groups"]} == {"8.5.1": ["node0", "node1"], "9.0.0": ["node2"]}
    assert all(node["clock_behind"] is not None and abs(node["clock_behind"]) < 100 for node in answer["nodes"] if node["standing"] == "judged")
    assert answer["first"] == ["node2", "node0", "node1"]
    first = next(node["first_error"] for node in answer["nodes"] if node["name"] == "node2")
    assert (first["time"], first["rank"], first["line"]) == ("2026-01-02T03:04:05+00:00", "2", 2)
    texts = [data.decode() for path in (tmp_path / "kept").iterdir() for name, data in read_archive(path).files.items() if name.startswith("logs/")]
    masked = {text.split("master is ")[1].split("\n")[0] for text in texts}
    assert len(texts) == 3 and len(masked) == 1 and masked != {"10.20.30.40"}, "one key for all nodes"
    for node in started:
        assert not list(node.tmp.iterdir()), "something was left behind on a node"
        assert not list(node.root.rglob("*.py"))
    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert kept == ["node0.tar.gz", "node1.tar.gz", "node2.tar.gz"]
    again, later = fleet(tmp_path, "--from", "kept")
    assert again in (0, 1)
    assert [node["causes"] for node in later["fleet"]["nodes"]] == [node["causes"] for node in answer["nodes"] if node["standing"] == "judged"]


def test_a_limit_leaves_the_others_alone(tmp_path: Path, nodes: tuple[list[Node], Path]) -> None:
    started, key = nodes
    code, told = fleet(tmp_path, str(inventory(tmp_path, started, key)), "--limit", "node2")
    assert code in (0, 1)
    assert [node["name"] for node in told["fleet"]["nodes"]] == ["node2"]


def test_an_inventory_that_is_none_says_so(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("[unclosed\n")
    for name in ("gone.ini", "bad.yaml"):
        code, told = fleet(tmp_path, name)
        assert code == 2 and told["error"]["kind"] == "usage", told


def test_hosts_have_files_of_their_own_whatever_they_are_called() -> None:
    names = file_names(["../../etc/passwd", "a b", "a_b", "-rf", "[::1]", "节点"])
    assert len(set(names.values())) == len(names)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789_.") for name in names.values())
