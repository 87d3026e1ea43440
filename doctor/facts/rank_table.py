"""The rank table that RANK_TABLE_FILE names: HCCL reads from it which NPU is which rank.

Contract: `parse_rank_table` is pure and never raises; it looks at the server list of versions 1.0 and 1.2 and says of nothing else.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Iterator, Mapping
from typing import Any

from doctor.facts import Facts, Provider
from doctor.facts.number import whole
from doctor.facts.target import Environment
from doctor.host import MIB, Host, Unavailable, Why
from doctor.record import dataclass

VARIABLES = ("RANK_TABLE_FILE", "RANKTABLEFILE")
"""HCCL's variable, and that of MindIE."""
MOST_DEVICES = 100_000


@dataclass(frozen=True)
class RankDevice:
    """One rank; texts as they stand in the file, "" where the field is missing."""

    server: str
    device: str
    address: str
    rank: str


@dataclass(frozen=True)
class RankTable:
    """The file that `variable` names. `unreadable` says why nothing could be read, `faults` what is wrong in it."""

    path: str
    variable: str
    devices: tuple[RankDevice, ...] = ()
    unreadable: str = ""
    faults: tuple[str, ...] = ()


def parse_rank_table(text: str) -> tuple[tuple[RankDevice, ...], str, tuple[str, ...]]:
    """(devices, why it cannot be read, faults)."""
    try:
        held = json.loads(text)
    except (ValueError, RecursionError) as error:
        return (), f"it is no JSON: {error}"[:200], ()
    if not isinstance(held, dict) or "server_list" not in held:
        return (), "", ()  # the older template, or that of another version
    servers = [server for server in _list(held["server_list"]) if isinstance(server, dict)]
    devices = tuple(_devices(servers))
    return devices, "", tuple(_faults(held, servers, devices))[:8]


def _devices(servers: list[dict[str, Any]]) -> Iterator[RankDevice]:
    left = MOST_DEVICES
    for server in servers:
        for device in _list(server.get("device"))[:left]:
            left -= 1
            if isinstance(device, dict):
                told = [_text(device, key) for key in ("device_id", "device_ip", "rank_id")]
                yield RankDevice(_text(server, "server_id"), *told)


def _faults(held: Mapping[str, Any], servers: list[dict[str, Any]], devices: tuple[RankDevice, ...]) -> Iterator[str]:
    status, count = _text(held, "status"), _text(held, "server_count")
    if status != "completed":
        yield f"status is {status or 'missing'}, not completed"
    if count and whole(count) != len(servers):
        yield f"server_count is {count}, but server_list holds {len(servers)}"
    if not devices:
        yield "no device is listed"
        return
    ranks = [device.rank for device in devices]
    if any(whole(rank) is None for rank in ranks):
        yield "a rank_id is missing or no number"
    elif len(set(ranks)) < len(ranks):
        yield f"rank_id {next(rank for rank in ranks if ranks.count(rank) > 1)} occurs twice"
    elif {int(rank) for rank in ranks} != set(range(len(ranks))):
        yield f"rank_id does not count from 0 to {len(ranks) - 1}"
    if any(whole(device.device) is None for device in devices):
        yield "a device_id is missing or no number"
    wrong = next((device.address for device in devices if device.address and not all(map(is_address, device.address.split(",")))), None)
    if wrong is not None:
        yield f"device_ip {wrong[:60]} is no address"


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text.strip())
    except ValueError:
        return False
    return True


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(held: Mapping[str, Any], key: str) -> str:
    value = held.get(key)
    return str(value).strip() if isinstance(value, str | int) else ""


def _read(host: Host, facts: Facts) -> RankTable | Unavailable:
    environment = facts.get(Environment)
    if isinstance(environment, Unavailable):
        return environment
    variable = next((name for name in VARIABLES if environment.values.get(name, "").startswith("/")), None)
    if variable is None:
        return Unavailable("rank table", Why.MISSING, f"{VARIABLES[0]} is not set")
    path = environment.values[variable]
    text = host.read(path, 8 * MIB)
    if isinstance(text, Unavailable):
        return RankTable(path, variable, unreadable="it is missing") if text.why is Why.MISSING else text
    devices, unreadable, faults = parse_rank_table(text)
    return RankTable(path, variable, devices, unreadable, faults)


PROVIDERS: tuple[Provider[Any], ...] = (Provider(RankTable, _read, per_target=True),)
