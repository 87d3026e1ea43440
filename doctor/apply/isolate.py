"""Starts doctor anew for root before it changes anything: isolated, so that neither PYTHON*, LD_* nor the current folder has a say.

Contract: `isolate` returns where nothing of that can matter (no root, already isolated); else it does not return. The environment in which doctor was
started is evidence for rules, so it is handed over by a file without a name and put back into `os.environ` once the interpreter runs: by then
neither the loader nor Python looks at it any more, and the programs that doctor starts get a white-list. Imports nothing but the standard
library's own, from where Python itself lies.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping, Sequence

COMMANDS = {"undo": "", "fix": "--apply"}
"""Commands that change a machine, with the option without which they do not."""
_KEPT = ("HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TERM")
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_BOOT = """
import sys
import json, os
with open(int(sys.argv[1]), "rb") as handed:
    given = json.loads(handed.read())
if sys.argv[2]:
    sys.path.insert(0, sys.argv[2])
os.environ.clear()
os.environ.update(given)
sys.argv = ["doctor", *sys.argv[3:]]
from doctor.cli import run
sys.exit(run(sys.argv[1:]))
"""


class OthersCanChangeItError(Exception):
    """Doctor's own files, or the interpreter, could be changed by somebody else; the text is the path."""


def wanted(arguments: Sequence[str]) -> bool:
    """Whether this command line changes a machine as root, in an interpreter that others could have influenced."""
    if os.geteuid() != 0 or sys.flags.isolated:
        return False
    return any(name in arguments and (not option or option in arguments) for name, option in COMMANDS.items())


def own_arguments() -> list[str] | None:
    """What doctor's command was started with; None in another program (a test, one that imports doctor)."""
    folder, name = os.path.split(sys.argv[0])
    ours = name in ("doctor", "ascend-doctor") or (name == "__main__.py" and os.path.basename(folder) == "doctor")
    return sys.argv[1:] if ours else None


def isolate(arguments: Sequence[str]) -> None:
    """Becomes an isolated doctor with the same arguments. Raises `OthersCanChangeItError`."""
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for path in (os.path.realpath(sys.executable), os.path.join(top, "doctor")):
        if changeable := others_can_change(path, os.environ):
            raise OthersCanChangeItError(changeable)
    handed = os.memfd_create("environment", 0)
    os.write(handed, json.dumps(dict(os.environ)).encode())
    os.lseek(handed, 0, os.SEEK_SET)
    os.set_inheritable(handed, True)
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    os.execve(sys.executable, [sys.executable, "-I", "-c", _BOOT, str(handed), top, *arguments], {**kept, "PATH": _PATH})


def others_can_change(path: str, environ: Mapping[str, str]) -> str:
    """The first part of the path, from its end up, that belongs to neither root nor who called sudo, or that everybody may write; "" for none."""
    sudo = environ.get("SUDO_UID", "")
    owners = {0, int(sudo)} if sudo.isdecimal() else {0}
    while True:
        info = os.stat(path)
        free = info.st_mode & stat.S_IWOTH and not info.st_mode & stat.S_ISVTX
        if info.st_uid not in owners or free:
            return path
        if path == "/":
            return ""
        path = os.path.dirname(path)


__all__ = ["OthersCanChangeItError", "isolate", "others_can_change", "own_arguments", "wanted"]
