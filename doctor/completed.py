"""What may stand at the cursor of a command line, from the commands as plain data; and how bash, zsh and fish are told.

Contract: as click completes the same line, or None for a line on which something stands that is not plainly an option, a value or an argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

TYPE_CHECKING = False  # see doctor.locale
if TYPE_CHECKING:
    from typing import TypedDict

    class Param(TypedDict):
        """An option or an argument. `choices`: its values, or the name RULES, or None."""

        sets: str
        """What it is a value of: `--start` and `--stop` may be two words for one."""
        names: tuple[str, ...]
        """(), for an argument."""
        several: bool
        valued: bool
        hidden: bool
        help: str
        choices: tuple[str, ...] | str | None

    class Commands(TypedDict):
        """`names`: (command, short help) in order; `params`: by command, "" for the program itself."""

        names: tuple[tuple[str, str], ...]
        params: dict[str, tuple[Param, ...]]


COMPLETE_VAR = "_DOCTOR_COMPLETE"
"""The variable of the environment in which a shell asks."""

RULES = "rules"
"""In the place of choices: the ids of rules."""

Item = tuple[str, str]
"""(value, help)."""


def completed(commands: Commands, instruction: str, environ: Mapping[str, str]) -> str | None:
    """What a shell is told: `instruction` is "bash_complete" or its like."""
    shell, _, asked = instruction.partition("_")
    if asked != "complete" or shell not in ("bash", "zsh", "fish"):
        return None
    try:
        words = _split(environ["COMP_WORDS"])
        if shell == "fish":
            current = (_split(environ["COMP_CWORD"]) or [""])[0]
            before = words[1:-1] if current and words[1:] and words[-1] == current else words[1:]
        else:
            at = int(environ["COMP_CWORD"])
            before, current = words[1:at], words[at] if at < len(words) else ""
    except (KeyError, ValueError):
        return None
    found = items(commands, before, current)
    return None if found is None else "".join(_told(shell, *item) + "\n" for item in found) or "\n"


def _split(line: str) -> list[str]:
    """The words of a line that may end within a quotation."""
    if line.isascii() and line.isprintable() and not any(mark in line for mark in "'\"\\"):
        return line.split()
    import shlex

    words: list[str] = []
    reader = shlex.shlex(line, posix=True)
    reader.whitespace_split, reader.commenters = True, ""
    try:
        words.extend(reader)
    except ValueError:
        words.append(reader.token)
    return words


def _told(shell: str, value: str, about: str) -> str:
    if shell == "zsh":
        escaped = value.replace(":", r"\:") if about else value
        return f"plain\n{escaped}\n{about or '_'}"
    return f"plain,{value}\t{about}" if shell == "fish" and about else f"plain,{value}"


def items(commands: Commands, before: Sequence[str], current: str) -> list[Item] | None:
    """What may stand in the place of `current`, after the words `before`."""
    if any(word in ("-", "--", "-h", "--help", "--version") or "=" in word for word in before) or "=" in current:
        return None
    options = {name: param for params in commands["params"].values() for param in params for name in param["names"]}
    at = 0
    while at < len(before) and before[at].startswith("-"):
        if before[at] not in options:
            return None
        at += 2 if options[before[at]]["valued"] else 1
    if at >= len(before):  # no command yet
        names = [item for item in commands["names"] if item[0].startswith(current)]
        return names + list(_options(commands["params"][""], (), current))
    if before[at] not in commands["params"]:
        return None
    return _of_command(commands["params"][before[at]], [*before[:at], *before[at + 1 :]], current)


def _of_command(params: Sequence[Param], words: Sequence[str], current: str) -> list[Item] | None:
    options = {name: param for param in params for name in param["names"]}
    given, arguments, waiting = [], 0, None
    for word in words:
        if waiting:
            waiting = None
        elif word.startswith("-"):
            if word not in options:
                return None
            given.append(options[word]["sets"])
            waiting = options[word] if options[word]["valued"] else None
        else:
            arguments += 1
    if current.startswith("-"):
        return None if waiting else list(_options(params, given, current))
    if waiting is None:
        places = [param for param in params if not param["names"]]
        waiting = next((place for index, place in enumerate(places) if place["several"] or index >= arguments), None)
    return _values(waiting, current) if waiting else []


def _options(params: Sequence[Param], given: Sequence[str], current: str) -> Iterator[Item]:
    """The options that may (still) be given; none before the first hyphen is typed."""
    for param in params:
        if current.startswith("-") and not param["hidden"] and (param["several"] or param["sets"] not in given):
            yield from ((name, param["help"]) for name in param["names"] if name.startswith(current))


def _values(param: Param, current: str) -> list[Item] | None:
    choices = param["choices"]
    if choices == RULES:
        from doctor.rulepackage import packs_installed, rule_names

        if packs_installed():
            return None
        choices = rule_names()
    return [(value, "") for value in choices or () if value.startswith(current)]


__all__ = ["COMPLETE_VAR", "RULES", "completed", "items"]
