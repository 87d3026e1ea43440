"""What lies beside the packages of a target, and what a start leans on outside them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.beside import Codecs, PlatformPlugins, Registry, Shadows, parse_registry
from doctor.facts.pools import Counters, HubModels, MooncakeConfig
from doctor.facts.processes import OwnStatus, parse_id
from doctor.facts.rights import SEARCH, Right, Rights
from tests.facts.test_starts import ENV, facts_of

SITE = "/opt/venv/lib/python3.11/site-packages"
TABLE = '_MODELS = {\n    "LlamaForCausalLM": ("llama", "LlamaForCausalLM"),\n}\n_PREVIOUSLY_SUPPORTED_MODELS = {\n    "QWenLMHeadModel": "0.16.0",\n}\n'


def test_the_registry_and_what_it_lost(tmp_path: Path) -> None:
    files = {f"{SITE}/vllm/__init__.py": "", f"{SITE}/vllm/model_executor/models/registry.py": TABLE, f"{SITE}/vllm-0.18.0.dist-info/METADATA": ""}
    plugin = {f"{SITE}/vllm_ascend/models/__init__.py": 'ModelRegistry.register_model("OwnForCausalLM", "x:y")\n', f"{SITE}/vllm_ascend/__init__.py": ""}
    found = facts_of(tmp_path, {**files, **plugin}).get(Registry)
    assert isinstance(found, Registry) and found.known == {"LlamaForCausalLM", "OwnForCausalLM"} and found.removed == (("QWenLMHeadModel", "0.16.0"),)


def test_platform_plugins(tmp_path: Path) -> None:
    entry = "[console_scripts]\na = b:c\n\n[vllm.platform_plugins]\nascend = vllm_ascend:register\n"
    files = {f"{SITE}/vllm_ascend-0.18.0.dist-info/METADATA": "", f"{SITE}/vllm_ascend-0.18.0.dist-info/entry_points.txt": entry}
    found = facts_of(tmp_path, files).get(PlatformPlugins)
    assert isinstance(found, PlatformPlugins) and found.found == (("vllm_ascend", "ascend"),)


def test_shadows_are_packages_or_modules_not_any_folder(tmp_path: Path) -> None:
    files = {"/root/torch.py": "", "/root/vllm/vllm/__init__.py": "", "/root/numpy/notes.txt": "", f"{SITE}/vllm-0.18.0.dist-info/METADATA": ""}
    found = facts_of(tmp_path, files).get(Shadows)
    assert isinstance(found, Shadows) and found.found == (("vllm", "/root/vllm"), ("torch", "/root/torch.py")) and not found.in_path


def test_codecs(tmp_path: Path) -> None:
    assert facts_of(tmp_path / "a", {}).get(Codecs) == Codecs(False)
    found = facts_of(tmp_path / "b", {"/usr/lib/aarch64-linux-gnu/libavcodec.so.58": ""}).get(Codecs)
    assert isinstance(found, Codecs) and found.libavcodec


def test_mooncakes_file(tmp_path: Path) -> None:
    def of(name: str, files: dict[str, str], variable: str = "MOONCAKE_CONFIG_PATH=/m.json\n") -> str:
        found = facts_of(tmp_path / name, files, ENV.replace("HOME=", f"{variable}HOME=")).get(MooncakeConfig)
        assert isinstance(found, MooncakeConfig)
        return found.problem

    assert (of("a", {}, ""), of("b", {}), of("c", {"/m.json": "{,}"}), of("d", {"/m.json": "{}"})) == ("unset", "missing", "invalid", "")


def test_a_hubs_cache(tmp_path: Path) -> None:
    files = {"/root/a.sh": "vllm serve a/b\nvllm serve c/d\n", "/root/.cache/huggingface/hub/models--a--b/snapshots/1/config.json": "{}"}
    found = facts_of(tmp_path, files).get(HubModels)
    assert isinstance(found, HubModels) and found.cached == (("a/b", True), ("c/d", False))


def test_counters(tmp_path: Path) -> None:
    found = facts_of(tmp_path, {"/sys/fs/cgroup/pids.current": "5\n", "/sys/fs/cgroup/pids.max": "8\n"}).get(Counters)
    assert isinstance(found, Counters) and (found.pids, found.pids_max) == (5, 8)


def test_rights_of_folders(tmp_path: Path) -> None:
    told = "\n$ id\nuid=1001(llm) gid=1001(llm) groups=1001(llm)\n[exit 0]\n\n$ ls -ld /root\ndrwx------ 2 root root 40 Nov 28 08:00 /root\n[exit 0]\n"
    found = facts_of(tmp_path, {"/root/a": "x"}, ENV + told).get(Rights)
    assert isinstance(found, Rights) and found.own is not None and found.work is not None and found.work.refuses(found.own, SEARCH)


def test_classes_of_users() -> None:
    right = Right("/a", 0o750, 1000, 1000, True)
    assert [right.refuses(OwnStatus(uid, groups), SEARCH) for uid, groups in ((0, ()), (1000, ()), (5, (1000,)), (5, (5,)))] == [False, False, False, True]
    assert parse_id("uid=5(a) gid=6(b) groups=6(b),1000(HwHiAiUser)") == OwnStatus(5, (6, 1000), None, "id") and parse_id("no such user") is None


@given(st.text(max_size=300))
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(parse_registry(text)[1], tuple)
