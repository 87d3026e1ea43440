from __future__ import annotations

from pathlib import Path

import pytest

from doctor.facts import HostFacts
from doctor.facts.network import parse_link_stat, parse_optical
from doctor.facts.rank_table import parse_rank_table
from doctor.facts.startup import DriverKernels, ListeningSockets, ServiceUnits, ShellFiles, Socket, parse_service, parse_ss
from doctor.host import Unavailable
from doctor.host.plain import PlainHost


def _facts(folder: Path, files: dict[str, str], commands: str = "") -> HostFacts:
    for name, text in files.items():
        path = folder / "files" / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "commands.txt").write_text(commands)
    return HostFacts(PlainHost(folder))


def _unit(folder: Path, service: str, **files: str) -> ServiceUnits:
    named = {"/" + name.replace("__", "/"): text for name, text in files.items()}
    units = _facts(folder, {"/etc/systemd/system/llm.service": f"[Unit]\nDescription=x\n[Service]\n{service}\n", **named}).get(ServiceUnits)
    assert not isinstance(units, Unavailable)
    return units


def test_settings_of_a_unit_and_its_drop_ins() -> None:
    unit = "[Unit]\nRestart=never mind\n[Service]\nExecStart=/bin/a \\\n  --b\n# Restart=no\nRestart=on-failure\n"
    told = parse_service((("u", unit), ("d", "[Service]\nExecStart=\nExecStart=/bin/c\nRestart=always\n")))
    assert told["ExecStart"] == [("/bin/c", "d", 3)]
    assert told["Restart"] == [("on-failure", "u", 7), ("always", "d", 4)]


@pytest.mark.parametrize(
    ("service", "cann"),
    [
        ("ExecStart=/usr/bin/vllm serve /m", False),
        ("ExecStart=/bin/bash -c 'vllm serve /m'", False),
        ("ExecStart=/bin/bash -lc 'vllm serve /m'", None),
        ("ExecStart=/bin/bash --login -c 'vllm serve /m'", None),
        ("ExecStart=/bin/bash -c 'source ~/.bashrc; vllm serve /m'", None),
        ("ExecStart=/bin/bash -c '. /usr/local/Ascend/ascend-toolkit/set_env.sh; vllm serve /m'", True),
        ("Environment=ASCEND_OPP_PATH=/x\nExecStart=/usr/bin/vllm serve /m", True),
        ("PassEnvironment=ASCEND_OPP_PATH\nExecStart=/usr/bin/vllm serve /m", None),
        ("EnvironmentFile=/etc/not-recorded\nExecStart=/usr/bin/vllm serve /m", None),
        ("ExecStart=/usr/bin/docker run img vllm serve /m", None),
    ],
)
def test_whether_a_unit_gives_the_variables_of_cann(tmp_path: Path, service: str, cann: bool | None) -> None:
    (unit,) = _unit(tmp_path, service).units
    assert unit.cann is cann


def test_the_script_that_a_unit_runs_is_read(tmp_path: Path) -> None:
    (unit,) = _unit(tmp_path, "ExecStart=/opt/start.sh", **{"opt__start.sh": "source /a/set_env.sh\nvllm serve /m\n"}).units
    assert unit.cann is True


def test_other_units_are_left_alone(tmp_path: Path) -> None:
    assert _unit(tmp_path, "ExecStart=/usr/sbin/sshd -D").units == ()


def test_shells_that_source_the_script(tmp_path: Path) -> None:
    files = {"/root/.bashrc": "# source /a/set_env.sh\n  source /b/set_env.sh\n", "/etc/profile": "true\n"}
    told = _facts(tmp_path, files).get(ShellFiles)
    assert not isinstance(told, Unavailable)
    assert told.sourcing == (("/root/.bashrc", 2, "source /b/set_env.sh"),)


def test_kernels_with_modules_of_the_driver(tmp_path: Path) -> None:
    files = {"/proc/sys/kernel/osrelease": "6.1\n", "/lib/modules/6.1/modules.dep": "", "/lib/modules/5.1/modules.dep": "", "/lib/modules/5.1/updates/dkms/drv_a.ko.xz": ""}
    told = _facts(tmp_path, files).get(DriverKernels)
    assert not isinstance(told, Unavailable)
    assert (told.running, dict(told.kernels)) == ("6.1", {"5.1": True, "6.1": False})


def test_sockets_of_ss(tmp_path: Path) -> None:
    text = (
        "State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
        'LISTEN 0      4096   127.0.0.53%lo:53   0.0.0.0:*    users:(("systemd-resolve",pid=312,fd=13))\n'
        "LISTEN 0      4096   [::]:8000          [::]:*\n"
    )
    assert parse_ss(text) == (Socket("127.0.0.53", 53, 312, "systemd-resolve"), Socket("::", 8000))
    told = _facts(tmp_path, {}, f"$ ss -ltnp\n{text}[exit 0]\n").get(ListeningSockets)
    assert not isinstance(told, Unavailable)
    assert [socket.port for socket in told.sockets] == [53, 8000]


def test_optical_answer() -> None:
    assert parse_optical("optical info:\npresent      : not present\n") == (False, ())
    assert parse_optical("present : present\nRx Los Flag     : 0x3\nTx LoL Flag : 0x0\n") == (True, ("Rx Los Flag: 0x3",))
    assert parse_optical("hccn_tool is busy") == (None, ())
    assert parse_link_stat("command not supported") is None
    assert parse_link_stat("[device 0]link change records:\n [device 0] Mon LINK DOWN\n [device 0] Mon LINK UP") == ("[device 0] Mon LINK DOWN",)


@pytest.mark.parametrize(
    ("text", "unreadable", "fault"),
    [
        ("{", True, ""),
        ("[" * 100_000, True, ""),
        ("[]", False, ""),
        ('{"group_list": []}', False, ""),
        ('{"status": "completed", "server_list": 7}', False, "no device is listed"),
        ('{"status": "completed", "server_count": "2", "server_list": [{"device": [{"device_id": 0, "rank_id": 0}]}]}', False, "server_count is 2"),
        ('{"status": "completed", "server_list": [{"device": [{"device_id": "0", "rank_id": "1"}]}]}', False, "rank_id does not count"),
        ('{"status": "completed", "server_list": [{"device": [{"device_id": "0", "rank_id": "0", "device_ip": "300.1.1.1"}]}]}', False, "device_ip 300"),
        ('{"status": "completed", "server_list": [{"device": [{"device_id": "0", "rank_id": "0", "device_ip": "10.1.1.1,fe80::1"}]}]}', False, ""),
    ],
)
def test_rank_tables(text: str, unreadable: bool, fault: str) -> None:
    _, why, faults = parse_rank_table(text)
    assert bool(why) is unreadable
    assert any(one.startswith(fault) for one in faults) if fault else not faults
