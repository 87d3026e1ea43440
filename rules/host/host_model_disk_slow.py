"""Decides host-model-disk-slow: whether the model of a serving command lies on a network file system."""

import re
from collections.abc import Iterator

from doctor.facts.machine import Disk, Disks
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit
from doctor.regex import regex

_NETWORK = regex(r"^[\w.\[\]:-]{1,200}:/|^//|^(?:JuiceFS|s3fs|cubefs|ceph-fuse|glusterfs|alluxio|sfs|obsfs|ossfs|cosfs|goofys)\b", re.ASCII)
"""How df names an NFS, CIFS, Ceph or FUSE file system."""


def judge(disks: Disks, commands: ServeCommands) -> Iterator[Hit]:
    for command in commands.commands:
        model = command.flags.get("model") or command.model or ""
        disk = _holder(disks, model) if model.startswith("/") else None
        if disk is not None and _NETWORK.match(disk.filesystem):
            told = f"{model} lies on {disk.filesystem} ({disk.mount})"
            yield Hit(subject=model, found=told, wanted="a local disk", evidence=(Evidence(disks.source, told),), confidence=Confidence.POSSIBLE)


def _holder(disks: Disks, path: str) -> Disk | None:
    holders = [disk for disk in disks.by_mount.values() if path == disk.mount or path.startswith(disk.mount.rstrip("/") + "/")]
    return max(holders, key=lambda disk: len(disk.mount), default=None)
