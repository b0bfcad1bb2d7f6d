# SPDX-License-Identifier: Apache-2.0
"""A name that is suggested for a question is read as that name."""

from __future__ import annotations

import re

import pytest
from sqlglot.tokens import Tokenizer

from glasshouse.analyst.questions.sql import question_of
from glasshouse.cells.ranges import Range
from glasshouse.sql_names import sql_name

WORDS = {word.casefold() for word in Tokenizer.KEYWORDS if re.fullmatch("[A-Za-z_]+", word)}
NAMES = [*sorted(WORDS), "age", "Age", "count", "hours-per-week", 'odd "name"', "two words", "2nd", "größe"]


@pytest.mark.parametrize("name", NAMES)
def test_a_suggested_name_is_read_as_that_name(name: str) -> None:
    own = sql_name(name)
    for sql in (
        f"SELECT COUNT(*) WHERE {own} >= 3",
        f"SELECT COUNT(*) WHERE {own} IN (3, 4)",
        f"SELECT COUNT(*) WHERE {own} IS NULL",
        f"SELECT {own}, MEDIAN({own}) GROUP BY {own}",
    ):
        question = question_of(sql, {name: "float"})
        assert name in (*question.group_by, getattr(question.where, "column", None))


def test_a_plain_word_stays_as_it_is() -> None:
    assert [sql_name(name) for name in ("age", "Zip5", "from", "a-b")] == ["age", "Zip5", '"from"', '"a-b"']


def test_the_conditions_that_are_suggested_for_a_range_are_quoted() -> None:
    assert Range(30, 40).told_apart("hours-per-week") == '"hours-per-week" >= 30 or "hours-per-week" < 40'
