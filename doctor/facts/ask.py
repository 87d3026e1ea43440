"""How providers ask a host for the output of a command, so that every area tells a missing program apart from one that failed."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.host import RUN_TIMEOUT, Host, Output, Unavailable, Why
from doctor.regex import regex

_NOT_FOUND = regex(r"(?i)(command not found|No such file or directory|: not found)\s*$")
NOT_FOUND_EXIT = 127
"""Exit status of a shell for a program that is not there; the dynamic loader uses it for a missing library, too."""


def ran(host: Host, argv: Sequence[str], timeout: float = RUN_TIMEOUT) -> Output | Unavailable:
    """The command's output whatever its exit status; MISSING also where a recorded shell said that there is no such program."""
    output = host.run(argv, timeout)
    if isinstance(output, Output) and output.exit == NOT_FOUND_EXIT:
        said = output.text.strip()
        if not said or (_NOT_FOUND.search(said.splitlines()[-1]) and "loading shared libraries" not in said):
            return Unavailable(" ".join(argv), Why.MISSING, said[:200])
    return output


def answer(host: Host, argv: Sequence[str], timeout: float = RUN_TIMEOUT) -> str | Unavailable:
    """What the command printed on standard output, provided that it succeeded."""
    output = ran(host, argv, timeout)
    if isinstance(output, Unavailable):
        return output
    if output.exit != 0:
        return Unavailable(" ".join(argv), Why.MISSING, f"exit {output.exit}: {output.text.strip()[:200]}")
    return output.stdout
