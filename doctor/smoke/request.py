"""What a user asks of the smoke test, and what was seen of the machine before anything is started. Pure data and the looking of facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from doctor.facts import HostFacts, known
from doctor.facts.npu import Chip, DeviceNodes, NpuPresence, Npus, chip_from_npus
from doctor.facts.target import Packages, Target, discover
from doctor.facts.vllm import ServeCommand, ServeCommands
from doctor.host import Host

QUICK, STANDARD, FULL = 1, 2, 3
DEFAULT_PORT = 8000
"""vLLM's own."""
IDLE_HBM_MB = 6144
"""A card whose memory is used beyond this is in use, even if no process is shown (a container's processes are not): an idle card of 64 GB shows
2.8 to 3.4 GB, which the driver keeps."""
IDLE_SHARE = 0.15
"""The same, as a share of the card's memory, for cards of other sizes; the smaller of the two counts."""


@dataclass(frozen=True)
class Request:
    """`device` npu, cpu or auto; `cards` as in ASCEND_RT_VISIBLE_DEVICES, None for all that are visible and free; `flags` are the user's own for
    `vllm serve MODEL`; `load` concurrent requests for `load_seconds`, 0 for none; `key` of the server's API, never shown."""

    level: int = STANDARD
    device: str = "auto"
    cards: tuple[int, ...] | None = None
    model: str = ""
    flags: tuple[str, ...] = ()
    url: str = ""
    load: int = 0
    load_seconds: float = 20.0
    use_busy: bool = False
    python: str | None = None
    key: str = field(default="", repr=False)
    scale: float = 1.0


@dataclass(frozen=True)
class Card:
    """One card: its number for ASCEND_RT_VISIBLE_DEVICES, its name, its memory in MB, and who uses it ("" for nobody)."""

    number: int
    name: str = ""
    used_mb: int | None = None
    total_mb: int | None = None
    user: str = ""


@dataclass(frozen=True)
class Seen:
    """The machine before the run. `cards` is empty where npu-smi did not answer; `nodes` are the numbers of /dev/davinci*."""

    python: str = ""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    packages: Mapping[str, str] = field(default_factory=dict)
    npu: bool = False
    family: str = ""
    chip: str = ""
    cards: tuple[Card, ...] = ()
    nodes: tuple[int, ...] = ()
    url: str = ""
    """Of a vLLM server that runs here."""
    server_pid: int = 0
    key: str = field(default="", repr=False)
    """Of that server, from its own environment or command line."""
    python_version: str = ""
    """Of the target."""


def look(host: Host, request: Request) -> Seen:
    """What is there, found by the same facts as for the rules; the target that `--python` names comes before those that run."""
    targets = discover(host, request.python)
    chosen = next((target for target in targets if target.how == "--python"), None) or (targets[0] if targets else None)
    facts = HostFacts(host, chosen)
    npus, chip, nodes = known(facts.get(Npus)), known(facts.get(Chip)), known(facts.get(DeviceNodes))
    presence, packages = known(facts.get(NpuPresence)), known(facts.get(Packages)) if chosen else None
    commands = known(facts.get(ServeCommands))
    running = next((command for command in (commands.commands if commands else ()) if command.pid is not None), None)
    family = chip or (chip_from_npus(npus) if npus else None)
    return Seen(
        python=chosen.python if chosen else "",
        environment=_environment(host, chosen),
        packages=packages.versions if packages else {},
        npu=bool(npus and npus.chips) or bool(presence and presence.present),
        family=family.family if family else "",
        chip=npus.chips[0].name if npus and npus.chips else "",
        cards=cards_of(npus) if npus else (),
        nodes=nodes.davinci if nodes else (),
        url=_url(running.flags) if running else "",
        server_pid=(running.pid or 0) if running else 0,
        key=_key(host, running) if running else "",
        python_version=(packages.python if packages else None) or (chosen.version if chosen else None) or "",
    )


def _environment(host: Host, target: Target | None) -> Mapping[str, str]:
    """That of the launched process; of `--python` and of an interpreter that was found, that of doctor's shell."""
    if target is not None and target.environment:
        return target.environment
    own = host.environ(0)
    return own if isinstance(own, Mapping) else {}


def _key(host: Host, running: ServeCommand) -> str:
    """A server that is asked on its own machine by its own user needs no key to be typed."""
    environment = host.environ(running.pid) if running.pid else {}
    own = environment.get("VLLM_API_KEY", "") if isinstance(environment, Mapping) else ""
    return running.flags.get("api-key", "") or own


def cards_of(npus: Npus) -> tuple[Card, ...]:
    """The chips in the order of their numbers, which is how ASCEND_RT_VISIBLE_DEVICES counts them."""
    chips = sorted(npus.chips, key=lambda chip: (chip.npu_id, chip.chip_id or 0))
    found = []
    for number, chip in enumerate(chips):
        total, used = chip.hbm_total_mb or chip.ddr_total_mb, chip.hbm_used_mb if chip.hbm_total_mb else chip.ddr_used_mb
        rows = [row for row in npus.processes if row.npu_id == chip.npu_id and row.chip_id in (None, chip.chip_id)]
        user = f"{rows[0].name} ({rows[0].pid})" if rows else ""
        if not user and total and used and used > min(IDLE_HBM_MB, IDLE_SHARE * total):
            user = f"{used} MB"
        found.append(Card(number, chip.name, used, total, user))
    return tuple(found)


def _url(flags: Mapping[str, str]) -> str:
    host, port = flags.get("host", ""), flags.get("port", "")
    name = host if host not in ("", "0.0.0.0", "::", "localhost") else "127.0.0.1"
    return f"http://{f'[{name}]' if ':' in name else name}:{port if port.isdecimal() else DEFAULT_PORT}"
