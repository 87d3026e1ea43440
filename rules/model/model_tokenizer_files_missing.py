"""Whether the folder holds a vocabulary, and a template for chat requests."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.model import Model, Models, setting
from doctor.finding import Hit, Severity
from doctor.logscan.signature import Matches

from .served import about, listed, served


def judge(models: Models | None, matches: Matches) -> Iterator[Hit]:
    for model in served(models, matches):
        if not any(setting(model.command, name) is not None for name in ("tokenizer", "skip-tokenizer-init")):
            yield from _judge(model)


def _judge(model: Model) -> Iterator[Hit]:
    folder = model.folder
    empty = tuple(name for name in folder.vocabularies if folder.files[name] == 0 or name in folder.pointers)
    merges = "merges.txt" in folder.files or "tokenizer.json" in folder.files
    own_code = any(name.startswith("tokenization") and name.endswith(".py") for name in folder.files)
    if not folder.files or any(name.endswith(".gguf") for name in folder.files):
        return
    if empty:
        yield about(model, empty[0], f"empty, or a pointer of Git LFS: {listed(empty)}", "the files themselves")
    elif not folder.vocabularies and not own_code:
        yield about(model, "", "no vocabulary in the model's folder", "tokenizer.json, tokenizer.model, or vocab.json with merges.txt")
    elif set(folder.vocabularies) == {"vocab.json"} and not merges and not own_code:
        yield about(model, "vocab.json", "vocab.json is there, but neither merges.txt nor tokenizer.json", "merges.txt or tokenizer.json")
    elif folder.tokenizer_config is not None and folder.tokenizer_config.problem:
        yield about(model, "tokenizer_config.json", f"tokenizer_config.json: {folder.tokenizer_config.problem}", "valid JSON")
    elif folder.chat_template is False and setting(model.command, "chat-template") is None and _talks(model):
        found = "the tokenizer has no chat template, so chat requests fail"
        yield about(model, "tokenizer_config.json", found, "chat_template, or --chat-template FILE", Severity.NOTE)


def _talks(model: Model) -> bool:
    names = model.folder.config.architectures if model.folder.config else ()
    return any(name.endswith(("ForCausalLM", "ForConditionalGeneration")) for name in names)
