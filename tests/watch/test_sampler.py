"""One look at a server: what is followed, what is read, what happens when things restart, rotate, jump or are missing."""

from __future__ import annotations

from dataclasses import replace

from doctor.host import Listener
from doctor.watch.fetch import Page
from doctor.watch.logtail import throughput
from doctor.watch.sampler import Sampler, Target
from tests.watch.fakehost import FakeHost, server
from tests.watch.recorded import FOLDER

PAGE = (FOLDER / "metrics_load.txt").read_text()
STATISTICS = "(APIServer pid=1) INFO 11-30 08:36:39 [loggers.py:335] Engine 000: Avg prompt throughput: {0} tokens/s, Avg generation throughput: {1} tokens/s, Running: {2} reqs, Waiting: 1 reqs, GPU KV cache usage: 12.5%, Prefix cache hit rate: 0.0%\n"


class Web:
    """Answers by address."""

    def __init__(self, page: str = PAGE, health: int = 200) -> None:
        self.page, self.health, self.asked = page, health, list[str]()

    def __call__(self, url: str) -> Page:
        self.asked.append(url)
        if url.endswith("/health"):
            return Page(self.health)
        return Page(200, self.page) if self.page else Page(0, problem="Connection refused")


def sampler(host: FakeHost, target: Target = Target(), web: Web | None = None, every: float = 30.0) -> Sampler:  # noqa: B008 - frozen
    return Sampler(host, target, every, own=9, get=web or Web())


def test_the_processes_of_a_server_with_their_classes() -> None:
    host = FakeHost()
    server(host)
    host.add(200, "mooncake_master", ("/usr/bin/mooncake_master", "--port", "1"))
    host.add(201, "python3", ("python3", "/srv/load_balance_proxy_server_example.py"))
    host.add(9, "python3", ("python3", "-m", "doctor", "watch"))
    host.add(300, "bash", ("bash", "-c", "vllm serve m"))
    sample = sampler(host).sample()
    assert [(process.pid, process.role) for process in sample.processes] == [(100, "api"), (101, "engine"), (102, "worker"), (103, "worker"), (200, "mooncake"), (201, "proxy")]
    worker = sample.processes[2]
    assert (worker.label, worker.anon, worker.swap, worker.fds, worker.fd_limit, worker.threads) == ("VLLM::Worker_TP0", 1000 << 10, 4 << 10, 5, 1024, 2)
    assert worker.private == 1004 << 10 and worker.cpu == 5.2 and worker.major_faults == 3
    assert sample.host.available == 800_000 << 10


def test_the_endpoint_is_found_from_the_command_line() -> None:
    host, web = FakeHost(), Web()
    server(host)
    sample = sampler(host, web=web).sample()
    assert web.asked == ["http://127.0.0.1:8123/metrics", "http://127.0.0.1:8123/health"]
    assert sample.metrics is not None and sample.metrics["requests"] == 253 and sample.health == 200


def test_a_server_started_otherwise_is_found_by_its_engine_and_its_socket() -> None:
    host, web = FakeHost(), Web()
    host.add(50, "python3", ("/venv/bin/python3", "/srv/start.py"))
    host.add(51, "VLLM::EngineCor", ("VLLM::EngineCore",), ppid=50)
    host.listeners = (Listener("127.0.0.1", 9000, 50), Listener("0.0.0.0", 22, 1))
    sample = sampler(host, web=web).sample()
    assert [process.role for process in sample.processes] == ["api", "engine"] and web.asked[0] == "http://127.0.0.1:9000/metrics"


def test_a_dead_endpoint_is_told_with_its_reason() -> None:
    host = FakeHost()
    server(host)
    sample = sampler(host, web=Web("", 0)).sample()
    assert (sample.metrics, sample.metrics_problem, sample.health) == (None, "Connection refused", 0)


def test_a_restart_is_followed_and_told() -> None:
    host = FakeHost()
    server(host)
    watch = sampler(host)
    watch.sample()
    for pid in range(100, 104):
        host.end(pid)
    server(host, pid=500)
    host.tick()
    sample = watch.sample()
    assert [process.pid for process in sample.processes] == [500, 501, 502, 503]
    assert any(event.startswith("gone api 100") for event in sample.events) and any(event.startswith("started engine 501") for event in sample.events)


def test_a_named_process_is_followed_with_its_children_and_found_again_by_its_command() -> None:
    host = FakeHost()
    host.add(60, "python3", ("python3", "job.py"))
    host.add(61, "python3", ("python3", "child.py"), ppid=60)
    host.add(62, "python3", ("python3", "other.py"))
    watch = sampler(host, Target(pids=(60,)))
    assert [process.pid for process in watch.sample().processes] == [60, 61]
    host.end(60)
    host.end(61)
    host.add(70, "python3", ("python3", "job.py"))
    assert [process.pid for process in watch.sample().processes] == [70]


def test_a_clock_that_was_set_is_told() -> None:
    host = FakeHost()
    server(host)
    watch = sampler(host)
    watch.sample()
    host.tick()
    host.time -= 3600
    assert watch.sample().events == ("clock -3600 s",)


def test_memory_of_the_cgroup_in_both_versions() -> None:
    host = FakeHost()
    server(host)
    host.files |= {
        "/proc/100/cgroup": "0::/system.slice/vllm\n", "/sys/fs/cgroup/system.slice/vllm/memory.current": "5000\n", "/sys/fs/cgroup/system.slice/vllm/memory.max": "max\n",
        "/sys/fs/cgroup/system.slice/vllm/memory.stat": "anon 300\nfile 200\nshmem 7\n",
    }  # fmt: skip
    found = sampler(host).sample().host
    assert (found.cgroup, found.cgroup_limit, found.cgroup_anon, found.cgroup_file, found.cgroup_shmem) == (5000, None, 300, 200, 7)
    old = FakeHost()
    server(old)
    old.files |= {
        "/proc/100/cgroup": "9:memory:/docker/x\n1:cpu:/docker/x\n", "/sys/fs/cgroup/memory/memory.usage_in_bytes": "77\n",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "100\n", "/sys/fs/cgroup/memory/memory.stat": "total_rss 30\ntotal_cache 20\n",
    }  # fmt: skip
    found = sampler(old).sample().host
    assert (found.cgroup, found.cgroup_limit, found.cgroup_anon) == (77, 100, 30)


def test_files_in_dev_shm_are_added_up() -> None:
    host = FakeHost()
    server(host)
    host.files |= {"/dev/shm/psm_1": "x" * 100, "/dev/shm/psm_2": "x" * 50}
    assert (sampler(host).sample().host.shm, sampler(host).sample().host.shm_files) == (150, 2)


def test_npu_smi_is_asked_seldom_and_not_again_where_it_is_missing() -> None:
    host = FakeHost()
    server(host)
    watch = sampler(host)
    for _ in range(30):
        watch.sample()
        host.tick()
    assert host.asked.count(("npu-smi", "info")) == 1
    assert "npu" in watch.problems


def test_a_log_is_followed_across_rotation() -> None:
    host = FakeHost()
    server(host)
    host.files["/var/log/vllm.log"] = "old line\n"
    host.links["/proc/100/fd/1"] = "/var/log/vllm.log"
    watch = sampler(host)
    assert watch.sample().log is None
    host.files["/var/log/vllm.log"] = "old line\n" + STATISTICS.format(10.5, 200.0, 3) + STATISTICS.format(0.0, 9.5, 2)[:40]
    first = watch.sample().log
    assert first is not None and (first.prompt, first.generation, first.running, first.waiting, first.kv) == (10.5, 200.0, 3.0, 1.0, 0.125)
    host.files["/var/log/vllm.log"] = "new file\n" + STATISTICS.format(0.0, 7.0, 1) + "INFO Application startup complete.\n"
    sample = watch.sample()
    assert "log rotated" in sample.events and sample.log is not None
    assert (sample.log.generation, sample.log.signs) == (7.0, ("ready",))
    assert watch.tail is not None and watch.tail.lines[0] == "old line"


def test_a_line_of_statistics_in_its_forms() -> None:
    assert throughput("INFO: Avg prompt throughput: 1.5 tokens/s, Avg generation throughput: 2.5 tokens/s, Running: 3 reqs, Swapped: 0 reqs, Pending: 4 reqs, GPU KV cache usage: 50.0%, CPU KV cache usage: 0.0%.") == {
        "prompt": 1.5, "generation": 2.5, "running": 3.0, "waiting": 4.0, "kv": 0.5,
    }  # fmt: skip
    assert throughput("Avg prompt throughput: x") is None


def test_a_process_that_ends_while_it_is_looked_at_is_left_out() -> None:
    host = FakeHost()
    server(host)
    del host.files["/proc/102/status"]
    assert [process.pid for process in sampler(host).sample().processes] == [100, 101, 103]


def test_dead_children_are_counted() -> None:
    host = FakeHost()
    server(host)
    host.running.append(replace(host.running[3], pid=104, ppid=101, state="Z"))
    engine = sampler(host).sample().processes[1]
    assert (engine.zombies, engine.children) == (1, 2)


def test_the_server_of_another_machine_has_no_processes_here() -> None:
    host, web = FakeHost(), Web()
    server(host)
    sample = sampler(host, Target(url="http://10.0.0.5:8000/"), web).sample()
    assert sample.processes == () and sample.metrics is not None and web.asked[0] == "http://10.0.0.5:8000/metrics"
    assert len(sampler(host, Target(url="http://127.0.0.1:9000"), web).sample().processes) == 4
