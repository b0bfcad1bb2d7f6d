# SPDX-License-Identifier: Apache-2.0
"""The disk engine: groups as random as those made in memory, nothing left behind, the same release."""

from __future__ import annotations

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.cli.progress import progress_bar
from glasshouse.grouping.anatomize.anatomize import anatomize_segments
from glasshouse.kernels import interpreted
from glasshouse.microdata.domains import Domain
from glasshouse.recoding.anatomy import Anatomy
from glasshouse.streaming import anatomize as streaming
from glasshouse.streaming import spill as disk_engine
from glasshouse.streaming.anatomize import Piece, Tuples, anatomize_stream
from glasshouse.streaming.batches import open_stream
from glasshouse.streaming.packing import Field, Packing
from glasshouse.streaming.publish import PublishedFile, publish_file
from glasshouse.streaming.spill import Disk, Layout, Spill
from glasshouse.streaming.survey import survey
from glasshouse.verification.recount import recount
from tests.tiers import examples
from tests.twins import enumerating

Groups = tuple[frozenset[int], ...]


def pieces(
    sensitive: Sequence[int],
    ell: int,
    source: Any,
    folder: Path,
    *,
    partitions: int = 1,
    page: int = 3,
    batch: int = 2,
    order: Sequence[int] | None = None,
    keys: np.ndarray | None = None,
    small: int = 48,
) -> list[Piece]:
    """Anatomize a stream whose tuples come in ``order``; who they are is their place in ``sensitive``."""
    codes = np.array(sensitive, np.int32)
    rows = np.arange(len(codes)) if order is None else np.array(order)
    keys = np.arange(len(codes), dtype=np.uint64) if keys is None else keys

    def tuples() -> Iterator[Tuples]:
        for start in range(0, len(rows), batch):
            some = rows[start : start + batch]
            yield Tuples(codes[some], keys[some], some)

    engine = Disk(folder=folder, partitions=partitions, page=page)
    key = (keys.dtype, 1 if keys.ndim == 1 else keys.shape[1])
    return list(anatomize_stream(np.bincount(codes), ell, tuples, source, engine, key=key, with_rows=True, small=small))


def numbered(found: Sequence[Piece]) -> Groups:
    """The groups in the order of their numbers, which ascend from 1."""
    groups = []
    for piece in found:
        assert piece.first == len(groups) + 1
        assert piece.rows is not None
        for a, b in itertools.pairwise(piece.offsets.tolist()):
            groups.append(frozenset(piece.rows[a:b].tolist()))
    return tuple(groups)


def in_memory(sensitive: Sequence[int], ell: int, draws: Any) -> Groups:
    """The memory engine's groups, in the order of fresh random numbers."""
    codes = np.array(sensitive, np.int32)
    labels = anatomize_segments(codes, np.array([0, len(codes)]), int(codes.max()) + 1, ell, draws)
    groups = [frozenset(np.flatnonzero(labels == g).tolist()) for g in range(labels.max() + 1)]
    return tuple(groups[g] for g in draws.permutation(len(groups)))


# ------------------------------------------------------------------------------------------- equal in distribution

TINY = [
    ([0, 0, 1, 1], 2),
    ([0, 0, 1, 1, 2], 2),
    ([2, 0, 0, 1, 1], 2),
    ([0, 1, 2, 3, 3], 2),
    ([0, 1, 2], 2),
    ([0, 1, 2, 3, 4], 3),
    ([0, 0, 1, 1, 2, 2], 3),
    ([0, 0, 1, 2, 3], 2),
]


@pytest.mark.parametrize(("sensitive", "ell"), TINY)
@pytest.mark.parametrize(("partitions", "page"), [(1, 1), (2, 1), (2, 7), (4, 2)])
def test_every_numbered_partition_is_exactly_as_likely_as_in_memory(
    sensitive: list[int], ell: int, partitions: int, page: int, tmp_path: Path
) -> None:
    expected = enumerating.distribution(lambda draws: in_memory(sensitive, ell, draws))

    found = enumerating.distribution(
        lambda draws: numbered(pieces(sensitive, ell, draws, tmp_path, partitions=partitions, page=page))
    )

    assert expected == found


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[1::5])
def test_the_order_of_the_file_changes_no_probability(order: tuple[int, ...], tmp_path: Path) -> None:
    sensitive = [0, 0, 1, 1]
    expected = enumerating.distribution(lambda draws: in_memory(sensitive, 2, draws))

    found = enumerating.distribution(
        lambda draws: numbered(pieces(sensitive, 2, draws, tmp_path, partitions=2, order=order))
    )

    assert expected == found


class Biased:
    """Draws of which one kind is not random: what a careless engine would do."""

    def __init__(self, draws: Any, kind: str) -> None:
        self._draws = draws
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        if name != self._kind:
            return getattr(self._draws, name)
        return {
            "shuffle_runs": lambda array, offsets: None,
            "permutation": lambda n: np.arange(n, dtype=np.int32),
            # a tuple goes to the first partition that wants it; groups still go to random ones
            "belows": lambda bounds, size=None: (
                np.zeros(len(bounds), np.int64) if size is None else self._draws.belows(bounds, size)
            ),
            "below": lambda n: 0,
        }[name]


@pytest.mark.parametrize(
    ("kind", "sensitive", "partitions"),
    [
        ("shuffle_runs", [0, 0, 1, 1], 1),  # tuples taken in the order of the file
        ("permutation", [0, 0, 1, 2, 3], 1),  # groups numbered as they were made
        ("belows", [0, 0, 1, 1], 2),  # partitions filled in the order of the file
        ("below", [0, 0, 1, 2, 3], 1),  # residues always in the first group
    ],
)
def test_the_comparison_sees_every_choice_that_is_not_random(
    kind: str, sensitive: list[int], partitions: int, tmp_path: Path
) -> None:
    expected = enumerating.distribution(lambda draws: in_memory(sensitive, 2, draws))

    found = enumerating.distribution(
        lambda draws: numbered(pieces(sensitive, 2, Biased(draws, kind), tmp_path, partitions=partitions))
    )

    assert expected != found


def test_a_larger_table_is_divided_as_uniformly_as_in_memory(tmp_path: Path) -> None:
    """Who shares a group with person 0, and under which number: chi-square over seeded runs, 99.9 % quantiles."""
    sensitive = [0] * 4 + [1] * 4 + [2] * 4 + [3] * 3
    runs = 1000

    def chi_square(counts: Counter[int], outcomes: list[int]) -> float:
        expected = runs / len(outcomes)
        return sum((counts[o] - expected) ** 2 / expected for o in outcomes)

    def drawn(source: Callable[[int], Any]) -> tuple[float, float]:
        mates: Counter[int] = Counter()
        numbers: Counter[int] = Counter()
        for seed in range(runs):
            groups = numbered(pieces(sensitive, 3, source(seed), tmp_path, partitions=4, page=2, batch=5))
            (own,) = (g for g, group in enumerate(groups) if 0 in group)
            numbers[own] += 1
            mates[min(groups[own] & {4, 5, 6, 7}, default=8)] += 1
        there = {o: mates[o] for o in (4, 5, 6, 7)}
        total = sum(there.values())
        skew = sum((c - total / 4) ** 2 / (total / 4) for c in there.values())
        return skew, chi_square(numbers, list(range(5)))

    mates, numbers = drawn(gh.Source.seeded)
    assert mates < 16.3  # 3 degrees of freedom
    assert numbers < 18.5  # 4 degrees of freedom

    _, numbers = drawn(lambda seed: Biased(gh.Source.seeded(seed), "belows"))
    assert numbers > 60  # the statistic sees a file that is spilled in its own order


def test_numbers_do_not_tell_in_which_order_groups_were_made(tmp_path: Path) -> None:
    """The most frequent value is in all early groups and in few late ones: its mean number must be that of all."""
    sensitive = [0] * 60 + [1] * 55 + [v for v in range(2, 62) for _ in range(6)]
    ell = 4

    def mean_rank(source: Callable[[int], Any]) -> float:
        z = []
        for seed in range(30):
            found = pieces(sensitive, ell, source(seed), tmp_path, partitions=4, page=16, batch=64)
            groups = numbered(found)
            has = [g for g, group in enumerate(groups) if any(row < 60 for row in group)]
            n, k = len(groups), len(has)
            sd = ((n + 1) * (n - k) / (12 * k)) ** 0.5
            z.append((np.mean(has) - (n - 1) / 2) / sd)
        return abs(float(np.sum(z))) / len(z) ** 0.5

    class AsMade:
        def __init__(self, seed: int) -> None:
            self._source = gh.Source.seeded(seed)
            self._n = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(self._source, name)

        def belows(self, bounds: Any, size: int | None = None) -> Any:
            return np.sort(self._source.belows(bounds, size)) if size is not None else self._source.belows(bounds)

        def permutation(self, n: int) -> Any:
            return np.arange(n, dtype=np.int32)

    assert mean_rank(gh.Source.seeded) < 4
    assert mean_rank(AsMade) > 8  # the statistic sees it


# ------------------------------------------------------------------------------------------------- laws of groups


@st.composite
def diverse(draw: st.DrawFn) -> tuple[list[int], int]:
    ell = draw(st.integers(1, 6))
    sizes = draw(st.lists(st.integers(1, 30), min_size=ell, max_size=20))
    while max(sizes) * ell > sum(sizes):
        sizes[sizes.index(max(sizes))] -= 1
    codes = [v for v, size in enumerate(sizes) for _ in range(size)]
    return draw(st.permutations(codes)), ell


@settings(max_examples=examples(150), deadline=None)
@given(
    case=diverse(),
    seed=st.integers(0, 99),
    partitions=st.sampled_from([1, 2, 8, 64]),
    page=st.integers(1, 9),
    batch=st.sampled_from([1, 3, 1000]),
    small=st.sampled_from([0, 2, 48]),
)
def test_every_group_has_different_values_and_the_error_is_that_of_theorem_4(
    case: tuple[list[int], int], seed: int, partitions: int, page: int, batch: int, small: int, tmp_path_factory: Any
) -> None:
    sensitive, ell = case
    folder = tmp_path_factory.getbasetemp()
    keys = np.random.default_rng(seed).integers(0, 4, len(sensitive)).astype(np.uint16)
    choices: dict[str, Any] = {"partitions": partitions, "page": page, "batch": batch, "keys": keys, "small": small}
    found = pieces(sensitive, ell, gh.Source.seeded(seed), folder, **choices)
    groups = numbered(found)
    n, r = len(sensitive), len(sensitive) % ell

    assert sorted(row for group in groups for row in group) == list(range(n))
    assert n // ell == len(groups)
    for piece in found:
        assert piece.rows is not None
        assert (keys[piece.rows] == piece.keys[:, 0]).all()
        for a, b in itertools.pairwise(piece.offsets.tolist()):
            values = [sensitive[row] for row in piece.rows[a:b]]
            assert sorted(set(values)) == sorted(values) == piece.values[a:b].tolist()
            assert (np.diff(piece.keys[a:b, 0].astype(int)) >= 0).all()
    error = sum(len(group) * (1 - Fraction(1, len(group))) for group in groups)
    assert (n - r) * (1 - Fraction(1, ell)) + r == error


@settings(max_examples=25, deadline=None)
@given(case=diverse(), seed=st.integers(0, 9), words=st.sampled_from([1, 3]))
def test_interpreted_kernels_make_the_same_groups(
    case: tuple[list[int], int], seed: int, words: int, tmp_path_factory: Any
) -> None:
    sensitive, ell = case
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2, (len(sensitive), words)).astype(np.uint64) << np.uint64(63)
    keys = keys if words > 1 else keys[:, 0]

    def run() -> Any:
        found = pieces(
            sensitive, ell, gh.Source.seeded(seed), tmp_path_factory.getbasetemp(), partitions=4, page=4, keys=keys
        )
        return [(p.first, p.offsets.tolist(), p.keys.tolist(), p.values.tolist()) for p in found]

    expected = run()
    with pytest.MonkeyPatch.context() as patch:
        for module in (disk_engine, streaming):
            patch.setattr(module, "compiled", interpreted)
        assert expected == run()


@pytest.mark.parametrize(("n_values", "ell", "of_each"), [(5000, 3, 4), (5000, 60, 2), (300, 100, 5), (70_000, 2, 1)])
def test_thousands_of_values_and_large_groups_are_divided_as_figure_3_says(
    n_values: int, ell: int, of_each: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(n_values)
    sizes = rng.integers(1, of_each + 1, n_values)
    sensitive = rng.permutation(np.repeat(np.arange(n_values), sizes))
    sensitive = sensitive[: len(sensitive) // ell * ell]  # no residues: all groups are then as the figure says
    found = pieces(sensitive.tolist(), ell, gh.Source.seeded(1), tmp_path, partitions=8, page=50, batch=4096)
    groups = numbered(found)

    labels = anatomize_segments(
        sensitive.astype(np.int32), np.array([0, len(sensitive)]), n_values, ell, gh.Source.seeded(1)
    )
    order = np.argsort(labels, kind="stable")
    borders = np.flatnonzero(np.diff(labels[order])) + 1
    expected = Counter(tuple(sorted(part.tolist())) for part in np.split(sensitive[order], borders))
    actual = Counter(tuple(sorted(sensitive[list(group)].tolist())) for group in groups)

    assert expected == actual


def test_partitions_stay_within_their_share_however_the_file_is_sorted(tmp_path: Path) -> None:
    n = 40_000
    sensitive = np.sort(np.random.default_rng(0).integers(0, 40, n))
    found = pieces(sensitive.tolist(), 5, gh.Source.seeded(3), tmp_path, partitions=16, page=100, batch=512)

    assert len(found) == 16
    assert max(len(piece.keys) for piece in found) < 2 * n / 16  # a sixteenth, give or take


def test_a_stream_that_is_not_the_one_that_was_counted_is_refused(tmp_path: Path) -> None:
    codes = np.array([0, 1, 0, 1], np.int32)
    for other in (np.append(codes, np.int32(1)), codes[:3], np.array([0, 0, 0, 1], np.int32)):

        def tuples(other: np.ndarray = other) -> Iterator[Tuples]:
            yield Tuples(other, np.zeros(len(other), np.uint64))

        with pytest.raises(gh.SourceError, match="changed while it was read"):
            list(anatomize_stream(np.array([2, 2]), 2, tuples, gh.Source.seeded(0), Disk(folder=tmp_path)))


# ------------------------------------------------------------------------------------------------------- the spill


@settings(max_examples=examples(60), deadline=None)
@given(
    parts=st.lists(st.integers(0, 3), max_size=60),
    page=st.integers(1, 7),
    cut=st.integers(0, 60),
    width=st.integers(1, 3),
)
def test_a_spill_gives_back_what_it_got_partition_by_partition(
    parts: list[int], page: int, cut: int, width: int, tmp_path_factory: Any
) -> None:
    numbers = np.arange(len(parts) * width, dtype=np.uint16).reshape(len(parts), width)
    numbers = numbers if width > 1 else numbers[:, 0]
    rows = np.arange(len(parts))
    with Spill(tmp_path_factory.getbasetemp(), Layout.of((np.uint16, width), (np.int64, 1)), 4, page) as spill:
        for part in (slice(0, cut), slice(cut, None)):
            spill.append(np.array(parts, np.int64)[part], [numbers[part], rows[part]])
        for p in range(4):
            mine = [i for i, q in enumerate(parts) if q == p]
            assert spill.count(p) == len(mine)
            found, where = spill.read(p)
            assert (found == numbers[mine]).all()
            assert where.tolist() == mine


def test_a_spill_has_no_name_and_only_its_owner_may_open_it(tmp_path: Path) -> None:
    with Spill(tmp_path, Layout.of((np.int64, 1)), 1, 1) as spill:
        spill.append(np.zeros(2, np.int64), [np.arange(2)])

        assert list(tmp_path.iterdir()) == []
        assert os.fstat(spill._file.fileno()).st_nlink == 0
        assert os.fstat(spill._file.fileno()).st_mode & 0o777 == 0o600
        assert os.fstat(spill._file.fileno()).st_size == 16


@pytest.mark.parametrize(
    "wrong", [{"memory": 1000}, {"partitions": 3}, {"partitions": 0}, {"page": 0}], ids=lambda wrong: str(wrong)
)
def test_an_engine_of_impossible_size_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(gh.ParameterError, match="Disk: "):
        Disk(folder=Path(), **wrong)


def test_partitions_shrink_with_the_table_and_grow_fewer_with_very_many_values() -> None:
    engine = Disk(folder=Path())

    assert engine.partitions_for(1000, 40, 50) == 1
    assert engine.partitions_for(10**8, 40, 50) == 256
    assert engine.partitions_for(10**8, 40, 2_000_000) == 4


# ------------------------------------------------------------------------------------------------ packing of tuples


@settings(max_examples=examples(100), deadline=None)
@given(data=st.data(), n=st.integers(1, 12), gaps=st.booleans())
def test_packed_tuples_sort_as_their_values_and_unpack_to_them(data: st.DataObject, n: int, gaps: bool) -> None:
    kinds = data.draw(
        st.lists(st.sampled_from(["int", "big", "float", "text", "date", "bool"]), min_size=1, max_size=5)
    )
    values_of: dict[str, Any] = {
        "int": (st.integers(-3, 200), pa.int64()),
        "big": (st.integers(-(2**63), 2**63 - 1), pa.int64()),
        "float": (st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0), pa.float64()),
        "text": (st.sampled_from("abcdefg"), pa.string()),
        "date": (st.dates(date(1900, 1, 1), date(2100, 1, 1)), pa.date32()),
        "bool": (st.booleans(), pa.bool_()),
    }
    columns, fields = [], []
    for i, kind in enumerate(kinds):
        strategy, arrow = values_of[kind]
        one = st.one_of(st.none(), strategy) if gaps else strategy
        values = data.draw(st.lists(one, min_size=n, max_size=n))
        there = [value for value in values if value is not None]
        column = pa.array(values, arrow)
        listed = kind == "text"
        domain_values = pa.array(sorted(set(there)) if listed else [], arrow)
        domain = Domain(
            name=f"c{i}", kind="category" if listed else "integer", values=domain_values, ordered=True, missing=gaps
        )
        numbers = [_number(value) for value in there] if kind not in ("text", "float") else [0]
        fields.append(Field(domain=domain, listed=listed, low=min(numbers, default=0), high=max(numbers, default=0)))
        columns.append(column)
    packing = Packing(tuple(fields))

    keys = packing.pack(columns)
    words = keys.astype(np.uint64).reshape(n, -1)
    shown = packing.unpack(words)

    rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
    assert rows == list(zip(*(shown[f"c{i}"].to_pylist() for i in range(len(kinds))), strict=True))
    ranked = [tuple((value is None, 0 if value is None else value) for value in row) for row in rows]
    for a, b in itertools.combinations(range(n), 2):
        assert (ranked[a] < ranked[b]) == (tuple(words[a]) < tuple(words[b]))


def _number(value: Any) -> int:
    return (value - date(1970, 1, 1)).days if isinstance(value, date) else int(value)


# ------------------------------------------------------------------------------------------------------- the journey

PEOPLE = 600


def hospital(n: int = PEOPLE, seed: int = 3) -> pa.Table:
    return gh.synthetic.hospital_table(n=n, seed=seed)


def as_file(table: pa.Table, folder: Path, format: str, **options: Any) -> Path:
    path = folder / f"people.{format}"
    if format == "csv":
        pa_csv.write_csv(table, path)
    else:
        pq.write_table(table, path, **options)
    return path


def published(out: Path, file: Path, **choices: Any) -> PublishedFile:
    given: dict[str, Any] = {
        "quasi": ["age", "sex", "zipcode"],
        "sensitive": "disease",
        "principle": gh.LDiversity(ell=3),
        "source": gh.Source.seeded(5),
        "allow_seed": True,
        **choices,
    }
    return publish_file(out, file, **given)


def rows_of(table: pa.Table, names: Sequence[str]) -> Counter[Any]:
    return Counter(zip(*(table.column(name).to_pylist() for name in names), strict=True))


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("incoming", ["parquet", "csv"])
def test_a_file_is_published_as_the_same_table_in_memory_is(incoming: str, format: str, tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, incoming)
    result = published(tmp_path / "disk", file, format=format)
    roles: dict[str, Any] = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease"}
    table = gh.read(file, **roles)
    gh.publish(
        table,
        out=tmp_path / "memory",
        principle=gh.LDiversity(ell=3),
        method=gh.Anatomize(),
        recoding=Anatomy(),
        source=gh.Source.seeded(5),
        allow_seed=True,
        format=format,
    )
    here, there = gh.load(tmp_path / "disk" / "release"), gh.load(tmp_path / "memory" / "release")

    assert here.tables.keys() == there.tables.keys() == {"qit", "st"}
    for name in here.tables:
        assert here.tables[name].schema == there.tables[name].schema
    assert here.recipe == there.recipe == result.recipe
    assert here.guarantee == there.guarantee == result.guarantee
    assert here.columns == there.columns == result.columns
    assert (here.n_tuples, here.n_dropped) == (there.n_tuples, there.n_dropped) == (PEOPLE, 0)
    assert set(result.notices) == set(table.notices)
    quasi = ["age", "sex", "zipcode"]
    assert rows_of(here.tables["qit"], quasi) == rows_of(there.tables["qit"], quasi)
    assert rows_of(here.tables["st"], ["disease"]) == rows_of(there.tables["st"], ["disease"])
    _check_anatomized(here.tables["qit"], here.tables["st"], quasi, "disease", 3)
    manifests = [
        json.loads((tmp_path / where / "release" / "datapackage.json").read_text()) for where in ("disk", "memory")
    ]
    for manifest in manifests:
        for file in (*manifest["resources"], *manifest["glasshouse"]["files"]):
            file.pop("bytes", None)
            del file["hash"]
    assert manifests[0] == manifests[1]


def _check_anatomized(qit: pa.Table, st: pa.Table, quasi: list[str], sensitive: str, ell: int) -> None:
    """Sorted by number, then by value; every group l-diverse; both tables agree."""
    for table, names in ((qit, ["Group-ID", *quasi]), (st, ["Group-ID", sensitive])):
        rows = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
        assert rows == sorted(rows, key=lambda row: tuple((value is None, value) for value in row))
    sizes = Counter(qit.column("Group-ID").to_pylist())
    assert sorted(sizes) == list(range(1, len(sizes) + 1))
    assert sizes == Counter(st.column("Group-ID").to_pylist())  # every count is 1
    assert set(st.column("Count").to_pylist()) == {1}
    assert min(sizes.values()) >= ell
    assert max(rows_of(st, ["Group-ID", sensitive]).values()) == 1


@pytest.mark.parametrize("memory", [64 << 20, 256 << 20])
def test_small_pages_and_many_partitions_publish_the_whole_table(memory: int, tmp_path: Path) -> None:
    table = gh.synthetic.census_table(30_000, seed=4).append_column(
        "city", pa.array([f"c{i % 700}" for i in range(30_000)])
    )
    table = table.append_column("weight", pa.array(np.random.default_rng(1).normal(70, 9, 30_000)))
    file = as_file(table, tmp_path, "parquet", row_group_size=4000)
    quasi = ["age", "city", "weight", "birthplace"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Disk, "partitions_for", lambda *_: 32)
        published(
            tmp_path / "out",
            file,
            quasi=quasi,
            sensitive="occupation",
            categorical=["occupation", "birthplace"],
            principle=gh.LDiversity(ell=7),
            memory=memory,
        )
    release = gh.load(tmp_path / "out" / "release")
    expected = table.set_column(
        table.column_names.index("birthplace"), "birthplace", table["birthplace"].cast(pa.string())
    )

    assert rows_of(expected, quasi) == rows_of(release.tables["qit"], quasi)
    assert rows_of(table, ["occupation"]) == rows_of(release.tables["st"], ["occupation"])
    _check_anatomized(release.tables["qit"], release.tables["st"], quasi, "occupation", 7)


def test_the_audit_keeps_who_is_in_which_group_for_its_owner_alone(tmp_path: Path) -> None:
    table = hospital()
    file = as_file(table, tmp_path, "parquet")
    published(tmp_path / "out", file)
    audit = tmp_path / "out" / "audit"
    kept = pq.read_table(audit / "partition.parquet")
    release = gh.load(tmp_path / "out" / "release")

    assert kept["row"].to_pylist() == list(range(PEOPLE))
    assert {path.stat().st_mode & 0o777 for path in audit.iterdir()} == {0o600}
    assert audit.stat().st_mode & 0o777 == 0o700
    quasi = ["age", "sex", "zipcode"]
    joined = table.append_column("Group-ID", kept["group"])
    assert rows_of(joined, [*quasi, "Group-ID"]) == rows_of(release.tables["qit"], [*quasi, "Group-ID"])
    assert rows_of(joined, ["Group-ID", "disease"]) == rows_of(release.tables["st"], ["Group-ID", "disease"])
    report = json.loads((audit / "report.json").read_text())
    assert report["achieved"]["n_tuples"] == PEOPLE
    assert report["achieved"]["largest_share"] == "1/3"


def test_the_audit_can_go_without_the_partition(tmp_path: Path) -> None:
    published(tmp_path / "out", as_file(hospital(), tmp_path, "parquet"), partition=False)

    assert {path.name for path in (tmp_path / "out" / "audit").iterdir()} == {
        "contents.json",
        "report.json",
        "published.json",
    }


def test_a_published_file_tells_nothing_of_pages_partitions_or_the_source(tmp_path: Path) -> None:
    table = hospital(2000)
    file = as_file(table.replace_schema_metadata({"secret": "x"}), tmp_path, "parquet")
    published(tmp_path / "out", file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Disk, "partitions_for", lambda *_: 16)
        published(tmp_path / "again", file)

    for where in ("out", "again"):
        for name in ("qit", "st"):
            written = pq.ParquetFile(tmp_path / where / "release" / f"{name}.parquet")
            assert written.metadata.num_row_groups == 1
            assert set(written.metadata.metadata or {}) <= {b"ARROW:schema"}
            assert written.schema_arrow.metadata is None
            for i in range(written.metadata.num_columns):
                assert written.metadata.row_group(0).column(i).statistics is None
    names = {path.name for path in (tmp_path / "out").rglob("*")}
    assert names == {
        "release",
        "audit",
        "qit.parquet",
        "st.parquet",
        "datapackage.json",
        "contents.json",
        "README.md",
        "report.json",
        "partition.parquet",
        "published.json",
    }
    assert file.name not in (tmp_path / "out" / "release" / "datapackage.json").read_text()


def test_row_groups_end_where_the_number_of_rows_says(tmp_path: Path) -> None:
    import glasshouse.streaming.publish as module

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Disk, "partitions_for", lambda *_: 8)
        patch.setattr(module._Writer.__init__, "__kwdefaults__", {"row_group": 256})
        patch.setattr(module._Partition.__init__, "__kwdefaults__", {"rows": 64})
        published(tmp_path / "out", as_file(hospital(1000), tmp_path, "parquet"))
    written = pq.ParquetFile(tmp_path / "out" / "release" / "qit.parquet").metadata
    kept = pq.read_table(tmp_path / "out" / "audit" / "partition.parquet")

    assert [written.row_group(i).num_rows for i in range(written.num_row_groups)] == [256, 256, 256, 232]
    assert kept["row"].to_pylist() == list(range(1000))


def test_the_same_seed_and_file_give_the_same_bytes_and_a_secure_source_others(tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")
    for name in ("a", "b"):
        published(tmp_path / name, file)
    published(tmp_path / "c", file, source=None)
    contents = [(tmp_path / name / "release" / "qit.parquet").read_bytes() for name in "abc"]

    assert contents[0] == contents[1] != contents[2]


# ---------------------------------------------------------------------------------------------- the rules of `read`


def with_gaps() -> pa.Table:
    table = hospital(200)
    for name, every in (("age", 7), ("disease", 11), ("sex", 13)):
        values = [None if i % every == 3 else v for i, v in enumerate(table[name].to_pylist())]
        table = table.set_column(table.column_names.index(name), name, pa.array(values, table[name].type))
    return table


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("incoming", ["parquet", "csv"])
def test_missing_values_are_an_error_with_the_words_of_read(incoming: str, statistics: bool, tmp_path: Path) -> None:
    options = {} if incoming == "csv" else {"write_statistics": statistics}
    file = as_file(with_gaps(), tmp_path, incoming, **options)
    with pytest.raises(gh.DomainError) as expected:
        gh.read(file, quasi=["age", "sex", "zipcode"], sensitive="disease")

    with pytest.raises(gh.DomainError) as found:
        published(tmp_path / "out", file)

    assert str(expected.value) == str(found.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("incoming", ["parquet", "csv"])
@pytest.mark.parametrize("missing", ["category", "drop"])
def test_missing_values_become_a_category_or_drop_their_rows_as_in_read(
    missing: Any, incoming: str, tmp_path: Path
) -> None:
    file = as_file(with_gaps(), tmp_path, incoming)
    roles: dict[str, Any] = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease", "missing": missing}
    table = gh.read(file, **roles)
    result = published(tmp_path / "out", file, missing=missing)
    release = gh.load(tmp_path / "out" / "release")
    expected = pa.table({c.name: c.domain.decode(c.codes) for c in (*table.quasi, *table.sensitive)})

    quasi = ["age", "sex", "zipcode"]
    assert rows_of(expected, quasi) == rows_of(release.tables["qit"], quasi)
    assert rows_of(expected, ["disease"]) == rows_of(release.tables["st"], ["disease"])
    assert result.n_tuples == table.n_tuples
    assert result.n_dropped == (200 - table.n_tuples)
    assert set(result.notices) == set(table.notices)
    _check_anatomized(release.tables["qit"], release.tables["st"], quasi, "disease", 3)
    assert pq.read_table(tmp_path / "out" / "audit" / "partition.parquet").num_rows == table.n_tuples


def test_what_occurs_in_dropped_rows_only_is_in_no_published_dictionary(tmp_path: Path) -> None:
    table = pa.table(
        {
            "city": ["a", "b", "SECRET", "a", "b"],
            "age": [1, 2, None, 4, 5],
            "disease": ["flu", "gout", "HIDDEN", "gout", "flu"],
        }
    )
    for incoming in ("parquet", "csv"):
        file = as_file(table, tmp_path, incoming)
        published(tmp_path / incoming, file, quasi=["city", "age"], missing="drop", principle=gh.LDiversity(ell=2))
        for path in (tmp_path / incoming).rglob("*.*"):
            assert b"SECRET" not in path.read_bytes()
            assert b"HIDDEN" not in path.read_bytes()


@pytest.mark.parametrize("incoming", ["parquet", "csv"])
def test_a_table_that_is_not_diverse_is_refused_with_the_same_witness_and_nothing_is_written(
    incoming: str, tmp_path: Path
) -> None:
    file = as_file(hospital(), tmp_path, incoming)
    principle = gh.LDiversity(ell=40)
    table = gh.read(file, quasi=["age", "sex", "zipcode"], sensitive="disease")
    with pytest.raises(gh.Infeasible) as expected:
        gh.publish(table, principle=principle, method=gh.Anatomize(), recoding=Anatomy())

    with pytest.raises(gh.Infeasible) as found:
        published(tmp_path / "out", file, principle=principle)

    assert str(expected.value) == str(found.value)
    assert vars(expected.value) == vars(found.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


TRICKY = {
    "late_zero": ["7"] * 3000 + ["007"] + ["8"] * 7,
    "late_float": ["7"] * 3000 + ["7.5"] + ["8"] * 7,
    "late_text": ["7"] * 3000 + ["x"] + ["8"] * 7,
    "floats": ["1.5", "2", "-0.0", "1e3"] * 752,
    "spaces": ["1", " 2", "3", "4 "] * 752,
    "late_number": [""] * 2999 + ["x"] * 9,
    "dates": ["2020-01-01", "2019-12-31"] * 1504,
    "late_time": ["2020-01-01"] * 3000 + ["2020-01-01 10:00:00"] * 8,
    "late_no_date": ["2020-01-01"] * 3000 + ["today"] * 8,
    "bools": ["true", "false"] * 1504,
    "times": ["10:00:00", "09:30:00"] * 1504,
    "stamps": ["2020-01-01 10:00:00", "2020-01-01 11:00:00"] * 1504,
    "large": ["9007199254740993", "1"] * 1504,
    "quoted": ['"a, b"', "c"] * 1504,
}


@pytest.mark.parametrize("name", TRICKY)
def test_a_column_of_text_is_taken_for_what_read_takes_it(name: str, tmp_path: Path) -> None:
    values = TRICKY[name]
    disease = [f"d{i % 5}" for i in range(len(values))]
    pad = "p" * 120  # the beginning that is looked at must end before the surprise
    lines = [f"{v},{d},{pad}" for v, d in zip(values, disease, strict=True)]
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["value,disease,pad", *lines]) + "\n")
    table = gh.read(file, quasi=["value"], sensitive="disease", missing="category")
    result = published(tmp_path / "out", file, quasi=["value"], missing="category", principle=gh.LDiversity(ell=2))
    qit = gh.load(tmp_path / "out" / "release").tables["qit"]
    shown = table.quasi[0].domain.decode(table.quasi[0].codes)

    kind = qit["value"].type
    assert (kind.value_type if pa.types.is_dictionary(kind) else kind) == shown.type
    assert Counter(shown.to_pylist()) == Counter(qit["value"].to_pylist())
    assert result.columns[0].kind == table.quasi[0].domain.kind
    assert {n for n in result.notices if "kept as text" in n} == {n for n in table.notices if "kept as text" in n}


@pytest.mark.parametrize(
    "column",
    [
        pa.array([date(2020, 1, d % 28 + 1) for d in range(60)]),
        pa.array([datetime(2020, 1, 1, d % 24) for d in range(60)], pa.timestamp("ns", "UTC")),
        pa.array([datetime(2020, 1, 1, d % 24) for d in range(60)], pa.date64()),
        pa.array([d % 2 == 0 for d in range(60)]),
        pa.array([d % 9 for d in range(60)], pa.uint64()),
        pa.array([d % 9 - 4 for d in range(60)], pa.int16()),
        pa.array([float(d % 9) - 4.5 for d in range(60)], pa.float32()),
        pa.array([f"t{d % 9}" for d in range(60)], pa.large_string()),
        pa.array([f"t{d % 9}" for d in range(60)]).dictionary_encode(),
        pa.array([str(d % 9) for d in range(60)], pa.string()).cast(pa.decimal128(5, 0)),
    ],
    ids=lambda column: str(column.type),
)
@pytest.mark.parametrize("gaps", [False, True])
def test_parquet_columns_of_every_kind_come_out_as_read_takes_them(
    column: pa.Array, gaps: bool, tmp_path: Path
) -> None:
    if gaps:
        column = pc.if_else(pa.array([i % 7 != 1 for i in range(60)]), column, pa.scalar(None, column.type))
    table = pa.table({"value": column, "disease": [f"d{i % 5}" for i in range(60)]})
    file = as_file(table, tmp_path, "parquet", row_group_size=25)
    read = gh.read(file, quasi=["value"], sensitive="disease", missing="category")
    published(tmp_path / "out", file, quasi=["value"], missing="category", principle=gh.LDiversity(ell=2))
    qit = gh.load(tmp_path / "out" / "release").tables["qit"]
    shown = read.quasi[0].domain.decode(read.quasi[0].codes)

    kind = qit["value"].type
    assert (kind.value_type if pa.types.is_dictionary(kind) else kind) == shown.type
    assert Counter(shown.to_pylist()) == Counter(qit["value"].to_pylist())


def test_a_declared_order_orders_rows_and_ties(tmp_path: Path) -> None:
    table = pa.table({"grade": ["low", "high", "mid"] * 8, "disease": [f"d{i % 4}" for i in range(24)]})
    file = as_file(table, tmp_path, "parquet")
    order = {"grade": ["low", "mid", "high"], "disease": ["d3", "d1", "d0", "d2"]}
    published(tmp_path / "out", file, quasi=["grade"], ordered=order, principle=gh.LDiversity(ell=3))
    release = gh.load(tmp_path / "out" / "release")

    for name, column in (("qit", "grade"), ("st", "disease")):
        shown = release.tables[name]
        places = [
            (g, order[column].index(v))
            for g, v in zip(shown["Group-ID"].to_pylist(), shown[column].to_pylist(), strict=True)
        ]
        assert places == sorted(places)


@pytest.mark.parametrize("sensitive_too", [False, True])
def test_an_order_may_be_declared_for_numbers_and_comes_with_ordered_categories(
    sensitive_too: bool, tmp_path: Path
) -> None:
    grades = pa.array(["low", "high", "mid"] * 8)
    order = pa.array(["low", "mid", "high"])
    ordered = pa.DictionaryArray.from_arrays(pc.index_in(grades, value_set=order), order, ordered=True)
    table = pa.table({"grade": ordered, "rank": [3, 1, 2] * 8, "disease": [f"d{i % 4}" for i in range(24)]})
    file = as_file(table, tmp_path, "parquet", row_group_size=10)
    declared: dict[str, Any] = {"rank": [2, 3, 1], **({"disease": ["d3", "d1", "d0", "d2"]} if sensitive_too else {})}
    roles: dict[str, Any] = {"quasi": ["grade", "rank"], "sensitive": "disease", "ordered": declared}
    read = gh.read(file, **roles)
    seen = survey(open_stream(file), **roles)

    for column, field in zip((*read.quasi, *read.sensitive), (*seen.packing.fields, seen.sensitive), strict=True):
        assert column.domain.values.equals(field.domain.values)
        assert column.domain.ordered == field.domain.ordered
    published(tmp_path / "out", file, **roles, principle=gh.LDiversity(ell=3))


@pytest.mark.parametrize("first", [0, 60_000], ids=["at once", "late"])
def test_a_file_in_another_encoding_is_read_as_read_does(first: int, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    cities = ["Bonn"] * first + ["Köln", "Zürich", "Málaga", "Łódź"] * 3000
    rows = [f"{city},d{i % 4}" for i, city in enumerate(cities)]
    file.write_bytes("\n".join(["city,disease", *rows]).encode("iso8859-2", "replace"))
    table = gh.read(file, quasi=["city"], sensitive="disease")
    result = published(tmp_path / "out", file, quasi=["city"], principle=gh.LDiversity(ell=2))

    assert {n for n in result.notices if "UTF-8" in n} == {n for n in table.notices if "UTF-8" in n}
    values = gh.load(tmp_path / "out" / "release").tables["qit"]["city"].to_pylist()
    assert set(values) == set(table.quasi[0].domain.values.to_pylist())


@pytest.mark.parametrize(
    ("choices", "error", "match"),
    [
        ({"quasi": ["agee"]}, gh.SchemaError, "did you mean 'age'"),
        ({"quasi": ["age", "disease"]}, gh.SchemaError, "give it one role"),
        ({"sensitive": "age"}, gh.SchemaError, "give it one role"),
        ({"quasi": ["sex"], "sensitive": "age"}, gh.DomainError, "holds amounts"),
        ({"identifier": "patient"}, gh.NotSupported, "identifier"),
        ({"principle": gh.KAnonymity(k=2)}, gh.NotSupported, "l-diversity"),
        ({"principle": gh.EntropyLDiversity(ell=2)}, gh.NotSupported, "l-diversity"),
        ({"format": "xlsx"}, gh.ParameterError, "parquet"),
        ({"allow_seed": False}, gh.OutputError, "fixed seed"),
        ({"memory": 5}, gh.ParameterError, "memory"),
        ({"categorical": ["aeg"]}, gh.SchemaError, "did you mean 'age'"),
    ],
)
def test_what_cannot_be_published_is_refused_and_nothing_is_written(
    choices: dict[str, Any], error: type[Exception], match: str, tmp_path: Path
) -> None:
    file = as_file(hospital(), tmp_path, "parquet")

    with pytest.raises(error, match=match):
        published(tmp_path / "out", file, **choices)

    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


def test_a_column_named_like_one_that_is_added_is_refused(tmp_path: Path) -> None:
    file = as_file(pa.table({"Group-ID": [1, 2], "disease": ["a", "b"]}), tmp_path, "parquet")

    with pytest.raises(gh.SchemaError, match="rename"):
        published(tmp_path / "out", file, quasi=["Group-ID"], principle=gh.LDiversity(ell=2))


def test_an_earlier_release_is_replaced_only_by_force(tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")
    published(tmp_path / "out", file)
    with pytest.raises(gh.OutputError, match="exists already"):
        published(tmp_path / "out", file)
    with pytest.warns(gh.DisclosureWarning, match="published from this folder before"):
        published(tmp_path / "out", file, force=True, format="csv")

    assert (tmp_path / "out" / "release" / "qit.csv").exists()
    assert not (tmp_path / "out" / "release" / "qit.parquet").exists()


def test_statistics_that_lie_are_found_out(tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")
    seen = survey(open_stream(file), quasi=["age"], sensitive="disease")
    (field,) = seen.packing.fields
    lying = Packing((Field(domain=field.domain, listed=False, low=field.low, high=field.high - 1),))

    with pytest.raises(gh.SourceError, match="statistics"):
        lying.pack([pa.array([field.high])])


def test_a_file_that_changes_between_the_two_readings_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")
    other = hospital(seed=9)
    changed: list[str] = []

    def change(phase: str, done: int, total: int) -> None:
        if not changed:
            changed.append(phase)
            pq.write_table(other, file)

    with pytest.raises(gh.SourceError, match="publish it when nobody writes to it"):
        published(tmp_path / "out", file, progress=change)

    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


# ----------------------------------------------------------------------------------------------- the second count


@pytest.fixture
def pair(tmp_path: Path) -> Callable[[dict[str, Any], dict[str, Any]], Any]:
    def counted(qit: dict[str, Any], st: dict[str, Any]) -> Any:
        results = []
        for format in ("parquet", "csv"):
            for name, columns in (("qit", qit), ("st", st)):
                as_file(pa.table(columns), tmp_path, format).rename(tmp_path / f"{name}.{format}")
            try:
                results.append(
                    recount(
                        tmp_path / f"qit.{format}",
                        tmp_path / f"st.{format}",
                        number="Group-ID",
                        value="x",
                        count="Count",
                        ell=2,
                        format=format,
                    )
                )
            except gh.GuaranteeBroken as broken:
                results.append(str(broken).partition(";")[0])
        assert results[0] == results[1]
        return results[0]

    return counted


GOOD_QIT: dict[str, Any] = {"q": [1, 2, 3, 4, 5], "Group-ID": [1, 1, 2, 2, 2]}
GOOD_ST: dict[str, Any] = {"Group-ID": [1, 1, 2, 2, 2], "x": ["b", "a", "c", "a", "b"], "Count": [1, 1, 1, 1, 1]}


def test_the_second_count_agrees_with_good_tables(pair: Any) -> None:
    found = pair(GOOD_QIT, GOOD_ST)

    assert (found.n_groups, found.n_tuples, found.smallest_group, found.largest_group) == (2, 5, 2, 3)
    assert found.largest_share == "1/2"


@pytest.mark.parametrize(
    ("qit", "st", "match"),
    [
        ({}, {"x": ["a", "a", "c", "a", "b"]}, "twice"),
        ({}, {"x": ["b", "a", "c", "a", "c"]}, "twice"),
        ({}, {"Count": [1, 1, 2, 1, 1]}, "as many"),
        ({"Group-ID": [1, 1, 1, 2, 2]}, {}, "as many"),
        ({"Group-ID": [1, 1, 3, 3, 3]}, {}, "numbered"),
        ({"Group-ID": [2, 2, 3, 3, 3]}, {"Group-ID": [2, 2, 3, 3, 3]}, "numbered"),
        ({"Group-ID": [1, 2, 1, 2, 2]}, {}, "numbered"),
        ({"q": [1, 2], "Group-ID": [1, 1]}, {}, "same groups"),
        ({}, {"Group-ID": [1, 1], "x": ["a", "b"], "Count": [1, 1]}, "same groups"),
        ({}, {"Group-ID": [1, 1, 2, 2], "x": ["b", "a", "c", "a"], "Count": [1, 1, 2, 1]}, "2-diversity"),
        ({}, {"Count": [2, 0, 1, 1, 1]}, "not positive"),
    ],
)
def test_the_second_count_finds_every_defect(pair: Any, qit: dict[str, Any], st: dict[str, Any], match: str) -> None:
    found = pair({**GOOD_QIT, **qit}, {**GOOD_ST, **st})

    assert isinstance(found, str)
    assert match in found


def test_tables_that_fail_the_second_count_never_appear(tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")
    real = streaming._emit

    def spoiled(*arguments: Any) -> Piece | None:
        piece = real(*arguments)
        if piece is not None:
            piece.values[1] = piece.values[0]
        return piece

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streaming, "_emit", spoiled)
        with pytest.raises(gh.GuaranteeBroken):
            published(tmp_path / "out", file)

    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


# --------------------------------------------------------------------------------------------- nothing stays behind


@pytest.mark.parametrize("phase", ["reading", "shuffling", "writing", "checking"])
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_ctrl_c_leaves_nothing_behind(phase: str, format: str, tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")

    def interrupt(what: str, done: int, total: int) -> None:
        if what == phase:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        published(tmp_path / "out", file, progress=interrupt, format=format)

    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


CHILD = """
import sys
import glasshouse as gh
from glasshouse.streaming.publish import publish_file

def tell(phase, done, total):
    print(phase, flush=True)

publish_file(sys.argv[1], sys.argv[2], quasi=["age", "sex", "zipcode"], sensitive="disease",
             principle=gh.LDiversity(ell=3), spill=sys.argv[3], progress=tell)
"""


@pytest.mark.parametrize("phase", ["reading", "shuffling", "writing", "checking"])
def test_sigkill_leaves_no_readable_microdata(phase: str, tmp_path: Path) -> None:
    table = hospital(150_000)
    file = tmp_path / "source" / "people.parquet"
    file.parent.mkdir()
    pq.write_table(table, file)
    out, spill = tmp_path / "out", tmp_path / "spill"
    spill.mkdir()
    command = [sys.executable, "-c", CHILD, str(out), str(file), str(spill)]
    rng = random.Random(phase)
    for _ in range(2):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as child:
            assert child.stdout is not None
            for line in child.stdout:
                if line.strip() == phase:
                    time.sleep(rng.uniform(0, 0.05))
                    child.send_signal(signal.SIGKILL)
                    break
            child.wait(60)

        assert list(spill.iterdir()) == []
        for path in out.rglob("*") if out.exists() else []:
            if path.is_file():  # published content, or who is where in a folder of the owner's alone
                assert path.name in {
                    "qit.parquet",
                    "st.parquet",
                    "datapackage.json",
                    "contents.json",
                    "README.md",
                    "report.json",
                    "partition.parquet",
                    "published.json",
                }
                if path.name in ("report.json", "partition.parquet", "published.json"):
                    assert path.parent.stat().st_mode & 0o777 == 0o700
                if path.name == "qit.parquet":
                    assert b"disease" not in path.read_bytes()
                if path.name == "st.parquet":
                    assert b"zipcode" not in path.read_bytes()
        subprocess.run(["rm", "-rf", str(out)], check=True)


def test_a_full_disk_is_an_error_and_nothing_is_left(tmp_path: Path) -> None:
    file = as_file(hospital(), tmp_path, "parquet")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Spill, "_flush", full)
        with pytest.raises(gh.OutputError, match="No space left"):
            published(tmp_path / "out", file)

    assert sorted(path.name for path in tmp_path.iterdir()) == [file.name]


# ----------------------------------------------------------------------------------------------------------- progress


def test_progress_tells_every_phase_and_ends_with_all_rows(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    published(tmp_path / "out", as_file(hospital(), tmp_path, "parquet"), progress=lambda *t: told.append(t))

    assert list(dict.fromkeys(phase for phase, _, _ in told)) == ["reading", "shuffling", "writing", "checking"]
    for _phase, rows in itertools.groupby(told, key=lambda t: t[0]):
        counts = [done for _, done, _ in rows]
        assert counts == sorted(counts)
        assert counts[-1] == PEOPLE


def test_the_bar_shows_phase_rows_and_speed(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(shown=True) as tell:
        for done in (1000, 2000, 3000):
            tell("shuffling", done, 3000)
            time.sleep(0.02)
        tell("writing", 1000, 0)
    shown = capsys.readouterr().err

    assert "shuffling" in shown
    assert "rows" in shown


def test_no_bar_is_drawn_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar() as tell:
        tell("writing", 1, 2)

    assert capsys.readouterr().err == ""
