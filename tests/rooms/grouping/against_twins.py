# SPDX-License-Identifier: Apache-2.0
"""Every method of the product beside its slow twin, on any number of random tables.

``pytest`` runs a few hundred tables (test_against_twins.py), ``make prove`` tens of thousands (tests/prove.py). A table
is drawn from a seed and a number, so that one which fails can be drawn again by itself: ``Case.draw(seed, number)``.

The twins are given their own reading of the raw values: codes are ranks in plain Python, places exact fractions (a
float means the decimal that it prints), and nothing of the product's reading is used. Random choices are the same on
both sides: see `Script`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache, cached_property
from math import comb, prod
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.engines import Memory, memory
from glasshouse.grouping.perimeter import weighted_places
from glasshouse.grouping.transparent import ace
from glasshouse.grouping.transparent import packed_rows as packed
from glasshouse.grouping.transparent.tailor import tailor_leaves
from glasshouse.principles.principle import Requirement
from tests.rooms.grouping.doors import back
from tests.tables import partition
from tests.twins import (
    anatomize,
    enumerating,
    greedy,
    mondrian,
    optimal,
    principles,
    refinement,
    sift,
    snug,
    transparent,
)
from tests.twins.mondrian import Partition, Place, Row

__all__ = ["METHODS", "RANDOMISED", "Case", "Script", "Tally", "compare", "compare_chances", "tallied"]

ONE_THREAD = Memory(threads=1)
ON_POINTS = Memory(threads=1, crowd=0)  # equal tuples are laid out as one, however few there are
MOST_KEYS = 100_000  # of points that a table could have, where that is done
MOST_POINTS = 6  # the twin of Opt-Gen lists all partitions of so many points: 203
MOST_PEOPLE = 8  # of whom every random choice is tried
NEVER = 1 << 40  # a threshold that no table reaches


# --- tables ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A table as the product reads it, and as the twins do."""

    name: str
    table: gh.Microdata
    codes: list[tuple[int, ...]]  # of every row
    sensitive: list[int]  # of every row
    positions: list[Sequence[Place]] = field(repr=False)  # per attribute and code, on its axis
    order: list[int]  # row numbers in the order of identifiers, which breaks ties
    ell: int
    script: Script

    @cached_property
    def rows(self) -> list[Row]:
        """The table as the twins take it, for whom a smaller row number breaks ties."""
        return [(self.codes[i], self.sensitive[i]) for i in self.order]

    @classmethod
    def draw(cls, seed: int, number: int) -> Case:
        """A random table: tiny, often degenerate, its attributes of every kind."""
        random = Random(f"{seed}/{number}")
        n = random.choice((1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 10, 11, 12, 12, 13, 14, 16, 18, 20, 24, 30, 40))
        d = min(random.choice((1, 1, 2, 2, 2, 3, 3, 4, 5, 6, 8, 12, 12)), max(1, 120 // n))
        columns: list[list[Any]] = []
        numbers = [0] * n
        shapes = random.choice((SHAPES, SHAPES, CROWDED))
        if random.random() < 0.04:
            shapes = ("one",)
        kinds = (*KINDS, *DECIMALS) if random.random() < 0.2 else KINDS
        for _ in range(d):
            numbers = _numbers(random, n, numbers, random.choice(shapes))
            columns.append(_typed(random, numbers, kinds))
        ell = random.choice((2, 2, 2, 2, 3, 3, 4, 5))
        sensitive = _sensitive(random, n, ell)
        identifiers = random.sample(range(1000), n)
        read = [_ranked(column) for column in columns]
        names = [f"q{dim}" for dim in range(d)]
        table = gh.read(
            {
                "id": identifiers,
                **dict(zip(names, columns, strict=True)),
                "s": [f"{value:04}" for value in sensitive],
            },
            identifier="id",
            quasi=names,
            sensitive="s",
            missing="category",
        )
        return cls(
            name=f"Case.draw({seed}, {number})",
            table=table,
            codes=list(zip(*(codes for codes, _ in read), strict=True)),
            sensitive=[sorted(set(sensitive)).index(value) for value in sensitive],
            positions=[positions for _, positions in read],
            order=sorted(range(n), key=identifiers.__getitem__),
            ell=ell,
            script=Script(f"{seed}/{number}"),
        )

    @classmethod
    def take(cls, seed: int, number: int, n_zipcodes: int = 100_000) -> Case:
        """A small part of a table with 100,000 zipcodes and 5,000 sensitive values, whose domains stay as they are."""
        random = Random(f"wide {seed}/{number}")
        whole, read, sensitive, identifiers = _census(n_zipcodes)
        n = random.choice((2, 6, 12, 20, 40))
        taken = [0, 1, *random.sample(range(2, len(sensitive)), n - 2)]  # the extremes of all attributes among them
        random.shuffle(taken)
        return cls(
            name=f"Case.take({seed}, {number}, {n_zipcodes})",
            table=whole.take(np.array(taken)),
            codes=list(zip(*([codes[i] for i in taken] for codes, _ in read), strict=True)),
            sensitive=[sensitive[i] for i in taken],
            positions=[positions for _, positions in read],
            order=sorted(range(n), key=lambda i: identifiers[taken[i]]),
            ell=random.choice((2, 3)),
            script=Script(f"wide {seed}/{number}"),
        )


SHAPES = ("one", "two", "few", "few", "few", "many", "wide", "outlier", "huge", "like", "unlike")
CROWDED = ("one", "two", "two", "few", "outlier", "like")  # many tuples are alike, and many cuts cost the same


def _numbers(random: Random, n: int, before: list[int], shape: str) -> list[int]:
    """Whole numbers in one of the shapes that matter to some cut."""
    if shape == "one":
        return [random.randrange(100)] * n
    if shape == "two":
        return [random.randrange(2) for _ in range(n)]
    if shape == "few":
        return [random.randrange(random.choice((3, 4, 6))) for _ in range(n)]
    if shape == "many":
        return random.sample(range(2 * n), n)
    if shape == "wide":
        return [random.randrange(100_000) for _ in range(n)]
    if shape == "outlier":
        return [random.choice((0, 0, 1, 1, 2, 2, 3, 100_000)) for _ in range(n)]
    if shape == "huge":
        return [random.choice((0, 2**39 - 7, 2**40 - 87, random.randrange(2**40))) for _ in range(n)]
    if shape == "like":
        return [x + random.randrange(2) for x in before]
    return [random.randrange(2) - x for x in before]


KINDS = ("integer", "eighths", "category", "date", "timestamp")
DECIMALS = ("tenths", "tenths", "thirds")


def _typed(random: Random, numbers: list[int], kinds: Sequence[str]) -> list[Any]:
    """The same numbers as values of some type; sometimes a few are missing."""
    kind = random.choice(kinds)
    values: list[Any]
    if kind == "eighths":
        values = [x / 8 for x in numbers]
    elif kind == "tenths":
        values = [x / 10 for x in numbers]
    elif kind == "thirds":
        values = [x / 3 for x in numbers]
    elif kind == "category":
        values = [f"v{x:+015}" for x in numbers]
    elif kind == "date":
        values = [date(2000, 1, 1) + timedelta(days=x % 100_000) for x in numbers]
    elif kind == "timestamp":
        values = [datetime(2000, 1, 1) + timedelta(microseconds=x) for x in numbers]
    else:
        values = list(numbers)
    if random.random() < 0.15:
        values = [value if i == 0 or random.random() < 0.7 else None for i, value in enumerate(values)]
    return values


def _sensitive(random: Random, n: int, ell: int) -> list[int]:
    """Codes below 5000: evenly spread, random, nearly all different, one alone, or as frequent as they may be."""
    shape = random.choice(
        ("even", "even", "even", "random", "random", "different", "different", "different", "tight", "tight", "one")
    )
    kinds = random.choice((2, ell, ell, ell + 1, 2 * ell, 2 * ell, 2 * ell + 1, 12))
    if shape == "even" or (shape == "tight" and n > 24):  # a twin lists all subsets of the tuples with a value
        codes = [i % kinds for i in range(n)]
    elif shape == "random":
        codes = [random.randrange(kinds) for _ in range(n)]
    elif shape == "different":
        codes = list(range(n))
    elif shape == "tight":
        codes = [0 if i < n // ell else 1 + i % kinds for i in range(n)]
    else:
        codes = [0] * n
    random.shuffle(codes)
    names = random.sample(range(5000), n + 12)
    return [names[code] for code in codes]


def _ranked(values: Sequence[Any]) -> tuple[list[int], list[Place]]:
    """The code of every value, and the exact place of every code; missing is the last code, beside the largest."""
    present = sorted({value for value in values if value is not None})
    places = [_place(value, rank) for rank, value in enumerate(present)]
    code = {value: rank for rank, value in enumerate(present)}
    if None in values:
        places.append(places[-1])
    return [len(present) if value is None else code[value] for value in values], places


def _place(value: Any, rank: int) -> Place:
    if isinstance(value, str):
        return rank
    if isinstance(value, datetime):
        return (value - datetime(2000, 1, 1)) // timedelta(microseconds=1)
    if isinstance(value, date):
        return value.toordinal()
    return value if isinstance(value, int) else Fraction(repr(value))


@cache
def _census(n_zipcodes: int) -> tuple[gh.Microdata, list[tuple[list[int], list[Place]]], list[int], list[int]]:
    """A table with so many zipcodes, read by the product and by us; its first two rows have all extremes."""
    random = Random(n_zipcodes)
    columns: list[list[Any]] = [
        sorted(random.sample(range(9 * n_zipcodes), n_zipcodes)),
        [random.randrange(400) / 4 for _ in range(n_zipcodes)],
        [date(1930, 1, 1) + timedelta(days=random.randrange(30_000)) for _ in range(n_zipcodes)],
        [random.choice("FM") for _ in range(n_zipcodes)],
        [7] * n_zipcodes,
    ]
    columns[0].insert(1, columns[0].pop())
    for column in columns[1:]:
        column[:2] = min(column), max(column)
    sensitive = [i % 5_000 for i in range(n_zipcodes)]
    identifiers = random.sample(range(n_zipcodes), n_zipcodes)
    names = ["zipcode", "income", "born", "sex", "country"]
    table = gh.read(
        {"id": identifiers, **dict(zip(names, columns, strict=True)), "s": [f"{value:04}" for value in sensitive]},
        identifier="id",
        quasi=names,
        sensitive="s",
    )
    return table, [_ranked(column) for column in columns], sensitive, identifiers


# --- random choices --------------------------------------------------------------------------------------------------


class Script:
    """Random choices that depend on nothing but how many outcomes there are: so both sides make the same ones.

    The twins ask for one of the subsets of a list of tuples, or for one of its tuples, again and again. The product has
    a list of labels, equal ones together, and shuffles it: here it is dealt out as the twins would choose.
    """

    def __init__(self, seed: str) -> None:
        self.seed = seed

    def below(self, n: int, /) -> int:
        return Random(f"{self.seed}/{n}").randrange(n)

    def belows(self, bounds: Any, size: int | None = None) -> Any:
        if size is None:
            return np.array([self.below(int(n)) for n in bounds], np.int64)
        return np.array([self.coin(i, bounds) for i in range(size)], np.int64)

    def coin(self, i: int, n: int) -> int:
        """What is drawn at the i-th border between buckets."""
        return Random(f"{self.seed}/coin {i}").randrange(n)

    def shuffle_runs(self, array: Any, offsets: Any) -> None:
        for start, stop in itertools.pairwise(offsets.tolist()):
            left = list(range(start, stop))
            dealt = {}
            for label, equal in itertools.groupby(array[start:stop].tolist()):
                times = len(list(equal))
                subset = next(
                    itertools.islice(itertools.combinations(left, times), self.below(comb(len(left), times)), None)
                )
                dealt |= dict.fromkeys(subset, label)
                left = [i for i in left if i not in dealt]
            array[start:stop] = [dealt[i] for i in range(start, stop)]

    def child(self, *labels: Any) -> Script:
        return self


class AtBorders:
    """The coins of randomised greed as the twin asks for them: it judges a group, and then may toss a coin.

    The number of a border is how many buckets lie before it. A group of one bucket is a new one.
    """

    def __init__(self, script: Script, size: int, holds: mondrian.Holds) -> None:
        self.script, self.size, self.judge = script, size, holds
        self.begin = self.end = 0

    def holds(self, codes: list[int]) -> bool:
        if len(codes) <= self.size:
            self.begin = self.end
        self.end = self.begin + len(codes)
        return self.judge(codes)

    def below(self, n: int, /) -> int:
        return self.script.coin(self.end // self.size - 1, n)


# --- methods ---------------------------------------------------------------------------------------------------------

Run = Callable[[Any], Partition]  # takes a source of random choices


class Pair(NamedTuple):
    """A method of the product and its twin on one table; the former perhaps in several ways."""

    twin: Run
    product: tuple[Run, ...]


def _pair(case: Case, twin: Run, *product: Run) -> Pair:
    return Pair(lambda draws: back(twin(draws), case.order), product)


def _divide(case: Case, method: Any, principle: Any = None, engine: Memory = ONE_THREAD) -> Run:
    """The product's groups; where it refuses a table there are none."""
    requirement = Requirement.of(principle or gh.LDiversity(ell=case.ell), case.table)

    def run(draws: Any) -> Partition:
        try:
            return partition(method.divide(case.table, requirement, source=draws, engine=engine))
        except gh.Infeasible:
            return set()

    return run


def _diverse(case: Case) -> bool:
    return transparent.diverse(case.rows, range(len(case.rows)), case.ell)


TAILOR_WAYS = [
    packed.Thresholds(dense=0),
    packed.Thresholds(dense=NEVER, crowd=0),
    packed.Thresholds(crowd=NEVER, far=0, near=1),
    packed.Thresholds(crowd=NEVER, far=0, near=3, small=0),
    packed.Thresholds(crowd=0, far=0, near=NEVER),
    packed.Thresholds(far=NEVER, small=0),
    packed.Thresholds(dense=0, crowd=1, far=0, near=2, small=6),
]
ACE_WAYS = [
    ace.Thresholds(dense=0, short=0),
    ace.Thresholds(dense=0, short=NEVER),
    ace.Thresholds(dense=NEVER),
    ace.Thresholds(dense=1, short=3),
    ace.Thresholds(pairs=0),
    ace.Thresholds(dense=NEVER, pairs=2, batch=1),
]


def _tailor(case: Case, random: Random) -> Pair:
    ways = random.choice(TAILOR_WAYS)

    def forced(_: Any) -> Partition:
        if not _diverse(case):
            return set()
        column, order = case.table.sensitive[0], np.array(case.order, np.int32)
        placed, offsets = tailor_leaves(case.table, case.ell, column, order, ONE_THREAD, thresholds=ways)
        return {frozenset(placed[a:b].tolist()) for a, b in itertools.pairwise(offsets.tolist())}

    return _pair(
        case,
        lambda _: transparent.tailor(case.rows, case.positions, case.ell),
        _divide(case, gh.Tailor()),
        forced,
    )


def _ace(case: Case, random: Random) -> Pair:
    ways = random.choice(ACE_WAYS)

    def forced(draws: Any) -> Partition:
        if not _diverse(case):
            return set()
        rows = ace.packed_rows(case.table, case.table.sensitive[0], np.array(case.order, np.int32))
        whole, places = np.array([0, case.table.n_tuples]), weighted_places(case.table)
        return partition(ace.ace_segments(rows, whole, places, case.ell, draws, ONE_THREAD, thresholds=ways))

    return _pair(
        case,
        lambda draws: transparent.ace(case.rows, case.positions, case.ell, draws),
        _divide(case, gh.Ace()),
        forced,
    )


def _hybrid(case: Case, _: Random) -> Pair:
    return _pair(
        case,
        lambda draws: transparent.hybrid(case.rows, case.positions, case.ell, draws),
        _divide(case, gh.Hybrid()),
    )


def _squares(group: list[Row]) -> Fraction:
    return Fraction(len(group) ** 2)


def _tailor_by_size(case: Case, _: Random) -> Pair:
    return _pair(
        case,
        lambda _: transparent.tailor(case.rows, case.positions, case.ell, _squares),
        _divide(case, gh.Tailor(penalty="discernibility")),
    )


def _hybrid_by_size(case: Case, _: Random) -> Pair:
    return _pair(
        case,
        lambda draws: transparent.hybrid(case.rows, case.positions, case.ell, draws, _squares),
        _divide(case, gh.Hybrid(penalty="discernibility")),
    )


def _anatomize(case: Case, _: Random) -> Pair:
    """Rows as they are listed: every bucket is shuffled, so no order of rows can matter."""
    rows = list(zip(case.codes, case.sensitive, strict=True))
    return Pair(lambda draws: anatomize.anatomize(rows, case.ell, draws), (_divide(case, gh.Anatomize()),))


def _varied(case: Case, _: Random) -> Pair:
    rows = list(zip(case.codes, case.sensitive, strict=True))
    return Pair(lambda draws: anatomize.varied(rows, case.ell, draws), (_divide(case, gh.Anatomize(varied=True)),))


def _sift(case: Case, random: Random) -> Pair:
    dims = random.sample(range(len(case.positions)), random.randint(1, len(case.positions)))
    weights = [Fraction(random.choice(("0", "1", "2", "1/3", "1000"))) for _ in case.positions]
    priority = tuple(case.table.quasi[dim].name for dim in dims) if random.random() < 0.3 else ()
    weighted = random.random() < 0.3 and any(weights)
    named = {column.name: weight for column, weight in zip(case.table.quasi, weights, strict=True)} if weighted else ()
    slow = sift.Sift(
        rows=case.rows,
        positions=case.positions,
        ell=case.ell,
        dims=dims if priority else None,
        weights=weights if weighted else None,
    )

    def twin(draws: Any) -> Partition:
        return (replace(slow, take=_as_floyd) if isinstance(draws, Script) else slow).groups(draws)

    return _pair(case, twin, _divide(case, gh.Sift(priority=priority, weights=named)))


def _as_floyd(rows: list[int], times: int, draws: Any) -> list[int]:
    """The subset that the product takes by these draws; the twin would have to list all subsets."""
    return [rows[i] for i in enumerating.choose(draws.below, len(rows), times)]


ORDERS = {"lexicographic": greedy.lexicographic, "hilbert": greedy.hilbert}


def _judged(case: Case, random: Random, *, by_size: bool) -> tuple[Any, mondrian.Holds, int]:
    """A principle, as the product and as the twins take it, and the rows of a bucket of greed under it."""
    ell = case.ell
    kind = random.choice(("frequency", "frequency", "frequency", "designated", "closeness", "size"))
    if kind == "designated":
        code = random.choice(case.sensitive)
        column = case.table.sensitive[0]
        name = column.domain.values[int(column.codes[case.sensitive.index(code)])].as_py()
        return gh.DesignatedLDiversity(ell=ell, values=(name,)), greedy.binary_diverse(ell, code), ell
    if kind == "closeness" and len(case.rows) <= 12 and max(case.sensitive) < 12:  # the twin is slow
        t = random.choice(("0", "1/9", "0.3", "1/2", "0.8"))
        return gh.TCloseness(t=t), greedy.close(case.sensitive, Fraction(t)), 1
    if kind == "size" and by_size:
        return gh.KAnonymity(k=ell), lambda codes: len(codes) >= ell, ell
    return gh.LDiversity(ell=ell), greedy.frequency_diverse(ell), ell


def _greedy(case: Case, random: Random) -> Pair:
    principle, holds, size = _judged(case, random, by_size=False)
    ordering, last = random.choice([*ORDERS]), random.choice(("merge", "drop"))

    def twin(_: Any) -> Partition:
        if not holds(case.sensitive):  # refused, also where groups could be dropped
            return set()
        order = ORDERS[ordering](case.rows)
        if not isinstance(principle, gh.TCloseness):
            return greedy.gg(case.rows, size, holds, order, last)
        rows = [case.rows[i] for i in order]
        groups = greedy.gg_close(rows, Fraction(principle.t), last, lambda _: principles.equal_distance)
        return {frozenset(order[i] for i in group) for group in groups}

    return _pair(case, twin, _divide(case, gh.Greedy(ordering=ordering, last=last), principle))


def _randomised_greedy(case: Case, random: Random) -> Pair:
    principle, holds, size = _judged(case, random, by_size=False)
    ordering, last = random.choice([*ORDERS]), random.choice(("merge", "drop"))
    if isinstance(principle, gh.TCloseness):  # what is dropped is then tossed for again, which the script does not know
        last = "merge"
    p = random.choice(("0", "1/2", "0.2", "2/3", "0.9"))

    def twin(draws: Any) -> Partition:
        if not holds(case.sensitive):
            return set()
        coins = AtBorders(draws, size, holds) if isinstance(draws, Script) else draws
        judge = coins.holds if isinstance(coins, AtBorders) else holds
        return greedy.rgg(case.rows, size, judge, Fraction(p), coins, ORDERS[ordering](case.rows), last)

    return _pair(case, twin, _divide(case, gh.RandomisedGreedy(p=p, ordering=ordering, last=last), principle))


def _stricter(case: Case, principle: Any, holds: mondrian.Holds, extra: int) -> mondrian.Holds:
    return greedy.frequency_diverse(case.ell + extra) if isinstance(principle, gh.LDiversity) else holds


def _symmetric(case: Case, random: Random) -> Pair:
    principle, holds, _ = _judged(case, random, by_size=True)
    ordering, extra = random.choice([*ORDERS]), random.randrange(2)
    holds = _stricter(case, principle, holds, extra)
    return _pair(
        case,
        lambda _: greedy.sg(case.rows, holds, ORDERS[ordering](case.rows)),
        _divide(case, gh.Symmetric(ordering=ordering, extra=extra), principle),
    )


def _even_split(case: Case, random: Random) -> Pair:
    principle, holds, _ = _judged(case, random, by_size=True)
    extra = random.randrange(2)
    holds = _stricter(case, principle, holds, extra)
    return _pair(
        case,
        lambda _: greedy.even_split(case.rows, case.positions, holds),
        *_dense_or_not(_divide(case, gh.EvenSplit(extra=extra), principle)),
    )


def _strict(case: Case, random: Random) -> Pair:
    principle, holds, _ = _judged(case, random, by_size=True)
    product = [*_dense_or_not(_divide(case, gh.Mondrian(), principle))]
    if prod(map(len, case.positions)) <= MOST_KEYS:
        product.append(_divide(case, gh.Mondrian(), principle, ON_POINTS))
    return _pair(case, lambda _: mondrian.strict(case.rows, case.positions, holds), *product)


def _relaxed(case: Case, random: Random) -> Pair:
    principle, holds, _ = _judged(case, random, by_size=True)
    return _pair(
        case,
        lambda _: mondrian.relaxed(case.rows, case.positions, holds, range(len(case.rows))),
        *_dense_or_not(_divide(case, gh.Mondrian(partitioning="relaxed"), principle)),
    )


def _snug(case: Case, random: Random) -> Pair:
    principle, holds, _ = _judged(case, random, by_size=True)
    unit = case.ell if isinstance(principle, gh.LDiversity | gh.KAnonymity) else 8  # others name no size
    product = [_divide(case, gh.Snug(), principle)]
    if prod(map(len, case.positions)) <= MOST_KEYS:
        product.append(_divide(case, gh.Snug(), principle, ON_POINTS))
    return _pair(case, lambda _: snug.snug(case.rows, case.positions, holds, unit), *product)


def _dense_or_not(run: Run) -> Iterator[Run]:
    """The codes of a node counted, and sorted."""
    for dense in (memory.DENSE, 0):

        def forced(draws: Any, dense: int = dense) -> Partition:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(memory, "DENSE", dense)
                return run(draws)

        yield forced


COARSE: dict[str, tuple[Callable[[], Any], Callable[[Case], Partition]]] = {
    "tailor": (gh.Tailor, lambda case: transparent.tailor(case.rows, case.positions, case.ell)),
    "symmetric": (
        lambda: gh.Symmetric(extra=0),
        lambda case: greedy.sg(case.rows, greedy.frequency_diverse(case.ell), greedy.lexicographic(case.rows)),
    ),
    "even split": (
        lambda: gh.EvenSplit(extra=0),
        lambda case: greedy.even_split(case.rows, case.positions, greedy.frequency_diverse(case.ell)),
    ),
    "greedy": (
        lambda: gh.Greedy(last="drop"),
        lambda case: greedy.gg(
            case.rows, case.ell, greedy.frequency_diverse(case.ell), greedy.lexicographic(case.rows), "drop"
        ),
    ),
    "mondrian": (
        gh.Mondrian,
        lambda case: mondrian.strict(case.rows, case.positions, greedy.frequency_diverse(case.ell)),
    ),
}


def _refined(case: Case, random: Random) -> Pair:
    diverse = _diverse(case)
    # Mondrian leaves a table whole that is not eligible; the others refuse it.
    name = random.choice([name for name in COARSE if diverse or name != "mondrian"])
    inner = random.choice(("anatomize", "ace"))
    make, coarse = COARSE[name]

    def twin(draws: Any) -> Partition:
        groups = coarse(case) if diverse else set()
        if inner == "anatomize":
            return refinement.with_anatomize(case.rows, groups, case.ell, draws)
        return refinement.with_ace(case.rows, case.positions, groups, case.ell, draws)

    return _pair(case, twin, _divide(case, gh.Refined(coarse=make(), inner=inner)))


def _opt_gen(case: Case, _: Random) -> Pair:
    """Of a larger table the tuples at its first few points, in their order: the twin breaks ties by row number."""
    points = sorted(set(case.codes))[:MOST_POINTS]
    kept = sorted((i for i, codes in enumerate(case.codes) if codes in points), key=lambda i: (case.codes[i], i))
    part = replace(
        case,
        table=case.table.take(np.array(kept)),
        codes=[case.codes[i] for i in kept],
        sensitive=[case.sensitive[i] for i in kept],
        order=list(range(len(kept))),
    )

    def twin(_: Any) -> Partition:
        try:
            return optimal.opt_gen(part.rows, part.ell)
        finally:
            optimal.global_recodings.cache_clear()

    return Pair(twin, (_divide(part, gh.OptGen()),))


METHODS: dict[str, Callable[[Case, Random], Pair]] = {
    "Tailor": _tailor,
    "Tailor by discernibility": _tailor_by_size,
    "Ace": _ace,
    "Hybrid": _hybrid,
    "Hybrid by discernibility": _hybrid_by_size,
    "Anatomize": _anatomize,
    "Anatomize, varied": _varied,
    "Sift": _sift,
    "Greedy": _greedy,
    "RandomisedGreedy": _randomised_greedy,
    "Symmetric": _symmetric,
    "EvenSplit": _even_split,
    "strict Mondrian": _strict,
    "relaxed Mondrian": _relaxed,
    "Snug": _snug,
    "Refined": _refined,
    "OptGen": _opt_gen,
}
RANDOMISED = ["Ace", "Hybrid", "Hybrid by discernibility", "Anatomize", "RandomisedGreedy", "Refined"]


# --- many tables -----------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """How much was compared; ``n_divided``: tables with more than one group, ``n_refused``: with none."""

    name: str
    n_tables: int = 0
    n_divided: int = 0
    n_refused: int = 0
    n_outcomes: int = 0  # where all random choices were made, the different partitions that came out

    def __add__(self, other: Tally) -> Tally:
        assert self.name == other.name
        return Tally(
            self.name,
            self.n_tables + other.n_tables,
            self.n_divided + other.n_divided,
            self.n_refused + other.n_refused,
            self.n_outcomes + other.n_outcomes,
        )

    def __str__(self) -> str:
        chances = f", {self.n_outcomes} outcomes with their chances" if self.n_outcomes else ""
        return (
            f"{self.name}: {self.n_tables} tables as its twin ({self.n_divided} divided, {self.n_refused} refused)"
            f"{chances}"
        )


def compare(cases: Iterable[Case], tallies: Sequence[Tally]) -> None:
    """Run the methods of these names, and their twins, on every table with the same random choices."""
    for case in cases:
        for tally in tallies:
            pair = METHODS[tally.name](case, Random(f"{case.name} {tally.name}"))
            expected = pair.twin(case.script)
            for run in pair.product:
                assert expected == run(case.script), (tally.name, case)
            tally.n_tables += 1
            tally.n_divided += len(expected) > 1
            tally.n_refused += not expected


def compare_chances(cases: Iterable[Case], tallies: Sequence[Tally], *, most_runs: int = 150) -> None:
    """Make every random choice there is: each partition has exactly the chance that it has for the twin.

    Tables for which this would take too many runs are passed over.
    """
    for case in cases:
        if len(case.rows) > MOST_PEOPLE:
            continue
        for tally in tallies:
            pair = METHODS[tally.name](case, Random(f"{case.name} {tally.name}"))
            try:
                found = [
                    enumerating.distribution(lambda draws, run=run: frozenset(run(draws)), limit=most_runs)
                    for run in pair.product
                ]
                expected = enumerating.distribution(lambda draws, run=pair.twin: frozenset(run(draws)), limit=most_runs)
            except enumerating.TooManyRuns:
                continue
            assert all(expected == chances for chances in found), (tally.name, case)
            tally.n_tables += 1
            tally.n_outcomes += len(expected)
            tally.n_divided += any(len(groups) > 1 for groups in expected)
            tally.n_refused += frozenset() in expected


def tallied(
    judge: Callable[[Iterable[Case], Sequence[Tally]], None],
    draw: Callable[[int, int], Case],
    names: Iterable[str],
    seed: int,
    numbers: Iterable[int],
) -> list[Tally]:
    """Judge the tables of these numbers, and tell how many there were."""
    tallies = [Tally(name) for name in names]
    judge((draw(seed, number) for number in numbers), tallies)
    return tallies
