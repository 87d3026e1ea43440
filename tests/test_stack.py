"""The stack: what fits is said to fit, what differs is named, and the first way is the one a careful engineer would take."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from doctor import compat
from doctor.facts import FixedFacts
from doctor.facts.cann import Cann, CannInstall, Nnal, NnalSearch
from doctor.facts.driver import Driver
from doctor.facts.machine import Machine, OperatingSystem
from doctor.facts.npu import Chip, Npus
from doctor.facts.target import Packages, Target
from doctor.stack import Change, How, Installed, Stack, commands, judge_stack, render_stack, stack_json

HOST = Installed(
    python="3.11.9", glibc="2.35", arch="aarch64", family="a2", chip="910B3", hdk="25.5.2", os="openEuler 22.03 (LTS-SP4)", complete=True
)
GOOD = replace(
    HOST, vllm_ascend="0.18.0", vllm="0.18.0+empty", torch="2.9.0+cpu", torch_npu="2.9.0.post1+git4c901a4", triton_ascend="3.2.0", cann="8.5.1", nnal="8.5.1"
)


def changed(changes: tuple[Change, ...]) -> dict[str, tuple[str | None, str, How]]:
    return {change.component: (change.current, change.wanted, change.how) for change in changes}


def test_what_fits_needs_nothing() -> None:
    stack = judge_stack(GOOD)
    assert stack.consistent is True and stack.mismatches == ()
    assert stack.ways[0].release.version == "0.18.0" and stack.ways[0].changes == () and commands(GOOD, stack.ways[0]) == ()
    assert "fits together" in render_stack(stack, "en") and "配套" in render_stack(stack, "zh")


@pytest.mark.parametrize("row", [row for row in compat.releases() if row.chips], ids=lambda row: row.version)
def test_every_release_as_it_was_built_is_consistent(row: compat.Release) -> None:
    built = Installed(
        vllm_ascend=row.version, vllm=row.vllm, torch=row.torch, torch_npu=row.torch_npu, triton_ascend=row.triton_ascend, cann=row.cann,
        nnal=row.cann, hdk="26.2.RC1", python="3.11.1", glibc="2.39", arch="aarch64", family="a2", chip="910B4", complete=True,
    )  # fmt: skip
    stack = judge_stack(built)
    assert stack.consistent is True, stack.mismatches
    assert stack.ways[0].release is row


def test_a_wrong_vllm_is_named_and_the_maintained_release_is_preferred() -> None:
    stack = judge_stack(replace(GOOD, vllm="0.17.1"))
    assert stack.consistent is False
    assert changed(stack.mismatches) == {"vllm": ("0.17.1", "0.18.0", How.PIP)}
    assert changed(stack.ways[0].changes) == changed(stack.mismatches)


def test_an_rc_moves_to_the_maintained_release_that_needs_only_packages() -> None:
    stack = judge_stack(replace(GOOD, vllm_ascend="0.17.0rc1", vllm="0.18.0"))
    first = stack.ways[0]
    assert first.release.version == "0.18.0" and changed(first.changes) == {"vllm-ascend": ("0.17.0rc1", "0.18.0", How.PIP)}
    assert any(way.release.version == "0.17.0rc1" for way in stack.ways), "the installed line is always among the ways"


def test_an_unknown_release_is_unknown_not_wrong() -> None:
    stack = judge_stack(replace(GOOD, vllm_ascend="0.12.0rc2"))
    assert stack.consistent is None and stack.mismatches == ()
    assert stack.nearest is not None and stack.nearest.version == "0.12.0rc1"
    assert "unknown, not wrong" in render_stack(stack, "en")


def test_a_driver_below_the_minimum_is_shown_never_changed() -> None:
    too_old = replace(
        GOOD, vllm_ascend="0.23.0", vllm="0.23.0", torch="2.10.0", torch_npu="2.10.0.post4", triton_ascend="3.2.2", cann="9.1.0", nnal="9.1.0",
        hdk="25.0.rc1.1",
    )  # fmt: skip
    stack = judge_stack(too_old)
    assert changed(stack.mismatches) == {"driver": ("25.0.rc1.1", ">=25.2.0", How.DRIVER)}
    first = stack.ways[0]
    assert all(change.how is not How.DRIVER for change in first.changes), "a way without a driver change comes first"
    assert compat.line(first.cann) in ("8.5", "9.0")
    reasons = {why.en: rows for why, rows in stack.impossible}
    assert reasons["CANN 9.1 needs driver (HDK) >=25.2.0, 25.0.rc1.1 is installed"][0] == "0.23.0"
    assert not any("driver" in command for way in stack.ways for command in commands(too_old, way))


def test_drivers_of_the_950_products_are_not_compared_with_the_others() -> None:
    installed = replace(HOST, family="950", chip="Ascend950PR", hdk="25.1.rc2", vllm_ascend="0.23.0", vllm="0.23.0", cann="9.1.0")
    stack = judge_stack(installed)
    assert "driver" not in changed(stack.mismatches) and not any("driver" in why.en for why, _ in stack.impossible)


def test_an_unsupported_chip_has_no_way_and_says_why() -> None:
    stack = judge_stack(replace(HOST, family="a1", chip="910B"))
    assert stack.ways == ()
    ((reason, rows),) = stack.impossible
    assert "910B" in reason.en and len(rows) == len(compat.releases())
    assert "No known release" in render_stack(stack, "en")


def test_a_310p_has_no_triton() -> None:
    stack = judge_stack(replace(GOOD, family="310p", chip="310P3"))
    assert changed(stack.mismatches) == {"triton-ascend": ("3.2.0", "", How.REMOVE)}
    assert commands(stack.installed, stack.ways[0]) == ("python3 -m pip uninstall -y triton-ascend",)
    fresh = judge_stack(replace(HOST, family="310p", chip="310P3"))
    assert not any("triton-ascend==" in command for way in fresh.ways for command in commands(fresh.installed, way))


def test_upstream_triton_has_to_go_and_its_twin_to_be_put_back() -> None:
    stack = judge_stack(replace(GOOD, triton="3.5.0"))
    assert changed(stack.mismatches) == {"triton": ("3.5.0", "", How.REMOVE)}
    assert commands(stack.installed, stack.ways[0]) == (
        "python3 -m pip uninstall -y triton",
        "python3 -m pip install --force-reinstall --no-deps triton-ascend==3.2.0",
    )


def test_a_new_machine_gets_the_newest_maintained_stable_release_with_a_wheel() -> None:
    first = judge_stack(HOST).ways[0]
    assert first.release.version == "0.23.0" and first.release.stable
    lines = commands(HOST, first)
    assert "bash Ascend-cann-910b-ops_9.1.0_linux-aarch64.run --install" in lines
    assert any("--extra-index-url https://mirrors.huaweicloud.com/ascend/repos/pypi" in line and "triton-ascend==3.2.2" in line for line in lines)
    assert first.image == "quay.io/ascend/vllm-ascend:v0.23.0"


def test_an_old_c_library_or_python_makes_a_release_costlier() -> None:
    stack = judge_stack(replace(HOST, glibc="2.31", python="3.12.1", cann="9.1.0"))
    first = stack.ways[0]
    assert changed(first.changes)["vllm-ascend"][2] is How.BUILD and "python" not in changed(first.changes)
    assert any("--no-build-isolation" in line for line in commands(stack.installed, first))
    old_python = judge_stack(replace(GOOD, python="3.12.1"))
    assert changed(old_python.mismatches) == {"python": ("3.12.1", ">=3.10,<3.12", How.PYTHON)}


def test_changing_cann_costs_more_than_packages_and_takes_nnal_along() -> None:
    stack = judge_stack(replace(GOOD, cann="8.3.RC2", nnal="8.3.RC2"))
    first = stack.ways[0]
    assert first.release.version == "0.11.0" and all(change.how in (How.PIP, How.REMOVE) for change in first.changes)
    assert {"cann", "nnal"} <= set(changed(stack.mismatches))


def test_what_is_not_known_is_not_a_change() -> None:
    stack = judge_stack(Installed(vllm_ascend="0.18.0", vllm="0.18.0"))
    assert stack.consistent is None and stack.mismatches == ()
    assert "torch-npu" in stack.unknown and "driver" in stack.unknown
    nothing = judge_stack(Installed())
    assert nothing.ways and any("vllm-ascend==" in line for line in commands(nothing.installed, nothing.ways[0]))


def test_installed_is_read_from_facts() -> None:
    install = CannInstall(path="/usr/local/Ascend/cann-8.5.1", version="8.5.1")
    facts = FixedFacts(
        Packages({"vllm-ascend": "0.18.0", "vllm": "0.18.0", "torch-npu": "2.9.0", "triton": "3.5.0"}, python="3.11.2"),
        Target(python="/opt/venv/bin/python", how="PATH", version="3.11.4"),
        Cann((install,), install),
        NnalSearch(Nnal("/usr/local/Ascend/nnal/atb", "8.5.1")),
        Driver("25.5.2"),
        OperatingSystem(id="openeuler", name="openEuler 24.03", glibc="2.38"),
        Machine(arch="aarch64"),
        Chip("a3", "Ascend910"),
    )
    assert Installed.from_facts(facts) == Installed(
        vllm_ascend="0.18.0", vllm="0.18.0", torch_npu="2.9.0", triton="3.5.0", cann="8.5.1", nnal="8.5.1", hdk="25.5.2", python="3.11.4",
        glibc="2.38", os="openEuler 24.03", arch="aarch64", family="a3", chip="Ascend910", interpreter="/opt/venv/bin/python", complete=True,
    )  # fmt: skip
    assert Installed.from_facts(FixedFacts()) == Installed()
    assert Installed.from_facts(FixedFacts(Npus((), driver_version="25.0.rc1"))).hdk == "25.0.rc1"


HOSTILE = "1.0\x1b[31m\n[/nope]\u202e" + "9" * 5000


@pytest.mark.parametrize("name", [name for name in Installed.__dataclass_fields__ if name != "complete"])
def test_garbage_from_the_machine_neither_breaks_nor_leaks(name: str) -> None:
    stack: Stack = judge_stack(replace(GOOD, **{name: HOSTILE}))  # type: ignore[arg-type]
    for text in (render_stack(stack, "en"), render_stack(stack, "zh"), json.dumps(stack_json(stack))):
        assert "\x1b" not in text and "\u202e" not in text and "9" * 200 not in text


def test_the_interpreter_is_quoted() -> None:
    stack = judge_stack(replace(GOOD, vllm="0.17.0", interpreter="/opt/my env/bin/python; rm -rf /"))
    assert commands(stack.installed, stack.ways[0])[0].startswith("'/opt/my env/bin/python; rm -rf /' -m pip install")


def test_json_is_plain_and_says_what_the_text_says() -> None:
    stack = judge_stack(replace(GOOD, vllm="0.17.0"))
    answer = json.loads(json.dumps(stack_json(stack)))
    assert answer["consistent"] is False and answer["release"] == "0.18.0"
    assert answer["mismatches"] == [{"component": "vllm", "from": "0.17.0", "to": "0.18.0", "how": "pip"}]
    assert answer["ways"][0]["commands"] == list(commands(stack.installed, stack.ways[0]))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", answer["table"])


def test_both_languages_say_everything() -> None:
    chinese = render_stack(judge_stack(replace(GOOD, vllm="0.17.0", hdk="24.1.rc1")), "zh")
    for word in ("Installed", "release", "needs", "maintained", "the image", "Table"):
        assert word not in chinese
