"""Reads cause files strictly: one YAML file, one cause, and nothing in it that this module does not know.

Contract: `parse(text, name)` returns a plain mapping that `build` turns into a `Rule`, or raises `CauseFileError`, whose text names
the file, the line and the remedy. No aliases, no duplicate keys, no unknown keys, no tags; every scalar is a string.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from doctor.finding import Confidence, Severity
from doctor.fix import Fix, Safety, Show, action_of
from doctor.rule import Decision, Near, Role, Rule, Signature
from doctor.told import told
from doctor.words import Words

ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+\Z")

_TOP = {
    "id", "severity", "role", "title", "why", "checks", "example", "decide", "patterns", "explains", "yields_to", "undecided", "fixes",
    "related", "references", "formerly",
}  # fmt: skip
_DECIDE = {"when", "log", "told", "near", "unless", "after", "before", "count", "confidence", "unknown", "severity", "found", "wanted"}
_FIX = {"id", "title", "safety", "steps", "verify", "do"}


class CauseFileError(ValueError):
    """A cause file that is refused; the text says where and why."""

    def __init__(self, name: str, line: int, reason: str) -> None:
        super().__init__(f"{name}:{line}: {reason}" if line else f"{name}: {reason}")


def parse(text: str, name: str) -> dict[str, Any]:
    """The file as plain dicts, lists and strings. Raises `CauseFileError`."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for token in yaml.scan(text, Loader=loader):
            if isinstance(token, yaml.AliasToken | yaml.AnchorToken | yaml.TagToken):
                raise CauseFileError(name, token.start_mark.line + 1, "aliases, anchors and tags are not allowed; write the text out")
        node = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        raise CauseFileError(name, mark.line + 1 if mark else 0, f"not YAML: {getattr(problem, 'problem', None) or problem}") from None
    except RecursionError:
        raise CauseFileError(name, 0, "nested too deeply") from None
    if not isinstance(node, yaml.MappingNode):
        raise CauseFileError(name, 1, "a cause file is a mapping that starts with `id:`")
    plain = _plain(node, name, 0)
    assert isinstance(plain, dict)
    _check_keys(plain, _TOP, {"id", "severity", "title", "why"}, name, node)
    return plain


def _plain(node: Any, name: str, depth: int) -> Any:
    import yaml

    if depth > 20:
        raise CauseFileError(name, node.start_mark.line + 1, "nested too deeply")
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, name, depth + 1) for item in node.value]
    found: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise CauseFileError(name, key.start_mark.line + 1, "keys are plain words")
        if key.value in found:
            raise CauseFileError(name, key.start_mark.line + 1, f"the key {key.value!r} is there twice")
        found[key.value] = _plain(value, name, depth + 1)
    return found


def _check_keys(found: Mapping[str, Any], known: set[str], needed: set[str], name: str, node: Any = None) -> None:
    lines = {key.value: key.start_mark.line + 1 for key, _ in node.value} if node is not None else {}
    for key in found:
        if key not in known:
            raise CauseFileError(name, lines.get(key, 0), f"unknown key {key!r}; known are {', '.join(sorted(known))}")
    for key in sorted(needed - set(found)):
        raise CauseFileError(name, 0, f"the key {key!r} is missing")


def build(plain: Mapping[str, Any], area: str, name: str) -> Rule:
    """The rule that a parsed file describes (without Python logic). Raises `CauseFileError`."""
    ident = str(plain["id"])
    if not ID.match(ident):
        raise CauseFileError(name, 0, f"the id {ident!r} is not kebab case")
    try:
        return Rule(
            id=ident,
            area=area,
            severity=Severity[str(plain["severity"]).upper()],
            role=Role(plain.get("role", "cause")),
            title=_words(plain["title"]),
            why=_words(plain["why"]),
            checks=_words(plain["checks"]) if "checks" in plain else None,
            example=str(plain.get("example", "")),
            decisions=decisions_of(plain, name),
            patterns={key: _strings(value) for key, value in dict(plain.get("patterns", {})).items()},
            explains=_strings(plain.get("explains", [])),
            yields_to=_strings(plain.get("yields_to", [])),
            undecided=_words(plain["undecided"]) if "undecided" in plain else None,
            fixes=tuple(_fix(item, name) for item in _list(plain.get("fixes", []))),
            related=_strings(plain.get("related", [])),
            references=_strings(plain.get("references", [])),
            formerly=_strings(plain.get("formerly", [])),
        )
    except KeyError as problem:
        raise CauseFileError(name, 0, f"{problem.args[0]!r} is missing or not a known word") from None
    except (ValueError, TypeError, AttributeError) as problem:
        if isinstance(problem, CauseFileError):
            raise
        raise CauseFileError(name, 0, str(problem)) from None


def decisions_of(plain: Mapping[str, Any], name: str) -> tuple[Decision, ...]:
    """What stands under `decide`. Raises as the errors that `build` tells in its own way."""
    return tuple(_decision(item, name) for item in _list(plain.get("decide", [])))


def _decision(item: Any, name: str) -> Decision:
    if not isinstance(item, dict):
        raise ValueError("`decide` is a list of mappings")
    _check_keys(item, _DECIDE, set(), name)
    lines = _lines(item)
    if not lines and "when" not in item:
        raise ValueError("a way to decide needs `log`, `told` or `when`")
    signature = None
    if lines:
        signature = Signature(
            patterns=lines,
            near=tuple(_near(near) for near in _list(item.get("near", []))),
            unless=tuple(_near(near) for near in _list(item.get("unless", []))),
            after=_strings(item.get("after", [])),
            before=_strings(item.get("before", [])),
            count=int(item.get("count", 1)),
        )
    elif set(item) & {"near", "unless", "after", "before", "count", "unknown"}:
        raise ValueError("`near`, `unless`, `after`, `before`, `count` and `unknown` need `log` or `told`")
    return Decision(
        signature=signature,
        when=item.get("when"),
        confidence=Confidence[str(item.get("confidence", "sure")).upper()],
        unknown=Confidence[str(item["unknown"]).upper()] if "unknown" in item else None,
        severity=Severity[str(item["severity"]).upper()] if "severity" in item else None,
        found=str(item.get("found", "")),
        wanted=str(item.get("wanted", "")),
    )


def _near(item: Any) -> Near:
    if isinstance(item, str):
        return Near((item,))
    if not isinstance(item, dict) or not set(item) <= {"log", "told", "lines"} or not (patterns := _lines(item)):
        raise ValueError("`near` and `unless` hold patterns, or mappings of `log` or `told` and `lines`")
    return Near(patterns, int(item.get("lines", 0)))


def _lines(item: Mapping[str, Any]) -> tuple[str, ...]:
    """The patterns of what programs print (`log`) and of what people write (`told`)."""
    people = [item["told"]] if isinstance(item.get("told"), str) else _list(item.get("told", []))
    return (*_strings(item.get("log", [])), *(told(words) for words in people))


def _fix(item: Any, name: str) -> Fix:
    if not isinstance(item, dict):
        raise ValueError("`fixes` is a list of mappings")
    _check_keys(item, _FIX, {"id", "title", "safety", "steps"}, name)
    safety = Safety(item["safety"])
    if "do" in item and safety is Safety.SHOW:
        raise ValueError("a fix with `do` is safe or ask; what is only shown has steps in words")
    return Fix(
        id=str(item["id"]),
        title=_words(item["title"]),
        safety=safety,
        steps=tuple(Show(_words(step)) for step in _list(item["steps"])),
        verify=_words(item["verify"]) if "verify" in item else None,
        do=tuple(action_of(action) for action in _list(item.get("do", []))),
    )


def _words(value: Any) -> Words:
    if isinstance(value, str):
        return Words(value, value)
    if not isinstance(value, dict) or set(value) != {"en", "zh"}:
        raise ValueError("a text has exactly `en` and `zh`")
    return Words(str(value["en"]).strip(), str(value["zh"]).strip())


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return value


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list) or not set(map(type, value)) <= {str}:
        raise ValueError("a text or a list of texts was expected")
    return tuple(value)
