"""The fact types of NPUs; `npu.py` finds them on a host, `npu_smi.py` in what npu-smi printed. Import them from `npu`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from doctor.record import dataclass


@dataclass(frozen=True)
class Npu:
    """One chip as `npu-smi info` prints it. Memory in MB as printed; None where a cell was NA, '-' or absent."""

    npu_id: int
    chip_id: int | None
    name: str
    """As printed: "910B3", "Ascend910", "310P3", "Ascend950PR"."""
    health: str | None = None
    """"OK", "Warning", "Alarm", "Critical", "UNKNOWN"."""
    power_w: float | None = None
    temperature_c: float | None = None
    aicore_percent: float | None = None
    ddr_used_mb: int | None = None
    ddr_total_mb: int | None = None
    hbm_used_mb: int | None = None
    hbm_total_mb: int | None = None
    phy_id: int | None = None
    bus_id: str | None = None
    hugepages_total: int | None = None


@dataclass(frozen=True)
class NpuProcess:
    """One row of the process table; the pid may belong to the host's name space."""

    npu_id: int
    chip_id: int | None
    pid: int
    name: str
    memory_mb: int | None = None


@dataclass(frozen=True)
class Npus:
    """The table of `npu-smi info`. `layout` is hbm, a3, 310p or 950."""

    chips: tuple[Npu, ...]
    processes: tuple[NpuProcess, ...] = ()
    smi_version: str | None = None
    driver_version: str | None = None
    layout: str = "hbm"
    source: str = "npu-smi info"
    line: int = 0
    complete: bool = True
    """False where a text shows only some rows of the table: then the chips cannot be counted."""


@dataclass(frozen=True)
class NpuSmi:
    """How `npu-smi info` answered: state is "ok", "missing", "failed", "timed out" or "empty"; `text` is what it printed."""

    state: str
    text: str = ""
    exit: int | None = None
    seconds: float = 0.0
    source: str = "npu-smi info"


@dataclass(frozen=True)
class Chip:
    """Which chip family this machine has, decided from npu-smi, board data or PCI ids.

    `family`: a1 (Ascend 910, 910 ProB), a2 (910B1-4, B2C), a3 (910_93xx), 310p, 310b, 310, 950. `kernel` names its
    operator package folder (ascend910b, ascend910_93, ascend310p, ascend950).
    """

    family: str
    name: str
    kernel: str | None = None
    source: str = ""
    line: int = 0


@dataclass(frozen=True)
class PciNpu:
    """One Huawei accelerator (vendor 19e5) as PCI shows it."""

    address: str
    device: str
    """Lower-case hex, "d802"."""
    speed: str | None = None
    max_speed: str | None = None
    width: int | None = None
    max_width: int | None = None


@dataclass(frozen=True)
class PciNpus:
    """Every Huawei accelerator on PCI; empty if there is none. Unavailable where PCI cannot be seen."""

    devices: tuple[PciNpu, ...]
    source: str = "/sys/bus/pci/devices"


@dataclass(frozen=True)
class DeviceNodes:
    """NPU device nodes: ids of /dev/davinciN, and which of the manager nodes are there."""

    davinci: tuple[int, ...]
    managers: Mapping[str, bool] = field(default_factory=dict)
    """davinci_manager, devmm_svm, hisi_hdc -> present."""
    source: str = "/dev"


@dataclass(frozen=True)
class NpuPresence:
    """Whether this machine has an NPU at all, from every trace together. `present` None: cannot be told."""

    present: bool | None
    how: str
    """What showed it, or where was looked."""


@dataclass(frozen=True)
class NpuDetail:
    """Per-chip detail of `npu-smi info -t board|health|ecc`; keys are (npu_id, chip_id)."""

    firmware: Mapping[int, str] = field(default_factory=dict)
    """Firmware Version by NPU id; NA rows left out."""
    compatibility: Mapping[int, str] = field(default_factory=dict)
    """"OK", "NOK", "UNKNOWN", "NOT SUPPORT" by NPU id."""
    fault_codes: Mapping[tuple[int, int], tuple[str, ...]] = field(default_factory=dict)
    """Upper-case hex codes without 0x."""
    ecc: Mapping[tuple[int, int], Mapping[str, int]] = field(default_factory=dict)
    """Counters by their printed name."""
    soc_names: Mapping[int, str] = field(default_factory=dict)
    """Chip Name of `-t board -i N -c 0` ("910B3")."""
    logical_ids: tuple[int, ...] | None = None
    """Chip Logic IDs of `npu-smi info -m`."""
    source: str = "npu-smi info -t board, -t health, -t ecc"
