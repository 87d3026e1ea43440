"""Looks for NPU ports of one host whose TLS switches differ."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.network import Hccn
from doctor.finding import Evidence, Hit, Skip


def judge(hccn: Hccn) -> Iterator[Hit]:
    told = [card for card in hccn.cards if card.tls is not None]
    if not told:
        raise Skip("hccn_tool told no TLS switch; only root may read it")
    on = [card.npu_id for card in told if card.tls == 1]
    off = [card.npu_id for card in told if card.tls == 0]
    if on and off:
        yield Hit(
            found=f"on for NPU {_listed(on)}, off for NPU {_listed(off)}",
            wanted="one value on all cards",
            evidence=tuple(Evidence(f"{hccn.source} -i {ids[0]} -tls -g", f"tls switch[{value}]") for ids, value in ((on, 1), (off, 0))),
        )


def _listed(ids: list[int]) -> str:
    return ", ".join(str(item) for item in ids)
