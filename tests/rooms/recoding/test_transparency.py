# SPDX-License-Identifier: Apache-2.0
"""Transparency by force for every way of publishing: the product's methods on every world of tiny tables.

The slow recodings of `by_force_recodings` run with every method that claims to hold against an attacker who knows it.
The product's own recodings run beside them, with all group numbers and everything that is published (see `doors`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from tests.prove import ATTACKABLE, SAFE, VALUES, tally
from tests.rooms.grouping import mirror_search
from tests.rooms.grouping.doors import forced
from tests.rooms.recoding import doors
from tests.tiers import tables
from tests.twins import by_force
from tests.twins.by_force_recodings import RECODINGS

METHODS = ["Mirror", "Hybrid", "Tailor", "Ace", "Anatomize"]

# The product's recodings (the table, its numbered groups and draws in, published tables out), and their slow twins.
PRODUCT: dict[str, tuple[doors.Recode, by_force.Recode]] = {
    "boxes": (lambda table, groups, draws: gh.Boxes().recode(table, groups, source=draws), by_force.by_boxes),
    "anatomy": (lambda table, groups, draws: gh.Anatomy().recode(table, groups, source=draws), RECODINGS["anatomy"]),
    "angel with two marginals": (doors.two_marginals, RECODINGS["angel with two marginals"]),
}
PERMUTATION: tuple[doors.Recode, by_force.Recode] = (
    lambda table, groups, draws: gh.Permutation().recode(table, groups, source=draws),
    RECODINGS["permutation"],
)


def cases(seed: int, n_cases: int, **options: Any) -> Iterator[by_force.Case]:
    """Of several dimensions, so that two marginals are different ones."""
    options = {"people": (4, 5), **VALUES, **options}
    several = (case for case in by_force.random_cases(seed, 20 * n_cases, **options) if len(case.positions) > 1)
    return (case for _, case in zip(range(n_cases), several, strict=False))


def method_for(name: str) -> Any:
    if name == "Mirror":  # it draws remainders once only, so that all draws can be tried
        return mirror_search.product
    return lambda case: forced(SAFE[name](), partial(gh.LDiversity, ell=case.ell), case.positions)


@pytest.mark.parametrize("name", METHODS)
def test_knowing_the_algorithm_lifts_no_belief_above_one_in_l_however_it_is_published(name: str) -> None:
    for found in by_force.try_recodings(name, method_for(name), cases(1, tables(60)), RECODINGS).values():
        assert found.n_above == 0, found
        assert found.times_promised == 1, "a belief that is never reached proves nothing"
        assert found.n_divided > 0, "a method that never divides proves nothing"


@pytest.mark.parametrize("name", METHODS)
def test_people_outside_the_table_do_not_help_the_attacker_however_it_is_published(name: str) -> None:
    some = cases(2, tables(20), extra=(1, 2), max_worlds=200)

    for found in by_force.try_recodings(f"{name}, people outside", method_for(name), some, RECODINGS).values():
        assert found.n_above == 0, found


@pytest.mark.parametrize("recode", RECODINGS.values(), ids=RECODINGS)
def test_batches_of_mirror_keep_beliefs_within_t_of_the_table(recode: Any) -> None:
    t, n_divided, n_releases = Fraction(1, 3), 0, 0
    for case in cases(5, 3, people=(4, 5, 6), n_values=(2, 3), max_worlds=60):
        method = mirror_search.product(case, gh.TCloseness(t=str(t)), floor=1)
        evidence = by_force.evidence_of(method, case.codes, by_force.worlds_of(case), recode)
        shares = {value: Fraction(case.values.count(value), len(case.values)) for value in set(case.values)}
        n_divided += evidence.n_divided
        for weights in evidence.releases.values():
            n_releases += 1
            beliefs = by_force.beliefs_after(weights)
            for person in {person for person, _ in beliefs}:
                grown = (beliefs.get((person, value), Fraction(0)) - share for value, share in shares.items())
                assert sum(max(part, Fraction(0)) for part in grown) <= t
    assert 0 < n_divided
    assert n_releases > 10


@pytest.mark.parametrize("recode", RECODINGS.values(), ids=RECODINGS)
@pytest.mark.parametrize("name", ["strict Mondrian", "Greedy"])
def test_the_search_finds_a_table_where_batches_of_an_attackable_method_fall(name: str, recode: Any) -> None:
    some = by_force.random_cases(3, 100, people=(4, 5, 6), ells=(2,), n_values=(3, 4, 5), max_worlds=200)

    assert tally(name, ATTACKABLE[name], some, recode, until_above=True).n_above == 1


def product_and_twins(name: str, case: by_force.Case, pairs: Iterable[Any]) -> Iterator[list[by_force.Evidence]]:
    """For each pair of a product's recoding and its twin, what is published of the same groups."""
    recodings = [recode for own, twin in pairs for recode in (doors.published(own), twin)]
    found = by_force.evidence_by_recoding(method_for(name)(case), case.codes, by_force.worlds_of(case), recodings)
    return (found[i : i + 2] for i in range(0, len(found), 2))


@pytest.mark.parametrize("name", METHODS)
def test_what_the_product_publishes_tells_exactly_what_the_slow_recoding_tells(name: str) -> None:
    n_divided = 0
    for case in cases(4, tables(30), people=(4,), ells=(2,), extra=(0, 1), n_values=(6, 40)):
        for product, twin in product_and_twins(name, case, PRODUCT.values()):
            n_divided += product.n_divided
            assert by_force.knowledge(product) == by_force.knowledge(twin)
            assert max(belief for told in by_force.knowledge(product) for _, belief in told) * case.ell <= 1
    assert n_divided > 0, "a method that never divides proves nothing"


def test_a_permutation_tells_over_all_orders_of_both_sides_what_anatomy_tells() -> None:
    case = by_force.Case(((0, 1), (1, 1), (0, 0), (1, 0), (1, 1)), ((0, 1), (0, 1)), (0, 0, 1, 2), 2)
    pairs = [PERMUTATION, PRODUCT["anatomy"]]
    (product, twin), (anatomy, _) = product_and_twins("Hybrid", case, pairs)

    assert by_force.knowledge(product) == by_force.knowledge(twin) == by_force.knowledge(anatomy)
    assert product.n_divided > 0


def test_the_door_of_the_products_recodings_shows_the_order_of_rows() -> None:
    def in_file_order(table: gh.Microdata, groups: gh.Groups, _: Any) -> Any:
        """Anatomy whose QIT is in the order of sensitive values, as a file that was sorted by diagnosis."""
        tables = gh.Anatomy().recode(table, groups)
        by_value = table.sensitive[0].codes.argsort(kind="stable")
        exact = {column.name: column.codes[by_value] for column in table.quasi}
        return tables | {"qit": pa.table({**exact, "Group-ID": groups.labels[by_value] + 1})}

    case = next(cases(4, 1, people=(4,), ells=(2,), n_values=(40,)))
    own, _ = PRODUCT["anatomy"]

    assert by_force.worst_belief(method_for("Hybrid")(case), case, doors.published(own)).belief * 2 <= 1
    assert by_force.worst_belief(method_for("Hybrid")(case), case, doors.published(in_file_order)).belief == 1
