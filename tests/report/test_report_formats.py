"""What a reader of the report relies on, as text and as JSON, in both languages and whatever a log holds."""

from __future__ import annotations

import json
import string
from typing import Any

import jsonschema
import pytest

from doctor.examine import Examination
from doctor.locale import language, words_of
from doctor.report import json_format, model, text_format
from doctor.report.envelope import envelope, error
from doctor.report.schema import text as schema_text
from doctor.report.style import Style, wrap
from doctor.rulebook import Problem
from doctor.text import cell_width, clean
from tests.report.tiny import ENGINE_DIED, OLD_DRIVER, OUT_OF_STREAMS, SICK, SLOW, broken, examined


def closed(schema: Any) -> Any:
    """The schema without room for keys that it does not name, so that a new key cannot be forgotten in it."""
    if isinstance(schema, dict):
        schema = {key: closed(value) for key, value in schema.items()}
        if "properties" in schema and isinstance(schema["properties"], dict):
            schema["additionalProperties"] = False
    return schema


CLOSED = jsonschema.Draft202012Validator(closed(json.loads(schema_text())))


def report(examination: Examination, language: str = "en", fail_on: str = "fail", problems: tuple[str, ...] = ()) -> model.Report:
    run = model.Run("log", "2026-01-01T00:00:00+00:00", language, fail_on=fail_on)
    return model.build(run, examination, model.summarise_host(examination), problems)


def as_json(whole: model.Report) -> Any:
    parsed = json.loads(json_format.render(whole))
    CLOSED.validate(parsed)
    return parsed


def as_text(whole: model.Report, detail: int = 0, width: int = 0) -> str:
    return text_format.render(whole, Style(width), detail)


def test_the_schema_is_a_valid_one() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_text()))


def test_the_json_tells_the_cause_first_with_its_symptoms_under_it() -> None:
    told = as_json(report(examined(SICK)))
    first = told["causes"][0]
    assert (first["rule"], first["severity"], first["confidence"]) == ("demo-out-of-streams", "fail", "likely")
    assert first["formerly"] == ["demo-streams"]
    assert [symptom["rule"] for symptom in first["symptoms"]] == ["demo-engine-died"]
    assert first["evidence"][0] | {"text": ""} == {"source": "serve.log", "line": 2, "text": "", "first": 2, "last": 2, "count": 1}
    assert first["fixes"][0]["steps"] == ["Stop the server.", "vllm serve MODEL --max-num-seqs 16", "Watch it."]
    assert first["decide"] == "The plog tells which stream it was."
    assert [cause["rule"] for cause in told["causes"]] == ["demo-out-of-streams", "demo-slow-disk"]


def test_the_json_counts_every_outcome() -> None:
    told = as_json(report(examined(SICK)))
    outcomes = [verdict["outcome"] for verdict in told["verdicts"]]
    assert told["summary"] | {"seconds": 0} == {
        "rules": 4, "clear": 0, "found": 3, "skipped": 1, "broken": 0, "fail": 1, "warn": 1, "note": 0, "causes": 2, "symptoms": 1, "seconds": 0,
    }  # fmt: skip
    assert sorted(outcomes) == ["found", "found", "found", "skipped"]
    assert next(verdict["why"] for verdict in told["verdicts"] if verdict["outcome"] == "skipped")


def test_the_json_speaks_the_chosen_language() -> None:
    told = as_json(report(examined(SICK), "zh"))
    assert told["causes"][0]["title"] == "stream 资源已耗尽。"
    assert told["causes"][0]["fixes"][0]["title"] == "减少捕获的图"


def test_facts_of_a_text_are_told_and_used() -> None:
    told = as_json(report(examined("driver version 23.0.6\nCANN version: 8.1.RC1\n" + SICK)))
    assert told["host"]["cann"] == "8.1.RC1"
    assert told["host"]["kind"] == "text"


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (SICK, "fail", 1),
        (SICK, "never", 0),
        ("slow disk read\n", "fail", 0),
        ("slow disk read\n", "warn", 1),
        ("slow disk read\n", "note", 1),
        ("all is well\n", "note", 0),
        ("", "never", 3),
    ],
)
def test_the_exit_code_follows_the_worst_cause(text: str, fail_on: str, code: int) -> None:
    whole = report(examined(text), fail_on=fail_on)
    assert whole.exit_code == code == as_json(whole)["run"]["exit_code"]


def test_a_broken_rule_outweighs_findings() -> None:
    whole = report(examined(SICK, OUT_OF_STREAMS, broken()))
    assert whole.exit_code == 3
    verdict = next(verdict for verdict in as_json(whole)["verdicts"] if verdict["outcome"] == "broken")
    assert "ZeroDivisionError" in verdict["why"]
    told = as_text(whole)
    assert "BROKEN" in told and "demo-broken" in told and "ZeroDivisionError: a rule of the tests" in told
    assert "Traceback" not in told and "Traceback" in as_text(whole, detail=1)


def test_a_rule_file_that_cannot_be_read_is_told() -> None:
    whole = report(examined(SICK, problems=(Problem("demo/x.yaml", "line 3: no"),)))
    assert whole.exit_code == 3
    assert "demo/x.yaml" in as_text(whole)
    as_json(whole)


def test_an_input_not_read_to_its_end_is_told() -> None:
    whole = report(examined(SICK), problems=("a.gz: damaged",))
    assert whole.exit_code == 3
    assert "a.gz: damaged" in as_text(whole)
    assert as_json(whole)["run"]["problems"] == ["a.gz: damaged"]


def test_the_text_has_everything_that_helps() -> None:
    told = as_text(report(examined(SICK)))
    first = told.index("1. FAIL (likely)  The streams ran out.")
    assert told.index("serve.log:2") > first
    for wanted in ("Every graph takes streams.", "The plog tells", "Capture fewer graphs [with care", "It starts.", "The engine died. [demo-engine-died]"):
        assert wanted in told
    assert "doctor explain demo-out-of-streams" in told
    assert told.index("2. WARN (possible, not certain)  The disk is slow.") > first
    assert "1 FAIL, 1 WARN, 0 NOTE" in told


def test_commands_stand_alone_on_their_lines_and_are_never_wrapped() -> None:
    for width in (0, 40):
        lines = as_text(report(examined(SICK)), width=width).splitlines()
        assert "vllm serve MODEL --max-num-seqs 16" in [line.strip() for line in lines]
    assert any(line.strip() == "1. Stop the server." for line in lines) and any(line.strip() == "2. Watch it." for line in lines)


def test_quiet_is_one_line_a_cause() -> None:
    told = as_text(report(examined(SICK)), detail=-1)
    assert told.splitlines() == ["FAIL  demo-out-of-streams: The streams ran out.", "WARN  demo-slow-disk: The disk is slow."]


def test_several_possible_causes_are_told_as_such() -> None:
    from dataclasses import replace

    other = replace(SLOW, id="demo-other", title=SLOW.title)
    assert "Several causes are possible" in as_text(report(examined("slow disk read\n", SLOW, other)))
    assert "Several causes are possible" not in as_text(report(examined(SICK)))


def test_healthy_text_gives_one_plain_sentence() -> None:
    told = as_text(report(examined("all is well\n")))
    assert "Nothing found in 1 lines" in told and "FAIL  " not in told


def test_where_nothing_could_be_looked_at_no_health_is_claimed() -> None:
    assert "the text is empty" in as_text(report(examined("")))
    told = as_text(report(examined("no versions here\n", OLD_DRIVER)))
    assert "Nothing in this text could be looked at" in told
    assert "the text does not tell: " in told and "Nothing found" not in told


def test_verbose_names_each_skipped_rule() -> None:
    whole = report(examined("no versions here\n", OLD_DRIVER))
    assert "demo-old-driver" not in as_text(whole)
    assert "demo-old-driver: " in as_text(whole, detail=1)


HOSTILE = "no more streams, code 207008 [/nope] [bold] {x} %s \x1b[31mred\x1b[0m \x9b2J \u202eabc\u200b \x00 \x07 end"


def test_hostile_text_is_shown_harmless() -> None:
    whole = report(examined(HOSTILE + "\n", OUT_OF_STREAMS, label="evil\x1b]0;title\x07.log"))
    for told in (as_text(whole), as_text(whole, width=50), json_format.render(whole)):
        assert clean(told) == told
        assert "[/nope]" in told
    assert "{x} %s" in as_text(whole)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [40, 47, 80])
def test_prose_fits_the_terminal(lang: str, width: int) -> None:
    """Commands are the exception: they stay whole for copying."""
    told = as_text(report(examined(SICK), lang), width=width)
    long = [line for line in told.splitlines() if cell_width(line) > width and "vllm serve" not in line]
    assert long == []


@pytest.mark.parametrize("cells", range(12, 40))
def test_a_latin_word_is_not_torn_by_the_chinese_mark_behind_it(cells: int) -> None:
    text = "驱动版本低于CANN，先升级（HDK）。再检查torch_npu；重启vLLM！"
    parts = list(wrap(text, cells))
    assert "".join(parts) == text and all(cell_width(part) <= cells for part in parts)
    assert not any(part[0] in "，。；！）" for part in parts)
    for before, after in zip(parts, parts[1:], strict=False):
        assert not (before[-1].isascii() and after[0].isascii()), (before, after)


def test_where_a_word_fills_the_line_the_mark_begins_the_next() -> None:
    assert list(wrap("ABCDEFGHIJKL，请升级", 12)) == ["ABCDEFGHIJKL", "，请升级"]


def test_an_opening_bracket_goes_with_what_it_opens() -> None:
    assert list(wrap("目标版本为二十六（至少二十五）", 18)) == ["目标版本为二十六", "（至少二十五）"]
    assert "".join(wrap("目标版本（（（（（（（（（（", 18)) == "目标版本（（（（（（（（（（"


def test_wrapping_loses_nothing_and_starts_no_line_with_a_mark() -> None:
    text = "每个图都会占用 stream，因此捕获的图越多，可用的 stream 就越少；请减少捕获的图。" * 3
    parts = list(wrap(text, 21))
    assert "".join(parts).replace(" ", "") == text.replace(" ", "")
    assert not [part for part in parts if part[0] in "，。；"]
    assert "".join(wrap("x" * 100, 30)) == "x" * 100


def test_colour_only_where_a_terminal_shows_it() -> None:
    assert not Style.of({}, 0, allowed=True).colour
    assert Style.of({"TERM": "xterm"}, 80, allowed=True).colour
    assert not Style.of({"TERM": "xterm"}, 80, allowed=False).colour
    assert not Style.of({"TERM": "xterm", "NO_COLOR": "1"}, 80, allowed=True).colour
    assert not Style.of({"TERM": "dumb"}, 80, allowed=True).colour
    assert not Style.of({}, 80, allowed=True).colour
    whole = report(examined(SICK))
    coloured = text_format.render(whole, Style(80, True))
    assert coloured != clean(coloured) == text_format.render(whole, Style(80, False))


def test_both_languages_have_the_same_words_and_places() -> None:
    english, chinese = words_of("en"), words_of("zh")
    assert english.keys() == chinese.keys()
    for key in english:
        assert places(english[key]) == places(chinese[key]), key


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_the_language_is_asked_for_or_the_locale_s() -> None:
    assert language("zh", {"LANG": "en_US.UTF-8"}) == "zh"
    assert language(None, {"LANG": "zh_CN.UTF-8"}) == "zh"
    assert language(None, {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}) == "en"
    assert language(None, {"LC_MESSAGES": "zh_CN", "LANG": "en_US"}) == "zh"
    assert language(None, {}) == "en"


def test_an_error_is_a_whole_output() -> None:
    told = json.loads(error("usage", "no \x1b[31m", "check", "", "zh", 2))
    CLOSED.validate(told)
    assert told["error"] == {"kind": "usage", "message": "no "}
    assert told["causes"] == [] and told["run"]["exit_code"] == 2


def test_an_empty_envelope_has_the_summary_of_a_report() -> None:
    assert envelope("check")["summary"].keys() == as_json(report(examined(SICK, ENGINE_DIED)))["summary"].keys()
