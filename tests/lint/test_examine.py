"""What a user is told about a command: the rule, the line, the release it was judged by, and the same report and exit codes as elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from doctor.diagnosis import Cause
from doctor.examine import Examination, Selection
from doctor.finding import Confidence, Finding, Severity
from doctor.host import Host
from doctor.host.plain import PlainHost
from doctor.lint.examine import Input, examine_commands
from doctor.report.schema import text as schema_text
from doctor.rulebook import load
from tests.facts.hosts import facts_of
from tests.lint.test_source import NEW

BOOK = replace(load(), problems=())
ROOT = Path(__file__).resolve().parents[2]
SITE = "/opt/venv/lib/python3.11/site-packages"
PYTHON = "/opt/venv/bin/python3"


def lint(*inputs: Input | str, host: Host | None = None, version: str | None = "0.18.0", **selection: tuple[str, ...]) -> Examination:
    given = [one if isinstance(one, Input) else Input("command line", words=tuple(one.split())) for one in inputs]
    return examine_commands(given, host, BOOK, Selection(**selection), python=PYTHON if host else None, version=version).examination


def findings(examination: Examination) -> list[Finding]:
    """All of them, whether they are told as causes or under one."""
    return [finding for cause in examination.causes for finding in (cause.finding, *cause.symptoms)]


def told(examination: Examination, *severities: Severity) -> dict[str, Finding]:
    return {finding.rule: finding for finding in findings(examination) if not severities or finding.severity in severities}


@pytest.mark.parametrize(
    ("command", "rule", "wanted"),
    [
        ("vllm serve /m --max-batch-size 128", "serving-flag-max-batch-size", "--max-num-seqs"),
        ("vllm serve /m --ascend-opt=1", "serving-flag-ascend-opt", "no such option"),
        ("vllm serve /m --prefetch-batch", "serving-flag-prefetch-batch", "no such option"),
        ("vllm serve /m --batch_size 8", "serving-batch-size-keyword", "--max-num-seqs"),
        ("vllm serve /m --device ascend", "serving-device-ascend", "no device option"),
        ("vllm serve /m --max-model-lenn 4096", "serving-flag-unknown", "--max-model-len"),
        ("vllm serve /m --chunked-prefill", "serving-flag-unknown", "--enable-chunked-prefill"),
        ("vllm serve /m --context-length 4096", "serving-flag-unknown", "--max-model-len"),
        ("vllm serve /m --no-headless", "serving-flag-unknown", "without --no-headless"),
        ("vllm serve /m --task generate", "serving-flag-removed", "--runner pooling, --convert"),
        ("vllm serve /m --disable_log_requests", "serving-flag-removed", "nothing; requests are logged only with --enable-log-requests"),
        ("vllm serve /m --max-num 3", "serving-flag-abbreviated", "the whole name"),
        ("vllm serve /m --dtype fp16", "serving-flag-invalid-value", "one of auto, half, float16, bfloat16, float, float32"),
        ("vllm serve /m --max-num-seqs many", "serving-flag-invalid-value", "an integer"),
        ("vllm serve /m --max-num-seqs", "serving-flag-invalid-value", "an integer"),
        ("vllm serve /m --enforce-eager True", "serving-flag-invalid-value", "--enforce-eager"),
        ("vllm serve /m --gpu-memory-utilization 90", "serving-flag-invalid-value", "more than 0, at most 1"),
        ("vllm serve /m --tensor-parallel-size 0", "serving-flag-invalid-value", "1 or more"),
        ("vllm serve /m --enable-auto-tool-choice", "serving-flag-invalid-value", "--tool-call-parser beside it"),
        ("vllm serve /m --additional-config {'a':1}", "serving-json-option-invalid", "JSON with double quotes inside"),
        ("vllm serve /m --config config.py", "serving-article-config-py", "a YAML file"),
    ],
)
def test_what_is_wrong_is_told_by_its_rule(command: str, rule: str, wanted: str) -> None:
    found = told(lint(command), Severity.FAIL)
    assert list(found) == [rule]
    assert found[rule].wanted == wanted and found[rule].title.en and found[rule].title.zh and found[rule].fixes


@pytest.mark.parametrize(
    "command",
    [
        "vllm serve /m",
        "vllm serve /m -tp 8 -dp 2 --max_num_seqs 16 --max-model-len 32k --quantization ascend --dtype bfloat16 --seed 0 --port 8000",
        "vllm serve /m --no-enable-prefix-caching --served-model-name a b --enable-expert-parallel --trust-remote-code",
        'vllm serve /m --compilation-config {"cudagraph_mode":"FULL_DECODE_ONLY"} --additional-config.enable_cpu_binding true',
        "python -m vllm.entrypoints.openai.api_server --model /m --port 1",
        "vllm serve /m --tensor-parallel-size $TP --dtype <dtype>",
    ],
)
def test_a_right_command_is_silent(command: str) -> None:
    assert findings(lint(command)) == []


def test_a_beginning_that_fits_one_flag_is_a_note() -> None:
    found = told(lint("vllm serve /m --max-num-batched-token 8"))
    assert found["serving-flag-abbreviated"].severity is Severity.NOTE
    assert found["serving-flag-abbreviated"].wanted == "--max-num-batched-tokens"


def test_the_release_decides() -> None:
    command = "vllm serve /m --task generate --swap-space 4"
    assert findings(lint(command, version="0.11.0")) == []
    assert set(told(lint(command, version="0.16.0"))) == {"serving-flag-removed"}
    assert findings(lint("vllm serve /m --device npu", version="0.9.1")) == []
    assert set(told(lint("vllm serve /m --device npu", version="0.11.0"))) == {"serving-device-ascend"}
    assert findings(lint("vllm serve /m --quantization ascend", version="0.9.1")) == []
    assert set(told(lint("vllm serve /m --quantization int8", version="0.9.1"), Severity.FAIL)) == {"model-quantization-name-unknown"}


def test_each_wrong_flag_is_a_cause_of_its_own() -> None:
    causes: tuple[Cause, ...] = lint("vllm serve /m --max-batch-size 1 --device ascend --swap-space 2 --max-modellen 3 --dtype fp16").causes
    assert [cause.symptoms for cause in causes] == [()] * 5
    assert {cause.finding.subject for cause in causes} == {"--max-batch-size", "--device", "--swap-space", "--max-modellen", "--dtype"}


def test_the_finding_says_file_line_and_release() -> None:
    text = "#!/bin/sh\nvllm serve /a --max-batch-size 1\n\nvllm serve /b \\\n  --dtype auto \\\n  --prefetch-batch\n"
    found = told(lint(Input("/srv/start.sh", text)))
    prefetch = found["serving-flag-prefetch-batch"]
    assert prefetch.subject == "--prefetch-batch (start.sh:6)"
    assert [(item.source, item.line, item.text) for item in prefetch.evidence] == [("/srv/start.sh", 6, "--prefetch-batch")]
    assert found["serving-flag-max-batch-size"].evidence[0].line == 2
    assert "vLLM 0.18.0" in lint(Input("a.sh", text)).label


def test_without_a_release_the_newest_is_taken_and_is_less_sure() -> None:
    unknown = told(lint("vllm serve /m --max-modellen 3", version=None))["serving-flag-unknown"]
    assert unknown.confidence is Confidence.LIKELY
    assert told(lint("vllm serve /m --max-batch-size 3", version=None))["serving-flag-max-batch-size"].confidence is Confidence.SURE


def test_the_image_goes_before_the_machine_and_each_container_by_its_own() -> None:
    text = (
        "docker run -it quay.io/ascend/vllm-ascend:v0.11.0 vllm serve /m --swap-space 4\n"
        "docker run -it quay.io/ascend/vllm-ascend:v0.18.0 vllm serve /m --swap-space 8\n"
    )
    found = [finding for finding in findings(lint(Input("a.sh", text), version=None)) if finding.rule == "serving-flag-removed"]
    assert [finding.evidence[0].text for finding in found] == ["--swap-space 8"]


def test_a_call_in_python() -> None:
    text = 'from vllm import LLM\nllm = LLM(model="m", device="ascend",\n  max_batch_size=8, tensor_parallel_sise=2, dtype="fp16", swap_space=4, enforce_eager=False, seed=s)\n'
    found = told(lint(Input("run.py", text)))
    assert found["serving-device-ascend"].subject == "device (run.py:2)"
    assert found["serving-flag-max-batch-size"].wanted == "max_num_seqs"
    assert found["serving-flag-unknown"].wanted == "tensor_parallel_size" and found["serving-flag-unknown"].evidence[0].line == 3
    assert found["serving-flag-removed"].subject.startswith("swap_space") and "serving-flag-invalid-value" in found
    assert len(found) == 5


def test_a_switch_that_a_configuration_file_cannot_turn_off() -> None:
    found = told(lint(Input("c.yaml", "model: /m\nmax-num-seqs: 8\nenable-prefix-caching: false\n")))
    assert [(f.rule, f.severity, f.wanted) for f in found.values()] == [
        ("serving-flag-invalid-value", Severity.WARN, "no-enable-prefix-caching: true")
    ]


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("ASCEND_RT_VISIBLE_DEVICES=0,1 vllm serve /m -tp 4", True),
        ("ASCEND_RT_VISIBLE_DEVICES=0,1 vllm serve /m -tp 2 -pp 2", True),
        ("ASCEND_RT_VISIBLE_DEVICES=0,1,2,3 vllm serve /m -tp 2 -dp 2", False),
        ("ASCEND_RT_VISIBLE_DEVICES=0,1 vllm serve /m -tp 2 -dp 4 --data-parallel-size-local 1 --data-parallel-address 10.0.0.1", False),
        ("ASCEND_RT_VISIBLE_DEVICES=0,1 vllm serve /m -tp 16 --distributed-executor-backend ray", False),
        ("ASCEND_RT_VISIBLE_DEVICES=0,1 vllm serve /m -tp 2 -pp 2 --nnodes 2", False),
        ("vllm serve /m -tp 16", False),
    ],
)
def test_ranks_against_visible_cards(command: str, found: bool) -> None:
    assert ("serving-world-size-exceeds-visible" in told(lint(command))) is found


def test_cards_of_a_pod() -> None:
    text = 'kind: Pod\nspec:\n  containers:\n  - image: i:1\n    command: [vllm, serve, /m, -tp, "8"]\n    resources: {limits: {huawei.com/Ascend910: "4"}}\n'
    found = told(lint(Input("pod.yaml", text)))["serving-world-size-exceeds-visible"]
    assert "8 NPUs are asked for" in found.found and "4 are visible" in found.found


def test_tokens_of_a_step_against_the_length() -> None:
    rule = "serving-batched-tokens-below-max-len"
    assert rule in told(lint("vllm serve /m --no-enable-chunked-prefill --max-num-batched-tokens 2048 --max-model-len 32k"))
    assert rule not in told(lint("vllm serve /m --max-num-batched-tokens 2048 --max-model-len 32k"))


def test_variables_are_judged_as_on_a_machine() -> None:
    text = "export HCCL_BUFF_SIZE=1\nexport VLLM_ASCEND_ENABLE_DENSE_OPTIMISE=1\nexport VLLM_ASCEND_ENABLE_DBO=1\nexport MY_OWN=1\nvllm serve /m\n"
    found = [f for f in findings(lint(Input("a.sh", text), version="vllm-ascend 0.18.0")) if "-env-" in f.rule]
    assert {(f.rule, f.subject, f.evidence[0].line) for f in found} == {
        ("serving-env-misspelt", "HCCL_BUFF_SIZE", 1),
        ("serving-env-misspelt", "VLLM_ASCEND_ENABLE_DENSE_OPTIMISE", 2),
        ("serving-env-vllm-ascend-removed", "VLLM_ASCEND_ENABLE_DBO", 3),
    }


def host(folder: Path, files: Mapping[str, str], commands: Mapping[str, str] | None = None) -> PlainHost:
    base = {PYTHON: "", "/opt/venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.9\n", f"{SITE}/pip-24.0.dist-info/METADATA": "Name: pip\nVersion: 24.0\n"}
    facts_of(folder, {**base, **files}, commands)
    return PlainHost(folder)


def installed(version: str = "9.9.0") -> dict[str, str]:
    files = {f"{SITE}/vllm-{version}.dist-info/METADATA": f"Name: vllm\nVersion: {version}\n", f"{SITE}/vllm/__init__.py": ""}
    return {**files, **{f"{SITE}/vllm/{path}": text for path, text in NEW.items()}}


def test_the_installed_vllm_is_read_and_goes_before_the_tables(tmp_path: Path) -> None:
    machine = host(tmp_path, installed())
    found = lint("vllm serve /m --max-num-seqs 3 --grpc --dtype half", host=machine, version=None)
    assert f"vLLM 9.9.0 (read from {SITE}/vllm)" in found.label
    gone = told(found)["serving-flag-removed"]
    assert gone.subject == "--max-num-seqs" and gone.confidence is Confidence.SURE, "a release that doctor has never heard of"


def test_an_installed_version_without_its_source_takes_the_table(tmp_path: Path) -> None:
    machine = host(tmp_path, {f"{SITE}/vllm-0.18.0.dist-info/METADATA": "Name: vllm\nVersion: 0.18.0\n"})
    assert "vLLM 0.18.0 (doctor's own table)" in lint("vllm serve /m", host=machine, version=None).label


@pytest.mark.parametrize(
    ("config", "command", "rule"),
    [
        ({"num_attention_heads": 40}, "-tp 16", "model-heads-not-divisible-by-tp"),
        ({"num_attention_heads": 16, "kv_lora_rank": 512}, "", "operator-mla-head-count"),
        ({"num_attention_heads": 128, "kv_lora_rank": 512}, "-tp 4", None),
        ({"num_attention_heads": 16, "kv_lora_rank": 512}, "--enforce-eager", None),
        ({"quantization_config": {"quant_method": "fp8"}}, "--quantization awq", "model-quantization-flag-mismatch"),
        ({"quantization_config": {"quant_method": "fp8"}}, "--quantization fp8", None),
        ({"text_config": {"num_attention_heads": 6}}, "-tp 4", "model-heads-not-divisible-by-tp"),
    ],
)
def test_the_models_own_files_decide(tmp_path: Path, config: dict[str, Any], command: str, rule: str | None) -> None:
    machine = host(tmp_path, {"/m/config.json": json.dumps(config)})
    found = set(told(lint(f"vllm serve /m {command}", host=machine), Severity.FAIL, Severity.WARN)) - {"perf-enforce-eager"}
    assert found == ({rule} if rule else set())


def test_the_configuration_that_a_command_names_is_judged_too(tmp_path: Path) -> None:
    machine = host(tmp_path, {"/etc/vllm.yaml": "model: /m\nmax-num-seqs: 8\nprefetch-batch: true\n"})
    found = told(lint("vllm serve --config /etc/vllm.yaml", host=machine))["serving-flag-prefetch-batch"]
    assert (found.evidence[0].source, found.evidence[0].line) == ("/etc/vllm.yaml", 3)


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000, '{"num_attention_heads": "x", "quantization_config": []}', '{"num_attention_heads": 0}'])
def test_a_broken_model_configuration_says_nothing(tmp_path: Path, text: str) -> None:
    machine = host(tmp_path, {"/m/config.json": text})
    assert findings(lint("vllm serve /m -tp 3", host=machine)) == []


def test_only_rules_that_read_commands_are_asked() -> None:
    asked = {verdict.rule for verdict in lint("vllm serve /m").verdicts}
    assert {"serving-flag-unknown", "serving-env-misspelt", "model-quantization-name-unknown"} <= asked
    assert not {"host-swappiness-high", "driver-too-old-for-cann"} & asked
    assert {verdict.rule for verdict in lint("vllm serve /m", only=("serving-flag-*",)).verdicts} < asked


def doctor(*arguments: str, cwd: Path, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", "XDG_CACHE_HOME": str(cwd / "cache")}
    return subprocess.run([sys.executable, "-m", "doctor", *arguments], cwd=cwd, env=environ, input=data, capture_output=True, timeout=120, check=False)


ONLY = ("--only", "serving-flag-*,serving-json-option-invalid")


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "start.sh").write_text("vllm serve /m --max-batch-size 3\n", encoding="utf-8")
    (tmp_path / "good.sh").write_text("vllm serve /m --max-num-seqs 3\n", encoding="utf-8")
    (tmp_path / "none.sh").write_text("echo hello\n", encoding="utf-8")
    (tmp_path / "long.sh").write_bytes(b"vllm serve /m --max-num-seqs 3\n" + b"# \0filler\n" * 600_000)
    wrong = doctor("lint", "--json", "--vllm-version", "0.18.0", *ONLY, "start.sh", "-", "--", "vllm", "serve", "/m", "--json", cwd=tmp_path, data=b"vllm serve /x --prefetch-batch\n")
    answer = json.loads(wrong.stdout)
    jsonschema.Draft202012Validator(json.loads(schema_text())).validate(answer)
    assert {cause["rule"] for cause in answer["causes"]} == {"serving-flag-max-batch-size", "serving-flag-prefetch-batch", "serving-flag-unknown"}
    if not any(verdict["outcome"] == "broken" for verdict in answer.get("verdicts", [])):
        assert wrong.returncode in (1, 3)
    text = doctor("lint", "--lang", "zh", *ONLY, "start.sh", cwd=tmp_path)
    assert "--max-num-seqs" in text.stdout.decode() and "并发上限" in text.stdout.decode()
    assert doctor("lint", *ONLY, "none.sh", cwd=tmp_path).returncode == 3
    long = doctor("lint", *ONLY, "long.sh", cwd=tmp_path)
    assert long.returncode == 3 and b"4 MB" in long.stdout
    assert doctor("lint", cwd=tmp_path).returncode == 2
    assert doctor("lint", "--vllm-version", "latest", "good.sh", cwd=tmp_path).returncode == 2
    assert doctor("lint", "vllm", "serve", "/m", cwd=tmp_path).returncode == 2


def test_keys_of_additional_config_against_the_installed_plugin(tmp_path: Path) -> None:
    files = installed() | {
        f"{SITE}/vllm_ascend/__init__.py": "",
        f"{SITE}/vllm_ascend/ascend_config.py": 'class AscendConfig:\n    def __init__(self, additional_config):\n        self.a = additional_config.get("enable_new_thing")\n',
        f"{SITE}/vllm_ascend-9.9.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: vllm-ascend\nVersion: 9.9.0\n",
    }
    machine = host(tmp_path, files)
    command = """vllm serve /m --additional-config {"enable_new_thnig":1,"torchair_graph_config":{},"omni":1}"""
    found = {finding.subject: finding.rule for finding in findings(lint(command, host=machine, version=None))}
    assert found["enable_new_thnig"] == "serving-additional-config-unknown-key"
    assert found["torchair_graph_config"] == "serving-additional-config-removed-key"
    assert "omni" not in found and "enable_new_thing" not in found


def test_a_relative_configuration_starts_where_the_command_does(tmp_path: Path) -> None:
    machine = host(tmp_path, {"/srv/conf.yaml": "max-num-seqs: 8\nmax-batch-size: 4\n"})
    given = Input("command line", words=("vllm", "serve", "m", "--config", "conf.yaml"), folder="/srv")
    assert "serving-flag-max-batch-size" in told(lint(given, host=machine))
    unit = Input("/x/a.service", "[Service]\nWorkingDirectory=/srv\nExecStart=/bin/vllm serve m --config ./conf.yaml\n")
    assert "serving-flag-max-batch-size" in told(lint(unit, host=machine))
