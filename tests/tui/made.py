"""A report of made-up rules, the same for ever: what the screens show of it does not change with the rules of the project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from doctor.checkup import FactSet
from doctor.diagnosis import diagnose
from doctor.examine import Examination
from doctor.facts import FixedFacts
from doctor.finding import Basis, Confidence, Evidence, Finding, Outcome, Severity, Verdict
from doctor.fix import Fix, Safety, Show
from doctor.logscan.scan import Scan
from doctor.report.model import HostSummary, Report, Run, TargetSummary, build
from doctor.rule import Decision, Role, Rule, Signature
from doctor.rulebook import Rulebook
from doctor.tui.watch import Watch
from doctor.words import Words

COMMAND = "sysctl -w vm.swappiness=10"


def _rule(name: str, severity: Severity, en: str, zh: str, **more: object) -> Rule:
    why = Words("A swapped-out worker stalls token generation for seconds.", "工作进程被换出后，生成会出现秒级停顿。")
    return Rule(name, name.partition("-")[0], severity, Words(en, zh), why, references=("https://example.org/notes",), **more)  # type: ignore[arg-type]


RULES = (
    _rule(
        "driver-too-old", Severity.FAIL, "The NPU driver is older than this CANN version needs.", "NPU 驱动版本低于当前 CANN 的要求。",
        explains=("serving-worker-died",), related=("cann-row",),
    ),
    _rule("host-swappiness", Severity.WARN, "The kernel swaps memory out too eagerly.", "内核过于积极地换出内存。"),
    _rule("npu-idle", Severity.NOTE, "The memory in use on idle NPUs is the normal base use.", "空闲 NPU 上的显存占用属正常基础占用。"),
    _rule("serving-worker-died", Severity.FAIL, "A worker process of vLLM died.", "vLLM 的一个工作进程退出了。", role=Role.SYMPTOM),
    _rule("cann-row", Severity.FAIL, "CANN is newer than the release was built for.", "CANN 比该发行版构建时所用的更新。"),
    _rule("hccl-link", Severity.FAIL, "A link between NPUs is down.", "NPU 之间的一条链路断开。", decisions=(Decision(Signature(("link down",))),)),
)  # fmt: skip

FIXES = {
    "driver-too-old": (
        Fix(
            "upgrade", Words("Upgrade the driver of the host", "升级主机驱动"), Safety.SHOW,
            (
                Show(Words("Stop every job on this host first.", "先停止本机所有任务。")),
                Show(Words("./Ascend-hdk-npu-driver_25.2.0_linux-aarch64.run --upgrade", "./Ascend-hdk-npu-driver_25.2.0_linux-aarch64.run --upgrade")),
            ),
            Words("version.info shows 25.2.0.", "version.info 显示 25.2.0。"),
        ),
    ),
    "host-swappiness": (Fix("lower", Words("Lower it", "调低"), Safety.SAFE, (Show(Words(COMMAND, COMMAND)),)),),
}  # fmt: skip


def finding(rule: Rule, subject: str = "", found: str = "24.1.rc3", wanted: str = "25.2.0 or newer") -> Finding:
    evidence = (Evidence("/usr/local/Ascend/driver/version.info", "Version=24.1.rc3", 1),)
    return Finding(
        rule.id, rule.severity, Confidence.SURE, rule.title, rule.why, subject, found, wanted, evidence, FIXES.get(rule.id, ()), basis=Basis.FACTS
    )


def book(rules: Sequence[Rule] = RULES) -> Rulebook:
    return Rulebook({rule.id: rule for rule in rules}, {})


def report(findings: Sequence[Finding] | None = None, rules: Sequence[Rule] = RULES) -> Report:
    """Three causes, a symptom of the first, one rule that passed, one that could not look; or the findings given."""
    by_id = {rule.id: rule for rule in rules}
    if findings is None:
        findings = [finding(rule) for rule in rules[:4]]
    verdicts = [Verdict(name, Outcome.FOUND, seconds=0.01, findings=tuple(f for f in findings if f.rule == name)) for name in dict.fromkeys(f.rule for f in findings)]
    found = {verdict.rule for verdict in verdicts}
    for name in by_id:
        if name not in found:
            skipped = name == "hccl-link"
            verdicts.append(Verdict(name, Outcome.SKIPPED if skipped else Outcome.CLEAR, "hccn_tool: denied (not root)" if skipped else "", 0.002))
    facts = FixedFacts()
    causes = diagnose(verdicts, by_id)
    examination = Examination("host", "atlas-01", facts, (FactSet("", facts),), tuple(verdicts), causes, book(rules), Scan(), 3.4)
    target = TargetSummary("/opt/venv/bin/python3", "PATH", "3.11.9", {"vllm-ascend": "0.11.0", "vllm": "0.11.0"})
    host = HostSummary("atlas-01", "host", "openEuler 22.03", "5.10.0", "aarch64", npu_present=True, npus=(("910B3", 8),), driver="24.1.rc3", cann="8.3.RC1", targets=(target,))
    return build(Run("check", "not a time"), examination, host)


@dataclass
class MadeJob:
    """A job whose report is known. `later` is what the second and further runs give."""

    first: Report
    later: Report | None = None
    label: str = "atlas-01"
    runs: int = 0
    asked: str = ""

    def run(self, watch: Watch, only: str = "") -> Report:
        self.runs, self.asked = self.runs + 1, only
        return self.first if self.runs == 1 or self.later is None else self.later


__all__ = ["COMMAND", "MadeJob", "RULES", "book", "finding", "report"]
