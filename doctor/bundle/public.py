"""What the profile `public` masks beyond names and secrets: a site's own folders, ports, and the names of models.

Contract: as `redact`: standard library only, in the grammar of Python 3.6; component by component, so that a replay finds its paths.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from doctor.bundle.pseudonyms import Pseudonyms

_SYSTEM = ("/usr", "/etc", "/proc", "/sys", "/dev", "/lib", "/lib64", "/bin", "/sbin", "/run", "/boot", "/var", "/v1", "/v2")
"""Everything below these is every server's."""
_KNOWN = re.compile(
    r"(?i)(?:home|root|opt|data|mnt|tmp|srv|models?|workspace|share[d]?|nfs|conda|miniconda3?|anaconda3?|envs|venv|\.venv|bin|lib(?:64)?|python\d?[\d.]*|(?:site|dist)-packages|include|"
    r"ascend|ascend-toolkit|nnal|nnae|atb|asdsip|mindie|driver|firmware|latest|cann[\d.a-z_-]*|opp\w*|\d[\w.]*|aarch64-linux|x86_64-linux|log|logs|plog|debug|run|cache|\.cache|\.local|huggingface|hub|modelscope|snapshots|blobs|"
    r"vllm\w*|torch\w*|[\w.-]*\.(?:so(?:\.\d+)*|info|cfg|dist-info|egg-info|py)|config\.json|tokenizer\w*\.json|model\.safetensors\.index\.json|generation_config\.json|user-[0-9a-f]{6}|host-[0-9a-f]{6}|[\w-]{1,40}\.(?:json|sh|ya?ml|log|txt)(?<=config\.json)|\*.*|.*[*?\[].*)"
)
_PATH = re.compile(r"(?<![\w.:/@-])(?P<root>/[\w.@+-]+)(?P<rest>(?:/[^\s\"'<>|:;,()\[\]{}=\\/]+)+)")
_PORT = re.compile(
    r"(?i)(?P<head>--(?:[a-z]+-){0,3}port[= ]|(?<![a-z])port[\"']?[=:][ \t]?|(?:\d{1,3}\.){3}\d{1,3}:|\blocalhost:|(?:host|MASKED)-[0-9a-f]{6}:|\]:)(?P<port>\d{4,5})(?![\d.])"
)
_MODEL = re.compile(
    r"(?i)(?P<head>--(?:model|served-model-name|tokenizer|lora-modules)[= ]|\bvllm serve |(?<![a-z_])(?:model|served_model_name|model_name|model_path|tokenizer)\\{0,8}[\"']?[=:][ \t]?\[?\\{0,8}[\"']?)(?P<name>[A-Za-z0-9_./@+-]{3,300})"
)
_NO_MODEL = re.compile(r"(?i)none|null|true|false|auto|model-[0-9a-f]{6}|/?[a-z]+")


def masked(text: str, names: Pseudonyms, seed: Callable[[str, str], None], counted: Callable[[str], None]) -> str:
    """The text with those masked. `seed(name, stand-in)`: to be masked wherever it stands; `counted(kind)` is called for each."""

    def model(match: re.Match[str]) -> str:
        path = match["name"].rstrip("/")
        for name in {path.rpartition("/")[2], "" if path.startswith("/") else path.partition("/")[0]}:
            if len(name) >= 4 and not _NO_MODEL.fullmatch(name):
                seed(name, names.name("model", name.lower()))
        return match[0]

    def path(match: re.Match[str]) -> str:
        if match["root"] in _SYSTEM:
            return match[0]
        parts = [part if _KNOWN.fullmatch(part) else _stand_in(part, names, counted) for part in match["rest"].split("/")[1:]]
        return match["root"] + "".join("/" + part for part in parts)

    def port(match: re.Match[str]) -> str:
        counted("port")
        return match["head"] + str(names.port(int(match["port"])))

    text = _MODEL.sub(model, text)
    text = _PATH.sub(path, text)
    return _PORT.sub(port, text)


def _stand_in(part: str, names: Pseudonyms, counted: Callable[[str], None]) -> str:
    counted("path")
    stem, dot, ending = part.rpartition(".")
    return names.name("path", stem) + "." + ending if dot and stem and len(ending) < 6 and ending.isalpha() else names.name("path", part)


__all__ = ["masked"]
