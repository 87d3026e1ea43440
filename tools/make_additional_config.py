"""Makes rules/data/additional-config.json from the tags of vllm-ascend, by syntax tree; nothing of them is imported.

    python tools/make_additional_config.py ASCEND [--date 2026-11-30]

ASCEND is a git repository of vllm-ascend with its tags. Only the names of keys are kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from doctor.facts.plugin_keys import ConfigKeys, read_keys  # noqa: E402

OUTPUT = ROOT / "rules" / "data" / "additional-config.json"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ascend", type=Path)
    options.add_argument("--date", required=True)
    given = options.parse_args()
    tags = sorted((tag for tag in _git(given.ascend, "tag").split() if tag.startswith("v0")), key=lambda tag: Version(tag[1:]))
    tables = [(tag[1:], keys) for tag in tags if (keys := _keys(given.ascend, tag)) is not None]
    names = [_all(keys) for _, keys in tables]
    document = {
        "about": {
            "what": "Keys of --additional-config that each release of vllm-ascend reads; `parent.key` for keys of an object",
            "source": "vllm_ascend/ascend_config.py and the other readers of the configuration at the tags of github.com/vllm-project/vllm-ascend",
            "date": given.date,
            "made_by": "tools/make_additional_config.py",
            "format": "key: ranges of indexes into versions",
        },
        "versions": [version for version, _ in tables],
        "keys": {name: _ranges(at for at, some in enumerate(names) if name in some) for name in sorted(set().union(*names))},
    }
    OUTPUT.write_text(json.dumps(document, indent=0, sort_keys=False) + "\n", encoding="utf-8")


def _keys(repository: Path, tag: str) -> ConfigKeys | None:
    return read_keys(lambda path: _git(repository, "show", f"{tag}:vllm_ascend/{path}"), tag)


def _all(keys: ConfigKeys) -> set[str]:
    return set(keys.top) | {f"{parent}.{name}" for parent, names in keys.nested.items() for name in names}


def _ranges(places: Iterable[int]) -> str:
    parts: list[list[int]] = []
    for place in places:
        if parts and place == parts[-1][1] + 1:
            parts[-1][1] = place
        else:
            parts.append([place, place])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def _git(repository: Path, *words: str) -> str:
    found = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, text=True, check=False)
    return found.stdout if found.returncode == 0 else ""


if __name__ == "__main__":
    main()
