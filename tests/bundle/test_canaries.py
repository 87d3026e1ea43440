"""Secrets planted in every source never come out of a bundle: not in a member, a name, a header, in no encoding. What a diagnosis needs does."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from doctor.bundle.archive import read_archive
from doctor.bundle.gather import Gathered, Gathering, RedactionError, gather
from doctor.bundle.modelnames import without_own
from doctor.bundle.pack import write
from doctor.bundle.redact import Redactor
from doctor.logscan.sources import open_sources
from tests.bundle import canary
from tests.bundle.busy import LoggingHost
from tests.fixture_cases import book


def kernel_log() -> str:
    return "".join(each.text.format(each.secret) + "\n" for each in canary.KERNEL)


def plogs(folder: Path) -> Path:
    for each in canary.PLOG:
        (folder / each.source).parent.mkdir(parents=True, exist_ok=True)
        with (folder / each.source).open("a", encoding="utf-8") as file:
            file.write(each.text.format(each.secret) + "\n")
    return folder


def planted(tmp_path: Path, profile: str = "support") -> Gathered:
    values = dict(zip((each.kind for each in canary.VARIABLES), canary.VARIABLES, strict=True))
    variables = {each.text: each.secret for each in canary.VARIABLES}
    variables["https_proxy"] = f"http://u:{values['https_proxy'].secret}@proxy.internal.corp:3128"
    variables["VLLM_CONFIG_JSON"] = '{"inner": "{\\"api_key\\": \\"' + values["VLLM_CONFIG_JSON"].secret + '\\"}"}'
    files = {each.source: each.text.format(each.secret) for each in canary.ELSEWHERE if each.source.startswith("/")}
    files["/etc/passwd"] = "root:x:0:0:root:/root:/bin/bash\nwangxiaoming:x:1001:1001:Wang Xiaoming:/home/wangxiaoming:/bin/bash\nHwHiAiUser:x:1100:1100::/home/HwHiAiUser:/bin/bash\n"
    outputs = {each.source: each.text.format(each.secret) for each in canary.ELSEWHERE if not each.source.startswith("/")}
    argv = [canary.ARGV[0].text, canary.ARGV[0].secret, canary.ARGV[1].text, canary.ARGV[1].secret, f"--hf-token={canary.ARGV[2].secret}"]
    outputs["dmesg -T"] = kernel_log()
    host = LoggingHost(plogs(tmp_path / "cann"), files=files, outputs=outputs, variables=variables, argv=argv, name="gpu-node-b17")
    log = tmp_path / "wangxiaoming-serve.log"
    log.write_text("".join(each.text + "\n\n" for each in canary.LOG), encoding="utf-8")
    return gather(host, book(), Gathering(profile), open_sources([str(log)]))


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> Gathered:
    return planted(tmp_path_factory.mktemp("planted"))


def test_there_are_enough() -> None:
    assert len(canary.ALL) > 150 and len({each.secret for each in canary.ALL}) > 140


@pytest.mark.parametrize("ending", [".tar.zst", ".tar.gz"])
def test_no_secret_in_the_finished_archive(gathered: Gathered, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"bundle{ending}"
    write(gathered.members(), path, gathered.time)
    everything = unpacked(path)
    assert b"manifest.json" in everything and b"npu-smi" in everything
    assert b"logs/02-dmesg" in everything and b"HCCP(7,hccp)" in everything and b"PROFILING(42,python)" in everything, "the logs that nobody named"
    found = [(each.kind, form) for each in canary.ALL for form in canary.encodings(each.secret) if form in everything or form.lower() in everything.lower()]
    assert not found


def unpacked(path: Path) -> bytes:
    """The whole tar stream, headers included."""
    import gzip
    import io

    import zstandard

    data = path.read_bytes()
    return gzip.decompress(data) if path.name.endswith(".gz") else zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()


def test_the_headers_tell_nothing_of_this_machine(gathered: Gathered, tmp_path: Path) -> None:
    import tarfile

    path = tmp_path / "bundle.tar.gz"
    write(gathered.members(), path, gathered.time)
    with tarfile.open(path) as archive:
        headers = archive.getmembers()
    assert {(each.uid, each.gid, each.uname, each.gname, each.mode, each.linkname) for each in headers} == {(0, 0, "", "", 0o600, "")}
    assert all(each.isreg() for each in headers) and len(headers) > 100
    assert not any("wangxiaoming" in each.name or "gpu-node" in each.name for each in headers)
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_was_masked_is_counted_and_not_listed(gathered: Gathered) -> None:
    masked = gathered.masked
    assert masked["secret"] > 100 and masked["address"] > 8 and masked["name"] > 5 and masked["prompt"] >= 10 and masked["serial"] >= 2


def test_it_fails_closed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(self: Redactor, text: str) -> str:
        raise RecursionError

    monkeypatch.setattr(Redactor, "_addresses", broken)
    with pytest.raises(RedactionError):
        planted(tmp_path)


def test_a_secret_that_slipped_through_stops_the_bundle(gathered: Gathered) -> None:
    part = dataclasses.replace(gathered._parts[0], text="and " + canary.VARIABLES[0].secret)
    with pytest.raises(RedactionError):
        dataclasses.replace(gathered, _parts=(part, *gathered._parts[1:])).members()


KEPT = (
    "CANN 8.5.1, cann-8.0.RC3.alpha002, CANN 8.0.0.1", "driver 25.5.0.1", "| npu-smi 23.0.3.6                 Version: 23.0.3.6                                   |", "Version=7.1.0.7.220", "innerversion=V100R001C21SPC003B220",
    "torch==2.7.1+cpu torch_npu-2.7.1.post1 opencv-python-headless==4.11.0.86 nvidia-curand-cu12==10.3.5.147", "opencv_python-4.11.0.86.dist-info", "vllm 0.11.0rc1 vllm-ascend 0.11.0rc2.dev12+g1a2b3c4",
    "EZ9999: Inner Error! error code is 507011 errno:507015 ret is -8020 EI0011 0x6040000", "device_id=3 rank 12 pid=411 (EngineCore_DP0 pid=411) Worker_TP3", "0000:81:00.0 davinci3 /dev/davinci_manager",
    "11-30 09:38:38 2026-11-30T09:38:38.123456+08:00 [PID: 775] 2025-11-03-10:11:12.123.456", "max_tokens=16 num_tokens: 5 eos_token_id=2 pad_token: <unk> tokenizer=None Avg prompt throughput: 10.2 tokens/s",
    "--tensor-parallel-size 16 --max-num-batched-tokens 8192 --tokenizer-mode auto --token-limit 3", "api_key=None token=None password=''", "127.0.0.1:8000 0.0.0.0 255.255.255.0 ::1 169.254.1.1",
    "aclrtMalloc failed c10::Error std::runtime_error torch.ops.npu at::native", "/usr/local/Ascend/ascend-toolkit/latest/lib64/libascendcl.so", "https://github.com/vllm-project/vllm-ascend/issues/1234",
    "HwHiAiUser root uid=1000 gid=1000", "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae", "PWD=/root OLDPWD=/", "vm.swappiness = 60", "Unexpected token } in JSON at position 5", "key cache shape (1, 2)",
)  # fmt: skip


@pytest.mark.parametrize("line", KEPT)
def test_what_a_diagnosis_needs_survives(line: str) -> None:
    redactor = Redactor()
    redactor.learn([line])
    assert redactor.text(line) == line


def test_the_same_stays_the_same_and_subnets_stay() -> None:
    redactor = Redactor()
    first, second, other = (redactor.text(f"to {each} now") for each in ("10.1.2.3", "10.1.2.3", "10.1.2.77"))
    assert first == second != other
    assert first.split()[1].rsplit(".", 1)[0] == other.split()[1].rsplit(".", 1)[0], "one network of 24 bits"
    assert redactor.text("/home/li4/a") == redactor.text("/home") + "/" + redactor.text("/home/li4/a").split("/")[2] + "/a"
    assert Redactor().text("to 10.1.2.3 now") != first, "another bundle, another key"


def test_public_also_hides_paths_ports_and_models() -> None:
    redactor = Redactor("public")
    line = "vllm serve /data/team7/SecretModel-72B --served-model-name secret-model-72b --port 8123 --max-model-len 4096"
    redactor.learn([line])
    masked = redactor.text(line)
    assert not re.search(r"(?i)team7|secret-?model|8123", masked)
    assert masked.startswith("vllm serve /data/") and masked.endswith("--max-model-len 4096")


@pytest.mark.parametrize(
    ("line", "gone", "stays"),
    [
        ("vllm serve /data/team7/SecretModel-72B-W8A8", ("team7", "Secret"), ("-72B-W8A8",)),
        ("model='/models/Qwen2.5-7B-OurBank-v3'", ("OurBank",), ("/models/Qwen2.5-7B-", "-v3'")),
        ("--model our-org/risk-scorer", ("our-org", "risk", "scorer"), ("--model ",)),
        ("--model vllm-ascend/DeepSeek-R1-0528-W8A8 --quantization ascend", (), ("vllm-ascend/DeepSeek-R1-0528-W8A8",)),
        ("vllm serve --config /srv/config.py", (), ("--config",)),
        ('File "/home/x1/vllm/customer/serve.py", line 3', ("customer", "/x1/"), ("/vllm/", "serve.py")),
        ('File "/opt/venv/lib/python3.11/site-packages/vllm_ascend/attention/mla_v1.py"', (), ("vllm_ascend/attention/mla_v1.py",)),
        ('File "/opt/venv/lib/python3.11/site-packages/our_gateway/billing/api.py"', ("our_gateway", "billing"), ("site-packages", "api.py")),
        ("/models/Qwen3-8B/model-00003-of-00005.safetensors", (), ("/models/Qwen3-8B/model-00003-of-00005.safetensors",)),
    ],
)  # fmt: skip
def test_public_keeps_what_everybody_knows_and_rules_decide_by(line: str, gone: tuple[str, ...], stays: tuple[str, ...]) -> None:
    redactor = Redactor("public")
    redactor.learn([line])
    masked = redactor.text(line)
    assert not [word for word in gone if word.lower() in masked.lower()], masked
    assert not [word for word in stays if word not in masked], masked


PUBLISHED = ("Qwen2.5-VL-7B-Instruct-AWQ", "DeepSeek-V3.1-Terminus", "deepseek_v4", "Qwen3-Next-80B-A3B-Instruct", "InternVL2_5-8B", "Meta-Llama-3.1-70B-Instruct", "gpt-oss-120b", "Kimi-K2-Thinking", "GLM-4.5-Air-W8A8", "DeepSeek-R1-Distill-Qwen-7B", "MiniMax-M2.7")  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_name_of_a_published_model_is_whole(name: str) -> None:
    assert without_own(name, lambda own: f"<{own}>") == name


@pytest.mark.parametrize(
    ("name", "masked"),
    [
        ("Qwen2.5-7B-OurBank-risk-v2", "Qwen2.5-7B-<OurBank-risk>-v2"), ("SecretModel", "<SecretModel>"), ("my-chat-7b", "<my-chat>-7b"), ("zhangwei", "<zhangwei>"),
        ("-", "<->"), ("", "<>"), ("....", "<....>"),
    ],
)  # fmt: skip
def test_of_another_only_size_and_format_stay(name: str, masked: str) -> None:
    assert without_own(name, lambda own: f"<{own}>") == masked


def test_raw_changes_nothing(tmp_path: Path) -> None:
    assert Redactor("raw").text("password=hunter2hunter2") == "password=hunter2hunter2"


def test_read_back(gathered: Gathered, tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar.zst"
    write(gathered.members(), path, gathered.time)
    assert dict(gathered.members()) == read_archive(path).files
