"""Whether the addresses of this server's NPUs in the rank table are those that the NPUs have."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.interfaces import Interfaces
from doctor.facts.network import Hccn
from doctor.facts.rank_table import RankTable
from doctor.finding import Evidence, Hit, Skip
from doctor.logscan.signature import Matches


def judge(table: RankTable | None, hccn: Hccn | None, interfaces: Interfaces | None, matches: Matches) -> Iterator[Hit]:
    if table is None or hccn is None:
        if not matches.looked:
            raise Skip("no rank table is set or no NPU address is known, and no log was given")
        return
    servers = {device.server for device in table.devices}
    here = servers & (interfaces.addresses or frozenset()) if interfaces else set[str]()
    here = here or (servers if len(servers) == 1 else set())
    actual = {str(card.npu_id): card.address for card in hccn.cards if card.address}
    wrong = [(one.device, one.address, actual[one.device]) for one in table.devices if one.server in here and one.address and one.device in actual]
    wrong = [item for item in wrong if item[2] not in item[1].split(",")]
    if wrong:
        device, said, real = wrong[0]
        yield Hit(
            found=f"NPU {device} has {real}, the rank table says {said}" + (f"; {len(wrong)} NPUs differ" if len(wrong) > 1 else ""),
            wanted="the address of every NPU as hccn_tool prints it",
            evidence=(Evidence(table.path, f"device_id {device}: device_ip {said}"), Evidence(f"{hccn.source} -i {device} -ip -g", real)),
            values={"table": said, "actual": real, "file": table.path},
        )
