"""Help pages and the answers to a shell's Tab without click, whose import alone takes longer than a shell should wait: from what click said before.

Contract: `answer` gives what click would print, to the byte, or None; then click is asked, and `keep` keeps what there is to know. It lies in the
user's cache with a stamp of the files that it comes from. Anything unusual on the line is click's: only the plain cases are answered here.
"""

from __future__ import annotations

import marshal
import os
import zlib
from collections.abc import Mapping, Sequence

from doctor import __version__
from doctor.completed import COMPLETE_VAR, completed
from doctor.locale import LANGUAGES
from doctor.logscan import cache

TYPE_CHECKING = False  # see doctor.locale
if TYPE_CHECKING:
    from typing import Any

    from doctor.completed import Commands

HELP = ("-h", "--help")
WIDEST, NARROWEST = 100, 52
"""Columns between which click lays out a help page."""


def answer(arguments: Sequence[str], environ: Mapping[str, str], language: str) -> str | None:
    """What click would print, where it is known."""
    kept = _kept(language)
    if COMPLETE_VAR in environ:
        commands = kept.get("commands")
        return completed(commands, environ[COMPLETE_VAR], environ) if commands else None
    known: str | None = kept.get(_page(arguments, environ))
    return known


def keep(arguments: Sequence[str], environ: Mapping[str, str], language: str, text: str, commands: Commands) -> None:
    """Keeps a help page as click laid it out, and the commands."""
    kept = _kept(language) | {"commands": commands}
    if COMPLETE_VAR not in environ and (page := _page(arguments, environ)):
        kept[page] = text
    cache.save(_name(language), marshal.dumps((_stamp(), kept)))


def _page(arguments: Sequence[str], environ: Mapping[str, str]) -> str:
    """The name of the page that is asked for; "" for what is no plain question for one."""
    words = list(arguments)
    for index, word in enumerate(words):
        if word == "--lang" and words[index + 1 : index + 2] and words[index + 1] in LANGUAGES:
            del words[index : index + 2]
            break
    if len(words) == 2 and words[0] == "completion" and words[1].isalpha():
        return f"completion {words[1]}"
    asked = [word for word in words if word not in HELP]
    if len(words) - len(asked) != 1 or len(asked) > 1 or any(word.startswith("-") for word in asked):
        return ""
    return f"help {''.join(asked)} {_columns(environ)}"


def _columns(environ: Mapping[str, str]) -> int:
    """As shutil.get_terminal_size, whose module imports every compression there is."""
    try:
        columns = int(environ.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    if columns <= 0:
        try:
            columns = os.get_terminal_size(1).columns
        except OSError:
            columns = 0
    return max(NARROWEST, min(columns or 80, WIDEST))


def _name(language: str) -> str:
    return f"pages-{language}-{zlib.crc32(os.path.dirname(__file__).encode('utf-8', 'surrogateescape')):08x}"


def _kept(language: str) -> dict[str, Any]:
    try:
        stamp, kept = marshal.loads(cache.load(_name(language)) or b"")
        return dict(kept) if stamp == _stamp() else {}
    except (EOFError, ValueError, TypeError):
        return {}


def _stamp() -> tuple[Any, ...]:
    """The files that say what commands there are, what they take, and what is said of them."""
    here = os.path.dirname(__file__)
    folders = (here, os.path.join(here, "commands"), os.path.join(here, "locale"))
    files = [file for folder in folders for file in os.scandir(folder) if file.name.endswith(".py")]
    rooms = [os.path.join(room.path, "words.py") for room in os.scandir(here) if room.is_dir()]
    infos = [(path, os.stat(path)) for path in sorted([*(file.path for file in files), *filter(os.path.exists, rooms)])]
    return (__version__, *((path, info.st_size, info.st_mtime_ns) for path, info in infos))


__all__ = ["answer", "keep"]
