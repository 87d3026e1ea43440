"""vLLM's processes and commands: roles, flags as typed, and commands found in scripts, Markdown, logs and Python."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts import HostFacts
from doctor.facts.serve_flags import parse_arguments, parse_dict, parse_flags
from doctor.facts.serve_text import MOST_COMMANDS
from doctor.facts.shell_words import shell_commands
from doctor.facts.vllm import (
    ServeCommand,
    ServeCommands,
    VllmProcesses,
    find_commands,
    known_roles,
    parse_command,
    parse_python_call,
)
from doctor.host import Process, Unavailable
from tests.facts.tree_host import TreeHost


def command(text: str) -> ServeCommand:
    found = parse_command(text)
    assert found is not None
    return found


def only(text: str) -> ServeCommand:
    (found,) = find_commands(text)
    return found


# --- one command


def test_continued_command_with_json_and_redirection() -> None:
    found = command(
        "export HCCL_BUFFSIZE=1024\nVLLM_USE_V1=1 vllm serve /m/Qwen3 \\\n  -tp 8 --max_num_seqs=64 --trust-remote-code \\  \n"
        """  --additional-config '{"a": {"b": true}}' 2>&1 | tee log\n"""
    )
    assert found.model == "/m/Qwen3"
    assert found.flags == {
        "tensor-parallel-size": "8", "max-num-seqs": "64", "trust-remote-code": "", "additional-config": '{"a": {"b": true}}',
    }  # fmt: skip
    assert found.environment == {"HCCL_BUFFSIZE": "1024", "VLLM_USE_V1": "1"}


def test_article_command_by_module() -> None:
    argv = ["python3", "-m", "vllm.entrypoints.openai.api_server", "--model", "/m", "--device", "ascend", "--ascend-opt=1", "--prefetch-batch"]
    found = parse_command(argv, "process 7", pid=7)
    assert found is not None
    assert (found.model, found.pid, found.source) == ("/m", 7, "process 7")
    assert found.flags == {"model": "/m", "device": "ascend", "ascend-opt": "1", "prefetch-batch": ""}


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        ("-pp 2", "pipeline-parallel-size", "2"),
        ("-dp=4", "data-parallel-size", "4"),
        ("-O3", "optimization-level", "3"),
        ("-O 2", "optimization-level", "2"),
        ("""-O '{"mode":3}'""", "compilation-config", '{"mode":3}'),
        ("-O.cudagraph_mode=FULL", "compilation-config.cudagraph_mode", "FULL"),
        ("--compilation_config.cudagraph_mode FULL", "compilation-config.cudagraph_mode", "FULL"),
        ("--seed -1", "seed", "-1"),
        ("--served-model-name a b --port 1", "served-model-name", "a b"),
        ("--enforce-eager /m", "enforce-eager", ""),
        ("--enable-chunked-prefill False", "enable-chunked-prefill", "False"),
        ("--port 1 --port 2", "port", "2"),
        ("--rope-scaling '' --port 1", "rope-scaling", ""),
    ],
)
def test_flags(words: str, name: str, value: str) -> None:
    assert command(f"vllm serve {words}").flags[name] == value


def test_model_may_come_last_and_from_a_variable() -> None:
    assert command("vllm serve --enforce-eager --port 1 /m").model == "/m"
    assert only("MODEL=/models/a\nPORT=81\nvllm serve $MODEL --port ${PORT} --x $OTHER\n").flags == {"port": "81", "x": "$OTHER"}


@pytest.mark.parametrize(
    "text", ["vllm bench serve --model /m", "vllm --version", "pip install vllm", "python -m vllm.entrypoints.openai.run_batch", "serve /m", ""]
)
def test_what_serves_nothing(text: str) -> None:
    assert parse_command(text) is None
    assert find_commands(text) == ()


# --- commands in a text


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("$ vllm serve /m --port 1", "/m"),
        ("(venv) [root@node ~]# vllm serve /m --port 1", "/m"),
        ("> vllm serve /m --port 1", "/m"),
        ("I start it with `vllm serve Qwen/Qwen3-8B --port 1` and it dies", "Qwen/Qwen3-8B"),
        ("用 vllm serve /m --port 1 启动", "/m"),
        ("docker run --rm --device /dev/davinci0 quay.io/ascend/vllm-ascend:v0.18.0 vllm serve /m --port 1", "/m"),
        ("docker exec -it c bash -c 'source /x/set_env.sh && vllm serve /m --port 1'", "/m"),
        ('command: ["vllm", "serve", "/m", "--port", "1"]', "/m"),
        ("ExecStart=/opt/venv/bin/vllm serve /m --port 1", "/m"),
        ("nohup numactl -N 0 vllm serve /m --port 1 > log 2>&1 &", "/m"),
        ("+ /opt/venv/bin/python3 /opt/venv/bin/vllm serve /m --port 1", "/m"),
        ("python -m vllm.entrypoints.openai.api_server --model /m --port 1", "/m"),
    ],
)
def test_command_in_its_surroundings(text: str, model: str) -> None:
    found = only(f"first line\n{text}\nlast line\n")
    assert (found.model, found.flags["port"], found.line) == (model, "1", 2)


@pytest.mark.parametrize(
    "text",
    [
        "INFO Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.",
        "usage: vllm serve [model_tag] [options]",
        "vllm serve: error: argument --dtype: invalid choice: 'fp16'",
        "The command vllm serve is documented elsewhere.",
        "api_server.py: error: unrecognized arguments: --max-batch-size 128",
    ],
)
def test_prose_and_messages_are_no_commands(text: str) -> None:
    assert find_commands(text) == ()


def test_parts_that_were_cut_out_are_neither_model_nor_value() -> None:
    found = only("$ vllm serve ... --tensor-parallel-size 4 ...\n")
    assert (found.model, found.flags) == (None, {"tensor-parallel-size": "4"})


def test_variables_of_the_command_line_of_a_container() -> None:
    assert only("docker run -e A=1 --env=B=2 image vllm serve /m").environment == {"A": "1", "B": "2"}


def test_logged_arguments() -> None:
    found = only(
        "(APIServer pid=1) INFO 11-30 08:55:33 [api_utils.py:286] non-default args: {'model_tag': 'tiny', 'port': 8212, 'enforce_eager': True,"
        " 'compilation_config': {'level': None}, 'disable_log_stats': False, 'odd': <object at 0x7f>}"
    )
    assert found.argv == () and found.model == "tiny"
    assert found.flags == {
        "model-tag": "tiny", "port": "8212", "enforce-eager": "", "compilation-config": '{"level": null}', "odd": "<object at 0x7f>",
    }  # fmt: skip


def test_logged_namespace() -> None:
    found = only("INFO api_server.py:1] args: Namespace(subparser='serve', model_tag='/m', host=None, port=8000, x=C(a=1, b=<f 0x1>), tp=True)")
    assert (found.model, found.flags) == ("/m", {"model-tag": "/m", "port": "8000", "x": "C(a=1, b=<f 0x1>)", "tp": ""})


def test_call_in_python() -> None:
    text = 'from vllm import LLM\nllm = LLM(\n    model="/m", device="ascend", batch_size=128,  # all cards\n    tensor_parallel_size=n * 2)\n'
    found = only(text)
    assert (found.argv, found.model, found.line, found.flags) == (("LLM",), "/m", 2, {})
    assert found.keywords == {"model": "/m", "device": "ascend", "batch_size": "128", "tensor_parallel_size": "n * 2"}
    assert parse_python_call(text) == found.keywords


def test_call_in_an_excerpt_that_is_no_python() -> None:
    assert parse_python_call("llm = vllm.LLM(model='/m', ..., quantization=\"int8\"") == {"model": "/m", "quantization": "int8"}


def test_line_of_a_traceback_is_no_call() -> None:
    text = "    engine_args = EngineArgs(\n                  ^^^^^^\nTypeError: EngineArgs.__init__() got an unexpected keyword argument 'device'\n"
    assert find_commands(text) == ()


def test_commands_of_one_text_in_order() -> None:
    text = "# a\nvllm serve /a --port 1\n\nLLM(model='/b')\nvllm serve /c \\\n  --port 3\n"
    assert [(found.model, found.line, found.source) for found in find_commands(text, "run.sh")] == [
        ("/a", 2, "run.sh"), ("/b", 4, "run.sh"), ("/c", 5, "run.sh"),
    ]  # fmt: skip


def test_number_of_commands_is_bounded() -> None:
    assert len(find_commands("vllm serve /m\n" * 1000)) == MOST_COMMANDS


# --- processes


@pytest.mark.parametrize(
    ("name", "argv", "role"),
    [
        ("vllm", ("/opt/venv/bin/python3", "/opt/venv/bin/vllm", "serve", "/m"), "api"),
        ("python3", ("python3", "-m", "vllm.entrypoints.openai.api_server"), "api"),
        ("VLLM::APIServer", ("VLLM::APIServer_1",), "api"),
        ("VLLM::EngineCor", ("VLLM::EngineCore_DP0",), "engine"),
        ("EngineCore_0", (), "engine"),
        ("VLLM::Worker_TP", ("VLLM::Worker_TP0_EP0",), "worker"),
        ("VLLMWorker_TP", (), "worker"),
        ("VllmWorker", (), "worker"),
        ("Worker_TP1", (), "worker"),
        ("VLLM::DPCoordin", ("VLLM::DPCoordinator",), "other"),
        ("vllm", ("/opt/venv/bin/python3", "/opt/venv/bin/vllm", "bench", "serve"), "other"),
        ("docker", ("docker", "run", "image", "vllm", "serve", "/m"), None),
        ("bash", ("bash", "-c", "vllm serve /m"), None),
        ("grep", ("grep", "vllm", "serve"), None),
        ("python3", ("python3", "app.py"), None),
        ("Worker_1", (), None),
        ("", (), None),
    ],
)
def test_roles(name: str, argv: tuple[str, ...], role: str | None) -> None:
    assert known_roles(name, argv) == role


SERVER = Process(7, 1, "vllm", ("/opt/venv/bin/python3", "/opt/venv/bin/vllm", "serve", "/m", "--port", "1"))


def test_running_processes_and_their_commands() -> None:
    child = Process(8, 7, "python3", ("/opt/venv/bin/python3", "-c", "from multiprocessing.spawn import spawn_main"))
    store = HostFacts(TreeHost(running=(SERVER, child, Process(9, 1, "sshd"))))
    processes = store.get(VllmProcesses)
    assert isinstance(processes, VllmProcesses)
    assert [(process.pid, process.role) for process in processes.processes] == [(7, "api"), (8, "other")]
    commands = store.get(ServeCommands)
    assert isinstance(commands, ServeCommands)
    assert [(found.model, found.pid) for found in commands.commands] == [("/m", 7)]


def test_scripts_and_units_tell_what_would_be_run() -> None:
    files = {
        "/root/start.sh": "#!/bin/bash\nvllm serve /a\n",
        "/home/ma/go.sh": "vllm serve /b\n",
        "/etc/systemd/system/vllm.service": '[Service]\nEnvironment="HCCL_BUFFSIZE=512"\nExecStart=/opt/venv/bin/vllm serve /c --max-model-len 4096\n',
        "/root/notes.txt": "vllm serve /d\n",
    }
    found = HostFacts(TreeHost(files, running=(SERVER,))).get(ServeCommands)
    assert isinstance(found, ServeCommands)
    assert [(entry.model, entry.source) for entry in found.commands] == [
        ("/m", "process 7"), ("/a", "/root/start.sh"), ("/b", "/home/ma/go.sh"), ("/c", "/etc/systemd/system/vllm.service"),
    ]  # fmt: skip
    assert found.commands[-1].environment == {"HCCL_BUFFSIZE": "512"}


def test_nothing_running_is_an_answer_and_not_knowing_is_not() -> None:
    assert HostFacts(TreeHost(running=())).get(ServeCommands) == ServeCommands((), source="/proc")
    assert isinstance(HostFacts(TreeHost()).get(ServeCommands), Unavailable)
    assert isinstance(HostFacts(TreeHost()).get(VllmProcesses), Unavailable)


# --- hostile text

_PIECES = st.sampled_from(
    ["vllm serve ", "LLM(", "EngineArgs(", "args: Namespace(", "non-default args: {", "'", '"', "\\", "\n", "(", "[", "{", ")", "}", ",", "=", "--a", " ", "$X",
     "export X=", "-O", "<", ">", "#", "`", "|", "&", "/m", "-m vllm.entrypoints.openai.api_server", '"vllm", "serve"', "\x00", "é"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=40).map("".join) | st.text())
def test_no_text_breaks_a_parser(text: str) -> None:
    find_commands(text)
    parse_command(text)
    parse_python_call(text)
    parse_arguments(text)
    parse_dict(text)
    parse_flags(text.split())
    assert all(words for words in shell_commands(text))


@pytest.mark.parametrize(
    "text", ["LLM(" + "(" * 9000, "LLM(" + "-" * 8000 + "1)", "LLM(x" + ".a" * 4000 + ")", "LLM(a=" + "[" * 150 + "]" * 150 + ")", "vllm serve " + "'\"" * 30000]
)
def test_deep_nesting_is_survived(text: str) -> None:
    assert isinstance(find_commands(text), tuple)


@given(st.lists(st.text(max_size=12), max_size=12), st.text(max_size=15))
def test_no_process_breaks_the_roles(argv: list[str], name: str) -> None:
    assert known_roles(name, argv) in ("api", "engine", "worker", "other", None)
