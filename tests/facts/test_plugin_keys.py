"""The keys of --additional-config: read from source in every shape that vllm-ascend had, and by release from the table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.facts.plugin_keys import read_keys, shipped_keys, span

CONFIG = '''
class AscendConfig:
    def __init__(self, vllm_config):
        additional_config = vllm_config.additional_config if vllm_config.additional_config is not None else {}
        if "old_key" in additional_config:
            raise ValueError("additional_config.old_key has been removed")
        self.a = additional_config.get("plain", False)
        self.b = self._get_config_value(additional_config, "helped", "VLLM_ASCEND_HELPED", 1)
        eplb_config = additional_config.get("eplb_config", {})
        self.eplb = EplbConfig(eplb_config)
        self.fusion = FusionConfig(**additional_config.get("fusion_config", {}))


class EplbConfig:
    _defaults = {"dynamic_eplb": False}

    def __init__(self, user_config):
        self.interval = user_config.get("interval", 1)


class FusionConfig:
    def __init__(self, fuse_norm: bool = True, **kwargs):
        pass
'''
FILES = {"ascend_config.py": CONFIG, "platform.py": 'def f(c):\n    (c.additional_config or {}).get("layer_sharding")\n    c.additional_config["put"] = 1\n'}


def test_keys_in_every_shape_of_reading() -> None:
    keys = read_keys(FILES.get, "here")
    assert keys is not None and keys.said == "here"
    assert keys.top == {"old_key", "plain", "helped", "eplb_config", "fusion_config", "layer_sharding", "put"}
    assert {"dynamic_eplb", "interval"} <= keys.nested["eplb_config"] and "dynamic_epbl" not in keys.nested["eplb_config"]
    assert "fuse_norm" in keys.nested["fusion_config"]


def test_a_source_without_its_main_files_tells_nothing() -> None:
    assert read_keys({"utils.py": "additional_config.get('a')"}.get, "") is None
    assert read_keys({"ascend_config.py": "def broken(:"}.get, "") is None


@pytest.mark.parametrize(
    ("version", "has", "lacks"),
    [("0.9.1", "torchair_graph_config", "eplb_config"), ("0.18.0+empty", "enable_cpu_binding", "ascend_scheduler_config"), ("0.25.1rc1", "eplb_config", "layer_sharding")],
)
def test_the_table_by_release(version: str, has: str, lacks: str) -> None:
    keys = shipped_keys(version)
    assert keys is not None and has in keys.top and lacks not in keys.top


def test_a_release_that_the_table_lacks() -> None:
    assert shipped_keys("0.18.1.dev4") is None and shipped_keys("garbage") is None
    assert span("torchair_graph_config") is not None and span("no_such_key") is None


@given(st.text(max_size=200))
def test_no_source_makes_it_raise(text: str) -> None:
    read_keys(lambda path: text, "")
