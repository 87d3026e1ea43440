"""The device: nodes open, torch and torch_npu import, cards are counted, memory is written and read back.

job: device ("npu", "cpu"), torch_device (what tensors are put on), cards (indices after the visibility variable), nodes (paths).
"""

from __future__ import annotations

import errno
import importlib
import os
from collections.abc import Mapping
from typing import Any

ELEMENTS = 1 << 20
MANAGERS = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")


def run(say: Any, job: Mapping[str, Any]) -> None:
    if job["device"] == "npu":
        _open_nodes(say, job)
    torch = _imported(say, "torch")
    if job["device"] == "npu":
        _imported(say, "torch_npu")
        say.stage("count the cards")
        count = torch.npu.device_count()
        wanted = len(job["cards"])
        say.check("torch_npu sees the cards", count == wanted, f"{count} of {wanted}; ASCEND_RT_VISIBLE_DEVICES={os.environ.get('ASCEND_RT_VISIBLE_DEVICES', '')}")
        if not count:
            raise say.fail("torch_npu sees a card", "torch.npu.device_count() is 0")
    for card in job["cards"] if job["device"] == "npu" else [0]:
        _one(say, torch, job, card)


def _imported(say: Any, name: str) -> Any:
    with say.timed(f"import {name}"):
        module = importlib.import_module(name)
    say.note(name, str(getattr(module, "__version__", "")))
    return module


def _open_nodes(say: Any, job: Mapping[str, Any]) -> None:
    """The driver's nodes are there and this user may open them. That one is busy is no fault of the node."""
    say.stage("open the device nodes")
    nodes = job["nodes"]
    if not nodes:
        say.check("device nodes are there", False, "no /dev/davinci0, /dev/davinci1, …")
    for node in [*nodes, *MANAGERS]:
        try:
            os.close(os.open(node, os.O_RDWR | os.O_CLOEXEC))
        except OSError as problem:
            if problem.errno != errno.EBUSY and not (problem.errno == errno.ENOENT and not nodes):
                say.check("device nodes open", False, f"{node}: {problem.strerror}", node)
                print(f"{node}: {problem.strerror}", flush=True)


def _one(say: Any, torch: Any, job: Mapping[str, Any], card: int) -> None:
    place = job["torch_device"] if job["torch_device"] == "cpu" else f"{job['torch_device']}:{card}"
    if job["device"] == "npu":
        say.stage(f"set device {card}")
        torch.npu.set_device(card)
    say.stage(f"allocate on {place}")
    sent = torch.arange(ELEMENTS, dtype=torch.float32)
    there = sent.to(place)
    say.stage(f"compute on {place}")
    doubled = there * 2 + 1
    say.stage(f"copy back from {place}")
    back = doubled.to("cpu")
    say.check("memory reads back as written", bool(torch.equal(back, sent * 2 + 1)), "", place)
    if job["device"] == "npu" and hasattr(torch.npu, "mem_get_info"):
        free, total = torch.npu.mem_get_info(card)
        say.figure("memory", round(total / 2**20), "MB", place)
        say.figure("free memory", round(free / 2**20), "MB", place)
