"""What pip and uv print, and what is asked of them: pure, and for any text. What kind of environment it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.apply.pipchange import PipChange, install_environment
from doctor.apply.pipreport import Installer, complaint, parse_frozen, parse_report, parse_uv, requirement_lines
from doctor.apply.plan_packages import beside_torch, row_of, wanted
from doctor.apply.pyenv import read_environment
from doctor.apply.sitestate import Places
from doctor.compat import release
from doctor.facts.target import Target
from doctor.host.plain import PlainHost
from doctor.ways import Installed

REPORT = {
    "version": "1",
    "install": [
        {"metadata": {"name": "Torch_NPU", "version": "2.7.1"}, "download_info": {"url": "file:///w/x.whl", "archive_info": {"hashes": {"sha256": "a" * 64}}}},
        {"metadata": {"name": "numpy", "version": "1.26.4"}, "download_info": {"url": "https://x/y.whl", "archive_info": {"hash": "sha256=" + "b" * 64}}},
    ],
}


def test_a_report_of_pip() -> None:
    found = parse_report("warning: something\n" + json.dumps(REPORT))
    assert found is not None
    assert dict(found.versions) == {"torch-npu": "2.7.1", "numpy": "1.26.4"} and found.hashes == {"torch-npu": "a" * 64, "numpy": "b" * 64}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"install": 3}', '{"install": [1]}', '{"install": [{"metadata": {"name": "x; rm", "version": "1"}}]}', '{"install": [{"metadata": {"name": "x", "version": "1 --index-url evil"}}]}', "[" * 100_000],
)
def test_what_is_no_report(text: str) -> None:
    assert parse_report(text) is None


@given(st.text(max_size=300))
def test_no_text_makes_the_readers_raise(text: str) -> None:
    parse_report(text)
    parse_report('{"install": ' + text)
    parse_uv(text)
    parse_frozen(text)
    complaint(text)


def test_uv_s_dry_run() -> None:
    found = parse_uv("Resolved 2 packages in 3ms\nWould uninstall 1 package\nWould install 1 package\n - torch==2.6.0\n + torch==2.7.1\n ~ numpy==1.26.4\n")
    assert dict(found.versions) == {"torch": "2.7.1", "numpy": "1.26.4"}


def test_offline_nothing_names_an_index() -> None:
    for installer in (Installer("/v/bin/python", wheels="/w", indexes=("https://index/",)), Installer("/v/bin/python", uv="/usr/bin/uv", wheels="/w", indexes=("https://index/",))):
        for argv in (installer.dry_run(["torch==2.7.1"]), installer.install("r.txt", hashes=True)):
            assert "--no-index" in argv and "https://index/" not in argv and argv[argv.index("--find-links") + 1] == "/w"
    told = install_environment(Installer("/v/bin/python", wheels="/w"), {"PIP_INDEX_URL": "https://index/", "LD_PRELOAD": "/x.so", "PYTHONPATH": "/x"})
    assert "PIP_INDEX_URL" not in told and "LD_PRELOAD" not in told and "PYTHONPATH" not in told and told["PIP_CONFIG_FILE"] == "/dev/null"


def test_online_the_user_s_mirror_counts_and_nothing_else_of_his_environment() -> None:
    told = install_environment(Installer("/v/bin/python"), {"PIP_INDEX_URL": "https://mirror/", "LD_PRELOAD": "/x.so", "PYTHONPATH": "/x", "PIP_TARGET": "/etc"})
    assert told["PIP_INDEX_URL"] == "https://mirror/" and not {"LD_PRELOAD", "PYTHONPATH", "PIP_TARGET"} & set(told)


def test_pip_is_asked_for_exactly_the_reviewed_files() -> None:
    assert requirement_lines({"torch": "2.7.1", "numpy": "", "a": "1"}, {"torch": "c" * 64}) == ("a==1", f"torch==2.7.1 --hash=sha256:{'c' * 64}")
    argv = Installer("/v/bin/python").install("r.txt", hashes=True)
    assert "--require-hashes" in argv and "--no-deps" in argv and argv[:4] == ("/v/bin/python", "-I", "-m", "pip")


def test_the_row_is_asked_for_and_what_fits_is_held() -> None:
    row = release("0.11.0")
    assert row is not None
    found = wanted(row, Installed(vllm_ascend="0.11.0", arch="aarch64"), {"torch": "2.6.0", "torch-npu": row.torch_npu, "vllm": "0.11.0", "vllm-ascend": "0.11.0", "triton": "3.2.0", "torchvision": "0.21.0"})
    assert found.pins == ("torch==2.7.1", "torchvision==0.22.1")
    assert {"vllm==0.11.0", f"torch-npu=={row.torch_npu}", "numpy<2", "transformers<=4.57.1"} <= set(found.constraints)
    assert found.indexes == ()


def test_a_310p_has_no_triton_at_all() -> None:
    row = release("0.18.0")
    assert row is not None
    found = wanted(row, Installed(vllm_ascend="0.18.0", family="310p"), {"triton": "3.2.0", "triton-ascend": "3.2.0"})
    assert set(found.removed) == {"triton", "triton-ascend"} and not any(pin.startswith("triton") for pin in found.pins)


def test_without_a_release_the_newest_that_runs_here_is_taken() -> None:
    row = row_of(Installed(cann="8.5.1", family="a2", python="3.11.9"))
    assert row is not None and row.stable and row.version == "0.18.0"


@pytest.mark.parametrize(("name", "torch", "wanted_version"), [("torchvision", "2.7.1", "0.22.1"), ("torchaudio", "2.7.1", "2.7.1"), ("torchvision", "2.7.1rc1", ""), ("torchvision", "1.11.0", "")])
def test_what_goes_beside_torch(name: str, torch: str, wanted_version: str) -> None:
    assert beside_torch(name, torch) == wanted_version


def environment(folder: Path, files: dict[str, str], python: str = "/opt/v/bin/python") -> tuple[str, bool, str, str]:
    for path, text in files.items():
        at = folder / "files" / path.lstrip("/")
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(text)
    prefix = python.removesuffix("/bin/python")
    site = f"{prefix}/lib/python3.11/site-packages"
    (folder / "files" / site.lstrip("/")).mkdir(parents=True, exist_ok=True)
    found = read_environment(PlainHost(folder), Target(python, "--python", site_packages=(site,)), 0)
    return found.kind, found.pip, found.uv, found.refused.en if found.refused else ""


PIP = "/opt/v/lib/python3.11/site-packages/pip/__main__.py"


def test_kinds_of_environments(tmp_path: Path) -> None:
    assert environment(tmp_path / "venv", {"/opt/v/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.4\n", PIP: ""})[:3] == ("venv", True, "")
    assert environment(tmp_path / "uv", {"/opt/v/pyvenv.cfg": "home = /usr/bin\nuv = 0.4.1\n", "/usr/local/bin/uv": "x"}) == ("uv", False, "/usr/local/bin/uv", "")
    assert environment(tmp_path / "conda", {"/opt/v/conda-meta/history": "", PIP: ""})[:2] == ("conda", True)
    # The official images bring an interpreter of their own, which is no system Python.
    image = "/usr/local/python3.11.14/bin/python"
    assert environment(tmp_path / "image", {"/usr/local/python3.11.14/lib/python3.11/site-packages/pip/__main__.py": ""}, image) == ("python", True, "", "")


def test_an_environment_without_an_installer_is_refused(tmp_path: Path) -> None:
    assert "neither pip nor uv" in environment(tmp_path / "none", {"/opt/v/pyvenv.cfg": "home = /usr/bin\n"})[3]


def test_uv_s_commands_are_those_of_the_target() -> None:
    change = PipChange(Installer("/v/bin/python", uv="/usr/local/bin/uv", wheels="/w"), Places("/v", ("/v/lib",), "/v/bin"), {"torch": "2.6.0"}, {"torch": "2.7.1"})
    assert all(argv[:2] == ("/usr/local/bin/uv", "pip") and "/v/bin/python" in argv for argv in change.commands())
