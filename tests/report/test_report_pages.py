"""The pages of `doctor explain`, and the lists."""

from __future__ import annotations

from dataclasses import replace

import pytest

from doctor.errorcodes import explain
from doctor.host import Probe
from doctor.locale import speaker
from doctor.report import listing, page
from doctor.report.style import Style
from doctor.rule import Decision, Signature
from tests.report.tiny import ENGINE_DIED, OLD_DRIVER, OUT_OF_STREAMS, SLOW, book, broken

RULES = book().rules


def rule_page(language: str = "en") -> list[str]:
    return list(page.rule_page(OUT_OF_STREAMS, language, Style()))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_page_has_its_headings_in_order(language: str) -> None:
    lines = rule_page(language)
    places = [lines.index(speaker(language)(heading)) for heading in page.HEADINGS]
    assert places == sorted(places)


def test_a_page_tells_the_fix_with_its_safety_and_where_to_read_on() -> None:
    text = "\n".join(rule_page())
    for wanted in ("Capture fewer graphs [with care", "https://example.org/streams", "demo-old-driver", "demo-streams", "no more streams, code 207008"):
        assert wanted in text


def test_what_a_rule_checks_is_told_even_where_its_file_does_not() -> None:
    silent = replace(OLD_DRIVER, checks=None)
    assert "driver.version: < 24.1.0" in "\n".join(page.rule_page(silent, "en", Style()))
    assert "The driver's version." in "\n".join(page.rule_page(OLD_DRIVER, "en", Style()))


def test_former_ids_are_found() -> None:
    assert page.find_rule("demo-streams", RULES) is OUT_OF_STREAMS
    assert page.find_rule("demo-stream", RULES) is None


def test_nearest_names() -> None:
    assert page.nearest("demo-old-drivers", RULES)[0] == "demo-old-driver"
    assert page.nearest("driver*", RULES) == ["demo-old-driver"]
    assert page.nearest("xyzzy", RULES) == []


def test_rules_that_deal_with_a_code() -> None:
    ranged = replace(SLOW, id="demo-ranged", decisions=(Decision(Signature((r"\b20700[78]\b",))),))
    assert page.mentions("207008", [*RULES.values(), ranged]) == ["demo-out-of-streams", "demo-ranged"]
    assert page.mentions("20700", RULES.values()) == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_code_s_page(language: str) -> None:
    entries = explain("207008")
    text = "\n".join(page.code_page(entries, RULES, ["demo-out-of-streams"], language, Style()))
    assert entries[0].meaning[language] in text
    assert OUT_OF_STREAMS.title[language] in text


def test_the_list_tells_what_each_rule_looks_at() -> None:
    told = listing.rule_json(OUT_OF_STREAMS, "en")
    assert (told["kind"], told["probe"], told["origin"]) == ("log", "passive", "built in")
    assert listing.probe(replace(OLD_DRIVER, decisions=(Decision(when={"npu.count": "> 0"}),))) is Probe.DEVICE
    assert listing.probe(broken()) is Probe.PASSIVE
    lines = list(listing.rule_lines([SLOW, ENGINE_DIED], "en", speaker("en"), Style()))
    assert [line.split()[0] for line in lines if line and not line.startswith(" ")][:2] == ["demo-engine-died", "demo-slow-disk"]


def test_fields_are_listed_with_their_order() -> None:
    lines = list(listing.field_lines(speaker("en")))
    assert any(line.split()[:2] == ["driver.version", "hdk"] for line in lines)
    assert any(line.split()[:2] == ["package.KEY", "package"] for line in lines)
