"""What identifies the software and the chip of a machine in the text that a user sends back, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor import __version__
from doctor.facts import HostFacts, known
from doctor.facts.cann import Cann, Nnal
from doctor.facts.container import Container
from doctor.facts.driver import Driver, Firmware
from doctor.facts.machine import Machine, OperatingSystem
from doctor.host import Host
from doctor.report.model import SHOWN_PACKAGES
from doctor.smoke.request import Seen

TELLING = ("ASCEND_", "HCCL_", "VLLM_", "PYTORCH_NPU_", "ATB_", "TORCH_DEVICE_BACKEND_AUTOLOAD", "TASK_QUEUE_ENABLE", "CPU_AFFINITY_CONF", "OMP_NUM_THREADS", "LD_PRELOAD")
"""Variables that decide how the steps went, by name or its beginning."""
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)


def machine_lines(host: Host, seen: Seen) -> Iterator[tuple[str, str]]:
    """(name, value)."""
    facts = HostFacts(host)
    driver, firmware, cann, nnal = known(facts.get(Driver)), known(facts.get(Firmware)), known(facts.get(Cann)), known(facts.get(Nnal))
    system, machine, container = known(facts.get(OperatingSystem)), known(facts.get(Machine)), known(facts.get(Container))
    yield "ascend-doctor", f"{__version__}, {host.now():%Y-%m-%d}"
    memory = sorted({card.total_mb for card in seen.cards if card.total_mb})
    yield "chip", f"{seen.chip or '-'} ({seen.family or '-'}), {len(seen.cards)} card(s)" + (f" of {'/'.join(map(str, memory))} MB" if memory else "")
    yield "driver", (driver.version if driver else None) or "-"
    yield "firmware", (firmware.package_version or firmware.version if firmware else None) or "-"
    yield "CANN", (cann.version if cann else None) or "-"
    yield "kernels", ", ".join(cann.active.kernels or ()) if cann and cann.active and cann.active.kernels else "-"
    yield "NNAL", (nnal.version if nnal else None) or "-"
    yield "system", f"{system.name or system.id} {system.kernel}" if system else "-"
    yield "machine", f"{machine.arch if machine else '-'}, {container.kind or 'no container' if container else '-'}"
    yield "Python", seen.python_version or "-"
    yield from ((name, seen.packages[name]) for name in SHOWN_PACKAGES if name in seen.packages)
    for name in sorted(seen.environment):
        if name.startswith(TELLING) and not _SECRET.search(name):
            yield name, seen.environment[name]


__all__ = ["machine_lines"]
