"""Who may import what: facts and rules see a machine only through the Host, and the program starts with little loaded.

import-linter (pyproject.toml) holds the modules of `doctor` to their layers; it cannot see doctor.rules, which lies in rules/.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
JUDGES = sorted([*(ROOT / "doctor" / "facts").rglob("*.py"), *(ROOT / "rules").rglob("*.py")])

FORBIDDEN = frozenset(
    ("os", "subprocess", "psutil", "socket", "shutil", "tempfile", "glob", "fileinput", "io", "ctypes", "multiprocessing", "urllib", "http")
)
READING = frozenset(("open", "read_text", "read_bytes", "write_text", "write_bytes", "iterdir", "eval", "exec", "__import__"))
PURE_PATHS = frozenset(("PurePath", "PurePosixPath"))

TOO_LATE = ("textual", "rich", "yaml", "hyperscan", "psutil", "torch", "jsonschema", "hypothesis")
"""What `import doctor.cli` may not load: each costs a multiple of the start of Python, or belongs to the target."""


def offences(source: str) -> Iterator[str]:
    """What in `source` could look past the Host."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                if top in FORBIDDEN or top == "pathlib":
                    yield f"line {node.lineno}: import {alias.name}"
        elif isinstance(node, ast.ImportFrom):
            top = (node.module or "").split(".")[0]
            impure = top == "pathlib" and not {alias.name for alias in node.names} <= PURE_PATHS
            if top in FORBIDDEN or impure:
                yield f"line {node.lineno}: from {node.module} import …"
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in READING:
                yield f"line {node.lineno}: {name}(…)"


@pytest.mark.parametrize("path", JUDGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_facts_and_rules_reach_a_machine_only_through_the_host(path: Path) -> None:
    assert list(offences(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import os.path as p",
        "from os import environ",
        "def judge():\n    import subprocess",
        "import pathlib",
        "from pathlib import Path",
        "open('/etc/hosts')",
        "q.open()",
        "q.read_text()",
        "__import__('os')",
    ],
)
def test_a_look_past_the_host_is_seen(source: str) -> None:
    assert list(offences(source))


def test_pure_code_gives_no_offence() -> None:
    pure = "import re\nfrom pathlib import PurePosixPath\nfrom doctor.host import Host\nre.compile('a')\nhost.read('/etc/hosts')"
    assert list(offences(pure)) == []


def test_rules_import_nothing_above_them() -> None:
    """A rule judges; it neither loads rules, nor runs them, nor renders what they say."""
    above = ("doctor.rulebook", "doctor.checkup", "doctor.diagnosis", "doctor.report", "doctor.cli", "doctor.rules")
    for path in (ROOT / "rules").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if name.startswith(above)], path


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    code = f"import json, sys, doctor.cli; print(json.dumps([name for name in {TOO_LATE!r} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


SLOW = ("click", "dataclasses", "inspect", "typing", "json", "pathlib", "shutil", "logging", "importlib.metadata", *TOO_LATE)
"""What neither a help page nor a shell's Tab waits for, once it was asked before."""

PAGES = {"doctor", "doctor.cli", "doctor.completed", "doctor.locale", "doctor.logscan", "doctor.logscan.cache", "doctor.pages"}


def loaded(cache: Path, *arguments: str, **environ: str) -> set[str]:
    """The modules that a command line has loaded at its end, the second time it runs."""
    code = """import sys
before = set(sys.modules)
from doctor.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    print("\\n", *sorted(set(sys.modules) - before))
"""
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-I", "-c", code, *arguments],
            env={"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(cache), "LC_ALL": "C.UTF-8", **environ},
            capture_output=True, text=True, timeout=120, check=True, cwd=cache,
        )  # fmt: skip
    return set(done.stdout.rpartition("\n ")[2].split())


def test_the_version_loads_nothing(tmp_path: Path) -> None:
    modules = loaded(tmp_path, "--version")
    assert {name for name in modules if name.startswith("doctor")} == {"doctor", "doctor.cli", "doctor.completed"}
    assert not modules & {*SLOW, "re", "enum"}


@pytest.mark.parametrize("arguments", [["--help"], ["log", "-h"], ["--lang", "zh", "watch", "--help"], ["completion", "bash"]], ids=" ".join)
def test_a_help_page_is_shown_without_click(tmp_path: Path, arguments: list[str]) -> None:
    modules = loaded(tmp_path, *arguments)
    assert {name for name in modules if name.startswith("doctor")} == PAGES
    assert not modules & {*SLOW}


@pytest.mark.parametrize("words", ["doctor lo", "doctor log --f", "doctor check --format ", "doctor explain c"])
def test_a_shell_is_answered_without_click(tmp_path: Path, words: str) -> None:
    at = len(words.split(" ")) - 1
    modules = loaded(tmp_path, _DOCTOR_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(at))
    assert {name for name in modules if name.startswith("doctor")} - {"doctor.rulepackage"} == PAGES
    assert not modules & {*SLOW}


NOT_FOR_A_LOG = ("hyperscan", "yaml", "packaging", "textual", "rich", "psutil", "zstandard", "tomllib", "importlib.metadata", "concurrent.futures", "xml", "html")
ROOMS = ("doctor.apply", "doctor.bundle", "doctor.fleet", "doctor.smoke", "doctor.watch", "doctor.tui", "doctor.lint")
"""What a log without a sign of any of it does not load."""


def test_a_small_log_loads_only_what_it_tells_of(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    log.write_text("INFO 07-01 10:00:00 [core.py:708] step\n" * 100 + "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n", encoding="utf-8")
    modules = loaded(tmp_path, "log", str(log))
    assert not {name for name in modules if name.partition(".")[0] in NOT_FOR_A_LOG or name in NOT_FOR_A_LOG}
    assert not {name for name in modules if name.startswith(ROOMS)}
    assert len([name for name in modules if name.startswith("doctor.rules.")]) < 20
    assert len([name for name in modules if name.startswith("doctor.commands.")]) == 2  # the room's and the shared options


def test_a_command_loads_the_options_of_its_room_alone(tmp_path: Path) -> None:
    modules = loaded(tmp_path, "explain", "memory-hbm-fragmentation")
    assert {name for name in modules if name.startswith("doctor.commands.")} == {"doctor.commands.params", "doctor.commands.program"}
    assert not {name for name in modules if name.startswith(ROOMS)}
