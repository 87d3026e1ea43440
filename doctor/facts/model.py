"""Models on disk: the folders that serving commands name, with their configuration, weight files, tokenizer and quantisation.

Contract: reads small text files and the headers of weight files, never the weights; every amount is bounded.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any

from doctor.facts import Facts, Provider
from doctor.facts.model_config import ModelConfig, parse_config
from doctor.facts.quantisation import QuantDescription, parse_description
from doctor.facts.safetensors import LFS_MARK, START_BYTES
from doctor.facts.shards import Shards, read_shards
from doctor.facts.vllm import ServeCommand, ServeCommands
from doctor.host import MIB, Host, Kind, Unavailable, Why
from doctor.record import dataclass
from doctor.regex import regex

MOST_MODELS = 8
MOST_FILES = 5000
CONFIG_LIMIT = 4 * MIB
DESCRIPTION_LIMIT = 64 * MIB
"""Bytes; a description has a line for each tensor."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_VOCABULARIES = regex(
    r"tokenizer\.json|tokenizer\.model(?:\.v\d+)?|.*\.tiktoken|tiktoken\.model|vocab\.(?:json|txt)|tekken\.json|sentencepiece.*\.model|spiece\.model"
    r"|.*tokenizer.*\.(?:model|json|vocab)|added_vocab.*|spm\.model"
)
_PARTIAL = (".incomplete", ".aria2", ".part", ".downloading", ".tmp", "._____temp")
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".ckpt", ".npz")


@dataclass(frozen=True)
class ModelFolder:
    """A model's folder. `files`: regular files in it, name -> bytes. `config` None: there is no config.json."""

    path: str
    files: Mapping[str, int] = field(default_factory=dict)
    config: ModelConfig | None = None
    description: QuantDescription | None = None
    """msModelSlim's description, if there is one."""
    generation_problem: str = ""
    """Why generation_config.json is no JSON."""
    tokenizer_config: ModelConfig | None = None
    chat_template: bool | None = None
    """Whether a chat template is there; None where tokenizer_config.json cannot be read."""
    pointers: tuple[str, ...] = ()
    """Small files (configuration, tokenizer) that are pointers of Git LFS."""

    def file(self, name: str) -> str:
        return f"{self.path}/{name}"

    @property
    def vocabularies(self) -> tuple[str, ...]:
        """Files that hold the tokenizer's vocabulary."""
        return tuple(name for name in self.files if name != "tokenizer_config.json" and _VOCABULARIES.fullmatch(name))

    @property
    def weights(self) -> tuple[str, ...]:
        """Weight files of any format."""
        return tuple(name for name in self.files if name.endswith(_WEIGHTS))

    @property
    def quantization(self) -> str | None:
        """ "ascend" where msModelSlim's description is there, else the method that config.json names; None where neither tells one."""
        if self.description is not None and self.description.main_type:
            return "ascend"
        return self.config.quant_method if self.config else None


@dataclass(frozen=True)
class Model:
    """A folder, its weights, and the command that serves it (None where only the folder was named)."""

    folder: ModelFolder
    shards: Shards
    command: ServeCommand | None = None

    @property
    def path(self) -> str:
        return self.folder.path


@dataclass(frozen=True)
class Models:
    """Every model whose folder a serving command names and that is there; `absent` are paths that are not, with their command."""

    models: tuple[Model, ...]
    absent: tuple[tuple[str, ServeCommand], ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Drafts:
    """The draft models whose folders speculative decoding names, each with the command that names it."""

    models: tuple[Model, ...]
    source: str = ""


def literal(path: str) -> str:
    """The path as a pattern that matches nothing else."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def read_model(host: Host, path: str, command: ServeCommand | None = None) -> Model | Unavailable:
    """The model in the folder `path` (absolute). Unavailable where the folder cannot be looked at."""
    info = host.stat(path)
    if isinstance(info, Unavailable):
        return info
    if info.kind is not Kind.FOLDER:
        return Unavailable(path, Why.MISSING, "not a folder")
    files = _files(host, path)
    if isinstance(files, Unavailable):
        return files
    folder = _folder(host, path, files)
    return Model(folder, read_shards(host, path, files, tuple(_partial(host, path, files))), command)


def _files(host: Host, path: str) -> dict[str, int] | Unavailable:
    listed = host.list(f"{literal(path)}/*")
    if isinstance(listed, Unavailable):
        return listed
    files: dict[str, int] = {}
    for entry in listed[:MOST_FILES]:
        info = host.stat(entry)
        if not isinstance(info, Unavailable) and info.kind is Kind.FILE:
            files[posixpath.basename(entry)] = info.size
    return files


def _partial(host: Host, path: str, files: Mapping[str, int]) -> Iterator[str]:
    yield from (name for name in files if name.endswith(_PARTIAL))
    for folder in (".cache/huggingface/download", "._____temp"):
        found = host.list(f"{literal(path)}/{folder}/*")
        for entry in () if isinstance(found, Unavailable) else found[:MOST_FILES]:
            name = posixpath.basename(entry)
            if folder == "._____temp" or name.endswith(_PARTIAL):
                yield f"{folder}/{name}"


def _folder(host: Host, path: str, files: Mapping[str, int]) -> ModelFolder:
    def parsed(name: str) -> ModelConfig | None:
        if name not in files:
            return None
        start = host.read_raw(f"{path}/{name}", len(BYTE_ORDER_MARK))
        text = host.read(f"{path}/{name}", CONFIG_LIMIT)
        return ModelConfig(problem=f"cannot be read: {text.why.value}") if isinstance(text, Unavailable) else parse_config(text, start == BYTE_ORDER_MARK)

    generation, tokenizer = parsed("generation_config.json"), parsed("tokenizer_config.json")
    return ModelFolder(
        path,
        files,
        parsed("config.json"),
        _description(host, path, files),
        generation.problem if generation else "",
        tokenizer,
        _chat_template(files, tokenizer),
        tuple(name for name, size in files.items() if 100 <= size <= 300 and not name.endswith(_WEIGHTS) and _is_pointer(host, f"{path}/{name}")),
    )


def _is_pointer(host: Host, path: str) -> bool:
    start = host.read_raw(path, START_BYTES)
    return isinstance(start, bytes) and start.startswith(LFS_MARK)


def _chat_template(files: Mapping[str, int], tokenizer: ModelConfig | None) -> bool | None:
    if any(name.startswith("chat_template") for name in files):
        return True
    return None if tokenizer is None or tokenizer.problem else "chat_template" in tokenizer.values


def _description(host: Host, path: str, files: Mapping[str, int]) -> QuantDescription | None:
    names = sorted(name for name in files if re.fullmatch(r"quant_model_description(?:_[\w.-]+)?\.json", name))
    if not names:
        return None
    name = "quant_model_description.json" if "quant_model_description.json" in names else names[0]
    text = host.read(f"{path}/{name}", DESCRIPTION_LIMIT)
    return QuantDescription(f"{path}/{name}", problem=f"it cannot be read: {text.why.value}") if isinstance(text, Unavailable) else parse_description(text, f"{path}/{name}")


def _read_models(host: Host, facts: Facts) -> Models | Unavailable:
    commands = facts.get(ServeCommands)
    if isinstance(commands, Unavailable):
        return commands
    found: dict[str, Model] = {}
    absent: list[tuple[str, ServeCommand]] = []
    refused: Unavailable | None = None
    for command in commands.commands:
        path = model_path(command)
        if path is None or path in found or len(found) >= MOST_MODELS:
            continue
        model = read_model(host, path, command)
        if isinstance(model, Unavailable) and command.pid:  # a server in a container has its own root
            inside = read_model(host, f"/proc/{command.pid}/root{path}", command)
            model = inside if isinstance(inside, Model) else model
        if isinstance(model, Model):
            found[path] = model
        elif model.why is Why.MISSING:
            absent.append((path, command))
        else:
            refused = refused or model
    if not found and not absent:
        return refused or Unavailable("model folder", Why.MISSING, "no serving command names one")
    return Models(tuple(found.values()), tuple(absent), "serving commands")


def _read_drafts(host: Host, facts: Facts) -> Drafts | Unavailable:
    commands = facts.get(ServeCommands)
    if isinstance(commands, Unavailable):
        return commands
    found: list[Model] = []
    for command in commands.commands[:MOST_MODELS]:
        told = setting(command, "speculative-config") or ""
        named = re.search(r"[\"']model[\"']\s{0,4}:\s{0,4}[\"'](/[^\"'$]{1,400})[\"']", told)
        path = named[1] if named else setting(command, "speculative-model") or ""
        model = read_model(host, posixpath.normpath(path), command) if path.startswith("/") else None
        found += [model] if isinstance(model, Model) else []
    return Drafts(tuple(found), "serving commands") if found else Unavailable("draft model", Why.MISSING, "no serving command names one")


def model_path(command: ServeCommand) -> str | None:
    """The absolute path that the command names as its model; None for a name on a hub, or a path that hangs on the start folder."""
    model = command.model or command.keywords.get("model") or ""
    return posixpath.normpath(model) if model.startswith("/") and "$" not in model and "\0" not in model else None


def setting(command: ServeCommand | None, name: str) -> str | None:
    """The value of a flag ("" for a bare one), or of the same argument of an LLM(…) call; None where it was not given."""
    if command is None:
        return None
    keyword = command.keywords.get(name.replace("-", "_"))
    return command.flags.get(name, None if keyword in ("None", "False") else "" if keyword == "True" else keyword)


def length(text: str | None) -> int | None:
    """Tokens as vLLM reads them: "32768", "32k" (thousand), "32K" (1024); None for "auto" and anything else."""
    found = re.fullmatch(r"(\d{1,9})([kKmM]?)", (text or "").strip())
    return int(found[1]) * {"": 1, "k": 1000, "K": 1024, "m": 10**6, "M": 2**20}[found[2]] if found else None


PROVIDERS: tuple[Provider[Any], ...] = (Provider(Models, _read_models), Provider(Drafts, _read_drafts))

__all__ = ["Drafts", "Model", "ModelFolder", "Models", "PROVIDERS", "length", "literal", "model_path", "read_model", "setting"]
