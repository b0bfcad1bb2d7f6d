# SPDX-License-Identifier: Apache-2.0
"""Tables in parts: laid end to end they are what `recode` gives, however people are cut into pieces and parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.errors import NotSupported, ParameterError
from glasshouse.microdata.domains import Column, Domain
from glasshouse.microdata.kinds import kinds_of
from glasshouse.recoding.generalization import ValueColumn, group_sets
from glasshouse.recoding.parts import box_table, bucket_table, cell_keys, count_table, person_table, word_fields
from glasshouse.recoding.parts.members import Piece, Points
from glasshouse.recoding.parts.word_fields import WordFields, sort_rows
from glasshouse.recoding.recoding import Recoding
from tests.rooms.recoding.engine import pieces_of, publish
from tests.tiers import tables

TREE = gh.Taxonomy.from_nested({"any": {"north": ["Oslo", "Bergen", "Kiruna"], "south": ["Rome", "Faro"]}})
ORDER = ["low", "middle", "high", "top"]


def people(seed: int, n: int) -> gh.Microdata:
    """A table with columns of every sort, some values missing, and one or two sensitive columns."""
    random = np.random.default_rng(seed)
    gaps = random.random() < 0.5

    def some(values: list[Any]) -> list[Any]:
        drawn = [values[i] for i in random.integers(0, len(values), n)]
        return [None if gaps and i and random.random() < 0.15 else value for i, value in enumerate(drawn)]

    columns = {
        "age": some(list(range(20, 20 + int(random.choice([1, 4, 60, 300]))))),
        "town": some(["Oslo", "Bergen", "Kiruna", "Rome", "Faro"]),
        "job": some([f"job {i}" for i in range(int(random.choice([1, 3, 12, 70])))]),
        "grade": some(ORDER),
        "height": some([i / 4 for i in range(9)]),
    }
    quasi = [name for name in columns if random.random() < 0.6] or ["age"]
    columns["ill"] = some(["flu", "gout", "ulcer", "acne"][: int(random.integers(1, 5))])
    columns["pay"] = some(["1", "2", "3"])
    sensitive = ["ill", "pay"] if random.random() < 0.4 else ["ill"]
    return gh.read(
        {name: columns[name] for name in [*quasi, *sensitive]},
        quasi=quasi,
        sensitive=sensitive,
        missing="category",
        taxonomies={"town": TREE} if "town" in quasi else {},
        ordered={"grade": ORDER} if "grade" in quasi else {},
    )


def grouped(seed: int, n: int) -> gh.Groups:
    random = np.random.default_rng([seed, 1])
    n_groups = int(random.integers(1, n + 1))
    labels = random.integers(0, n_groups, n).astype(np.int32)
    labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return gh.Groups(labels, int(labels.max()) + 1)


def marginals(table: gh.Microdata) -> list[list[str]]:
    quasi = [column.name for column in table.quasi]
    lists = [[*quasi, "ill"], quasi, [quasi[-1], "ill"]]
    return [names for i, names in enumerate(lists) if set(names) not in map(set, lists[:i])]


def buckets_of_people(table: gh.Microdata, recoding: gh.Angel, seed: int) -> list[gh.Groups]:
    """Buckets that people of one point share, but otherwise anyhow."""
    random = np.random.default_rng([seed, 2])
    found = []
    for _ in recoding.tables(table):
        points = np.unique(np.stack([c.codes for c in table.quasi]), axis=1, return_inverse=True)[1].reshape(-1)
        of_point = random.integers(0, random.integers(1, points.max() + 2), points.max() + 1)
        labels = np.unique(of_point[points], return_inverse=True)[1].astype(np.int32)
        found.append(gh.Groups(labels, int(labels.max()) + 1))
    return found


RECODINGS = ["anatomy", "permutation", "angel", "angel of nodes", "boxes", "taxonomies"]


def recoding_of(name: str, table: gh.Microdata) -> Any:
    return {
        "anatomy": gh.Anatomy(),
        "permutation": gh.Permutation(),
        "angel": gh.Angel(k=2, marginals=marginals(table)),
        "angel of nodes": gh.Angel(k=1, cells="taxonomies"),
        "boxes": gh.Boxes(),
        "taxonomies": gh.Taxonomies(),
    }[name]


def both(name: str, seed: int, part_rows: int, n: int = 40) -> tuple[dict[str, pa.Table], dict[str, list[pa.Table]]]:
    """The tables of `recode`, and those in parts."""
    table, groups = people(seed, n), grouped(seed, n)
    recoding = recoding_of(name, table)
    kinds, of_row = kinds_of(table)
    options: dict[str, Any] = {"source": gh.Source.seeded(seed)}
    buckets = None
    if name == "angel":
        options["buckets"] = buckets_of_people(table, recoding, seed)
        example = np.empty(len(kinds), np.int64)
        example[of_row] = np.arange(n)
        rows = example[Points.of(kinds).first]
        buckets = [gh.Groups(own.labels[rows], own.n_groups) for own in options["buckets"]]
    if name == "permutation":
        options["part_rows"] = part_rows
    whole = recoding.recode(table, groups, **options)
    pieces = pieces_of(of_row, groups, 1 + seed % 5, seed)
    parts = publish(
        recoding, kinds, pieces, part_rows=part_rows, source=gh.Source.seeded(seed), buckets=buckets, seed=seed
    )
    return whole, parts


def is_whole(whole: dict[str, pa.Table], parts: dict[str, list[pa.Table]]) -> bool:
    """Whether parts laid end to end are the whole tables: rows, their order, schema, dictionaries."""
    return list(whole) == list(parts) and all(
        all(part.schema == table.schema for part in parts[name])
        and plain(pa.concat_tables(parts[name])) == plain(table)
        and dictionaries(table) == [one for part in parts[name] for one in dictionaries(part)][: table.num_columns]
        and all(dictionaries(part) == dictionaries(table) for part in parts[name])
        for name, table in whole.items()
    )


def plain(table: pa.Table) -> list[list[Any]]:
    return [column.to_pylist() for column in table.columns]


def dictionaries(table: pa.Table) -> list[Any]:
    return [
        column.chunk(0).dictionary.to_pylist() if pa.types.is_dictionary(column.type) else None
        for column in table.columns
    ]


@pytest.mark.parametrize("name", RECODINGS)
def test_one_part_is_the_table(name: str) -> None:
    for seed in range(tables(300)):
        n = 1 + seed * 7 % 60
        whole, parts = both(name, seed, 60, n)
        assert is_whole(whole, parts), (seed, whole, parts)
        assert {len(found) for found in parts.values()} == {1}
        assert all(found[0].equals(whole[table]) for table, found in parts.items())


@pytest.mark.parametrize("name", RECODINGS)
def test_parts_laid_end_to_end_are_the_table(name: str) -> None:
    several = 0
    for seed in range(tables(500)):
        n = 1 + seed * 7 % 60
        whole, parts = both(name, seed, 1 + seed * 5 % (n + 2), n)
        assert is_whole(whole, parts), seed
        several += sum(len(found) > 1 for found in parts.values())
        for table, found in parts.items():
            assert len(found) == 1 or whole[table].num_rows > 1 + seed * 5 % (n + 2)
    assert several > tables(200)


@pytest.mark.parametrize("name", RECODINGS)
def test_no_number_of_pieces_and_no_order_of_rows_shows(name: str) -> None:
    for seed in range(tables(60)):
        table, groups = people(seed, 50), grouped(seed, 50)
        recoding = recoding_of(name, table)
        if name == "angel":
            recoding = replace(recoding, k=1)
        kinds, of_row = kinds_of(table)
        found = [
            publish(recoding, kinds, pieces, part_rows=9, source=gh.Source.seeded(seed), seed=n_pieces)
            for n_pieces in (1, 2, 7)
            for pieces in [pieces_of(of_row, groups, n_pieces, seed)]
        ]
        assert all(one == found[0] for one in found[1:])


def test_a_part_of_a_large_table_has_about_the_size_that_was_asked_for() -> None:
    n, rows = 20_000, 1000
    random = np.random.default_rng(3)
    table = gh.read(
        {
            "age": random.integers(0, 80, n),
            "zip": random.integers(0, 50, n),
            "ill": random.integers(0, 9, n).astype(str),
        },
        quasi=["age", "zip"],
        sensitive="ill",
    )
    groups = gh.Groups((random.permutation(n) // 8).astype(np.int32), n // 8)
    kinds, of_row = kinds_of(table)
    pieces = pieces_of(of_row, groups, 6, 1)
    for recoding in (
        gh.Anatomy(),
        gh.Permutation(),
        gh.Angel(k=1),
        gh.Angel(k=1, marginals=[["zip", "ill"]]),
        gh.Boxes(),
    ):
        for found in publish(recoding, kinds, pieces, part_rows=rows, source=gh.Source.seeded(1)).values():
            sizes = [part.num_rows for part in found]
            assert abs(len(sizes) - sum(sizes) / rows) < 4
            assert min(sizes) > rows / 4
            assert max(sizes) < 2 * rows


def test_a_bucket_larger_than_a_part_is_shared_by_batch_numbers() -> None:
    n = 3000
    random = np.random.default_rng(3)
    table = gh.read(
        {"sex": random.choice(["F", "M", "X"], n, p=[0.7, 0.29, 0.01]), "ill": random.integers(0, 9, n).astype(str)},
        quasi=["sex"],
        sensitive="ill",
    )
    groups = gh.Groups((random.permutation(n) // 8).astype(np.int32), n // 8)
    kinds, of_row = kinds_of(table)
    recoding = gh.Angel(k=1)
    parts = publish(recoding, kinds, pieces_of(of_row, groups, 3, 1), part_rows=300, source=gh.Source.seeded(1))

    assert is_whole(recoding.recode(table, groups), parts)
    sizes = [part.num_rows for part in parts["gt"]]
    assert len(sizes) >= 10
    assert max(sizes) < 450


def test_numbers_are_drawn_for_all_pieces_together() -> None:
    table, groups = people(5, 60), grouped(5, 60)
    kinds, of_row = kinds_of(table)
    pieces = pieces_of(of_row, groups, 4, 2)
    numbering = gh.Source.seeded(9).numbering(groups.n_groups, listed=0)
    bases = np.cumsum([0, *(piece.n_groups for piece in pieces)])
    numbered = [piece.numbered(int(base), numbering) for piece, base in zip(pieces, bases, strict=False)]
    order = np.concatenate([piece.numbers for piece in pieces])  # type: ignore[list-item]
    fresh = np.empty(groups.n_groups, np.int32)
    fresh[order] = numbering.of(np.arange(groups.n_groups))

    parts = publish(gh.Anatomy(), kinds, numbered, part_rows=7, source=gh.Source.seeded(1))

    assert is_whole(gh.Anatomy().recode(table, groups.relabelled(fresh, groups.n_groups)), parts)


def test_buckets_of_several_people_are_those_of_the_whole_table() -> None:
    for seed in range(10):
        table, groups = people(seed, 50), grouped(seed, 50)
        recoding = gh.Angel(k=3, marginals=marginals(table))
        kinds, of_row = kinds_of(table)
        parts = publish(
            recoding,
            kinds,
            pieces_of(of_row, groups, 3, seed),
            part_rows=8,
            source=gh.Source.seeded(1),
            buckets=recoding.buckets_of_points(kinds, gh.Mondrian().cut_kinds),
        )
        assert is_whole(recoding.recode(table, groups, divide=gh.Mondrian().divide), parts)


def test_buckets_that_are_missing_or_of_another_table_are_refused() -> None:
    kinds, _ = kinds_of(people(3, 30))
    with pytest.raises(ParameterError, match="unless k is 1"):
        gh.Angel(k=2).in_parts(kinds)
    with pytest.raises(ParameterError, match=f"labels for {len(Points.of(kinds))} points"):
        gh.Angel(k=2).in_parts(kinds, buckets=[gh.Groups(np.zeros(2, np.int32), 1)])


# More people than any machine here has.


def test_more_than_two_to_the_31_groups_are_numbered_by_64_bits() -> None:
    table = people(5, 30)
    kinds, of_row = kinds_of(table)
    kinds = replace(kinds, counts=kinds.counts * 2**36)
    n_groups = 2**33
    numbers = np.array([0, 2**31 - 1, 2**31, 2**33 - 1])
    piece = Piece(np.sort(of_row), np.array([0, 1, 2, 3, *[3] * 26], np.int32), 4, numbers)
    angel = gh.Angel(k=1)
    for plan in (*gh.Anatomy().in_parts(kinds), *gh.Permutation().in_parts(kinds), *angel.in_parts(kinds)):
        settled = plan.settle(n_groups, [plan.summary(piece)])
        parts, words = settled.rows(piece)
        assert settled.n_parts < 2**31
        assert (parts >= 0).all()
        found = settled.table(0, words, gh.Source.seeded(1))
        column = found["Group-ID" if "Group-ID" in found.column_names else "Batch-ID"]
        assert column.type == pa.int64()
        assert set(column.to_pylist()) == set((numbers + 1).tolist())
        if "Count" in found.column_names:
            assert found["Count"].type == pa.int64()


def test_numbers_that_do_not_fit_into_one_word_take_two() -> None:
    fields = WordFields((33, 31, 40))
    random = np.random.default_rng(1)
    columns = [random.integers(0, 2**bits, 200) for bits in fields.bits]
    columns[0][:150] = 5
    columns[1][:120] = 6
    words = fields.packed(columns)

    assert fields.n_words == 2
    assert [column.tolist() for column in columns] == [fields.numbers(words, i).tolist() for i in range(3)]
    expected = sorted(zip(*(column.tolist() for column in columns), strict=True))
    found = sort_rows(words, fields)
    assert expected == list(zip(*(fields.numbers(found, i).tolist() for i in range(3)), strict=True))


def test_a_kind_of_nobody_is_refused_and_so_is_a_recoding_that_has_no_parts() -> None:
    kinds, _ = kinds_of(people(1, 10))
    with pytest.raises(ParameterError, match="combinations of values that at least one person has"):
        Points.of(replace(kinds, counts=kinds.counts * 0))
    with pytest.raises(NotSupported, match="in parts"):
        Recoding.in_parts(gh.Boxes(), kinds)


# Broken on purpose: each must be noticed by the laws above.

HOMES = {
    "anatomy": [person_table, count_table],
    "permutation": [person_table],
    "angel": [bucket_table, count_table],
    "boxes": [box_table],
    "taxonomies": [box_table],
}


def fails(name: str) -> bool:
    return not all(is_whole(*both(name, seed, 5)) for seed in range(20))


@pytest.mark.parametrize("name", list(HOMES))
def test_rows_left_in_the_order_in_which_they_came_would_be_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for home in HOMES[name]:
        monkeypatch.setattr(home, "sort_rows", lambda words, *_: words)
        assert fails(name)
        monkeypatch.undo()


@pytest.mark.parametrize("name", list(HOMES))
def test_parts_that_follow_pieces_would_be_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for home in HOMES[name]:
        settled = next(thing for key, thing in vars(home).items() if key.startswith("Settled"))
        real = settled.rows

        def by_piece(self: Any, piece: Piece, real: Any = real) -> Any:
            parts, words = real(self, piece)
            return np.full_like(parts, len(piece) % self.n_parts), words

        monkeypatch.setattr(settled, "rows", by_piece)
        assert fails(name)
        monkeypatch.undo()


@pytest.mark.parametrize("name", ["anatomy", "permutation", "boxes", "taxonomies"])
def test_dictionaries_of_a_part_would_be_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        ValueColumn,
        "array",
        lambda self, codes, real=ValueColumn.array: real(ValueColumn.of(self.domain, codes), codes),
    )
    assert fails(name)


def test_both_sides_of_a_group_in_one_order_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Still(gh.Source):
        def shuffle_runs(self, array: Any, offsets: Any) -> None:
            """Nothing."""

        def child(self, *labels: Any) -> Any:
            return self

    table, groups = people(5, 60), grouped(5, 60)
    kinds, of_row = kinds_of(table)
    pieces = pieces_of(of_row, groups, 1, 1)
    still = publish(gh.Permutation(), kinds, pieces, part_rows=60, source=Still(bytes(32), is_seeded=True))
    assert not is_whole(gh.Permutation().recode(table, groups, source=gh.Source.seeded(1)), still)


@pytest.mark.parametrize("few", [0, 10**6])
@pytest.mark.parametrize("bits", [(0, 0), (1, 0), (5, 9, 3), (20, 20), (30, 34)])
def test_rows_are_sorted_alike_by_digits_and_by_comparison(
    bits: tuple[int, ...], few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_fields, "_FEW", few)
    fields = WordFields(bits)
    random = np.random.default_rng(1)
    words = fields.packed([random.integers(0, 2**width, 500) for width in bits])

    assert sorted(words.tolist()) == sort_rows(words, fields).tolist()
    distinct = np.unique(words >> np.uint64(bits[-1])) << np.uint64(bits[-1]) | np.uint64(2 ** bits[-1] - 1)
    shuffled = random.permutation(distinct).reshape(-1, 1)
    assert sorted(shuffled.tolist()) == sort_rows(shuffled, fields, len(bits) - 1).tolist()


@pytest.mark.parametrize("size", [1, 2, 5, 31, 32, 33, 40, 200])
def test_sets_of_codes_sort_as_their_keys_do(size: int) -> None:
    random = np.random.default_rng(size)
    n = 400
    codes = np.concatenate([np.arange(size), random.integers(0, random.choice([2, size], n).clip(1, size))])
    column = Column(
        Domain(name="job", kind="category", values=pa.array([f"{i:03}" for i in range(size)]), ordered=False),
        codes.astype(np.int32),
    )
    labels = random.integers(0, 150, len(codes))
    groups = gh.Groups(np.unique(labels, return_inverse=True)[1].astype(np.int32), len(np.unique(labels)))

    keys, of_group = cell_keys._set_keys(column, groups)
    sets, expected = group_sets(column, groups)

    assert cell_keys._sets_of(keys, size) == sets
    assert of_group.tolist() == expected.tolist()
    assert ("u" if size <= 32 else "S") == keys.dtype.kind


@pytest.mark.parametrize(("marked", "digits"), [(0, 1 << 24), (2048, 1)])
def test_sets_as_lists_and_texts_in_small_steps_give_the_same_tables(
    marked: int, digits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell_keys, "_MARKED", marked)
    monkeypatch.setattr(cell_keys, "_DIGITS", digits)
    assert not fails("boxes")
    assert not fails("taxonomies")


@pytest.mark.parametrize("name", RECODINGS)
def test_rows_of_several_words_give_the_same_tables(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    widest = []
    real = WordFields.packed

    def packed(self: WordFields, columns: Any) -> Any:
        widest.append(self.n_words)
        return real(self, columns)

    monkeypatch.setattr(word_fields, "_WORD", 9)
    monkeypatch.setattr(WordFields, "packed", packed)
    assert not fails(name)
    assert max(widest) > 1


@pytest.mark.parametrize("name", RECODINGS)
def test_a_table_of_thousands_is_the_same_in_parts(name: str) -> None:
    whole, parts = both(name, 12, 4500, 20_000)
    assert is_whole(whole, parts)
    assert max(len(found) for found in parts.values()) > 1


def test_borders_from_samples_do_not_depend_on_the_order_of_pieces() -> None:
    table, groups = people(12, 20_000), grouped(12, 20_000)
    kinds, of_row = kinds_of(table)
    pieces = pieces_of(of_row, groups, 9, 1)
    (plan,) = gh.Boxes().in_parts(kinds, part_rows=2000)
    summaries = [plan.summary(piece) for piece in pieces]
    random = np.random.default_rng(1)
    found = {
        tuple(plan.settle(groups.n_groups, [summaries[i] for i in random.permutation(9)]).borders.tolist())
        for _ in range(20)
    }

    assert len(found) == 1
    assert 5 < len(found.pop()) < 15
