"""`doctor explain article`: every piece of advice in both languages, naming rules that exist."""

from __future__ import annotations

import pytest

from doctor import rulebook
from doctor.article import table
from doctor.report.article import article_page
from doctor.report.style import Style
from doctor.words import LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_advice_is_on_the_page(language: str) -> None:
    page = "\n".join(article_page(language, Style.of({}, 0, allowed=False)))
    for row in table():
        for words in (row.advice, row.truth, row.instead):
            assert words[language] in page


def test_the_rules_exist() -> None:
    known = rulebook.load().rules
    assert not {name for row in table() for name in row.rules} - set(known)
