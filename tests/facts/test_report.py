"""What a pasted text tells: each fact in the forms in which people and programs write it, and what must not be taken for a fact."""

from __future__ import annotations

from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.facts import FixedFacts, known
from doctor.facts.cann import Cann, NnalSearch
from doctor.facts.container import Container, RunCommands
from doctor.facts.driver import Driver, Firmware
from doctor.facts.kernel import Sysctls, TransparentHugePages
from doctor.facts.machine import Disks, Machine, Memory, OperatingSystem
from doctor.facts.npu import Chip, NpuPresence, Npus
from doctor.facts.report import report_facts
from doctor.facts.report_text import text_of
from doctor.facts.target import Environment, Packages, TorchBuild
from doctor.facts.vllm import ServeCommands

T = TypeVar("T")


def facts(text: str, source: str = "report.txt") -> FixedFacts:
    return report_facts([(source, number, line) for number, line in enumerate(text.split("\n"), start=1)])


def fact(kind: type[T], text: str) -> T:
    found = known(facts(text).get(kind))
    assert found is not None, f"{kind.__name__} was not found"
    return found


def absent(kind: type[object], text: str) -> bool:
    return known(facts(text).get(kind)) is None


COLLECT_ENV = """\
Collecting environment information...
PyTorch version: 2.5.1
Is debug build: False

OS: Ubuntu 22.04.5 LTS (aarch64)
GCC version: (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0
CMake version: version 3.31.6
Libc version: glibc-2.35

Python version: 3.10 (64-bit runtime)
Python platform: Linux-5.10.0-60.18.0.50.r865_35.hce2.aarch64-aarch64-with-glibc2.35

CPU:
Architecture:                    aarch64
CPU(s):                          192
Vendor ID:                       HiSilicon
Model name:                      Kunpeng-920
Socket(s):                       4
Flags:                           fp asimd evtstrm

Versions of relevant libraries:
[pip3] numpy==1.26.4
[pip3] torch==2.5.1
[pip3] torch-npu==2.5.1.dev20250218
[conda] Could not collect
vLLM Version: 0.7.1
vLLM Ascend Version: 0.7.1rc1 (git sha: 1234567)

ENV Variables:
ATB_HOME_PATH=/usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_0
ASCEND_TOOLKIT_HOME=/usr/local/Ascend/ascend-toolkit/latest
LD_LIBRARY_PATH=/usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_0/lib:/usr/local/lib:
PYTORCH_NPU_ALLOC_CONF=expandable_segments:True

NPU:
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc3                 Version: 24.1.rc3                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 93.1        36                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3400 / 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| No running processes found in NPU 0                                                            |
+===========================+===============+====================================================+

CANN:
package_name=Ascend-cann-toolkit
version=8.0.0
innerversion=V100R001C20SPC001B251
compatible_version=[V100R001C15],[V100R001C18]
arch=aarch64
os=linux
path=/usr/local/Ascend/ascend-toolkit/8.0.0/aarch64-linux
"""


class TestCollectEnv:
    def test_packages_with_their_lines(self) -> None:
        packages = fact(Packages, COLLECT_ENV)
        assert packages.versions["torch"] == "2.5.1"
        assert packages.versions["torch-npu"] == "2.5.1.dev20250218"
        assert packages.versions["vllm"] == "0.7.1"
        assert packages.versions["vllm-ascend"] == "0.7.1rc1"
        assert packages.python == "3.10"
        assert not packages.complete
        assert COLLECT_ENV.split("\n")[packages.lines["torch-npu"] - 1].startswith("[pip3] torch-npu")

    def test_machine_and_system(self) -> None:
        machine, system = fact(Machine, COLLECT_ENV), fact(OperatingSystem, COLLECT_ENV)
        assert (machine.arch, machine.cpu_vendor, machine.cpus, machine.sockets) == ("aarch64", "Kunpeng", 192, 4)
        assert machine.cpu_flags == frozenset({"fp", "asimd", "evtstrm"})
        assert (system.id, system.version_id, system.name, system.glibc) == ("ubuntu", "22.04.5", "Ubuntu 22.04.5 LTS", "2.35")
        assert system.kernel == "5.10.0-60.18.0.50.r865_35.hce2.aarch64"

    def test_npus_driver_and_chip(self) -> None:
        npus = fact(Npus, COLLECT_ENV)
        assert [(chip.name, chip.hbm_total_mb) for chip in npus.chips] == [("910B3", 65536)]
        assert npus.complete
        assert fact(Driver, COLLECT_ENV).version == "24.1.rc3"
        assert fact(Chip, COLLECT_ENV).family == "a2"
        assert fact(NpuPresence, COLLECT_ENV).present is True

    def test_cann(self) -> None:
        cann = fact(Cann, COLLECT_ENV)
        assert (cann.version, cann.active_by, len(cann.installs)) == ("8.0.0", "text", 1)
        assert cann.active is not None
        assert cann.active.layout == "old"
        assert cann.active.inner_version == "V100R001C20SPC001B251"
        assert cann.active.compatible_versions == ("V100R001C15", "V100R001C18")
        assert COLLECT_ENV.split("\n")[cann.line - 1] == "package_name=Ascend-cann-toolkit"

    def test_environment_is_partial(self) -> None:
        environment = fact(Environment, COLLECT_ENV)
        assert environment.values["PYTORCH_NPU_ALLOC_CONF"] == "expandable_segments:True"
        assert environment.values["LD_LIBRARY_PATH"].startswith("/usr/local/Ascend/nnal")
        assert not environment.complete
        assert "version" not in environment.values

    def test_the_same_in_a_quote_and_in_the_newer_form(self) -> None:
        quoted = "\n".join("> " + line for line in COLLECT_ENV.split("\n"))
        assert fact(Packages, quoted).versions == fact(Packages, COLLECT_ENV).versions
        assert fact(Cann, quoted).version == "8.0.0"
        assert fact(Packages, "vLLM Ascend Version          : 0.13.0rc1\nPython version               : 3.11.7 (main) [GCC 12]").python == "3.11.7"


class TestVersionFiles:
    DRIVER = "Version=25.0.rc1.1\nascendhal_version=7.35.23\nInnerversion=V100R001C21SPC002B220\ncompatible_version_fw=[7.0.0,7.7.99]\npackage_version=25.0.rc1.1\n"

    def test_driver(self) -> None:
        driver = fact(Driver, "some words\n" + self.DRIVER)
        assert (driver.version, driver.inner_version, driver.line) == ("25.0.rc1.1", "V100R001C21SPC002B220", 2)

    def test_driver_named_by_the_command_above(self) -> None:
        assert fact(Driver, "$ cat /usr/local/Ascend/driver/version.info\nVersion=25.2.0\n").version == "25.2.0"

    def test_firmware(self) -> None:
        firmware = fact(Firmware, "Version=7.7.0.1.231\nfirmware_version=1.0\npackage_version=25.0.rc1.1\n")
        assert (firmware.version, firmware.package_version) == ("7.7.0.1.231", "25.0.rc1.1")

    def test_version_cfg_and_nnal(self) -> None:
        cann = fact(Cann, "# version: 1.0\nruntime_running_version=[7.6.0.1.220:8.0.0]\ncompiler_running_version=[7.6.0.1.220:8.0.0]\n")
        assert cann.version == "8.0.0"
        assert cann.active is not None and cann.active.component_versions["compiler"] == "8.0.0"
        found = fact(NnalSearch, "Ascend-cann-atb : 8.3.RC2\nAscend-cann-atb Version : 8.3.RC2.B150\n").found
        assert found is not None and found.version == "8.3.RC2"

    def test_operator_package(self) -> None:
        text = "package_name=Ascend-cann-toolkit\nversion=9.1.0\n\npackage_name=Ascend-cann-950-ops\nversion=9.1.0\n"
        active = fact(Cann, text).active
        assert active is not None and active.kernels == ("ascend950",)

    def test_os_release(self) -> None:
        system = fact(OperatingSystem, 'NAME="openEuler"\nVERSION="22.03 (LTS-SP4)"\nID="openEuler"\nVERSION_ID="22.03"\nPRETTY_NAME="openEuler 22.03 (LTS-SP4)"\n')
        assert (system.id, system.version_id) == ("openeuler", "22.03")


class TestPackages:
    def test_a_whole_list_is_complete_a_part_is_not(self) -> None:
        rows = [f"package{number:<20} 1.{number}" for number in range(30)]
        whole = "Package Version\n------- -------\n" + "\n".join(rows) + "\ntorch-npu  2.5.1 \n"
        assert fact(Packages, whole).complete
        assert fact(Packages, whole).versions["torch-npu"] == "2.5.1"
        assert not fact(Packages, "Package Version\n------- -------\ntorch 2.5.1\n").complete

    def test_rows_without_a_heading(self) -> None:
        packages = fact(Packages, "vllm                               0.11.1+empty\nvllm_ascend                        0.11.1.dev6+gb30408353.d20260307\n")
        assert packages.versions == {"vllm": "0.11.1+empty", "vllm-ascend": "0.11.1.dev6+gb30408353.d20260307"}

    def test_freeze_show_and_check(self) -> None:
        assert fact(Packages, "$ pip freeze | grep torch\ntorch==2.5.1\ntorch_npu==2.5.1.post1\n").versions["torch-npu"] == "2.5.1.post1"
        shown = fact(Packages, "Name: vllm_ascend\nVersion: 0.9.1rc1\nSummary: x\nEditable project location: /vllm-workspace/vllm-ascend\n")
        assert shown.versions == {"vllm-ascend": "0.9.1rc1"} and shown.editable == ("vllm-ascend",)
        checked = fact(Packages, "vllm-ascend 0.23.0 has requirement torch-npu==2.10.0.post4, but you have torch-npu 2.13.0.\n")
        assert checked.versions == {"vllm-ascend": "0.23.0", "torch-npu": "2.13.0"}

    def test_pip_install_is_the_weakest(self) -> None:
        assert fact(Packages, "pip install vllm==0.9.1 vllm-ascend==0.9.1rc1").versions == {"vllm": "0.9.1", "vllm-ascend": "0.9.1rc1"}
        assert fact(Packages, "pip install vllm==0.9.1\nI am on vllm 0.10.0 here").versions["vllm"] == "0.10.0"

    def test_answer_at_a_prompt(self) -> None:
        assert fact(Packages, ">>> import torch_npu\n>>> torch_npu.__version__\n'2.5.1.post1'\n").versions["torch-npu"] == "2.5.1.post1"

    def test_torch_build(self) -> None:
        assert fact(TorchBuild, "PyTorch version: 2.5.1+cu124").cuda is True
        assert fact(TorchBuild, "PyTorch version: 2.5.1+cpu").cuda is False
        assert fact(TorchBuild, "PyTorch version: 2.5.1").cuda is None


class TestLogLinesAndPaths:
    def test_vllm_names_its_version(self) -> None:
        engine = "(EngineCore_DP0 pid=14) INFO 05-18 10:21:07 [core.py:93] Initializing a V1 LLM engine (v0.18.0) with config: model='m'"
        assert fact(Packages, engine).versions["vllm"] == "0.18.0"
        assert fact(Packages, "INFO [api_server.py:1] vLLM API server version 0.11.0").versions["vllm"] == "0.11.0"
        assert fact(Packages, "INFO 11-30 [api_utils.py:347]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.32.0").versions["vllm"] == "0.32.0"

    @pytest.mark.parametrize(
        ("image", "version", "family", "system"),
        [
            ("quay.io/ascend/vllm-ascend:v0.11.0rc1-310p-openeuler", "0.11.0rc1", "310p", "openeuler"),
            ("quay.io/ascend/vllm-ascend:v0.9.1-a3", "0.9.1", "a3", None),
            ("vllm-ascend:0.13.0", "0.13.0", None, None),
        ],
    )
    def test_image_tags(self, image: str, version: str, family: str | None, system: str | None) -> None:
        found = facts(f"image: {image}")
        packages, chip, seen = known(found.get(Packages)), known(found.get(Chip)), known(found.get(OperatingSystem))
        assert packages is not None and packages.versions["vllm-ascend"] == version
        assert (chip.family if chip else None, seen.id if seen else None) == (family, system)

    def test_paths(self) -> None:
        line = 'File "/usr/local/python3.11.10/lib/python3.11/site-packages/torch_npu/__init__.py", line 1'
        assert fact(Packages, line).python == "3.11.10"
        assert fact(Packages, "Python version: 3.11 (64-bit runtime)\n" + line).python == "3.11.10"
        assert fact(Packages, "Python version: 3.10 (64-bit runtime)\n" + line).python == "3.10"
        assert fact(Cann, "LD: /usr/local/Ascend/cann-8.5.1/lib64/libhccl.so").version == "8.5.1"
        assert fact(Cann, "source /usr/local/Ascend/ascend-toolkit/8.2.RC1/set_env.sh").version == "8.2.RC1"
        assert absent(Cann, "/usr/local/Ascend/ascend-toolkit/latest/lib64")

    def test_output_beats_path_beats_prose_whatever_comes_first(self) -> None:
        text = "I have CANN 8.3.RC1\n/usr/local/Ascend/cann-8.5.0/lib64"
        assert fact(Cann, text).version == "8.5.0"
        assert fact(Cann, text + "\npackage_name=Ascend-cann-toolkit\nversion=8.5.1").version == "8.5.1"

    def test_device_of_a_mismatched_package(self) -> None:
        line = "[ERROR] the socversion Ascend910B1 of bin package does not match the current device socverison Ascend310P3."
        assert fact(Chip, line).family == "310p"


class TestProse:
    @pytest.mark.parametrize(
        ("text", "kind", "version"),
        [
            ("We run CANN 8.2.RC1 on this box", Cann, "8.2.RC1"),
            ("CANN版本：8.0.RC3.alpha003", Cann, "8.0.RC3.alpha003"),
            ("- **CANN version**: 8.5.0", Cann, "8.5.0"),
            ("driver 24.1.rc3", Driver, "24.1.rc3"),
            ("驱动版本 25.2.0", Driver, "25.2.0"),
            ("HDK 25.0.RC1.1", Driver, "25.0.RC1.1"),
            ("固件版本：7.7.0.1.231", Firmware, "7.7.0.1.231"),
            ("| CANN | 8.0.RC2 |", Cann, "8.0.RC2"),
            ("| 驱动 | 24.1.rc2.2 |", Driver, "24.1.rc2.2"),
        ],
    )
    def test_versions(self, text: str, kind: type[Cann] | type[Driver] | type[Firmware], version: str) -> None:
        assert fact(kind, text).version == version

    @pytest.mark.parametrize(
        ("text", "package", "version"),
        [
            ("vllm-ascend 0.9.1rc2", "vllm-ascend", "0.9.1rc2"),
            ("running vLLM 0.10.0 here", "vllm", "0.10.0"),
            ("torch_npu 2.5.1.post1", "torch-npu", "2.5.1.post1"),
            ("torch-npu: 2.7.1", "torch-npu", "2.7.1"),
            ("verl切换到vllm-v0.13.0后发现训练因cpu内存不足停止，之前v0.11.0是正常的", "vllm", "0.13.0"),
        ],
    )
    def test_packages(self, text: str, package: str, version: str) -> None:
        assert fact(Packages, text).versions == {package: version}

    @pytest.mark.parametrize(
        ("text", "family"),
        [
            ("Atlas 800I A2 server", "a2"), ("Atlas 300I Duo", "310p"), ("with 910B4 cards", "a2"), ("910C cluster", "a3"), ("Atlas 900 A3 SuperPoD", "a3"),
            ("two A3 nodes", "a3"), ("chip: 310P3", "310p"), ("Ascend 950PR", "950"), ("昇腾910B3", "a2"), ("硬件：Atlas 300I Duo", "310p"),
        ],
    )  # fmt: skip
    def test_chips(self, text: str, family: str) -> None:
        assert fact(Chip, text).family == family

    @pytest.mark.parametrize(
        ("text", "id", "version"), [("openEuler 22.03", "openeuler", "22.03"), ("on Ubuntu 22.04 LTS", "ubuntu", "22.04"), ("银河麒麟 V10", "kylin", "V10")]
    )
    def test_systems(self, text: str, id: str, version: str) -> None:
        system = fact(OperatingSystem, text)
        assert (system.id, system.version_id) == (id, version)

    def test_processor(self) -> None:
        assert fact(Machine, "Kunpeng 920 with 8 cards").cpu_vendor == "Kunpeng"

    @pytest.mark.parametrize(
        "text",
        [
            "It works on vllm-ascend 0.9.1.",
            "Please upgrade to CANN 8.3.RC1 first.",
            "I tried vllm 0.10.0 as well.",
            "this needs driver 25.2.0 or later",
            "CANN: >= 8.2.RC1",
            "请升级到 CANN 8.3.RC1",
            "supported since vllm-ascend 0.11.0",
            "CANN 8.1.RC1 / CANN 8.2.RC1 both",
            "| vLLM Ascend | vLLM | CANN |\n|---|---|---|\n| 0.9.1 | 0.9.1 | 8.2.RC1 |\n| 0.11.0 | 0.11.0 | 8.3.RC2 |",
            "| CANN | 8.0.0 | 8.1.RC1 | 8.2.RC1 |",
            "NVIDIA driver version 535.183.01",
            "torch-npu==2.10.0 depends on torch==2.10.0+cpu",
            "127.0.0.1:48836 - POST /v1 HTTP/1.1 200",
            "RuntimeError: Failed to load the backend extension: torch_npu. You can set TORCH_DEVICE_BACKEND_AUTOLOAD=0.",
            "If you want that, please export INF_NAN_MODE_FORCE_DISABLE=1.",
        ],
    )
    def test_what_is_no_fact(self, text: str) -> None:
        assert [type(found).__name__ for found in facts(text)] == []

    def test_a_heading_over_one_row_is_no_matrix(self) -> None:
        found = facts("| vLLM Ascend | vLLM | CANN |\n|---|---|---|\n| 0.9.1 | 0.9.1 | 8.2.RC1 |")
        cann, packages = known(found.get(Cann)), known(found.get(Packages))
        assert cann is not None and cann.version == "8.2.RC1"
        assert packages is not None and packages.versions == {"vllm-ascend": "0.9.1", "vllm": "0.9.1"}


class TestTables:
    def test_a_fragment_of_npu_smi_cannot_be_counted(self) -> None:
        text = "| npu-smi 24.1.rc3                 Version: 24.1.rc3         |\n+====+====+\n| 0     910B1               | OK            | 93.1        36                0    / 0             |\n"
        npus = fact(Npus, text)
        assert [chip.name for chip in npus.chips] == ["910B1"] and not npus.complete
        assert fact(Chip, text).family == "a2"

    def test_a_header_alone_tells_the_driver_and_no_npus(self) -> None:
        text = "| npu-smi 25.3.rc1.2               Version: 25.3.rc1.2                                         |"
        assert fact(Driver, text).version == "25.3.rc1.2"
        assert absent(Npus, text)

    def test_rows_that_a_narrow_terminal_broke(self) -> None:
        text = "| 0     310P3                 | OK              | NA           45     \n           0     / 0             |\n"
        assert fact(Chip, text).name == "310P3"

    def test_old_910b_is_not_a2(self) -> None:
        text = "| 0     910PremiumA         | OK            | 70.2        39                0    / 0             |\n| 0                         | 0000:C1:00.0  | 0           1413 / 15137      3 / 32768            |\n"
        assert fact(Chip, text).family == "a1"

    def test_memory_disks_and_settings(self) -> None:
        text = (
            "# free -h\n              total        used        free      shared  buff/cache   available\n"
            "Mem:          1.5Ti        20Gi       1.2Ti       1.0Gi       200Gi       1.4Ti\nSwap:            0B          0B          0B\n"
            "# df -h\nFilesystem      Size  Used Avail Use% Mounted on\nshm              64M     0   64M   0% /dev/shm\n"
            "# sysctl vm.swappiness\nvm.swappiness = 60\n# cat /proc/sys/kernel/numa_balancing\n1\n"
            "# cat /sys/kernel/mm/transparent_hugepage/enabled\nalways [madvise] never\n"
        )
        memory = fact(Memory, text)
        assert (memory.total, memory.swap_total) == (int(1.5 * 1024**4), 0)
        assert fact(Disks, text).by_mount["/dev/shm"].size == 64 * 1024**2
        assert fact(Sysctls, text).values == {"vm.swappiness": "60", "kernel.numa_balancing": "1"}
        assert fact(TransparentHugePages, text).enabled == "madvise"

    def test_meminfo_and_uname(self) -> None:
        assert fact(Memory, "MemTotal:       1000 kB\nSwapTotal:  500 kB").swap_total == 500 * 1024
        system = fact(OperatingSystem, "Linux node1 5.10.0-216.oe2203sp4.aarch64 #1 SMP Thu 2024 aarch64 aarch64 aarch64 GNU/Linux")
        assert system.kernel == "5.10.0-216.oe2203sp4.aarch64"

    def test_a_sysctl_file_is_not_the_running_value(self) -> None:
        assert absent(Sysctls, "$ cat /etc/sysctl.conf\nvm.swappiness = 10")


class TestEnvironmentAndCommands:
    def test_exports(self) -> None:
        text = 'export HCCL_OP_EXPANSION_MODE=AIV       # remove this\n# export HCCL_BUFFSIZE=200\nexport A_B=1 OMP_NUM_THREADS="10" && vllm serve m\n'
        environment = fact(Environment, text)
        assert environment.values == {"HCCL_OP_EXPANSION_MODE": "AIV", "A_B": "1", "OMP_NUM_THREADS": "10"}
        assert environment.lines["HCCL_OP_EXPANSION_MODE"] == 1

    def test_prompts_echo_python_and_yaml(self) -> None:
        assert fact(Environment, "root@host:/w# export VLLM_USE_V1=1").values == {"VLLM_USE_V1": "1"}
        assert fact(Environment, "$ echo $LD_LIBRARY_PATH\n/usr/local/Ascend/driver/lib64").values == {"LD_LIBRARY_PATH": "/usr/local/Ascend/driver/lib64"}
        assert fact(Environment, 'os.environ["ASCEND_RT_VISIBLE_DEVICES"] = "0,1"').values == {"ASCEND_RT_VISIBLE_DEVICES": "0,1"}
        assert fact(Environment, "- name: HCCL_IF_IP\n  value: 10.0.0.1").values == {"HCCL_IF_IP": "10.0.0.1"}

    def test_a_whole_env_is_complete(self) -> None:
        text = "$ env\nPATH=/usr/bin\nHOME=/root\nPWD=/w\nMY_OWN=x\nVLLM_USE_V1=1\n"
        environment = fact(Environment, text)
        assert environment.complete
        assert environment.values["MY_OWN"] == "x"
        assert not fact(Environment, "VLLM_USE_V1=1\nHCCL_IF_IP=10.0.0.1").complete

    def test_docker_run_and_serve(self) -> None:
        text = (
            "start it so:\n```bash\ndocker run --rm \\\n  --device /dev/davinci0 --shm-size=1g \\\n  -e VLLM_USE_MODELSCOPE=True \\\n"
            "  -it quay.io/ascend/vllm-ascend:v0.9.1rc1 bash\n```\nthen\n\nvllm serve /models/m --tensor-parallel-size 2\n"
        )
        found = facts(text)
        commands, serve = known(found.get(RunCommands)), known(found.get(ServeCommands))
        assert commands is not None and commands.commands[0].devices == ("/dev/davinci0",) and commands.commands[0].line == 3
        assert serve is not None and serve.commands[0].flags == {"tensor-parallel-size": "2"} and serve.commands[0].line == 10
        assert fact(Container, text).kind == "docker"
        assert fact(Environment, text).values == {"VLLM_USE_MODELSCOPE": "True"}

    def test_compose(self) -> None:
        text = "my file:\n```yaml\nservices:\n  vllm:\n    image: quay.io/ascend/vllm-ascend:v0.9.1\n    privileged: true\n```\nand nothing else\n"
        command = fact(RunCommands, text).commands[0]
        assert command.privileged and command.image == "quay.io/ascend/vllm-ascend:v0.9.1" and command.line == 4


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("- torch / torch_npu: 2.9.1+cpu / 2.9.1.post1", {"torch": "2.9.1+cpu", "torch-npu": "2.9.1.post1"}),
        ("vllm/vllm-ascend 版本：0.18.0/0.18.0RC1", {"vllm": "0.18.0", "vllm-ascend": "0.18.0RC1"}),
        ("upgrade torch / torch_npu to 2.9.1 / 2.9.1.post1", {}),
        ("[Bug]: [0.9.2rc1] slow answers of a VL model on vllm-ascend", {"vllm-ascend": "0.9.2rc1"}),
        ("[Bug]: [0.9.2rc1] slow answers of a VL model", {}),
    ],
)
def test_names_and_versions_that_are_paired_or_in_a_title(line: str, wanted: dict[str, str]) -> None:
    packages = known(facts(line).get(Packages))
    assert (packages.versions if packages else {}) == wanted


@pytest.mark.parametrize(
    "line",
    ['    "torch-npu==2.9.0",', "'torch == 2.10.0'", 'rank0: "torch==2.10.0",', "vllm-ascend==0.15.0rc1 依赖 torch-npu==2.9.0"],
)
def test_what_a_build_or_a_package_asks_for_is_not_installed(line: str) -> None:
    assert absent(Packages, line)


def test_a_line_of_dockers_json_log_is_read_like_its_message() -> None:
    text = '{"log":"export HCCL_EXEC_TIMEOUT=17340\\n","stream":"stderr","time":"2026-11-02T03:04:05Z"}'
    assert fact(Environment, text).values == {"HCCL_EXEC_TIMEOUT": "17340"}


def test_several_files_are_one_report_and_no_block_crosses() -> None:
    found = report_facts([("a.txt", 1, "Version=25.2.0"), ("b.txt", 1, "ascendhal_version=7.35"), ("b.txt", 2, "CANN 8.2.RC1")])
    cann = known(found.get(Cann))
    assert cann is not None and (cann.source, cann.line) == ("b.txt", 2)
    assert known(found.get(Driver)) is None


def test_nothing_from_nothing() -> None:
    assert list(report_facts([])) == []
    assert list(facts("\n\n")) == []


_PIECES = st.sampled_from(COLLECT_ENV.split("\n") + TestVersionFiles.DRIVER.split("\n") + [
    "docker run \\", "  -v", "services:", "| a | b |", "export A='", "Mem: 1 2 3", "Filesystem 1K-blocks Used Available Use% Mounted on", "Name: a",
    "Package Version", "vllm serve 'x", "LLM(model=", "$ echo $A", "> > >", "\u0130\u0130 CANN 8.2.RC1", "１.２", "Flags: \x00", "free -g", "services: {",
    "non-default args: {'a': [", "Mem: 9999999999999999 1 1 1 1 1", "/proc/sys/vm/x: 1", "- name: A",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(_PIECES, st.text(max_size=60), st.builds(str.__add__, _PIECES, st.text(max_size=20))), max_size=30))
def test_no_text_makes_it_raise(lines: list[str]) -> None:
    for found in report_facts([("x", number, line) for number, line in enumerate(lines, start=1)]):
        assert isinstance(getattr(found, "line", 0), int)


@pytest.mark.parametrize(
    "prefix",
    [
        "vllm-1  | ", "2026-02-13T05:15:39.398506742Z ", "2026-02-13T05:15:39.398+08:00 stdout F ", "Nov 30 09:38:38 node7 start.sh[412]: ",
        "[pod/vllm-0/main] ", "vllm-1  | 2026-02-13T05:15:39Z ", "model-server   | ",
    ],
)  # fmt: skip
def test_what_carries_a_line_is_taken_off(prefix: str) -> None:
    lines = ["vLLM Ascend Version: 0.18.0", "export HCCL_BUFFSIZE=100", "docker run --privileged \\", "  --device /dev/davinci3 image bash", "CANN version: 8.5.0"]
    told = report_facts([("log", number, prefix + line) for number, line in enumerate(lines, 1)])
    packages, environment, runs, cann = told.get(Packages), told.get(Environment), told.get(RunCommands), told.get(Cann)
    assert isinstance(packages, Packages) and isinstance(environment, Environment) and isinstance(runs, RunCommands) and isinstance(cann, Cann)
    assert packages.versions["vllm-ascend"] == "0.18.0" and environment.values["HCCL_BUFFSIZE"] == "100"
    assert runs.commands[0].privileged and runs.commands[0].devices == ("/dev/davinci3",)
    assert cann.version == "8.5.0"


def test_a_table_with_bars_keeps_its_first_column() -> None:
    rows = ["name | version", "---- | ---", "transformers | 4.57.3"]
    assert text_of([("log", number, line) for number, line in enumerate(rows, 1)]).lines == rows
