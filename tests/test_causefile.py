"""Cause files: what is accepted, and that everything else is refused with the file, the line and the reason."""

from __future__ import annotations

import pytest

from doctor import causefile
from doctor.finding import Confidence, Severity
from doctor.fix import Safety
from doctor.rule import Near

GOOD = """\
id: host-example-cause
severity: warn
title: {en: A title., zh: 标题。}
why: {en: A reason., zh: 原因。}
decide:
- log: ['first pattern', 'second pattern']
  near: [{log: 'around it', lines: 5}]
  unless: ['harmless form']
  when: {sysctl.vm.swappiness: '> 10'}
  confidence: likely
  unknown: possible
explains: [host-other-cause]
fixes:
- id: do-it
  title: {en: Do it, zh: 执行}
  safety: ask
  steps: [sysctl -w vm.swappiness=1, {en: Restart., zh: 重启。}]
"""


def read(text: str) -> object:
    return causefile.build(causefile.parse(text, "host/x.yaml"), "host", "host/x.yaml")


def test_a_whole_file_is_read() -> None:
    rule = causefile.build(causefile.parse(GOOD, "host/x.yaml"), "host", "host/x.yaml")
    assert (rule.id, rule.area, rule.severity, rule.kind) == ("host-example-cause", "host", Severity.WARN, "facts and log")
    decision = rule.decisions[0]
    assert decision.signature is not None
    assert decision.signature.patterns == ("first pattern", "second pattern")
    assert decision.signature.near == (Near(("around it",), 5),)
    assert decision.signature.unless == (Near(("harmless form",), 0),)
    assert (decision.confidence, decision.unknown) == (Confidence.LIKELY, Confidence.POSSIBLE)
    assert rule.fixes[0].safety is Safety.ASK
    assert [step.text["zh"] for step in rule.fixes[0].steps] == ["sysctl -w vm.swappiness=1", "重启。"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("severity: warn", "severity: warn\nseverity: fail"), "host/x.yaml:3: the key 'severity' is there twice"),
        (("severity: warn", "severity: warn\nsevrity: fail"), "host/x.yaml:3: unknown key 'sevrity'"),
        (("title: {en: A title., zh: 标题。}", "title: &t {en: A title., zh: 标题。}"), "host/x.yaml:3: aliases, anchors and tags"),
        (("title: {en: A title., zh: 标题。}", "title: !!python/name:os.system {}"), "host/x.yaml:3: aliases, anchors and tags"),
        (("title: {en: A title., zh: 标题。}", "title: {en: A title.}"), "exactly `en` and `zh`"),
        (("why: {en: A reason., zh: 原因。}\n", ""), "the key 'why' is missing"),
        (("id: host-example-cause", "id: Host_Example"), "is not kebab case"),
        (("severity: warn", "severity: terrible"), "'TERRIBLE' is missing or not a known word"),
        (("safety: ask", "safety: maybe"), "'maybe' is not a valid Safety"),
        (("  unknown: possible", "  unknwon: possible"), "unknown key 'unknwon'"),
        (("lines: 5", "lines: five"), "invalid literal"),
        (("steps: [", "steps: {"), "not YAML"),
    ],
)
def test_what_is_wrong_is_said(change: tuple[str, str], said: str) -> None:
    text = GOOD.replace(*change)
    assert text != GOOD
    with pytest.raises(causefile.CauseFileError) as problem:
        read(text)
    assert said in str(problem.value)
    assert str(problem.value).startswith("host/x.yaml")


@pytest.mark.parametrize("text", ["", "[]", "just words", "a: b: c", "\x00", "{" * 5000, "- " * 5000, "? [a]\n: b"])
def test_nothing_but_a_cause_file_error_is_raised(text: str) -> None:
    with pytest.raises(causefile.CauseFileError):
        read(text)
