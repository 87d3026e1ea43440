"""Commands and files that start vLLM, corrected: every form, what is certain only, and judged again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.apply.change import Change, Standing
from doctor.apply.plan import StepPlan
from doctor.apply.serve_edit import corrected
from doctor.apply.serve_flags import with_flags
from doctor.apply.steps.edit_command import KIND, CorrectedFile, beside_of
from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommand, ServeCommands
from doctor.fix import CorrectCommand
from doctor.lint.choose import Chooser
from tests.apply.grounds import context, ground, journaled, undone

CHOOSE = Chooser(None, None, "0.18.0").choose


def lines_of(text: str, name: str = "serve.sh") -> str:
    return corrected(text, name, CHOOSE).text


def test_the_article_s_command_becomes_one_that_starts() -> None:
    text = (
        "vllm serve /models/Qwen \\\n  --max-batch-size 128 \\\n  --ascend-opt=1 \\\n  --device ascend \\\n  --prefetch-batch \\\n"
        "  --max-num-batched-token 8192 \\\n  --port 8000\n"
    )
    found = corrected(text, "serve.sh", CHOOSE)
    assert found.text == "vllm serve /models/Qwen \\\n  --max-num-seqs 128 \\\n  --max-num-batched-tokens 8192 \\\n  --port 8000\n"
    assert [edit.line for edit in found.edits] == [2, 3, 4, 5, 6] and found.open == ()


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("vllm serve /m --swap-space 4\n", "vllm serve /m\n"),
        ("vllm serve /m --swap-space=4 --port 1\n", "vllm serve /m --port 1\n"),
        ("vllm serve /m --tensor-parallel-sise 8\n", "vllm serve /m --tensor-parallel-size 8\n"),
        ("vllm serve /m --enable-prefix-caching true\n", "vllm serve /m --enable-prefix-caching\n"),
        ("vllm serve /m --guided-decoding-backend xgrammar\n", "vllm serve /m --structured-outputs-config '{\"backend\": \"xgrammar\"}'\n"),
        ("vllm serve /m --additional-config \"{'a': True}\"\n", "vllm serve /m --additional-config '{\"a\": true}'\n"),
        ("vllm serve /m \\\n  --port 1 \\\n  --swap-space 4\n", "vllm serve /m \\\n  --port 1\n"),
        ("docker run --rm quay.io/ascend/vllm-ascend:v0.18.0 vllm serve /m --device npu --port 1\n", "docker run --rm quay.io/ascend/vllm-ascend:v0.18.0 vllm serve /m --port 1\n"),
        ("export VLLM_ASCEND_ENABLE_TOPK_OPTIMZE=1\nvllm serve /m\n", "export VLLM_ASCEND_ENABLE_TOPK_OPTIMIZE=1\nvllm serve /m\n"),
    ],
)
def test_shell(wrong: str, right: str) -> None:
    assert lines_of(wrong) == right
    assert lines_of(right) == right


def test_a_unit() -> None:
    assert lines_of("[Service]\nExecStart=/opt/v/bin/vllm serve /m --max-batch-size 128 --swap-space 4\n", "v.service") == "[Service]\nExecStart=/opt/v/bin/vllm serve /m --max-num-seqs 128\n"


def test_a_compose_file_keeps_everything_else() -> None:
    text = 'services:\n  vllm:   # ours\n    image: quay.io/ascend/vllm-ascend:v0.18.0\n    command:\n      - vllm\n      - serve\n      - /m\n      - --swap-space\n      - "4"\n      - --max-batch-size\n      - "128"   # many\n    shm_size: 16g\n'
    want = 'services:\n  vllm:   # ours\n    image: quay.io/ascend/vllm-ascend:v0.18.0\n    command:\n      - vllm\n      - serve\n      - /m\n      - --max-num-seqs\n      - "128"   # many\n    shm_size: 16g\n'
    assert lines_of(text, "compose.yaml") == want


def test_a_list_in_kubernetes() -> None:
    text = 'kind: Pod\nspec:\n  containers:\n  - name: v\n    image: quay.io/ascend/vllm-ascend:v0.18.0\n    command: ["vllm", "serve", "/m", "--swap-space", "4", "--max-batch-size", "128"]\n'
    assert '["vllm", "serve", "/m", "--max-num-seqs", "128"]' in lines_of(text, "pod.yaml")


def test_a_configuration() -> None:
    assert lines_of("model: /m\nmax-batch-size: 128\nswap-space: 4\nmax-model-len: 4096\n", "c.yaml") == "model: /m\nmax-num-seqs: 128\nmax-model-len: 4096\n"


def test_a_call_in_python() -> None:
    text = "from vllm import LLM\nllm = LLM(model='/m', device='ascend', batch_size=128,\n          dtype='float16')\n"
    assert lines_of(text, "run.py") == "from vllm import LLM\nllm = LLM(model='/m', max_num_seqs=128,\n          dtype='float16')\n"


def test_what_only_a_person_can_decide_is_told_and_left() -> None:
    text = "vllm serve /m --max-model-len many --dtype halff\n"
    found = corrected(text, "serve.sh", CHOOSE)
    assert found.text == text and not found.edits
    assert any("--max-model-len many" in told for told in found.open) and any("--dtype halff" in told for told in found.open)


def test_a_right_command_stays_as_it_is() -> None:
    text = "vllm serve /m --tensor-parallel-size 8 --max-num-seqs 64 --additional-config '{\"a\": 1}'\n"
    assert corrected(text, "serve.sh", CHOOSE).text == text


@given(st.text(alphabet="vllm serve-\\\n\"'{}[]:=,#$ \tmaxbtchszdwp4", max_size=300))
def test_no_text_makes_it_raise(text: str) -> None:
    for name in ("a.sh", "a.yaml", "a.py", "a.service"):
        corrected(f"vllm serve /m {text}", name, CHOOSE)


def planned(path: Path, *more: object, **chosen: Any) -> StepPlan:
    command = ServeCommand(("vllm", "serve", "/m"), "/m", {}, source=str(path), line=1)
    return KIND.plan("0", CorrectCommand(), context(ServeCommands((command,)), Packages({"vllm": "0.18.0"}), *more, **chosen))


def only(step: StepPlan) -> CorrectedFile:
    (change,) = step.changes
    found: Change = change
    assert isinstance(found, CorrectedFile)
    return found


def test_it_is_written_beside_the_original_and_taken_away_again(tmp_path: Path) -> None:
    path = tmp_path / "serve.sh"
    path.write_text("vllm serve /m --max-batch-size 128\n")
    step = planned(path)
    change, place = only(step), ground(tmp_path / "journal")
    assert change.path == str(tmp_path / "serve.corrected.sh")
    assert "-vllm serve /m --max-batch-size 128\n+vllm serve /m --max-num-seqs 128\n" in change.diff()
    assert any("serve.sh:1: --max-batch-size -> --max-num-seqs" in note.text.en for note in step.notes)
    saved = change.save(place, "c")
    change.make(place, saved)
    assert change.look(place) is Standing.AFTER
    assert (tmp_path / "serve.corrected.sh").read_text() == "vllm serve /m --max-num-seqs 128\n" and path.read_text() == "vllm serve /m --max-batch-size 128\n"
    assert planned(path).already
    assert undone(change, tmp_path / "journal", saved) is Standing.BEFORE
    assert not (tmp_path / "serve.corrected.sh").exists()
    assert journaled(change) == change


def test_where_no_file_holds_it_the_command_is_printed(tmp_path: Path) -> None:
    command = ServeCommand(("vllm", "serve", "/m", "--max-batch-size", "128"), "/m", {}, source="process 12", line=0)
    step = KIND.plan("0", CorrectCommand(), context(ServeCommands((command,)), Packages({"vllm": "0.18.0"})))
    assert step.blocked is not None and step.host_commands == ("vllm serve /m --max-num-seqs 128",)


@pytest.mark.parametrize(("path", "beside"), [("/a/serve.sh", "/a/serve.corrected.sh"), ("/a/.env", "/a/.env.corrected"), ("/a/Dockerfile", "/a/Dockerfile.corrected")])
def test_names(path: str, beside: str) -> None:
    assert beside_of(path) == beside


@pytest.mark.parametrize(
    ("name", "text", "given", "dropped", "want"),
    [
        ("a.sh", "vllm serve /m --port 1\n", {"dtype": "float16"}, (), "vllm serve /m --dtype float16 --port 1\n"),
        ("a.sh", "vllm serve /m\n", {"dtype": "float16"}, (), "vllm serve /m --dtype float16\n"),
        ("a.sh", "vllm serve /m --dtype auto\n", {"dtype": "float16"}, (), "vllm serve /m --dtype float16\n"),
        ("a.sh", "vllm serve /m --quantization int8 \\\n  --port 1\n", {}, ("quantization",), "vllm serve /m \\\n  --port 1\n"),
        ("a.sh", "vllm serve /m -q int8 --port 1\n", {}, ("quantization",), "vllm serve /m --port 1\n"),
        (
            "a.sh", "vllm serve /m --additional-config '{\"a\": {\"b\": 1}}'\n", {"additional-config": '{"a": {"c": 2}}'}, (),
            "vllm serve /m --additional-config '{\"a\": {\"b\": 1, \"c\": 2}}'\n",
        ),
        ("c.yaml", "model: /m\ndtype: auto\n", {"dtype": "float16", "max-model-len": "4096"}, (), "model: /m\ndtype: float16\nmax-model-len: 4096\n"),
        (
            "k.yaml", "services:\n  v:\n    image: x/vllm-ascend:v0.18.0\n    command:\n      - vllm\n      - serve\n      - /m\n      - --port=1\n", {"dtype": "float16"}, (),
            "services:\n  v:\n    image: x/vllm-ascend:v0.18.0\n    command:\n      - vllm\n      - serve\n      - /m\n      - --dtype=float16\n      - --port=1\n",
        ),
    ],
)  # fmt: skip
def test_flags_set_and_dropped(name: str, text: str, given: dict[str, str], dropped: tuple[str, ...], want: str) -> None:
    found = with_flags(text, name, given, dropped)
    assert found.text == want and found.open == ()
    assert with_flags(want, name, given, dropped).text == want


def test_a_call_in_python_is_told_not_guessed() -> None:
    found = with_flags("from vllm import LLM\nllm = LLM(model='/m')\n", "a.py", {"dtype": "float16"})
    assert not found.edits and found.open == ("--dtype float16",)


@given(st.text(alphabet="vllm serve-\\\n\"'{}[]:=,#$ \tdtype14", max_size=200))
def test_no_text_makes_setting_flags_raise(text: str) -> None:
    for name in ("a.sh", "a.yaml", "a.py", "a.service"):
        with_flags(f"vllm serve /m {text}", name, {"dtype": "float16", "additional-config": '{"a": 1}'}, ("port",))
