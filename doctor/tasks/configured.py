"""The site's configuration and the files that a report is written to, as the command line asks for them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import click

from doctor.locale import Speak
from doctor.tasks import Options, Refused
from doctor.text import clean
from doctor.wholefile import whole_file

if TYPE_CHECKING:
    from doctor.config import Config
    from doctor.policy import Policy
    from doctor.rulebook import Rulebook


def configuration(asked: str | None, speak: Speak) -> Config:
    """The configuration that is in force. Raises `Refused` where it cannot be used."""
    from doctor.config import BadConfig, Config, find, ignored, load

    root = os.geteuid() == 0
    try:
        path = find(asked, os.environ, Path(), root)
        if asked is None and (unused := ignored(Path(), root)) is not None:
            click.echo("doctor: " + speak("config_ignored", path=unused), err=True)
        return load(path) if path is not None else Config()
    except BadConfig as problem:
        raise Refused(clean(problem.told(speak))) from None


def policy_of(options: Options, book: Rulebook) -> Policy:
    """The site's decisions, its baseline read. Raises `Refused` for a baseline that is none, and for rules that do not exist."""
    from doctor.policy import BadBaseline, Policy, expired, read_baseline

    policy = options.config.policy if options.config else Policy()
    _check_rules(options, policy, book)
    for item in expired(policy.suppressions, today()):
        click.echo("doctor: " + options.speak("config_expired", rule=item.rule, until=item.until, reason=clean(item.reason)), err=True)
    if not options.baseline:
        return policy
    try:
        known = read_baseline(Path(options.baseline).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        why = problem if isinstance(problem, BadBaseline) else getattr(problem, "strerror", None) or "no UTF-8"
        raise Refused(clean(options.speak("bad_baseline", path=options.baseline, why=why))) from None
    return replace(policy, baseline=known, baseline_origin=options.baseline)


def today() -> date:
    """The day on which suppressions are judged."""
    return date.today()


def _check_rules(options: Options, policy: Policy, book: Rulebook) -> None:
    from doctor.report.page import nearest
    from doctor.tasks.common import with_nearest

    names = [name for rule in book.rules.values() for name in (rule.id, *rule.formerly)]
    for glob in (*policy.severities, *(item.rule for item in policy.suppressions)):
        if not any(fnmatchcase(name, glob) for name in names):
            raise Refused(with_nearest(options, options.speak("config_no_rule", path=policy.origin, name=glob), nearest(glob, names)))


def output_files(values: Sequence[str], speak: Speak) -> tuple[tuple[str, str], ...]:
    """(format, file) of each `--output`. Raises a usage error for what is no such pair."""
    if not values:
        return ()
    from doctor.report.formats import NAMES

    pairs: list[tuple[str, str]] = []
    for value in values:
        name, separator, path = value.partition("=")
        if name not in NAMES or not separator or not path:
            raise Refused(speak("bad_output", value=clean(value), names=", ".join(NAMES)))
        if path in (other for _, other in pairs):
            raise Refused(speak("output_twice", path=clean(path)))
        pairs.append((name, path))
    return tuple(pairs)


def write_all(texts: Iterable[tuple[str, str]], speak: Speak) -> list[str]:
    """Writes each (file, text); gives one sentence for each that could not be written."""
    problems = []
    for path, text in texts:
        try:
            replace_file(path, text)
        except OSError as problem:
            problems.append(speak("output_unwritten", path=clean(path), why=problem.strerror or problem))
    return problems


def replace_file(path: str, text: str, mode: int = 0o666) -> None:
    """Puts the text in the place of the file at once, so that nobody reads half of it; a device or a pipe is written to.

    `mode` as far as the umask allows it.
    """
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(path).st_mode):
            with open(path, "w", encoding="utf-8", errors="replace") as stream:
                stream.write(text)
            return
    target = os.path.realpath(path)
    mask = os.umask(0)
    os.umask(mask)
    with whole_file(target, mode & ~mask) as file:
        file.write(text.encode("utf-8", "replace"))


__all__ = ["configuration", "output_files", "policy_of", "replace_file", "today", "write_all"]
