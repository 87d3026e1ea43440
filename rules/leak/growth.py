"""Finds, in reports, sentences that say memory grows. Not a rule: the leak rules share it. Pure; never raises.

A sentence counts only as the reporter's own observation: questions, denials, change logs, advice and harmless growth (page cache,
address space) do not.
"""

from __future__ import annotations

import enum
import re

from doctor.facts.target import Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Basis, Confidence, Evidence, Hit, Severity, Skip
from doctor.logscan.scan import Match
from doctor.logscan.signature import Matches, evidence_of
from doctor.record import dataclass
from doctor.regex import regex
from doctor.versions import Scheme, satisfies


class Where(enum.Enum):
    """Which memory."""

    HOST = "host"
    DEVICE = "device"
    KV = "kv"
    UNTOLD = "untold"


class Who(enum.Enum):
    """Which process."""

    WORKER = "worker"
    ENGINE = "engine core"
    API = "API server"
    GATEWAY = "gateway"
    MOONCAKE = "mooncake"
    UNTOLD = "untold"


@dataclass(frozen=True)
class Growth:
    """One sentence that says so."""

    match: Match
    where: Where
    who: Who


_KEEPS = (
    r"(?:keeps?|kept) (?:on )?(?:growing|increasing|climbing|rising|leaking|going up)|\bgrew\b|\bcreeping\b"
    r"|(?:slow|steady|gradual|continuous|abnormal|linear) (?:growth|increase|rise|climb) (?:in|of)\b"
)
_RISES = (
    r"(?:keeps?|kept) (?:on )?(?:growing|increasing|climbing|rising|leaking|going up)|\bgrows?\b|\bgrowing\b|\bgrew\b|\bcreeps?\b|\bcreeping\b"
    r"|\b(?:increases|increased|climbs|climbed|rises|rose|rising|climbing)\b|\bcontinu\w{1,8} (?:to )?(?:grow|increas|ris|climb)|\bballoon(?:s|ed)\b|\b(?:goes|went|going) up\b|\bonly goes up\b|\b(?:goes|went|climbs|rises) from .{1,20} to \d"
    r"|(?:slowly|steadily|gradually|linearly|constantly|continuously|monotonically|slow|steady|gradual|continuous|abnormal) (?:grow|increas|ris|climb)"
    r"|increas\w{0,4} (?:over time|steadily|continuously|gradually|linearly|slowly|without bound|with (?:every|each))"
)
_KEPT = r"(?:never|not|n't) (?:be |is )?(?:freed|released|given back|returned|reclaimed|come back|go down|drop)"
_MEMORY = r"(?:memory|kv[ _-]?cache|\bblocks\b|\brss\b|\brssanon\b|\bres\b|\bhbm\b|\bram\b|\bvram\b)"
_FLAGS = re.IGNORECASE | re.ASCII
"""ASCII throughout: a Chinese character beside a Latin word is a word boundary then."""

# Compiled when a sentence is first judged: compiling them costs more than all other rules of a host together.
_ENGLISH = (
    rf"(?:memory|\bmem|\bram) leak|leaks? memory|(?:unbounded|continuous|persistent|steady|linear|abnormal|constant|host|cpu|\bram|hbm|npu|device)\b.{{0,20}} (?:memory|rss|hbm|vram) (?:growth|increase|surge|overflow)|memory is leaking|leaking memory|{_MEMORY}.{{0,100}}(?:{_RISES}|{_KEPT})|(?:{_KEEPS}).{{0,40}}{_MEMORY}"
    rf"|\bgrows?\b.{{0,20}} in (?:host |resident )?memory"
    rf"|(?:fails?|failed|failing|unable) to (?:free|release|reclaim|give back).{{0,20}}{_MEMORY}|(?:never|not|n't) (?:frees?|releas(?:es?|ing)|reclaim\w{{0,3}}) (?:the )?(?:\w{{1,20}} )?{_MEMORY}"
    rf"|\b(?:leaves?|left|adds?|added)\b.{{0,40}}{_MEMORY}.{{0,40}}(?:behind|{_KEPT})"
    r"|(?:out of|exhausted?(?: the)?|fills?(?: up)?(?: the)?) (?:host|cpu|system) memory|(?:host|cpu|system) memory (?:is |was |gets |runs? )?(?:exhausted|out)"
)
_CHINESE = (
    r"[内显]存.{0,12}泄[漏露]|(?:[内显]存|\bhbm\b|\brss\b|rssanon|\bres\b).{0,40}(?:(?:持续|不断|一直|稳定|逐渐|逐步|缓慢|线性|不停|慢慢|每小时|每天|每轮|每次)(?:地|都|会){0,2}.{0,6}(?:增长|上涨|上升|增加|升高|变大|提升|走高|爬升|多占|涨)"
    r"|越来越[高大多]|越占越多|(?:没有|未被|无法|不会|没|不)释放|降不下来|不会降|不下降|只增不减|居高不下|从.{1,16}涨到|还在(?:上)?涨|再涨|多占)"
    r"|内存.{0,6}(?:打满|占满|吃满|撑爆|打爆|耗尽)|(?:cpu|host|主机|宿主机|系统|服务器|服务器的)\s?内存.{0,12}(?:不足|耗尽|打满|占满|吃满|撑爆|打爆)|(?:耗尽|打满|占满|吃满|打爆|撑爆).{0,6}(?:主机|宿主机|系统|服务器|cpu).{0,2}内存"
)
_NOT_SAID = (
    r"[?？]\s*$|吗[。\s]*$|\b(?:if|whether|in case|unless)\b|^\W*(?:does|do|is|are|can|will|would|could)\b|如果|假如|一旦|是否|\bno (?:memory )?leak|not (?:a )?(?:memory )?leak|without (?:any |a )?(?:memory )?leak|\bfix(?:es|ed|ing)?\b.{0,60}leak|leak.{0,30}\b(?:is |was |been )?fixed"
    r"|(?:没有|无|修复|解决|排除|避免|不是|并非|不存在|未发现|未见).{0,10}[内显]存(?:泄|.{0,4}(?:增长|上涨))|leaked (?:shared_memory|semaphore|instance)|\b(?:to|can|will|would) (?:avoid|prevent|mitigate|work around)\b.{0,40}leak"
    r"|(?:does|do|did|is|was) ?(?:not|n't) (?:grow|increase|leak|rise)|does(?: not|n't) (?:grow|increase|leak)|stays? flat|remains? (?:flat|stable|constant)|保持平稳|趋于平稳|保持稳定"
    r"|\b(?:try|consider|by|for|when) increasing|(?:to|can|could|may|might|will|should) (?:increase|grow)|\bincrease (?:the|--|`)|working[_ ]set|page cache|buff/cache|\bvirt\b|页缓存"
    r"|(?:grows?|increases?|rises?|growing) (?:linearly |quadratically |proportionally )?with (?:the )?(?:batch|seq|context|number|max|pixel|image size|resolution|length|concurrency|model)"
    r"|(?:which|that|this|it|will|and) increases? (?:the )?(?:peak |host |device |npu |gpu )?memory|how (?:do|to|can)|如何|怎么(?:排查|定位|判断|查)|会不会|是否会|是否存在|definitely lost|valgrind|内存不足时|(?:in|during) the first (?:few |\d)|刚开始|前几分钟|最初几分钟|预热"
)
_KV = regex(r"kv[ _-]?(?:cache|block|缓存|块)", re.IGNORECASE | re.ASCII)
_DEVICE = regex(r"\bhbm\b|npu|device|gpu|显存|\bvram\b|\bsleep\b|休眠", re.IGNORECASE | re.ASCII)
_HOST = regex(r"\bhost\b|\bcpu\b|system|\brss\b|rssanon|\bres\b|\bram\b|主机|内存|server memory|resident", re.IGNORECASE | re.ASCII)
_PROCESSES = (
    (Who.MOONCAKE, regex(r"mooncake", re.IGNORECASE | re.ASCII)),
    (Who.GATEWAY, regex(r"gateway|\bproxy\b|网关|代理|load[ -]?balanc|负载均衡|\bnginx\b", re.IGNORECASE | re.ASCII)),
    (Who.ENGINE, regex(r"engine[ _]?core|VLLM::EngineCor", re.IGNORECASE | re.ASCII)),
    (Who.API, regex(r"api[ _-]?server", re.IGNORECASE | re.ASCII)),
    (Who.WORKER, regex(r"worker", re.IGNORECASE | re.ASCII)),
)
_CLAUSE = regex(r"[,;:，；。：!！]\s{0,4}|\.\s{1,4}| but | while | whereas |，?但|而(?=[A-Za-z])")
_DIFF = regex(r"[+-]\s{3,200}(?:#|//|/?\*)")
"""A comment in a change of source code."""
_LONGEST = 2000
_RESIDENT = 64.0
"""GiB of resident memory in `top` from which a worker is far beyond what it needs (173 GiB in the reference report)."""


def read(text: str) -> tuple[Where, Who] | None:
    """Which memory of which process a line says is growing; None if it does not say so. The first clause that says so counts."""
    text = text[:_LONGEST]
    if _DIFF.match(text):
        return None
    for clause in (*_CLAUSE.split(text), text):
        if (re.search(_ENGLISH, clause, _FLAGS) or re.search(_CHINESE, clause, _FLAGS)) and not re.search(_NOT_SAID, clause, _FLAGS):
            return _where(clause), _who(clause if _who(clause) is not Who.UNTOLD else text)
    return None


def _where(text: str) -> Where:
    return Where.KV if _KV.search(text) else Where.DEVICE if _DEVICE.search(text) else Where.HOST if _HOST.search(text) else Where.UNTOLD


def _who(text: str) -> Who:
    """The process that is named first: what follows is mostly what it is compared with."""
    named = [(found.start(), who) for who, pattern in _PROCESSES if (found := pattern.search(text))]
    return min(named, key=lambda item: item[0])[1] if named else Who.UNTOLD


def told(matches: Matches) -> tuple[Growth, ...]:
    """Every such sentence among the lines of the pattern `growth`. Raises Skip where there is no text."""
    if not matches.looked:
        raise Skip("no log was given")
    found = ((match, read(match.text)) for match in matches["growth"])
    return tuple(Growth(match, *said) for match, said in found if said is not None)


def of_host(growths: tuple[Growth, ...]) -> tuple[Growth, ...]:
    """Those that may be host memory of vLLM itself."""
    outside = (Who.GATEWAY, Who.MOONCAKE)
    return tuple(growth for growth in growths if growth.where in (Where.HOST, Where.UNTOLD) and growth.who not in outside)


def of_device(growths: tuple[Growth, ...]) -> tuple[Growth, ...]:
    """Those that may be NPU memory."""
    return tuple(growth for growth in growths if growth.where in (Where.DEVICE, Where.UNTOLD))


def speaks_of_device(matches: Matches) -> bool:
    """Whether memory that a report does not name is the NPU's; needs the patterns `device` and `host`."""
    return bool(matches["device"]) and not matches["host"]


def untold(growths: tuple[Growth, ...], matches: Matches) -> tuple[Growth, ...]:
    """Those of host memory, or of memory that is not named, where the text speaks of no growing NPU memory as well."""
    device = speaks_of_device(matches) or any(growth.where is Where.DEVICE for growth in growths)
    return tuple(growth for growth in of_host(growths) if growth.who is Who.UNTOLD and not (device and growth.where is Where.UNTOLD))


def swollen_workers(matches: Matches) -> tuple[Match, ...]:
    """Rows of `top` that show a worker far too big; needs the pattern `resident` with the group `res` in GiB."""
    rows = matches["resident"]
    return tuple(match for match in rows if float(match.groups.get("res", "0")) >= _RESIDENT)


def hit(
    evidence: tuple[Match, ...], said: str, confidence: Confidence, severity: Severity | None = None, wanted: str = "", basis: Basis = Basis.LOG
) -> Hit:
    """The finding for lines of one kind."""
    return Hit(
        found=said,
        wanted=wanted,
        evidence=(evidence_of(evidence),),
        confidence=confidence,
        severity=severity,
        basis=basis,
        position=evidence[0].ordinal + 1,
    )


def release(packages: Packages | None, name: str, wanted: str) -> str | None:
    """The installed version of the package if it lies in the range; None if not or not known."""
    version = packages.versions.get(name) if packages is not None else None
    return version if version is not None and satisfies(version, wanted, Scheme.PACKAGE) else None


def static(packages: Packages, name: str, said: str, wanted: str, severity: Severity = Severity.NOTE, confidence: Confidence = Confidence.SURE) -> Hit:
    """The finding from a version alone: nothing grows as far as the text tells."""
    version = packages.versions[name]
    source = Evidence(packages.source or "installed packages", f"{name} {version}", packages.lines.get(name, 0))
    return Hit(found=said, wanted=wanted, evidence=(source,), confidence=confidence, severity=severity)


def option(commands: ServeCommands | None, name: str) -> str:
    """All values of a serving option, joined; "" if it is not given or not known."""
    keyword = name.replace("-", "_")
    given = commands.commands if commands is not None else ()
    return " ".join(value for c in given for value in (c.flags.get(name), c.keywords.get(keyword)) if value is not None)


def observed(matches: Matches) -> tuple[Growth, ...]:
    """As `told`, but () where there is no text: for rules that can also decide by facts."""
    return told(matches) if matches.looked else ()


def lines(growths: tuple[Growth, ...]) -> tuple[Match, ...]:
    return tuple(growth.match for growth in growths)
