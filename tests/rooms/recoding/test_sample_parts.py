# SPDX-License-Identifier: Apache-2.0
"""Perturbed samples in parts: in one part what `recode` gives; in several, the same groups, and as random."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.errors import DomainError, NotSupported
from glasshouse.microdata.kinds import kinds_of
from glasshouse.principles.k_anonymity import KAnonymity
from glasshouse.principles.principle import Requirement
from glasshouse.recoding.parts import sample_table, word_fields
from tests.rooms.recoding.engine import pieces_of, publish
from tests.rooms.recoding.test_parts import people
from tests.tiers import tables
from tests.twins import enumerating

DOMAIN = ["flu", "gout", "ulcer", "acne", "cough", None]


def divided(seed: int, n: int) -> tuple[gh.Microdata, gh.Groups]:
    """A table with one sensitive column, and disjoint boxes of two people or more."""
    table = people(seed, n)
    table = gh.read(
        {column.name: column.domain.decode(column.codes) for column in (*table.quasi, table.sensitive[0])},
        quasi=[column.name for column in table.quasi],
        sensitive="ill",
        missing="category",
    )
    return table, gh.Mondrian().divide(table, Requirement.of(KAnonymity(k=2), table), source=gh.Source.seeded(seed))


def in_parts(recoding: Any, table: gh.Microdata, groups: gh.Groups, n_pieces: int, rows: int, source: Any) -> Any:
    kinds, of_row = kinds_of(table)
    pieces = pieces_of(of_row, groups, n_pieces, n_pieces)
    return publish(recoding, kinds, pieces, part_rows=rows, source=source, seed=n_pieces)["data"]


@pytest.mark.parametrize("domain", [DOMAIN, None])
def test_one_part_is_the_table(domain: Any) -> None:
    for seed in range(tables(300)):
        table, groups = divided(seed, 2 + seed * 7 % 60)
        recoding = gh.Perturbed(p="2/5", domain=domain)
        (found,) = in_parts(recoding, table, groups, 1 + seed % 4, 60, gh.Source.seeded(seed))

        assert found.equals(recoding.recode(table, groups, source=gh.Source.seeded(seed))["data"]), seed


def test_several_parts_have_the_same_groups_however_people_are_cut_into_pieces() -> None:
    several = 0
    for seed in range(tables(300)):
        table, groups = divided(seed, 2 + seed * 7 % 60)
        recoding = gh.Perturbed(p=1, domain=DOMAIN)
        whole = recoding.recode(table, groups, source=gh.Source.seeded(seed))["data"]
        parts, again = (
            in_parts(recoding, table, groups, n_pieces, 1 + seed % 9, gh.Source.seeded(seed)) for n_pieces in (1, 4)
        )

        assert parts == again
        assert {part.schema for part in parts} == {whole.schema}
        shown = pa.concat_tables([part.drop_columns(["ill"]) for part in parts])
        assert shown.to_pylist() == whole.drop_columns(["ill"]).to_pylist()
        assert all(part.num_rows for part in parts)
        several += len(parts) > 1
    assert several > tables(100)


def test_every_table_in_parts_is_as_likely_as_the_whole_one() -> None:
    table = gh.read({"age": [1, 2, 5, 9], "ill": list("abbb")}, quasi=["age"], sensitive="ill")
    groups = gh.Groups(np.array([0, 0, 1, 1], np.int32), 2)
    recoding = gh.Perturbed(p="1/2", domain=list("ab"))

    def whole(draws: Any) -> Any:
        return tuple(recoding.recode(table, groups, source=draws)["data"]["ill"].to_pylist())

    def parts(draws: Any) -> Any:
        found = in_parts(recoding, table, groups, 2, 1, draws)
        assert len(found) == 2
        return tuple(value for part in found for value in part["ill"].to_pylist())

    assert enumerating.distribution(whole) == enumerating.distribution(parts)
    assert sum(enumerating.distribution(parts).values()) == Fraction(1)


def test_two_parts_make_different_choices() -> None:
    n = 400
    table = gh.read({"age": list(range(n)), "ill": list("ab") * (n // 2)}, quasi=["age"], sensitive="ill")
    groups = gh.Groups(np.arange(n, dtype=np.int32) // 2, n // 2)
    parts = in_parts(gh.Perturbed(p=0, domain=list("abcdef")), table, groups, 3, 100, gh.Source.seeded(1))

    assert [part.num_rows for part in parts] == [100, 100]
    assert parts[0]["ill"].to_pylist() != parts[1]["ill"].to_pylist()
    assert min(Counter(parts[0]["ill"].to_pylist()).values()) > 5


def test_boxes_of_different_pieces_that_overlap_are_refused() -> None:
    table = gh.read({"age": [1, 3, 2, 4], "ill": list("abab")}, quasi=["age"], sensitive="ill")
    groups = gh.Groups(np.array([0, 0, 1, 1], np.int32), 2)
    for n_pieces in (1, 5):
        with pytest.raises(NotSupported, match="overlap"):
            in_parts(gh.Perturbed(p=1, domain=list("ab")), table, groups, n_pieces, 60, gh.Source.seeded(1))


def test_values_outside_the_domain_are_counted_by_people() -> None:
    table = gh.read({"age": [1, 1, 1, 4], "ill": list("aabb")}, quasi=["age"], sensitive="ill")
    with pytest.raises(DomainError, match="1 value, in 2 records"):
        gh.Perturbed(p=1, domain=list("bc")).in_parts(kinds_of(table)[0])


def test_rows_left_in_the_order_in_which_they_came_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_table, "sort_rows", lambda words, *_: words)
    with pytest.raises(AssertionError):
        test_several_parts_have_the_same_groups_however_people_are_cut_into_pieces()


def test_rows_of_several_words_give_the_same_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_fields, "_WORD", 9)
    test_one_part_is_the_table(DOMAIN)
    test_several_parts_have_the_same_groups_however_people_are_cut_into_pieces()
