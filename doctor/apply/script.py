"""A plan as a script for sites where nobody may run doctor as root: POSIX shell or an Ansible playbook, each with an undo part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from doctor import __version__
from doctor.apply.plan import Plan
from doctor.text import clean_line

_HEAD = """#!/bin/sh
# Written by ascend-doctor {version} for {machine}; plan {hash}
# Read it, then run it as root on that machine:
#   sh FILE apply    keeps what is there in $BACKUP, then makes the changes; again, it changes nothing
#   sh FILE undo     puts back what was there before
# shellcheck disable=SC2016  # names and contents are taken as they stand: nothing in them is to expand
set -eu
umask 022
PATH=/usr/sbin:/usr/bin:/sbin:/bin
export PATH
BACKUP=${{BACKUP:-/var/lib/ascend-doctor/script-{short}}}

"""

_HELPERS = {
    "keep": r"""
keep() { # keep FILE COPY: what is there before the first run, or that nothing is
  if [ -e "$2" ] || [ -e "$2.absent" ]; then return 0; fi
  if [ -e "$1" ]; then cp -p -- "$1" "$2"; else : > "$2.absent"; fi
}
""",
    "restore": r"""
restore() { # restore FILE COPY
  if [ -e "$2" ]; then cp -p -- "$2" "$1"; elif [ -e "$2.absent" ]; then rm -f -- "$1"; fi
}
""",
    "put": r"""
put() { # put FILE MODE: standard input becomes the file, at once or not at all; MODE same keeps mode and owner
  file=$(readlink -f -- "$1")
  new=$(mktemp "$(dirname -- "$file")/.ascend-doctor.XXXXXX")
  cat > "$new"
  if [ -e "$file" ] && cmp -s -- "$new" "$file"; then rm -f -- "$new"; return 0; fi
  if [ "$2" = same ]; then chmod --reference="$file" -- "$new"; chown --reference="$file" -- "$new"; else chmod "$2" "$new"; fi
  mv -f -- "$new" "$file"
  echo "wrote $file"
}
""",
    "set_value": r"""
set_value() { # set_value FILE VALUE: a value of the running kernel
  case $(cat -- "$1") in "$2" | *"[$2]"*) return 0 ;; esac
  printf '%s\n' "$2" > "$1"
  echo "set $1 to $2"
}
""",
}
"""Shell functions by name; a script holds those that it calls."""

_TAIL = """
case ${1:-} in
  apply) apply ;;
  undo) undo ;;
  *) echo "usage: sh $0 apply|undo" >&2; exit 2 ;;
esac
"""


def shell_script(plan: Plan, language: str) -> str:
    """The plan as POSIX shell."""
    head = _HEAD.format(version=__version__, machine=clean_line(plan.machine), hash=plan.hash, short=plan.hash[:12])
    do = [line for step in _steps(plan) for line in _shell_do(step, language)]
    undo = [line for step in reversed(_steps(plan)) for change in reversed(step.changes) for line in change.scripted().undo]
    return (
        head
        + "".join(text for name, text in _HELPERS.items() if any(line.startswith(name + " ") for line in (*do, *undo)))
        + "\napply() {\n" + _body(['mkdir -p -- "$BACKUP"', 'chmod 0700 "$BACKUP"', *do]) + "}\n"
        + "\nundo() {\n" + _body(undo) + "}\n"
        + _TAIL
    )  # fmt: skip


def _shell_do(step: Any, language: str) -> Iterator[str]:
    yield f"# {clean_line(step.title[language])}"
    for note in step.notes:
        yield f"#   {clean_line(note.text[language])}"
    for change in step.changes:
        yield from change.scripted().do


def _steps(plan: Plan) -> list[Any]:
    return [step for step in plan.steps if step.changes]


def _body(lines: Sequence[str]) -> str:
    """The lines of a function. They are not indented: a here-document is taken as it stands. A body of nothing but comments is none to a shell."""
    return "".join(line + "\n" for line in (lines if any(not line.startswith("#") for line in lines) else [*lines, ":"]))


class _Unsafe(str):
    """A text that Ansible must not take for a template."""


def ansible_playbook(plan: Plan, language: str) -> str:
    """The plan as a playbook: one play that applies, one tagged `undo` that runs only when it is asked for."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

    Dumper.add_representer(_Unsafe, lambda dumper, value: dumper.represent_scalar("!unsafe", str(value), style='"'))
    steps = _steps(plan)
    apply = [task for step in steps for change in step.changes for task in _tasks(step.title[language], change.scripted().ansible)]
    undo = [
        task for step in reversed(steps) for change in reversed(step.changes) for task in _tasks(step.title[language], change.scripted().ansible_undo)
    ]
    plays = [
        {"name": f"ascend-doctor: apply plan {plan.hash[:12]}", "hosts": "all", "become": True, "gather_facts": False, "tasks": apply},
        {"name": "ascend-doctor: undo", "hosts": "all", "become": True, "gather_facts": False, "tags": ["never", "undo"], "tasks": undo},
    ]
    head = (
        f"# Written by ascend-doctor {__version__} for {clean_line(plan.machine)}; plan {plan.hash}\n"
        "# ansible-playbook -l HOST FILE              applies it\n"
        "# ansible-playbook -l HOST -t undo FILE      puts back what was there when the plan was made\n"
    )
    return head + yaml.dump(plays, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=140)


def _tasks(title: str, tasks: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for number, task in enumerate(tasks, 1):
        yield {"name": clean_line(title) + (f" ({number})" if len(tasks) > 1 else ""), **_guarded(task, "")}


def _guarded(value: Any, key: str) -> Any:
    """Contents that look like a template are marked as none; our own templates stand under `loop`, `when` and in argv."""
    if isinstance(value, Mapping):
        return {name: _guarded(item, name) for name, item in value.items()}
    if isinstance(value, str) and key in ("content", "dest", "path", "stdin", "msg") and any(mark in value for mark in ("{{", "{%", "{#")):
        return _Unsafe(value)
    return value


__all__ = ["ansible_playbook", "shell_script"]
