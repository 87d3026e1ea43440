"""Commands are found in every kind of file, with their line, their variables and their container; garbage holds none."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.lint.inputs import Found, of_arguments, of_text
from doctor.lint.starts import Start


def only(text: str, name: str) -> Start:
    found = of_text(textwrap.dedent(text), name)
    assert len(found.starts) == 1, found
    return found.starts[0]


def test_a_shell_script() -> None:
    start = only(
        """\
        #!/bin/bash
        # vllm serve old --ascend-opt=1
        export HCCL_BUFFSIZE=512
        MODEL=/data/m
        nohup vllm serve $MODEL \\
            --max-num-seqs 8 \\
            --served-model-name a b > log 2>&1 &
        """,
        "start.sh",
    )
    assert start.words == ("/data/m", "--max-num-seqs", "8", "--served-model-name", "a", "b")
    assert start.command.environment["HCCL_BUFFSIZE"] == "512" and start.model_first
    assert (start.command.line, start.line_of("--max-num-seqs")) == (5, 6)


def test_a_container_start_tells_image_cards_and_its_own_variables_only() -> None:
    found = of_text(
        "export ASCEND_RT_VISIBLE_DEVICES=0,1\n"
        "docker run --device /dev/davinci0 --device /dev/davinci7 --device /dev/davinci_manager -e HCCL_BUFFSIZE=1 \\\n"
        "  quay.io/ascend/vllm-ascend:v0.18.0 vllm serve /m -tp 2\n",
        "run.sh",
    )
    (start,) = found.starts
    assert start.image == "quay.io/ascend/vllm-ascend:v0.18.0" and start.cards == 2 and start.words == ("/m", "-tp", "2")
    assert start.command.environment == {"HCCL_BUFFSIZE": "1"}
    assert len(found.runs) == 1 and found.variables == {"HCCL_BUFFSIZE": ("1", 2)}


@pytest.mark.parametrize(
    "inner", ['bash -c "vllm serve /m --port 1"', "vllm serve /m --port 1", "python3 -m vllm.entrypoints.openai.api_server --model /m --port 1"]
)
def test_what_the_container_runs(inner: str) -> None:
    start = only(f"docker run --privileged img:1 {inner}\n", "run.sh")
    assert start.image == "img:1" and start.cards is None and start.words[-2:] == ("--port", "1")


def test_blocks_of_markdown_do_not_share_their_variables() -> None:
    text = "First:\n\n```bash\nexport ASCEND_RT_VISIBLE_DEVICES=0\nvllm serve /a\n```\n\nThen:\n\n```bash\nvllm serve /b --port <port> --dtype `<dtype>`\n```\n"
    first, second = of_text(text, "guide.md").starts
    assert first.command.environment and not second.command.environment
    assert (first.command.line, second.command.line) == (5, 11)
    assert len(second.words) == 5, "a placeholder is a value, not a redirection"


def test_a_python_file_by_its_syntax_tree() -> None:
    found = of_text(
        textwrap.dedent(
            '''\
            """Not this one: LLM(model="doc")."""
            import os, subprocess
            from vllm import LLM as Engine, SamplingParams
            os.environ["HCCL_BUFFSIZE"] = "512"
            params = SamplingParams(temperature=0.1)
            llm = Engine(
                "m", tensor_parallel_size=2,
                device="ascend", **{"max_num_seqs": 4}, additional_config={"a": True}, seed=n)
            subprocess.run(["vllm", "serve", "x", "--port", "1"])
            '''
        ),
        "run.py",
    )
    call, served = found.starts
    assert call.command.model == "m" and call.command.line == 6
    assert call.command.keywords["device"] == "ascend" and call.command.keywords["max_num_seqs"] == "4"
    assert call.command.keywords["additional_config"] == '{"a": true}' and call.command.keywords["seed"] == "<Name>"
    assert call.line_of("device") == 8 and call.command.environment == {"HCCL_BUFFSIZE": "512"}
    assert served.words == ("x", "--port", "1") and served.command.line == 9


def test_a_configuration_of_vllm() -> None:
    start = only(
        """\
        # for vllm serve --config
        model: /models/x
        tensor_parallel_size: 4
        enforce-eager: true
        enable-prefix-caching: false
        served-model-name: [a, b]
        compilation-config: {cudagraph_mode: FULL, cudagraph_capture_sizes: [1, 2]}
        """,
        "serve.yaml",
    )
    assert start.how == "config" and start.skipped == ("enable-prefix-caching",)
    assert start.words[:5] == ("--model", "/models/x", "--tensor_parallel_size", "4", "--enforce-eager")
    assert start.words[-1] == '{"cudagraph_mode": "FULL", "cudagraph_capture_sizes": [1, 2]}'
    assert start.line_of("--tensor_parallel_size") == 3


@pytest.mark.parametrize("text", ["name: x\non: push\njobs: {}\n", "model_name: m\ntasks: []\nhardware: a2\nmodel: m\n", "a: 1\n"])
def test_other_yaml_is_no_configuration(text: str) -> None:
    assert of_text(text, "x.yaml") == Found()


def test_a_compose_file() -> None:
    found = of_text(
        textwrap.dedent(
            """\
            x-defaults: &defaults
              devices: ["/dev/davinci0:/dev/davinci0"]
            services:
              web:
                image: nginx
              vllm:
                <<: *defaults
                image: quay.io/ascend/vllm-ascend:v0.18.0
                entrypoint: ["vllm", "serve"]
                environment: {HCCL_BUFFSIZE: 512}
                command: ["/m", "--max-num-seqs", "8"]
              sh:
                image: i:1
                command: bash -lc 'source env.sh && vllm serve /m2 --port $$PORT'
            """
        ),
        "docker-compose.yml",
    )
    one, two = found.starts
    assert one.words == ("/m", "--max-num-seqs", "8") and one.cards == 1 and one.line_of("--max-num-seqs") == 11
    assert two.words == ("/m2", "--port", "$PORT") and two.image == "i:1"
    assert len(found.runs) == 3 and found.variables == {"HCCL_BUFFSIZE": ("512", 10)}


MANIFEST = """\
apiVersion: apps/v1
kind: {kind}
metadata: {{name: v}}
spec:
  template:
    spec:
      containers:
      - name: side
        image: busybox
      - name: vllm
        image: quay.io/ascend/vllm-ascend:v0.18.0-a3
        {command}
        env:
        - name: HCCL_BUFFSIZE
          value: "512"
        - name: HF_TOKEN
          valueFrom: {{secretKeyRef: {{name: s, key: t}}}}
        resources:
          limits:
            huawei.com/Ascend910: 4
"""


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "LeaderWorkerSet"])
@pytest.mark.parametrize(
    "command",
    [
        'command: ["vllm", "serve"]\n        args: ["/m", "-tp", "8"]',
        'command: ["/bin/sh", "-c"]\n        args:\n        - |\n          source set_env.sh\n          vllm serve /m \\\n            -tp 8',
        'args: ["vllm", "serve", "/m", "-tp", "8"]',
    ],
)
def test_a_kubernetes_object(kind: str, command: str) -> None:
    (start,) = of_text(MANIFEST.format(kind=kind, command=command), "pod.yaml").starts
    assert start.words == ("/m", "-tp", "8") and start.cards == 4 and start.image == "quay.io/ascend/vllm-ascend:v0.18.0-a3"
    assert start.command.environment == {"HCCL_BUFFSIZE": "512", "HF_TOKEN": "<valueFrom>"}


def test_a_systemd_unit() -> None:
    start = only(
        """\
        [Service]
        # ExecStart=/usr/bin/vllm serve /old
        Environment="HCCL_BUFFSIZE=512" OMP_NUM_THREADS=1
        ExecStart=-/opt/venv/bin/vllm serve /m \\
          --max-num-seqs 8
        """,
        "vllm.service",
    )
    assert start.words == ("/m", "--max-num-seqs", "8") and start.line_of("--max-num-seqs") == 5
    assert start.command.environment == {"HCCL_BUFFSIZE": "512", "OMP_NUM_THREADS": "1"}


@pytest.mark.parametrize(
    "words",
    [
        ("vllm", "serve", "/m", "--port", "1"),
        ("env", "HCCL_BUFFSIZE=512", "/opt/venv/bin/vllm", "serve", "/m", "--port", "1"),
        ("HCCL_BUFFSIZE=512", "python3", "-m", "vllm.entrypoints.cli.main", "serve", "/m", "--port", "1"),
        ("bash", "-c", "vllm serve /m --port 1"),
        ("docker", "run", "-e", "HCCL_BUFFSIZE=512", "img:1", "vllm", "serve", "/m", "--port", "1"),
    ],
)
def test_a_command_line_itself(words: tuple[str, ...]) -> None:
    (start,) = of_arguments(words).starts
    assert start.words == ("/m", "--port", "1") and start.command.line == 0
    assert start.command.environment in ({}, {"HCCL_BUFFSIZE": "512"})


def test_quotes_of_a_command_line_stay_as_the_shell_left_them() -> None:
    (start,) = of_arguments(("docker", "run", "img:1", "vllm", "serve", "/m", "--additional-config", '{"a": true}')).starts
    assert start.words[-1] == '{"a": true}'


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))


@pytest.mark.parametrize("name", ["x.yaml", "x.py", "x.sh", "x.service", "x", "docker-compose.yml"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0\0\0",
        "a: [b, {c: ",
        "services: {a: {image: [1, 2], command: {x: y}, environment: 7, devices: {}}}",
        "kind: Pod\nspec: {containers: [1, null, {command: {a: b}, env: [1, {name: 2}]}, [[[]]]]}\n",
        "[" * 100_000,
        "{a: " * 50_000,
        "a:\n" + "".join(" " * n + "- \n" for n in range(1, 400)),
        "services: {a: {image: {{ .Values.image }}}}",
        "<<: [1, 2]\n? [a, b]\n: c\nmodel: x\nmax-num-seqs: *nowhere",
        "(" * 5000,
        "vllm serve " * 5000,
        "vllm serve '" + "x" * 100_000,
        "docker run " * 3000,
        "```\n" * 5000,
        "LLM(" * 20_000,
        "[Service]\nExecStart=\nEnvironment=\"\n\\\n",
        BOMB,
    ],
)
def test_hostile_text_ends_quietly(text: str, name: str) -> None:
    of_text(text, name)


@given(st.text(max_size=300), st.sampled_from(["a.yaml", "a.py", "a.sh", "a.service", "a"]))
def test_no_text_makes_it_fail(text: str, name: str) -> None:
    of_text(text, name)


@given(st.lists(st.text(max_size=20), max_size=10))
def test_no_command_line_makes_it_fail(words: list[str]) -> None:
    of_arguments(tuple(words))
