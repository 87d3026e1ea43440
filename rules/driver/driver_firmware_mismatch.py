"""Driver against firmware: by what npu-smi says, and by the range that the driver's version.info names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.driver import Driver, Firmware
from doctor.facts.npu import NpuDetail
from doctor.finding import Evidence, Hit, Skip


def judge(driver: Driver | None, firmware: Firmware | None, detail: NpuDetail | None) -> Iterator[Hit]:
    answers = {} if detail is None else {npu: answer.upper() for npu, answer in detail.compatibility.items()}
    ranged = None if driver is None or firmware is None else _within(firmware.version, driver.compatible_firmware or "")
    if ranged is None and not {"OK", "NOK"} & set(answers.values()):
        raise Skip("neither npu-smi nor the driver's version.info tells which firmware fits")
    bad = sorted(npu for npu, answer in answers.items() if answer == "NOK")
    if bad and detail is not None:
        told = f"Compatibility NOK on NPU {', '.join(map(str, bad))}"
        yield Hit(found=told, wanted="Compatibility OK", evidence=(Evidence(detail.source, told),))
    elif ranged is False and driver is not None and firmware is not None:
        yield Hit(
            found=f"firmware {firmware.version} with driver {driver.version}",
            wanted=f"firmware within {driver.compatible_firmware}",
            evidence=(Evidence(firmware.source, f"Version={firmware.version}"), Evidence(driver.source, f"compatible_version_fw={driver.compatible_firmware}")),
        )


def _within(version: str, span: str) -> bool | None:
    """Whether "7.7.0.1.231" lies in "[7.0.0,7.7.99]"; the parts beyond a bound's own do not count."""
    bounds = re.fullmatch(r"\[([\d.]+),([\d.]+)\]", span.replace(" ", ""))
    found = _numbers(version)
    if bounds is None or not found:
        return None
    low, high = _numbers(bounds[1]), _numbers(bounds[2])
    return low <= found[: len(low)] and found[: len(high)] <= high


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isascii() and part.isdecimal() and len(part) < 10)
