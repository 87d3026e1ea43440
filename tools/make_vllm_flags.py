"""Makes rules/data/vllm-flags.json from the sources of vLLM and vllm-ascend, by syntax tree; nothing of them is imported.

    python tools/make_vllm_flags.py VLLM ASCEND [--date 2026-11-30]

VLLM holds one folder a release, named by its version, with the package's source below it (0.18.0/vllm/engine/arg_utils.py), as unpacked
from the source archives on PyPI. ASCEND is a git repository of vllm-ascend with its tags. Only names, kinds and allowed words are kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from doctor.lint.flags import Flag, Kind, Table  # noqa: E402
from doctor.lint.modules import read_tree  # noqa: E402
from doctor.lint.source import read_table, variables_in  # noqa: E402

NEWER = "newer"
"""The development branch stands for every release after the last tag."""

OUTPUT = ROOT / "rules" / "data" / "vllm-flags.json"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("vllm", type=Path)
    options.add_argument("ascend", type=Path)
    options.add_argument("--date", required=True)
    given = options.parse_args()
    tables = [table for folder in sorted(given.vllm.iterdir(), key=lambda folder: Version(folder.name)) if (table := _table(folder))]
    versions = [table.version for table in tables]
    ascend = _ascend_variables(given.ascend)
    document = {
        "about": {
            "what": "Flags of `vllm serve`, arguments of LLM(…) and EngineArgs(…), and environment variables, by release",
            "source": "names and types in the source archives of vLLM on PyPI; vllm_ascend/envs.py at the tags of github.com/vllm-project/vllm-ascend",
            "date": given.date,
            "made_by": "tools/make_vllm_flags.py",
            "format": "flag: list of [releases, kind, number of words, short names, allowed words]; releases are ranges of indexes into versions",
        },
        "versions": versions,
        "ascend_versions": list(ascend),
        "flags": _flags(tables),
        "keywords": {name: _ranges(at for at, table in enumerate(tables) if name in table.keywords) for name in _all(t.keywords for t in tables)},
        "variables": {name: _ranges(at for at, table in enumerate(tables) if name in table.variables) for name in _all(t.variables for t in tables)},
        "ascend_variables": {
            name: _ranges(at for at, names in enumerate(ascend.values()) if name in names) for name in _all(ascend.values())
        },
    }
    OUTPUT.write_text(_dumped(document), encoding="utf-8")
    print(f"{OUTPUT.name}: {len(versions)} releases, {len(document['flags'])} flags, {OUTPUT.stat().st_size} bytes")


def _table(folder: Path) -> Table | None:
    def read(path: str) -> str | None:
        try:
            return (folder / "vllm" / path).read_text(encoding="utf-8")
        except OSError:
            return None

    return read_table(read, folder.name)


def _ascend_variables(repository: Path) -> dict[str, frozenset[str]]:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, text=True, check=False).stdout

    tags = sorted((tag for tag in git("tag").split() if tag.startswith("v")), key=lambda tag: Version(tag[1:]))
    texts = {tag[1:]: git("show", f"{tag}:vllm_ascend/envs.py") for tag in tags}
    texts[NEWER] = git("show", "HEAD:vllm_ascend/envs.py")
    return {version: variables_in(tree) for version, text in texts.items() if text and (tree := read_tree(text)) is not None}


def _flags(tables: Sequence[Table]) -> dict[str, list[list[Any]]]:
    found: dict[str, list[list[Any]]] = {}
    for name in _all(table.flags for table in tables):
        shapes: dict[tuple[Any, ...], list[int]] = {}
        for at, table in enumerate(tables):
            flag = table.flags.get(name)
            if flag is not None:
                shapes.setdefault(_shape(flag), []).append(at)
        found[name] = [[_ranges(places), *shape] for shape, places in shapes.items()]
    return found


def _shape(flag: Flag) -> tuple[Any, ...]:
    kind = Kind.TEXT if flag.kind is Kind.ANY and flag.choices else flag.kind
    return kind.value, flag.many, " ".join(flag.short), " ".join(flag.choices)


def _ranges(places: Iterable[int]) -> str:
    """[0, 1, 2, 5] as "0-2,5"."""
    runs: list[list[int]] = []
    for place in places:
        if runs and runs[-1][1] == place - 1:
            runs[-1][1] = place
        else:
            runs.append([place, place])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _all(names: Iterable[Iterable[str]]) -> list[str]:
    return sorted({name for some in names for name in some})


def _dumped(document: dict[str, Any]) -> str:
    """JSON with one entry a line, so that a new release is a readable difference."""
    parts = []
    for key, value in document.items():
        if isinstance(value, dict):
            lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in value.items())
            parts.append(f' {json.dumps(key)}: {{\n{lines}\n }}')
        else:
            parts.append(f" {json.dumps(key)}: {json.dumps(value)}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    main()
