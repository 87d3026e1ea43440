"""What the profile `public` masks beyond names and secrets: a site's own folders, ports, and the names of its own models.

What everybody can read elsewhere stays, since rules decide by it: names of published models, and paths within published software.

Contract: as `redact`: standard library only, in the grammar of Python 3.6; component by component, so that a replay finds its paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from doctor.bundle.modelnames import is_owner, without_own
from doctor.bundle.pseudonyms import Pseudonyms
from doctor.bundle.vocabulary import SYSTEM_USERS

_SYSTEM = ("/usr", "/etc", "/proc", "/sys", "/dev", "/lib", "/lib64", "/bin", "/sbin", "/run", "/boot", "/var", "/v1", "/v2")
"""Everything below these is every server's."""
_KNOWN = re.compile(
    r"(?i)(?:home|root|opt|data|mnt|tmp|srv|models?|weights|checkpoints?|workspace|vllm-workspace|share[d]?|nfs|conda|miniconda3?|miniforge3?|anaconda3?|envs|venv|\.venv|bin|lib(?:64)?|python\d?[\d.]*|(?:site|dist)-packages|include|\.pyenv|versions|"
    r"ascend|ascend-toolkit|nnal|nnae|atb|asdsip|mindie|driver|firmware|latest|cann[\d.a-z_-]*|opp\w*|\d[\w.]*|aarch64-linux|x86_64-linux|logs?|plog|debug|run|\.?cache|\.local|\.config|\.triton|\.ascend|huggingface|hub|modelscope|snapshots|blobs|"
    r"built-in|op_impl|op_proto|op_api|ai_core|ai_cpu|tbe|kernels?|config|vendors|ascend\d\w*|compiler|runtime|toolkit|csrc|benchmarks?|examples|tests|pip-[a-z]+(?:-\w{8})?|(?:docker-)?compose(?:[.-](?:override|prod|dev))?\.ya?ml|Dockerfile|requirements\.txt|pyproject\.toml|"
    r"vllm\w*|torch\w*|[\w.-]*\.(?:so(?:\.\d+)*|info|cfg|dist-info|egg-info|py)|config\.json|tokenizer\w*\.json|model\.safetensors\.index\.json|generation_config\.json|"
    r"model-\d{5}-of-\d{5}\.safetensors|quant_model_\w+\.\w+|(?:user|host|model|path)-[0-9a-f]{6}|[\w-]{1,40}\.(?:json|sh|ya?ml|log|txt)(?<=config\.json)|\*.*|.*[*?\[].*)"
)
_SOFTWARE = re.compile(
    r"(?i)(?:vllm|vllm[-_]ascend|torch|torch[-_]npu|torchvision|torchair|transformers|tokenizers|safetensors|huggingface_hub|modelscope|ray|triton|triton[-_]ascend|mooncake|flash_attn|flash_attn_npu|xgrammar|numpy|google|pydantic\w*|fastapi|uvicorn|"
    r"starlette|verl|openrlhf|llamafactory|trl|swift|xinference|gpustack|lmdeploy|sglang|sgl_kernel_npu|lmcache|lmcache_ascend|compressed_tensors|msmodelslim|mindspeed\w*|megatron\w*|deepspeed|accelerate|peft|te|tbe|acl|atb_llm|mindie_llm|deep_ep|bitsandbytes|auto_gptq|awq|numba|outlines\w*)"
)
"""Packages that everybody can read."""
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.(?:py|pyc|cpp|cc|c|h|hpp|asc|cce|o|so))?")
"""A module of one of them, or a folder of such."""
_PATH = re.compile(r"(?<![\w.:/@*?\[\]-])(?P<root>/[\w.@+-]+)(?P<rest>(?:/[^\s\"'<>|:;,()\[\]{}=\\/]+)+)")
_PORT = re.compile(
    r"(?i)(?P<head>--(?:[a-z]+-){0,3}port[= ]|(?<![a-z])port[\"']?[=:][ \t]?|(?:\d{1,3}\.){3}\d{1,3}:|\blocalhost:|(?:host|MASKED)-[0-9a-f]{6}:|\]:)(?P<port>\d{4,5})(?![\d.])"
)
_MODEL = re.compile(
    r"(?i)(?P<head>--(?:model|served-model-name|tokenizer|lora-modules)[= ]|\bvllm serve |(?<![a-z_])(?:model|served_model_name|model_name|model_path|tokenizer)\\{0,8}[\"']?[=:][ \t]?\[?\\{0,8}[\"']?)(?P<name>(?!-)[A-Za-z0-9_./@+-]{3,300})"
)
_NO_MODEL = re.compile(r"(?i)none|null|true|false|auto|model-[0-9a-f]{6}|/?[a-z]+")


def masked(text: str, names: Pseudonyms, seed: Callable[[str, str], None], counted: Callable[[str], None]) -> str:
    """The text with those masked. `seed(name, stand-in)`: to be masked wherever it stands; `counted(kind)` is called for each."""

    def model(match: re.Match[str]) -> str:
        path = match["name"].rstrip("/.")
        owner = "" if path.startswith("/") else path.partition("/")[0]
        for name in {path.rpartition("/")[2], "" if is_owner(owner) else owner}:
            if len(name) >= 4 and not _NO_MODEL.fullmatch(name):
                stand_in = without_own(name, lambda own: names.name("model", own.lower()))
                if stand_in != name:
                    seed(name, stand_in)
        return match[0]

    def path(match: re.Match[str]) -> str:
        if match["root"] in _SYSTEM:
            return match[0]
        parts = match["rest"].split("/")[1:]
        return match["root"] + "".join("/" + part for part in _parts(parts, names, counted))

    def port(match: re.Match[str]) -> str:
        counted("port")
        return match["head"] + str(names.port(int(match["port"])))

    text = _MODEL.sub(model, text)
    text = _PATH.sub(path, text)
    return _PORT.sub(port, text)


def _parts(parts: list[str], names: Pseudonyms, counted: Callable[[str], None]) -> list[str]:
    """The components, each as it is or as its stand-in."""
    out: list[str] = []
    published, before = False, ""
    for part in parts:
        if published and _MODULE.fullmatch(part) and part not in ("site-packages", "dist-packages"):
            out.append(part)
            continue
        software = _SOFTWARE.fullmatch(part) is not None
        # Installed, in its own repository (verl/verl, vllm-ascend/csrc), or of Python itself: the rest of the path is published as well.
        published = (
            software and (before in ("site-packages", "dist-packages") or before.replace("-", "_") == part.replace("-", "_"))
            or part == "csrc" and _SOFTWARE.fullmatch(before) is not None
            or re.fullmatch(r"python3\.\d{1,2}", part) is not None and before in ("lib", "lib64")
        )  # fmt: skip
        known = software or _KNOWN.fullmatch(part) or part.lower() in SYSTEM_USERS or is_owner(part)
        out.append(part if known else _stand_in(part, names, counted))
        before = part
    return out


def _stand_in(part: str, names: Pseudonyms, counted: Callable[[str], None]) -> str:
    dots = part[len(part.rstrip(".")) :]
    part = part[: len(part) - len(dots)]
    stem, dot, ending = part.rpartition(".")
    if not (dot and stem and len(ending) < 12 and ending.isalpha()):
        stem, ending = part, ""
    told = without_own(stem, lambda own: names.name("path", own))
    if told != stem:
        counted("path")
    return told + ("." + ending if ending else "") + dots


__all__ = ["masked"]
