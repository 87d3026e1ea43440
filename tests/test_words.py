"""The words of every cause: both languages, fillable names, safe commands. What a reader under pressure must be able to rely on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from doctor import values
from doctor.finding import Finding
from doctor.fix import Fix, Safety
from doctor.rule import Rule
from doctor.values import told
from doctor.words import Words
from tests.fixture_cases import SmallCase, book, examine, small_cases

HAN = re.compile(r"[一-鿿]")
NAME = re.compile(r"<([a-z][a-z0-9_]*)>")
FOR_THE_READER = {
    "args", "code", "device", "dir", "disk", "draft_max_position_embeddings", "file", "folder", "head", "ids", "kernel", "library", "mirror",
    "mount", "n", "name", "old_kernel", "original", "path", "pid", "pod", "service_user", "share", "source", "suffix", "tag", "time", "tokens",
    "unit", "user", "version", "vir04",
}  # fmt: skip
"""Names that only the person at the machine can fill in; a rule may fill them, but a step may show them as they are."""


def _rules() -> list[Rule]:
    return [rule for _, rule in sorted(book().rules.items())]


def _prose(rule: Rule) -> Iterator[tuple[str, Words]]:
    """What is always a sentence or a phrase, never a bare command."""
    yield "title", rule.title
    yield "why", rule.why
    if rule.checks:
        yield "checks", rule.checks
    for fix in rule.fixes:
        yield f"{fix.id}: title", fix.title
        if fix.verify:
            yield f"{fix.id}: verify", fix.verify


def _all(rule: Rule) -> Iterator[tuple[str, Words]]:
    yield from _prose(rule)
    if rule.undecided:
        yield "undecided", rule.undecided
    yield from ((f"{fix.id}: step {number}", step.text) for fix in rule.fixes for number, step in enumerate(fix.steps))


def _complaints(pattern: re.Pattern[str], language: str) -> list[str]:
    return [f"{rule.id}: {where}: {words[language]}" for rule in _rules() for where, words in _all(rule) if pattern.search(words[language])]


def test_every_text_is_there_in_both_languages() -> None:
    assert [f"{rule.id}: {where}" for rule in _rules() for where, words in _all(rule) if not words.en or not words.zh] == []


def test_titles_and_reasons_are_chinese_in_chinese_and_nothing_english_is() -> None:
    told_in_english = [(rule.id, words.zh) for rule in _rules() for words in (rule.title, rule.why) if not HAN.search(words.zh)]
    assert told_in_english == []
    assert [(rule.id, where, words.en) for rule in _rules() for where, words in _all(rule) if HAN.search(words.en)] == []


# A verification may be what a tool prints, the same in both languages; it then is no sentence.
def test_prose_differs_between_the_languages() -> None:
    same = [f"{rule.id}: {where}: {words.en}" for rule in _rules() for where, words in _prose(rule) if words.en == words.zh]
    assert [line for line in same if "verify" not in line or line.endswith(".")] == []


def test_a_step_that_is_a_sentence_is_told_in_chinese_too() -> None:
    sentence = re.compile(r"^[A-Z][a-z]+ [a-z].*\.$")
    assert [(rule.id, words.en) for rule in _rules() for _, words in _all(rule) if words.en == words.zh and sentence.search(words.en)] == []


def test_chinese_sentences_have_chinese_punctuation() -> None:
    assert _complaints(re.compile(r"[一-鿿][,;:!?](?!\d)|[,;!?][一-鿿]|[一-鿿]\(|\)[一-鿿]|[一-鿿] “|” [一-鿿]"), "zh") == []


def test_titles_are_sentences_that_fit_a_line_and_fixes_are_none() -> None:
    assert [rule.id for rule in _rules() if not rule.title.en.endswith(".") or not rule.title.zh.endswith("。")] == []
    assert [rule.id for rule in _rules() if len(rule.title.en) > 120 or len(rule.title.zh) > 60] == []
    assert [(rule.id, fix.id) for rule in _rules() for fix in rule.fixes if fix.title.en.endswith(".") or fix.title.zh.endswith("。")] == []


@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_unfinished_is_left(language: str) -> None:
    assert _complaints(re.compile(r"TODO|FIXME|FAIL when|<tool>|\(proposal\)|XXX"), language) == []


def test_every_fix_says_how_to_see_that_it_worked() -> None:
    assert [(rule.id, fix.id) for rule in _rules() for fix in rule.fixes if fix.verify is None] == []


def test_references_name_a_page_or_a_public_source() -> None:
    public = re.compile(r"https://\S+$|[A-Za-z][\w.-]*(?:/[\w.-]+)?(?:@\w+)?[^:]*: ?\S|[A-Za-z][\w.-]+/[\w.-]+@?\w* \S+")
    assert [(rule.id, text) for rule in _rules() for text in rule.references if not public.match(text) or "real run" in text] == []


# --- names -----------------------------------------------------------------------------------------------------------------------------


def _groups(rule: Rule) -> set[str]:
    patterns = [text for decision in rule.decisions if decision.signature for text in decision.signature.patterns]
    patterns += [text for texts in rule.patterns.values() for text in texts]
    return {name for text in patterns for name in re.compile(text).groupindex}


def _filled_by_logic(rule: Rule) -> str:
    module = Path(__file__).parent.parent / "rules" / rule.area / f"{rule.id.replace('-', '_')}.py"
    return module.read_text(encoding="utf-8") if module.exists() else ""


def test_every_name_in_words_can_be_filled_in_by_somebody() -> None:
    usual = {*values._READERS, *values._UNKNOWN, *FOR_THE_READER}
    unknown = []
    for rule in _rules():
        names = {name for _, words in _all(rule) for name in NAME.findall(words.en + words.zh)} - usual - _groups(rule)
        unknown += [(rule.id, name) for name in names if not re.search(rf"\b{name}\b", _filled_by_logic(rule))]
    assert unknown == []


def _firing() -> list[SmallCase]:
    """The cases in which a title or a reason with a name in it is shown."""
    named = {rule.id for rule in _rules() if NAME.search(rule.title.en + rule.title.zh + rule.why.en + rule.why.zh)}
    return [case for case in small_cases() if case.expect == "fires" and case.rule in named]


@pytest.mark.parametrize("case", _firing(), ids=str)
def test_no_raw_name_is_left_in_a_title(case: SmallCase, tmp_path: Path) -> None:
    findings: list[Finding] = [finding for verdict in examine(case, tmp_path).verdicts for finding in verdict.findings]
    assert findings
    shown = [text for finding in findings for words in (finding.title, finding.why) for text in (words.en, words.zh)]
    assert [text for text in shown if NAME.search(text)] == []


def test_what_nothing_told_is_named_as_a_reader_understands_it() -> None:
    assert told(Words("install CANN <row_cann>", "安装 CANN <row_cann>")) == Words(
        "install CANN <CANN of your vllm-ascend>", "安装 CANN <vllm-ascend 配套的 CANN>"
    )


def test_a_command_stays_the_same_in_both_languages() -> None:
    command = told(Words("source <toolkit>/set_env.sh", "source <toolkit>/set_env.sh"))
    assert command.en == command.zh == "source <CANN folder>/set_env.sh"


def test_a_name_for_the_reader_stays() -> None:
    assert told(Words("kill <pid>", "kill <pid>")) == Words("kill <pid>", "kill <pid>")


def test_a_model_is_not_told_as_an_npu() -> None:
    rule = next(rule for rule in _rules() if rule.id == "model-weights-incomplete-or-corrupt")
    shown = [told(words) for _, words in _all(rule)]
    assert not [words for words in shown if "<NPU id>" in words.en or "<NPU 编号>" in words.zh]
    assert any("--model <name on the hub>" in words.en for words in shown)


# --- commands --------------------------------------------------------------------------------------------------------------------------

ONLY_SHOWN = re.compile(
    r"\breboot\b(?! afterwards)|set -t reset|npu-(?:driver|firmware)_\S+\.run|grubby|kernel command line|privileged=true|-tls -s|-ip -s|-cfg recovery",
    re.IGNORECASE,
)
NEEDS_A_RESTART = re.compile(r"(?:^|\s)--[a-z]+-[a-z-]+|[Rr]estart|systemctl (?:re)?start|pip (?:un)?install|docker run|apt-get|kill -")
HAZARDS = re.compile(
    r"(?:curl|wget)[^\n|]*\|\s*(?:sudo )?(?:ba|z|da)?sh\b|\bpkill\b|\bkillall\b|rm -\w*r\w* \S*[$<*]|chmod -?R? ?777|> ?/dev/sd|docker system prune"
    r"|kill -9 -1|mkfs|--force-all"
)


def _commands(fix: Fix) -> str:
    return "\n".join(step.text.en for step in fix.steps)


def test_what_may_end_a_machine_is_only_shown() -> None:
    bold = [
        (rule.id, fix.id) for rule in _rules() for fix in rule.fixes if fix.safety is not Safety.SHOW and ONLY_SHOWN.search(_commands(fix))
    ]
    assert bold == []


def test_what_restarts_or_installs_is_not_called_safe() -> None:
    safe = [(rule.id, fix) for rule in _rules() for fix in rule.fixes if fix.safety is Safety.SAFE]
    assert [(ident, fix.id) for ident, fix in safe if NEEDS_A_RESTART.search(_commands(fix))] == []


def test_no_step_pipes_the_net_into_a_shell_or_ends_processes_by_name() -> None:
    assert _complaints(HAZARDS, "en") == []
