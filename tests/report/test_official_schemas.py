"""SARIF, JUnit and Code Quality against the schemas that others read them by: every recorded host, reports, hostile text, baselines, both languages."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import xmlschema

from doctor.examine import Examination
from doctor.finding import Severity
from doctor.policy import Policy, Suppression, judge, read_baseline, write_baseline
from doctor.report import formats, model
from tests.fixture_cases import folders, run_host, run_text
from tests.report.test_pipeline_formats import HOSTILE
from tests.report.tiny import ENGINE_DIED, OLD_DRIVER, OUT_OF_STREAMS, SICK, SLOW, broken, examined

SCHEMAS = Path(os.environ.get("ASCEND_DOCTOR_SCHEMAS") or Path(__file__).resolve().parents[2].parent / "shared" / "schemas")
"""A folder with `sarif-2.1.0.json` (OASIS) and `junit-10.xsd` (Jenkins' xunit plugin). They are not part of this project."""
EVERY = 16
"""Of the reports of fixtures one in so many: they are alike in form, and each is examined with every rule."""

CODE_QUALITY = {
    "$comment": "The fields of https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format, read on 2026-11-30.",
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "pattern": "^[a-z0-9-]+$"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f-]{16,}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "minLength": 1, "not": {"pattern": r"^(/|\./|.*\.\./)"}},
                    "lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}, "additionalProperties": False},
                },
                "additionalProperties": False,
            },
        },
        "additionalProperties": False,
    },
}


def _file(name: str) -> Path:
    path = SCHEMAS / name
    if not path.is_file():
        pytest.skip(f"no {name} in {SCHEMAS}: ASCEND_DOCTOR_SCHEMAS names the folder of the official schemas")
    return path


@cache
def _sarif() -> Any:
    schema = json.loads(_file("sarif-2.1.0.json").read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


@cache
def _junit() -> Any:
    return xmlschema.XMLSchema10(str(_file("junit-10.xsd")))


_LOOKED_AT: set[str] = set()


def sarif(text: str) -> None:
    """Every report holds the same hundreds of rules: what was looked at in an earlier one is not looked at again."""
    whole = json.loads(text)
    (run,) = whole["runs"]
    driver = run["tool"]["driver"]
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids)
    for result in run["results"]:  # what a schema cannot say: the index is that of the rule
        assert "ruleIndex" not in result or ids[result["ruleIndex"]] == result["ruleId"]
    driver["rules"] = [rule for rule in driver["rules"] if json.dumps(rule) not in _LOOKED_AT]
    _sarif().validate(whole)
    _LOOKED_AT.update(map(json.dumps, driver["rules"]))


def junit(text: str) -> None:
    _junit().validate(text)


def gitlab(text: str) -> None:
    entries = json.loads(text)
    jsonschema.Draft202012Validator(CODE_QUALITY).validate(entries)
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)


FORMATS: dict[str, Callable[[str], None]] = {"sarif": sarif, "junit": junit, "gitlab": gitlab}


def reported(examination: Examination, language: str, policy: Policy = Policy(), problems: tuple[str, ...] = ()) -> model.Report:  # noqa: B008  frozen
    kept, suppressed = judge(examination, policy, date(2026, 11, 30))
    run = model.Run("check", "2026-11-30T10:11:12+00:00", language, fail_on="warn")
    return model.build(run, kept, model.summarise_host(kept), problems, suppressed=suppressed)


def _reports() -> Iterator[tuple[str, Callable[[], Examination], Policy, tuple[str, ...]]]:
    """(name, examination, what the site decided, inputs that could not be read)."""
    known = Policy(suppressions=(Suppression("*", 'known: <b>"&"</b> ]]> \x1b[31m', until=date(2027, 1, 31)),), origin="doctor.toml")
    for folder in folders("hosts"):
        yield f"host {folder.name}", lambda folder=folder: _host(folder), Policy(), ()  # type: ignore[misc]
        yield f"host {folder.name} with a baseline", lambda folder=folder: _host(folder), _baseline(folder), ()  # type: ignore[misc]
    for folder in folders("reports")[::EVERY]:
        text = (folder / "input.txt").read_text(encoding="utf-8", errors="replace")
        yield f"report {folder.name}", lambda text=text: run_text(text), Policy(), ()  # type: ignore[misc]
    rules = (OUT_OF_STREAMS, ENGINE_DIED, SLOW, OLD_DRIVER)
    yield "a rule that broke", lambda: examined(SICK, *rules, broken()), Policy(), ("serve.log: \x00 cut off ]]>",)
    yield "suppressed", lambda: examined(SICK, *rules), known, ()
    yield "severities of a site", lambda: examined(SICK, *rules), Policy(severities={"*": Severity.NOTE}), ()
    yield "hostile", lambda: examined(HOSTILE, *rules, label="a b\n%00<&\"'>\u202e[[x]].log"), Policy(), ("\ud800 <![CDATA[",)
    yield "hostile and suppressed", lambda: examined(HOSTILE, *rules, label="://#?é/../x"), known, ()
    yield "nothing found", lambda: examined("all quiet\n", *rules), Policy(), ()
    yield "a second finding of one rule", lambda: examined(SICK, *(replace(SLOW, id=name) for name in ("demo-one", "demo-two"))), Policy(), ()


@cache
def _host(folder: Path) -> Examination:
    return run_host(folder)


def _baseline(folder: Path) -> Policy:
    """Every second cause of that host is known."""
    return Policy(baseline=read_baseline(write_baseline(_host(folder).causes[::2], "0")), baseline_origin="doctor-baseline.json")


@pytest.fixture(scope="module")
def reports() -> list[tuple[str, model.Report]]:
    """In the two languages by turns."""
    languages = itertools.cycle(("en", "zh"))
    return [
        (f"{name} ({language})", reported(examination(), language, policy, problems))
        for (name, examination, policy, problems), language in zip(_reports(), languages, strict=False)
    ]


@pytest.mark.parametrize("name", list(FORMATS))
def test_it_is_what_its_schema_wants(name: str, reports: list[tuple[str, model.Report]]) -> None:
    wrong = []
    for label, report in reports:
        try:
            FORMATS[name](formats.render(name, report))
        except (jsonschema.ValidationError, xmlschema.XMLSchemaException, ValueError, AssertionError) as problem:
            wrong.append(f"{label}: {str(problem)[:2000]}")
    assert not wrong, "\n".join(wrong)


def test_the_reports_hold_what_is_hard_to_tell(reports: list[tuple[str, model.Report]]) -> None:
    assert sum(bool(report.suppressed) for _, report in reports) > 6
    assert sum(len(report.examination.causes) > 1 for _, report in reports) > 6


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sarif", '{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x", "rules": []}}, "results": [{"message": {}}]}]}'),
        ("junit", '<testsuites><testsuite name="x" tests="0"/></testsuites>'),
        ("gitlab", '[{"description": "x", "check_name": "a", "fingerprint": "0123456789abcdef", "severity": "fatal", "location": {"path": "a", "lines": {"begin": 1}}}]'),
    ],
)
def test_what_is_wrong_is_told(name: str, text: str) -> None:
    """The schemas are looked at, not passed over."""
    with pytest.raises((jsonschema.ValidationError, xmlschema.XMLSchemaException)):
        FORMATS[name](text)
