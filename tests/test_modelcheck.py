"""`doctor model`: the folder's findings, what its memory comes to, and the hashes."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from doctor.commands import build
from doctor.locale import words_of
from doctor.modelcheck import FAMILIES, command_of
from doctor.rulebook import load
from doctor.tasks import Answer, Options, Refused
from doctor.tasks.model import run as model
from tests.facts.test_model import CONFIG, POINTER, WHOLE, weights
from tests.test_fit import QWEN3_14B, tensors

TALKING = {"config.json": json.dumps(CONFIG), "tokenizer.json": "{}", "tokenizer_config.json": '{"chat_template": "x"}'}


@pytest.fixture(autouse=True)
def sound_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of other areas are the matter of other tests."""
    monkeypatch.setattr("doctor.tasks.model.rulebook", lambda: replace(load(), problems=()))


def write(folder: Path, files: dict[str, bytes | str]) -> Path:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return folder


def run(folder: Path, *, as_json: bool = True, hashing: bool = False, hbm: str | None = "64G", **flags: Any) -> Answer:
    options = Options("model", as_json=as_json, only=("model", "memory"), detail=-1 if as_json else 0)
    return model(options, str(folder), hashing, hbm, "a2", None, None, None, **flags)


def large(folder: Path) -> Path:
    """Qwen3-14B in a sparse file."""
    header: dict[str, Any] = {}
    end = 0
    for name, tensor in tensors(QWEN3_14B).items():
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape), "data_offsets": [end, end + tensor.size]}
        end += tensor.size
    text = json.dumps(header).encode()
    write(folder, {**TALKING, "config.json": json.dumps({**CONFIG, **QWEN3_14B})})
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + end)
    return folder


def test_a_model_that_fits(tmp_path: Path) -> None:
    answer = json.loads(run(large(tmp_path), max_model_len="32768").text)
    assert answer["run"]["exit_code"] == 0 and answer["causes"] == []
    fit = answer["model"]["fit"]
    assert fit["weights"] / 2**30 == pytest.approx(27.5, abs=0.1)
    assert fit["concurrent"] == fit["tokens"] // 32768 > 1
    assert fit["longest"] == 40960


def test_a_model_that_does_not_fit_is_an_ordinary_finding(tmp_path: Path) -> None:
    answer = run(large(tmp_path), hbm="28G")
    report = json.loads(answer.text)
    assert answer.exit_code == report["run"]["exit_code"] == 1
    assert [cause["rule"] for cause in report["causes"]] == ["memory-hbm-genuine-shortage"]
    assert json.loads(run(tmp_path, hbm="28G", tensor_parallel_size=2).text)["causes"] == []


def test_damage_comes_before_memory(tmp_path: Path) -> None:
    write(tmp_path, {**TALKING, "model.safetensors": POINTER})
    report = json.loads(run(tmp_path).text)
    assert report["causes"][0]["rule"] == "model-weights-incomplete-or-corrupt"
    assert report["model"]["fit"] is None and report["model"]["files"][0]["damage"] == "lfs_pointer"


@pytest.mark.parametrize("told", ["same", "other"])
def test_hashes_against_what_the_hub_told(tmp_path: Path, told: str) -> None:
    data = weights(WHOLE)
    digest = hashlib.sha256(data).hexdigest()
    etag = digest if told == "same" else "0" * 64
    write(tmp_path, {**TALKING, "model.safetensors": data, ".cache/huggingface/download/model.safetensors.metadata": f"abc\n{etag}\n1796028703.1\n"})
    answer = run(tmp_path, hashing=True)
    report = json.loads(answer.text)
    assert report["model"]["files"][0]["sha256"] == digest
    assert [cause["rule"] for cause in report["causes"]] == ([] if told == "same" else ["model-weights-incomplete-or-corrupt"])
    assert answer.exit_code == (0 if told == "same" else 1)
    text = run(tmp_path, as_json=False, hashing=True).text
    assert f"{digest}  {len(data):>14}  model.safetensors" in text


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_section_in_both_languages(tmp_path: Path, language: str) -> None:
    options = Options("model", language=language, only=("model",))
    text = model(options, str(large(tmp_path)), False, None, None, None, None, None).text
    assert words_of(language)["model_weights"] in text and "27.51 GiB" in text


def test_what_is_no_folder_or_no_size_is_refused(tmp_path: Path) -> None:
    for folder, hbm in ((tmp_path / "none", None), (tmp_path, "big")):
        with pytest.raises(Refused):
            run(folder, hbm=hbm)


def test_options_become_flags_of_vllm() -> None:
    command = command_of("/m", {"tensor-parallel-size": "4", "enforce-eager": ""})
    assert command.argv == ("vllm", "serve", "/m", "--tensor-parallel-size", "4", "--enforce-eager")
    assert CliRunner().invoke(build("en"), ["model", "--help"], obj="en").exit_code == 0
    assert set(FAMILIES) >= {"a2", "a3", "310p", "950"}
