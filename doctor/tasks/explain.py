"""`doctor explain`: the page of a rule, of an error code, of a line, of what old articles advise."""

from __future__ import annotations

from collections.abc import Iterable

from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped, rulebook, with_nearest
from doctor.text import clean


def run(options: Options, name: str) -> Answer:
    """The page of a rule, of an error code, or of what old articles advise."""
    from doctor.errorcodes import explain as explain_code
    from doctor.report import page

    rules = rulebook().rules
    name = name.strip()
    if name == "article":
        from doctor.report.article import article_page

        return _page(options, "article", name, article_page(options.language, options.style), [])
    if (rule := page.find_rule(name, rules)) is not None:
        return _page(options, "rule", rule.id, page.rule_page(rule, options.language, options.style), [rule.id])
    if " " in name:
        return _explained_line(options, name)
    entries = explain_code(name)
    codes = [entry.code for entry in entries] or ([name] if any(char.isdigit() for char in name) and len(name) > 3 else [])
    dealing = list(dict.fromkeys(found for code in codes for found in page.mentions(code, rules.values())))
    if not entries and not dealing:
        names = [*rules, *(former for rule in rules.values() for former in rule.formerly)]
        raise Refused(with_nearest(options, options.speak("unknown_explain", name=name), page.nearest(name, names)))
    return _page(options, "code", name, page.code_page(entries, rules, dealing, options.language, options.style), dealing)


def _explained_line(options: Options, line: str) -> Answer:
    """What is known of one line of a log: a harmless kind, the rules that know it, the codes in it."""
    from doctor.errorcodes import find_codes, meanings
    from doctor.examine import Selection, examine_text
    from doctor.harmless import harmless
    from doctor.logscan.sources import text_chunk
    from doctor.report import page

    known, book = harmless(clean(line)), rulebook()
    found = examine_text("", [text_chunk(line, "")], book, Selection(), len(line)).causes
    rules = [finding.rule for cause in found for finding in (cause.finding, *cause.symptoms)]
    codes = meanings(find_codes(clean(line)))
    if not known and not rules and not codes:
        raise Refused(options.speak("unknown_line"))
    return _page(options, "line", clean(line)[:200], page.line_page(known, codes, rules, book.rules, options.language, options.style), rules)


def _page(options: Options, kind: str, name: str, lines: Iterable[str], rules: list[str]) -> Answer:
    text = "".join(line + "\n" for line in lines)
    return enveloped(options, page={"kind": kind, "name": name, "text": text, "rules": rules}) if options.as_json else Answer(text)
