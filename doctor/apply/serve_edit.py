"""A file or command that starts vLLM, corrected word by word where it is certain what is meant; the rest of the text stays as it is.

Contract: pure; never raises on any text. What is corrected is judged again: an edit that does not take its problem away is not made.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from doctor.facts.serve_flags import is_flag
from doctor.lint import shipped
from doctor.lint.choose import Chosen
from doctor.lint.inputs import of_text
from doctor.lint.judge import meant
from doctor.lint.parse import Parsed, Problem, Wrong, parse
from doctor.lint.replaced import INVENTED, REPLACED
from doctor.lint.starts import Start
from doctor.lint.variables import DROPPED, MISSPELT, judge_variables

MOST_EDITS = 40

Choose = Callable[[str | None], Chosen]
"""Which vLLM a command is judged by: that of its image, or of this machine."""

RENAMED = {"max-batch-size": "max-num-seqs", "batch-size": "max-num-seqs"}
"""Invented flags with something that does what they were meant to do; the other invented ones are left out."""


@dataclass(frozen=True)
class Edit:
    """`old` is what stood there; `new` what stands there now, "" where it was left out."""

    old: str
    new: str
    line: int = 0


@dataclass(frozen=True)
class Correction:
    """The corrected text, what was changed in it, and what is wrong but for a person to decide."""

    text: str
    edits: tuple[Edit, ...] = ()
    open: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wish:
    """What should become of one flag: another name and (None: the same) another value; no name leaves it out."""

    name: str
    value: str | None = None


def corrected(text: str, source: str, choose: Choose) -> Correction:
    """The text with everything corrected that is certain."""
    edits: list[Edit] = []
    left: list[str] = []
    for _ in range(MOST_EDITS):
        problems = list(_problems(text, source, choose))
        left = [_told(problem) for _, _, problem in problems]
        # From the end on, so that the lines of what is still to be corrected stay those of the original.
        wrong = reversed(problems)
        step = next((made for start, chosen, problem in wrong if (made := _edited(text, start, chosen, problem)) and _better(made[0], text, source, choose)), None)
        step = step or _variable(text, source, choose)
        if step is None:
            break
        text, edit = step
        edits.append(edit)
    return Correction(text, tuple(sorted(edits, key=lambda edit: edit.line)), tuple(dict.fromkeys(left)))


def _problems(text: str, source: str, choose: Choose) -> Iterator[tuple[Start, Chosen, Problem]]:
    for start in of_text(text, source).starts:
        chosen = choose(start.image)
        if start.command.keywords and not start.words:
            yield from ((start, chosen, problem) for problem in _keywords(start, chosen))
            continue
        parsed: Parsed = parse(start.words, chosen.table, takes_model=start.model_first)
        yield from ((start, chosen, problem) for problem in parsed.problems)


def _keywords(start: Start, chosen: Chosen) -> Iterator[Problem]:
    for key, value in start.command.keywords.items():
        if chosen.table.keywords and key not in chosen.table.keywords:
            yield Problem(Wrong.UNKNOWN, key, value)


def _told(problem: Problem) -> str:
    return f"{problem.name} {problem.value}".strip()[:160] + f" ({problem.wrong.value})"


def _better(text: str, before: str, source: str, choose: Choose) -> bool:
    """Fewer problems, none that was not there, and still as many commands."""
    now, then = ([_told(problem) for _, _, problem in _problems(one, source, choose)] for one in (text, before))
    return len(now) < len(then) and set(now) <= set(then) and len(of_text(text, source).starts) == len(of_text(before, source).starts)


def _edited(text: str, start: Start, chosen: Chosen, problem: Problem) -> tuple[str, Edit] | None:
    wish = _wish(start, chosen, problem)
    if wish is None:
        return None
    value = _value_of(start, problem)
    at = begin_of(text, start)
    if start.how == "python":
        return _python(text, at, problem.name, wish)
    if start.how == "config":
        return config_key(text, problem.name.lstrip("-"), wish)
    return words_of(text, at, problem.name, value, wish)


def _wish(start: Start, chosen: Chosen, problem: Problem) -> Wish | None:
    """What is meant, where that is certain."""
    name = problem.name.lstrip("-").partition(".")[0].replace("_", "-")
    if problem.wrong is Wrong.SHORTENED and len(problem.meant) == 1:
        return Wish(problem.meant[0].lstrip("-"))
    if name == "device" and problem.wrong in (Wrong.UNKNOWN, Wrong.AMBIGUOUS, Wrong.CHOICE):
        return Wish("")
    if problem.wrong is Wrong.JSON:
        repaired = _json(problem.value if len(problem.value) < 160 else _value_of(start, problem))
        return Wish(problem.name.lstrip("-"), repaired) if repaired else None
    if problem.wrong is Wrong.SUPERFLUOUS and problem.value.lower() in ("true", "false"):
        return Wish(name if problem.value.lower() == "true" else f"no-{name}", "")
    return _unknown(start, chosen, problem, name) if problem.wrong is Wrong.UNKNOWN else None


def _unknown(start: Start, chosen: Chosen, problem: Problem, name: str) -> Wish | None:
    if name in INVENTED:
        return Wish(RENAMED.get(name, ""))
    if name in REPLACED and _was_dropped(name, chosen):
        return _replacement(REPLACED[name], _value_of(start, problem))
    near = meant(name, chosen, keywords=start.how == "python")
    return Wish(near) if near else None


def _was_dropped(name: str, chosen: Chosen) -> bool:
    known, version = shipped.history(name), shipped.release_of(chosen.vllm or chosen.table.version.partition("-")[0])
    last = shipped.release_of(known.last) if known is not None else None
    return version is not None and last is not None and last < version


def _replacement(told: str, value: str) -> Wish | None:
    """Of "--runner x", "--flag '{"key": …}'", "nothing"; None where a person has to choose."""
    if told.startswith("nothing"):
        return Wish("")
    match = re.fullmatch(r"--([\w-]+)(?: (?:'(.*)'|(\S+)))?", told)
    if match is None:
        return None
    name, inside, plain = match[1], match[2], match[3]
    if inside is None:
        return Wish(name, plain) if plain else Wish(name)
    filled = inside.replace("…", value if re.fullmatch(r"-?\d+(?:\.\d+)?|\{.*\}", value) else json.dumps(value))
    return Wish(name, filled) if not _not_json(filled) else None


def _json(value: str) -> str:
    """JSON of what was meant to be JSON: Python's spelling of a dict, single quotes; "" where it is neither."""
    try:
        found = ast.literal_eval(re.sub(r"\b(true|false|null)\b", lambda match: {"true": "True", "false": "False", "null": "None"}[match[1]], value.strip()))
        return json.dumps(found, ensure_ascii=False) if isinstance(found, dict) else ""
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return ""


def _not_json(value: str) -> bool:
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return True
    return False


def _value_of(start: Start, problem: Problem) -> str:
    """The word behind the flag, "" where another flag or nothing follows."""
    words = start.words
    if problem.at < len(words) and "=" in words[problem.at]:
        return words[problem.at].partition("=")[2]
    following = words[problem.at + 1] if problem.at + 1 < len(words) else ""
    return "" if is_flag(following) else following


def begin_of(text: str, start: Start) -> int:
    """Where the command's first line begins in the text."""
    lines = text.split("\n")
    return sum(len(line) + 1 for line in lines[: max(start.command.line - 1, 0)])


def words_of(text: str, at: int, name: str, value: str, wish: Wish) -> tuple[str, Edit] | None:
    """A flag among words: of a shell, a unit, a list in YAML or JSON."""
    flag = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])").search(text, at)
    if flag is None:
        return None
    line = text.count("\n", 0, flag.start()) + 1
    if wish.name and wish.value is None:
        new = f"{'-' if len(name) - len(name.lstrip('-')) == 1 and len(wish.name) == 1 else '--'}{wish.name}"
        return text[: flag.start()] + new + text[flag.end() :], Edit(name, new, line)
    end = value_end(text, flag.end(), value) if value else flag.end()
    if end is None:
        return None
    new = _spelt(text, flag.start(), wish) if wish.name else ""
    old = re.sub(r"\s+", " ", text[flag.start() : end])
    changed = text[: flag.start()] + new + text[end:] if new else without(text, flag.start(), end)
    return changed, Edit(old, new, line)


def _spelt(text: str, at: int, wish: Wish) -> str:
    """The flag with its value, as the place wants it: one word in a list, words with quotes in a shell."""
    if not wish.value:
        return f"--{wish.name}"
    listed = re.search(r"(?:^|\n)[ \t]*- [\"']?\Z|[\[,]\s*[\"']\Z", text[:at])
    if listed:
        return f"--{wish.name}={wish.value}"
    quoted = wish.value if re.fullmatch(r"[\w.:/-]+", wish.value) else "'" + wish.value.replace("'", "'\"'\"'") + "'"
    return f"--{wish.name} {quoted}"


def value_end(text: str, at: int, value: str) -> int | None:
    """Where the value ends that follows the flag: joined by `=`, behind blanks or a continued line, or as the next item of a list."""
    literal = re.escape(value)
    quoted = rf"(?:'{literal}'|\"{literal}\"|{re.escape(json.dumps(value))}|{literal})(?![\w.])"
    between = r"(?:=|[ \t]+|[ \t]*\\\r?\n[ \t]*|[\"']?[ \t]*\r?\n[ \t]*-[ \t]+|[\"'][ \t]*,[ \t\r\n]*)"
    match = re.compile(between + quoted).match(text, at)
    return match.end() if match else None


def without(text: str, begin: int, end: int) -> str:
    """The text without what stands between, and without a line, list item or comma that only held it."""
    before, after = text[:begin], text[end:]
    if match := re.search(r"(?:^|(?<=\n))[ \t]*- [\"']?\Z", before):  # an item of a YAML list
        rest = re.match(r"[\"']?[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)", after)
        if rest:
            return before[: match.start()] + after[rest.end() :]
    listed = re.match(r"[\"']?[ \t]*(,\s*|(?=\]))", after)
    if listed and re.search(r"[\[,]\s*[\"']\Z", before):  # an item of a JSON list
        kept = before[:-1]
        return (kept if listed[1] else re.sub(r",\s*\Z", "", kept)) + after[listed.end() :]
    first = before.rpartition("\n")[2]
    rest = re.match(r"[ \t]*\\?[ \t]*(?:\r?\n|\Z)", after)
    if not first.strip() and rest and before:
        continued = rest.group().rstrip("\r\n").rstrip().endswith("\\")
        kept = before[: len(before) - len(first)]
        return kept + after[rest.end() :] if continued else re.sub(r"[ \t]*\\\r?\n\Z", "\n", kept) + after[rest.end() :]
    return before.rstrip(" \t") + (" " if after[:1] not in ("", "\n", "\r", " ") and first.strip() else "") + after


def config_key(text: str, key: str, wish: Wish) -> tuple[str, Edit] | None:
    """A key of a configuration file, whose value stands on its line."""
    match = re.search(rf"^([ \t]*)(['\"]?){re.escape(key)}\2[ \t]*:([^\n]*)(?:\n(?![ \t]+\S|[ \t]*- )|\Z)", text, re.MULTILINE)
    if match is None:
        return None
    line = text.count("\n", 0, match.start()) + 1
    whole = match.group().rstrip("\n")
    if not wish.name:
        return text[: match.start()] + text[match.end() :], Edit(whole.strip(), "", line)
    value = match[3] if wish.value is None else f" {wish.value if wish.value else 'true'}"
    new = f"{match[1]}{wish.name}:{value}"
    return text[: match.start()] + new + text[match.start() + len(whole) :], Edit(whole.strip(), new.strip(), line)


def _python(text: str, at: int, key: str, wish: Wish) -> tuple[str, Edit] | None:
    """A keyword of a call. One that has to go goes with its value, where that is one literal."""
    match = re.compile(rf"(?<![\w.]){re.escape(key)}(?=\s*=(?!=))").search(text, at)
    if match is None:
        return None
    line = text.count("\n", 0, match.start()) + 1
    if wish.name:
        new = wish.name.replace("-", "_")
        return text[: match.start()] + new + text[match.end() :], Edit(key, new, line)
    literal = re.compile(r"\s*=\s*(?:'[^'\n]*'|\"[^\"\n]*\"|[\w.+-]+)\s*(,[ \t]*\n?[ \t]*)?").match(text, match.end())
    if literal is None:
        return None
    before = text[: match.start()] if literal[1] else re.sub(r",\s*\Z", "", text[: match.start()])
    return before + text[literal.end() :], Edit(text[match.start() : literal.end()].strip().rstrip(","), "", line)


def _variable(text: str, source: str, choose: Choose) -> tuple[str, Edit] | None:
    """One variable of vllm-ascend that is misspelt, or that its release does not read."""
    found = of_text(text, source)
    image = next((start.image for start in found.starts), None)
    for ruled in judge_variables(found.variables, source, choose(image), frozenset()):
        name = ruled.hit.subject
        match = re.search(rf"(?<![\w$]){re.escape(name)}(?!\w)", text)
        if match is None:
            continue
        line = text.count("\n", 0, match.start()) + 1
        if ruled.rule == MISSPELT:
            new = ruled.hit.wanted
            return text[: match.start()] + new + text[match.end() :], Edit(name, new, line)
        whole = re.search(rf"^[ \t]*(?:export[ \t]+)?{re.escape(name)}=\S*[ \t]*$\n?", text, re.MULTILINE)
        if ruled.rule == DROPPED and whole is not None:
            return text[: whole.start()] + text[whole.end() :], Edit(whole.group().strip(), "", line)
    return None


__all__ = ["Choose", "Correction", "Edit", "begin_of", "config_key", "corrected", "value_end", "without", "words_of", "Wish"]
