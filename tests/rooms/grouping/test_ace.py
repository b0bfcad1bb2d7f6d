# SPDX-License-Identifier: Apache-2.0
"""Ace deals and slices exactly as the paper's figures say, with exactly the paper's chances."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb
from random import Random
from threading import get_ident
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.grouping.perimeter import exact_positions, weighted_places
from glasshouse.grouping.transparent import ace
from glasshouse.grouping.transparent.ace import Ace, Thresholds, ace_segments
from glasshouse.grouping.transparent.packed_rows import packed_rows
from glasshouse.grouping.transparent.penalties import Judge, Penalty, judged, penalty_of
from glasshouse.kernels import interpreted
from glasshouse.microdata.groups import tie_order
from glasshouse.principles.principle import Requirement
from glasshouse.randomness import Source
from tests.tables import Plain, partition, plain_tables
from tests.tiers import examples
from tests.twins import enumerating
from tests.twins import transparent as naive

Buckets = list[dict[int, list[int]]]
# Many random tables are not l-eligible, and thrown away.
RARE = settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


def identified(quasi: dict[str, list[Any]], sensitive: list[Any], **options: Any) -> gh.Microdata:
    """A table whose tie order is its row order, as the twin has it."""
    columns = {"id": list(range(len(sensitive))), **quasi, "sensitive": sensitive}
    return gh.read(columns, identifier="id", quasi=list(quasi), sensitive="sensitive", **options)


def of(plain: Plain, **options: Any) -> gh.Microdata:
    return identified(plain.quasi, plain.sensitive, **options)


def rows_of(table: gh.Microdata) -> list[tuple[tuple[int, ...], int]]:
    codes = [column.codes.tolist() for column in table.quasi]
    return list(zip(zip(*codes, strict=True), table.sensitive[0].codes.tolist(), strict=True))


def positions_of(table: gh.Microdata) -> list[list[Fraction]]:
    return [exact_positions(column.domain) for column in table.quasi]


def required(table: gh.Microdata, ell: int) -> Requirement:
    return Requirement.of(gh.LDiversity(ell=ell), table)


def eligible(table: gh.Microdata, ell: int) -> bool:
    return naive.diverse(rows_of(table), range(table.n_tuples), ell)


def divide(table: gh.Microdata, ell: int, source: Any = None, **method: Any) -> set[frozenset[int]]:
    source = source or Source.seeded(0)
    return partition(Ace(**method).divide(table, required(table, ell), source=source, engine=Memory(threads=1)))


def run_of(table: gh.Microdata, ell: int, thresholds: Thresholds | None = None, penalty: Any = "perimeter") -> Any:
    order = np.arange(table.n_tuples, dtype=np.int32)
    rows = packed_rows(table, table.sensitive[0], order)
    prepared: Penalty | Judge = judged(penalty_of(penalty, "Ace"), table, "Ace")
    return ace._Run(rows, weighted_places(table), ell, prepared, thresholds or Thresholds())


def dealt(table: gh.Microdata, ell: int, source: Any, offsets: list[int] | None = None) -> Buckets:
    """What Assign makes, as the twin writes it."""
    run = run_of(table, ell)
    codes = table.sensitive[0].codes
    borders = np.array(offsets or [0, table.n_tuples], np.int64)
    _, starts, lengths, widths = run._assign(borders, source, ace._Room(), run.placed)
    buckets: Buckets = []
    for start, length, width in zip(starts.tolist(), lengths.tolist(), widths.tolist(), strict=True):
        columns = run.placed[start : start + length * width].reshape(width, length)
        assert all(len(set(codes[column].tolist())) == 1 for column in columns)
        buckets.append({int(codes[column[0]]): column.tolist() for column in columns})
    return buckets


def sliced(table: gh.Microdata, buckets: Buckets, thresholds: Thresholds, penalty: Any) -> set[frozenset[int]]:
    """Slice the given buckets, each with its columns in tie order; the table lists them column after column."""
    run = run_of(table, 1, thresholds, penalty)
    places = [i for bucket in buckets for column in bucket.values() for i in column]
    assert places == list(range(table.n_tuples))
    stride = run.n_words + 1
    words = np.ascontiguousarray(run.tuples.reshape(-1, stride)[:, :-1]).ravel()
    placed = np.arange(table.n_tuples, dtype=np.int32)
    widths = np.array([len(bucket) for bucket in buckets], np.int32)
    lengths = np.array([len(next(iter(bucket.values()))) for bucket in buckets], np.int32)
    starts = np.cumsum([0, *(widths.astype(int) * lengths)])[:-1].astype(np.int64)
    run._slice(words, placed, starts, lengths, widths, 0, len(buckets))
    labels = np.empty(table.n_tuples, np.int32)
    run.kernels.label(placed, lengths, widths, labels)
    return partition(gh.Groups(labels, int(lengths.sum())))


# Assign.


class AnyTuples:
    """Draws for the twin where only the numbers of tuples matter: it need not list all subsets."""

    def below(self, n: int, /) -> int:
        raise AssertionError("nothing is drawn")


@pytest.fixture(autouse=True)
def _any_tuples(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = naive.chosen
    monkeypatch.setattr(
        naive, "chosen", lambda items, k, draws: items[:k] if isinstance(draws, AnyTuples) else chosen(items, k, draws)
    )


@settings(RARE, max_examples=examples(400))
@given(counts=st.lists(st.integers(1, 30), min_size=1, max_size=12), ell=st.integers(1, 6), data=st.data())
def test_buckets_have_the_values_and_lengths_of_the_figure(counts: list[int], ell: int, data: st.DataObject) -> None:
    assume(max(counts) * ell <= sum(counts))
    sensitive = data.draw(st.permutations([v for v, count in enumerate(counts) for _ in range(count)]))
    table = identified({"q": [0] * len(sensitive)}, [f"{v:02}" for v in sensitive])

    expected = naive.assign([((0,), v) for v in sensitive], ell, AnyTuples())

    shapes = [{value: len(column) for value, column in bucket.items()} for bucket in expected]
    ours = dealt(table, ell, Source.seeded(1))
    assert shapes == [{value: len(column) for value, column in bucket.items()} for bucket in ours]
    assert sorted(i for bucket in ours for column in bucket.values() for i in column) == list(range(len(sensitive)))
    assert all(column == sorted(column) for bucket in ours for column in bucket.values())


def test_many_values_and_tight_counts_are_dealt_as_the_figure_says() -> None:
    random = Random(5)
    for _ in range(30):
        ell = random.randint(2, 5)
        many = random.randint(1, 400)
        counts = [random.choice([1, 1, 1, 2, 3]) for _ in range(many)]
        most = sum(counts) // max(ell - 1, 1)
        counts.append(random.choice([most, max(1, most - 1), max(1, most // 2)]))  # exactly eligible, or nearly
        counts = counts if max(counts) * ell <= sum(counts) else counts + [1] * (max(counts) * ell - sum(counts))
        sensitive = [v for v, count in enumerate(counts) for _ in range(count)]
        random.shuffle(sensitive)
        table = identified({"q": [0] * len(sensitive)}, [f"{v:05}" for v in sensitive])
        expected = naive.assign([((0,), v) for v in sensitive], ell, AnyTuples())

        shapes = [{value: len(column) for value, column in bucket.items()} for bucket in expected]
        ours = dealt(table, ell, Source.seeded(1))

        assert shapes == [{value: len(column) for value, column in bucket.items()} for bucket in ours]


@pytest.mark.parametrize(
    ("sensitive", "ell"),
    [
        ("aabbcd", 2),
        ("aaabbbc", 2),
        ("aabbccd", 3),
        ("aaabcd", 2),
        ("aabb", 2),
        ("abcabc", 3),
        ("aaaabbcd", 2),
        ("cbaabca", 2),
    ],
)
def test_every_deal_has_the_chance_that_it_has_in_the_slow_twin(sensitive: str, ell: int) -> None:
    table = identified({"q": list(range(len(sensitive)))}, list(sensitive))

    def frozen(buckets: Any) -> frozenset[Any]:
        return frozenset(frozenset((v, tuple(sorted(c))) for v, c in bucket.items()) for bucket in buckets)

    expected = enumerating.distribution(lambda draws: frozen(naive.assign(rows_of(table), ell, draws)))

    assert expected == enumerating.distribution(lambda draws: frozen(dealt(table, ell, draws)))


def subsets_dealt(deal: Any) -> list[int]:
    """How often each three of six tuples of the frequent value come into the first bucket with it."""
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(8_000):
        bucket = deal(seed)[0]
        seen[tuple(bucket[0])] += 1
    return list(seen.values())


def chi_square(counts: list[int], outcomes: int) -> float:
    expected = sum(counts) / outcomes
    return sum((count - expected) ** 2 for count in [*counts, *[0] * (outcomes - len(counts))]) / expected


def uneven() -> gh.Microdata:
    return identified({"q": list(range(12))}, list("aaaaaabbbccc"))


def test_assign_chooses_uniformly() -> None:
    """Six tuples of one value go to two buckets of three: 20 choices, of which a thousandth exceeds 43.8."""
    table = uneven()
    (first, _) = dealt(table, 2, Source.seeded(0))
    assert [len(column) for column in first.values()] == [3, 3]

    counts = subsets_dealt(lambda seed: dealt(table, 2, Source.seeded(seed)))

    assert chi_square(counts, comb(6, 3)) < 43.8


def test_an_assign_that_shuffles_badly_is_found_out() -> None:
    table = uneven()

    class Biased:
        def __init__(self, seed: int) -> None:
            self.source = Source.seeded(seed)

        def shuffle_runs(self, array: Any, offsets: Any) -> None:
            for start, stop in pairwise(offsets.tolist()):
                for i in range(start, stop):
                    j = start + self.source.below(stop - start)
                    array[i], array[j] = array[j], array[i]

    counts = subsets_dealt(lambda seed: dealt(table, 2, Biased(seed)))

    assert chi_square(counts, comb(6, 3)) > 43.8


# Slice.


@st.composite
def bucketed(draw: st.DrawFn, *, longest: int = 9, attributes: int = 4) -> tuple[gh.Microdata, Buckets]:
    """A table of buckets, listed column after column, on domains narrow and wide."""
    random = Random(draw(st.integers(0, 1 << 60)))
    d = draw(st.integers(1, attributes))
    shapes = draw(
        st.lists(
            st.tuples(st.integers(1, 5) | st.integers(1, 9), st.integers(1, longest) | st.just(2)),
            min_size=1,
            max_size=3,
        )
    )
    n = sum(width * length for width, length in shapes)
    quasi = {}
    for j in range(d):
        widest = draw(st.sampled_from([0, 1, 2, 5, 40, 1000, 100_000]))
        values: list[Any] = [random.randint(0, widest) for _ in range(n)]
        kind = draw(st.sampled_from(["integer", "float", "category", "missing"]))
        if kind == "float":
            values = [value / 8 for value in values]
        elif kind == "category":
            values = [f"v{value:06}" for value in values]
        elif kind == "missing":
            values = [values[0], *(None if random.random() < 0.2 else value for value in values[1:])]
        quasi[f"q{j}"] = values
    buckets: Buckets = []
    sensitive, at = [], 0
    for width, length in shapes:
        buckets.append({v: list(range(at + v * length, at + (v + 1) * length)) for v in range(width)})
        sensitive += [f"{v}" for v in range(width) for _ in range(length)]
        at += width * length
    return identified(quasi, sensitive, missing="category"), buckets


# Penalties as the twin has them: of rows, which are codes and a sensitive value that none of these looks at.
OWN = ["perimeter", "discernibility", "squares", "steps", "nothing"]


def twins_penalty(table: gh.Microdata, name: str) -> naive.Penalty:
    def squares(group: list[Any]) -> Fraction:
        columns = zip(*(codes for codes, _ in group), strict=True)
        return Fraction(len(group) * sum((max(column) - min(column)) ** 2 for column in columns), 3)

    return {
        "perimeter": naive.perimeter(rows_of(table), positions_of(table)),
        "discernibility": lambda group: Fraction(len(group) ** 2),
        "squares": squares,
        "steps": lambda group: Fraction(len(group) // 3),  # many divisions cost the same
        "nothing": lambda group: Fraction(0),
    }[name]


def own(table: gh.Microdata, name: str) -> Any:
    """The same penalty as a user's function, of values."""
    judge = twins_penalty(table, name)
    codes = [
        {value: code for code, value in enumerate(domain.decode(np.arange(domain.size, dtype=np.int32)).to_pylist())}
        for domain in (column.domain for column in table.quasi)
    ]

    def penalty(people: list[tuple[Any, ...]]) -> Fraction:
        return judge([(tuple(c[v] for c, v in zip(codes, person, strict=True)), -1) for person in people])

    return penalty


def sliced_slowly(table: gh.Microdata, buckets: Buckets, penalty: str = "perimeter") -> set[frozenset[int]]:
    rows, judge = rows_of(table), twins_penalty(table, penalty)
    return set().union(*(naive.sliced(rows, bucket, judge) for bucket in buckets))


WAYS = [
    Thresholds(),
    Thresholds(dense=0, short=0),
    Thresholds(dense=0, short=1 << 30),
    Thresholds(dense=1 << 30),
    Thresholds(dense=1, short=3),
    Thresholds(pairs=0),
    Thresholds(dense=1 << 30, pairs=2),
]


@pytest.mark.parametrize("thresholds", WAYS, ids=repr)
@settings(RARE, max_examples=examples(120))
@given(case=bucketed())
def test_slices_are_those_of_the_slow_twin(thresholds: Thresholds, case: tuple[gh.Microdata, Buckets]) -> None:
    assert sliced_slowly(*case) == sliced(*case, thresholds, "perimeter")


@settings(RARE, max_examples=examples(80))
@given(case=bucketed(longest=5, attributes=12))
def test_tuples_of_several_words_are_sliced_as_in_the_slow_twin(case: tuple[gh.Microdata, Buckets]) -> None:
    assert sliced_slowly(*case) == sliced(*case, Thresholds(), "perimeter")


@pytest.mark.parametrize("thresholds", WAYS, ids=repr)
@pytest.mark.parametrize("seed", range(4))
def test_long_columns_are_sliced_as_in_the_slow_twin(seed: int, thresholds: Thresholds) -> None:
    random = Random(seed)
    width, length = random.randint(2, 4), random.randint(40, 70)
    n = width * length
    widest = random.choice([(3, 30), (100_000, 2), (12, 100_000)])
    quasi = {f"q{j}": [random.randint(0, w) for _ in range(n)] for j, w in enumerate(widest)}
    table = identified(quasi, [f"{v}" for v in range(width) for _ in range(length)])
    buckets = [{v: list(range(v * length, (v + 1) * length)) for v in range(width)}]

    assert sliced_slowly(table, buckets) == sliced(table, buckets, thresholds, "perimeter")


@pytest.mark.parametrize("width", [63, 64, 65, 130])
def test_many_columns_of_two_tuples_are_sliced_as_in_the_slow_twin(width: int) -> None:
    random = Random(width)
    for _ in range(10):
        quasi = {f"q{j}": [random.randint(0, w) for _ in range(2 * width)] for j, w in enumerate((2, 50, 1))}
        table = identified(quasi, [f"{v:03}" for v in range(width) for _ in range(2)])
        buckets = [{v: [2 * v, 2 * v + 1] for v in range(width)}]

        assert sliced_slowly(table, buckets) == sliced(table, buckets, Thresholds(), "perimeter")


@settings(RARE, max_examples=examples(80))
@given(case=bucketed())
def test_discernibility_slices_as_in_the_slow_twin(case: tuple[gh.Microdata, Buckets]) -> None:
    assert sliced_slowly(*case, "discernibility") == sliced(*case, Thresholds(), "discernibility")


@pytest.mark.parametrize("name", OWN)
@settings(RARE, max_examples=examples(60))
@given(case=bucketed(longest=6, attributes=3))
def test_a_function_of_ones_own_slices_as_in_the_slow_twin(name: str, case: tuple[gh.Microdata, Buckets]) -> None:
    table, buckets = case

    groups = sliced(table, buckets, Thresholds(), own(table, name))

    assert sliced_slowly(table, buckets, name) == groups
    if name in ("perimeter", "discernibility"):
        assert sliced(table, buckets, Thresholds(), name) == groups


@pytest.mark.parametrize("name", ["squares", "steps"])
@pytest.mark.parametrize("seed", range(4))
def test_long_columns_of_ties_are_sliced_by_a_function_as_in_the_slow_twin(seed: int, name: str) -> None:
    """Longer than what any sort does by insertion, which keeps tie order unasked; neighbours in tie order are alike."""
    random, length = Random(seed), 40
    quasi = {
        "q0": [random.randint(0, 1) for _ in range(2 * length)],
        "q1": [i % length + random.randint(0, 10) for i in range(2 * length)],
    }
    table = identified(quasi, ["a"] * length + ["b"] * length)
    buckets = [{0: list(range(length)), 1: list(range(length, 2 * length))}]

    assert sliced_slowly(table, buckets, name) == sliced(table, buckets, Thresholds(), own(table, name))


@settings(RARE, max_examples=examples(60))
@given(case=bucketed(longest=6, attributes=2), seed=st.integers(0, 1000))
def test_a_function_is_not_told_which_column_has_which_value(case: tuple[gh.Microdata, Buckets], seed: int) -> None:
    """Even one that looks at the order of its list divides symmetric buckets into symmetric ones (Lemma 4)."""
    table, buckets = case
    domains = [column.domain.decode(column.codes).to_pylist() for column in table.quasi]
    number = {value: i for i, value in enumerate({value for domain in domains for value in domain})}

    def ordered(people: list[tuple[Any, ...]]) -> int:
        return sum(i * i * number[person[0]] % 17 for i, person in enumerate(people))

    judge = judged(penalty_of(ordered, "Ace"), table, "Ace")
    assert isinstance(judge, Judge)
    for bucket in buckets:
        columns = np.array(list(bucket.values()), np.int32)
        moved = np.array(Random(seed).sample(columns.tolist(), len(columns)), np.int32)

        assert [set(group) for group in ace._sliced(judge, columns).reshape(-1, len(columns)).tolist()] == [
            set(group) for group in ace._sliced(judge, moved).reshape(-1, len(columns)).tolist()
        ]


WIDE = [2**40 - 87, 2**41 - 21, 2**39 - 7]  # primes: no perimeter fits into 64 bits


@settings(RARE, max_examples=examples(60))
@given(case=bucketed(longest=7, attributes=2), seed=st.integers(0, 1000))
def test_perimeters_beyond_64_bits_are_exact(case: tuple[gh.Microdata, Buckets], seed: int) -> None:
    plain, buckets = case
    random = Random(seed)
    n = plain.n_tuples
    quasi = {
        f"q{j}": [0, prime, *(random.choice([random.randint(0, prime), 0, prime // 2]) for _ in range(n))][:n]
        for j, prime in enumerate(WIDE)
    }
    table = identified(quasi, plain.sensitive[0].domain.decode(plain.sensitive[0].codes).to_pylist())
    assume(n < 2 or not weighted_places(table).fits)

    assert sliced_slowly(table, buckets) == sliced(table, buckets, Thresholds(), "perimeter")


def test_a_hundred_thousand_equal_tuples_are_sliced_at_once() -> None:
    n = 100_000
    gaps = [None if i % 3 else 5 for i in range(n)]
    table = identified({"q": gaps, "r": [1] * n}, list("ab") * (n // 2), missing="category")

    groups = divide(table, 2)

    assert len(groups) == n // 2


# Ace.


@pytest.mark.parametrize(
    ("sensitive", "ell", "quasi"),
    [
        ("aabbcd", 2, {"x": [1, 5, 2, 2, 9, 5]}),
        ("aabbcd", 2, {"x": [3, 3, 3, 1, 1, 1], "y": [1, 2, 3, 1, 2, 3]}),
        ("aaabbbc", 2, {"x": [0, 0, 7, 7, 100_000, 4, 4]}),
        ("aabbccd", 3, {"x": [1, 1, 1, 1, 1, 1, 1], "y": [4, 1, 3, 3, 2, 5, 0]}),
        ("aaaabbcd", 2, {"x": [5, 1, 4, 4, 2, 3, 1, 1]}),
        ("abababa" + "c", 2, {"x": [9, 8, 7, 1, 2, 3, 5, 5], "y": [1.5, 1.5, 2, 2, 0, 0, 3, 3]}),
    ],
)
def test_every_outcome_has_the_chance_that_it_has_in_the_slow_twin(
    sensitive: str, ell: int, quasi: dict[str, list[Any]]
) -> None:
    table = identified(quasi, list(sensitive))
    rows, positions = rows_of(table), positions_of(table)

    expected = enumerating.distribution(lambda draws: frozenset(naive.ace(rows, positions, ell, draws)))

    assert expected == enumerating.distribution(lambda draws: frozenset(divide(table, ell, draws)))


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize(
    ("sensitive", "ell", "quasi"),
    [
        ("aabbcd", 2, {"x": [3, 3, 3, 1, 1, 1], "y": [1, 2, 3, 1, 2, 3]}),
        ("aaaabbcd", 2, {"x": [5, 1, 4, 4, 2, 3, 1, 1]}),
        ("aabbccd", 3, {"x": [1, 1, 1, 1, 1, 1, 1], "y": [4, 1, 3, 3, 2, 5, 0]}),
    ],
)
def test_every_outcome_under_a_function_has_the_chance_that_it_has_in_the_slow_twin(
    name: str, sensitive: str, ell: int, quasi: dict[str, list[Any]]
) -> None:
    table = identified(quasi, list(sensitive))
    rows, positions, judge, penalty = rows_of(table), positions_of(table), twins_penalty(table, name), own(table, name)

    expected = enumerating.distribution(lambda draws: frozenset(naive.ace(rows, positions, ell, draws, judge)))

    assert expected == enumerating.distribution(lambda draws: frozenset(divide(table, ell, draws, penalty=penalty)))


@settings(RARE, max_examples=examples(60))
@given(plain=plain_tables(most=40, missing=True), ell=st.integers(2, 4), seed=st.integers(0, 3))
def test_a_function_that_says_what_a_known_penalty_says_gives_its_groups(plain: Plain, ell: int, seed: int) -> None:
    table = of(plain, missing="category")
    assume(eligible(table, ell))

    for name in ("perimeter", "discernibility"):
        groups = divide(table, ell, Source.seeded(seed), penalty=own(table, name))
        assert groups == divide(table, ell, Source.seeded(seed), penalty=name)


def test_a_function_is_called_by_one_thread_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    table = gh.synthetic.census(800, seed=1)
    monkeypatch.setattr(ace, "PIECE", 100)
    monkeypatch.setattr(Thresholds, "__init__", lambda self: object.__setattr__(self, "batch", 10))
    threads, running = set(), []

    def watch(people: list[Any]) -> int:
        threads.add(get_ident())
        running.append(1)
        assert len(running) == 1
        running.pop()
        return len(people) ** 2

    def groups(penalty: Any, n_threads: int) -> set[frozenset[int]]:
        method, source, engine = Ace(penalty=penalty), Source.seeded(2), Memory(threads=n_threads)
        return partition(method.divide(table, required(table, 4), source=source, engine=engine))

    expected = groups(watch, 4)

    assert threads == {get_ident()}
    assert expected == groups(watch, 1)
    monkeypatch.undo()
    monkeypatch.setattr(ace, "PIECE", 100)
    assert expected == groups("discernibility", 4)


@settings(RARE, max_examples=examples(60))
@given(plain=plain_tables(most=7, least=2), ell=st.integers(2, 3))
def test_outcomes_of_any_small_table_have_the_twins_chances(plain: Plain, ell: int) -> None:
    table = of(plain)
    assume(eligible(table, ell))
    assume(max(Counter(plain.sensitive).values()) <= 4)
    rows, positions = rows_of(table), positions_of(table)

    expected = enumerating.distribution(lambda draws: frozenset(naive.ace(rows, positions, ell, draws)))

    assert expected == enumerating.distribution(lambda draws: frozenset(divide(table, ell, draws)))


@settings(RARE, max_examples=examples(120))
@given(plain=plain_tables(most=60, missing=True), ell=st.integers(2, 4), seed=st.integers(0, 3))
def test_groups_are_the_slices_of_the_deal(plain: Plain, ell: int, seed: int) -> None:
    table = of(plain, missing="category")
    assume(eligible(table, ell))

    groups = divide(table, ell, Source.seeded(seed))

    buckets = dealt(table, ell, Source.seeded(seed).child("ace", 0))
    assert sliced_slowly(table, buckets) == groups
    for group in groups:
        values = [plain.sensitive[i] for i in group]
        assert len(values) >= ell
        assert len(set(values)) == len(values)


def test_example_6_ends_in_table_x_with_one_fair_choice() -> None:
    table = gh.examples.transparent_t5()
    ann, bob, cate, don, ed, fred, gill, hera = range(8)
    fixed = {frozenset({ann, bob}), frozenset({ed, gill})}

    outcomes = enumerating.distribution(lambda draws: frozenset(divide(table, 2, draws)))

    assert outcomes == {
        frozenset({*fixed, frozenset({don, fred}), frozenset({cate, hera})}): Fraction(1, 2),
        frozenset({*fixed, frozenset({cate, fred}), frozenset({don, hera})}): Fraction(1, 2),
    }


def test_equally_frequent_values_come_in_the_order_of_their_codes_not_of_their_rows() -> None:
    """Three values twice each: the first two in order make the first bucket, wherever they stand."""
    for sensitive in ("aabbcc", "ccbbaa", "cabcab"):
        table = identified({"q": list(range(6))}, list(sensitive))
        first = dealt(table, 2, Source.seeded(3))[0]

        assert [0, 1] == list(first)


def test_segments_are_dealt_by_themselves_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(3)
    n, size = 4_000, 40
    quasi = {"x": [random.randint(0, 50) for _ in range(n)], "y": [random.randint(0, 5000) for _ in range(n)]}
    table = identified(quasi, [f"{i % 5}" for i in range(n)])
    rows = packed_rows(table, table.sensitive[0], np.arange(n, dtype=np.int32))
    offsets = np.arange(0, n + 1, size)

    def groups(piece: int, threads: int, batch: int) -> set[frozenset[int]]:
        monkeypatch.setattr(ace, "PIECE", piece)
        engine, thresholds = Memory(threads=threads), Thresholds(batch=batch)
        source, places = Source.seeded(4), weighted_places(table)
        return partition(ace_segments(rows, offsets, places, 3, source, engine, thresholds=thresholds))

    expected = groups(500, 1, 1 << 17)

    assert all(max(group) // size == min(group) // size for group in expected)
    assert expected == groups(500, 4, 100) == groups(500, 4, 1)
    assert groups(1 << 20, 1, 1 << 20) == groups(1 << 20, 4, 50)
    assert expected != groups(1 << 20, 1, 1 << 20)  # pieces have streams of their own


@settings(RARE, max_examples=examples(60))
@given(plain=plain_tables(most=40, missing=True), ell=st.integers(2, 3))
def test_interpreted_kernels_give_the_same_groups(plain: Plain, ell: int) -> None:
    table = of(plain, missing="category")
    assume(eligible(table, ell))
    expected = divide(table, ell), divide(table, ell, penalty="discernibility")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ace, "compiled", interpreted)

        assert expected == (divide(table, ell), divide(table, ell, penalty="discernibility"))


def test_without_an_identifier_a_secret_order_breaks_ties() -> None:
    table = gh.read({"q": [1] * 8, "s": list("aabbccdd")}, quasi=["q"], sensitive="s")
    source = Source.seeded(9)
    order = tie_order(table, Source.seeded(9)).tolist()

    groups = Ace().divide(table, required(table, 2), source=source)

    rank = {row: place for place, row in enumerate(order)}
    codes = table.sensitive[0].codes.tolist()
    for one, other in combinations(partition(groups), 2):  # a bucket's columns are emptied in tie order
        shared = {codes[i] for i in one} & {codes[i] for i in other}
        firsts = {v: min((i for i in one | other if codes[i] == v), key=rank.__getitem__) for v in shared}
        assert len({first in one for first in firsts.values()}) <= 1


def test_what_ace_cannot_do_is_refused() -> None:
    table = gh.examples.transparent_t5()

    with pytest.raises(gh.NotSupported, match="Ace supports only l-diversity"):
        Ace().divide(table, Requirement.of(gh.KAnonymity(k=2), table))
    with pytest.raises(gh.Infeasible):
        Ace().divide(table, required(table, 5))
    with pytest.raises(gh.ParameterError, match="Ace: penalty must be 'perimeter', 'discernibility' or a function"):
        Ace(penalty="area")


def test_ace_claims_to_hold_against_who_knows_it() -> None:
    table = gh.examples.transparent_t5()

    claim = Ace().claim(required(table, 2))

    assert claim.adversary.value == "algorithm-aware"
    assert "Theorem 2" in claim.theorem
