"""What hccn_tool says per card; and no word about a network where the product has none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.network import (
    Hccn,
    HccnCard,
    HccnConf,
    parse_fec,
    parse_hccn_conf,
    parse_ip,
    parse_link,
    parse_net_health,
    parse_tls,
    parse_vnic,
)
from doctor.host import Unavailable, Why

from .hosts import facts_of

SAMPLES = Path(__file__).parent / "samples"
TLS = "dev_id:{card}, tls switch[1](0:disable, 1:enable), tls preconfigured[1](0:non-preset, 1:preset), tls alarm time threshold[60]days"


def table(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")


def test_every_answer() -> None:
    assert parse_link("link status: UP\n") == "UP"
    assert parse_link("link status: DOWN\n") == "DOWN"
    assert parse_net_health("net health status: Success\n") == "Success"
    assert parse_tls(TLS.format(card=0)) == 1
    assert parse_fec("fec mode: rs FEC mode\n") == "rs FEC mode"
    assert parse_ip("ipaddr:198.51.100.10\nnetmask:255.255.255.0\n") == ("198.51.100.10", "255.255.255.0")
    assert parse_ip("Get ip failed") == (None, None)


def test_cards_of_a3_are_its_dies(tmp_path: Path) -> None:
    commands = {
        "npu-smi info": table("a3"),
        "hccn_tool -i 2 -link -g": "link status: DOWN",
        "hccn_tool -i 2 -tls -g": TLS.format(card=2),
        "hccn_tool -i 3 -link -g": "link status: UP",
        "hccn_tool -i 3 -net_health -g": "hccn_tool is busy, please try again\n[exit 1]",
    }
    hccn = facts_of(tmp_path, {"/etc/hccn.conf": "address_2=198.51.100.12\n"}, commands).get(Hccn)
    assert hccn == Hccn(
        (HccnCard(2, link="DOWN", tls=1), HccnCard(3, link="UP", text="hccn_tool is busy, please try again")),
    )


def test_the_virtual_ports_of_a3(tmp_path: Path) -> None:
    commands = {
        "npu-smi info": table("a3"),
        "hccn_tool -i 2 -vnic -g": "vnic link status: UP\nvnic ipaddr:192.0.2.10\nvnic netmask:255.255.255.0",
        "hccn_tool -i 3 -vnic -g": "vnic link status: DOWN",
    }
    hccn = facts_of(tmp_path, {"/etc/hccn.conf": "address_2=198.51.100.12\n"}, commands).get(Hccn)
    assert isinstance(hccn, Hccn)
    assert [(card.vnic, card.vnic_address) for card in hccn.cards] == [("UP", "192.0.2.10"), ("DOWN", None)]


def test_the_tool_under_the_install_path(tmp_path: Path) -> None:
    commands = {"npu-smi info": table("a3"), "/usr/local/Ascend/driver/tools/hccn_tool -i 2 -link -g": "link status: UP"}
    hccn = facts_of(tmp_path, {}, commands).get(Hccn)
    assert isinstance(hccn, Hccn) and hccn.cards[0].link == "UP"


@pytest.mark.parametrize("name", ["310p", "950"])
def test_products_without_an_npu_network(tmp_path: Path, name: str) -> None:
    commands = {"npu-smi info": table(name)} | {f"hccn_tool -i {card} -link -g": "link status: DOWN" for card in range(3)}
    hccn = facts_of(tmp_path, {}, commands).get(Hccn)
    assert isinstance(hccn, Unavailable) and "no NPU network" in hccn.detail


def test_pcie_cards_have_no_port_to_be_down(tmp_path: Path) -> None:
    commands = {
        "npu-smi info": table("hbm"),
        "npu-smi info -t board -i 0": "NPU ID : 0\nProduct Name : Atlas 300I A2\n",
        "hccn_tool -i 0 -link -g": "link status: DOWN",
    }
    assert isinstance(facts_of(tmp_path, {}, commands).get(Hccn), Unavailable)


def test_a_missing_tool(tmp_path: Path) -> None:
    commands = {"npu-smi info": table("a3"), "hccn_tool -i 2 -link -g": "bash: hccn_tool: command not found\n[exit 127]"}
    hccn = facts_of(tmp_path, {}, commands).get(Hccn)
    assert isinstance(hccn, Unavailable) and hccn.why is Why.MISSING


@pytest.mark.parametrize(
    ("files", "present"),
    [
        ({"/etc/hccn.conf": "address_0=198.51.100.10\n"}, True),
        ({"/etc/hccn.conf": "# nothing\n"}, False),
        ({"/etc/hccn.conf/": ""}, False),
        ({"/etc/os-release": "ID=x\n"}, False),
    ],
)
def test_hccn_conf(tmp_path: Path, files: dict[str, str], present: bool) -> None:
    conf = facts_of(tmp_path, files).get(HccnConf)
    assert isinstance(conf, HccnConf) and conf.present is present


@given(st.text() | st.text(alphabet="link status: UPtlswich[01]ipadr.0123\n", max_size=200))
def test_no_text_makes_a_parser_raise(text: str) -> None:
    for parser in (parse_link, parse_net_health, parse_tls, parse_fec, parse_ip, parse_vnic, parse_hccn_conf):
        parser(text)
