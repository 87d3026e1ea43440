"""Whether all NPUs of one type run one firmware."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuDetail
from doctor.finding import Evidence, Hit, Skip


def judge(detail: NpuDetail) -> Iterator[Hit]:
    if len(detail.firmware) < 2:
        raise Skip("npu-smi told the firmware of fewer than two NPUs (it needs root)")
    by_type: dict[str, dict[int, str]] = {}
    for npu, version in detail.firmware.items():
        by_type.setdefault(detail.soc_names.get(npu, ""), {})[npu] = version
    for versions in by_type.values():
        if len(set(versions.values())) > 1:
            told = ", ".join(f"NPU {npu}: {version}" for npu, version in sorted(versions.items()))
            yield Hit(found=told, wanted="one firmware version on all NPUs", evidence=(Evidence(detail.source, told),))
