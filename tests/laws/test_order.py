"""Numbers and order carry nothing: neither when or where a group was made, nor in which row of the input somebody was.

Statistical tests, each of which fails at p < 1e-6. Seeds are fixed, so they fail always or never. Beside each stands
its control: the same test on releases whose numbers are not drawn, or whose rows are not put in an order of their own,
must fail.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import glasshouse as gh
from glasshouse.recoding import anatomy as grouped
from glasshouse.recoding import generalization as generalized
from tests.laws.samples import METHODS, SMALL_TABLES
from tests.tiers import tables

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")

FAILS = 1e-6
NUMBERED = [gh.Anatomy(), gh.Permutation(), gh.Angel(k=1)]
DIVIDING = [method for method in METHODS if method != gh.Separate()]  # which has no more than one group
ENOUGH = 60  # degrees of freedom: a perfect correlation of so many lies at 1e-14
Array = NDArray[Any]

# --- measuring -------------------------------------------------------------------------------------------------------


def ranks(values: Array) -> Array:
    """Equal values share the middle of their ranks."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts + 1) / 2)[place.reshape(-1)]


def p_of(z: float) -> float:
    return math.erfc(abs(z) / math.sqrt(2))


def correlated(pairs: Iterable[tuple[Array, Array]]) -> float:
    """How probable so large a rank correlation is, taken together over all pairs, if each pair is independent.

    Spearman's coefficient of n items in random order has the variance 1 / (n - 1).
    """
    total = freedom = 0.0
    for one, other in pairs:
        a, b = ranks(one) - (len(one) - 1) / 2, ranks(other) - (len(one) - 1) / 2
        scale = math.sqrt((a @ a) * (b @ b))
        if scale > 0:
            total += (len(one) - 1) * float(a @ b) / scale
            freedom += len(one) - 1
    return p_of(total / math.sqrt(freedom)) if freedom else 1.0


def neighbouring(sequences: Iterable[Array]) -> float:
    """How probable it is that items beside each other are so close, or so far apart, if their order is random."""
    draws, total, n = np.random.default_rng(4), 0.0, 0
    for values in sequences:
        placed = ranks(values)
        if len(placed) < 12 or not np.ptp(placed):
            continue
        shuffled = np.abs(np.diff(draws.permuted(np.tile(placed, (200, 1)), axis=1))).sum(axis=1)
        total += (np.abs(np.diff(placed)).sum() - shuffled.mean()) / shuffled.std()
        n += 1
    return p_of(total / math.sqrt(n)) if n else 1.0


# --- numbers of groups -----------------------------------------------------------------------------------------------


def crowd(n: int, seed: int, *, values: int = 0) -> dict[str, Array]:
    """People whose ages, blocks, values and rows have nothing to do with each other; ages tell people apart."""
    draws = np.random.default_rng([seed, n])
    sensitive = np.arange(n) % values if values else np.arange(n)
    columns = {"age": np.arange(n), "block": draws.integers(0, 40, n), "value": sensitive}
    return {name: draws.permutation(column) for name, column in columns.items()}


def read(people: Mapping[str, Array]) -> gh.Microdata:
    columns = {name: column.tolist() for name, column in people.items()}
    quasi = [name for name in columns if name != "value"]
    return gh.read(columns, quasi=quasi, sensitive="value", categorical=["value"])


def facts_by_number(method: Any, recoding: Any, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Array]]:
    """For some releases what is true of each group, in the order of the published numbers."""
    n = 8 if method.name in SMALL_TABLES else 160
    renumbered, made = gh.Groups.renumbered, []

    def watched(self: gh.Groups, source: Any) -> gh.Groups:
        made.append(self.labels)
        return renumbered(self, source)

    found, freedom = [], 0
    with monkeypatch.context() as patch:
        patch.setattr(gh.Groups, "renumbered", watched)
        for seed in range(400):
            if freedom >= ENOUGH and seed >= tables(6):
                break
            people = crowd(n, seed, values=5)
            choices = {"principle": gh.LDiversity(ell=2), "method": method, "recoding": recoding}
            release = gh.publish(read(people), source=gh.Source.seeded(seed), threads=1, **choices)
            number = published_numbers(release, people)
            groups = [np.flatnonzero(number == i) for i in range(1, number.max() + 1)]
            assert all(len(set(made[-1][rows])) == 1 for rows in groups)
            facts = {name: np.array([column[rows].mean() for rows in groups]) for name, column in people.items()}
            facts["made"] = np.array([made[-1][rows[0]] for rows in groups])
            facts["size"] = np.array([len(rows) for rows in groups])
            facts["row"] = np.array([rows.min() for rows in groups])
            found.append(facts)
            freedom += len(groups) - 1
    return found


def published_numbers(release: gh.Release, people: Mapping[str, Array]) -> Array:
    """The number of everyone's group, by the published tables alone: ages are exact in all of them."""
    for table in release.tables.values():
        numbers = {"Group-ID", "Batch-ID"} & set(table.column_names)
        if "age" in table.column_names and numbers:
            of_age = dict(zip(map(int, table["age"].to_pylist()), table[numbers.pop()].to_pylist(), strict=True))
            return np.array([of_age[age] for age in people["age"].tolist()])
    raise AssertionError("no table tells")


def by_fact(found: list[dict[str, Array]]) -> dict[str, tuple[float, float]]:
    """For every fact, how probable it is that numbers have so much to do with it: by size, and by neighbourhood."""
    return {
        fact: (
            correlated((np.arange(len(facts[fact])), facts[fact]) for facts in found),
            neighbouring(facts[fact] for facts in found),
        )
        for fact in found[0]
    }


@pytest.mark.parametrize("recoding", NUMBERED, ids=repr)
@pytest.mark.parametrize("method", DIVIDING, ids=repr)
def test_a_number_tells_neither_when_nor_where_nor_of_whom_a_group_was_made(
    method: Any, recoding: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for fact, likely in by_fact(facts_by_number(method, recoding, monkeypatch)).items():
        assert min(likely) > FAILS, fact


@pytest.mark.parametrize("method", DIVIDING, ids=repr)
def test_numbers_in_the_order_of_making_would_be_noticed(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gh.Groups, "renumbered", lambda self, source: self)

    likely = by_fact(facts_by_number(method, gh.Anatomy(), monkeypatch))

    assert likely["made"][0] < FAILS
    where = likely["value"] if method == gh.Anatomize() else (*likely["age"], *likely["block"])
    assert min(where) < FAILS  # Anatomize takes the values in turn, all others go through space


def test_numbers_that_go_there_and_back_again_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even ones there, odd ones back: a number is no larger for later groups, but neighbours were made together."""

    def folded(self: gh.Groups, source: Any) -> gh.Groups:
        order = np.concatenate([np.arange(0, self.n_groups, 2), np.arange(1, self.n_groups, 2)[::-1]])
        return self.relabelled(np.argsort(order).astype(np.int32), self.n_groups)

    monkeypatch.setattr(gh.Groups, "renumbered", folded)

    likely = by_fact(facts_by_number(gh.Greedy(ordering="hilbert"), gh.Anatomy(), monkeypatch))

    assert likely["made"][0] > FAILS > max(likely["made"][1], likely["age"][1])


# --- order of rows ---------------------------------------------------------------------------------------------------
# Everybody has a different value, so that the reader of the test knows who is in which row; nobody else does.


def published_tables(people: Mapping[str, Array], seed: int, **choices: Any) -> dict[str, dict[str, list[Any]]]:
    choices = {"principle": gh.LDiversity(ell=2), "source": gh.Source.seeded(seed), "threads": 1, **choices}
    return {name: table.to_pydict() for name, table in gh.publish(read(people), **choices).tables.items()}


def runs(keys: Iterable[Any]) -> Iterator[slice]:
    """Where rows with equal keys lie, which are always together."""
    found = list(keys)
    starts = [i for i in range(len(found)) if i == 0 or found[i] != found[i - 1]]
    assert len(starts) == len(set(found))
    yield from (slice(a, b) for a, b in zip(starts, [*starts[1:], len(found)], strict=True))


def in_cells(method: Any, people: Mapping[str, Array], seed: int) -> dict[str, list[tuple[Array, Array]]]:
    """Of everybody whose cells are alike: the order of rows, beside that of the input and that of exact ages."""
    data = published_tables(people, seed, method=method, recoding=gh.Boxes())["data"]
    row_of = np.argsort(people["value"])
    rows = row_of[np.array(data["value"])]
    cells = runs(zip(data["age"], data["block"], strict=True))
    placed = [(np.arange(len(rows[cell])), rows[cell]) for cell in cells]
    return {
        "row": placed,
        "age": [(place, people["age"][those]) for place, those in placed],
        "block": [(place, people["block"][those]) for place, those in placed],
    }


def in_groups(recoding: Any, method: Any, people: Mapping[str, Array], seed: int) -> dict[str, list[Any]]:
    """Of the people of a group: the order of both sides, beside that of the input and beside each other."""
    side, counted = ("qit", "st") if recoding.name == "anatomy" else ("data", "data")
    published = published_tables(people, seed, method=method, recoding=recoding)
    row_of_age, row_of_value = np.argsort(people["age"]), np.argsort(people["value"])
    found: dict[str, list[Any]] = {"people": [], "values": [], "link": [], "side by side": [], "sorted": []}
    groups = zip(*(list(runs(published[name]["Group-ID"])) for name in (side, counted)), strict=True)
    for of_people, of_values in groups:
        ages = np.array(published[side]["age"][of_people])
        values = np.array(published[counted]["value"][of_values])
        people_rows, value_rows, place = row_of_age[ages], row_of_value[values], np.arange(len(ages))
        assert sorted(people_rows) == sorted(value_rows)
        found["people"].append((place, people_rows))
        found["values"].append((place, value_rows))
        found["link"].append((np.argsort(people_rows), np.argsort(value_rows)))
        if recoding.name == "permutation":
            found["side by side"].append((ages, values))
            found["sorted"] += [(place, ages), (place, values)]
    return found


def in_buckets(people: Mapping[str, Array], seed: int) -> dict[str, list[Any]]:
    """Of the people of a bucket: the order of rows, each known by its batch, beside that of the input and of ages."""
    choices = {"method": gh.Anatomize(), "recoding": gh.Angel(k=6)}
    found: dict[str, list[Any]] = {"row": [], "age": []}
    ages = {name: column for name, column in people.items() if name != "block"}
    published = published_tables(ages, seed, **choices)
    batch_of = dict(zip(published["bt"]["value"], published["bt"]["Batch-ID"], strict=True))
    for bucket in runs(published["gt"]["age"]):
        low, high = map(int, published["gt"]["age"][bucket][0].strip("[]").split(", "))
        members = np.flatnonzero((people["age"] >= low) & (people["age"] <= high))
        batches = [batch_of[value] for value in people["value"][members].tolist()]
        shown = published["gt"]["Batch-ID"][bucket]
        assert sorted(batches) == sorted(shown)
        who = np.array([members[batches.index(batch)] for batch in shown if batches.count(batch) == 1])
        found["row"].append((np.arange(len(who)), who))
        found["age"].append((np.arange(len(who)), people["age"][who]))
    return found


def over_seeds(measure: Any) -> dict[str, float]:
    """What several tables say together."""
    found: dict[str, list[Any]] = {}
    for seed in range(max(3, tables(9))):
        for name, pairs in measure(crowd(120, seed), seed).items():
            found.setdefault(name, []).extend(pairs)
    return {name: correlated(pairs) for name, pairs in found.items()}


TAKING = [method for method in METHODS if method.name not in SMALL_TABLES]


@pytest.mark.parametrize("method", TAKING, ids=repr)
def test_the_order_of_rows_with_equal_cells_tells_nothing_of_the_input(method: Any) -> None:
    likely = over_seeds(lambda people, seed: in_cells(method, people, seed))

    assert min(likely.values()) > FAILS


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Permutation()], ids=repr)
@pytest.mark.parametrize("method", TAKING, ids=repr)
def test_the_order_of_a_group_tells_neither_of_the_input_nor_who_has_which_value(method: Any, recoding: Any) -> None:
    likely = over_seeds(lambda people, seed: in_groups(recoding, method, people, seed))

    assert min(likely.values()) > FAILS


def test_the_order_of_a_bucket_tells_nothing_of_the_input() -> None:
    assert min(over_seeds(in_buckets).values()) > FAILS


def test_rows_with_equal_cells_in_the_order_of_the_input_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generalized, "_sort_runs", lambda *runs: None)

    assert over_seeds(lambda people, seed: in_cells(gh.Mondrian(), people, seed))["row"] < FAILS
    assert over_seeds(in_buckets)["row"] < FAILS


def unsorted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both sides of a group as they come."""
    kernels = grouped.compiled("glasshouse.recoding._kernels")
    kept = SimpleNamespace(gather=kernels.gather, sort_small_runs=lambda *runs: None)
    monkeypatch.setattr(grouped, "compiled", lambda name: kept)


def unshuffled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouped.Side, "shuffle", lambda self, source: None)


def test_people_of_a_group_in_the_order_of_the_input_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    unsorted(monkeypatch)

    assert over_seeds(lambda people, seed: in_groups(gh.Anatomy(), gh.Mondrian(), people, seed))["people"] < FAILS


def test_two_sides_of_a_group_in_one_order_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    unsorted(monkeypatch)
    unshuffled(monkeypatch)

    likely = over_seeds(lambda people, seed: in_groups(gh.Permutation(), gh.Mondrian(), people, seed))

    assert max(likely["people"], likely["values"], likely["link"]) < FAILS


def test_two_sorted_sides_of_a_group_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    unshuffled(monkeypatch)

    likely = over_seeds(lambda people, seed: in_groups(gh.Permutation(), gh.Mondrian(), people, seed))

    assert max(likely["side by side"], likely["sorted"]) < FAILS < likely["link"]


@pytest.mark.parametrize("left", [0, 1], ids=["people", "values"])
def test_a_side_of_a_group_that_is_left_sorted_would_be_noticed(left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shuffle, turns = grouped.Side.shuffle, iter(range(999))

    def one_of_two(self: grouped.Side, source: Any) -> None:
        if next(turns) % 2 != left:
            shuffle(self, source)

    monkeypatch.setattr(grouped.Side, "shuffle", one_of_two)

    likely = over_seeds(lambda people, seed: in_groups(gh.Permutation(), gh.Mondrian(), people, seed))

    assert likely["sorted"] < FAILS
