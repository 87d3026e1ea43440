"""Flags read out of a source tree that is never imported: the old style, the style of configuration classes, and broken trees."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from doctor.lint.flags import Flag, Kind, Table
from doctor.lint.source import read_table

OLD = {
    "engine/arg_utils.py": '''
import argparse, json
from dataclasses import dataclass
from typing import Optional
raise SystemExit("this file must never be run")

@dataclass
class EngineArgs:
    model: str = "x"
    swap_space: float = 4
    dtype: str = "auto"

    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model", type=str, default=EngineArgs.model, help="")
        parser.add_argument("--dtype", type=str, choices=["auto", "half"], default="auto")
        parser.add_argument("--swap-space", type=float, default=4)
        parser.add_argument("--tensor-parallel-size", "-tp", type=int, default=1)
        parser.add_argument("--enable-prefix-caching", action=argparse.BooleanOptionalAction)
        parser.add_argument("--trust-remote-code", action="store_true")
        parser.add_argument("--hf-overrides", type=json.loads)
        parser.add_argument("--served-model-name", nargs="+", type=str)
        parser.add_argument("--load-format", choices=[f.value for f in LoadFormat])
        return parser

@dataclass
class AsyncEngineArgs(EngineArgs):
    disable_log_requests: bool = False

    @staticmethod
    def add_cli_args(parser, async_args_only=False):
        if not async_args_only:
            parser = EngineArgs.add_cli_args(parser)
        parser.add_argument("--disable-log-requests", action="store_true")
        return parser
''',
    "entrypoints/openai/cli_args.py": '''
from vllm.engine.arg_utils import AsyncEngineArgs
def make_arg_parser(parser):
    parser.add_argument("--port", type=int, default=8000)
    parser = AsyncEngineArgs.add_cli_args(parser)
    return parser
''',
}

NEW = {
    "config/cache.py": '''
from typing import Literal
from pydantic.dataclasses import dataclass
from vllm.config.utils import config
CacheDType = Literal["auto", "fp8"]
@config
@dataclass
class CacheConfig:
    block_size: Literal[16, 32, 128] | None = None
    cache_dtype: CacheDType = "auto"
    gpu_memory_utilization: float = 0.9
    swap_space: "float" = 4
    enable_prefix_caching: bool | None = None
''',
    "config/model.py": '''
from dataclasses import field
from typing import Any, Literal, Optional, Union
ModelDType = Literal["auto", "half", "float16"]
@config
class ModelConfig:
    dtype: Union[ModelDType, "torch.dtype"] = "auto"
    max_model_len: Optional[int] = None
    quantization: Literal["awq", "fp8"] | str | None = None
    hf_overrides: dict[str, Any] | HfOverrides = field(default_factory=dict)
    served_model_name: Optional[Union[str, list[str]]] = None
    enforce_eager: bool = False
    allowed_media: list[Literal["image", "video"]] | None = None
''',
    "config/compilation.py": "@config\n@dataclass\nclass CompilationConfig:\n    level: int = 0\n",
    "config/__init__.py": "from vllm.config.cache import CacheConfig\nfrom .model import ModelConfig\nfrom .compilation import CompilationConfig\n",
    "engine/arg_utils.py": '''
import json
from vllm.config import CacheConfig, CompilationConfig, ModelConfig
def get_kwargs(cls): ...
@dataclass
class EngineArgs:
    model: str = "x"
    max_model_len: int | None = None
    enable_prefix_caching: bool | None = None
    compilation_config: CompilationConfig = None
    registry: ClassVar[dict] = {}
    derived: int = field(init=False)
    @staticmethod
    def add_cli_args(parser):
        model_kwargs = get_kwargs(ModelConfig)
        group = parser.add_argument_group(title="ModelConfig")
        group.add_argument("--dtype", **model_kwargs["dtype"])
        group.add_argument("--max-model-len", **model_kwargs["max_model_len"])
        group.add_argument("--quantization", "-q", **model_kwargs["quantization"])
        group.add_argument("--hf-overrides", **model_kwargs["hf_overrides"])
        group.add_argument("--served-model-name", **model_kwargs["served_model_name"])
        group.add_argument("--enforce-eager", **model_kwargs["enforce_eager"])
        group.add_argument("--allowed-media", **{**model_kwargs["allowed_media"], "help": "x"})
        cache_kwargs = get_kwargs(CacheConfig)
        cache = parser.add_argument_group(title="CacheConfig")
        cache.add_argument("--block-size", **cache_kwargs["block_size"])
        cache.add_argument("--kv-cache-dtype", **cache_kwargs["cache_dtype"])
        cache_kwargs["gpu_memory_utilization"]["type"] = str
        cache.add_argument("--gpu-memory-utilization", **cache_kwargs["gpu_memory_utilization"])
        prefix = cache_kwargs["enable_prefix_caching"]
        prefix.update({"type": str, "action": "store_true"})
        cache.add_argument("--enable-prefix-caching", **prefix)
        vllm_kwargs = get_kwargs(VllmConfig)
        parser.add_argument("--compilation-config", "-cc", **vllm_kwargs["compilation_config"])
        parser.add_argument("--additional-config", **vllm_kwargs["nowhere"])
        return parser
''',
    "entrypoints/common/cli_args.py": '''
import json
from vllm.config import config
from vllm.engine.arg_utils import EngineArgs
@config
class BaseFrontendArgs:
    chat_template: str | None = None
    allowed_origins: list[str] = field(default_factory=list)
    @classmethod
    def _customize(cls, frontend_kwargs):
        frontend_kwargs["allowed_origins"]["type"] = json.loads
        del frontend_kwargs["allowed_origins"]["nargs"]
        return frontend_kwargs
    @classmethod
    def add_cli_args(cls, parser):
        frontend_kwargs = get_kwargs(cls)
        group = parser.add_argument_group(title="x")
        for key, value in frontend_kwargs.items():
            group.add_argument(*value.pop("flags", []), f"--{key.replace('_', '-')}", **value)
        return parser
@config
class FrontendArgs(BaseFrontendArgs):
    port: int = 8000
    api_key: list[str] | None = None
def make_arg_parser(parser):
    parser.add_argument("model_tag", nargs="?")
    parser.add_argument("--headless", action="store_true")
    parser = FrontendArgs.add_cli_args(parser)
    parser = EngineArgs.add_cli_args(parser)
    return parser
''',
    "entrypoints/cli/serve.py": '''
from vllm.entrypoints.common.cli_args import make_arg_parser
class ServeSubcommand:
    def subparser_init(self, subparsers):
        serve_parser = make_arg_parser(subparsers.add_parser("serve"))
        serve_parser.add_argument("--grpc", action="store_true")
        return serve_parser
''',
    "entrypoints/llm.py": "class LLM:\n    def __init__(self, model, *, seed=0, **kwargs): ...\n",
    "envs.py": 'environment_variables = {"VLLM_PORT": lambda: 1, "VLLM_ASCEND_X": lambda: 2, "not_one": 3}\n',
}
NEW["config/vllm.py"] = "from .compilation import CompilationConfig\n@config\nclass VllmConfig:\n    compilation_config: CompilationConfig = None\n"
NEW["engine/arg_utils.py"] = NEW["engine/arg_utils.py"].replace("import CacheConfig,", "import VllmConfig, CacheConfig,")
NEW["config/__init__.py"] += "from .vllm import VllmConfig\n"


def table(files: Mapping[str, str]) -> Table:
    found = read_table(files.get, "9.9")
    assert found is not None
    return found


def test_the_old_style_of_one_call_a_flag() -> None:
    flags = table(OLD).flags
    assert flags["dtype"] == Flag("dtype", Kind.TEXT, ("auto", "half"))
    assert flags["swap-space"].kind is Kind.FLOAT
    assert flags["tensor-parallel-size"] == Flag("tensor-parallel-size", Kind.INT, short=("tp",))
    assert flags["enable-prefix-caching"].kind is Kind.BOOL and flags["trust-remote-code"].kind is Kind.SWITCH
    assert flags["hf-overrides"].kind is Kind.JSON
    assert flags["served-model-name"].many == "+"
    assert flags["load-format"].choices == (), "choices that are made at run time are not known"
    assert {"port", "disable-log-requests", "config", "help"} <= flags.keys()
    assert {"model", "swap_space", "disable_log_requests"} <= table(OLD).keywords


def test_the_new_style_of_configuration_classes() -> None:
    flags = table(NEW).flags
    assert flags["dtype"] == Flag("dtype", Kind.TEXT, ("auto", "half", "float16"))
    assert flags["max-model-len"].kind is Kind.SIZE
    assert flags["quantization"] == Flag("quantization", Kind.TEXT, short=("q",)), "a free text beside the list: every value is taken"
    assert flags["hf-overrides"].kind is Kind.JSON_OR_TEXT
    assert flags["served-model-name"].many == "+"
    assert flags["enforce-eager"].kind is Kind.BOOL
    assert flags["allowed-media"] == Flag("allowed-media", Kind.TEXT, ("image", "video"), many="+")
    assert flags["block-size"] == Flag("block-size", Kind.INT, ("16", "32", "128", "None"))
    assert flags["kv-cache-dtype"].choices == ("auto", "fp8"), "a list that another file names"
    assert flags["compilation-config"] == Flag("compilation-config", Kind.JSON, short=("cc",))
    assert flags["additional-config"].kind is Kind.ANY, "what cannot be found out takes every value"


def test_changes_between_the_class_and_the_flag_count() -> None:
    flags = table(NEW).flags
    assert flags["gpu-memory-utilization"].kind is Kind.TEXT
    assert flags["enable-prefix-caching"].kind is Kind.SWITCH
    assert flags["allowed-origins"] == Flag("allowed-origins", Kind.JSON)


def test_flags_that_a_loop_adds_come_from_the_class_and_its_bases() -> None:
    flags = table(NEW).flags
    assert flags["port"].kind is Kind.INT and flags["api-key"].many == "+" and flags["chat-template"].kind is Kind.TEXT
    assert flags["grpc"].kind is Kind.SWITCH and flags["headless"].kind is Kind.SWITCH


def test_arguments_in_python_and_variables() -> None:
    found = table(NEW)
    assert {"max_model_len", "seed", "model"} <= found.keywords
    assert not {"registry", "derived", "kwargs", "self"} & found.keywords
    assert found.variables == {"VLLM_PORT", "VLLM_ASCEND_X"}


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"engine/arg_utils.py": "class EngineArgs(:"},
        {"engine/arg_utils.py": "\0" * 100},
        {"engine/arg_utils.py": "x = " + "(" * 5000 + ")" * 5000},
        {"engine/arg_utils.py": "class EngineArgs(EngineArgs):\n  def add_cli_args(p):\n    EngineArgs.add_cli_args(p)\n"},
        {"engine/arg_utils.py": "from vllm.a import EngineArgs", "a.py": "from vllm.b import EngineArgs", "b.py": "from vllm.a import EngineArgs"},
    ],
)
def test_a_broken_tree_shows_no_flags(files: dict[str, str]) -> None:
    assert read_table(files.get, "1") is None


def test_types_that_go_in_a_circle_end() -> None:
    files = {**NEW, "config/cache.py": NEW["config/cache.py"].replace('Literal["auto", "fp8"]', "CacheDType")}
    assert table(files).flags["kv-cache-dtype"].choices == ()
