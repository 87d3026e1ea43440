"""The network of the NPUs: what hccn_tool says per card, and /etc/hccn.conf."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from doctor.facts import Facts, Provider
from doctor.facts.ask import answer, ran
from doctor.facts.driver import install_root, kind_of, parse_key_values
from doctor.facts.interfaces import Interfaces, read_interfaces
from doctor.facts.npu import Chip, Npus
from doctor.facts.npu_smi import parse_fields
from doctor.facts.number import whole
from doctor.host import Host, Probe, Unavailable, Why
from doctor.record import dataclass


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
    vnic: str | None = None
    """UP or DOWN of the virtual port; asked on A3 only."""
    vnic_address: str | None = None


@dataclass(frozen=True)
class Hccn:
    """hccn_tool answers by card."""

    cards: tuple[HccnCard, ...]
    source: str = "hccn_tool"


@dataclass(frozen=True)
class HccnPort:
    """The optical module and the history of one NPU's port. None: not asked or not answered."""

    npu_id: int
    present: bool | None = None
    """Whether there is a module; copper and some boards have none by design."""
    flags: tuple[str, ...] = ()
    """Flags of a lost signal or lock that are not 0: "Rx Los Flag: 0x1"."""
    downs: tuple[str, ...] | None = None
    """The records of the link going down, as they were printed."""


@dataclass(frozen=True)
class HccnPorts:
    """Ports by card. On a machine only those are asked whose link is not up or whose health is bad: each answer takes its time."""

    ports: tuple[HccnPort, ...]
    source: str = "hccn_tool"


@dataclass(frozen=True)
class HccnConf:
    """/etc/hccn.conf: `values` key -> value; `present` False if it is missing, empty or a folder."""

    present: bool
    values: Mapping[str, str] = field(default_factory=dict)
    source: str = "/etc/hccn.conf"


MOST_CARDS = 32
"""Cards asked; 16 dies is the most that a server has today."""
BUDGET = 45.0
"""Seconds for all questions together; each takes about 0.1."""
_CALL_TIMEOUT = 5.0
_NETWORKED = ("a1", "a2", "a3")
"""Chip families whose servers join the NPUs by RoCE; 310P, 310B and 950 have no hccn network."""
_CARD_PRODUCTS = ("300I", "300V", "300T")
"""PCIe cards: hccn_tool may answer there, but nothing is plugged in."""
_CONF = "/etc/hccn.conf"
_LONGEST_LINE = 2000


def _first(pattern: str, text: str) -> str | None:
    for line in text.splitlines():
        match = re.search(pattern, line[:_LONGEST_LINE], re.IGNORECASE | re.ASCII)
        if match:
            return match[1].strip() or None
    return None


def parse_link(text: str) -> str | None:
    """ "UP" or "DOWN" of `-link -g`: "link status: UP"."""
    word = _first(r"link status\s?:\s{0,8}(up|down)\b", text)
    return word.upper() if word else None


def parse_net_health(text: str) -> str | None:
    """ "Success", "Init", "Receive timeout" … of `-net_health -g`."""
    return _first(r"net health status\s?:([^\n]{1,80})", text)


def parse_tls(text: str) -> int | None:
    """0 or 1 of `-tls -g`: "dev_id:0, tls switch[0](0:disable, 1:enable), …"."""
    return whole(_first(r"tls switch\s?\[([01])\]", text))


def parse_fec(text: str) -> str | None:
    """ "rs FEC mode", "no FEC mode" of `-fec -g`."""
    return _first(r"fec mode\s?:([^\n]{1,80})", text)


def parse_ip(text: str) -> tuple[str | None, str | None]:
    """Address and netmask of `-ip -g`."""
    return _first(r"ipaddr(?:ess)?\s?:\s{0,8}([0-9a-f.:]{2,45})", text), _first(r"netmask\s?:\s{0,8}([0-9a-f.:]{2,45})", text)


def parse_vnic(text: str) -> tuple[str | None, str | None]:
    """Link and address of `-vnic -g`: "vnic link status: UP", "vnic ipaddr:192.0.2.10"."""
    return parse_link(text), parse_ip(text)[0]


def parse_optical(text: str) -> tuple[bool | None, tuple[str, ...]]:
    """(whether a module is there, flags of lost signals that are not 0) of `-optical -g`."""
    told = _first(r"^\s{0,40}present\s{0,40}:([^\n]{1,40})", text)
    present = None if told is None else not told.lower().startswith("not")
    lines = (" ".join(line[:_LONGEST_LINE].split()) for line in text.splitlines())
    flags = (line.replace(" :", ":") for line in lines if re.match(r"(?i)(?:tx|rx) ?lo[sl] ?flag ?: ?0x0{0,16}[1-9a-f]", line))
    return present, tuple(flags)[:8]


def parse_link_stat(text: str) -> tuple[str, ...] | None:
    """The "LINK DOWN" records of `-link_stat -g`; None where it tells no records."""
    if not re.search(r"(?i)link (?:up|down|change|stat)", text):
        return None
    return tuple(" ".join(line[:200].split()) for line in text.splitlines() if re.search(r"\bLINK DOWN\b", line))[:50]


def parse_hccn_conf(text: str) -> HccnConf:
    """/etc/hccn.conf: address_0=…, netmask_0=…; a file without any assignment counts as not there."""
    values = parse_key_values(text)
    return HccnConf(bool(values), values)


def addresses(conf: HccnConf) -> dict[int, str]:
    """Card -> its address in /etc/hccn.conf."""
    found = {key.removeprefix("address_"): value for key, value in conf.values.items() if key.startswith("address_") and value}
    return {card: value for key, value in found.items() if (card := whole(key)) is not None}


def read_hccn_conf(host: Host, facts: Facts) -> HccnConf | Unavailable:
    kind = kind_of(host, _CONF)
    if isinstance(kind, Unavailable):
        return kind
    if kind in ("missing", "folder"):
        return HccnConf(False)
    text = host.read(_CONF)
    return text if isinstance(text, Unavailable) else parse_hccn_conf(text)


class _Tool:
    """hccn_tool under the name by which the host knows it; stops where the budget is spent or an answer did not come in time."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._names = ["hccn_tool", f"{install_root(host)}/driver/tools/hccn_tool"]
        self._spent = 0.0
        self._hung = False
        self.refused: Unavailable | None = None
        self.answered = False

    def ask(self, card: int, what: str) -> str | None:
        """What it printed; also where it failed, since the reason is in the text."""
        if self._spent >= BUDGET or self._hung:
            return None
        while self._names:
            output = ran(self._host, [self._names[0], "-i", str(card), f"-{what}", "-g"], _CALL_TIMEOUT)
            if not isinstance(output, Unavailable):
                self._spent += output.seconds
                self.answered = True
                return output.text
            self.refused = self.refused or output
            self._hung = output.why is Why.TIMED_OUT
            if output.why is not Why.MISSING:
                break
            self._names.pop(0)
        return None


def read_hccn(host: Host, facts: Facts) -> Hccn | Unavailable:
    """Asks every card that has a RoCE port; an Unavailable on products that have none, so that no rule finds its link down."""
    npus, chip = facts.get(Npus), facts.get(Chip)
    if isinstance(chip, Unavailable):
        return chip
    if isinstance(npus, Unavailable):
        return npus
    if chip.family not in _NETWORKED:
        return Unavailable("hccn_tool", Why.MISSING, f"{chip.name} has no NPU network")
    conf = facts.get(HccnConf)
    if (isinstance(conf, Unavailable) or not addresses(conf)) and _is_card(host, npus):
        return Unavailable("hccn_tool", Why.MISSING, "a PCIe card without a network port")
    ids = sorted({npu.phy_id if npu.phy_id is not None else npu.npu_id for npu in npus.chips})[:MOST_CARDS]
    tool = _Tool(host)
    cards = tuple(_with_vnic(tool, _card(tool, card)) if chip.family == "a3" else _card(tool, card) for card in ids)
    if not tool.answered:
        return tool.refused or Unavailable("hccn_tool", Why.MISSING, "no NPU to ask about")
    return Hccn(cards)


def _is_card(host: Host, npus: Npus) -> bool:
    """A PCIe card by its product name; a lone NPU without an address has no peer that it could have a network with."""
    if len(npus.chips) == 1:
        return True
    board = answer(host, ["npu-smi", "info", "-t", "board", "-i", str(npus.chips[0].npu_id)]) if npus.chips else ""
    product = parse_fields(board).get("Product Name", "") if isinstance(board, str) else ""
    return any(word in product for word in _CARD_PRODUCTS)


def _card(tool: _Tool, card: int) -> HccnCard:
    told = {what: tool.ask(card, what) or "" for what in ("link", "net_health", "tls", "fec", "ip")}
    link, health, tls, fec = parse_link(told["link"]), parse_net_health(told["net_health"]), parse_tls(told["tls"]), parse_fec(told["fec"])
    address, netmask = parse_ip(told["ip"])
    understood = {"link": link, "net_health": health, "tls": tls, "fec": fec, "ip": address}
    failed = [told[what].strip()[:200] for what, value in understood.items() if value is None and told[what].strip()]
    return HccnCard(card, link, health, tls, fec, address, netmask, "\n".join(failed))


def _with_vnic(tool: _Tool, card: HccnCard) -> HccnCard:
    link, address = parse_vnic(tool.ask(card.npu_id, "vnic") or "")
    return replace(card, vnic=link, vnic_address=address)


def read_ports(host: Host, facts: Facts) -> HccnPorts | Unavailable:
    """Of a recording every port that it tells about, of a machine those that something is wrong with."""
    hccn = facts.get(Hccn)
    if isinstance(hccn, Unavailable):
        return hccn
    tool = _Tool(host)
    cards = [card for card in hccn.cards if not host.live or card.link == "DOWN" or card.health not in (None, "Success", "Init")]
    ports = []
    for card in cards:
        optical, stat = tool.ask(card.npu_id, "optical"), tool.ask(card.npu_id, "link_stat")
        present, flags = parse_optical(optical or "")
        ports.append(HccnPort(card.npu_id, present, flags, parse_link_stat(stat or "")))
    return HccnPorts(tuple(port for port in ports if port.present is not None or port.flags or port.downs is not None), hccn.source)


PROVIDERS: tuple[Provider[Any], ...] = (
    Provider(Hccn, read_hccn, Probe.DEVICE),
    Provider(HccnConf, read_hccn_conf),
    Provider(HccnPorts, read_ports, Probe.DEVICE),
    Provider(Interfaces, read_interfaces),
)
