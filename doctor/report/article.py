"""The page of `doctor explain article`: old advice, what is true, what to do instead."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.article import table
from doctor.locale import speaker
from doctor.report.style import Style


def article_page(language: str, style: Style) -> Iterator[str]:
    """One paragraph for each piece of advice."""
    speak = speaker(language)
    yield from style.lines(speak("article_head"), "")
    for row in table():
        yield ""
        yield style.paint("strong", row.advice[language])
        yield from style.lines(f"{speak('article_truth')}: {row.truth[language]}", "  ")
        yield from style.lines(f"{speak('article_instead')}: {row.instead[language]}", "  ")
        if row.rules:
            yield style.paint("faint", "  " + ", ".join(row.rules))
