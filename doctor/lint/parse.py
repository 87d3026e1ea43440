"""Reads a command line as vLLM's own parser does, and says what that parser would refuse or silently complete. Pure; never raises.

argparse's rules and those of vLLM's subclass: unique prefixes stand for the whole name, `_` is `-`, `--flag=value`, `--no-flag` for booleans,
`--flag.key value` for JSON, `-O3`. What the shell has yet to fill in ($VAR, <placeholder>, …) is never judged.
"""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from doctor.lint.flags import Flag, Kind, Table
from doctor.record import dataclass

MOST_WORDS = 4000
VALUE_SHOWN = 160


class Wrong(enum.Enum):
    """What is wrong with one word of a command line."""

    UNKNOWN = "unknown flag"
    AMBIGUOUS = "beginning of several flags"
    SHORTENED = "beginning of one flag"
    CHOICE = "value that is not allowed"
    TYPE = "value of another type"
    JSON = "value that is not JSON"
    MISSING = "no value"
    SUPERFLUOUS = "value for a flag that takes none"
    STRAY = "word that belongs to no flag"


@dataclass(frozen=True)
class Problem:
    """`name` as typed, without value; `at` its place among the words; `meant` the flags it may stand for or the values allowed."""

    wrong: Wrong
    name: str
    value: str = ""
    meant: tuple[str, ...] = ()
    at: int = 0
    flag: Flag | None = None
    why: str = ""
    """What the JSON reader says."""


@dataclass(frozen=True)
class Parsed:
    """What the parser would hold: flag -> value ("" for a bare one, "false" for --no-…), the model, and what is wrong."""

    flags: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, int] = field(default_factory=dict)
    model: str | None = None
    problems: tuple[Problem, ...] = ()


_PLACEHOLDER = re.compile(r"\$[\w{(@*]|\.\.\.|…|<[^<>\s]*>|\{\{|%[a-zA-Z]\b|`")
_NUMBER = re.compile(r"-\d+|-\d*\.\d+")
_INT = re.compile(r"[+-]?\d+(?:_\d+)*")
_SIZE = re.compile(r"-1|auto|\d+(?:\.\d+)?[kKmMgGtT]?")
_OPTION_MARKS = frozenset({"[options]", "[OPTIONS]", "[args]", "[ARGS]"})


def unfinished(text: str) -> bool:
    """Whether something is still to be filled in: a variable, a placeholder, an ellipsis."""
    return bool(_PLACEHOLDER.search(text))


def parse(words: Sequence[str], table: Table, *, takes_model: bool = True) -> Parsed:
    """The arguments after `vllm serve` (`takes_model`) or after the api_server module (every positional word is then stray)."""
    state = _State(table, [word for word in words[:MOST_WORDS] if word not in _OPTION_MARKS])
    while state.at < len(state.words):
        _step(state)
    model, stray = state.positional[:1] if takes_model else [], state.positional[1:] if takes_model else state.positional
    told = False
    broken = {problem.at for problem in state.problems if problem.wrong in (Wrong.JSON, Wrong.UNKNOWN)}
    for at, word in stray:
        after = state.owner_before(at)
        if unfinished(word) or after in broken:
            continue  # pieces of a value that the shell has cut, or of a flag that is wrong itself
        owner = state.typed.get(after, "")
        flag = state.flag_at.get(after)
        superfluous = flag is not None and flag.bare
        if told and not superfluous:
            continue  # one stray word a command: the others are of the same slip
        told = told or not superfluous
        state.problems.append(Problem(Wrong.SUPERFLUOUS if superfluous else Wrong.STRAY, owner or word, word, at=after if superfluous else at, flag=flag))
    return Parsed(state.flags, state.places, model[0][1] if model else None, tuple(sorted(state.problems, key=lambda problem: problem.at)))


@dataclass
class _State:
    table: Table
    words: list[str]
    at: int = 0
    flags: dict[str, str] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    positional: list[tuple[int, str]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    typed: dict[int, str] = field(default_factory=dict)
    flag_at: dict[int, Flag] = field(default_factory=dict)

    def owner_before(self, at: int) -> int:
        """Place of the last flag before a word, -1 if there is none."""
        return max((place for place in self.typed if place < at), default=-1)

    def is_option(self, at: int) -> bool:
        """Whether argparse takes the word for a flag: a dash, no blank in its name, and no negative number."""
        word = self.words[at] if at < len(self.words) else ""
        return len(word) > 1 and word[0] == "-" and not _NUMBER.fullmatch(word) and " " not in word.partition("=")[0] and word != "--"


def _step(state: _State) -> None:
    word = state.words[state.at]
    if word == "--":
        state.positional += list(enumerate(state.words))[state.at + 1 :]
        state.at = len(state.words)
    elif not state.is_option(state.at):
        state.positional.append((state.at, word))
        state.at += 1
    elif word.startswith("--"):
        _long(state, word)
    else:
        _short(state, word)


def _long(state: _State, word: str) -> None:
    typed, equals, value = word.partition("=")
    head, dot, keys = typed[2:].partition(".")
    name = head.replace("_", "-")
    place = state.at
    state.typed[place] = typed
    state.at += 1
    found = state.table.find(name)
    if len(found) != 1:
        if not equals and not dot and state.at < len(state.words) and not state.is_option(state.at) and not name.startswith("no-"):
            value = state.words[state.at]  # most likely its value, and not the model
            state.at += 1
        if not unfinished(typed):
            wrong = Wrong.AMBIGUOUS if found else Wrong.UNKNOWN
            state.problems.append(Problem(wrong, typed, value, tuple(f"--{long}" for long, _ in found), place))
        state.flags.setdefault(name, value)
        state.places.setdefault(name, place)
        return
    long, flag = found[0]
    if long != name:
        state.problems.append(Problem(Wrong.SHORTENED, typed, value, (f"--{long}",), place, flag))
    _take(state, long + dot + keys, flag, place, typed, value if equals else None)


def _short(state: _State, word: str) -> None:
    place = state.at
    state.at += 1
    typed, equals, value = word.partition("=")
    state.typed[place] = typed
    if word.startswith("-O"):
        _optimisation(state, word, place)
        return
    head, dot, keys = typed[1:].partition(".")
    flag = state.table.shorts.get(head)
    if flag is not None:
        _take(state, flag.name + dot + keys, flag, place, typed, value if equals else None)
        return
    single = state.table.shorts.get(word[1:2])
    if single is not None and not single.bare:
        _take(state, single.name, single, place, word[:2], word[2:])
        return
    begun = sorted({f"-{short}" for short in state.table.shorts if short.startswith(head)})
    if len(begun) == 1:
        flag = state.table.shorts[begun[0][1:]]
        state.problems.append(Problem(Wrong.SHORTENED, typed, value, tuple(begun), place, flag))
        _take(state, flag.name, flag, place, typed, value if equals else None)
    elif not unfinished(word):
        state.problems.append(Problem(Wrong.AMBIGUOUS if begun else Wrong.UNKNOWN, typed, value, tuple(begun), place))


def _optimisation(state: _State, word: str, place: int) -> None:
    """`-O3`, `-O 3`, `-O=3`, `-O.key=value`, `-O '{…}'`: a level, or the compilation configuration."""
    rest = word[2:].lstrip("=")
    if not rest and not state.is_option(state.at) and state.at < len(state.words):
        rest = state.words[state.at]
        state.at += 1
    state.flags["compilation-config" if rest.startswith(("{", ".")) else "optimization-level"] = rest
    state.places["compilation-config" if rest.startswith(("{", ".")) else "optimization-level"] = place


def _take(state: _State, name: str, flag: Flag, place: int, typed: str, joined: str | None) -> None:
    """Takes the flag's values from the words and checks them. `joined` is what followed an equals sign."""
    state.flag_at[place] = flag
    state.places[name] = place
    dotted = "." in name
    if flag.bare and not dotted:
        state.flags[name] = ""
        if name.startswith("no-") and name != flag.name:
            del state.flags[name]
            state.flags[flag.name], state.places[flag.name] = "false", place
        if joined is not None:
            state.problems.append(Problem(Wrong.SUPERFLUOUS, typed, joined, at=place, flag=flag))
        return
    many = "" if dotted else flag.many
    values = [joined] if joined is not None else []
    while joined is None and state.at < len(state.words) and not state.is_option(state.at) and state.words[state.at] != "--":
        if values and many not in ("+", "*"):
            break
        values.append(state.words[state.at])
        state.at += 1
    state.flags[name] = " ".join(values)
    if not values:
        if many not in ("?", "*"):
            state.problems.append(Problem(Wrong.MISSING, typed, at=place, flag=flag))
        return
    for value in values:
        problem = None if dotted and flag.kind in (Kind.JSON, Kind.JSON_OR_TEXT, Kind.ANY) else judge_value(flag, value, dotted=dotted)
        if problem is not None:
            why = json_error(value) if problem is Wrong.JSON else ""
            state.problems.append(Problem(problem, typed, value[:VALUE_SHOWN], flag.choices, place, flag, why))
            return


def judge_value(flag: Flag, value: str, *, dotted: bool = False) -> Wrong | None:
    """What vLLM's parser has against a value; None if nothing. A dotted name fits flags in JSON only."""
    if unfinished(value) or (value[:1] in "'\"" and value[:1] != value[-1:]):
        return None  # not what vLLM would get: something is to be filled in, or quotes within quotes were cut
    if dotted:
        return Wrong.TYPE
    if value in ("", "None"):
        return None
    if flag.kind is Kind.INT and not _INT.fullmatch(value):
        return Wrong.CHOICE if flag.choices else Wrong.TYPE
    if flag.kind is Kind.SIZE and not _SIZE.fullmatch(value):
        return Wrong.TYPE
    if flag.kind is Kind.FLOAT and not _is_float(value):
        return Wrong.TYPE
    if (flag.kind is Kind.JSON or (flag.kind is Kind.JSON_OR_TEXT and value.lstrip().startswith("{"))) and json_error(value):
        return Wrong.JSON
    if flag.choices and value not in flag.choices:
        return Wrong.CHOICE
    return None


def json_error(value: str) -> str:
    """What is wrong with a JSON text, "" if it is right."""
    try:
        json.loads(value)
    except ValueError as problem:
        return str(problem)
    except RecursionError:
        return "nested too deeply"
    return ""


def _is_float(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
