"""Versions that sentences, log lines, paths and image tags name: vllm-ascend, vLLM, torch, torch_npu, CANN, driver, firmware, NNAL, Python, systems.

Contract: a mention in advice ("upgrade to …", "needs …", "works on …") and a list of several versions say nothing about this machine.
"""

from __future__ import annotations

import re
from itertools import islice

from doctor.facts.machine import OperatingSystem
from doctor.facts.report_text import HITS_CAP, VERSION, Sightings, Strength, Text, first_version
from doctor.regex import regex

PACKAGE_KINDS = {
    "vllm-ascend": "package:vllm-ascend",
    "vllm ascend": "package:vllm-ascend",
    "vllm_ascend": "package:vllm-ascend",
    "vllm": "package:vllm",
    "torch": "package:torch",
    "pytorch": "package:torch",
    "torch-npu": "package:torch-npu",
    "torch npu": "package:torch-npu",
    "torch_npu": "package:torch-npu",
    "triton-ascend": "package:triton-ascend",
    "triton_ascend": "package:triton-ascend",
    "transformers": "package:transformers",
    "mindie-turbo": "package:mindie-turbo",
    "mindspore": "package:mindspore",
}

KINDS = {
    **PACKAGE_KINDS,
    "cann": "cann",
    "cann-toolkit": "cann",
    "cann toolkit": "cann",
    "driver": "driver",
    "npu driver": "driver",
    "ascend driver": "driver",
    "hdk": "driver",
    "ascend hdk": "driver",
    "npu-smi": "driver",
    "驱动": "driver",
    "firmware": "firmware",
    "npu firmware": "firmware",
    "固件": "firmware",
    "nnal": "nnal",
    "atb": "nnal",
    "python": "python",
    "glibc": "glibc",
    "mindie": "mindie",
}
"""What is talked about -> the kind of sighting. One table for prose, keys and table cells."""

_WORDS = "|".join(re.escape(word) for word in sorted(KINDS, key=len, reverse=True))
_LINK = r"(?:[ \t]{0,3}(?:version|ver|release|toolkit|driver|package|版本号?|的))?[ \t]{0,3}(?:[:：为是-]|==?|is)?[ \t]{0,3}[`*\"'(（]{0,3}"
_MENTION = regex(rf"(?P<word>{_WORDS}){_LINK}v?(?P<version>{VERSION})(?![a-z0-9_/]|\.\d)")
_PAIR = regex(
    rf"(?P<words>(?:{_WORDS})(?:[ \t]{{0,2}}/[ \t]{{0,2}}(?:{_WORDS})){{1,3}}){_LINK}v?(?P<versions>{VERSION}(?:[ \t]{{0,2}}/[ \t]{{0,2}}v?{VERSION}){{1,3}})(?![a-z0-9_]|\.\d)"
)
_SLASH = regex(r"[ \t]{0,2}/[ \t]{0,2}")
_TITLE = regex(r"[\[【]v?(?P<version>0\.\d{1,3}\.\d{1,3}(?:\.?rc\d{1,2}|\.post\d{1,2})?)[\]】]")
"""The release that the title of a report puts in brackets."""
_GLUED = regex(r"[\w/.-]", re.ASCII)
"""What stands before a word that is a part of a longer name or of a path. Looked at after a match: a pattern that starts with literals is
several times faster than one that starts with a look-behind."""

_ADVICE = regex(
    r"upgrad|downgrad|updat|work(?:s|ed|ing)? (?:on|with|in|fine|well)|tried|tested|requir|depends|need|should|must|recommend|support|compatib|"
    r"until|since|before|previous|earlier|older|newer|later|at least|fixed|instead|switch(?:ing)? (?:back )?to|install|only |expect|minimum|latest|"
    r">=|<=|~=|!=|[<>]|or (?:above|higher|newer)|and (?:above|higher)|not (?:with|on|in) |no problem|is fine|was fine|"
    r"升级|降级|更新到|建议|推荐|支持|需要|要求|依赖|至少|以上|以下|及以后|低于|高于|之前|以前|正常|没有?问题|无此问题|改用|换成|配套|试过|尝试|安装|最低|最新|不匹配"
)
_REQUIREMENT = regex(r"""(?:^|\s)['"][A-Za-z][\w.-]{0,80} ?[=<>~!]{1,2}[^'"]{1,80}['"],?\s{0,10}$""")
"""A line of a pyproject.toml or setup.py: `"torch == 2.10.0",` says what a build asks for, not what is installed."""

_CLAUSE_END = regex(r"[。；;，！!?？\n]|[.,](?=[ \t])")
_CLAUSE = 160
"""Characters on each side in which a clause is looked for."""

_PLAUSIBLE = {
    "cann": (5, 12),
    "nnal": (5, 12),
    "driver": (19, 35),
    "firmware": (1, 9),
    "python": (3, 3),
    "glibc": (2, 2),
    "package:vllm": (0, 1),
    "package:vllm-ascend": (0, 1),
    "package:torch": (1, 2),
    "package:torch-npu": (1, 2),
    "package:triton-ascend": (2, 4),
    "package:transformers": (4, 6),
    "package:mindie-turbo": (1, 4),
    "package:mindspore": (1, 4),
    "mindie": (1, 4),
}
"""First numbers of real versions of each kind: "driver 535.183" is another maker's."""

_ENGINE = regex(r"initializing an? (?:v[01] )?llm engine \(v?([^\s)]{1,60})\)")
_SERVER = regex(r"(?:vllm api server|llm engine) version:? v?(\d[^\s,)]{1,60})")
_BANNER = regex(r"[█▄▀]\s{1,8}version v?(\d[^\s,)]{1,60})")
_PYTHON_PATH = regex(r"(?:python|versions/)(3\.\d{1,2}\.\d{1,2})/")
_PYTHON_SHORT = regex(r"/python(3\.\d{1,2})/(?:site|dist)-packages")
_DIST_INFO = regex(rf"/(vllm|vllm_ascend|torch|torch_npu|triton_ascend|transformers)-({VERSION})\.(?:dist|egg)-info")
_CANN_PATH = regex(rf"/(?:cann[-/]|ascend-toolkit/)({VERSION})(?=[/:\s'\",;)]|$)")
_NNAL_PATH = regex(rf"/nnal/atb/({VERSION})/")
_IMAGE = regex(rf"(?:ascend/|/|\b)(?P<name>vllm-ascend|cann):v?(?P<version>{VERSION})(?P<rest>(?:-[a-z0-9.]{{1,30}}){{0,5}})")
_SYSTEM = regex(
    r"(?:(?P<id>openeuler|ubuntu|debian|centos|euleros|ctyunos|bclinux|kylin|uos)|(?P<kylin>银河麒麟|麒麟))"
    r"(?:[ \t]{1,2}(?:linux|os|gnu/linux|advanced server|release))?[ \t:：-]{0,3}(?:release[ \t])?(?P<version>v?\d{1,2}(?:\.\d{1,2})?(?:\.\d{1,2})?)?"
    r"(?:[ (-]{0,2}(?P<pack>lts-sp\d|sp\d))?"
)
_SYSTEM_WORDS = ("openeuler", "ubuntu", "debian", "centos", "euleros", "ctyunos", "bclinux", "kylin", "uos", "麒麟")
_CPU = regex(r"(?:kunpeng|鲲鹏)[ -]?(9\d0)(?![0-9])(?:[ -]?(\d{4}[a-z]?))?")
CHIP_TAGS = {"310p": "310p", "a2": "a2", "a3": "a3", "a5": "950", "910b": "a2", "910": "a1", "910c": "a3", "950": "950"}
_SYSTEM_TAGS = regex(r"(openeuler|ubuntu)(\d\d\.\d\d)?$")


def plausible(kind: str, version: str | None) -> bool:
    """Whether a version can be one of this kind at all."""
    major = (version or "").split(".")[0]
    if not major.isascii() or not major.isdecimal() or len(major) > 4:
        return False
    low, high = _PLAUSIBLE.get(kind, (0, 9999))
    return low <= int(major) <= high


def tell_mentions(text: Text, told: Sightings) -> None:
    """Sentences: "CANN 8.2.RC1", "驱动版本 25.2.0", "torch-npu: 2.7.1"."""
    by_line: dict[tuple[int, str], list[str]] = {}
    for found in islice(_MENTION.finditer(text.lower), HITS_CAP):
        kind, version = KINDS[found["word"]], found["version"]
        if "=" in found[0] and _REQUIREMENT.search(text.lines[text.at(found.start())][-200:]):
            continue
        if not _glued(text.lower, found.start()) and plausible(kind, version) and not advice(text.lower, found.start(), found.end()):
            written = text.joined[found.start("version") : found.end("version")]
            by_line.setdefault((text.at(found.start()), kind), []).append(written)
    for (at, kind), versions in by_line.items():
        if len({version.lower() for version in versions}) == 1 and not text.lines[at].lstrip().startswith("|"):
            told.tell(kind, versions[0], Strength.PROSE, at)


def tell_pairs(text: Text, told: Sightings) -> None:
    """As many names as versions: "torch / torch_npu: 2.10.0+cpu / 2.10.0.post2". Read before `tell_mentions`, which would join the last name to the first version."""
    for found in islice(_PAIR.finditer(text.lower), HITS_CAP):
        names = _SLASH.split(found["words"])
        start, versions = found.start("versions"), _SLASH.split(found["versions"])
        if len(names) != len(versions) or _glued(text.lower, found.start()) or advice(text.lower, found.start(), found.end()):
            continue
        written = [version.lstrip("vV") for version in _SLASH.split(text.joined[start : found.end("versions")])]
        for name, version in zip(names, written, strict=True):
            if plausible(KINDS[name], version):
                told.tell(KINDS[name], version, Strength.PROSE, text.at(found.start()))


def tell_title(text: Text, told: Sightings) -> None:
    """"[Bug]: [0.7.3rc1] … on vllm-ascend": the release in brackets on the first line, where that line names the plugin."""
    for at, line in enumerate(text.lines[:3]):
        lower = line[:400].lower()
        found = _TITLE.search(lower)
        if found and re.search(r"vllm[-_ ]ascend", lower):
            told.tell("package:vllm-ascend", found["version"], Strength.PROSE, at)
            return


def _glued(lower: str, start: int) -> bool:
    return start > 0 and _GLUED.match(lower[start - 1]) is not None


def advice(lower: str, start: int, end: int) -> bool:
    """Whether the clause around these offsets tells what should be, or what was elsewhere, and not what is."""
    before = lower[max(0, start - _CLAUSE) : start]
    after = lower[end : end + _CLAUSE]
    cuts = [cut.end() for cut in _CLAUSE_END.finditer(before)]
    closing = _CLAUSE_END.search(after)
    return bool(_ADVICE.search(before[cuts[-1] if cuts else 0 :] + " " + (after[: closing.start()] if closing else after)))


def tell_log_lines(text: Text, told: Sightings) -> None:
    """Lines in which vLLM names its own version."""
    for literal, pattern in (("llm engine (", _ENGINE), (" version ", _SERVER), ("  version ", _BANNER)):
        for at in text.having(literal):
            found = pattern.search(text.lines[at].lower())
            version = first_version(found[1]) if found else None
            if plausible("package:vllm", version):
                told.tell("package:vllm", version, Strength.LOG, at)


def tell_paths(text: Text, told: Sightings) -> None:
    """Versions in paths that programs printed."""
    _tell_path(text, told, "python.full", _PYTHON_PATH, "python3.", "versions/3.")
    _tell_path(text, told, "python.short", _PYTHON_SHORT, "-packages")
    _tell_path(text, told, "cann", _CANN_PATH, "/cann", "/ascend-toolkit/")
    _tell_path(text, told, "nnal", _NNAL_PATH, "/nnal/atb/")
    for at in text.having("-info"):
        for found in _DIST_INFO.finditer(text.lines[at].lower()):
            told.tell(KINDS[found[1]], found[2], Strength.PATH, at)


def _tell_path(text: Text, told: Sightings, kind: str, pattern: re.Pattern[str], *literals: str) -> None:
    for at in text.having(*literals):
        line = text.lines[at]
        found = pattern.search(line.lower())
        if found and plausible(kind, found[1]):
            told.tell(kind, line[found.start(1) : found.end(1)] if len(line.lower()) == len(line) else found[1], Strength.PATH, at)
            return


def tell_images(text: Text, told: Sightings) -> None:
    """Image tags: quay.io/ascend/vllm-ascend:v0.11.0rc1-310p-openeuler, ascend/cann:8.3.rc2-910b-ubuntu22.04-py3.11."""
    for at in text.having("vllm-ascend:", "/cann:"):
        line = text.lines[at].lower()
        for found in _IMAGE.finditer(line):
            if advice(line, found.start(), found.end()):
                continue
            is_vllm = found["name"] == "vllm-ascend"
            told.tell("package:vllm-ascend" if is_vllm else "cann", found["version"], Strength.PATH, at)
            _tell_tags(found["rest"].strip("-").split("-"), told, at)


def _tell_tags(tags: list[str], told: Sightings, at: int) -> None:
    for tag in tags:
        system = _SYSTEM_TAGS.match(tag)
        if tag in CHIP_TAGS:
            family = CHIP_TAGS[tag]
            told.tell("chip", tag.upper(), Strength.PROSE, at, family)
        elif system:
            told.tell("os.seen", system[1], Strength.INSTALL, at, OperatingSystem(version_id=system[2]))
        elif tag.startswith("py3."):
            told.tell("python.short", tag[2:], Strength.PATH, at)


def tell_systems(text: Text, told: Sightings) -> None:
    """Operating systems and processors in sentences."""
    for at in text.having(*_SYSTEM_WORDS):
        line = text.lines[at].lower()
        for found in _SYSTEM.finditer(line):
            named = found["version"] or found["kylin"]
            if named and not line.startswith("|") and not _glued(line, found.start()) and not advice(line, found.start(), found.end()):
                tell_system(told, found, at, Strength.PROSE)
    for at in text.having("kunpeng", "鲲鹏"):
        processor = _CPU.search(text.lines[at].lower())
        if processor is None:
            continue
        told.tell("cpu.vendor", "Kunpeng", Strength.PROSE, at)
        told.tell("cpu.model", " ".join(part for part in ("Kunpeng", processor[1], (processor[2] or "").upper()) if part), Strength.PROSE, at)
        told.tell("arch", "aarch64", Strength.PROSE, at)


def tell_system(told: Sightings, found: re.Match[str], at: int, strength: Strength, name: str = "") -> None:
    """One operating system, from a match of `find_system`: its id as in os-release and its version."""
    version = (found["version"] or "").upper() if found["kylin"] or found["id"] == "kylin" else (found["version"] or "").lstrip("v")
    pack = (found["pack"] or "").upper()
    written = name or " ".join(part for part in ("Kylin" if found["kylin"] else found[0].strip(), pack if pack.lower() not in found[0] else "") if part)
    told.tell("os.seen", "kylin" if found["kylin"] else found["id"], strength, at, OperatingSystem(version_id=version or None, name=written))


def find_system(value: str) -> re.Match[str] | None:
    """The operating system that a value names: "openEuler 24.03 SP3 (x86_64)", "银河麒麟 V10"."""
    return _SYSTEM.search(value[:200].lower())
