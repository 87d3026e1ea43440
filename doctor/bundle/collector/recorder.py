"""Records a host without anything of doctor installed on it: one pass along `reading`, masked, into one archive.

Contract: standard library only, in the grammar of Python 3.6; reads and asks, changes nothing, and writes one new file of mode 0600. The
answers lie in the snapshot as a tree of what is where (`tree.jsonl`) beside the records, and `doctor.host.recorded` reads both.
"""

# ruff: noqa: UP031

from __future__ import annotations

import argparse
import base64
import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from typing import Any

from doctor.bundle.collector import reading
from doctor.bundle.collector.asked import Asked
from doctor.bundle.collector.machine import Machine, quiet, unique
from doctor.bundle.collector.places import Places
from doctor.bundle.collector.tree import Tree
from doctor.bundle.redact import PROFILES, Redactor
from doctor.text import clean, decode

VERSION = "0"
"""Of doctor; `generate` puts it in."""

KEY = "ASCEND_DOCTOR_KEY"
"""Variable with the key of the stand-ins, 64 hex digits: `doctor fleet` gives all nodes the same, so that an address is the same on each."""

HEAD, BEFORE, AFTER, TAIL = 128 * 1024, 64 * 1024, 320 * 1024, 512 * 1024
"""Bytes of a long log that are taken: its start, what stands before and after its first error, its end."""
GONE_THROUGH = 64 * 1024 * 1024
"""Bytes of a log in which the first error is looked for."""
LEFT_OUT = "\n[... left out here by doctor collect ...]\n"


class Recorder:
    """One recording: what is there, then what the commands say, then everything masked."""

    def __init__(self, machine: Machine, patterns: Sequence[str] = ()) -> None:
        self.machine = machine
        self.patterns = patterns
        self.logs: list[tuple[str, str]] = []
        self.tree = Tree(machine)
        self.asked = Asked(machine, self.tree)
        self.now = datetime.now(timezone.utc)

    def record(self, said: Callable[[str], None]) -> None:
        """Everything that `reading` names."""
        processes = self.asked.processes()
        said("processes: %d" % len(processes))
        self.asked.environs(processes)
        places = Places(self.tree, self.asked.environments)
        places.find(processes)
        for pattern in reading.LIST:
            for path in places.expanded(pattern):
                self.tree.matches(path)
        for table, tail in ((reading.READ, False), (reading.TAILS, True)):
            for pattern, limit in table:
                for path in places.expanded(pattern):
                    for match in self.tree.matches(path):
                        self.tree.keep(match, limit, tail)
        for pattern, limit in reading.RAW:
            for path in places.expanded(pattern):
                for match in self.tree.matches(path):
                    self.tree.keep_raw(match, limit)
        said("files: %d, folders and entries: %d" % (len(self.tree.texts), len(self.tree.nodes)))
        self.asked.commands(said)
        self.asked.listening()
        self._logs(places)
        said("logs: %d" % len(self.logs))

    def _logs(self, places: Places) -> None:
        """Those that were asked for, then the kernel's, those of running servers, and what `reading.LOGS` names."""
        room = reading.MOST_LOG_BYTES
        kernel = self._kernel()
        if kernel:
            self.logs.append(("dmesg", kernel))
            room -= len(kernel)
        paths = [path for pattern in self.patterns for path in self.tree.matches(pattern)]
        for server in places.variables["vllm"]:
            links = (self.tree.walk("/proc/%s/fd/%d" % (server, number)) for number in (1, 2))
            paths += [link for link in links if link and not link.startswith(("/dev/", "/proc/", "/sys/"))]
        for pattern, newest in reading.LOGS:
            found = [path for expanded in places.expanded(pattern) for path in self.tree.matches(expanded)]
            dated = sorted(set(found), key=lambda path: (-self.tree.node(self.tree.walk(path) or path).get("t", 0), path))
            paths += dated[:newest]
        for path in unique(paths):
            text = self._log(path) if len(self.logs) < reading.MOST_LOGS else ""
            if text and len(text) <= room:
                self.logs.append((path, text))
                room -= len(text)

    def _kernel(self) -> str:
        for argv in reading.KERNEL_LOG:
            try:
                code, out, _, _ = self.machine.run(argv, reading.KERNEL_LOG_SECONDS)
            except (OSError, ValueError, subprocess.TimeoutExpired):
                continue
            if code == 0 and out.strip():
                return self._shortened(out)
        return ""

    def _log(self, path: str) -> str:
        """The log, of a long one its start, its end and what stands around its first error."""
        data = quiet(self.machine.read, path, GONE_THROUGH, False) or b""
        end = (quiet(self.machine.read, path, TAIL, True) or b"") if len(data) == GONE_THROUGH else b""
        return self._shortened(data, end)

    def _shortened(self, data: bytes, end: bytes = b"") -> str:
        """`end`: what the data ends in, where there was more than was gone through."""
        if len(data) <= reading.MOST_OF_ONE_LOG:
            return clean(decode(data))
        error = re.search(reading.FIRST_ERROR, data)
        start = max(HEAD, error.start() - BEFORE) if error else HEAD
        middle = data[start : start + BEFORE + AFTER] if error else b""
        end = end or data[max(start + len(middle), len(data) - TAIL) :]
        parts = [data[:HEAD], middle, end]
        return LEFT_OUT.join(clean(decode(part)) for part in parts if part)

    def members(self, profile: str) -> tuple[list[tuple[str, str]], dict[str, int]]:
        """(name, text) of every member, and what was masked, by kind."""
        key = os.environ.get(KEY, "")
        redactor = Redactor(profile, bytes(bytearray.fromhex(key)) if re.match("[0-9a-f]{64}$", key) else None)
        self._learn(redactor)
        files: list[tuple[str, str]] = []
        records = [self._masked(question, answer, redactor) for question, answer in self.asked.records]
        records += [{"question": ["environ", pid], "answer": {"environ": redactor.environment(values)}} for pid, values in self.asked.environments.items()]
        records.append({"question": ["now"], "answer": {"text": self.now.isoformat()}})
        boot = quiet(self.machine.read, "/proc/sys/kernel/random/boot_id", 1024, False)
        if boot:
            records.append({"question": ["boot_id"], "answer": {"text": redactor.text(clean(decode(boot)).strip())}})
        lines = []
        for path, node in self.tree.nodes.items():
            lines.append(self._node(path, node, redactor, files))
        logs = {}
        for index, (path, text) in enumerate(self.logs):
            name = "logs/%02d-%s" % (index, re.sub(r"[^A-Za-z0-9._-]", "_", redactor.text(path).rpartition("/")[2])[-80:])
            logs[name] = redactor.text(path)
            files.append((name, redactor.text(text)))
        label = redactor.host(self.machine.name())
        manifest = {
            "schema_version": 1, "tool": "ascend-doctor %s (collect)" % VERSION, "host": label, "time": self.now.isoformat(), "records": "records.jsonl", "tree": "tree.jsonl",
            "bundle": {"profile": profile, "masked": dict(redactor.counts), "python": "%d.%d" % sys.version_info[:2], "logs": logs},
        }  # fmt: skip
        text = "".join(json.dumps(record) + "\n" for record in records)
        members = [("manifest.json", json.dumps(manifest, indent=1) + "\n"), ("records.jsonl", text), ("tree.jsonl", "".join(line + "\n" for line in lines))]
        members += files
        for name, text in members:
            if redactor.leaks(name) or redactor.leaks(text):
                raise ValueError("a secret is still there: nothing was written")
        return members, dict(redactor.counts)

    def _learn(self, redactor: Redactor) -> None:
        hosts = [self.machine.name()]
        for path in ("/etc/hostname", "/proc/sys/kernel/hostname", "/etc/hosts"):
            text = decode(quiet(self.machine.read, path, 262144, False) or b"")
            hosts += [word for line in text.splitlines() for word in line.partition("#")[0].split()[1 if path == "/etc/hosts" else 0 :]]
        redactor.learn_names("host", hosts)
        users = [path.rpartition("/")[2] for path in self.tree.matches("/home/*")]
        for line in self.tree.texts.get("/etc/passwd", "").splitlines():
            fields = line.split(":")
            if len(fields) > 5 and fields[2].isdigit() and 1000 <= int(fields[2]) < 65000:
                users.append(fields[0])
        redactor.learn_names("user", users)
        for values in self.asked.environments.values():
            redactor.mapping(values)
        for _, answer in self.asked.records:
            for each in answer.get("processes", []):
                redactor.argv(each["argv"])
        texts = list(self.tree.texts.values()) + list(self.tree.nodes) + [node["l"] for node in self.tree.nodes.values() if node.get("l")]
        redactor.learn(texts + [text for log in self.logs for text in log] + [text for _, answer in self.asked.records for text in _texts(answer)])
        redactor.counts.clear()

    def _node(self, path: str, node: dict[str, Any], redactor: Redactor, files: list[tuple[str, str]]) -> str:
        kept = dict(node)
        kept["p"] = redactor.text(path)
        if "l" in kept:
            kept["l"] = redactor.text(kept["l"])
        if "n" in kept:
            kept["n"] = sorted(redactor.text((path if path != "/" else "") + "/" + name).rpartition("/")[2] for name in kept["n"])
        if "f" in kept:
            name = "tree/" + hashlib.sha256(kept["p"].encode("utf-8", "surrogatepass")).hexdigest()[:20]
            kept["f"] = name
            files.append((name, redactor.text(self.tree.texts[path])))
        if path in self.tree.raw:
            data = self.tree.raw[path]
            text = data[8:].decode("utf-8", "replace") if data[8:9] == b"{" else data.decode("utf-8", "replace")
            if redactor.text(text) == text:
                kept["r"] = base64.b64encode(data).decode("ascii")
        return json.dumps(kept, sort_keys=True)

    def _masked(self, question: list[Any], answer: dict[str, Any], redactor: Redactor) -> dict[str, Any]:
        if question[0] == "run":
            question = ["run", redactor.argv(question[1]), []]
        if "output" in answer:
            output = answer["output"]
            answer = {"output": dict(output, argv=redactor.argv(output["argv"]), stdout=redactor.text(output["stdout"]), stderr=redactor.text(output["stderr"]))}
        elif "processes" in answer:
            answer = {"processes": [dict(each, name=redactor.text(each["name"]), argv=redactor.argv(each["argv"]), exe=redactor.text(each["exe"]), cwd=redactor.text(each["cwd"])) for each in answer["processes"]]}
        elif "listeners" in answer:
            answer = {"listeners": [dict(each, address=redactor.text(each["address"])) for each in answer["listeners"]]}
        elif "unavailable" in answer:
            told = answer["unavailable"]
            answer = {"unavailable": dict(told, what=redactor.text(told["what"]), detail=redactor.text(told["detail"]))}
        return {"question": question, "answer": answer}


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def write(members: Sequence[tuple[str, str]], path: str, moment: datetime) -> None:
    """A new file that only its owner reads; nothing of this machine's owners, modes or times stands in its headers."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, text in members:
            data = text.encode("utf-8", "surrogatepass")
            header = tarfile.TarInfo(name)
            header.size, header.mtime, header.mode = len(data), int(moment.timestamp()), 0o600
            archive.addfile(header, io.BytesIO(data))


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


def main(argv: Sequence[str] | None = None) -> int:
    """The command line of the one file."""
    parser = argparse.ArgumentParser(description="Records what doctor needs to know of this host into one masked file. Changes nothing, needs no network. / 采集本机信息并脱敏写入单个文件；不修改系统，不访问网络。")
    parser.add_argument("file", nargs="?", help="the file to write (default: doctor-collect-TIME.tar.gz)")
    parser.add_argument("--profile", choices=PROFILES, default="support", help="how much is masked (raw: nothing)")
    parser.add_argument("--root", default="/", help="where the host's / is mounted")
    parser.add_argument("--log", action="append", default=[], metavar="PATH", help="a log to bring along, a path or glob; may be repeated")
    parser.add_argument("--dry-run", action="store_true", help="write nothing, print what would be in it")
    given = parser.parse_args(argv)
    with contextlib.suppress(OSError):
        os.nice(10)
    recorder = Recorder(Machine(given.root), given.log)
    recorder.record(_say)
    try:
        members, masked = recorder.members(given.profile)
    except Exception as problem:  # whatever it is, nothing unmasked may be written
        sys.stderr.write("could not be masked, nothing was written: %s\n" % type(problem).__name__)
        return 3
    mark = "-UNREDACTED" if given.profile == "raw" else ""
    path = given.file or "doctor-collect-%s%s.tar.gz" % (recorder.now.strftime("%Y%m%d-%H%M%S"), mark)
    if mark and mark[1:] not in os.path.basename(path):
        path = re.sub(r"(\.tar\.gz)?$", mark + r"\1", path, count=1)
    told = ", ".join("%d %s" % (count, kind) for kind, count in sorted(masked.items()))
    if given.dry_run:
        for name, text in members:
            sys.stdout.write("%9d  %s\n" % (len(text), name))
        sys.stdout.write("masked: %s\n" % told)
        return 0
    try:
        write(members, path, recorder.now)
    except OSError as problem:
        sys.stderr.write("%s: %s\n" % (path, problem.strerror))
        return 2
    sys.stdout.write("%s\nmasked: %s\nread it elsewhere with: doctor check --from %s\n" % (path, told, path))
    return 0
