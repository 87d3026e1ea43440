"""`doctor fleet`: many machines, recorded through Ansible or given as snapshots, judged here and compared."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from doctor.fleet.words import WORDS
from doctor.locale import Speak, room_speaker
from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped, rulebook, selection
from doctor.text import clean

if TYPE_CHECKING:
    from doctor.fleet.between import Fleet
    from doctor.fleet.gather import Recorded
    from doctor.fleet.judge import Asked
    from doctor.fleet.node import Node

SUFFIXES = (".tar.gz", ".tgz", ".tar.zst", ".tar", ".zip")


def run(
    options: Options, inventory: str | None, places: Sequence[str], keep: str | None, limit: str, forks: int, become: bool, ask_become_pass: bool,
    logs: Sequence[str], mask: str,
) -> Answer:  # fmt: skip
    """Records, judges and compares."""
    from doctor.fleet.between import examine
    from doctor.fleet.telling import as_json, lines

    say = room_speaker(WORDS, options.language)
    if bool(inventory) == bool(places):
        raise Refused(say("not_both" if inventory else "need_one"))
    start = time.perf_counter()
    book = rulebook()
    chosen = selection(options, book)
    with ExitStack() as stack:
        if inventory:
            folder = _folder(keep, stack, say)
            recorded = _recorded(options, say, folder, inventory, limit, forks, become, ask_become_pass, logs, mask)
            nodes = _judged(options, say, recorded, [_asked(one, chosen) for one in recorded if one.path])
        else:
            from doctor.fleet.judge import Asked

            nodes = _judged(options, say, (), [Asked(name, path, None, chosen) for name, path in _named(places, say)])
    fleet = examine(nodes, book.rules)
    code = _exit_code(fleet, options.fail_on)
    if options.as_json:
        return enveloped(options, code, fleet=as_json(fleet, options.language))
    text = lines(fleet, say, options.language, options.style, time.perf_counter() - start, options.detail)
    return Answer("".join(clean(line).rstrip() + "\n" if not options.style.colour else line.rstrip() + "\n" for line in text), code)


def _folder(keep: str | None, stack: ExitStack, say: Speak) -> Path:
    if keep is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ascend-doctor-fleet.")))
    folder = Path(keep)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise Refused(say("keep_not_empty", folder=clean(keep)))
    except OSError as problem:
        raise Refused(f"{clean(keep)}: {problem.strerror}") from None
    return folder.resolve()


def _recorded(
    options: Options, say: Speak, folder: Path, inventory: str, limit: str, forks: int, become: bool, ask: bool, logs: Sequence[str], mask: str
) -> tuple[Recorded, ...]:
    from doctor.bundle.collector.generate import script
    from doctor.fleet.gather import AnsibleFailed, AnsibleMissing, Wanted, gather

    if "," not in inventory and not os.path.exists(inventory):
        raise Refused(say("no_inventory", name=clean(inventory)))
    collector = folder / "collector.py"
    collector.touch(mode=0o600)
    collector.write_text(script(), encoding="utf-8")
    # One key for all nodes, so that a masked address is the same on each; it is thrown away here.
    wanted = Wanted(inventory, folder, collector, limit, forks, become, ask, mask, secrets.token_hex(32), tuple(logs))

    def heard(name: str, state: str) -> None:
        if options.detail >= 0:
            click.echo("doctor: " + say("recording", name=clean(name), state=say(state)), err=True)

    try:
        found = gather(wanted, heard)
    except AnsibleMissing:
        raise Refused(say("no_ansible")) from None
    except AnsibleFailed as problem:
        code, _, why = str(problem).partition(": ")
        raise Refused(say("ansible_failed", code=code, why=clean(why))) from None
    finally:
        for name in ("collector.py", "events.jsonl", "ansible.cfg"):
            (folder / name).unlink(missing_ok=True)
        shutil.rmtree(folder / "ansible", ignore_errors=True)
    if not found:
        raise Refused(say("no_hosts", why=""))
    return found


def _asked(one: Recorded, chosen: object) -> Asked:
    from doctor.examine import Selection
    from doctor.fleet.judge import Asked

    assert isinstance(chosen, Selection)
    return Asked(one.name, one.path, one.arrived, chosen)


def _judged(options: Options, say: Speak, recorded: Sequence[Recorded], asked: Sequence[Asked]) -> tuple[Node, ...]:
    from doctor.fleet.judge import judge_all
    from doctor.fleet.node import Node

    done = 0

    def heard(_node: Node) -> None:
        nonlocal done
        done += 1
        if options.detail >= 0 and (done % 50 == 0 or done == len(asked)):
            click.echo("doctor: " + say("judging", done=done, total=len(asked)), err=True)

    judged = judge_all(asked, heard=heard)
    by_name = {node.name: node for node in judged}
    if not recorded:
        return judged
    return tuple(by_name.get(one.name) or Node(one.name, one.standing, one.why or say("not_answered")) for one in recorded)


def _named(places: Sequence[str], say: Speak) -> list[tuple[str, str]]:
    """(name, path) of every snapshot and bundle; names are made different where two are alike."""
    found: list[tuple[str, str]] = []
    for place in places:
        path = Path(place)
        if path.is_dir() and not any((path / name).exists() for name in ("manifest.json", "files", "commands.txt")):
            inside = sorted(child for child in path.iterdir() if not child.name.startswith(".") and (child.is_dir() or child.name.endswith(SUFFIXES)))
            if not inside:
                raise Refused(say("no_snapshots", name=clean(place)))
            found += [(child.name, str(child)) for child in inside]
        else:
            found.append((path.name or place, place))
    names: dict[str, int] = {}
    named = []
    for name, where in found:
        short = next((name[: -len(suffix)] for suffix in SUFFIXES if name.endswith(suffix)), name)
        names[short] = names.get(short, 0) + 1
        named.append((clean(short if names[short] == 1 else f"{short} ({names[short]})"), where))
    return named


def _exit_code(fleet: Fleet, fail_on: str) -> int:
    """3 where a node is missing or a rule broke: then not the whole fleet was judged."""
    from doctor.fleet.node import Standing
    from doctor.report.model import CANNOT, FOUND, OK, THRESHOLDS

    if any(node.standing is not Standing.JUDGED or node.broken for node in fleet.nodes):
        return CANNOT
    threshold = THRESHOLDS[fail_on]
    worst = max([cause.severity for node in fleet.nodes for cause in node.causes] + [item.severity for item in fleet.between], default=None)
    return FOUND if threshold is not None and worst is not None and worst >= threshold else OK
