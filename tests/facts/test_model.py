"""Models on disk: what a folder tells, with tiny real safetensors files made by hand, and with hostile ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts import HostFacts, known
from doctor.facts.model import Model, Models, length, read_model, setting
from doctor.facts.model_config import ModelConfig, parse_config
from doctor.facts.quantisation import parse_description
from doctor.facts.safetensors import HEADER_LIMIT, START_BYTES, Damage, Header, header_length, parse_header
from doctor.facts.shards import parse_index
from doctor.facts.vllm import ServeCommands, parse_command
from doctor.host import Unavailable, Why
from doctor.host.live import LiveHost
from doctor.host.recorded import RecordedHost
from doctor.host.recording import RecordingHost

CONFIG = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4, "torch_dtype": "bfloat16"}


def weights(tensors: Mapping[str, tuple[int, ...]], dtype: str = "BF16", size: int = 2) -> bytes:
    """A safetensors file of zeros."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, shape in tensors.items():
        count = size
        for side in shape:
            count *= side
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [end, end + count]}
        end += count
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"\0" * end


def folder(tmp_path: Path, files: Mapping[str, bytes | str]) -> Model:
    for name, data in files.items():
        path = tmp_path / "m" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    found = read_model(LiveHost(str(tmp_path)), "/m")
    assert isinstance(found, Model)
    return found


WHOLE = {"model.layers.0.mlp.up_proj.weight": (4, 8), "model.norm.weight": (8,)}


def test_a_whole_model(tmp_path: Path) -> None:
    found = folder(tmp_path, {"config.json": json.dumps(CONFIG), "model.safetensors": weights(WHOLE), "tokenizer.json": "{}", "tokenizer_config.json": "{}"})
    assert found.shards.complete and found.shards.damaged == () and found.shards.index is None
    assert {name: tensor.shape for name, tensor in found.shards.tensors.items()} == WHOLE
    assert found.shards.size == 2 * (4 * 8 + 8)
    assert found.folder.config is not None and found.folder.config.architectures == ("Qwen3ForCausalLM",)
    assert found.folder.vocabularies == ("tokenizer.json",)
    assert (found.folder.chat_template, found.folder.quantization, found.folder.pointers) == (False, None, ())


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 4894\n"


@pytest.mark.parametrize(
    ("data", "damage"),
    [
        (b"", Damage.EMPTY),
        (POINTER, Damage.LFS_POINTER),
        (b"\1\0\0", Damage.HEADER_CUT),
        (weights(WHOLE)[:40], Damage.HEADER_CUT),
        (weights(WHOLE)[:-1], Damage.TRUNCATED),
        (weights(WHOLE) + b"\0", Damage.TRAILING),
        (b"<!DOCTYPE html><html>sign in to download</html>" * 3, Damage.HEADER_LENGTH),
        ((9).to_bytes(8, "little") + b"not json!", Damage.HEADER_JSON),
        ((HEADER_LIMIT + 1).to_bytes(8, "little") + b"{}" * 40, Damage.HEADER_LENGTH),
    ],
)
def test_what_can_be_wrong_with_a_weight_file(tmp_path: Path, data: bytes, damage: Damage) -> None:
    found = folder(tmp_path, {"model.safetensors": data})
    assert [shard.damage for shard in found.shards.shards] == [damage]
    assert not found.shards.complete


def test_index_against_files_and_headers(tmp_path: Path) -> None:
    index = {"metadata": {"total_size": 80.0}, "weight_map": dict.fromkeys(WHOLE, "a.safetensors") | {"lost": "a.safetensors", "other": "b.safetensors"}}
    found = folder(tmp_path, {"model.safetensors.index.json": json.dumps(index), "a.safetensors": weights(WHOLE), "consolidated.safetensors": weights(WHOLE)})
    assert [(shard.name, shard.damage) for shard in found.shards.shards] == [("a.safetensors", None), ("b.safetensors", Damage.MISSING)]
    assert found.shards.missing_tensors == (("lost", "a.safetensors"),)
    assert found.shards.index is not None and found.shards.index.total_size == 80


def test_downloads_that_did_not_end(tmp_path: Path) -> None:
    found = folder(tmp_path, {"a.safetensors.aria2": "x", ".cache/huggingface/download/x.incomplete": "x", ".cache/huggingface/download/y.metadata": "x"})
    assert found.shards.partial == ("a.safetensors.aria2", ".cache/huggingface/download/x.incomplete")


def test_a_pointer_in_place_of_the_tokenizer_and_a_byte_order_mark(tmp_path: Path) -> None:
    found = folder(tmp_path, {"tokenizer.json": POINTER, "config.json": b"\xef\xbb\xbf" + json.dumps(CONFIG).encode()})
    assert found.folder.pointers == ("tokenizer.json",)
    assert found.folder.config is not None and "byte order mark" in found.folder.config.problem


def test_no_folder_and_a_name_with_pattern_characters(tmp_path: Path) -> None:
    missing = read_model(LiveHost(str(tmp_path)), "/none")
    assert isinstance(missing, Unavailable) and missing.why is Why.MISSING
    (tmp_path / "m[1]*").mkdir()
    (tmp_path / "m[1]*" / "config.json").write_text("{}")
    found = read_model(LiveHost(str(tmp_path)), "/m[1]*")
    assert isinstance(found, Model) and list(found.folder.files) == ["config.json"]


def test_a_replay_finds_the_same(tmp_path: Path) -> None:
    folder(tmp_path, {"config.json": json.dumps(CONFIG), "model.safetensors": weights(WHOLE), "tokenizer.json": "{}"})
    recording = RecordingHost(LiveHost(str(tmp_path)), tmp_path / "snapshot")
    assert read_model(recording, "/m") == read_model(RecordedHost(tmp_path / "snapshot"), "/m") == read_model(LiveHost(str(tmp_path)), "/m")


def test_models_of_serving_commands(tmp_path: Path) -> None:
    folder(tmp_path, {"config.json": json.dumps(CONFIG)})
    commands = [parse_command(f"vllm serve {name} -tp 2") for name in ("/m/", "Qwen/Qwen3-8B", "/gone", "./m", "$MODEL")]
    facts = HostFacts(LiveHost(str(tmp_path)))
    facts.put(ServeCommands(tuple(command for command in commands if command)))
    models = known(facts.get(Models))
    assert models is not None
    assert [model.path for model in models.models] == ["/m"]
    assert [path for path, _ in models.absent] == ["/gone"]


def test_values_of_a_configuration() -> None:
    nested = parse_config(json.dumps({"architectures": ["X"], "text_config": CONFIG | {"num_key_value_heads": 2}, "vision_config": {"num_hidden_layers": 9}}))
    assert (nested.number("layers"), nested.kv_heads, nested.head_dim, nested.dtype) == (2, 2, 16, "bfloat16")
    assert parse_config(json.dumps({"kv_lora_rank": 512, "qk_rope_head_dim": 64})).is_mla
    assert parse_config('{"quantization_config": {"quant_method": "FP8"}}').quant_method == "fp8"
    own = parse_config(json.dumps({"auto_map": {"AutoConfig": "configuration_own.Own", "AutoModel": ["hub/x--modeling.Own", "modeling_own.Own"]}}))
    assert own.code_files == ("configuration_own.py", "modeling_own.py")
    assert "line 1" in parse_config('{"a": 1,}').problem


def test_a_description_of_msmodelslim() -> None:
    text = json.dumps({"model_quant_type": "W8A8", "version": "1.0.0", "model.layers.0.a.weight": "W8A8_DYNAMIC", "model.layers.0.b.weight": "FLOAT"})
    found = parse_description(text, "/m/q.json")
    assert (found.main_type, dict(found.types), found.other) == ("W8A8_DYNAMIC", {"W8A8_DYNAMIC": 1}, ("model_quant_type", "version"))
    assert parse_description("[", "/m/q.json").problem


def test_lengths_and_settings() -> None:
    assert [length(text) for text in ("32768", "32k", "32K", "auto", "", None, "-1")] == [32768, 32000, 32768, None, None, None, None]
    call = parse_command("vllm serve /m --enforce-eager")
    assert (setting(call, "enforce-eager"), setting(call, "dtype"), setting(None, "dtype")) == ("", None, None)


json_values = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(st.dictionaries(st.sampled_from(["a", "__metadata__", "dtype", "shape"]), json_values) | json_values)
def test_no_header_raises(value: Any) -> None:
    data = json.dumps(value).encode()
    assert isinstance(parse_header(data, len(data) + 8), Header)


@given(st.binary(max_size=START_BYTES), st.integers(0, 2**40))
def test_no_start_of_a_file_raises(start: bytes, size: int) -> None:
    assert isinstance(header_length(start, size), int | Header)


@given(st.text() | json_values.map(json.dumps) | st.just("[" * 100_000) | st.just("9" * 10_000))
def test_no_text_raises(text: str) -> None:
    config = parse_config(text)
    assert isinstance(config, ModelConfig)
    parse_index(text)
    parse_description(text, "")


@given(st.dictionaries(st.sampled_from(["text_config", "architectures", "num_hidden_layers", "layer_types", "auto_map", "quantization_config", "torch_dtype"]), json_values))
def test_no_configuration_raises(values: dict[str, Any]) -> None:
    config = ModelConfig(values)
    for name in ("architectures", "dtype", "kv_heads", "head_dim", "is_mla", "tied", "quant_method", "code_files", "model_type"):
        getattr(config, name)
    config.texts("layer_types")
