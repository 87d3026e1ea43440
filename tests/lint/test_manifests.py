"""Objects of Kubernetes, charts of Helm and systemd units: what starts vLLM in them, with its cards, its memory and its variables."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.kubernetes import parse_kubernetes
from doctor.lint import helm
from doctor.lint.inputs import Found, of_text

LIST = """\
apiVersion: v1
kind: List
items:
- apiVersion: leaderworkerset.x-k8s.io/v1
  kind: LeaderWorkerSet
  spec:
    leaderWorkerTemplate:
      leaderTemplate:
        spec:
          hostNetwork: true
          volumes:
          - {name: shm, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
          - {name: driver, hostPath: {path: /usr/local/Ascend/driver}}
          containers:
          - name: leader
            image: quay.io/ascend/vllm-ascend:v0.18.0-a3
            securityContext: {privileged: true, runAsUser: 1000}
            env: [{name: TP, value: "8"}, {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}]
            command: [vllm, serve, /models/m, --tensor-parallel-size, $(TP)]
            volumeMounts: [{name: shm, mountPath: /dev/shm}, {name: driver, mountPath: /usr/local/Ascend/driver}]
            resources: {limits: {huawei.com/Ascend910: "8"}}
- apiVersion: ray.io/v1
  kind: RayCluster
  spec:
    workerGroupSpecs:
    - template:
        spec:
          containers:
          - {name: worker, image: x, args: [vllm, serve, /models/n]}
"""


def lint(text: str, name: str = "x.yaml") -> Found:
    return of_text(textwrap.dedent(text), name)


def test_containers_at_any_depth_with_what_their_pod_tells() -> None:
    found = lint(LIST)
    assert [start.command.model for start in found.starts] == ["/models/m", "/models/n"]
    assert found.starts[0].words == ("/models/m", "--tensor-parallel-size", "8") and found.starts[0].cards == 8
    leader = found.runs[0]
    assert leader.orchestrator == "kubernetes" and leader.network == "host" and leader.privileged and leader.user == "1000"
    assert leader.shm_size == 64 * 2**20
    assert ("/usr/local/Ascend/driver", "/usr/local/Ascend/driver") in leader.volumes
    assert leader.environment["IP"] == "<valueFrom>"


def test_the_facts_of_a_pasted_manifest_are_those_of_lint() -> None:
    pasted = parse_kubernetes(LIST, "paste", 10)
    assert [run.image for run in pasted] == ["quay.io/ascend/vllm-ascend:v0.18.0-a3", "x"]
    assert pasted[0].line == 10 + LIST[: LIST.index("name: leader")].count("\n")
    assert parse_kubernetes("services:\n  a: {image: b}\n") == ()


@pytest.mark.parametrize("key", ["extraArgs", "args", "engineArgs"])
def test_engine_arguments_in_values_of_a_chart(key: str) -> None:
    found = lint(f"""\
        modelSpec:
        - name: a
          image: {{repository: quay.io/ascend/vllm-ascend, tag: v0.18.0}}
          modelURL: Qwen/Qwen3-8B
          vllmConfig:
            maxModelLen: 4096
            enableChunkedPrefill: true
            replicaCount: 3
          {key}: ["--max-num-seqs", "8"]
        """)
    start = found.starts[0]
    assert start.command.model == "Qwen/Qwen3-8B" and start.image == "quay.io/ascend/vllm-ascend:v0.18.0"
    assert {"max-model-len": "4096", "max-num-seqs": "8"}.items() <= start.command.flags.items()
    assert "enable-chunked-prefill" in start.command.flags and "replica-count" not in start.command.flags


def test_values_of_other_programs_start_nothing() -> None:
    assert not lint("web:\n  args: ['--listen', ':80']\n  replicas: 2\n").starts


def test_a_template_keeps_its_lines_and_what_it_leaves_open_is_not_judged() -> None:
    text = textwrap.dedent("""\
        kind: Deployment
        {{- if .Values.on }}
        spec:
          containers:
          - image: {{ .Values.image }}:{{ .Values.tag }}
            args: [vllm, serve, "{{ .Values.model }}", --max-model-len={{ .Values.len }}, --prefetch-batch]
        {{- end }}
        """)
    assert helm.is_template(text) and helm.filled(text).count("\n") == text.count("\n")
    start = lint(text).starts[0]
    assert start.command.line == 6 and start.words[-1] == "--prefetch-batch" and "…" in start.words[0]


def test_braces_of_json_are_no_template() -> None:
    text = """vllm serve m --additional-config '{"a": {"b": {}}}'\n"""
    assert not helm.is_template(text) and helm.filled(text) == text


UNIT = """\
[Service]
WorkingDirectory=/srv
EnvironmentFile=-/etc/vllm.env
Environment=HCCL_BUFFSIZE=200
ExecStart=/opt/bin/vllm serve ${MODEL} --max-num-seqs $SEQS $OTHER
"""


def test_a_unit_takes_the_variables_of_the_files_that_it_names() -> None:
    files = {"/etc/vllm.env": "# comment\nMODEL=\"/models/m\"\nSEQS=8\nHCCL_BUFFSIZE=100\n"}
    found = of_text(UNIT, "a.service", read=files.get)
    start = found.starts[0]
    assert start.words == ("/models/m", "--max-num-seqs", "8", "$OTHER") and start.folder == "/srv"
    assert start.command.environment["HCCL_BUFFSIZE"] == "200" and found.variables["SEQS"] == ("8", 3)


def test_a_unit_whose_file_is_not_there() -> None:
    start = of_text(UNIT, "a.service").starts[0]
    assert start.words[0] == "${MODEL}" and start.command.environment == {"HCCL_BUFFSIZE": "200"}


@given(st.text(max_size=300))
def test_no_text_makes_them_raise(text: str) -> None:
    parse_kubernetes("kind: Pod\n" + text)
    of_text("kind: Pod\n" + text, "x.yaml")
    of_text("[Service]\nExecStart=vllm serve m " + text, "x.service", read=lambda path: text)
    helm.filled("{{ .Values.a }}" + text)
