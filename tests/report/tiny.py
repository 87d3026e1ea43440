"""A tiny rule book, and examinations with it: what the tests of the report render."""

from __future__ import annotations

from collections.abc import Iterable

from doctor.examine import Examination, Selection, examine_text
from doctor.finding import Confidence, Hit, Severity
from doctor.fix import Fix, Safety, Show
from doctor.logscan.literals import required
from doctor.logscan.sources import text_chunk
from doctor.rule import Decision, Role, Rule, Signature
from doctor.rulebook import Problem, Rulebook, patterns_of
from doctor.words import Words


def same(text: str) -> Words:
    return Words(text, text)


OUT_OF_STREAMS = Rule(
    id="demo-out-of-streams",
    area="demo",
    severity=Severity.FAIL,
    title=Words("The streams ran out.", "stream 资源已耗尽。"),
    why=Words("Every graph takes streams.", "每个图都会占用 stream。"),
    decisions=(Decision(Signature(("no more streams, code 207008",)), confidence=Confidence.LIKELY),),
    explains=("demo-engine-died",),
    fixes=(
        Fix(
            "fewer-graphs",
            Words("Capture fewer graphs", "减少捕获的图"),
            Safety.ASK,
            (Show(Words("Stop the server.", "停止服务。")), Show(same("vllm serve MODEL --max-num-seqs 16")), Show(Words("Watch it.", "继续观察。"))),
            Words("It starts.", "服务能够启动。"),
        ),
    ),
    undecided=Words("The plog tells which stream it was.", "plog 会说明是哪个 stream。"),
    references=("https://example.org/streams",),
    related=("demo-old-driver",),
    formerly=("demo-streams",),
    example="no more streams, code 207008",
)
ENGINE_DIED = Rule(
    id="demo-engine-died",
    area="demo",
    severity=Severity.FAIL,
    title=Words("The engine died.", "引擎已退出。"),
    why=same("-"),
    role=Role.SYMPTOM,
    decisions=(Decision(Signature(("EngineCore died",))),),
)
SLOW = Rule(
    id="demo-slow-disk",
    area="disk",
    severity=Severity.WARN,
    title=Words("The disk is slow.", "磁盘很慢。"),
    why=same("-"),
    decisions=(Decision(Signature(("slow disk read",)), confidence=Confidence.POSSIBLE),),
)
OLD_DRIVER = Rule(
    id="demo-old-driver",
    area="driver",
    severity=Severity.FAIL,
    title=Words("The driver is too old.", "驱动过旧。"),
    why=same("-"),
    checks=Words("The driver's version.", "驱动版本。"),
    decisions=(Decision(when={"driver.version": "< 24.1.0"}),),
)


def _break(*_: object) -> Iterable[Hit]:
    raise ZeroDivisionError("a rule of the tests")


def broken() -> Rule:
    def judge() -> Iterable[Hit]:
        return _break()

    return Rule(id="demo-broken", area="demo", severity=Severity.FAIL, title=same("Broken."), why=same("-"), logic=judge)


def book(*rules: Rule, problems: tuple[Problem, ...] = ()) -> Rulebook:
    rules = rules or (OUT_OF_STREAMS, ENGINE_DIED, SLOW, OLD_DRIVER)
    return Rulebook({rule.id: rule for rule in rules}, {pattern: required(pattern) for rule in rules for pattern in patterns_of(rule)}, problems)


def examined(text: str, *rules: Rule, label: str = "serve.log", problems: tuple[Problem, ...] = ()) -> Examination:
    chunks = [text_chunk(text, label)] if text else []
    return examine_text(label, chunks, book(*rules, problems=problems), Selection())


SICK = "start\n(EngineCore_DP0 pid=7) ERROR no more streams, code 207008\nERROR EngineCore died\nslow disk read\n"
