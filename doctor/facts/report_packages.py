"""Python packages in a text: collect_env's [pip3] lines, pip list, freeze, show, check and install, and `__version__` at a prompt."""

from __future__ import annotations

import re

from doctor.facts.report_text import VERSION, Sightings, Strength, Text, bare
from doctor.regex import regex
from doctor.versions import normalise_name

WHOLE_LIST = 20
"""Rows from which a `pip list` is taken for the whole of it: no interpreter that runs vLLM has fewer, and people cut with grep."""

_SENTENCE = 800
"""Characters of a line in which pip's sentences are looked for."""

PREFIX = "package:"
EDITABLE = "editable:"

KNOWN = frozenset(
    ["vllm", "vllm-ascend", "torch", "torch-npu", "torchvision", "torchaudio", "torchair", "triton", "triton-ascend", "transformers", "numpy", "mindie-turbo", "mindie-llm", "mindspore", "mooncake-transfer-engine", "mooncake", "flash-attn", "flash-attn-npu", "tokenizers", "safetensors", "ray", "compressed-tensors", "xgrammar", "modelscope", "accelerate", "deepspeed", "verl", "msmodelslim", "te", "auto-tune", "hccl", "op-compile-tool", "opc-tool", "dataflow", "llm-datadist", "pandas", "setuptools", "scipy", "pybind11", "protobuf", "pyzmq", "fastapi", "pydantic", "openai", "mistral-common", "huggingface-hub", "cmake", "packaging", "numba", "torch-atb"]
)
"""Packages that a single row without a heading may name."""

_NAME = r"[A-Za-z0-9](?:[\w.-]{0,80})"
_NUMBER = r"\d[\w.+!-]{0,60}"
_FREEZE = regex(rf"(?:\[pip3?\]\s{{1,4}})?({_NAME})(?:\[[\w,-]{{1,40}}\])?==({_NUMBER})$")
_CONDA = regex(rf"\[conda\]\s{{1,4}}({_NAME})\s{{1,60}}({_NUMBER})(?:\s|$)")
_ROW = regex(rf"({_NAME})(\s{{1,80}})({_NUMBER})(?:\s{{1,80}}(\S.{{0,300}}))?$")
_HEADING = regex(r"(?:#?\s{0,3}name|package)\s{1,80}version\b", re.IGNORECASE)
_RULE = regex(r"[-=\s]{3,400}$")
_NEEDS = regex(rf"({_NAME}) ({_NUMBER}) (?:requires |has requirement |is not supported on)")
_HAVE = regex(rf"but you have ({_NAME}) ({_NUMBER})")
_INSTALLED = regex(rf"({_NAME})-({_NUMBER})$")
_PINNED = regex(rf"(?:^|[\s'\"])({_NAME})(?:\[[\w,-]{{1,40}}\])?==({_NUMBER})")
_SATISFIED = regex(rf"requirement already satisfied: ({_NAME}).{{0,600}}\(({_NUMBER})\)$", re.IGNORECASE)
_ASKED = regex(r"(?:import (\w{1,40})\b.{0,80})?\b(\w{1,40})\.__version__")
_ANSWER = regex(rf"['\"]?({VERSION}[\w.+]{{0,40}})['\"]?$", re.IGNORECASE)


def tell_packages(text: Text, told: Sightings) -> None:
    """Every package that the text names as installed, and, weakest, those that someone asked pip to install."""
    for at in text.having("=="):
        _tell_pin(text, told, at)
    for at in text.having("[conda]"):
        conda = _CONDA.match(text.lines[at].strip())
        if conda:
            _tell(told, conda[1], conda[2], Strength.OUTPUT, at)
    for at in text.having("package", "name  ", "# name"):
        if _HEADING.match(text.lines[at].strip()):
            _tell_list(text, told, at + 1)
    for at in text.having(*(f"\n{name}" for name in ("vllm", "torch", "triton", "transformers", "numpy", "mind"))):
        _tell_row(text, told, at + 1)
    if text.lines:
        _tell_row(text, told, 0)
    for at in text.having("name: "):
        _tell_show(text, told, at)
    _tell_sentences(text, told)


def _tell(told: Sightings, name: str, version: str, strength: Strength, at: int) -> None:
    told.tell(PREFIX + normalise_name(name), version, strength, at)


def _tell_pin(text: Text, told: Sightings, at: int) -> None:
    line = text.lines[at].strip()
    pin = _FREEZE.match(line)
    if pin:
        asked = any("pip" in text.line(before) and ("freeze" in text.line(before) or "list" in text.line(before)) for before in (at - 1, at - 2))
        _tell(told, pin[1], pin[2], Strength.OUTPUT if line.startswith("[pip") or asked else Strength.KEYED, at)
    elif "pip install" in line or "pip3 install" in line:
        for name, version in _PINNED.findall(line[line.find("install") :]):
            _tell(told, name, version, Strength.INSTALL, at)


def _tell_list(text: Text, told: Sightings, start: int) -> None:
    rows = 0
    for at in range(start, len(text.lines)):
        line = text.lines[at].strip()
        row = _ROW.match(line)
        if row is None:
            if rows == 0 and _RULE.match(line):
                continue
            break
        rows += 1
        _tell(told, row[1], row[3], Strength.OUTPUT, at)
        if row[4] and row[4].startswith("/"):
            told.tell(EDITABLE + normalise_name(row[1]), row[4], Strength.OUTPUT, at)
    if rows >= WHOLE_LIST:
        told.tell("packages.whole", str(rows), Strength.OUTPUT, start)


def _tell_row(text: Text, told: Sightings, at: int) -> None:
    row = _ROW.match(text.line(at).strip())
    if row and normalise_name(row[1]) in KNOWN:
        _tell(told, row[1], row[3], Strength.OUTPUT if len(row[2]) > 1 else Strength.KEYED, at)


def _tell_show(text: Text, told: Sightings, at: int) -> None:
    key, _, name = text.lines[at].strip().partition(": ")
    following = text.line(at + 1).strip()
    if key != "Name" or not following.startswith("Version: "):
        return
    _tell(told, name, following[9:].strip(), Strength.OUTPUT, at + 1)
    for below in range(at + 2, at + 14):
        label, _, value = text.line(below).strip().partition(": ")
        if label == "Editable project location":
            told.tell(EDITABLE + normalise_name(name), value, Strength.OUTPUT, below)


def _tell_sentences(text: Text, told: Sightings) -> None:
    """What pip says of the packages that are there, and what `print(x.__version__)` answered."""
    for at in text.having("requires ", "has requirement ", "is not supported on"):
        needs = _NEEDS.search(text.lines[at][:_SENTENCE])
        if needs:
            _tell(told, needs[1], needs[2], Strength.OUTPUT, at)
    for at in text.having("but you have "):
        have = _HAVE.search(text.lines[at][:_SENTENCE])
        if have:
            _tell(told, have[1], have[2].rstrip("."), Strength.OUTPUT, at)
    for at in text.having("successfully installed "):
        for word in text.lines[at].partition("nstalled ")[2].split()[:400]:
            installed = _INSTALLED.match(word)
            if installed:
                _tell(told, installed[1], installed[2], Strength.LOG, at)
    for at in text.having("requirement already satisfied"):
        satisfied = _SATISFIED.search(text.lines[at][:_SENTENCE])
        if satisfied:
            _tell(told, satisfied[1], satisfied[2], Strength.LOG, at)
    for at in text.having(".__version__"):
        asked, answer = _ASKED.search(bare(text.lines[at][:_SENTENCE])[0]), _ANSWER.match(text.line(at + 1).strip())
        if asked and answer and normalise_name(asked[2]) in KNOWN:
            _tell(told, asked[2], answer[1], Strength.OUTPUT, at + 1)
