"""NPU memory that grows with images on a release whose memory profile knows nothing of the vision encoder."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.finding import Basis, Confidence, Hit
from doctor.logscan.signature import Matches

from ..leak import growth

AFFECTED = "< 0.13.0rc1"


def judge(packages: Packages, matches: Matches) -> Iterator[Hit]:
    version = growth.release(packages, "vllm-ascend", AFFECTED)
    told = growth.told(matches)
    if version is None or not matches["multimodal"] or any(said.where is growth.Where.HOST for said in told):
        return
    seen = growth.lines(growth.of_device(told))
    if seen:
        said = f"NPU memory grows with images on vllm-ascend {version}"
        yield growth.hit(seen, said, Confidence.LIKELY, None, "vllm-ascend 0.13.0rc1 or later", Basis.BOTH)
