"""npu-ids-not-contiguous: ids of npu-smi, or numbers of device nodes, that are not 0 to n-1."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.npu import DeviceNodes, Npus
from doctor.finding import Evidence, Hit, Skip


def judge(npus: Npus, nodes: DeviceNodes | None, container: Container | None) -> Iterator[Hit]:
    if npus.line:
        raise Skip("a pasted table may be cut")
    if container is not None and container.inside:
        raise Skip("a container may have been given some of the NPUs only")
    seen = ((npus.source, "NPU ids", sorted({chip.npu_id for chip in npus.chips})), ("/dev/davinciN", "device nodes", list(nodes.davinci) if nodes else []))
    gaps = [(source, f"{what} {', '.join(map(str, ids))}") for source, what, ids in seen if ids and ids != list(range(len(ids)))]
    if gaps:
        evidence = tuple(Evidence(source, text) for source, text in gaps)
        yield Hit(found="; ".join(text for _, text in gaps), wanted="0, 1, 2 …", evidence=evidence)
