# SPDX-License-Identifier: Apache-2.0
"""The table of notations in docs/cells.md: the adversary and the analyst both read every row as it says."""

from __future__ import annotations

import datetime as dt
import re
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.adversary.cell_codes import CellReader
from glasshouse.cells import Unreadable, text_of
from glasshouse.errors import DomainError
from glasshouse.microdata.domains import Domain, code
from glasshouse.supports.proportions import Places
from glasshouse.supports.supports import CellSupports
from tests.conftest import ROOT

DAYS = [dt.date(2019, 1, 1) + dt.timedelta(days=i) for i in range(4 * 365 + 1)]
COLUMNS: dict[str, list[Any]] = {
    "integer": list(range(15, 66)),
    "float": [half / 2 for half in range(121)],
    "date": [day for day in DAYS if day.year < 2023],
    "category": ["F", "M", "X"],
    "zip": ["10001", "47601", "47602", "47670", "47671"],
    "ordered": ["low", "middle", "high"],
}
ORDERS = {"ordered": ["low", "middle", "high"]}


def rows() -> list[tuple[str, str, str]]:
    page = (ROOT / "docs" / "cells.md").read_text(encoding="utf-8")
    table = page.split("| --- | --- | --- | --- |\n")[1].split("\n\n")[0]
    found = []
    for line in table.splitlines():
        _, notation, column, _, meaning, _ = (part.strip() for part in re.split(r"(?<!\\)\|", line))
        found.append((notation.strip("`").replace("\\|", "|"), column, meaning))
    return found


@cache
def domain_of(column: str) -> Domain:
    return code(pa.array(COLUMNS[column]), name=column, order=ORDERS.get(column)).domain


def meant(meaning: str, column: str) -> list[Any]:
    values = COLUMNS[column]
    texts = [text_of(value) for value in values]
    if meaning in ("nothing", "everything"):
        return values if meaning == "everything" else []
    if " to " in meaning:
        low, high = (texts.index(end) for end in meaning.split(" to "))
        return values[low : high + 1]
    return [values[texts.index(text)] for text in meaning.split(", ")]


def by_adversary(cell: str, column: str, **given: Any) -> list[Any]:
    reader = CellReader(domain_of(column), **given)
    return domain_of(column).values.take(pa.array(reader.codes(cell))).to_pylist()


def by_analyst(cell: str, column: str, **given: Any) -> list[Any]:
    kind = domain_of(column).kind
    reader = CellSupports(name=column, kind=kind, order=ORDERS.get(column), cells=[cell], **given)
    values = domain_of(column).values.to_pylist()
    return [values[place] for run in Places(values, kind).inside(reader.of(cell)) for place in run]


@pytest.mark.parametrize(("notation", "column", "meaning"), rows())
def test_both_readers_take_a_cell_for_what_the_table_says(notation: str, column: str, meaning: str) -> None:
    if meaning == "unreadable":
        for reader in (by_adversary, by_analyst):
            with pytest.raises(DomainError, match="cannot be read"):
                reader(notation, column)
        return
    assert by_adversary(notation, column) == meant(meaning, column)
    assert by_analyst(notation, column) == meant(meaning, column)


def test_the_table_has_every_tool() -> None:
    page = (ROOT / "docs" / "cells.md").read_text(encoding="utf-8")

    assert len(rows()) > 70
    assert all(tool in page for tool in ("ARX", "sdcMicro", "anjana", "anonypy", "Amnesia", "Mondrian scripts"))


THEIRS = {"age": ["20-39", "20-39", "young", "young"], "sex": ["F"] * 4, "ill": ["a", "b", "b", "c"]}


def test_an_attack_on_cells_that_cannot_be_read_is_refused_and_says_how_many_records() -> None:
    release = gh.foreign_release(THEIRS, quasi=["age", "sex"], sensitive="ill", principle=gh.LDiversity(ell=2))
    voters = gh.read({"age": [25, 30, 50], "sex": ["F"] * 3}, quasi=["age", "sex"])

    with pytest.raises(
        DomainError, match=r"'age' .* has 1 cell that cannot be read, in 2 records, such as young"
    ) as caught:
        gh.attack(release, knowledge=gh.Knowledge(external=voters))
    assert caught.value.values == ("young",)


def test_a_question_is_refused_if_it_uses_the_column_and_answered_if_not() -> None:
    theirs = {**THEIRS, "age": ["x", "x", "{[20, 30], x}", "{[20, 30], x}"]}
    release = gh.foreign_release(theirs, quasi=["age", "sex"], sensitive="ill", principle=gh.LDiversity(ell=2))

    with pytest.raises(DomainError, match="in 2 records"):
        gh.query(release, "SELECT COUNT(*) WHERE age = 'x'")
    with pytest.raises(DomainError, match="in 2 records"):
        gh.sample(release)
    with pytest.raises(DomainError, match="in 2 records"):
        gh.losses(release)
    assert float(gh.query(release, "SELECT COUNT(*) WHERE sex = 'F'")) == 4


def test_what_another_tool_left_empty_was_suppressed() -> None:
    theirs = {"age": ["20-39", "20-39", None, None], "ill": ["a", "b", "b", "c"]}
    release = gh.foreign_release(theirs, quasi=["age"], sensitive="ill", principle=gh.LDiversity(ell=2))
    voters = gh.read({"age": [25, 50, 51, 52]}, quasi=["age"])
    found = gh.attack(release, knowledge=gh.Knowledge(external=voters))

    assert found.present(1) > 0
    assert found.of(1).keys() == {"b", "c"}


def test_suppressed_everywhere_is_answered_as_far_as_it_can_be() -> None:
    theirs = {"age": ["*"] * 4, "sex": ["*"] * 4, "ill": ["a", "b", "b", "c"]}
    release = gh.foreign_release(theirs, quasi=["age", "sex"], sensitive="ill", principle=gh.LDiversity(ell=2))

    assert float(gh.query(release, "SELECT COUNT(*) WHERE ill = 'b'")) == 2
    with pytest.raises(gh.InputError, match="nothing says where its values end"):
        gh.query(release, "SELECT COUNT(*) WHERE sex = 'F'")
    assert float(gh.query(release, "SELECT COUNT(*) WHERE sex = 'F'", ordered={"sex": ["F", "M"]})) == 2


def test_open_ends_are_answered_whole_and_refused_in_part() -> None:
    theirs = {"age": ["<40", "<40", ">=40", ">=40"], "ill": ["a", "b", "b", "c"]}
    release = gh.foreign_release(theirs, quasi=["age"], sensitive="ill", principle=gh.LDiversity(ell=2))

    assert float(gh.query(release, "SELECT COUNT(*) WHERE age < 40")) == 2
    assert float(gh.query(release, "SELECT COUNT(*) WHERE age >= 40 AND ill = 'b'")) == 1
    with pytest.raises(gh.InputError, match="nothing says where its values end"):
        gh.query(release, "SELECT COUNT(*) WHERE age > 60")
    with pytest.raises(gh.InputError, match="ordered="):
        gh.losses(release)
    ages = list(range(20, 60))
    assert float(gh.query(release, "SELECT COUNT(*) WHERE age > 49", ordered={"age": ages})) == pytest.approx(1)


def test_an_interval_without_ends_is_not_answered_with_a_number() -> None:
    release = gh.foreign_release(
        {"pay": ["(-inf, 1.5)", "[1.5, inf)"], "ill": ["a", "b"]}, quasi=["pay"], sensitive="ill"
    )

    assert float(gh.query(release, "SELECT COUNT(*) WHERE pay < 1.5")) == 1
    with pytest.raises(gh.InputError, match="nothing says where"):
        gh.query(release, "SELECT COUNT(*) WHERE pay < 1")


def test_stars_that_may_be_letters_are_not_counted_as_digits() -> None:
    theirs = {"post": ["SW1A 1**", "SW1A 1**", "476**", "476**"], "ill": ["a", "b", "b", "c"]}
    release = gh.foreign_release(theirs, quasi=["post"], sensitive="ill")

    assert float(gh.query(release, "SELECT COUNT(*) WHERE post = 'N1 9GU'")) == 0
    unknown = gh.query(release, "SELECT COUNT(*) WHERE post = 'SW1A 1AB'")
    assert unknown.interval == (0, 2)
    assert "does not say which texts they stand for" in unknown.notes[0]
    known = ["SW1A 1AA", "SW1A 1AB", "47601"]
    found = gh.query(release, "SELECT COUNT(*) WHERE post = 'SW1A 1AB'", ordered={"post": known})
    assert float(found) == pytest.approx(1)


@pytest.mark.parametrize("cell", ["4" + "*" * 200, "4" + "*" * 100_000, "x" * (1 << 21), "[0, 1" + "0" * 350 + "]"])
@pytest.mark.parametrize("kind", ["category", "integer", "float", "date", "timestamp", "boolean"])
def test_a_monstrous_cell_is_read_or_refused_at_once(cell: str, kind: str) -> None:
    reader = CellSupports(name="c", kind=kind, cells=[cell, "*"])
    if isinstance(reader.read(cell), Unreadable):
        return
    support = reader.of(cell)
    assert support.share(gh_everything()) == 1
    assert len(str(support)) < 2_000_000


def gh_everything() -> Any:
    from glasshouse.supports.value_sets import ValueSet

    return ValueSet.everything()


def test_a_partial_list_reads_intervals_of_a_declared_order_of_which_it_lacks_the_ends() -> None:
    voters = gh.read({"grade": ["middle"]}, quasi=["grade"], ordered={"grade": ["low", "middle", "high"]})

    assert CellReader(voters.quasi[0].domain).codes("[low, high]").tolist() == [0]


def test_intervals_of_categories_are_not_read_in_alphabetic_order() -> None:
    voters = gh.read({"grade": ["low", "middle", "high"]}, quasi=["grade"])

    with pytest.raises(DomainError, match="ordered="):
        CellReader(voters.quasi[0].domain).codes("[low, middle]")


def test_nodes_that_share_a_label_are_read_by_the_name_that_is_published() -> None:
    tree = gh.Taxonomy.from_nested({"any": {"lungs": {"other": ["a", "b"]}, "stomach": {"other": ["c", "d"]}}})
    reader = CellSupports(name="was", kind="category", taxonomy=tree)

    assert reader.of("other (stomach)").listed() == ("c", "d")
    assert np.isclose(len(reader.of("any").listed() or ()), 4)
