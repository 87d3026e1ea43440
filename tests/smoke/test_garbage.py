"""Garbage is seen, and ordinary text is not taken for it."""

from __future__ import annotations

import importlib.util
import math
import sys
from types import ModuleType
from typing import Any

import pytest

from doctor.smoke.run import CHILDREN


def child(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"smoke_{name}", CHILDREN / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


garbage, client, tiny = child("garbage"), child("client"), child("tiny_model")
TEXT = ["the", "cat", "sat", "on", "the", "mat", "and", "the", "dog", "sat", "on", "the", "cat", "while", "the", "bird", "sang", "to", "the", "sun", "and", "the", "moon", "rose", "over", "the", "quiet", "hill"]


@pytest.mark.parametrize("tokens", [["!"] * 100, ["!"] * 90 + TEXT[:10], [0] * 16])
def test_one_token_nearly_everywhere(tokens: list[Any]) -> None:
    assert garbage.one_token(tokens)


@pytest.mark.parametrize("tokens", [TEXT, ["!"] * 8, ["a", "b"] * 50, [], ["!"] * 80 + TEXT[:20]])
def test_which_is_not_so(tokens: list[Any]) -> None:
    assert not garbage.one_token(tokens)


@pytest.mark.parametrize("tokens", [TEXT + ["so", "it"] * 8, TEXT + ["I", "am", "here"] * 9, list(range(16)) * 8])
def test_an_endless_repetition(tokens: list[Any]) -> None:
    assert garbage.endless(tokens)


@pytest.mark.parametrize("tokens", [TEXT, ["so", "it"] * 7, ["no"] * 100, list(range(200))])
def test_which_is_none(tokens: list[Any]) -> None:
    assert not garbage.endless(tokens)


def test_numbers_that_are_none() -> None:
    assert garbage.not_numbers([-1.0, math.nan]) and garbage.not_numbers([None]) and not garbage.not_numbers([-1.0, 0.0])


def test_quantiles_are_values_that_were_measured() -> None:
    values = [float(number) for number in range(1, 101)]
    assert [client.quantile(values, share) for share in (0.5, 0.95, 0.99, 1.0)] == [50.0, 95.0, 99.0, 100.0]
    assert client.quantile([], 0.5) == 0.0 and client.quantile([3.0], 0.99) == 3.0


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8000", ("127.0.0.1", 8000, "", False)), ("https://host/v1", ("host", None, "", True)),
        ("host:80/base/v1/", ("host", 80, "/base", False)), ("http://[::1]:9", ("::1", 9, "", False)),
    ],
)  # fmt: skip
def test_addresses(url: str, expected: tuple[object, ...]) -> None:
    api = client.Api(url)
    assert (api.host, api.port, api.prefix, api.secure) == expected


def test_the_prompts_of_the_tiny_model_are_valid_and_the_same_each_time() -> None:
    prompts = tiny.prompts([3, 129])
    assert [len(prompt) for prompt in prompts] == [3, 129] and prompts == tiny.prompts([3, 129])
    assert all(4 <= token < tiny.VOCABULARY for prompt in prompts for token in prompt)


@pytest.mark.parametrize("heads", [8, 16, 32])
def test_the_tiny_model_can_be_split_over_as_many_cards_as_it_has_heads(heads: int) -> None:
    settings = tiny.config("bfloat16", heads)
    assert settings["num_attention_heads"] == heads and heads % settings["num_key_value_heads"] == 0
    assert settings["hidden_size"] == heads * settings["head_dim"]
