"""The report as one self-contained HTML page: nothing remote, no script, printable, light and dark; every text escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from doctor.diagnosis import Cause
from doctor.finding import Evidence, Outcome
from doctor.fix import Fix
from doctor.locale import Speak, speaker
from doctor.report import machine, skips
from doctor.report.model import Report
from doctor.report.style import short
from doctor.said import said
from doctor.text import clean

STYLE = """
:root{color-scheme:light dark;--fail:#b3261e;--warn:#8a5a00;--note:#0b57a4;--line:#8884}
@media(prefers-color-scheme:dark){:root{--fail:#ff8a80;--warn:#ffc04d;--note:#8ab4f8}}
body{font:16px/1.5 system-ui,"Noto Sans CJK SC","Microsoft YaHei",sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.3rem}h2{font-size:1.05rem;margin:0 0 .4rem}
section{border:1px solid var(--line);border-left:.4rem solid var(--line);border-radius:.3rem;padding:.8rem 1rem;margin:1rem 0;break-inside:avoid}
section.FAIL{border-left-color:var(--fail)}section.WARN{border-left-color:var(--warn)}section.NOTE{border-left-color:var(--note)}
.FAIL b.state{color:var(--fail)}.WARN b.state{color:var(--warn)}.NOTE b.state{color:var(--note)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:.4rem 0}dt{opacity:.7}dd{margin:0;overflow-wrap:anywhere}
pre{background:#8882;padding:.5rem .7rem;border-radius:.3rem;white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0}
footer{opacity:.8;margin:1.5rem 0}@media print{body{margin:0}}
"""


def render(report: Report) -> str:
    """The whole page."""
    speak, language = speaker(report.run.language), report.run.language
    return "".join(line + "\n" for line in _page(report, speak, language))


def _page(report: Report, speak: Speak, language: str) -> Iterator[str]:
    yield "<!DOCTYPE html>"
    yield f'<html lang="{"zh-CN" if language == "zh" else "en"}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f"<title>ascend-doctor: {text(report.host.label)}</title><style>{STYLE}</style></head><body>"
    yield f"<h1>ascend-doctor</h1><p>{text(machine.line(report, speak))}<br>{text(report.run.started)}</p>"
    for cause in report.examination.causes:
        yield from _cause(cause, speak, language)
    if not report.examination.causes:
        yield f"<p>{text(machine.nothing(report, speak))}</p>"
    if (error := report.examination.first_error) is not None:
        yield f"<section><h2>{text(speak('unknown_head'))}</h2>{_block(_seen(error.evidence))}</section>"
    yield "<footer>"
    for item in report.suppressed:
        yield f"<p>{text(speak('suppressed'))}: {text(item.finding.rule)}: {text(item.why(language))}</p>"
    skipped = [verdict for verdict in report.examination.verdicts if verdict.outcome is Outcome.SKIPPED]
    if skipped:
        reasons = "".join(f"<li>{text(reason)}</li>" for reason in skips.told(skipped, speak))
        yield f"<details><summary>{text(speak('skipped_head', count=len(skipped), rules=report.summary.rules))}</summary><ul>{reasons}</ul></details>"
    for verdict in report.examination.verdicts:
        if verdict.outcome is Outcome.BROKEN:
            yield f"<p><b>{text(speak('BROKEN'))}</b> {text(verdict.rule)}</p>{_block(verdict.why)}"
    yield from (f"<p><b>{text(speak('BROKEN'))}</b> {text(problem)}</p>" for problem in report.problems)
    yield f"<p>{text(machine.totals(report, speak))}</p></footer></body></html>"


def text(value: str) -> str:
    """Cleaned and escaped: the only way in which a text enters the page."""
    return escape(clean(value), quote=True)


def _cause(cause: Cause, speak: Speak, language: str) -> Iterator[str]:
    finding = cause.finding
    yield f'<section class="{finding.severity.name}"><h2><b class="state">{text(speak(finding.severity.name))}</b> {text(finding.title[language])}</h2><dl>'
    for key, value in (("subject", finding.subject), ("found", said(finding.found, language)), ("wanted", said(finding.wanted, language)), ("why", finding.why[language])):
        if value:
            yield f"<dt>{text(speak(key))}</dt><dd>{text(short(value, 1000))}</dd>"
    if finding.decide is not None:
        yield f"<dt>{text(speak('decide'))}</dt><dd>{text(finding.decide[language])}</dd>"
    if cause.symptoms:
        told = "<br>".join(f"{text(symptom.title[language])} [{text(symptom.rule)}]" for symptom in cause.symptoms)
        yield f"<dt>{text(speak('explains'))}</dt><dd>{told}</dd>"
    yield f"<dt>{text(speak('rule'))}</dt><dd>{text(finding.rule)}</dd></dl>"
    if finding.evidence:
        yield _block("\n".join(_seen(item) for item in finding.evidence[:10]))
    for fix in finding.fixes:
        yield from _fix(fix, speak, language)
    yield "</section>"


def _fix(fix: Fix, speak: Speak, language: str) -> Iterator[str]:
    yield f"<p><b>{text(speak('todo'))}</b> {text(fix.title[language])} <small>{text(speak(fix.safety.value))}</small></p>"
    for step in fix.steps:
        words = step.text
        yield _block(words.en) if words.en == words.zh else f"<p>{text(words[language])}</p>"
    if fix.verify is not None:
        yield f"<p>{text(speak('verify'))}: {text(fix.verify[language])}</p>"


def _seen(item: Evidence) -> str:
    return short(item.source, 200) + (f":{item.line}" if item.line else "") + "  " + short(item.text, 600)


def _block(lines: str) -> str:
    return f"<pre>{text(lines)}</pre>"


__all__ = ["render", "text"]
