"""A recoding shows groups and nothing more: the same for isomorphic groups (TRANSPARENT Definition 1)."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.release.package.parts import write_table
from tests.laws.people import People, people
from tests.laws.publishing import examples, published
from tests.laws.samples import RECODINGS, Expected, RecodingSample

NUMBERED = [sample for sample in RECODINGS if sample.numbers]


def recoded(table: gh.Microdata, labels: Sequence[int], recoding: Any, seed: int = 7) -> dict[str, Any]:
    """The published tables of these groups, with the random choices of a seed."""
    groups = gh.Groups(np.array(labels, np.int32), max(labels, default=-1) + 1)
    return recoding.recode(table, groups, source=gh.Source.seeded(seed).child("recoding"), divide=gh.Mondrian().divide)


def bytes_of(table: gh.Microdata, labels: Sequence[int], recoding: Any) -> dict[tuple[str, str], bytes]:
    """Every published table as the bytes of its files."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in recoded(table, labels, recoding).items():
            for format in ("parquet", "csv"):
                path = Path(folder) / f"{name}.{format}"
                write_table(data, path, format)
                found[name, format] = path.read_bytes()
    return found


@st.composite
def divided(draw: st.DrawFn, recoding: RecodingSample) -> tuple[People, list[int]]:
    """A table and any partition of it: groups of any size and place, and tuples that are not published."""
    table = draw(people(tree=recoding.tree, sensitive=draw(st.integers(1, 2)), least=recoding.k))
    raw = draw(st.lists(st.integers(-1, 4), min_size=table.n, max_size=table.n))
    raw[: recoding.k] = [abs(label) for label in raw[: recoding.k]]  # fewer than k are never published
    dense = {label: i for i, label in enumerate(sorted(set(raw) - {-1}))}
    return table, [dense.get(label, -1) for label in raw]


def members_of(labels: Sequence[int]) -> list[list[int]]:
    return [[row for row, label in enumerate(labels) if label == group] for group in range(max(labels) + 1)]


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(80)
@given(data=st.data())
def test_any_groups_are_rewritten_as_the_slow_twin_says(recoding: RecodingSample, data: st.DataObject) -> None:
    table, labels = data.draw(divided(recoding))

    tables = recoded(table.read(), labels, recoding.on(table))

    assert recoding.twin(table, members_of(labels)) == recoding.read(tables)


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(40)
@given(data=st.data())
def test_permuting_sensitive_values_inside_groups_changes_no_byte(
    recoding: RecodingSample, data: st.DataObject
) -> None:
    table, labels = data.draw(divided(recoding))
    joint = recoding.recoding.added() == {}  # a table of boxes shows the values of one person in one row
    places: dict[str, list[int]] = {}
    for name in table.sensitive:
        if joint and places:
            places[name] = places[table.sensitive[0]]
            continue
        places[name] = list(range(table.n))
        for group in members_of(labels):
            for row, other in zip(group, data.draw(st.permutations(group)), strict=True):
                places[name][row] = other
    moved = {name: [table.columns[name][row] for row in places[name]] for name in table.sensitive}

    assert bytes_of(table.read(), labels, recoding.on(table)) == bytes_of(
        table.with_columns(moved).read(), labels, recoding.on(table)
    )


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(40)
@given(data=st.data())
def test_permuting_rows_changes_no_byte(recoding: RecodingSample, data: st.DataObject) -> None:
    table, labels = data.draw(divided(recoding))
    order = data.draw(st.permutations(range(table.n)))

    assert bytes_of(table.read(), labels, recoding.on(table)) == bytes_of(
        table.permuted(order).read(), [labels[row] for row in order], recoding.on(table)
    )


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(40)
@given(data=st.data())
def test_permuting_group_labels_changes_nothing_but_the_numbers(recoding: RecodingSample, data: st.DataObject) -> None:
    table, labels = data.draw(divided(recoding))
    names = data.draw(st.permutations(range(max(labels, default=-1) + 1)))
    renamed = [-1 if label < 0 else names[label] for label in labels]

    if not recoding.numbers:
        assert bytes_of(table.read(), labels, recoding.on(table)) == bytes_of(table.read(), renamed, recoding.on(table))
        return
    one, other = (recoded(table.read(), numbered, recoding.on(table)) for numbered in (labels, renamed))
    assert recoding.read({name: _renumbered(data, recoding, names) for name, data in one.items()}) == recoding.read(
        other
    )


def _renumbered(table: Any, recoding: RecodingSample, names: Sequence[int]) -> Any:
    for number in recoding.numbers:
        if number in table.column_names:
            i = table.column_names.index(number)
            table = table.set_column(i, number, [[names[old - 1] + 1 for old in table[number].to_pylist()]])
    return table


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(30)
@given(data=st.data())
def test_tuples_that_are_not_published_leave_no_trace(recoding: RecodingSample, data: st.DataObject) -> None:
    table, labels = data.draw(divided(recoding))
    microdata = table.read()
    kept = np.flatnonzero(np.array(labels) >= 0)

    assert bytes_of(microdata, labels, recoding.on(table)) == bytes_of(
        microdata.take(kept), [labels[row] for row in kept], recoding.on(table)
    )


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(25)
@given(data=st.data())
def test_members_of_a_group_cannot_be_told_apart(recoding: RecodingSample, data: st.DataObject) -> None:
    table, labels = data.draw(divided(recoding))
    swapped = dict(table.columns)
    for group in members_of(labels):
        order = data.draw(st.permutations(group))
        for name in table.quasi:  # whole people change places, as seen by an attacker who knows these
            moved = list(swapped[name])
            for row, other in zip(group, order, strict=True):
                moved[row] = table.columns[name][other]
            swapped[name] = moved

    assert bytes_of(table.read(), labels, recoding.on(table)) == bytes_of(
        table.with_columns(swapped).read(), labels, recoding.on(table)
    )


@pytest.mark.parametrize("recoding", NUMBERED, ids=repr)
@examples(30)
@given(data=st.data())
def test_rows_are_ordered_by_what_they_show_and_by_nothing_else(recoding: RecodingSample, data: st.DataObject) -> None:
    """By number, then by values in their own order; a generalized table by its cells, then by number."""
    table, labels = data.draw(divided(recoding))

    for name, shown in recoded(table.read(), labels, recoding.on(table)).items():
        rows = shown.to_pylist()
        if name == "data":  # a permutation: random inside groups, see below
            assert sorted(row["Group-ID"] for row in rows) == [row["Group-ID"] for row in rows]
        elif name.startswith("gt"):
            cells = [tuple(row[q] for q in table.quasi if q in row) for row in rows]
            assert len(set(cells)) == sum(a != b for a, b in zip([None, *cells], cells, strict=False))
            keys = [(cells.index(cell), row.get("Batch-ID", 0)) for cell, row in zip(cells, rows, strict=True)]
            assert sorted(keys) == keys
        else:
            ranks = [
                tuple(_rank(table, column, row[column]) for column in (*table.quasi, *table.sensitive) if column in row)
                for row in rows
            ]
            (number,) = recoding.numbers
            keys = [(row[number], *rank) for row, rank in zip(rows, ranks, strict=True)]
            assert sorted(keys) == keys


def _rank(table: People, name: str, value: Any) -> int:
    order = table.natural_order(name)
    return len(order) if value is None else order.index(value)


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_every_recoding_says_what_its_cells_and_its_own_columns_mean(recoding: RecodingSample) -> None:
    table = gh.read(
        {"age": [1, 2, None], "sex": ["F", "M", "F"], "s": ["a", "b", "c"]},
        quasi=["age", "sex"],
        sensitive="s",
        missing="category",
    )

    meanings = [recoding.recoding.meaning(column.domain) for column in table.quasi]

    assert meanings[0].endswith("missing")
    assert "missing" not in meanings[1]
    assert all(recoding.recoding.added().values())


# --- group numbers ---------------------------------------------------------------------------------------------------

PAIRS_OF_AGES = [20, 20, 50, 50, 80, 80]  # Mondrian makes three groups of two
SEEDS = 240


def numberings(recoding: RecodingSample) -> Counter[tuple[int, ...]]:
    """How often the three groups, in the order of their ages, get which numbers."""
    table = People(columns={"age": PAIRS_OF_AGES, "sensitive": list("abcdef")}, quasi=("age",))
    choices = {"principle": gh.LDiversity(ell=2), "method": gh.Mondrian(), "recoding": recoding.on(table)}
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(SEEDS):
        release = gh.publish(table.read(), source=gh.Source.seeded(seed), threads=1, **choices)
        said = recoding.read(release.tables)
        assert said == recoding.twin(table, _in_order(said))
        seen[tuple(_number_of(said, value) for value in "ace")] += 1
    return seen


def _number_of(said: Expected, value: str) -> int:
    """The number of the group that has this sensitive value."""
    (number,) = {row[0] for rows in said.values() for row in rows if row[1:2] == (value,)}
    return int(number)


def _in_order(said: Expected) -> list[list[int]]:
    places = {_number_of(said, "abcdef"[row]): [row, row + 1] for row in (0, 2, 4)}
    return [places[number] for number in (1, 2, 3)]


def unevenness(seen: Counter[tuple[int, ...]]) -> Fraction:
    """Chi-square against every numbering equally often."""
    each = Fraction(SEEDS, 6)
    return sum(((seen[order] - each) ** 2 / each for order in permutations((1, 2, 3))), Fraction(0))


FIVE_DEGREES = 31  # an even die throws more once in a hundred thousand


@pytest.mark.parametrize("recoding", NUMBERED[:3], ids=repr)  # one of each class
def test_groups_are_numbered_at_random_and_all_numberings_are_equally_likely(recoding: RecodingSample) -> None:
    assert unevenness(numberings(recoding)) < FIVE_DEGREES


def test_groups_that_keep_the_numbers_of_their_method_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gh.Groups, "renumbered", lambda self, source: self)

    assert unevenness(numberings(NUMBERED[0])) > 10 * FIVE_DEGREES


@pytest.mark.parametrize("recoding", NUMBERED, ids=repr)
def test_the_audit_keeps_the_numbers_that_are_published(recoding: RecodingSample) -> None:
    table = People(
        columns={"age": PAIRS_OF_AGES, "place": ["Zadar", "Adra", "Olot"] * 2, "sensitive": list("abcdef")},
        quasi=("age", "place"),
        trees={"place": {"any": ["Zadar", "Adra", "Olot"]}},
    )
    for seed in range(6):
        made = published(
            table.read(), principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=recoding.on(table), seed=seed
        )

        assert recoding.twin(table, made.partition) == recoding.read(made.release.tables)
