"""What each profile looks at, and that looking less never finds more."""

from __future__ import annotations

from pathlib import Path

import pytest

from doctor.examine import Selection, examine_host
from doctor.host import Unavailable, Why
from doctor.host.profiles import limited
from doctor.host.recorded import open_host
from doctor.rulebook import load

HOSTS = sorted(path for path in (Path(__file__).parents[2] / "fixtures" / "hosts").iterdir() if path.is_dir())


def found(folder: Path, profile: str) -> set[str]:
    examination = examine_host(limited(open_host(folder), profile), load(), Selection())
    return {finding.rule for verdict in examination.verdicts for finding in verdict.findings}


@pytest.mark.parametrize("folder", HOSTS, ids=lambda path: path.name)
@pytest.mark.parametrize("profile", ["quick", "ci-image"])
def test_looking_less_never_finds_more(folder: Path, profile: str) -> None:
    assert found(folder, profile) <= found(folder, "standard")


def test_an_image_is_judged_for_what_is_in_it() -> None:
    article = next(path for path in HOSTS if path.name == "followed-the-article")
    kept = found(article, "ci-image")
    assert {"serving-device-ascend", "serving-flag-ascend-opt", "cann-older-than-row"} <= kept
    assert not any(rule.startswith(("driver-", "host-", "npu-")) for rule in kept)


def test_quick_starts_nothing_and_says_so() -> None:
    host = limited(open_host(HOSTS[0]), "quick")
    answer = host.run(["npu-smi", "info"])
    assert isinstance(answer, Unavailable) and answer.why in (Why.LEFT_OUT, Why.MISSING)
    assert "--profile quick" in str(answer)


def test_an_image_has_no_devices() -> None:
    host = limited(open_host(HOSTS[0]), "ci-image")
    for answer in (host.list("/dev/davinci*"), host.read("/proc/sys/vm/swappiness"), host.stat("/usr/local/Ascend/driver"), host.run(["npu-smi", "info"])):
        assert isinstance(answer, Unavailable) and answer.why is Why.LEFT_OUT


def test_standard_is_the_host_itself() -> None:
    host = open_host(HOSTS[0])
    assert limited(host, "standard") is host
