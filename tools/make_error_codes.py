"""Makes rules/data/errors/*.json from a table of codes and the sentences in rules/data/errors/words-*.yaml.

    python tools/make_error_codes.py CODES.yaml [--as-of 2026-11-30]

The table maps code to name or class in its sections acl, aclnn, cann, dcmi, npu_fault; it is an input of this tool only,
doctor never reads it. Codes without a sentence of their own get one made of their class, module or range.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent.parent / "rules" / "data" / "errors"

SOURCES = {
    "acl": ["github.com hicann/runtime docs/zh/api_ref/25-01_aclError.md (names)", "CANN API reference, aclnn return codes (names)"],
    "cann": ["github.com hicann/runtime src/dfx/error_manager/error_code.json 681ef761 and hicann/ge error_codes (code and class only)"],
    "dcmi": ["github.com hicann/driver DCMI API return codes (numbers)"],
    "npu": ["github.com Ascend/mind-cluster 22bb3d98 (Apache-2.0): faultCode.json (levels), kg-config.json (modules)"],
    "torch": ["github.com Ascend/pytorch error code documentation (scheme ERRmmttt)"],
}

ACLNN_NAMES = {
    "PARAM_NULLPTR": "ACLNN_ERR_PARAM_NULLPTR", "PARAM_INVALID": "ACLNN_ERR_PARAM_INVALID", "RUNTIME_ERROR": "ACLNN_ERR_RUNTIME_ERROR",
    "INNER": "ACLNN_ERR_INNER", "INFERSHAPE": "ACLNN_ERR_INNER_INFERSHAPE_ERROR", "TILING": "ACLNN_ERR_INNER_TILING_ERROR",
    "FIND_KERNEL": "ACLNN_ERR_INNER_FIND_KERNEL_ERROR",
}  # fmt: skip
"""Full names of the table's short ones; the others take ACLNN_ERR_INNER_ before them."""

Pair = tuple[str, str]
Row = dict[str, Any]


def entry(name: str, sentence: list[str] | None, made: Pair, level: str = "") -> Row:
    """One code as it stands in the JSON; `own` is False where the sentence was made of class words."""
    row: Row = {"name": name, "meaning": list(sentence[:2] if sentence else made), "own": sentence is not None}
    if sentence and len(sentence) == 4:
        row["causes"] = sentence[2:]
    if level:
        row["level"] = level
    return row


def acl_rows(table: Mapping[str, Any], words: Mapping[str, Any], sentences: Mapping[Any, list[str]]) -> dict[str, Row]:
    names = {str(code): str(name) for code, name in table["acl"].items()}
    for code, text in table["aclnn"].items():
        short = str(text).split(" ", 1)[0]
        names[str(code)] = ACLNN_NAMES.get(short, f"ACLNN_ERR_INNER_{short}")
    own = {str(code): sentence for code, sentence in sentences.items()}
    rows = {}
    for code, name in sorted(names.items()):
        en, zh = words["acl_ranges"][int(code[0])]
        spoken = re.sub(r"^ACL(NN)?_ERR(OR)?_(RT_|GE_|INNER_)?", "", name).replace("_", " ").lower()
        rows[code] = entry(name, own.get(code), (f"AscendCL reports: {spoken}. Its range stands for {en}.", f"AscendCL 报错 {name}，该码段表示{zh}。"), f"{code[0]}xxxxx")
    return rows


def module_of(code: str, modules: Mapping[str, list[str]]) -> list[str]:
    return next((modules[code[:size]] for size in (3, 2) if code[:size] in modules), ["CANN", "CANN"])


def cann_rows(table: Mapping[str, Any], words: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Row]:
    classes = {code: row["class"] for code, row in table["cann"].items()} | own["extra"]
    rows = {}
    for code, name in sorted(classes.items()):
        en, zh = words["classes"][name]
        module_en, module_zh = module_of(code, words["modules"])
        made = (f"{module_en[0].upper()}{module_en[1:]}: {en}.", f"{module_zh}：{zh}。")
        rows[code] = entry(name, own["sentences"].get(code), made)
    return rows


def npu_rows(table: Mapping[str, Any], words: Mapping[str, Any], sentences: Mapping[Any, list[str]]) -> dict[str, Row]:
    own = {str(code): sentence for code, sentence in sentences.items()}
    rows = {}
    for code, row in table["npu_fault"].items():
        module = row.get("module", "NPU")
        level = row.get("level", "")
        rows[str(code)] = entry(module, own.get(str(code)), npu_sentence(row.get("meaning", ""), module, words), level)
    return dict(sorted(rows.items()))


def npu_sentence(meaning: str, module: str, words: Mapping[str, Any]) -> Pair:
    """Our own words for the kind of fault that the vendor's table tells; a bare level gets a bare sentence."""
    if not meaning:
        return "The NPU reported a fault whose description is not public.", "NPU 上报故障，无公开说明。"
    place, _, part = module.partition("/")
    default = [f"the NPU's {part}", f"NPU 的 {part} "] if place == "NPU" else [f"the server's {part}", f"服务器的 {part} "]
    unit_en, unit_zh = words["units"].get(module, default)
    for pattern, en, zh in words["kinds"]:
        match = re.search(pattern, meaning)
        if match:
            group = match[1] if match.re.groups else ""
            return en.replace("{unit}", unit_en).replace("{1}", group), zh.replace("{unit}", unit_zh).replace("{1}", group)
    raise AssertionError("the last kind matches everything")


def dcmi_rows(table: Mapping[str, Any], sentences: Mapping[str, list[str]]) -> dict[str, Row]:
    return {str(code): entry(f"DCMI {code}", sentences[str(code)], ("", "")) for code in sorted(table["dcmi"], reverse=True)}


def torch_rows(words: Mapping[str, Any]) -> dict[str, Row]:
    rows = {}
    for module, (module_en, module_zh) in words["torch_modules"].items():
        for kind, (en, zh) in words["torch_kinds"].items():
            meaning = [f"torch_npu, {module_en}: {en}.", f"torch_npu（{module_zh}）：{zh}。"]
            rows[f"ERR{module}{kind}"] = entry("", meaning, ("", ""))
    return rows


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def write(family: str, as_of: str, rows: Mapping[str, Row], **more: Any) -> None:
    content = {"as_of": as_of, "sources": SOURCES[family], "generated_by": "tools/make_error_codes.py", **more}
    head = json.dumps(content, ensure_ascii=False)[:-1]
    body = ",\n".join(f"{json.dumps(code)}: {json.dumps(row, ensure_ascii=False)}" for code, row in rows.items())
    (FOLDER / f"{family}.json").write_text(f'{head},\n"codes": {{\n{body}\n}}}}\n', encoding="utf-8")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("table", type=Path)
    options.add_argument("--as-of", default="2026-11-30")
    arguments = options.parse_args()
    table, words = load(arguments.table), load(FOLDER / "words-classes.yaml")
    npu_words = load(FOLDER / "words-npu.yaml")
    ranges = {f"{first}xxxxx": pair for first, pair in words["acl_ranges"].items()}
    write("acl", arguments.as_of, acl_rows(table, words, load(FOLDER / "words-acl.yaml")), levels=ranges)
    write("cann", arguments.as_of, cann_rows(table, words, load(FOLDER / "words-cann.yaml")))
    write("npu", arguments.as_of, npu_rows(table, words, npu_words["npu"]), levels={**words["levels"], "": words["no_level"]})
    write("dcmi", arguments.as_of, dcmi_rows(table, npu_words["dcmi"]))
    write("torch", arguments.as_of, torch_rows(words))


if __name__ == "__main__":
    main()
