"""Tailor against its slow twin, at every threshold, and what it promises."""

from __future__ import annotations

import copy
import json
import pickle
from decimal import Decimal
from fractions import Fraction
from functools import partialmethod
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.catalog import to_data
from glasshouse.engines import Memory, memory
from glasshouse.grouping.perimeter import Places, exact_positions, weighted_places
from glasshouse.grouping.transparent import packed_rows as packed
from glasshouse.grouping.transparent import tailor
from glasshouse.grouping.transparent.packed_rows import Thresholds
from glasshouse.grouping.transparent.penalties import Custom, Discernibility, Judge, Penalty, Perimeter, judged
from glasshouse.grouping.transparent.tailor import Tailor, tailor_leaves
from glasshouse.kernels import interpreted
from glasshouse.microdata.synthetic import ANATOMY_QUASI, TRANSPARENT_QUASI
from glasshouse.principles.principle import Requirement
from tests.tables import Plain, partition, plain_tables
from tests.tiers import examples
from tests.twins import transparent as naive

NEVER = 1 << 20  # a threshold that no node of these tables reaches
EXTREMES = [
    Thresholds(),
    Thresholds(dense=0),
    Thresholds(dense=NEVER, crowd=0),
    Thresholds(crowd=NEVER, far=0, near=1),
    Thresholds(crowd=NEVER, far=0, near=3, small=0),
    Thresholds(crowd=0, far=0, near=NEVER),
    Thresholds(far=NEVER, small=0),
    Thresholds(dense=0, crowd=1, far=0, near=2, small=6),
]


def twin(table: gh.Microdata, ell: int, order: list[int], penalty: naive.Penalty | None = None) -> set[frozenset[int]]:
    """The slow twin, which breaks ties by row number, so rows are given to it in tie order."""
    codes = [column.codes[order].tolist() for column in table.quasi]
    rows = list(zip(zip(*codes, strict=True), table.sensitive[0].codes[order].tolist(), strict=True))
    positions = [exact_positions(column.domain) for column in table.quasi]
    groups = naive.tailor(rows, positions, ell, penalty)
    return {frozenset(order[i] for i in group) for group in groups}


def leaves(
    table: gh.Microdata,
    ell: int,
    order: list[int],
    thresholds: Thresholds | None = None,
    penalty: Penalty | None = None,
    threads: int = 1,
) -> set[frozenset[int]]:
    ranks = {row: rank for rank, row in enumerate(order)}
    placed, offsets = tailor_leaves(
        table,
        ell,
        table.sensitive[0],
        np.array(order, np.int32),
        Memory(threads=threads),
        penalty=penalty and judged(penalty, table, "Tailor"),
        thresholds=thresholds,
    )
    members = [placed[a:b].tolist() for a, b in pairwise(offsets.tolist())]
    assert all(leaf == sorted(leaf, key=ranks.__getitem__) for leaf in members), "leaves are in tie order"
    assert sorted(row for leaf in members for row in leaf) == list(range(table.n_tuples))
    assert placed.dtype == np.int32
    assert offsets.dtype == np.int64
    return {frozenset(leaf) for leaf in members}


def eligible(table: gh.Microdata, ell: int) -> bool:
    return int(np.bincount(table.sensitive[0].codes).max()) * ell <= table.n_tuples


@st.composite
def tables(draw: st.DrawFn, *, most: int = 40) -> Plain:
    """Tables that Tailor can cut: 1 to 12 attributes, narrow and wide, many duplicates, even sensitive values."""
    n = draw(st.integers(4, most))
    d = draw(st.sampled_from([1, 2, 2, 3, 4, 5, 8, 12]))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    quasi: dict[str, list[Any]] = {}
    quasi_codes = [0] * n
    for i in range(d):
        widest = int(random.choice([1, 2, 2, 3, 5, 20, 200, 100_000]))
        codes = random.integers(0, widest, n) ** int(random.choice([1, 1, 2]))
        if random.random() < 0.2 and i:
            codes = np.array(quasi_codes) + random.integers(0, 2, n)  # correlated with the one before
        quasi_codes = codes.tolist()
        kind = random.choice(["integer", "float", "category", "date"])
        if kind == "float":
            quasi[f"q{i}"] = [code / 8 for code in quasi_codes]
        elif kind == "category":
            quasi[f"q{i}"] = [f"v{code:012d}" for code in quasi_codes]
        elif kind == "date":
            quasi[f"q{i}"] = (np.datetime64("2000-01-01") + np.array(quasi_codes) % 100_000).astype(object).tolist()
        else:
            quasi[f"q{i}"] = quasi_codes
    kinds = draw(st.sampled_from([2, 3, 4, 6, 10, 5000]))
    sensitive = random.integers(0, kinds, n) if draw(st.booleans()) else random.permutation(np.arange(n) % kinds)
    return Plain(quasi, [f"s{code:04d}" for code in sensitive.tolist()])


@pytest.mark.parametrize("thresholds", EXTREMES, ids=str)
@settings(max_examples=examples(150), deadline=None)
@given(plain=tables(), ell=st.integers(1, 4), seed=st.integers(0, 5))
def test_leaves_are_those_of_the_slow_twin_at_every_threshold(
    thresholds: Thresholds, plain: Plain, ell: int, seed: int
) -> None:
    table = plain.microdata()
    order = np.random.default_rng(seed).permutation(table.n_tuples).tolist()
    if eligible(table, ell):
        assert twin(table, ell, order) == leaves(table, ell, order, thresholds)


@settings(max_examples=examples(200), deadline=None)
@given(plain=plain_tables(missing=True, most=30), ell=st.integers(1, 3), which=st.sampled_from(EXTREMES))
def test_missing_values_lie_with_the_largest(plain: Plain, ell: int, which: Thresholds) -> None:
    table = plain.microdata(missing="category")
    order = list(range(table.n_tuples))
    if eligible(table, ell):
        assert twin(table, ell, order) == leaves(table, ell, order, which)


@pytest.mark.parametrize("thresholds", EXTREMES, ids=str)
@settings(max_examples=3, deadline=None)
@given(plain=tables(most=220), ell=st.integers(2, 4))
def test_larger_tables_too(thresholds: Thresholds, plain: Plain, ell: int) -> None:
    table = plain.microdata()
    order = np.random.default_rng(1).permutation(table.n_tuples).tolist()
    if eligible(table, ell):
        assert leaves_by_wide_places(table, ell, order) == leaves(table, ell, order, thresholds)


def leaves_by_wide_places(table: gh.Microdata, ell: int, order: list[int]) -> set[frozenset[int]]:
    """The other implementation, which is there for perimeters beyond 64 bits; it can do any table."""
    places = weighted_places(table)
    wide = Places(tuple(np.array(t.tolist(), object) for t in places.tables), fits=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tailor, "weighted_places", lambda table: wide)
        return leaves(table, ell, order)


@pytest.mark.parametrize("ell", [2, 3])
@pytest.mark.parametrize("thresholds", [*EXTREMES[:3], EXTREMES[4], EXTREMES[-1]], ids=str)
@pytest.mark.parametrize("quasi", [TRANSPARENT_QUASI, ANATOMY_QUASI], ids=["4 attributes", "7 attributes"])
def test_a_census_is_divided_alike_by_both_implementations(
    quasi: tuple[str, ...], thresholds: Thresholds, ell: int
) -> None:
    table = gh.synthetic.census(2_500, seed=4, quasi=quasi)
    order = np.random.default_rng(2).permutation(table.n_tuples).tolist()
    expected = leaves_by_wide_places(table, ell, order)

    assert len(expected) > 50
    assert expected == leaves(table, ell, order, thresholds)


@settings(max_examples=examples(100), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), ell=st.integers(1, 3), n=st.integers(4, 30))
def test_perimeters_beyond_64_bits_are_exact(seed: int, ell: int, n: int) -> None:
    random = np.random.default_rng(seed)
    columns = {
        "a": (random.integers(0, 5, n) * 1_000_003 + (random.random(n) < 0.1)).tolist(),
        "b": (random.integers(0, 4, n) * 998_244_353 + (random.random(n) < 0.1)).tolist(),
        "c": (random.integers(0, 3, n) / 7).tolist(),
        "s": [str(i) for i in random.permutation(np.arange(n) % 4).tolist()],
    }
    table = gh.read(columns, quasi=["a", "b", "c"], sensitive="s")
    order = random.permutation(n).tolist()
    if eligible(table, ell):
        assert twin(table, ell, order) == leaves(table, ell, order)


def test_such_tables_do_not_fit() -> None:
    columns = {"a": [0, 1, 1_000_003], "b": [0, 1, 998_244_353], "c": [0, 1, 1 / 7], "s": ["x", "y", "z"]}

    assert not weighted_places(gh.read(columns, quasi=["a", "b", "c"], sensitive="s")).fits


@pytest.mark.parametrize("small", [0, 10, 1 << 14])
@pytest.mark.parametrize("kinds", [4, 40, 5000])
def test_tuples_that_are_all_alike_are_taken_in_tie_order(kinds: int, small: int) -> None:
    n = 200
    random = np.random.default_rng(kinds)
    columns = {"a": [7] * n, "b": ["x"] * n, "s": [f"s{i}" for i in random.integers(0, kinds, n).tolist()]}
    table = gh.read(columns, quasi=["a", "b"], sensitive="s")
    order = random.permutation(n).tolist()

    assert twin(table, 2, order) == leaves(table, 2, order, Thresholds(small=small))


def test_very_many_people_who_are_all_alike_take_linear_time() -> None:
    n = 400_000  # step by step, each over all that is left, this would take hours
    table = gh.read({"a": np.zeros(n, np.int64), "s": np.arange(n).astype(str)}, quasi=["a"], sensitive="s")
    placed, offsets = tailor_leaves(table, 2, table.sensitive[0], np.arange(n, dtype=np.int32), Memory(threads=1))

    assert np.array_equal(placed, np.arange(n))
    assert np.diff(offsets).tolist() == [2] * (n // 2)


@settings(max_examples=examples(100), deadline=None)
@given(plain=tables(), ell=st.integers(1, 3), which=st.sampled_from(EXTREMES), data=st.data())
def test_fields_of_any_width_give_the_same_leaves(
    plain: Plain, ell: int, which: Thresholds, data: st.DataObject
) -> None:
    table = plain.microdata()
    order = np.random.default_rng(1).permutation(table.n_tuples).tolist()
    widths = data.draw(st.lists(st.sampled_from([8, 16, 32]), min_size=len(table.quasi), max_size=len(table.quasi)))
    if eligible(table, ell):
        expected = twin(table, ell, order)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(packed, "_bits", lambda size: widths.pop())

            assert expected == leaves(table, ell, order, which)


@pytest.mark.parametrize(("size", "bits"), [(1, 8), (128, 8), (129, 16), (32_768, 16), (32_769, 32), (1 << 31, 32)])
def test_codes_fit_into_their_fields_below_the_guard(size: int, bits: int) -> None:
    assert packed._bits(size) == bits
    assert size - 1 <= (1 << (bits - 1)) - 1


@pytest.mark.parametrize("thresholds", [Thresholds(), Thresholds(dense=0)], ids=str)
def test_wide_domains_are_cut_exactly(thresholds: Thresholds) -> None:
    """Codes beyond two bytes beside small ones, so that words have fields of several widths."""
    n, random = 33_000, np.random.default_rng(3)
    columns = {
        "small": random.integers(0, 5, n),
        "wide": random.permutation(n),
        "middle": random.integers(0, 3_000, n),
        "s": (np.arange(n) % 50).astype(str),
    }
    table = gh.read(columns, quasi=["small", "wide", "middle"], sensitive="s")
    order = np.random.default_rng(2).permutation(table.n_tuples).tolist()

    assert [packed._bits(column.domain.size) for column in table.quasi] == [8, 32, 16]
    assert leaves_by_wide_places(table, 10, order) == leaves(table, 10, order, thresholds)


@pytest.mark.parametrize("penalty", ["perimeter", "discernibility"])
def test_threads_and_pieces_change_nothing(penalty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = gh.synthetic.census(6_000, seed=5)
    requirement = Requirement.of(gh.LDiversity(ell=2), table)

    def groups(threads: int) -> set[frozenset[int]]:
        method, source = Tailor(penalty=penalty), gh.Source.seeded(1)
        return partition(method.divide(table, requirement, source=source, engine=Memory(threads=threads)))

    expected = groups(1)
    monkeypatch.setattr(memory, "PIECE", 100)
    monkeypatch.setattr(packed.Thresholds, "__init__", partialmethod(packed.Thresholds.__init__, small=64))

    assert len(expected) > 100
    assert expected == groups(1) == groups(4)


@settings(max_examples=examples(60), deadline=None)
@given(plain=tables(most=60), ell=st.integers(1, 3), which=st.sampled_from(EXTREMES))
def test_interpreted_kernels_give_the_same_leaves(plain: Plain, ell: int, which: Thresholds) -> None:
    table = plain.microdata()
    order = np.random.default_rng(1).permutation(table.n_tuples).tolist()
    expected = leaves(table, ell, order, which)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed, "compiled", interpreted)

        assert expected == leaves(table, ell, order, which)


@settings(max_examples=examples(150), deadline=None)
@given(plain=tables(most=24), ell=st.integers(1, 3))
def test_discernibility_is_that_of_the_slow_twin(plain: Plain, ell: int) -> None:
    table = plain.microdata()
    order = np.random.default_rng(1).permutation(table.n_tuples).tolist()
    if eligible(table, ell):
        squares = twin(table, ell, order, lambda group: Fraction(len(group) ** 2))

        assert squares == leaves(table, ell, order, penalty=Discernibility())


@settings(max_examples=examples(60), deadline=None)
@given(plain=tables(most=16), ell=st.integers(1, 2))
def test_a_function_of_ones_own_is_that_of_the_slow_twin(plain: Plain, ell: int) -> None:
    """The same function twice: of values, and of codes, which here count as values."""
    values = {name: [hash(value) % 7 for value in column] for name, column in plain.quasi.items()}
    table = Plain(values, plain.sensitive).microdata()
    domains = [column.domain.values.to_pylist() for column in table.quasi]
    order = np.random.default_rng(1).permutation(table.n_tuples).tolist()

    def spread(people: list[tuple[Any, ...]]) -> int:
        return len(people) * sum((max(x) - min(x)) ** 2 for x in zip(*people, strict=True))

    def spread_of_codes(group: list[Any]) -> Fraction:
        return Fraction(spread([tuple(d[c] for d, c in zip(domains, codes, strict=True)) for codes, _ in group]))

    if eligible(table, ell):
        assert twin(table, ell, order, spread_of_codes) == leaves(table, ell, order, penalty=Custom(spread))


@settings(max_examples=40, deadline=None)
@given(plain=plain_tables(most=16, missing=True), ell=st.integers(1, 2))
def test_a_function_that_says_what_a_known_penalty_says_gives_its_leaves(plain: Plain, ell: int) -> None:
    table = plain.microdata(missing="category")
    order = np.random.default_rng(1).permutation(table.n_tuples).tolist()
    values = [column.domain.decode(np.arange(column.domain.size, dtype=np.int32)).to_pylist() for column in table.quasi]
    place = [
        dict(zip(v, exact_positions(column.domain), strict=True)) for v, column in zip(values, table.quasi, strict=True)
    ]

    def perimeter(people: list[tuple[Any, ...]]) -> Fraction:
        shares = Fraction(0)
        for where, column in zip(place, zip(*people, strict=True), strict=True):
            whole = max(where.values()) - min(where.values())
            places = [where[value] for value in column]
            shares += (max(places) - min(places)) / whole if whole else 0
        return len(people) * shares

    def squares(people: list[tuple[Any, ...]]) -> int:
        return len(people) ** 2

    if eligible(table, ell):
        assert leaves(table, ell, order) == leaves(table, ell, order, penalty=Custom(perimeter))
        assert leaves(table, ell, order, penalty=Discernibility()) == leaves(table, ell, order, penalty=Custom(squares))


def line(n: int) -> gh.Microdata:
    return gh.read({"a": list(range(n)), "s": [f"{i % 4}" for i in range(n)]}, quasi=["a"], sensitive="s")


def test_a_function_gets_new_sorted_lists_of_the_values_of_some_people() -> None:
    columns = {"age": [30, None, 20, 30], "sex": ["m", "f", "f", "f"], "s": list("abcd")}
    table = gh.read(columns, quasi=["age", "sex"], sensitive="s", missing="category")
    seen = []

    def watch(people: list[tuple[Any, ...]]) -> int:
        seen.append(list(people))
        people.clear()  # the list is the function's own
        return 0

    judge = Judge(Custom(watch), table, "Tailor")

    assert judge.cost(np.array([[0, 1], [3, 2]])) == 0
    assert seen == [[(20, "f"), (30, "f"), (30, "m"), (None, "f")]]
    Tailor(penalty=watch).divide(table, Requirement.of(gh.LDiversity(ell=2), table))
    assert all(people == sorted(people, key=lambda p: (p[0] is None, p)) for people in seen)


@pytest.mark.parametrize("number", [3, 3.0, Fraction(3), Decimal(3), np.int8(3), np.float32(3), np.uint64(3)])
def test_a_function_may_return_any_kind_of_number(number: Any) -> None:
    judge = Judge(Custom(lambda people: number), line(2), "Tailor")

    assert judge.cost(np.array([0, 1])) == 3
    assert type(judge.cost(np.array([0, 1]))) in (int, Fraction)


@pytest.mark.parametrize("unit", [1, Fraction(1, 3), 0.3, 0.7, Decimal("0.7"), 10**400, 1e-300])
def test_what_a_function_says_is_added_exactly(unit: Any) -> None:
    """Every cut costs the same, also where 0.7 + 3.5 > 1.4 + 2.8 in floats: the smallest left part is taken."""
    costs = {n: n * unit if not isinstance(unit, float) else float(str(n * Decimal(str(unit)))) for n in range(1, 6)}
    judge = Judge(Custom(lambda people: costs[len(people)]), line(6), "Tailor")

    assert judge.cheapest(np.arange(6)[np.newaxis], 1) == (0, 1)


def raises(people: list[Any]) -> int:
    return 1 // (len(people) - len(people))


FAULTS = [
    (raises, "raised ZeroDivisionError"),
    (lambda people: float("nan"), "returned nan"),
    (lambda people: float("inf"), "returned inf"),
    (lambda people: Decimal("NaN"), "returned NaN"),
    (lambda people: np.float64("nan"), "returned nan"),
    (lambda people: -0.5, "returned a negative number"),
    (lambda people: -(10**5000), "returned a negative number"),
    (lambda people: None, "returned an object of type NoneType"),
    (lambda people: True, "returned an object of type bool"),
    (lambda people: "3", "returned an object of type str"),
    (lambda people: 3j, "returned an object of type complex"),
    (lambda people: people, "returned an object of type list"),
    (lambda people: np.array([1, 2]), "returned an object of type ndarray"),
    (lambda: 0, "raised TypeError"),
]


@pytest.mark.parametrize("method", [gh.Tailor, gh.Ace, gh.Hybrid])
@pytest.mark.parametrize(("function", "what"), FAULTS, ids=[what for _, what in FAULTS])
def test_a_function_that_gives_no_cost_is_refused_without_a_word_about_the_data(
    method: Any, function: Any, what: str
) -> None:
    table = gh.read({"a": ["anna", "bert", "carl", "dora"] * 2, "s": list("abcdabcd")}, quasi=["a"], sensitive="s")

    with pytest.raises(gh.ParameterError) as refusal:
        gh.publish(table, principle=gh.LDiversity(ell=2), method=method(penalty=function))

    message = str(refusal.value)
    assert message.startswith(f"{method.__name__}: penalty must be a function that gives any list of tuples a number")
    assert f"(this one {what})" in message
    assert refusal.value.value is function
    assert "anna" not in message
    assert isinstance(refusal.value.__cause__, Exception) == what.startswith("raised")


def test_an_interruption_is_no_fault_of_the_function() -> None:
    def interrupted(people: list[Any]) -> int:
        raise KeyboardInterrupt

    table = gh.examples.transparent_t5()
    with pytest.raises(KeyboardInterrupt):
        Tailor(penalty=interrupted).divide(table, Requirement.of(gh.LDiversity(ell=2), table))


def test_what_cannot_be_called_is_no_penalty() -> None:
    with pytest.raises(gh.ParameterError, match="Custom: function must be a function of a list of tuples, got 3"):
        Custom(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", [gh.Tailor, gh.Ace, gh.Hybrid])
@pytest.mark.parametrize("penalty", ["perimeter", "discernibility", len])
def test_methods_and_their_penalties_can_be_copied_and_pickled(method: Any, penalty: Any) -> None:
    given = method(penalty=penalty)

    for twin_of_it in (copy.copy(given), copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
        assert twin_of_it == given
        assert type(twin_of_it.penalty) is type(given.penalty)
        assert repr(twin_of_it) == repr(given)


def test_the_papers_example_comes_out_as_printed() -> None:
    table = gh.examples.transparent_t5()
    groups = Tailor().divide(table, Requirement.of(gh.LDiversity(ell=2), table))

    assert partition(groups) == {frozenset({0, 1, 2, 3}), frozenset({4, 5}), frozenset({6, 7})}


def test_without_an_identifier_ties_are_broken_by_the_source() -> None:
    table = gh.read({"a": [1] * 8, "s": list("abcdefgh")}, quasi=["a"], sensitive="s")
    requirement = Requirement.of(gh.LDiversity(ell=2), table)
    seen = {
        frozenset(partition(Tailor().divide(table, requirement, source=gh.Source.seeded(seed)))) for seed in range(20)
    }

    assert len(seen) > 10
    assert partition(Tailor().divide(table, requirement)) is not None


@pytest.mark.parametrize("name", ["perimeter", "discernibility"])
def test_a_recipe_gives_the_method_back(name: str) -> None:
    method = Tailor(penalty=name)
    data = json.loads(json.dumps(to_data(method)))

    assert data == {"name": "tailor", "penalty": name}
    assert Tailor(penalty=data["penalty"]) == method


@pytest.mark.parametrize("cls", [gh.Tailor, gh.Ace, gh.Hybrid])
def test_a_function_is_marked_in_a_recipe_and_cannot_be_rebuilt_from_it(cls: Any) -> None:
    method = cls(penalty=lambda people: len(people) ** 2)

    assert json.dumps(to_data(method)) == f'{{"name": "{cls.name}", "penalty": "custom"}}'
    with pytest.raises(gh.ParameterError, match=f"{cls.__name__}: .*a function cannot be recorded in a recipe"):
        cls(penalty="custom")


def test_penalties_may_be_given_as_objects() -> None:
    assert Tailor() == Tailor(penalty=Perimeter()) == Tailor(penalty="perimeter")
    assert Tailor(penalty=Discernibility()) == Tailor(penalty="discernibility") != Tailor()
    assert Tailor(penalty=len) == Tailor(penalty=Custom(len)) != Tailor(penalty=lambda people: 0)
    assert repr(Tailor()) == "Tailor(penalty='perimeter')"


def test_it_claims_to_hold_against_an_attacker_who_knows_the_algorithm() -> None:
    table = gh.examples.transparent_t5()
    claim = Tailor().claim(Requirement.of(gh.LDiversity(ell=2), table))

    assert claim.adversary.value == "algorithm-aware"
    assert "Theorem 1" in claim.theorem


@pytest.mark.parametrize("method", [gh.Tailor, gh.Ace, gh.Hybrid])
def test_the_claim_under_a_function_says_that_it_was_not_checked(method: Any) -> None:
    table = gh.examples.transparent_t5()
    requirement = Requirement.of(gh.LDiversity(ell=2), table)
    own = method(penalty=lambda people: 0).claim(requirement)

    assert method().claim(requirement).limits == own.limits
    assert method().claim(requirement).assumptions == ()
    assert "and was not checked" in own.assumptions[-1]


def test_other_principles_are_refused() -> None:
    table = gh.examples.transparent_t5()
    requirement = Requirement.of(gh.KAnonymity(k=2), table)
    with pytest.raises(gh.NotSupported, match="mondrian"):
        Tailor().divide(table, requirement)
    with pytest.raises(gh.NotSupported, match="mondrian"):
        Tailor().claim(requirement)


def test_a_table_that_is_not_eligible_is_refused() -> None:
    table = gh.read({"a": [1, 2, 3], "s": ["x", "x", "y"]}, quasi=["a"], sensitive="s")
    with pytest.raises(gh.Infeasible):
        Tailor().divide(table, Requirement.of(gh.LDiversity(ell=2), table))
