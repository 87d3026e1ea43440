"""Flags of a command that starts vLLM, given another value, added or taken out, in every form a start is written in.

Contract: pure; never raises on any text. A command that could not be changed is told. An object in JSON is merged into the one that is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from doctor.apply.serve_edit import Correction, Edit, Wish, begin_of, config_key, words_of
from doctor.facts.serve_flags import flag_name, is_flag
from doctor.lint.inputs import of_text
from doctor.lint.starts import Start


def with_flags(text: str, source: str, given: Mapping[str, str], dropped: Sequence[str] = ()) -> Correction:
    """The text with these flags (names without dashes) in every command of it."""
    edits: list[Edit] = []
    left: list[str] = []
    count = len(of_text(text, source).starts)
    for number in range(count):
        for name, value in (*((name, None) for name in dropped), *given.items()):
            starts = of_text(text, source).starts
            made = _changed(text, starts[number], name, value) if number < len(starts) else None
            if made is None:
                continue
            changed, edit = made
            after = of_text(changed, source).starts
            if edit is None or len(after) != count or not _holds(after[number], name, value):
                left.append(f"--{name}" + (f" {value}" if value else ""))
            else:
                text, edits = changed, [*edits, edit]
    return Correction(text, tuple(sorted(edits, key=lambda edit: edit.line)), tuple(dict.fromkeys(left)))


def _changed(text: str, start: Start, name: str, value: str | None) -> tuple[str, Edit | None] | None:
    """(text, what was done) for one flag; None where nothing has to be done."""
    typed, now = _typed(start, name)
    if value is None and not typed:
        return None
    wanted = None if value is None else _merged(now, value)
    if typed and wanted is not None and _same(now, wanted):
        return None
    wish = Wish("") if wanted is None else Wish(name, wanted)
    if start.how == "config":
        made = config_key(text, typed.lstrip("-"), wish) if typed else _new_key(text, name, wanted or "true")
    elif start.how == "python" or not start.words:
        made = None
    elif typed:
        made = words_of(text, begin_of(text, start), typed, now, wish)
    else:
        made = _inserted(text, start, name, wanted or "")
    return made if made is not None else (text, None)


def _typed(start: Start, name: str) -> tuple[str, str]:
    """(the flag as it was typed, its value); "" where it is not there."""
    for at, word in enumerate(start.words):
        if is_flag(word) and flag_name(word) == name:
            _, equals, value = word.partition("=")
            following = start.words[at + 1] if at + 1 < len(start.words) else ""
            return word.partition("=")[0], value if equals else "" if is_flag(following) else following
    return "", ""


def _merged(now: str, value: str) -> str:
    """The value, or both objects as one."""
    old, new = _object(now), _object(value)
    return value if old is None or new is None else json.dumps(_deep(old, new), ensure_ascii=False)


def _deep(old: Mapping[str, object], new: Mapping[str, object]) -> dict[str, object]:
    found = dict(old)
    for key, value in new.items():
        before = found.get(key)
        found[key] = _deep(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return found


def _object(text: str) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _same(now: str, wanted: str) -> bool:
    return now == wanted or (_object(now) is not None and _object(now) == _object(wanted))


def _holds(start: Start, name: str, value: str | None) -> bool:
    typed, now = _typed(start, name)
    if value is None:
        return not typed
    new, held = _object(value), _object(now)
    return bool(typed) and (now == value or new is not None and held is not None and _deep(held, new) == held)


def _inserted(text: str, start: Start, name: str, value: str) -> tuple[str, Edit] | None:
    """The flag before the first one that is there, else behind the last word of the command."""
    at = begin_of(text, start)
    first = next((word.partition("=")[0] for word in start.words if is_flag(word)), "")
    new = f"--{name}={value}" if value else f"--{name}"
    if first:
        place = re.compile(rf"(?<![\w-]){re.escape(first)}(?![\w-])").search(text, at)
        if place is None:
            return None
        line, before = text.count("\n", 0, place.start()) + 1, text[: place.start()]
        item = re.search(r"(?:^|(?<=\n))([ \t]*- )[\"']?\Z", before)
        if item:
            quoted = f"'{new}'" if re.search(r"[{}\[\]:#'\" ]", new) else new
            return text[: item.start()] + f"{item[1]}{quoted}\n" + text[item.start() :], Edit("", new, line)
        if re.search(r"[\[,]\s*\"\Z", before):
            return text[: place.start() - 1] + json.dumps(new) + ", " + text[place.start() - 1 :], Edit("", new, line)
        return before + f"{_shell(name, value)} " + text[place.start() :], Edit("", new, line)
    last = start.words[-1] if start.words else "serve"
    place = re.compile(rf"(?<![\w/-]){re.escape(last)}(?![\w/-])").search(text, at)
    if place is None or re.search(r"[\[,]\s*\"\Z|- [\"']?\Z", text[: place.start()]):
        return None
    return text[: place.end()] + f" {_shell(name, value)}" + text[place.end() :], Edit("", new, text.count("\n", 0, place.start()) + 1)


def _shell(name: str, value: str) -> str:
    if not value:
        return f"--{name}"
    return f"--{name} {value}" if re.fullmatch(r"[\w.:/-]+", value) else f"--{name} '" + value.replace("'", "'\"'\"'") + "'"


def _new_key(text: str, name: str, value: str) -> tuple[str, Edit]:
    new = f"{name}: {value}"
    kept = text if text.endswith("\n") or not text else text + "\n"
    return f"{kept}{new}\n", Edit("", new, kept.count("\n") + 1)


__all__ = ["with_flags"]
