"""Stand-ins for Huawei's installers and for packages of custom operators: self-extracting run-files made on the spot. None of them is real CANN."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

SCRIPT = """#!/bin/bash
# A stand-in for an installer, made by a test. It is no CANN.
label="{label}"
MD5="{md5}"
filesizes="{size}"
# Uncompressed size: {unpacked} KB
skip="{skip}"
target=""
for word in "$@"; do
    case "$word" in
        --check)
            sum=$(tail -n +$((skip + 1)) "$0" | head -c {size} | md5sum | cut -d' ' -f1)
            [ "$sum" = "$MD5" ] && echo "MD5 checksums are OK. All good." && exit 0
            echo "Error in MD5 checksums" >&2; exit 1 ;;
        --install-path=*) target="${{word#--install-path=}}" ;;
    esac
done
[ -n "$target" ] || {{ echo "no --install-path" >&2; exit 2; }}
{before}
tail -n +$((skip + 1)) "$0" | tar xzf - -C "$target" || exit 3
{after}
exit 0
"""


def run_file(path: Path, files: Mapping[str, bytes | str], links: Mapping[str, str] | None = None, *, before: str = "", after: str = "", label: str = "stand-in") -> Path:
    """A run-file that unpacks these files and links into its --install-path; `before` and `after` are lines of shell around that."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o644
            tar.addfile(info, io.BytesIO(data))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            tar.addfile(info)
    payload = buffer.getvalue()
    values = {"label": label, "md5": hashlib.md5(payload, usedforsecurity=False).hexdigest(), "size": len(payload), "unpacked": 8, "before": before, "after": after}
    head = SCRIPT.format(skip=0, **values)
    head = SCRIPT.format(skip=head.count("\n"), **values)
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(head.encode() + payload)
    return path


def toolkit(folder: Path, version: str, arch: str = "aarch64", before: str = "", after: str = "") -> Path:
    info = f"package_name=Ascend-cann-toolkit\nversion={version}\narch={arch}\nos=linux\n"
    files = {f"cann-{version}/{arch}-linux/ascend_toolkit_install.info": info, f"cann-{version}/set_env.sh": "export STAND_IN_CANN=1\n"}
    return run_file(folder / f"Ascend-cann-toolkit_{version}_linux-{arch}.run", files, {"cann": f"cann-{version}"}, before=before, after=after)


def ops(folder: Path, version: str, chip: str = "910b", arch: str = "aarch64", kernel: str = "ascend910b") -> Path:
    files = {f"cann-{version}/opp/built-in/op_impl/ai_core/tbe/kernel/{kernel}/abs/Abs_1.o": b"\0stand-in"}
    return run_file(folder / f"Ascend-cann-{chip}-ops_{version}_linux-{arch}.run", files)


def custom_operators(vendor: str = "customize", operators: tuple[str, ...] = ("AddCustom",), kernel: str = "ascend910b", library: bytes = b"") -> dict[str, bytes]:
    """The files of a package of custom operators, by path below the folder that holds `vendors`."""
    base = f"packages/vendors/{vendor}"
    files = {
        f"{base}/op_impl/ai_core/tbe/config/{kernel}/aic-{kernel}-ops-info.json": json.dumps({name: {} for name in operators}).encode(),
        f"{base}/op_impl/ai_core/tbe/kernel/{kernel}/add_custom/AddCustom_1.json": b"{}",
        f"{base}/op_impl/ai_core/tbe/kernel/{kernel}/add_custom/AddCustom_1.o": b"\0stand-in",
        f"{base}/version.info": b"custom_opp_compiler_version=8.5.1\n",
    }
    if library:
        files[f"{base}/op_api/lib/libcust_opapi.so"] = library
    return files
