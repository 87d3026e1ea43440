"""Driver, firmware and the state of their installation, as files tell them; npu-smi's heading where a container has no file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.driver import (
    Driver,
    DriverInstall,
    Firmware,
    parse_driver_version,
    parse_firmware,
    parse_install_info,
    parse_key_values,
)
from doctor.host import Unavailable, Why

from .hosts import facts_of

VERSION = (
    "Version=25.0.rc1.1\nascendhal_version=7.35.23\nInnerversion=V100R001C21SPC002B220\n"
    "compatible_version=[V100R001C17],[V100R001C18]\ncompatible_version_fw=[7.0.0,7.7.99]\npackage_version=25.0.rc1.2\n"
)
INFO = "UserName=HwHiAiUser\nDriver_Install_Path_Param={root}\nDriver_Install_Status=complete\n"


def test_the_package_version_comes_before_the_version() -> None:
    assert parse_driver_version(VERSION, "f", 3) == Driver("25.0.rc1.2", "V100R001C21SPC002B220", "[7.0.0,7.7.99]", "f", 3)
    assert parse_driver_version("Version=24.1.rc1\n", "f") == Driver("24.1.rc1", source="f")


@pytest.mark.parametrize("text", ["", "Version=\n", "Version=unknown\n", "version_dir=8.5.0\n"])
def test_no_version_is_no_driver(text: str) -> None:
    assert parse_driver_version(text, "f") is None


def test_firmware() -> None:
    text = "Version=7.7.0.1.231\nfirmware_version=1.0\npackage_version=25.0.rc1.1\ncompatible_version_drv=[23.0.0,23.0.0.],[24.0,24.0.]\n"
    assert parse_firmware(text, "f") == Firmware("7.7.0.1.231", "25.0.rc1.1", "[23.0.0,23.0.0.],[24.0,24.0.]", "f")


def test_key_values_of_a_shell_file() -> None:
    assert parse_key_values('# x=1\nA="b c"\n  D = e\nnonsense\nA=last\n=x\n') == {"A": "last", "D": "e"}


def test_the_install_path_leads_to_the_version(tmp_path: Path) -> None:
    files = {"/etc/ascend_install.info": INFO.format(root="/opt/hw/"), "/opt/hw/driver/version.info": VERSION}
    facts = facts_of(tmp_path, files)
    driver, install, firmware = facts.get(Driver), facts.get(DriverInstall), facts.get(Firmware)
    assert isinstance(driver, Driver) and (driver.version, driver.source) == ("25.0.rc1.2", "/opt/hw/driver/version.info")
    assert isinstance(install, DriverInstall) and (install.root, install.version_file, install.info_kind) == ("/opt/hw", "file", "file")
    assert install.info is not None and install.info["Driver_Install_Status"] == "complete"
    assert isinstance(firmware, Unavailable) and firmware.why is Why.MISSING


@pytest.mark.parametrize("root", ["", "relative", "/", "/../../etc"])
def test_a_strange_install_path_is_not_followed(tmp_path: Path, root: str) -> None:
    install = facts_of(tmp_path, {"/etc/ascend_install.info": INFO.format(root=root)}).get(DriverInstall)
    assert isinstance(install, DriverInstall) and install.root == "/usr/local/Ascend"


def test_what_is_on_the_disk(tmp_path: Path) -> None:
    files = {
        "/usr/local/Ascend/driver/version.info/": "",
        "/etc/ascend_install.info/": "",
        "/usr/local/Ascend/driver/lib64/libascend_hal.so": "",
        "/usr/local/dcmi/libdcmi.so": "",
        "/usr/local/sbin/npu-smi": "",
        "/usr/local/Ascend/driver/tools/hccn_tool/": "",
    }
    install = facts_of(tmp_path, files).get(DriverInstall)
    assert install == DriverInstall(
        info=None,
        root="/usr/local/Ascend",
        version_file="folder",
        libraries={"libascend_hal.so": True, "libdrvdsmi_host.so": False, "libc_sec.so": False, "libdcmi.so": True},
        folder_exists=True,
        info_kind="folder",
        tools={"npu-smi": True, "hccn_tool": False},
        source="/etc/ascend_install.info, /usr/local/Ascend/driver",
    )


def test_nothing_installed_is_an_answer(tmp_path: Path) -> None:
    install = facts_of(tmp_path, {"/etc/os-release": "ID=x\n"}).get(DriverInstall)
    assert isinstance(install, DriverInstall)
    assert (install.info, install.version_file, install.folder_exists) == ({}, "missing", False)


def test_the_driver_by_npu_smi_in_a_container(tmp_path: Path) -> None:
    table = (Path(__file__).parent / "samples" / "hbm.txt").read_text(encoding="utf-8")
    driver = facts_of(tmp_path, {}, {"npu-smi info": table}).get(Driver)
    assert driver == Driver("25.0.rc1.2", source="npu-smi info")


@given(st.text() | st.text(alphabet='Version=package_\n"0123.rc', max_size=100))
def test_no_text_makes_a_parser_raise(text: str) -> None:
    parse_driver_version(text, "f")
    parse_firmware(text, "f")
    parse_install_info(text)
