"""The network of the NPUs: what hccn_tool says per card, and /etc/hccn.conf."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class HccnCard:
    """One NPU's network port. None: not asked or not answered."""

    npu_id: int
    link: str | None = None
    """UP or DOWN."""
    health: str | None = None
    """Success, Init, Timeout …"""
    tls: int | None = None
    fec: str | None = None
    address: str | None = None
    netmask: str | None = None
    text: str = ""
    """What it printed where it failed."""


@dataclass(frozen=True)
class Hccn:
    """hccn_tool answers by card."""

    cards: tuple[HccnCard, ...]
    source: str = "hccn_tool"


@dataclass(frozen=True)
class HccnConf:
    """/etc/hccn.conf: `values` key -> value; `present` False if it is missing, empty or a folder."""

    present: bool
    values: Mapping[str, str] = field(default_factory=dict)
    source: str = "/etc/hccn.conf"
