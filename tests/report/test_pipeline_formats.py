"""The formats of pipelines: each read by a parser that such systems use, none telling another story than the exit code, no log able to forge anything."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from junitparser import Error, Failure, JUnitXml, Skipped
from markdown_it import MarkdownIt

from doctor.commands import params
from doctor.finding import Finding, Suppressed
from doctor.host import profiles
from doctor.report import formats, model, nagios
from doctor.report.entries import State, entries
from tests.report.test_report_formats import report
from tests.report.tiny import ENGINE_DIED, OLD_DRIVER, OUT_OF_STREAMS, SICK, SLOW, broken, examined

HOSTILE = (
    "no more streams, code 207008 ::error::forged [[ATTACHMENT|/etc/passwd]] <script>alert(1)</script> | cell | ```` # SKIP \x1b[31mred\x1b[0m "
    "\u202eevil %0A::warning::x ]]> &amp; \ufffe \x00\n::error::a line of the log\n[[ATTACHMENT|/etc/shadow]]\n"
)


def whole(text: str = SICK, fail_on: str = "fail", **changed: Any) -> model.Report:
    return replace(report(examined(text, OUT_OF_STREAMS, ENGINE_DIED, SLOW, OLD_DRIVER), fail_on=fail_on), **changed)


def rendered(name: str, told: model.Report | None = None) -> str:
    return formats.render(name, told or whole())


def junit(told: model.Report) -> dict[str, Any]:
    (suite,) = JUnitXml.fromstring(rendered("junit", told).encode())
    return {case.name: case for case in suite}


def test_the_command_line_names_every_format_and_profile() -> None:
    assert params.FORMATS == formats.NAMES
    assert params.PROFILES == profiles.PROFILES


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", list(formats.MODULES))
def test_every_format_names_the_cause_in_both_languages(name: str, language: str) -> None:
    text = formats.render(name, report(examined(SICK), language))
    assert "demo-out-of-streams" in text
    if name not in ("prometheus", "tap", "junit"):  # ids only, or the title beside other states
        assert {"en": "The streams ran out.", "zh": "stream 资源已耗尽。"}[language] in text


def test_junit_has_one_case_a_rule_and_counts_as_the_exit_code_does() -> None:
    cases = junit(whole())
    assert set(cases) == {"demo-out-of-streams", "demo-engine-died", "demo-slow-disk", "demo-old-driver"}
    assert isinstance(cases["demo-out-of-streams"].result[0], Failure)
    assert "serve.log:2" in cases["demo-out-of-streams"].result[0].text
    assert isinstance(cases["demo-old-driver"].result[0], Skipped)
    assert not cases["demo-slow-disk"].result and "The disk is slow" in cases["demo-slow-disk"].system_out
    assert not cases["demo-engine-died"].result and "demo-out-of-streams" in cases["demo-engine-died"].system_out


def test_junit_follows_fail_on() -> None:
    assert junit(whole(fail_on="warn"))["demo-slow-disk"].result
    assert not any(isinstance(result, Failure) for case in junit(whole(fail_on="never")).values() for result in case.result)


def test_a_broken_rule_and_an_unread_input_are_errors_in_junit() -> None:
    told = report(examined(SICK, OUT_OF_STREAMS, broken()), problems=("serve.log: cut off",))
    cases = junit(told)
    assert isinstance(cases["demo-broken"].result[0], Error)
    assert isinstance(cases["input 1"].result[0], Error)
    assert told.exit_code == 3


def test_junit_counts_in_its_head_what_its_cases_say() -> None:
    parsed = JUnitXml.fromstring(rendered("junit", report(examined(SICK, OUT_OF_STREAMS, SLOW, OLD_DRIVER, broken()))).encode())
    assert (parsed.tests, parsed.failures, parsed.errors, parsed.skipped) == (4, 1, 1, 1)


@pytest.mark.parametrize("name", list(formats.MODULES))
def test_no_log_forges_a_command_an_attachment_or_a_tag(name: str) -> None:
    text = formats.render(name, report(examined(HOSTILE, OUT_OF_STREAMS, SLOW)))
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u202e]", text)
    assert "[[ATTACHMENT" not in text or name != "junit"
    for line in text.split("\n"):
        assert not line.startswith("::") or line.startswith("::error title=FAIL demo-out-of-streams::") and name == "github"
    page = MarkdownIt("commonmark").enable("table").render(text) if name == "markdown" else text if name == "html" else ""
    assert not re.search("<(script|img|a|h1|h2) ?", page) or name == "html" and not re.search("<(script|img|a) ?", page)


def test_a_hostile_log_leaves_junit_and_sarif_readable() -> None:
    told = report(examined(HOSTILE, OUT_OF_STREAMS))
    assert "forged" in junit(told)["demo-out-of-streams"].result[0].text
    assert json.loads(rendered("sarif", told))["version"] == "2.1.0"


def test_a_cell_of_markdown_stays_one_cell() -> None:
    told = report(examined("no more streams, code 207008 | x | y\n", replace(OUT_OF_STREAMS, title=replace(OUT_OF_STREAMS.title, en="a | b\n| c"))))
    rows = [line for line in rendered("markdown", told).split("\n") if line.startswith("| FAIL")]
    assert len(rows) == 1
    assert len(re.findall(r"(?<!\\)\|", rows[0])) == 5


def test_a_fence_is_longer_than_any_run_of_backticks_in_it() -> None:
    lines = rendered("markdown", report(examined("no more streams, code 207008 `````\n", OUT_OF_STREAMS))).split("\n")
    (opened,) = [line for line in lines if line.endswith("text") and set(line[:-4]) == {"`"}]
    assert len(opened) - 4 > 5


def test_the_page_refers_to_nothing_remote_and_is_well_nested() -> None:
    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag not in ("script", "img", "link", "iframe", "a")
            assert not any(name in ("src", "href", "onclick") for name, _ in attrs)
            if tag not in ("meta", "br"):
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    reader = Reader()
    reader.feed(rendered("html", report(examined(HOSTILE, OUT_OF_STREAMS, OLD_DRIVER, broken()), problems=("<b>x",))))
    assert not reader.open


def test_sarif_levels_rules_and_places() -> None:
    log = json.loads(rendered("sarif"))["runs"][0]
    assert {rule["id"] for rule in log["tool"]["driver"]["rules"]} == {"demo-out-of-streams", "demo-engine-died", "demo-slow-disk", "demo-old-driver"}
    first = log["results"][0]
    assert (first["ruleId"], first["level"]) == ("demo-out-of-streams", "error")
    assert log["tool"]["driver"]["rules"][first["ruleIndex"]]["id"] == first["ruleId"]
    where = first["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": "serve.log"} and where["region"]["startLine"] == 2
    assert "no more streams, code 207008" in where["region"]["snippet"]["text"]
    told = log["tool"]["driver"]["rules"][first["ruleIndex"]]
    assert (told["name"], told["helpUri"]) == ("DemoOutOfStreams", "https://example.org/streams")


@pytest.mark.parametrize("source", ["/var/log/vllm.log", "../x.log", "a b.log", "-", "http://x/y"])
def test_what_is_no_file_of_a_repository_is_tied_to_the_configuration(source: str) -> None:
    entry = json.loads(rendered("gitlab", report(examined(SICK, OUT_OF_STREAMS, label=source))))[0]
    assert entry["location"] == {"path": "doctor.toml", "lines": {"begin": 1}}


def test_gitlab_has_what_code_quality_asks_for_with_marks_of_their_own() -> None:
    parsed = json.loads(rendered("gitlab"))
    assert [(entry["check_name"], entry["severity"], entry["location"]) for entry in parsed] == [
        ("demo-out-of-streams", "critical", {"path": "serve.log", "lines": {"begin": 2}}),
        ("demo-slow-disk", "major", {"path": "serve.log", "lines": {"begin": 4}}),
    ]
    assert len({entry["fingerprint"] for entry in parsed}) == len(parsed)
    again = json.loads(rendered("gitlab", report(examined("x\n" * 9 + SICK))))
    assert [entry["fingerprint"] for entry in again] == [entry["fingerprint"] for entry in parsed]


def test_tap_numbers_every_rule_and_says_why_one_was_skipped() -> None:
    lines = rendered("tap").split("\n")
    assert lines[:2] == ["TAP version 13", "1..4"]
    points = [line for line in lines if re.match(r"(not )?ok ", line)]
    assert [re.match(r"(?:not )?ok (\d+)", line).group(1) for line in points] == ["1", "2", "3", "4"]  # type: ignore[union-attr]
    assert sum(line.startswith("not ok") for line in points) == 1
    assert any("demo-old-driver # SKIP " in line for line in points)


def test_prometheus_gives_each_rule_a_number_and_the_exit_code() -> None:
    text = rendered("prometheus")
    assert 'doctor_rule_state{rule="demo-out-of-streams",area="demo"} 3\n' in text
    assert 'doctor_rule_state{rule="demo-old-driver",area="driver"} -2\n' in text
    assert "doctor_exit_code 1\n" in text
    assert "doctor_run_timestamp_seconds 1767225600\n" in text
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z]+=\"[^\"\\]*\",?)+\})? -?[0-9.]+", line)


@pytest.mark.parametrize(
    ("text", "fail_on", "code", "word"),
    [("quiet\n", "fail", 0, "OK"), ("slow disk read\n", "fail", 1, "WARNING"), (SICK, "never", 2, "CRITICAL")],
)
def test_nagios_has_codes_of_its_own(text: str, fail_on: str, code: int, word: str) -> None:
    told = whole(text, fail_on)
    assert nagios.code(told) == code
    line = rendered("nagios", told)
    assert line.startswith(f"DOCTOR {word} - ") and line.count("\n") == 1 and line.count("|") == 1


def test_nagios_says_unknown_where_doctor_could_not_do_its_work() -> None:
    assert nagios.code(report(examined("quiet\n", OUT_OF_STREAMS, broken()))) == 3


def suppressed() -> tuple[model.Report, Finding]:
    told = whole()
    first, *rest = told.examination.causes
    kept = replace(told.examination, causes=tuple(rest))
    item = Suppressed(first.finding, "doctor.toml", "known since May", "2027-01-31", first.symptoms)
    run = told.run
    return model.build(run, kept, told.host, (), "", (item,)), first.finding


def test_what_is_suppressed_is_told_apart_in_every_format_and_fails_none() -> None:
    told, finding = suppressed()
    assert told.exit_code == 0
    states = {entry.name: entry.state for entry in entries(told)}
    assert states[finding.rule] is State.SUPPRESSED
    assert states["demo-engine-died"] is State.SUPPRESSED
    for name in ("json", "junit", "sarif", "html", "tap"):
        assert "known since May" in formats.render(name, told), name
    assert isinstance(junit(told)[finding.rule].result[0], Skipped)
    assert json.loads(rendered("sarif", told))["runs"][0]["results"][-1]["suppressions"][0]["kind"] == "external"
    assert f'{{rule="{finding.rule}",area="demo"}} -1' in rendered("prometheus", told)


def test_annotations_beyond_what_github_shows_are_counted() -> None:
    rules = [replace(SLOW, id=f"demo-slow-{number}", area="demo") for number in range(13)]
    lines = rendered("github", report(examined("slow disk read\n", *rules))).splitlines()
    assert sum(line.startswith("::warning ") for line in lines) == 10
    assert lines[-1].endswith("(+3)")
