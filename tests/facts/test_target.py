"""Targets and their packages: which interpreter counts, and what is installed there, without running it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts import HostFacts, providers
from doctor.facts.distributions import parse_metadata, parse_pip_list, parse_wheel_glibc
from doctor.facts.interpreter import is_version, parse_pyvenv_cfg
from doctor.facts.target import (
    ABI_CHECK,
    IMPORT_CHECK,
    AscendBuild,
    Environment,
    Imports,
    Packages,
    Target,
    TorchBuild,
    discover,
    parse_build_info,
    parse_torch_version,
)
from doctor.host import Output, Probe, Process, Unavailable, Why
from tests.facts.tree_host import TreeHost

PYTHON = "/opt/venv/bin/python3"
SITE = "/opt/venv/lib/python3.11/site-packages"
VENV = {PYTHON: "", "/opt/venv/pyvenv.cfg": "home = /usr/local/bin\nversion = 3.11.14\n", f"{SITE}/six.py": ""}
SYSTEM = {"/usr/bin/python3.10": "", "/usr/lib/python3/dist-packages/pip-22.0.2.dist-info/METADATA": ""}


def dist(name: str, site: str = SITE, metadata: str = "") -> dict[str, str]:
    return {f"{site}/{name}.dist-info/METADATA": metadata}


def packages(host: TreeHost) -> Packages:
    found = store(host).get(Packages)
    assert isinstance(found, Packages)
    return found


def store(host: TreeHost) -> HostFacts:
    return HostFacts(host, discover(host, PYTHON)[0])


# --- which interpreter


def test_active_virtual_environment() -> None:
    environment = {"VIRTUAL_ENV": "/opt/venv", "PATH": "/opt/venv/bin:/usr/bin", "HOME": "/root"}
    (target,) = discover(TreeHost(VENV, environments={0: environment}))
    assert (target.python, target.how, target.version, target.pid) == (PYTHON, "VIRTUAL_ENV", "3.11.14", None)
    assert target.site_packages == (SITE,)
    assert target.environment == environment


def test_conda_tells_its_version_in_its_records() -> None:
    conda = "/root/miniconda3/envs/vllm"
    files = {f"{conda}/bin/python3": "", f"{conda}/conda-meta/python-3.10.18-h9_0_cpython.json": "", f"{conda}/lib/python3.10/site-packages/x.py": ""}
    (target,) = discover(TreeHost(files, environments={0: {"CONDA_PREFIX": conda}}))
    assert (target.how, target.version, target.site_packages) == ("CONDA_PREFIX", "3.10.18", (f"{conda}/lib/python3.10/site-packages",))


def test_python_on_path_of_debian() -> None:
    local = "/usr/local/lib/python3.10/dist-packages"
    host = TreeHost({**SYSTEM, f"{local}/x.py": ""}, {"/usr/bin/python3": "python3.10"}, environments={0: {"PATH": "/bin:/usr/bin"}})
    (target,) = discover(host)
    assert (target.python, target.how, target.version) == ("/usr/bin/python3", "PATH", "3.10")
    assert target.site_packages == (local, "/usr/lib/python3/dist-packages")


def test_environment_without_vllm_gives_way_to_an_interpreter_that_has_it() -> None:
    image = "/usr/local/python3.11.14"
    files = {**VENV, f"{image}/bin/python3.11": "", **dist("vllm-0.18.0+empty", f"{image}/lib/python3.11/site-packages")}
    environment = {"VIRTUAL_ENV": "/opt/venv", "PATH": f"/opt/venv/bin:{image}/bin"}
    (target,) = discover(TreeHost(files, {f"{image}/bin/python3": "python3.11"}, environments={0: environment}))
    assert target.python == f"{image}/bin/python3"


def test_no_interpreter_no_target() -> None:
    assert discover(TreeHost(environments={0: {"PATH": "/usr/bin"}})) == ()
    assert discover(TreeHost()) == ()


def test_live_target_is_not_run_to_learn_about_it() -> None:
    host = TreeHost({**VENV, **dist("torch-2.9.0+cpu")}, environments={0: {"VIRTUAL_ENV": "/opt/venv"}})
    packages(host)
    assert isinstance(store(host).get(TorchBuild), TorchBuild)
    assert host.ran == []


def test_running_servers_come_first_and_their_children_belong_to_them() -> None:
    environment = {"ASCEND_HOME_PATH": "/usr/local/Ascend/cann", "PATH": "/usr/bin"}
    running = (
        Process(1, 0, "systemd", ("/sbin/init",)),
        Process(100, 1, "vllm", (PYTHON, "/opt/venv/bin/vllm", "serve", "/m")),
        Process(101, 100, "VLLM::EngineCor", ("VLLM::EngineCore_DP0",)),
        Process(102, 101, "VLLM::Worker_TP", ("VLLM::Worker_TP0",)),
        Process(200, 1, "python", ("python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "/m")),
    )
    host = TreeHost({**VENV, **SYSTEM}, {"/usr/bin/python3": "python3.10"}, running=running, environments={100: environment, 200: {"PATH": "/usr/bin"}})
    first, second = discover(host)
    assert (first.python, first.how, first.pid, first.environment) == (PYTHON, "process 100", 100, environment)
    assert (second.python, second.pid) == ("/usr/bin/python3", 200)
    assert [target.how for target in discover(host, "/data/bin/python")] == ["process 100", "process 200", "--python"]


def test_two_servers_of_one_interpreter_and_environment_are_one_target() -> None:
    running = tuple(Process(pid, 1, "vllm", (PYTHON, "/opt/venv/bin/vllm", "serve", "/m")) for pid in (7, 8))
    host = TreeHost(VENV, running=running, environments={7: {"HOME": "/root", "PWD": "/a"}, 8: {"HOME": "/root", "PWD": "/b"}})
    assert [target.pid for target in discover(host)] == [7]


def test_engine_of_a_script_takes_the_interpreter_of_its_parent() -> None:
    running = (Process(7, 1, "python3", (PYTHON, "run.py")), Process(8, 7, "VLLM::EngineCor", ("VLLM::EngineCore",), "/usr/bin/python3.11"))
    (target,) = discover(TreeHost(VENV, running=running, environments={8: {"A": "b"}}))
    assert (target.python, target.pid) == (PYTHON, 8)


def test_environment_that_may_not_be_read_is_not_an_empty_one() -> None:
    running = (Process(7, 1, "vllm", (PYTHON, "/opt/venv/bin/vllm", "serve", "/m")),)
    host = TreeHost(VENV, running=running)
    found = HostFacts(host, discover(host)[0]).get(Environment)
    assert isinstance(found, Unavailable) and found.why is Why.DENIED


# --- what is installed


def test_folder_names_tell_name_and_version_without_reading_metadata() -> None:
    host = TreeHost({**VENV, **dist("torch_npu-2.9.0.post1+git4c901a4", metadata="Name: other\n"), **dist("PyYAML-6.0.3")})
    found = packages(host)
    assert found.versions == {"torch-npu": "2.9.0.post1+git4c901a4", "pyyaml": "6.0.3"}
    assert found.python == "3.11.14" and found.complete and found.source == SITE
    assert not any(path.endswith("METADATA") for path in host.opened)


def test_eggs_links_and_editables() -> None:
    url = '{"dir_info": {"editable": true}, "url": "file:///src/vllm-ascend"}'
    files = {
        **VENV,
        f"{SITE}/decorator-5.1-py3.11.egg-info": "",
        f"{SITE}/odd.egg-info/PKG-INFO": "Metadata-Version: 2.1\nName: Odd_Name\nVersion: 1.0\n\nVersion: 9\n",
        f"{SITE}/vllm.egg-link": "/src/vllm\n.",
        "/src/vllm/vllm.egg-info/PKG-INFO": "Name: vllm\nVersion: 0.18.1.dev3\n",
        **dist("vllm_ascend-0.18.0"),
        f"{SITE}/vllm_ascend-0.18.0.dist-info/direct_url.json": url,
        "/src/vllm-ascend/vllm_ascend/_build_info.py": "__device_type__ = 'A2'\n",
    }
    host = TreeHost(files)
    found = packages(host)
    assert found.versions == {"decorator": "5.1", "odd-name": "1.0", "vllm": "0.18.1.dev3", "vllm-ascend": "0.18.0"}
    assert set(found.editable) == {"vllm", "vllm-ascend"}
    assert found.modules is not None and {"vllm", "vllm_ascend"} <= found.modules, "importable, though not in site-packages"
    build = store(host).get(AscendBuild)
    assert isinstance(build, AscendBuild) and build.device_type == "A2" and not build.extension


def test_leftovers_and_distributions_without_metadata_are_broken() -> None:
    found = packages(TreeHost({**VENV, f"{SITE}/~orch/x.py": "", f"{SITE}/numpy-1.26.4.dist-info/RECORD": "", **dist("torch-2.9.0"), **dist("torch-2.8.0")}))
    assert set(found.broken) == {"~orch", "numpy-1.26.4.dist-info"}
    assert "numpy" not in found.versions
    assert set(found.duplicates["torch"]) == {"2.8.0", "2.9.0"}


def test_order_of_sys_path_decides() -> None:
    extra = "/usr/local/Ascend/cann/python/site-packages"
    files = {**VENV, **dist("hccl-0.1", extra), **dist("numpy-2.0.0", extra), **dist("numpy-1.26.4")}
    environment = {"VIRTUAL_ENV": "/opt/venv", "PYTHONPATH": f"{extra}:/nowhere:relative"}
    host = TreeHost(files, environments={0: environment})
    assert packages(host).versions == {"hccl": "0.1", "numpy": "2.0.0"}


def test_system_packages_seen_by_the_environment_count() -> None:
    base = "/usr/local/lib/python3.11/site-packages"
    cfg = "home = /usr/local/bin\ninclude-system-site-packages = true\nversion_info = 3.11.9.final.0\n"
    found = packages(TreeHost({**VENV, "/opt/venv/pyvenv.cfg": cfg, **dist("torch-2.9.0", base), **dist("six-1", base.replace("3.11", "3.12"))}))
    assert found.versions == {"torch": "2.9.0"} and found.python == "3.11.9"


def test_modules() -> None:
    names = ("attr/__init__.py", "google/protobuf/__init__.py", "typing_extensions.py", "_cffi.so", "nobody_asks.py")
    found = packages(TreeHost({**VENV, **{f"{SITE}/{name}": "" for name in names}}))
    assert found.modules == frozenset({"attr", "google/protobuf", "typing_extensions"})


def test_recorded_pip_list_fills_what_the_disk_does_not_tell() -> None:
    argv = (PYTHON, "-m", "pip", "list")
    text = "Package    Version\n---------- -------\nsetuptools 59.6.0\ntorch      1.0\n"
    recorded = TreeHost({**VENV, **dist("torch-2.9.0")}, commands={argv: Output(argv, 0, text)}, live=False)
    assert packages(recorded).versions == {"setuptools": "59.6.0", "torch": "2.9.0"}


def test_no_site_packages_is_no_empty_list() -> None:
    assert isinstance(store(TreeHost({PYTHON: ""})).get(Packages), Unavailable)


# --- torch and vllm_ascend


@pytest.mark.parametrize(
    ("text", "soc", "device"),
    [
        ("# Auto-generated file\n__soc_version__ = 'ASCEND310P3'\n", "ascend310p3", None),
        ("# Auto-generated file\n__device_type__ = 'A5'\n", None, "A5"),
        ("__sleep_mode_enabled__ = True\n__soc_version__: str = \"ascend910b1\"", "ascend910b1", None),
        ("", None, None),
    ],
)
def test_build_info(text: str, soc: str | None, device: str | None) -> None:
    assert parse_build_info(text) == (soc, device)


def test_ascend_build() -> None:
    package = f"{SITE}/vllm_ascend"
    files = {
        f"{package}/__init__.py": "",
        f"{package}/vllm_ascend_C.cpython-311-aarch64-linux-gnu.so": "",
        f"{package}/_cann_ops_custom/vendors/custom_transformer/op_api/lib/libcust_opapi.so": "",
    }
    found = store(TreeHost({**VENV, **files})).get(AscendBuild)
    assert isinstance(found, AscendBuild)
    assert (found.soc, found.device_type, found.extension, found.custom_ops) == (None, None, True, True)
    assert found.files["_build_info.py"] is False
    assert isinstance(store(TreeHost(VENV)).get(AscendBuild), Unavailable)


@pytest.mark.parametrize(
    ("version", "text", "cuda"),
    [
        ("2.9.0+cpu", "", False),
        ("2.9.0+cu128", "", True),
        ("2.9.0", "", None),
        ("2.9.0", "__version__ = '2.9.0+cu128'\ncuda: Optional[str] = '12.8'\n", True),
        ("2.9.0", "__version__ = '2.9.0'\ncuda: Optional[str] = None\n", False),
    ],
)
def test_torch_for_cuda(version: str, text: str, cuda: bool | None) -> None:
    module = {f"{SITE}/torch/__init__.py": "", **({f"{SITE}/torch/version.py": text} if text else {})}
    found = store(TreeHost({**VENV, **dist(f"torch-{version}"), **module})).get(TorchBuild)
    assert isinstance(found, TorchBuild) and found.cuda is cuda


def test_abi_of_torch_is_read_from_its_build_configuration() -> None:
    cmake = {f"{SITE}/torch/share/cmake/Torch/TorchConfig.cmake": '  set(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI=0")\n'}
    told = store(TreeHost({**VENV, **dist("torch-2.9.0"), **cmake})).get(TorchBuild)
    assert isinstance(told, TorchBuild) and told.cxx11_abi is False and "TorchConfig.cmake" in told.source
    assumed = store(TreeHost({**VENV, **dist("torch-2.9.0")})).get(TorchBuild)
    assert isinstance(assumed, TorchBuild) and assumed.cxx11_abi is True and "2.7" in assumed.source
    old = store(TreeHost({**VENV, **dist("torch-2.5.1")})).get(TorchBuild)
    assert isinstance(old, TorchBuild) and old.cxx11_abi is None


def test_abi_of_torch_from_a_recording() -> None:
    argv = (PYTHON, "-c", ABI_CHECK)
    host = TreeHost({**VENV, **dist("torch-2.5.1")}, commands={argv: Output(argv, 0, "False\n")}, live=False)
    found = store(host).get(TorchBuild)
    assert isinstance(found, TorchBuild) and found.cxx11_abi is False


# --- the import check

TORCHES = {**VENV, **dist("torch-2.9.0+cpu"), **dist("torch_npu-2.9.0")}
ARGV = (PYTHON, "-c", IMPORT_CHECK)


@pytest.mark.parametrize(
    ("output", "ok", "count", "words"),
    [
        (Output(ARGV, 0, "a warning\n16\n"), True, 16, "a warning"),
        (Output(ARGV, 1, "", "ImportError: libascend_hal.so: cannot open shared object file\n"), False, None, "libascend_hal.so"),
        (Output(ARGV, -11, ""), False, None, "-11"),
        (Output(ARGV, 1, "8\n", "Traceback"), False, None, "Traceback"),
    ],
)
def test_import_check(output: Output, ok: bool, count: int | None, words: str) -> None:
    environment = {"VIRTUAL_ENV": "/opt/venv", "LD_LIBRARY_PATH": "/x"}
    host = TreeHost(TORCHES, commands={ARGV: output}, environments={0: environment}, live=False)
    found = store(host).get(Imports)
    assert isinstance(found, Imports)
    assert (found.ok, found.device_count) == (ok, count) and words in found.text


def test_a_running_machine_is_not_made_to_import() -> None:
    host = TreeHost(TORCHES, commands={ARGV: Output(ARGV, 0, "8")})
    assert isinstance(store(host).get(Imports), Unavailable)
    assert host.ran == []


def test_import_check_starts_nothing_in_vain() -> None:
    host = TreeHost({**VENV, **dist("torch-2.9.0+cpu")}, commands={ARGV: Output(ARGV, 0, "8")}, live=False)
    assert isinstance(store(host).get(Imports), Unavailable)
    assert ARGV not in host.ran
    assert providers()[Imports].probe is Probe.PROCESS


def test_import_check_without_an_answer_says_so() -> None:
    assert isinstance(store(TreeHost(TORCHES)).get(Imports), Unavailable)


# --- parsers


def test_metadata_is_the_header_only() -> None:
    assert parse_metadata("Metadata-Version: 2.1\nName: torch\nVersion: 2.9.0+cpu\n\nVersion: 1\n") == ("torch", "2.9.0+cpu")
    assert parse_metadata("\n\nName: x") == (None, None)


def test_the_glibc_of_a_wheel_is_the_oldest_that_its_tags_accept() -> None:
    tags = "Wheel-Version: 1.0\nTag: cp311-cp311-manylinux_2_34_aarch64\nTag: cp311-cp311-manylinux_2_24_aarch64\n"
    assert parse_wheel_glibc(tags) == "2.24"
    assert parse_wheel_glibc("Tag: cp311-cp311-linux_aarch64\n") is None


def test_pip_list_and_freeze() -> None:
    text = "Package   Version Editable project location\n--------- ------- ---\nvllm_ascend 0.18.0 /src/vllm-ascend\ntorch==2.9.0+cpu\n-e git+x\n"
    assert parse_pip_list(text) == {"vllm-ascend": "0.18.0", "torch": "2.9.0+cpu"}


@pytest.mark.parametrize(
    "parse", [parse_metadata, parse_wheel_glibc, parse_pip_list, parse_pyvenv_cfg, is_version, parse_build_info, parse_torch_version]
)
@given(text=st.text() | st.text(alphabet="NameVersion: =.0123'\"\n_abc"))
def test_no_text_breaks_a_parser(parse: Callable[[str], object], text: str) -> None:
    parse(text)


@given(st.dictionaries(st.sampled_from(["PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "HOME", "PYTHONPATH", "ASCEND_HOME_PATH"]), st.text()))
def test_no_environment_breaks_discovery(environment: dict[str, str]) -> None:
    assert all(isinstance(target, Target) for target in discover(TreeHost(VENV, environments={0: environment})))
