# SPDX-License-Identifier: Apache-2.0
"""Values that show what a column is about, if its name does not: codes of diseases and drugs, results, beliefs.

Only how values look is asked, never whose they are. What is found is a topic of `role_words.SENSITIVE`.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from glasshouse.microdata.inspection.role_words import SENSITIVE, first_match

if TYPE_CHECKING:
    from glasshouse.microdata.domains import Column

__all__ = ["BELIEFS", "RESULTS", "topic_of_values"]

_FEWEST_CODES = 5  # different codes, below which letters and digits may mean anything
_MOST = 0.9  # share of the different values that must look alike
_SOME = 0.3  # share of the different values that must name a disease
_MOST_LOOKED_AT = 2_000  # different values

# How the codes are built: a letter, two digits, and for a subgroup a point and up to four characters; and of drugs by
# the anatomical classification: a letter, two digits, two letters, two digits.
_ICD10 = r"^[A-TV-Z][0-9][0-9AB]\.[0-9A-Z]{1,4}$|^[A-TV-Z][0-9][0-9AB]$"
_ATC = r"^[A-DGHJLMNPRSV][0-9]{2}[A-Z]{2}[0-9]{2}$"

RESULTS = """
    positive negative pos neg positiv negativ positif negatif positivo negativo inconclusive indeterminate equivocal
    reactive nonreactive detected undetected
"""
"""Results of tests, in several languages."""

BELIEFS = """
    christian catholic romancatholic protestant orthodox lutheran evangelical baptist methodist anglican muslim islam
    sunni shia jewish judaism hindu hinduism buddhist buddhism sikh atheist agnostic mormon jehovahswitness
    christlich katholisch romischkatholisch evangelisch muslimisch judisch konfessionslos atheistisch
    chretien catholique protestante musulman juif bouddhiste athee
    cristiano catolico catolica evangelico musulmana judio budista ateo
"""
"""Religions and the like, in several languages."""

_RESULTS, _BELIEFS = frozenset(RESULTS.split()), frozenset(BELIEFS.split())


def topic_of_values(column: Column) -> tuple[str, str] | None:
    """The sensitive topic that the values of a column tell of, and what they are; None if they tell of none.

    >>> import pyarrow as pa
    >>> from glasshouse.microdata.domains import code
    >>> codes = pa.array(["E11.9", "I10", "J45.0", "F32.1", "C50.9", "I10"])
    >>> topic_of_values(code(codes, name="main", missing=False))
    ('health', 'look like ICD-10 codes')
    >>> topic_of_values(code(pa.array(["positive", "negative"]), name="x", missing=False))
    ('test result', 'are positive and negative')
    >>> topic_of_values(code(pa.array(["red", "blue"]), name="x", missing=False)) is None
    True
    """
    domain = column.domain
    if domain.kind != "category" or not len(domain.values):
        return None
    values = domain.values.slice(0, _MOST_LOOKED_AT)
    if len(values) >= _FEWEST_CODES:
        for pattern, what in ((_ICD10, "ICD-10 codes"), (_ATC, "ATC codes of drugs")):
            if pc.mean(pc.match_substring_regex(values, pattern).cast("int8")).as_py() >= _MOST:
                return "health", f"look like {what}"
    texts = values.to_pylist()
    bare = {_bare(text) for text in texts}
    if len(bare & _RESULTS) >= 2 and len(bare - _RESULTS) <= 2:
        return "test result", "are positive and negative"
    if len(bare & _BELIEFS) >= 2 and len(bare & _BELIEFS) * 2 >= len(bare):
        return "belief", "name religions"
    ill = sum(first_match(text, SENSITIVE["health"]) is not None for text in texts)
    if ill >= 3 and ill >= _SOME * len(texts):
        return "health", "name diseases or treatments"
    return None


def _bare(text: str) -> str:
    """A text without accents, capitals, blanks and signs."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in plain if c.isalpha())
