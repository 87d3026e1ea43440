"""Modes and owners that a transcript tells: `ls -l` and `stat`. Pure; no text makes it raise."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

from doctor.host import Output
from doctor.regex import regex

_ROW = regex(
    r"(?P<mode>[-dlcbps][-rwxsStT]{9})[.+@]? +\d{1,10} +(?P<user>\S{1,64}) +(?P<group>\S{1,64}) +(?:\d{1,6}, +)?\d{1,20} +"
    r"(?:[A-Z][a-z]{2} +\d{1,2} +[\d:]{4,5}|\d{4}-\d\d-\d\d +[\d:.]{5,18}(?: +[+-]\d{4})?|\d{1,2}月 +\d{1,2} +[\d:]{4,5}) +(?P<name>[^\n]{1,500})"
)
_HEADING = regex(r"(/[^\n]{0,500}):")
_FILE = regex(r"^ {1,4}File: [\"'‘]?(/[^\n\"'’]{0,500}?)[\"'’]?(?: -> .*)?$", re.MULTILINE)
_RIGHTS = regex(r"Access: \((\d{4})/\S{10}\) +Uid: \( *(\d{1,10})/ *\S{1,64}\) +Gid: \( *(\d{1,10})/")


def listed_rights(output: Output) -> Iterator[tuple[str, int, str, str]]:
    """(path, permission bits, user, group) of every row of a recorded `ls -l …` or `stat …`; users and groups by name or number."""
    program = posixpath.basename(output.argv[0]) if output.argv else ""
    if program == "ls":
        yield from _of_ls(output)
    elif program == "stat":
        for file in _FILE.finditer(output.stdout):
            told = _RIGHTS.search(output.stdout, file.end())
            if told:
                yield file[1], int(told[1], 8), told[2], told[3]


def _of_ls(output: Output) -> Iterator[tuple[str, int, str, str]]:
    folders = [word for word in output.argv[1:] if word.startswith("/")]
    folder = folders[0] if len(folders) == 1 else ""
    for line in output.stdout.splitlines():
        if heading := _HEADING.fullmatch(line):
            folder = heading[1]
        elif row := _ROW.fullmatch(line.rstrip()):
            name = row["name"].partition(" -> ")[0]
            path = posixpath.normpath(name if name.startswith("/") else posixpath.join(folder, name))
            if path.startswith("/") and row["mode"][0] != "l":
                yield path, permission_bits(row["mode"]), row["user"], row["group"]


def permission_bits(mode: str) -> int:
    """0o660 of "crw-rw----"; the letters s, t stand for an x as well."""
    return sum(bit for bit, letter in zip((0o400, 0o200, 0o100, 0o40, 0o20, 0o10, 4, 2, 1), mode[1:], strict=False) if letter not in "-ST")


def number_of(name: str, known: Mapping[str, int]) -> int | None:
    """The id of a name in /etc/passwd or /etc/group."""
    return int(name) if name.isascii() and name.isdecimal() and len(name) < 11 else known.get(name)


__all__ = ["listed_rights", "number_of", "permission_bits"]
