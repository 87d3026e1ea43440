"""vLLM's parser, without vLLM: prefixes, underscores, booleans, JSON, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.lint.flags import Flag, Kind, Table, nearest
from doctor.lint.parse import Wrong, parse

FLAGS = (
    Flag("max-num-seqs", Kind.INT),
    Flag("max-num-batched-tokens", Kind.SIZE),
    Flag("max-model-len", Kind.SIZE),
    Flag("tensor-parallel-size", Kind.INT, short=("tp",)),
    Flag("pipeline-parallel-size", Kind.INT, short=("pp",)),
    Flag("quantization", Kind.TEXT, short=("q",)),
    Flag("enable-prefix-caching", Kind.BOOL),
    Flag("enforce-eager", Kind.BOOL),
    Flag("headless", Kind.SWITCH),
    Flag("dtype", Kind.TEXT, ("auto", "half", "float16", "bfloat16")),
    Flag("served-model-name", Kind.TEXT, many="+"),
    Flag("additional-config", Kind.JSON_OR_TEXT),
    Flag("compilation-config", Kind.JSON, short=("cc",)),
    Flag("gpu-memory-utilization", Kind.FLOAT),
    Flag("device-ids", Kind.TEXT, many="+"),
    Flag("device-memory-utilization", Kind.FLOAT),
    Flag("hf-token", Kind.TEXT, many="?"),
    Flag("optimization-level", Kind.INT),
)
TABLE = Table("1.0", {flag.name: flag for flag in FLAGS})


def wrongs(*words: str, takes_model: bool = True) -> list[tuple[Wrong, str]]:
    return [(problem.wrong, problem.name) for problem in parse(words, TABLE, takes_model=takes_model).problems]


@pytest.mark.parametrize(
    "words",
    [
        ("m", "--max-num-seqs", "8"),
        ("m", "--max_num_seqs=8"),
        ("m", "-tp", "2", "-pp=2"),
        ("m", "-qascend"),
        ("m", "--enable-prefix-caching"),
        ("m", "--no-enable-prefix-caching"),
        ("m", "--no_enable_prefix_caching"),
        ("m", "--served-model-name", "a", "b", "--dtype", "auto"),
        ("m", "--additional-config", '{"a": {"b": [1, true]}}'),
        ("m", '--additional-config={"a": "with a blank"}'),
        ("m", "--compilation-config.cudagraph_mode", "FULL", "--compilation-config.pass_config.x=1"),
        ("m", "-cc.level", "3"),
        ("m", "-O3"),
        ("m", "-O", "3"),
        ("m", "-O.level=3"),
        ("m", "--max-model-len", "32k", "--max-num-batched-tokens", "1.5M"),
        ("m", "--max-model-len", "-1"),
        ("m", "--gpu-memory-utilization", ".9"),
        ("m", "--hf-token", "--headless"),
        ("--headless", "m"),
        ("m", "--dtype", "None"),
        ("m", "--max-num-seqs", "$N", "--dtype", "<dtype>", "--additional-config", "…", "--max-model-len", "${LEN}"),
    ],
)
def test_what_vllm_accepts_is_accepted(words: tuple[str, ...]) -> None:
    assert wrongs(*words) == []


def test_a_unique_beginning_stands_for_the_whole_name() -> None:
    parsed = parse(("m", "--max-num-b", "8", "--max_num_s=4"), TABLE)
    assert [(p.wrong, p.name, p.meant) for p in parsed.problems] == [
        (Wrong.SHORTENED, "--max-num-b", ("--max-num-batched-tokens",)),
        (Wrong.SHORTENED, "--max_num_s", ("--max-num-seqs",)),
    ]
    assert parsed.flags == {"max-num-batched-tokens": "8", "max-num-seqs": "4"}


def test_an_ambiguous_beginning_is_refused_with_its_candidates() -> None:
    (problem,) = parse(("m", "--device", "ascend"), TABLE).problems
    assert problem.wrong is Wrong.AMBIGUOUS and problem.value == "ascend"
    assert set(problem.meant) == {"--device-ids", "--device-memory-utilization"}


def test_the_exact_name_is_never_ambiguous() -> None:
    table = Table("1", {name: Flag(name, Kind.INT) for name in ("port", "port-range")})
    assert parse(("m", "--port", "1"), table).problems == ()


def test_the_negative_form_of_a_boolean_is_told_apart_from_its_positive_one() -> None:
    assert parse(("m", "--no-enforce-eager"), TABLE).flags == {"enforce-eager": "false"}
    assert parse(("m", "--enforce-eager"), TABLE).flags == {"enforce-eager": ""}
    assert wrongs("m", "--no-headless") == [(Wrong.UNKNOWN, "--no-headless")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("m", "--max-batch-size", "8"), (Wrong.UNKNOWN, "--max-batch-size")),
        (("m", "---headless"), (Wrong.UNKNOWN, "---headless")),
        (("m", "--dtype", "fp16"), (Wrong.CHOICE, "--dtype")),
        (("m", "--max-num-seqs", "many"), (Wrong.TYPE, "--max-num-seqs")),
        (("m", "--max-num-seqs", "1.5"), (Wrong.TYPE, "--max-num-seqs")),
        (("m", "--max-model-len", "32 k"), (Wrong.TYPE, "--max-model-len")),
        (("m", "--gpu-memory-utilization", "90%"), (Wrong.TYPE, "--gpu-memory-utilization")),
        (("m", "--max-num-seqs"), (Wrong.MISSING, "--max-num-seqs")),
        (("m", "--max-num-seqs", "--headless"), (Wrong.MISSING, "--max-num-seqs")),
        (("m", "--enforce-eager", "True"), (Wrong.SUPERFLUOUS, "--enforce-eager")),
        (("m", "--headless=true"), (Wrong.SUPERFLUOUS, "--headless")),
        (("m", "--compilation-config", "{'a': 1}"), (Wrong.JSON, "--compilation-config")),
        (("m", "--additional-config", "{enable: true}"), (Wrong.JSON, "--additional-config")),
        (("m", "--additional-config", "{enable:", "true}"), (Wrong.JSON, "--additional-config")),
        (("m", "--dtype.x", "1"), (Wrong.TYPE, "--dtype.x")),
    ],
)
def test_what_vllm_refuses_is_named(words: tuple[str, ...], expected: tuple[Wrong, str]) -> None:
    assert wrongs(*words) == [expected]


def test_the_value_of_an_unknown_flag_is_not_taken_for_the_model() -> None:
    assert parse(("--ascend-opt", "1", "/models/x"), TABLE).model == "/models/x"


def test_the_server_module_takes_no_model_without_its_flag() -> None:
    assert wrongs("/models/x", takes_model=False) == [(Wrong.STRAY, "/models/x")]


@given(st.lists(st.text(max_size=12), max_size=30))
def test_no_words_make_it_fail(words: list[str]) -> None:
    parse(words, TABLE)


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("max-num-batch-tokens", "max-num-batched-tokens"),
        ("max-model-lenght", "max-model-len"),
        ("parallel-tensor-size", "tensor-parallel-size"),
        ("gpu-memory-utilisation", "gpu-memory-utilization"),
        ("flux-capacitor", None),
    ],
)
def test_the_nearest_name_goes_by_letters_and_by_whole_words(typed: str, wanted: str | None) -> None:
    assert nearest(typed, TABLE.longs) == wanted
