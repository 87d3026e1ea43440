"""Archives from outside: sound ones open without being extracted, hostile ones each give a clear error, and no bytes at all make it hang or crash."""

from __future__ import annotations

import io
import os
import random
import tarfile
from pathlib import Path

import pytest

from doctor.bundle.archive import ArchiveError, Limits, read_archive
from doctor.bundle.opened import open_recorded
from doctor.host.recorded import NotAHost
from tests.bundle import hostile

HOSTILE = list(hostile.archives())


def test_there_are_many() -> None:
    assert len(HOSTILE) >= 60 and len({each.name for each in HOSTILE}) == len(HOSTILE)


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.name)
def test_hostile_archive_is_refused(case: hostile.Hostile, tmp_path: Path) -> None:
    path = tmp_path / "sent.tar.gz"
    path.write_bytes(case.data)
    with pytest.raises(NotAHost) as refused:
        open_recorded(path)
    said = str(refused.value)
    assert case.says in said
    assert str(path) in said and len(said) < 700 and "\n" not in said, "it names the input, in one sentence or two"
    assert said.rstrip(".").count(".") or ":" in said, "and what to do"
    assert os.listdir(tmp_path) == ["sent.tar.gz"], "nothing is extracted"


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.xz", "tar.bz2", "tar.zst", "zip"])
def test_sound_archives_open(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "sent"  # the bytes tell what it is, not the name
    path.write_bytes(hostile.sound(kind))
    opened = open_recorded(path)
    assert opened.host is not None and opened.label == "h" and opened.kind == "snapshot"


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_reads_what_python_writes(form: int, tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(hostile.standard_tar(form))
    archive = read_archive(path)
    assert archive.files["files/" + "long/" * 25 + "name" * 20] == b"long" and archive.files["files/ümlaut"] == b"u"


def test_time_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(hostile.plain())
    ticks = iter(range(0, 10_000, 50))
    with pytest.raises(ArchiveError, match="longer than 60 s"):
        read_archive(path, clock=lambda: float(next(ticks)))


def test_memory_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(hostile.plain(b"".join(hostile.member(b"%d" % number, os.urandom(2000)) for number in range(60))))
    with pytest.raises(ArchiveError, match="in memory"):
        read_archive(path, Limits(kept=100_000))
    with pytest.raises(ArchiveError, match="unpacks to more than"):
        read_archive(path, Limits(total=100_000))


def test_of_a_long_member_head_and_tail_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    data = b"first line\n" + b"x" * 5000 + b"\nlast line\n"
    path.write_bytes(hostile.plain(hostile.member(b"log", data)))
    kept = read_archive(path, Limits(long_member=1000, head=100, tail=100)).files["log"]
    assert kept.startswith(b"first line") and kept.endswith(b"last line\n") and b"bytes left out here" in kept and len(kept) < 400


@pytest.mark.parametrize("special", ["/dev/zero", "fifo", "folder of nothing", "missing"])
def test_special_inputs_are_refused(special: str, tmp_path: Path) -> None:
    path = Path(special) if special.startswith("/") else tmp_path / special
    if special == "fifo":
        os.mkfifo(path)
    elif special == "folder of nothing":
        path.mkdir()
    with pytest.raises(NotAHost):
        open_recorded(path)


def test_no_bytes_make_it_crash(tmp_path: Path) -> None:
    """Seeded: sound and hostile archives with bytes flipped, cut, doubled and exchanged."""
    chance = random.Random(20261130)
    seeds = [hostile.sound(kind) for kind in ("tar", "tar.gz", "tar.xz", "tar.zst", "zip")] + [case.data for case in HOSTILE if 0 < len(case.data) < 20_000]
    path = tmp_path / "fuzz"
    opened = refused = 0
    for _ in range(1500):
        data = bytearray(chance.choice(seeds))
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(data) or 1)
            match chance.randrange(5):
                case 0:
                    data[at : at + 1] = bytes([chance.randrange(256)])
                case 1:
                    del data[at : at + chance.randint(1, 700)]
                case 2:
                    data[at:at] = data[at : at + chance.randint(1, 700)]
                case 3:
                    data[at : at + 8] = chance.randbytes(8)
                case _:
                    other = chance.choice(seeds)
                    data[at:] = other[at:]
            data = data or bytearray(b"x")
        path.write_bytes(bytes(data))
        try:
            open_recorded(path, Limits(total=64 * 2**20))
            opened += 1
        except NotAHost as problem:
            assert str(path) in str(problem)
            refused += 1
    assert opened > 5 and refused > 500


def test_a_sosreport_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    files = {
        "sos_reports/manifest.json": "{}",
        "etc/os-release": 'ID=openEuler\nVERSION_ID="22.03"\nPRETTY_NAME="openEuler 22.03 (LTS-SP4)"\n',
        "proc/meminfo": "MemTotal: 100 kB\n",
        "proc/sys/vm/swappiness": "60\n",
        "hostname": "node7\n",
        "sos_commands/processor/lscpu": "Architecture: aarch64\n",
        "sos_commands/kernel/uname_-a": "Linux node7\n",
        "sos_commands/process/ps_auxwww": "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\nroot 42 0.0 0.1 1 2 ? Sl 10:00 0:01 vllm serve /models/a\n",
        "sos_commands/date/date": "Mon Nov 30 09:38:38 UTC 2026\n",
        "var/log/messages": "Nov 30 09:38:38 node7 kernel: Out of memory: Killed process 42 (VLLM::EngineCore)\n",
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo("sosreport-node7-2026-11-30-abcdef/" + name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
        for name, kind in (("etc/localtime", tarfile.SYMTYPE), ("dev/null", tarfile.CHRTYPE)):
            link = tarfile.TarInfo("sosreport-node7-2026-11-30-abcdef/" + name)
            link.type, link.linkname = kind, "../../../../etc/shadow"
            archive.addfile(link)
    path = tmp_path / "sosreport-node7.tar.xz"
    path.write_bytes(out.getvalue())
    opened = open_recorded(path)
    host = opened.host
    assert opened.kind == "sosreport" and host is not None and host.label == "node7" and opened.notes
    assert host.read("/proc/sys/vm/swappiness") == "60\n"
    assert getattr(host.run(["lscpu"]), "stdout", "") == "Architecture: aarch64\n"
    processes = host.processes()
    assert isinstance(processes, tuple) and processes[0].argv[:2] == ("vllm", "serve")
    assert host.now().isoformat() == "2026-11-30T09:38:38+00:00"
    assert [source.label for source in opened.logs] == ["var/log/messages"]
    assert str(getattr(host.read("/etc/shadow"), "why", "")) == "Why.NOT_RECORDED"


def test_asys_collect_is_read_as_logs(tmp_path: Path) -> None:
    folder = tmp_path / "asys_output_20261130093838123"
    for name, text in {
        "software_info.txt": "| cann | 8.5.1 |\n",
        "dfx/log/host/cann/debug/plog/plog-42.log": "[ERROR] HCCL(42,python):2026-11-30-09:38:38.000.000 timeout\n",
        "dfx/ops/kernel.o": "binary",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    opened = open_recorded(folder)
    assert opened.kind == "asys" and opened.host is None
    assert [source.label for source in opened.logs] == ["software_info.txt", "dfx/log/host/cann/debug/plog/plog-42.log"]
