"""Whether we are in a container, and how one is started: every spelling of docker's flags, compose files, and pastes that lost a quote."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts import HostFacts
from doctor.facts.container import (
    Container,
    RunCommand,
    RunCommands,
    parse_cgroup_kind,
    parse_compose,
    parse_docker_run,
    parse_docker_runs,
    parse_mount_points,
    parse_root_kind,
)
from doctor.host import Unavailable, Why
from doctor.host.plain import PlainHost

from .hosts import facts_of

GIB = 1024**3
OVERLAY = "1310 1021 0:82 / / rw,relatime - overlay overlay rw,lowerdir={folder}/l/A,upperdir={folder}/c/diff\n"
MOUNTS = "1311 1310 0:85 / /proc rw - proc proc rw\n1312 1310 0:86 / /mnt/my\\040models rw - ext4 /dev/sda rw\n"


@pytest.mark.parametrize(
    ("files", "environment", "kind"),
    [
        ({"/etc/os-release": "ID=x\n", "/proc/1/cgroup": "0::/init.scope\n"}, "HOME=/root", ""),
        ({"/.dockerenv": "", "/proc/1/cgroup": "0::/\n"}, "HOME=/root", "docker"),
        ({"/.dockerenv": ""}, "KUBERNETES_SERVICE_HOST=10.0.0.1", "kubernetes"),
        ({"/proc/1/cgroup": "0::/kubepods.slice/cri-containerd-1.scope\n"}, "HOME=/", "kubernetes"),
        ({"/run/.containerenv": ""}, "container=podman", "podman"),
        ({"/proc/self/mountinfo": OVERLAY.format(folder="/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs")}, "HOME=/", "containerd"),
        ({"/proc/self/mountinfo": OVERLAY.format(folder="/var/lib/docker/overlay2")}, "HOME=/", "docker"),
        ({"/proc/self/mountinfo": OVERLAY.format(folder="/somewhere")}, "HOME=/", "container"),
        ({"/proc/self/mountinfo": "21 1 8:2 / / rw - ext4 /dev/sda2 rw\n"}, "HOME=/", ""),
        ({"/etc/os-release": "ID=x\n"}, "container=lxc", "container"),
    ],
)
def test_kind_of_container(tmp_path: Path, files: dict[str, str], environment: str, kind: str) -> None:
    found = facts_of(tmp_path, files, {"env": environment}).get(Container)
    assert isinstance(found, Container)
    assert (found.kind, found.inside) == (kind, kind != "")


def test_mount_points_with_blanks() -> None:
    assert parse_mount_points(OVERLAY.format(folder="/x") + MOUNTS) == ("/", "/proc", "/mnt/my models")


SCRIPT = r"""#!/bin/bash
export IMAGE=quay.io/ascend/vllm-ascend:v0.11.0
sudo docker run -itd --rm \
    --name vllm-ascend \
    --shm-size=16g \
    --device /dev/davinci0 --device=/dev/davinci_manager:/dev/davinci_manager:rwm \
    --device=/dev/davinci{1..3} \
    --net host --ipc=host -u 0 --runtime=ascend \
    -v /usr/local/dcmi:/usr/local/dcmi:ro -v/root/.cache:/root/.cache \
    --mount type=bind,source=/models,target=/data,readonly \
    --mount type=volume,src=logs,dst=/var/log \
    -e VLLM_USE_MODELSCOPE=True -eHCCL_BUFFSIZE=512 --env "A=b c" -e INHERITED \
    -p8000:8000 --privileged=false \
    quay.io/ascend/vllm-ascend:v0.11.0 \
    vllm serve Qwen/Qwen3-8B --port 8000 && echo done
docker ps
"""


def test_a_whole_command_over_many_lines() -> None:
    (command,) = parse_docker_runs(SCRIPT, "start.sh")
    assert command == RunCommand(
        image="quay.io/ascend/vllm-ascend:v0.11.0",
        devices=("/dev/davinci0", "/dev/davinci_manager", "/dev/davinci1", "/dev/davinci2", "/dev/davinci3"),
        volumes=(("/usr/local/dcmi", "/usr/local/dcmi"), ("/root/.cache", "/root/.cache"), ("/models", "/data"), ("logs", "/var/log")),
        environment={"VLLM_USE_MODELSCOPE": "True", "HCCL_BUFFSIZE": "512", "A": "b c"},
        privileged=False,
        shm_size=16 * GIB,
        network="host",
        ipc="host",
        user="0",
        runtime="ascend",
        command=("vllm", "serve", "Qwen/Qwen3-8B", "--port", "8000"),
        source="start.sh",
        line=3,
    )


@pytest.mark.parametrize(
    "text",
    [
        "docker run --privileged -it img:1 bash",
        "$ docker run --privileged -it img:1 bash",
        "[root@host ~]# docker run --privileged -it img:1 bash",
        "> > sudo podman run -it --privileged img:1 bash",
        "cd /x && nerdctl container run --privileged -ti img:1 bash",
        "ASCEND=1 isula run --privileged=true -i -t img:1 bash; echo",
        "/usr/bin/docker --context far run --privileged img:1 bash",
        "docker run \\\n> --privileged \\\n> -it img:1 bash",
        "docker run -it\n--privileged\n--name x img:1 bash",
        'docker run --privileged -e A="b img:1 bash',
    ],
)
def test_every_way_to_write_it(text: str) -> None:
    command = parse_docker_run(text)
    assert command is not None
    assert (command.privileged, command.line) == (True, 0)
    if '"' not in text:
        assert (command.image, command.command) == ("img:1", ("bash",))


@pytest.mark.parametrize(
    ("flag", "size"),
    [("--shm-size=64m", 64 * 1024**2), ("--shm-size 1GB", GIB), ("--shm-size='500g'", 500 * GIB), ("--shm-size=1073741824", GIB), ("--shm-size=big", None)],
)
def test_shared_memory_sizes(flag: str, size: int | None) -> None:
    command = parse_docker_run(f"docker run {flag} img:1")
    assert command is not None and command.shm_size == size


def test_shared_memory_by_a_mount() -> None:
    command = parse_docker_run("docker run --mount type=tmpfs,destination=/dev/shm,tmpfs-size=2g img:1")
    assert command is not None and (command.shm_size, command.volumes) == (2 * GIB, ())


@pytest.mark.parametrize(
    "text", ["", "docker ps", "I docker run the image and it hangs", "docker run hangs forever", "see docker/run --x", "docker runner -it x"]
)
def test_prose_is_no_command(text: str) -> None:
    assert parse_docker_run(text) is None


def test_two_commands_with_their_lines() -> None:
    found = parse_docker_runs("x\ndocker run -d a:1\n\ny\ndocker run \\\n  -d b:2\n", "log", line=100)
    assert [(command.image, command.line) for command in found] == [("a:1", 101), ("b:2", 104)]


COMPOSE = """\
x-base: &base
  privileged: true
  environment: {HF_HOME: /models}
services:
  vllm:
    <<: *base
    image: quay.io/ascend/vllm-ascend:v0.11.0
    command: vllm serve "my model" --port 8000
    devices:
      - /dev/davinci0:/dev/davinci0
      - source: /dev/davinci_manager
        target: /dev/davinci_manager
    volumes:
      - /usr/local/dcmi:/usr/local/dcmi:ro
      - {type: bind, source: /models, target: /data}
    environment:
      - HCCL_BUFFSIZE=512
      - INHERITED
    shm_size: 8gb
    network_mode: host
    ipc: host
    user: "0"
    runtime: ascend
  proxy:
    image: nginx
    command: [nginx, -g, daemon off;]
"""


def test_compose() -> None:
    vllm, proxy = parse_compose(COMPOSE, "compose.yaml")
    assert vllm == RunCommand(
        image="quay.io/ascend/vllm-ascend:v0.11.0",
        devices=("/dev/davinci0", "/dev/davinci_manager"),
        volumes=(("/usr/local/dcmi", "/usr/local/dcmi"), ("/models", "/data")),
        environment={"HCCL_BUFFSIZE": "512"},
        privileged=True,
        shm_size=8 * GIB,
        network="host",
        ipc="host",
        user="0",
        runtime="ascend",
        command=("vllm", "serve", "my model", "--port", "8000"),
        source="compose.yaml",
        line=5,
    )
    assert (proxy.image, proxy.command, proxy.privileged, proxy.line) == ("nginx", ("nginx", "-g", "daemon off;"), False, 24)


@pytest.mark.parametrize(
    "text",
    [
        "services: [1, 2]", "services: {a: 1, b: [x], c: {image: [1], devices: x, volumes: {}, environment: 3}}", "a: &x [*x]", "&a {*a : 1}",
        "[" * 20_000, "services:\n  a:\n    image: 2024-99-99\n", "? {a: b}\n: c", "\x00", "!!python/object/apply:os.system [x]", "- image: x",
        "services: {a: {<<: [1, {image: x}], 1: 2}}", "a: b: c", "%YAML 9.9\n---\n",
    ],
)  # fmt: skip
def test_no_yaml_makes_it_raise(text: str) -> None:
    for command in parse_compose(text):
        assert isinstance(command, RunCommand)


def test_an_alias_bomb_stays_small() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    assert parse_compose(bomb + "services: {s: {image: i, command: *a11}}")[0].command == ()


def test_files_that_users_keep(tmp_path: Path) -> None:
    files = {
        "/root/docker-compose.yml": "services:\n  a:\n    image: a:1\n",
        "/home/li/start.sh": "#!/bin/sh\n# docker run -it old:1\ndocker run -d b:2\n",
        "/srv/llm/compose.prod.yaml": "services:\n  c:\n    image: c:3\n",
        "/root/notes.txt": "docker run -d d:4\n",
    }
    found = facts_of(tmp_path, files, {"env": "PWD=/srv/llm"}).get(RunCommands)
    assert isinstance(found, RunCommands)
    assert [(command.image, command.source, command.line) for command in found.commands] == [
        ("c:3", "/srv/llm/compose.prod.yaml", 2),
        ("a:1", "/root/docker-compose.yml", 2),
        ("b:2", "/home/li/start.sh", 3),
    ]


def test_a_bounded_number_of_files(tmp_path: Path) -> None:
    found = facts_of(tmp_path, {f"/root/{number:02}.sh": f"docker run -d x:{number}\n" for number in range(60)}).get(RunCommands)
    assert isinstance(found, RunCommands) and len(found.commands) == 40


def test_not_recorded(tmp_path: Path) -> None:
    facts = HostFacts(PlainHost(tmp_path))
    for kind in (Container, RunCommands):
        found = facts.get(kind)
        assert isinstance(found, Unavailable) and found.why is Why.NOT_RECORDED


PIECES = st.lists(
    st.sampled_from(["docker run ", "-v", " /a:/b", "--mount", " type=", "\\\n", "'", '"', "-e ", "A=", "{0..9}", " img", ";", "--shm-size=", "9" * 30, "\n"]),
    max_size=30,
)


@given(st.text() | PIECES.map("".join))
def test_no_text_makes_a_parser_raise(text: str) -> None:
    parse_docker_runs(text, "f")
    parse_docker_runs("docker run -" + text, "f")
    parse_compose(text)
    parse_compose("services:\n  a:\n    image: x\n    command: " + text)
    parse_mount_points(text)
    parse_cgroup_kind(text)
    parse_root_kind(text)
