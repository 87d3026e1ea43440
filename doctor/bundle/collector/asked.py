"""What is no file: processes, environments, listening sockets, and what commands say.

Contract: standard library only, in the grammar of Python 3.6 (see `reading`).
"""

# ruff: noqa: UP031

from __future__ import annotations

import itertools
import os
import re
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from doctor.bundle.collector import reading
from doctor.bundle.collector.machine import OUTPUT_LIMIT, Machine, is_vllm, quiet, unique, why
from doctor.bundle.collector.tree import Tree
from doctor.text import clean, decode


class Asked:
    """Questions with their answers, in the order in which they were put."""

    def __init__(self, machine: Machine, tree: Tree) -> None:
        self.machine = machine
        self.tree = tree
        self.records: list[tuple[list[Any], dict[str, Any]]] = []
        self.environments: dict[int, dict[str, str]] = {}

    def processes(self) -> list[dict[str, Any]]:
        try:
            pids = sorted(int(name) for name in self.machine.names("/proc") if name.isdigit())
            match = re.search(rb"(?m)^btime (\d{1,12})$", self.machine.read("/proc/stat", 1024 * 1024, False))
        except OSError as error:
            self.records.append((["processes"], {"unavailable": {"what": "processes", "why": why(error), "detail": "/proc"}}))
            return []
        boot = int(match.group(1)) if match else None
        found = [each for each in (self._process(pid, boot) for pid in pids) if each]
        if pids:
            self.records.append((["processes"], {"processes": found}))
        else:
            self.records.append((["processes"], {"unavailable": {"what": "processes", "why": "missing", "detail": "/proc"}}))
        return found

    def _process(self, pid: int, boot: int | None) -> dict[str, Any] | None:
        folder = "/proc/%d" % pid
        try:
            head, _, rest = clean(decode(self.machine.read(folder + "/stat", 4096, False))).rpartition(")")
        except OSError:
            return None
        fields = rest.split()
        if len(fields) < 20 or not fields[1].isdigit() or not fields[19].isdigit():
            return None
        argv = quiet(self.machine.read, folder + "/cmdline", 65536, False) or b""
        status = decode(quiet(self.machine.read, folder + "/status", 8192, False) or b"")
        uid = re.search(r"(?m)^Uid:\s+(\d{1,10})\b", status)
        exe, cwd = (clean(quiet(self.machine.link, folder + "/" + name) or "") for name in ("exe", "cwd"))
        return {
            "pid": pid, "ppid": int(fields[1]), "name": head.partition("(")[2], "argv": [clean(decode(part)) for part in argv.rstrip(b"\0").split(b"\0")] if argv else [],
            "exe": exe[: -len(" (deleted)")] if exe.endswith(" (deleted)") else exe, "uid": int(uid.group(1)) if uid else None, "state": fields[0],
            "started": None if boot is None else boot + int(fields[19]) / os.sysconf("SC_CLK_TCK"), "cwd": cwd,
        }  # fmt: skip

    def environs(self, processes: list[dict[str, Any]]) -> None:
        for pid in [0] + [each["pid"] for each in processes if is_vllm(each)][:64]:
            try:
                self.environments[pid] = self.machine.environ(pid)
            except (OSError, ValueError) as error:
                reason = "not recorded" if pid == 0 else why(error) if isinstance(error, OSError) else "missing"
                self.records.append((["environ", pid], {"unavailable": {"what": "environment of process %d" % pid, "why": reason, "detail": ""}}))

    def commands(self, said: Callable[[str], None]) -> None:
        deadline = time.monotonic() + reading.BUDGET
        values: dict[str, list[str]] = {"npu": [], "npu0": [], "chip": [], "device": [str(number) for number in sorted(int(path[12:]) for path in self.tree.matches("/dev/davinci[0-9]*") if path[12:].isdigit())][:64]}
        pairs: list[tuple[str, str]] = []
        hopeless: set[str] = set()
        for words, seconds in reading.RUN:
            for argv in self._argvs(words, values, pairs):
                if argv[0] in hopeless or time.monotonic() > deadline:
                    continue
                out, reason = self._run(argv, seconds)
                if reason in ("missing", "timed out"):
                    hopeless.add(argv[0])
                if argv == ["npu-smi", "info"] and out is not None:
                    pairs = _chips(out)
                    values["npu"] = unique([npu for npu, _ in pairs])
                    values["npu0"] = values["npu"][:1]
        said("commands: %d" % sum(1 for question, _ in self.records if question[0] == "run"))

    def _argvs(self, words: Sequence[str], values: Mapping[str, list[str]], pairs: list[tuple[str, str]]) -> list[list[str]]:
        if "{chip}" in words:
            return [[npu if word == "{npu}" else chip if word == "{chip}" else word for word in words] for npu, chip in pairs]
        choices = [values.get(word[1:-1], []) if word.startswith("{") else [word] for word in words]
        return [list(each) for each in itertools.product(*choices)]

    def _run(self, argv: list[str], seconds: float) -> tuple[str | None, str]:
        line = " ".join(argv)
        try:
            code, out, err, took = self.machine.run(argv, seconds)
        except subprocess.TimeoutExpired:
            self.records.append((["run", argv, []], {"unavailable": {"what": line, "why": "timed out", "detail": "no answer within %g s" % seconds}}))
            return None, "timed out"
        except (OSError, ValueError) as error:
            reason = why(error) if isinstance(error, OSError) else "missing"
            detail = getattr(error, "strerror", None) or ""
            self.records.append((["run", argv, []], {"unavailable": {"what": line, "why": reason, "detail": detail}}))
            return None, reason
        stdout, stderr = (clean(decode(data[:OUTPUT_LIMIT])) for data in (out, err))
        truncated = max(len(out), len(err)) > OUTPUT_LIMIT
        self.records.append((["run", argv, []], {"output": {"argv": argv, "exit": code, "seconds": took, "truncated": truncated, "stdout": stdout, "stderr": stderr}}))
        return stdout if code == 0 else None, ""

    def listening(self) -> None:
        rows: list[tuple[str, int, str]] = []
        of = "self" if self.machine.live else "1"
        try:
            tables = [self.machine.read("/proc/%s/net/tcp" % of, 16 * 1024 * 1024, False)]
        except OSError as error:
            self.records.append((["listening"], {"unavailable": {"what": "listening sockets", "why": why(error), "detail": ""}}))
            return
        tables += [quiet(self.machine.read, "/proc/%s/net/tcp6" % of, 16 * 1024 * 1024, False) or b""]
        for table in tables:
            for line in table.decode("ascii", "replace").splitlines()[1:]:
                fields = line.split()
                if len(fields) > 9 and fields[3] == "0A":
                    try:
                        address, _, port = fields[1].partition(":")
                        rows.append((_address(bytes.fromhex(address)), int(port, 16), fields[9]))
                    except (ValueError, OSError, struct.error):
                        continue
        owners = self._owners({inode for _, _, inode in rows})
        listeners = sorted(((port, address, owners.get(inode)) for address, port, inode in rows), key=lambda each: (each[0], each[1]))
        self.records.append((["listening"], {"listeners": [{"address": address, "port": port, "pid": pid} for port, address, pid in listeners]}))

    def _owners(self, wanted: set[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        looked = 0
        for pid in sorted(int(name) for name in quiet(self.machine.names, "/proc") or [] if name.isdigit()):
            for name in quiet(self.machine.names, "/proc/%d/fd" % pid) or []:
                looked += 1
                link = quiet(self.machine.link, "/proc/%d/fd/%s" % (pid, name)) or ""
                if link.startswith("socket:[") and link[8:-1] in wanted:
                    found.setdefault(link[8:-1], pid)
            if looked > 200000 or len(found) == len(wanted):
                break
        return found


def _chips(text: str) -> list[tuple[str, str]]:
    """(NPU, chip) of every group of rows of `npu-smi info`: the first row begins with the NPU's number, a second with the chip's."""
    found: list[tuple[str, str]] = []
    rows: list[str] = []
    for line in text.splitlines():
        if "Process" in line:
            break
        row = re.match(r"\|\s*(\d{1,3})\s", line)
        if row:
            rows.append(row.group(1))
        elif line.startswith("+"):
            if rows:
                found += [(rows[0], chip) for chip in rows[1:]] or [(rows[0], "0")]
            rows = []
    return found


def _address(data: bytes) -> str:
    words = struct.unpack("<%dI" % (len(data) // 4), data)
    return socket.inet_ntop(socket.AF_INET if len(words) == 1 else socket.AF_INET6, struct.pack(">%dI" % len(words), *words))
