"""What identifies the software and the chip of a machine in the text that a user sends back, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from doctor import __version__
from doctor.facts import HostFacts, known
from doctor.facts.cann import Cann
from doctor.facts.driver import Driver
from doctor.facts.machine import OperatingSystem
from doctor.host import Host
from doctor.report.model import SHOWN_PACKAGES
from doctor.smoke.request import Seen


def machine_lines(host: Host, seen: Seen) -> Iterator[tuple[str, str]]:
    """(name, value)."""
    facts = HostFacts(host)
    driver, cann, system = known(facts.get(Driver)), known(facts.get(Cann)), known(facts.get(OperatingSystem))
    yield "ascend-doctor", __version__
    yield "chip", f"{seen.chip or '-'} ({seen.family or '-'}), {len(seen.cards)} card(s)"
    yield "driver", (driver.version if driver else None) or "-"
    yield "CANN", (cann.version if cann else None) or "-"
    yield "system", f"{system.name or system.id} {system.kernel}" if system else "-"
    yield from ((name, seen.packages[name]) for name in SHOWN_PACKAGES if name in seen.packages)


__all__ = ["machine_lines"]
