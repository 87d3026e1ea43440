"""JUnit XML, as GitLab, Jenkins, GitHub's actions and Azure read it: one test case a rule, its name unique, its state never better than the exit code.

What GitLab shows: `classname` as the suite, `name`, `time`, and the *text* of `failure`, `error` and `skipped`; a duplicate name would be
dropped. A finding below `--fail-on` passes and stands in `system-out`. `[[ATTACHMENT|path]]` would link a file of the runner from a log's
text: the brackets are broken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

from doctor.locale import Speak, speaker
from doctor.report.entries import Entry, State, entries, parts
from doctor.report.model import Report
from doctor.text import clean, clean_line

_NOT_XML = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped (section 2.2 of the recommendation)."""


def render(report: Report) -> str:
    """The whole document, as text that is to be written in UTF-8."""
    language, speak, found = report.run.language, speaker(report.run.language), entries(report)
    label = _safe(clean_line(report.host.label) or "host")
    suite = ElementTree.Element("testsuite", name=f"ascend-doctor: {label}", timestamp=report.run.started.removesuffix("+00:00"), hostname=label)
    for entry in found:
        suite.append(_case(entry, language, speak))
    for number, problem in enumerate(report.problems, 1):
        case = ElementTree.SubElement(suite, "testcase", classname="doctor.input", name=f"input {number}", time="0.000")
        _child(case, "error", clean(problem))
    for kind in ("failure", "error", "skipped"):
        suite.set({"failure": "failures", "error": "errors"}.get(kind, kind), str(sum(case.find(kind) is not None for case in suite)))
    suite.set("tests", str(len(suite)))
    suite.set("time", f"{report.examination.seconds:.3f}")
    suites = ElementTree.Element("testsuites", {key: suite.attrib[key] for key in ("tests", "failures", "errors", "time")}, name="ascend-doctor")
    suites.append(suite)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _case(entry: Entry, language: str, speak: Speak) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=f"doctor.{entry.area or 'rules'}", name=entry.name, time=f"{entry.seconds:.3f}")
    if entry.state is State.BROKEN:
        _child(case, "error", entry.why)
    elif entry.state in (State.SKIP, State.SUPPRESSED):
        _child(case, "skipped", entry.why)
    elif entry.told:
        text = "\n\n".join(_told(entry, language, speak))
        _child(case, "failure", text, entry.state.value) if entry.counts else _text(case, "system-out", text)
    return case


def _told(entry: Entry, language: str, speak: Speak) -> Iterator[str]:
    for item in entry.told:
        lines = [f"{item.severity.name}: {clean_line(item.finding.title[language])}"]
        lines += [f"{label}: {text}" for label, text in parts(item.finding, language, speak)]
        if item.cause:
            lines.append(f"{speak('follows_from')}: {item.cause}")
        yield "\n".join(lines)


def _child(case: ElementTree.Element, kind: str, text: str, label: str = "") -> None:
    child = _text(case, kind, text)
    child.set("message", child.text.split("\n")[0][:300] if child.text else kind)
    if kind != "skipped":
        child.set("type", label or "BROKEN")


def _text(case: ElementTree.Element, kind: str, text: str) -> ElementTree.Element:
    child = ElementTree.SubElement(case, kind)
    child.text = _safe(text)
    return child


def _safe(text: str) -> str:
    return _NOT_XML.sub("", clean(text)).replace("[[", "[ [")


__all__ = ["render"]
