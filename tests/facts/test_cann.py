"""CANN and NNAL: every layout is found once, with its version; what is in use is told and why."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts import HostFacts
from doctor.facts.cann import Cann, CannLibraryPath, CustomOps, Nnal, NnalSearch
from doctor.facts.cann_files import (
    is_prerelease,
    kernel_folder,
    parse_install_info,
    parse_nnal_version,
    parse_version_cfg,
    parse_version_info,
    version_in_name,
)
from doctor.facts.target import Target
from doctor.host import Unavailable, Why
from tests.facts.tree_host import TreeHost

A = "/usr/local/Ascend"
OLD = f"{A}/ascend-toolkit/8.3.RC2"
NEW = f"{A}/cann-9.1.0"
KERNEL = "opp/built-in/op_impl/ai_core/tbe/kernel"

OLD_FILES = {
    f"{OLD}/x86_64-linux/ascend_toolkit_install.info": "package_name=Ascend-cann-toolkit\nversion=8.3.RC2\ninnerversion=V100R001C23SPC002B210\n"
    "compatible_version=[V100R001C15],[V100R001C23]\narch=x86_64\n",
    f"{OLD}/version.cfg": "# version: 1.0\nruntime_running_version=[7.8.0.1.220:8.3.RC2]\nopp_kernel_running_version=[7.8.0.1.220:8.3.RC1]\n",
    f"{OLD}/opp_kernel/version.info": "Version=7.8.0.1.220\nversion_dir=8.3.RC1\n",
    f"{OLD}/{KERNEL}/ascend910b/add/Add_1.o": "",
    f"{OLD}/{KERNEL}/ascend310p/readme.txt": "",
    f"{OLD}/lib64/libascendcl.so": "",
}
NEW_FILES = {
    f"{NEW}/aarch64-linux/ascend_toolkit_install.info": "version=9.1.0\narch=aarch64\n",
    f"{NEW}/aarch64-linux/ascend_ops_install.info": "package_name=Ascend-cann-950-ops\nversion=9.1.0\n",
    f"{NEW}/share/info/runtime/version.info": "Version=9.1.0.1.220\nversion_dir=9.1.0\n",
    f"{NEW}/aarch64-linux/lib64/libhccl.so": "",
}


def facts(host: TreeHost, environment: dict[str, str] | None = None) -> HostFacts:
    return HostFacts(host, Target("/opt/venv/bin/python3", "VIRTUAL_ENV", environment or {"HOME": "/root"}))


def cann(host: TreeHost, environment: dict[str, str] | None = None) -> Cann:
    found = facts(host, environment).get(Cann)
    assert isinstance(found, Cann)
    return found


def test_old_layout_with_a_kernel_package_of_another_version() -> None:
    found = cann(TreeHost(OLD_FILES, {f"{A}/ascend-toolkit/latest": "8.3.RC2"}))
    assert [install.path for install in found.installs] == [OLD]
    install = found.installs[0]
    assert (install.version, install.layout, install.arch, install.inner_version) == ("8.3.RC2", "old", "x86_64", "V100R001C23SPC002B210")
    assert install.compatible_versions == ("V100R001C15", "V100R001C23")
    assert install.component_versions == {"runtime": "8.3.RC2", "opp_kernel": "8.3.RC1"}
    assert install.kernels == ("ascend910b",), "a folder without binaries does not count"
    assert install.kernels_version == "8.3.RC1"
    assert install.libraries == {"libascendcl.so": True, "libhccl.so": False, "libopapi.so": False}
    assert found.active is install and found.active_by == "link"


def test_latest_may_be_a_folder_of_links() -> None:
    latest = f"{A}/ascend-toolkit/latest"
    files = {path: text for path, text in OLD_FILES.items() if not path.endswith("version.cfg")}
    host = TreeHost({**files, f"{latest}/version.cfg": OLD_FILES[f"{OLD}/version.cfg"]}, {f"{latest}/opp": "../8.3.RC2/opp"})
    found = cann(host, {"ASCEND_HOME_PATH": latest})
    assert [install.path for install in found.installs] == [OLD]
    assert found.installs[0].component_versions["runtime"] == "8.3.RC2", "version.cfg lies beside the links only"
    assert found.active_by == "environment"


def test_new_layout_takes_chip_and_version_from_the_operator_package() -> None:
    found = cann(TreeHost(NEW_FILES, {f"{A}/cann": "cann-9.1.0", f"{A}/ascend-toolkit/latest": "../cann"}))
    install = found.installs[0]
    assert len(found.installs) == 1 and install.path == NEW
    assert (install.version, install.layout, install.kernels, install.kernels_version) == ("9.1.0", "new", ("ascend950",), "9.1.0")
    assert install.compatible_versions is None and install.inner_version is None
    assert install.libraries["libhccl.so"] is True


def test_emptied_kernel_folder_counts_as_absent_even_if_its_package_is_recorded() -> None:
    found = cann(TreeHost({**NEW_FILES, f"{NEW}/{KERNEL}/ascend950/leftover.txt": ""}))
    assert found.installs[0].kernels == ()


@pytest.mark.parametrize(
    ("environment", "path", "by"),
    [
        ({"ASCEND_HOME_PATH": f"{A}/cann"}, NEW, "environment"),
        ({"ASCEND_TOOLKIT_HOME": OLD}, OLD, "environment"),
        ({"ASCEND_OPP_PATH": f"{NEW}/opp/"}, NEW, "environment"),
        ({"LD_LIBRARY_PATH": f"/usr/lib:{A}/cann/lib64"}, NEW, "environment"),
        ({"ASCEND_HOME_PATH": f"{A}/cann-8.0.0"}, OLD, "link"),
        ({}, OLD, "link"),
    ],
)
def test_which_of_two_toolkits_counts(environment: dict[str, str], path: str, by: str) -> None:
    files = {**OLD_FILES, **NEW_FILES, f"{NEW}/lib64/libascendcl.so": ""}
    host = TreeHost(files, {f"{A}/ascend-toolkit/latest": "8.3.RC2", f"{A}/cann": "cann-9.1.0"})
    found = cann(host, {"HOME": "/root", **environment})
    assert len(found.installs) == 2
    assert found.active is not None and (found.active.path, found.active_by) == (path, by)


def test_two_toolkits_that_nothing_points_to_leave_it_open() -> None:
    found = cann(TreeHost({**OLD_FILES, **NEW_FILES}))
    assert found.active is None and found.version is None and len(found.installs) == 2


def test_toolkit_in_a_home_and_in_a_place_only_the_environment_knows() -> None:
    info = "aarch64-linux/ascend_toolkit_install.info"
    host = TreeHost({f"/home/ma/Ascend/cann-8.5.1/{info}": "version=8.5.1\n", f"/data/cann/{info}": "version=9.0.0\n"})
    found = cann(host, {"ASCEND_HOME_PATH": "/data/cann"})
    assert {install.version for install in found.installs} == {"8.5.1", "9.0.0"}
    assert found.version == "9.0.0"


def test_version_of_last_resort_is_the_folder_name() -> None:
    found = cann(TreeHost({f"{A}/cann-8.5.0/lib64/libascendcl.so": "", f"{A}/ascend-toolkit/set_env.sh": ""}))
    assert found.version == "8.5.0" and found.active_by == "only one"


def test_nothing_installed_is_an_answer_and_a_refusal_is_not() -> None:
    assert cann(TreeHost()).installs == ()
    refused = facts(TreeHost(denied=frozenset({A, "/root/Ascend", "/home/*/Ascend"}))).get(Cann)
    assert isinstance(refused, Unavailable) and refused.why is Why.DENIED


NNAL = {
    f"{A}/nnal/atb/9.1.0/version.info": "Ascend-cann-atb : 9.1.0\nAscend-cann-atb Version : 9.1.0.B150\nbranch : x\n",
    f"{A}/nnal/atb/9.1.0/atb/cxx_abi_0/lib/libatb.so": "",
    f"{A}/nnal/atb/9.1.0/atb/cxx_abi_1/lib/libatb.so": "",
}


def test_nnal() -> None:
    found = facts(TreeHost(NNAL, {f"{A}/nnal/atb/latest": "9.1.0"})).get(Nnal)
    assert isinstance(found, Nnal)
    assert (found.path, found.version, found.abis) == (f"{A}/nnal/atb/9.1.0", "9.1.0", (0, 1))


def test_nnal_of_the_environment_comes_before_the_link() -> None:
    own = "/data/nnal/atb/8.5.1"
    host = TreeHost({**NNAL, f"{own}/atb/cxx_abi_1/lib/libatb.so": ""})
    found = facts(host, {"ATB_HOME_PATH": f"{own}/atb/cxx_abi_1"}).get(Nnal)
    assert isinstance(found, Nnal) and (found.version, found.abis) == ("8.5.1", (1,))


def test_no_nnal() -> None:
    store = facts(TreeHost())
    search = store.get(NnalSearch)
    assert isinstance(search, NnalSearch) and search.found is None and f"{A}/nnal/atb/latest" in search.looked_at
    assert isinstance(store.get(Nnal), Unavailable)


def test_library_path() -> None:
    host = TreeHost({**OLD_FILES, f"{NEW}/devlib/libascendcl.so": "", f"{OLD}/devlib/libascendcl.so": ""})
    entries = [f"{NEW}/devlib", f"{OLD}/lib64", f"{OLD}/lib64/plugin/nnengine", f"{OLD}/devlib", f"{A}/cann-8.0.0/lib64", f"{A}/driver/lib64", "/nowhere"]
    found = facts(host, {"LD_LIBRARY_PATH": ":".join(entries), "ASCEND_HOME_PATH": OLD, "ASCEND_OPP_PATH": f"{OLD}/gone"}).get(CannLibraryPath)
    assert isinstance(found, CannLibraryPath)
    assert (found.home, found.opp, found.atb_home) == (OLD, f"{OLD}/gone", None)
    assert found.missing == (f"{OLD}/gone", f"{A}/cann-8.0.0/lib64"), "a part that is not installed is not a stale environment"
    assert found.stub == (f"{NEW}/devlib",), "behind the real library a stub does no harm"


def test_library_path_needs_the_environment() -> None:
    store = HostFacts(TreeHost(), Target("/usr/bin/python3", "process 7"))
    assert isinstance(store.get(CannLibraryPath), Unavailable)


def test_custom_operators_in_the_order_of_their_priority() -> None:
    vendors = f"{OLD}/opp/vendors"
    files = {f"{vendors}/{name}/op_api/lib/libcust_opapi.so": "" for name in ("a", "b", "secret")}
    host = TreeHost(
        {**OLD_FILES, **files, f"{vendors}/config.ini": "load_priority=b,a\n", "/data/vendors/mine/version.info": ""},
        denied=frozenset({f"{vendors}/secret"}),
    )
    found = facts(host, {"ASCEND_OPP_PATH": f"{OLD}/opp", "ASCEND_CUSTOM_OPP_PATH": "/data/vendors/mine:/data/vendors/gone"}).get(CustomOps)
    assert isinstance(found, CustomOps)
    assert found.vendors == ("mine", "b", "a", "secret")
    assert found.unreadable == (f"{vendors}/secret",)


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("8.3.RC2", False), ("8.5.0", False), ("8.2.RC1.SPC1", False), ("5.1.RC1.1", False),
        ("8.5.0-beta.1", True), ("8.0.0.beta1", True), ("8.0.RC3.alpha003", True), ("9.2.0_20260930220649", True), ("8.0.T63", True),
    ],
)  # fmt: skip
def test_prerelease(version: str, expected: bool) -> None:
    assert is_prerelease(version) is expected


@pytest.mark.parametrize(
    ("package", "folder"),
    [
        ("Ascend-cann-950-ops", "ascend950"), ("Ascend-cann-A3-ops", "ascend910_93"), ("ops_910b", "ascend910b"),
        ("Ascend-cann-kernels-310p", "ascend310p"), ("Atlas-A3-cann-kernels", "ascend910_93"), ("Ascend-cann-kernels-910", "ascend910"),
        ("Ascend-cann-toolkit", None),
    ],
)  # fmt: skip
def test_kernel_folder(package: str, folder: str | None) -> None:
    assert kernel_folder(package) == folder


def test_version_files() -> None:
    assert parse_version_cfg("opp_running_version=[7.6.T13.0.B094:8.0.T63]\nopp_installed_version=[x:9]") == {"opp": "8.0.T63"}
    assert parse_version_info("Version=8.5.0.2.220\r\nversion_dir=8.5.0\r\n")["version_dir"] == "8.5.0"
    assert parse_nnal_version("Ascend-cann-atb Version : 9.1.0.B150\n") == "9.1.0"
    assert version_in_name("cann-8.5.1") == "8.5.1" and version_in_name("latest") is None


@pytest.mark.parametrize(
    "parse", [parse_install_info, parse_version_cfg, parse_version_info, parse_nnal_version, kernel_folder, is_prerelease, version_in_name]
)
@given(text=st.text() | st.text(alphabet="Ascend-cann atb:=[]_.0987\nversion"))
def test_no_text_breaks_a_parser(parse: Callable[[str], object], text: str) -> None:
    parse(text)
