"""Roots for fixes: folders that look like a server to doctor, and rules of the tests' own."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from doctor import causefile
from doctor.apply.engine import Site
from doctor.apply.kind import Choices
from doctor.logscan.literals import required
from doctor.rulebook import Rulebook, patterns_of

RULE = """
id: host-swappiness-high
severity: warn
title: {en: Swaps too eagerly., zh: 换出过于积极。}
why: {en: It stalls., zh: 会停顿。}
decide:
- when: {sysctl.vm.swappiness: '> 10'}
fixes:
- id: set-swappiness
  title: {en: Set it to 1, zh: 设为 1}
  safety: safe
  steps: [sysctl -w vm.swappiness=1]
  do:
  - sysctl: {key: vm.swappiness, value: '1'}
"""


UNSAID = Choices()


def book_of(*texts: str) -> Rulebook:
    rules = {}
    literals = {}
    for text in texts:
        plain = causefile.parse(text, "test.yaml")
        rule = causefile.build(plain, str(plain["id"]).partition("-")[0], "test.yaml")
        rules[rule.id] = rule
        literals.update({pattern: required(pattern) for pattern in patterns_of(rule)})
    return Rulebook(rules, literals)


def make_root(folder: Path, files: Mapping[str, str] = {}) -> Path:  # noqa: B006  never changed
    """A root with the files, all folders closed to others; a value that begins with "-> " is a link."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in {"/proc/sys/vm/swappiness": "60\n", "/etc/hostname": "node-7\n", **files}.items():
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        if content.startswith("-> "):
            place.symlink_to(content[3:].strip())
        else:
            place.write_text(content)
    for parent, folders, _ in os.walk(folder):
        for name in folders:
            os.chmod(Path(parent, name), 0o755)
    os.chmod(folder, 0o755)
    return folder


def site_of(root: Path, *rules: str, choices: Choices = UNSAID, **more: object) -> Site:
    return Site(book_of(*(rules or (RULE,))), str(root), choices=choices, environ={"USER": "tester"}, **more)  # type: ignore[arg-type]


def picture(root: Path) -> dict[str, tuple[object, ...]]:
    """All that can be seen of the files below a root, doctor's own state left out: kind, mode, owner, content or target."""
    found: dict[str, tuple[object, ...]] = {}
    for parent, folders, files in os.walk(root):
        if Path(parent) == root / "var/lib":
            folders[:] = [name for name in folders if name != "ascend-doctor"]
        for name in (*folders, *files):
            path = Path(parent, name)
            info = path.lstat()
            kind, mode = stat.S_IFMT(info.st_mode), stat.S_IMODE(info.st_mode)
            content = os.readlink(path) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            found[str(path.relative_to(root))] = (kind, mode, info.st_uid, info.st_gid, content)
    found.pop("var", None)
    found.pop("var/lib", None)
    return found
