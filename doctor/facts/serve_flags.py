"""Words and flags of a vLLM command line, and arguments of a Python call, as people type and log them. Pure; never raises."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence

from doctor.regex import regex

CALL_LIMIT = 8 * 1024

SHORT_FLAGS = {
    "tp": "tensor-parallel-size",
    "pp": "pipeline-parallel-size",
    "dp": "data-parallel-size",
    "dpn": "data-parallel-rank",
    "dpr": "data-parallel-start-rank",
    "dpl": "data-parallel-size-local",
    "dpa": "data-parallel-address",
    "dpp": "data-parallel-rpc-port",
    "dpb": "data-parallel-backend",
    "dph": "data-parallel-hybrid-lb",
    "dpe": "data-parallel-external-lb",
    "dcp": "decode-context-parallel-size",
    "pcp": "prefill-context-parallel-size",
    "ep": "enable-expert-parallel",
    "cc": "compilation-config",
    "ac": "attention-config",
    "q": "quantization",
    "n": "nnodes",
    "r": "node-rank",
}
"""vLLM's single-dash flags -> their long names."""

_BARE = regex(
    r"(?:no|enable|disable|use|allow|trust|enforce|skip|return|show|async|headless|api-server-headless|data-parallel-(?:hybrid|external)-lb)(?:-.*)?"
)
"""Flags that take no value (argparse booleans); a following word is not theirs."""

_BARE_EXCEPTIONS = frozenset({"allowed-origins", "use-tqdm-on-load-workers", "show-hidden-metrics-for-version", "async-engine-args"})
_MANY = frozenset(
    {"served-model-name", "lora-modules", "prompt-adapters", "cudagraph-capture-sizes", "cuda-graph-sizes", "middleware", "api-key", "device-ids"}
)
"""Flags that take several words."""

_BOOLEAN_WORDS = frozenset({"true", "false", "True", "False"})
_NUMBER = regex(r"-\d[\d.eE]*")
_ASSIGNMENT = regex(r"[A-Za-z_]\w*=")
_KEYWORD = regex(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*(.*)", re.DOTALL)


def split_assignments(words: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Leading NAME=value words (also after `env` and `export`), and the rest."""
    values: dict[str, str] = {}
    for position, word in enumerate(words):
        if _ASSIGNMENT.match(word):
            name, _, value = word.partition("=")
            values[name] = value
        elif word not in ("env", "export"):
            return values, tuple(words[position:])
    return values, ()


def flag_name(word: str) -> str:
    """Long name of a flag without dashes and value, `_` as `-`: `--max_num_seqs=8` -> max-num-seqs, `-tp` -> tensor-parallel-size."""
    name = word.partition("=")[0]
    head, dot, keys = name.lstrip("-").partition(".")
    if not name.startswith("--"):
        head = SHORT_FLAGS.get(head, head)
    return head.replace("_", "-") + dot + keys


def is_flag(word: str) -> bool:
    return len(word) > 1 and word[0] == "-" and not _NUMBER.fullmatch(word) and (word[1].isalpha() or word[1] == "-") and word != "--"


def parse_flags(words: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """(flag -> value, positional words). A bare flag has the value ""; where a flag is repeated the last counts, as in argparse."""
    flags: dict[str, str] = {}
    positional: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if not is_flag(word):
            positional.append(word)
            continue
        name, value = flag_name(word), word.partition("=")[2]
        if re.match(r"-O", word):
            name, value = _optimization(word, words[at : at + 1])
            at += word == "-O" and value != ""
        elif "=" not in word:
            taken = _values(name, words, at)
            value, at = " ".join(words[at : at + taken]), at + taken
        flags[name] = value
    return flags, tuple(positional)


def _values(name: str, words: Sequence[str], at: int) -> int:
    """How many words from `at` on belong to the flag."""
    if at >= len(words) or is_flag(words[at]):
        return 0
    if _BARE.fullmatch(name) and name not in _BARE_EXCEPTIONS:
        return 1 if words[at] in _BOOLEAN_WORDS else 0
    count = 1
    while name in _MANY and at + count < len(words) and not is_flag(words[at + count]):
        count += 1
    return count


def _optimization(word: str, following: Sequence[str]) -> tuple[str, str]:
    """`-O3`, `-O 3`, `-O '{…}'`, `-O.level=3`: a level, or (part of) the compilation configuration."""
    rest = word[2:]
    if rest.startswith("."):
        key, _, value = rest.partition("=")
        return "compilation-config" + key, value
    value = rest.lstrip("=") or (following[0] if following and not is_flag(following[0]) else "")
    return ("compilation-config" if value.startswith("{") else "optimization-level"), value


def balanced(text: str, start: int) -> str:
    """What stands between the bracket at `start` and the one that closes it, or up to the limit; quotes are understood."""
    depth, at, end = 0, start, min(len(text), start + CALL_LIMIT)
    quote = ""
    while at < end:
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"" and text.find(char, at + 1, end) > 0:
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
            if depth == 0:
                return text[start + 1 : at]
        at += 1
    return text[start + 1 : end]


def parse_arguments(text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """(positional, keyword) arguments of a call's text; a literal's value, for anything else its source text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(f"f({text[:CALL_LIMIT]}\n)", mode="eval").body
        if isinstance(tree, ast.Call):
            named = {keyword.arg: _plain(keyword.value) for keyword in tree.keywords if keyword.arg}
            return tuple(_plain(argument) for argument in tree.args), named
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass  # not Python: an excerpt, or a repr such as <object at 0x…>
    found: dict[str, str] = {}
    for part in _parts(text[:CALL_LIMIT]):
        match = _KEYWORD.fullmatch(part)
        if match:
            found[match.group(1)] = unquote(match.group(2).strip())
    return (), found


def parse_dict(text: str) -> dict[str, str]:
    """Pairs of a logged dict: `'port': 8210, 'dtype': 'float32'` (the text between the braces)."""
    found: dict[str, str] = {}
    for part in _parts(text[:CALL_LIMIT]):
        match = re.fullmatch(r"\s*['\"]([A-Za-z_][\w.-]*)['\"]\s*:\s*(.*)", part, re.DOTALL)
        if match:
            found[match.group(1)] = unquote(match.group(2).strip())
    return found


def as_flags(pairs: Mapping[str, str]) -> dict[str, str]:
    """Logged arguments as flags. What is None, False, empty or "auto" was not asked for; True is a bare flag."""
    return {
        name.replace("_", "-"): "" if value == "True" else _json(value)
        for name, value in pairs.items()
        if value not in ("None", "False", "", "[]", "{}", "auto", "()")
    }


def _json(value: str) -> str:
    """A logged dict or list in the spelling of the command line."""
    if value[:1] in "{[":
        try:
            return json.dumps(ast.literal_eval(value), ensure_ascii=False)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return value
    return value


def _plain(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else repr(node.value)
    return ast.unparse(node)


def unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text


def _parts(text: str) -> Iterator[str]:
    """The text cut at its commas, except those within brackets or quotes."""
    start = at = depth = 0
    quote = ""
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\":
                at += 1
            elif char == quote:
                quote = ""
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth = max(depth - 1, 0)
        elif char == "," and depth == 0:
            yield text[start:at]
            start = at + 1
        at += 1
    yield text[start:]
