"""What the kernel did to a step is told, and only that: lines of before are no news."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from doctor.host import READ_LIMIT, RUN_TIMEOUT, Output, Unavailable, Why
from doctor.host.live import LiveHost
from doctor.smoke.kernel import Moment, now, since

OLD = "[  100.000001] Out of memory: Killed process 9 (python3) total-vm:1kB"
NEW = "[  205.500000] Memory cgroup out of memory: Killed process 42 (VLLM::EngineCor) total-vm:9kB"


class Kernel(LiveHost):
    """A host that says what a case wants."""

    def __init__(self, files: Mapping[str, str], dmesg: str | None) -> None:
        super().__init__()
        self.files, self.dmesg = files, dmesg

    def read(self, path: str, limit: int = READ_LIMIT, tail: bool = False) -> str | Unavailable:
        return self.files.get(path) or Unavailable(path, Why.MISSING)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        return Unavailable("dmesg", Why.DENIED) if self.dmesg is None else Output(tuple(argv), 0, self.dmesg)


def test_only_what_the_kernel_said_since_then() -> None:
    host = Kernel({"/proc/uptime": "205.00 800.00\n"}, f"{OLD}\n{NEW}\nno stamp\n")
    assert since(host, now(host)) == NEW


@pytest.mark.parametrize(
    ("group", "file"),
    [
        ("4:memory:/docker/abc\n0::/\n", "/sys/fs/cgroup/memory/docker/abc/memory.oom_control"),
        ("4:cpu,memory:/docker/abc\n", "/sys/fs/cgroup/memory/memory.oom_control"),
        ("0::/kubepods/x\n", "/sys/fs/cgroup/kubepods/x/memory.events"),
        ("0::/\n", "/sys/fs/cgroup/memory.events"),
    ],
)
def test_where_the_log_may_not_be_read_the_counter_tells(group: str, file: str) -> None:
    def at(kills: int) -> Kernel:
        return Kernel({"/proc/uptime": "205.00 800.00\n", "/proc/self/cgroup": group, file: f"low 0\noom_kill {kills}\n"}, None)

    before = now(at(2))
    assert before.kills == 2 and since(at(2), before) == "" and since(at(5), before) == "oom_kill 3"


@pytest.mark.parametrize("garbage", ["", "x", "0::../../etc\n", ":" * 99, "4:memory:\n", "-1 \x00"])
def test_garbage_is_no_news(garbage: str) -> None:
    host = Kernel({"/proc/uptime": garbage, "/proc/self/cgroup": garbage}, garbage)
    assert now(host) == Moment(None, None) and since(host, now(host)) == ""
