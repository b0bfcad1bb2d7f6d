"""Dropping tuples to reach a principle: as few as can be, chosen at random, counted and said."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import Memory
from glasshouse.engines.tally import tally
from glasshouse.grouping.suppression import keep_eligible
from tests.laws.people import people
from tests.laws.publishing import assert_lawful, examples, published
from tests.laws.samples import (
    METHODS,
    PLAIN_PRINCIPLES,
    RECODINGS,
    PrincipleSample,
    RecodingSample,
    frequencies,
    kept,
)
from tests.twins import principles as naive

SMALLEST = [sample for sample in RECODINGS if sample.k == 1 and not sample.tree]  # these publish any number of tuples


def fewest_to_drop(values: list[Any], ell: int) -> int | None:
    """By trying every smaller histogram; None if nothing is left of any that would do."""
    whole = frequencies(values)
    good = [h for h in product(*(range(count + 1) for count in whole)) if naive.l_diversity(list(h), ell)]
    return min((len(values) - sum(h) for h in good), default=None)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@examples(60)
@given(
    table=people(most=14, widest=2),
    ell=st.integers(2, 4),
    share=st.fractions(0, Fraction(19, 20), max_denominator=20),
    seed=st.integers(0, 9),
    recoding=st.sampled_from(SMALLEST),
)
def test_no_more_are_dropped_than_must_be_and_no_more_than_may_be(
    method: Any, table: Any, ell: int, share: Fraction, seed: int, recoding: RecodingSample
) -> None:
    values = table.columns["sensitive"]
    fewest = fewest_to_drop(values, ell)
    sample = next(s for s in PLAIN_PRINCIPLES if s.principle == gh.LDiversity(ell=2))
    choices = {"principle": gh.LDiversity(ell=ell), "method": method, "suppress": share, "seed": seed}
    choices["recoding"] = recoding.on(table)

    if fewest is None or fewest > share * table.n:
        with pytest.raises(gh.Infeasible) as refused:
            published(table.read(), **choices)
        if fewest is not None and share:
            assert (fewest, table.n) == (refused.value.count, refused.value.of)
        return
    made = published(table.read(), **choices)
    assert fewest == made.release.n_dropped
    assert str(share) == made.release.recipe.suppress
    assert_lawful(table, made, {"sensitive": sample}, recoding)
    assert all(naive.l_diversity(list(Counter(values[i] for i in group).values()), ell) for group in made.partition)


@pytest.mark.parametrize("sample", [s for s in PLAIN_PRINCIPLES if s.principle.needs_sensitive], ids=repr)
@examples(25)
@given(data=st.data(), table=people(most=14, widest=2), share=st.sampled_from(["0.1", "0.3", "0.7"]))
def test_under_any_principle_what_is_left_is_safe_and_enough_is_left(
    sample: PrincipleSample, data: st.DataObject, table: Any, share: str
) -> None:
    recoding = data.draw(st.sampled_from([r for r in SMALLEST if kept(r.recoding, sample.principle)]))
    values = table.columns["sensitive"]
    try:
        made = published(table.read(), principle=sample.principle, suppress=share, recoding=recoding.on(table))
    except gh.Infeasible:
        assert not sample.judge(values, values)
        return
    assert made.release.n_dropped <= Fraction(share) * table.n
    assert sample.judge(values, values) == (made.release.n_dropped == 0)
    assert_lawful(table, made, {"sensitive": sample}, recoding)


@examples(60)
@given(
    table=people(most=12, widest=1, sensitive=2),
    share=st.sampled_from(["0.3", "0.9"]),
    seed=st.integers(0, 5),
    recoding=st.sampled_from(SMALLEST),
)
def test_with_several_sensitive_columns_what_is_left_is_safe_for_each(
    table: Any, share: str, seed: int, recoding: RecodingSample
) -> None:
    sample = next(s for s in PLAIN_PRINCIPLES if s.principle == gh.LDiversity(ell=2))
    choices = {"principle": sample.principle, "suppress": share, "recoding": recoding.on(table)}
    try:
        made = published(table.read(), seed=seed, **choices)
    except gh.Infeasible:
        assert not all(sample.judge(table.columns[name], table.columns[name]) for name in table.sensitive)
        return
    assert made.release.n_dropped <= Fraction(share) * table.n
    assert_lawful(table, made, dict.fromkeys(table.sensitive, sample), recoding)


@examples(60)
@given(table=people(most=10, widest=2), k=st.integers(2, 6), seed=st.integers(0, 3))
def test_buckets_hide_people_among_those_who_are_left(table: Any, k: int, seed: int) -> None:
    choices = {"principle": gh.LDiversity(ell=2), "recoding": gh.Angel(k=k), "suppress": "0.9", "seed": seed}
    fewest = fewest_to_drop(table.columns["sensitive"], 2)
    if fewest is None or fewest > Fraction(9, 10) * table.n or table.n - fewest < k:
        with pytest.raises(gh.Infeasible):
            published(table.read(), **choices)
        return

    gt = published(table.read(), **choices).release.tables["gt"]

    assert gt.num_rows == table.n - fewest
    assert min(Counter(zip(*(gt[name].to_pylist() for name in table.quasi), strict=True)).values()) >= k


def test_without_a_share_nobody_is_dropped_and_the_witness_is_the_table_s() -> None:
    table = gh.read({"age": [1, 2, 3], "s": ["a", "a", "b"]}, quasi=["age"], sensitive="s")

    with pytest.raises(gh.Infeasible, match="'a' has 2 of 3 records") as refused:
        gh.publish(table, principle=gh.LDiversity(ell=2), suppress=0)

    assert ("a", 2, 3) == (refused.value.value, refused.value.count, refused.value.of)


def test_a_release_says_how_many_were_dropped_and_what_that_means() -> None:
    table = gh.read({"age": [1, 2, 3], "s": ["a", "a", "b"]}, quasi=["age"], sensitive="s")
    made = published(table, principle=gh.LDiversity(ell=2), suppress="0.5")

    assert (2, 1) == (made.manifest["glasshouse"]["n_tuples"], made.manifest["glasshouse"]["n_dropped"])
    assert "1/2" == made.manifest["glasshouse"]["recipe"]["suppress"]
    assert any("1 of 3 records was left out" in limit for limit in made.release.guarantee.limits)
    assert -1 in made.labels


# 12 tuples with a value that is too frequent, 4 of which must go, and 8 others
AGES = [20, 20, 20, 20, 31, 32, 33, 34, 35, 36, 37, 38, *range(50, 58)]
DISEASES = ["flu"] * 12 + ["ulcer"] * 4 + ["gout"] * 4
DRAWS = 900


def dropped_over_many_seeds(*, identifier: bool, seeded: bool) -> list[set[int]]:
    columns = {"age": AGES, "disease": DISEASES, "who": [f"p{(7 * i) % 20:02}" for i in range(20)]}
    roles = {"quasi": ["age"], "sensitive": "disease", "identifier": "who" if identifier else None}
    table = gh.read(columns, **roles)
    found = []
    for seed in range(DRAWS):
        source = gh.Source.seeded(seed) if seeded else gh.Source.secure()
        kinds, rows = tally(table, source.child("who is who"), Memory(threads=1))
        kept = kinds.rows_kept(keep_eligible(kinds, gh.LDiversity(ell=2), "0.2", source), rows)
        found.append(set(range(20)) - set(kept.tolist()))
    return found


@pytest.mark.parametrize("identifier", [False, True], ids=["nameless", "named"])
def test_all_candidates_are_dropped_equally_often_and_nobody_else_is(identifier: bool) -> None:
    drawn = dropped_over_many_seeds(identifier=identifier, seeded=True)

    assert {4} == {len(dropped) for dropped in drawn}
    single = Counter(row for dropped in drawn for row in dropped)
    pairs = Counter(pair for dropped in drawn for pair in combinations(sorted(dropped), 2))
    assert set(range(12)) == set(single)
    # chi-square: each of 12 is dropped with probability 1/3, each of 66 pairs with 1/11
    each, pair = DRAWS * Fraction(1, 3), DRAWS * Fraction(1, 11)
    assert sum((single[i] - each) ** 2 / each for i in range(12)) < 25  # expected 8 (11 x 2/3); beyond 25: once in 10^5
    assert sum((pairs[p] - pair) ** 2 / pair for p in combinations(range(12), 2)) < 110  # expected 60


def test_the_secure_source_drops_the_same_number_and_not_always_the_same() -> None:
    drawn = dropped_over_many_seeds(identifier=True, seeded=False)[:30]

    assert {4} == {len(dropped) for dropped in drawn}
    assert len({frozenset(dropped) for dropped in drawn}) > 1
    assert all(row < 12 for dropped in drawn for row in dropped)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@examples(60)
@given(data=st.data())
def test_who_is_dropped_does_not_hang_on_the_order_of_rows_with_equal_values(method: Any, data: st.DataObject) -> None:
    n = data.draw(st.integers(4, 10))
    ages = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    diseases = data.draw(st.lists(st.sampled_from("aaab"), min_size=n, max_size=n))
    order = data.draw(st.permutations(range(n)))
    recoding = data.draw(st.sampled_from([gh.Boxes(), gh.Anatomy(), gh.Permutation(), gh.Angel()]))

    def rows(order: Any) -> Any:
        columns = {"who": [f"p{i}" for i in order], "age": [ages[i] for i in order], "s": [diseases[i] for i in order]}
        table = gh.read(columns, quasi=["age"], sensitive="s", identifier="who")
        try:
            choices = {"principle": gh.LDiversity(ell=2), "method": method, "suppress": "0.9"}
            return published(table, recoding=recoding, **choices).files
        except gh.Infeasible as refusal:
            return str(refusal)

    assert rows(range(n)) == rows(order)


# --- known limits: what suppression does not find --------------------------------------------------------------------


@pytest.mark.parametrize(
    "principle",
    [
        gh.AlphaKAnonymity(alpha="1/3", k=22),
        gh.AllOf(principles=(gh.KAnonymity(k=22), gh.AlphaKAnonymity(alpha="1/3", k=1))),
    ],
    ids=repr,
)
def test_a_size_that_must_be_kept_does_not_hide_a_cap_that_would_do(principle: Any) -> None:
    diseases = ["flu"] * 10 + ["ulcer"] * 5 + ["gout"] * 5 + ["cold"] * 5
    table = gh.read({"age": list(range(25)), "s": diseases}, quasi=["age"], sensitive="s")

    assert 3 == gh.publish(table, principle=principle, suppress="0.2").n_dropped  # 7 of 22 are fewer than a third


def test_under_designated_values_only_these_are_dropped() -> None:
    table = gh.read({"age": list(range(50)), "s": ["HIV"] * 5 + ["no"] * 45}, quasi=["age"], sensitive="s")
    principle = gh.DesignatedLDiversity(ell=20, values=("HIV",))

    assert 3 == gh.publish(table, principle=principle, suppress="0.1").n_dropped
