"""The table of the released versions: what was there when, and which release answers for one that is not in it."""

from __future__ import annotations

import pytest
from packaging.version import Version

from doctor import compat
from doctor.lint import shipped
from doctor.lint.choose import Basis, Chooser, image_release, named_release
from doctor.lint.flags import Kind
from doctor.lint.replaced import ALIASES, INVENTED, REPLACED
from doctor.rulebook import load


def test_the_releases_are_in_order_and_the_file_says_where_they_come_from() -> None:
    about = shipped.document()["about"]
    assert about["source"] and about["date"] and about["made_by"]
    known = [Version(name) for name in shipped.versions()]
    assert known == sorted(known) and len(known) > 25


@pytest.mark.parametrize("version", shipped.versions())
def test_every_release_has_the_flags_that_never_changed(version: str) -> None:
    table = shipped.table_of(version)
    assert table is not None and table.exact
    assert table.flags["tensor-parallel-size"].kind is Kind.INT and table.shorts["tp"].name == "tensor-parallel-size"
    assert {"max-num-seqs", "max-model-len", "dtype", "quantization", "config", "port", "served-model-name"} <= table.flags.keys()
    assert "bfloat16" in table.flags["dtype"].choices
    assert {"model", "tensor_parallel_size", "dtype", "quantization"} <= table.keywords
    assert not INVENTED.keys() & table.longs.keys()
    assert "VLLM_LOGGING_LEVEL" in table.variables


@pytest.mark.parametrize("row", compat.releases(), ids=lambda row: row.version)
def test_every_row_of_the_matrix_has_a_table(row: compat.Release) -> None:
    table = shipped.table_of(row.vllm)
    assert table is not None and "max-num-seqs" in table.flags


def test_when_a_flag_came_and_went() -> None:
    swap, runner = shipped.history("swap-space"), shipped.history("runner")
    assert swap is not None and (swap.first, swap.last) == ("0.7.1", "0.17.0")
    assert runner is not None and Version(runner.first) >= Version("0.10.0")
    assert shipped.history("max-batch-size") is None


def test_a_release_between_two_others_has_what_either_has() -> None:
    between = shipped.table_of("0.17.1")
    assert between is not None and not between.exact
    assert "swap-space" in between.flags, "0.17.0 has it and 0.18.0 has not: it cannot be called wrong"
    newer, older, none = shipped.table_of("99.0"), shipped.table_of("0.6.3"), shipped.table_of("latest")
    assert newer is not None and newer.version == shipped.versions()[-1] and not newer.exact
    assert older is not None and older.version == "0.7.1" and not older.exact
    assert none is None


def test_local_versions_are_their_release() -> None:
    table = shipped.table_of("0.11.0+empty")
    assert table is not None and table.version == "0.11.0" and table.exact


@pytest.mark.parametrize(
    ("image", "vllm", "ascend"),
    [
        ("quay.io/ascend/vllm-ascend:v0.11.0rc1-openeuler", "0.11.0", "0.11.0rc1"),
        ("quay.io/ascend/vllm-ascend:v0.18.0-a3", "0.18.0", "0.18.0"),
        ("m.daocloud.io/quay.io/ascend/vllm-ascend:v0.9.1", "0.9.1", "0.9.1"),
        ("vllm/vllm-openai:v0.10.2", "0.10.2", ""),
    ],
)
def test_the_image_tells_the_release(image: str, vllm: str, ascend: str) -> None:
    chosen = image_release(image)
    assert chosen is not None and (chosen.vllm, chosen.ascend, chosen.basis) == (vllm, ascend, Basis.IMAGE)


@pytest.mark.parametrize("image", ["quay.io/ascend/vllm-ascend:latest", "python:3.11", ""])
def test_a_tag_without_a_release_tells_nothing(image: str) -> None:
    assert image_release(image) is None


def test_the_named_release_goes_before_all_others() -> None:
    assert Chooser(None, None, "0.9.2").choose("quay.io/ascend/vllm-ascend:v0.18.0").table.version == "0.9.2"
    assert Chooser(None, None).choose(None).basis is Basis.NEWEST
    ascend = named_release("vllm-ascend 0.11.0rc1")
    assert ascend is not None and (ascend.vllm, ascend.ascend) == ("0.11.0", "0.11.0rc1")
    assert named_release("newest") is None


def test_words_about_flags_name_flags_that_were_there() -> None:
    known = shipped.all_flags()
    assert {name for name in ALIASES.values() if name not in known} == set()
    gone = {"engine-use-ray", "max-context-len-to-capture", "use-v2-block-manager", "worker-use-ray", "quantization-param-path"}
    assert {name for name in REPLACED if name not in known} <= gone | {"tokenizer-pool-type", "tokenizer-pool-extra-config"}
    assert set(INVENTED.values()) <= load().rules.keys()


def test_variables_of_vllm_ascend_by_release() -> None:
    variables = shipped.ascend_variables()
    assert variables["VLLM_ASCEND_ENABLE_TOPK_TOPP_OPTIMIZATION"].last == "0.11.0"
    assert variables["VLLM_ASCEND_ENABLE_NZ"].last == variables["VLLM_ASCEND_ENABLE_NZ"].last_known
