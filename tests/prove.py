"""What is too long for every day: ``make prove`` runs this file, ``pytest`` small tiers of it.

* Transparency by force, on the product's own methods: every world, every coin toss, exact beliefs
  (tests/rooms/grouping/test_transparency.py). For methods that claim to hold against an attacker who knows them no
  belief may exceed 1/l; for the others the search must find a table where one does, or it would not notice anything.
  Every way of publishing, ANGEL with two marginals among them, goes through the same (tests/rooms/recoding).
* Mirror, for which more is proved: where leaves are groups a belief is the published share, under any principle, and
  after a failed leaf of any size none exceeds 1/l (tests/rooms/grouping/test_mirror_transparency.py).
* Robust transparency: told what a proof tells, worlds are a product over groups, halves of groups or faces, and nothing
  is believed above what the method says by an attacker who knows a little; methods of which nothing is said must be
  found out (tests/rooms/grouping/test_robust_transparency.py).
* Sets as sensitive values: that a person has a value is believed with the share of the people of the group who have it
  (tests/rooms/grouping/test_set_transparency.py).
* Every method beside its slow twin, on tens of thousands of tables (tests/rooms/grouping/test_against_twins.py).
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from math import exp
from multiprocessing import get_context
from typing import Any

import glasshouse as gh
from tests.rooms.grouping import against_twins, mirror_search, robust_search, set_search, sift_search
from tests.rooms.grouping.doors import forced
from tests.twins import by_force
from tests.twins.by_force_recodings import RECODINGS as PUBLISHED

SAFE: dict[str, Callable[[], Any]] = {
    "Tailor": gh.Tailor,
    "Ace": gh.Ace,
    "Hybrid": gh.Hybrid,
    "Anatomize": gh.Anatomize,
    "EvenSplit at l + 1": gh.EvenSplit,
    "Symmetric at l + 1": gh.Symmetric,
    "Tailor refined by Anatomize": lambda: gh.Refined(coarse=gh.Tailor(), inner="anatomize"),
}
ATTACKABLE: dict[str, Callable[[], Any]] = {
    "strict Mondrian": gh.Mondrian,
    "Snug": gh.Snug,
    "Greedy": gh.Greedy,
    "Opt-Gen": gh.OptGen,
    "Symmetric refined by Anatomize": lambda: gh.Refined(coarse=gh.Symmetric(extra=0), inner="anatomize"),
    "Symmetric refined by Ace": lambda: gh.Refined(coarse=gh.Symmetric(extra=0), inner="ace"),
}
DEALT: dict[str, Any] = {"Anatomize, varied": gh.Anatomize(varied=True), "Sift": gh.Sift()}  # with more random choices
RECODINGS = {"by person": by_force.by_person, "by values": by_force.by_values, "by boxes": by_force.by_boxes}
# Tailor cuts nothing with fewer than 2l values, so a case with few of them would prove nothing.
VALUES: dict[str, Any] = {"n_values": (4, 5, 6), "max_worlds": 400}
FEW: dict[str, Any] = {"n_values": (2, 3, 4), "max_worlds": 150}


def tally(name: str, make: Callable[[], Any], cases: Any, recode: Any = None, *, until_above: bool = False) -> Any:
    """Run a method of the product through cases."""
    return by_force.try_cases(name, method_for(make), cases, recode, until_above=until_above)


def method_for(make: Callable[[], Any]) -> Callable[[by_force.Case], by_force.Method]:
    """A method of the product, as the search takes it."""
    return lambda case: forced(make(), partial(gh.LDiversity, ell=case.ell), case.positions)


def twins(n_tables: int) -> None:
    """Compare every method with its twin on so many tables, on all cores, and print how much was compared."""
    every, randomised = [*against_twins.METHODS], against_twins.RANDOMISED
    draw, take = against_twins.Case.draw, against_twins.Case.take
    kinds: list[Any] = [
        ("the same random choices", against_twins.compare, draw, every, n_tables, 250),
        ("from 100,000 zipcodes", against_twins.compare, take, every, n_tables // 2_000 + 1, 5),
        ("all random choices", against_twins.compare_chances, draw, randomised, n_tables // 10, 100),
    ]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        for seed, (title, judge, drawn, names, n, size) in enumerate(kinds, start=201):
            shares = [range(first, min(first + size, n)) for first in range(0, n, size)]
            found = pool.map(partial(against_twins.tallied, judge, drawn, names, seed), shares)
            for tallies in zip(*found, strict=True):
                by_force.say(f"{title}: {sum(tallies[1:], tallies[0])}")


def main(n_tables: int) -> None:
    """Run the full tiers and print how much was run."""
    transparency(n_tables)
    mirror(n_tables)
    sets(n_tables)
    robust(n_tables)
    twins(20 * n_tables)


def transparency(n_tables: int) -> None:
    """Attack every method on so many tables."""
    for name, make in SAFE.items():
        found = tally(name, make, by_force.random_cases(101, n_tables, people=(4, 5, 6, 7), **VALUES))
        assert found.n_above == 0, found
        for recode in RECODINGS.values():
            cases = by_force.random_cases(102, n_tables // 5, people=(4, 5, 6), extra=(0, 1, 2), **VALUES)
            assert tally(f"{name}, people outside", make, cases, recode).n_above == 0
    for name in ("Tailor", "Ace", "Hybrid", "Anatomize"):  # however it is published
        for extra in ((0,), (1, 2)):
            cases = by_force.random_cases(104, n_tables // 10, people=(4, 5), extra=extra, **VALUES)
            title = name if extra == (0,) else f"{name}, people outside"
            for found in by_force.try_recodings(title, method_for(SAFE[name]), cases, PUBLISHED).values():
                assert found.n_above == 0, found
    for name, method in DEALT.items():
        made = partial(sift_search.product, method=method)
        for recode, people, extra, n in (
            (by_force.by_person, (4, 5, 6), (0,), 10),
            *((recode, (4, 5), (1, 2), 50) for recode in RECODINGS.values()),
        ):
            cases = by_force.random_cases(105, n_tables // n, people=people, extra=extra, ells=(2,), **FEW)
            assert by_force.try_cases(name, made, cases, recode).n_above == 0
    for name, make in ATTACKABLE.items():
        cases = by_force.random_cases(103, n_tables, people=(4, 5, 6), ells=(2,), n_values=(3, 4, 5), max_worlds=400)
        assert tally(name, make, cases, until_above=True).n_above > 0, f"no attack found on {name}"


def mirror(n_tables: int) -> None:
    """Attack Mirror under every kind of principle, refined and not; about a dozen times as many tables in all."""
    for seed, (name, (principle, holds)) in enumerate(mirror_search.PRINCIPLES.items(), start=301):
        drawn = by_force.random_cases(
            seed, n_tables // 4, people=(4, 5, 6, 8), ells=(2,), n_values=(2, 3, 4), max_worlds=80
        )
        cases = (case for case in drawn if 0 in case.values)  # the designated one
        made = partial(mirror_search.product, principle=principle, inner="none", floor=1)
        assert mirror_search.try_shares(f"Mirror, {name}", made, cases).n_unequal == 0
        outside = by_force.random_cases(seed, n_tables // 50, people=(4, 5), extra=(1, 2), ells=(2,), **FEW)
        listed = (case for case in outside if 0 in case.values and principle.name != "designated-l-diversity")
        assert mirror_search.try_shares(f"Mirror, {name}, people outside", made, listed).n_unequal == 0
        drawn = by_force.random_cases(
            seed, n_tables // 4, people=(4, 5, 6, 7, 8), ells=(2,), n_values=(2, 3), max_worlds=80
        )
        slow = partial(mirror_search.twin, ell=None, holds=holds)
        assert mirror_search.try_shares(f"Mirror's twin, {name}", slow, drawn).n_unequal == 0
    for seed, (name, (asked, holds)) in enumerate(mirror_search.COLUMNS.items(), start=351):
        for people, extra, n in (((4, 5, 6, 8), (0,), 4), ((4, 5), (1, 2), 50)):
            few = {"ells": (2,), "n_values": (3, 4), "max_worlds": 80}
            drawn = by_force.random_cases(seed, n_tables // n, people=people, extra=extra, **few)
            made = partial(mirror_search.two_columns, principles=asked, floor=1)
            title = f"Mirror, {name}{', people outside' if extra != (0,) else ''}"
            assert mirror_search.try_shares(title, made, drawn).n_unequal == 0
        drawn = by_force.random_cases(seed, n_tables // 4, people=(4, 5, 6), ells=(2,), n_values=(3, 4), max_worlds=80)
        one = partial(mirror_search.two_columns, principles=asked, method=gh.Separate())
        assert mirror_search.try_shares(f"Separate, {name}", one, drawn).n_unequal == 0
        for fault in ("halves that differ by one", "a second dimension after a failure"):
            if fault.startswith("a second") and "t-closeness" not in name:
                continue  # on these principles no table of this size was found on which this fault shows
            drawn = by_force.random_cases(404, n_tables, people=(5, 6, 7), ells=(2,), n_values=(3, 4), max_worlds=250)
            cases = itertools.chain([mirror_search.ROW, mirror_search.CROSSED], drawn)
            broken = partial(mirror_search.twin, holds=holds, **mirror_search.FAULTS[fault])
            assert mirror_search.try_shares(f"{fault}, {name}", broken, cases, until_unequal=True).n_unequal > 0
    for inner, slack in (("ace", 1), ("anatomize", 1), ("anatomize", "6/5"), ("ace", "3/2")):
        refined = partial(mirror_search.product, inner=inner, slack=slack)
        for people, n in (((4, 5, 6), n_tables // 10), ((8,), n_tables // 100)):
            cases = by_force.random_cases(401, n, people=people, ells=(2,), n_values=(3, 4), max_worlds=450)
            assert by_force.try_cases(f"Mirror, {inner}, slack {slack}", refined, cases).n_above == 0
        for recode in RECODINGS.values():
            cases = by_force.random_cases(402, n_tables // 50, people=(4, 5), extra=(1, 2), ells=(2,), **FEW)
            assert by_force.try_cases(f"Mirror, {inner}, people outside", refined, cases, recode).n_above == 0
    for ell, n_groups, n in ((2, 3, 10), (2, 5, 10), (2, 7, 1), (4, 2, 1), (3, 2, 0.02)):
        leaves = mirror_search.failed_leaves(403, int(n * n_tables), [(ell, n_groups)])
        title = f"Mirror, l = {ell}, {n_groups} groups"
        assert mirror_search.try_failed_leaves(title, leaves, gh.Source.seeded(403)) <= 1
    for name, fault in mirror_search.FAULTS.items():
        drawn = by_force.random_cases(404, n_tables, people=(5, 6, 7), ells=(2,), n_values=(3, 4), max_worlds=250)
        cases = itertools.chain([mirror_search.ROW, mirror_search.CROSSED], drawn)
        broken = partial(mirror_search.twin, **fault)
        if fault.get("ell", 2) is None:
            assert mirror_search.try_shares(name, broken, cases, until_unequal=True).n_unequal > 0
        else:
            assert by_force.try_cases(name, broken, cases, until_above=True).n_above > 0


def sets(n_tables: int) -> None:
    """Attack Mirror where sensitive values are sets: of nobody a value is believed above the share of those with it."""
    cases = set_search.set_cases(601, n_tables, people=(4, 5, 6), ells=(2,), n_values=(3, 4, 5, 6), max_worlds=80)
    found = set_search.try_sets("Mirror, sets", partial(set_search.product, floor=1), cases)
    assert found.n_unequal == found.n_above == 0
    outside = {"people": (4,), "extra": (1, 2), "ells": (2,), "n_values": (3, 4), "max_worlds": 80}
    cases = set_search.set_cases(602, n_tables // 10, **outside)
    assert set_search.try_sets("Mirror, sets, people outside", partial(set_search.product, floor=1), cases).n_above == 0
    cases = set_search.set_cases(603, 4 * n_tables, people=(4, 5, 6, 8), ells=(2, 3), n_values=(4, 5), max_worlds=250)
    found = set_search.try_sets("Mirror's twin, sets", partial(set_search.slow, floor=1), cases)
    assert found.n_unequal == found.n_above == 0
    cases = set_search.set_cases(604, n_tables, people=(4, 5), ells=(2,), n_values=(3, 4), max_worlds=80)
    broken = partial(set_search.whole_sets, floor=1)
    assert set_search.try_sets("whole sets", broken, cases, until_above=True).n_above > 0


def robust(n_tables: int) -> None:
    """Try every method under priors that are not uniform, with what is told of it; some thousand tables in all."""
    for seed, (name, method) in enumerate(robust_search.METHODS.items(), start=501):
        cases = robust_search.cases_of(method, seed, n_tables // 4)
        telling, bound = partial(robust_search.telling_for, method), partial(robust_search.bound_of, method)
        found = robust_search.try_tables(name, telling, cases, bound)
        assert found.n_ties == found.n_unequal == found.n_above == 0
    for seed, (name, (principle, holds)) in enumerate(mirror_search.PRINCIPLES.items(), start=521):
        drawn = by_force.random_cases(
            seed, n_tables // 20, people=(4, 5, 6, 8), ells=(2,), n_values=(2, 3, 4), max_worlds=60
        )
        cases = [case for case in drawn if 0 in case.values]  # the designated one
        product = partial(robust_search.mirror_product, method=gh.Mirror(inner="none", floor=1), principle=principle)
        slow = partial(robust_search.mirror_twin, sets="faces", ell=None, holds=holds, mirrors=3)
        for title, made in ((f"Mirror, {name}", product), (f"Mirror's twin, {name}", slow)):
            found = robust_search.try_tables(f"{title}, told faces", made, cases)
            assert found.n_ties == found.n_unequal == found.n_above == 0
    found = robust_search.try_tables(
        "Sift, two of six people set aside",
        partial(robust_search.telling_for, gh.Sift()),
        [sift_search.in_a_row((0, 0, 1, 1, 2, 3)), sift_search.in_a_row((0, 0, 1, 2, 3, 4))],
        partial(robust_search.bound_of, gh.Sift()),
    )
    assert found.n_ties == found.n_unequal == found.n_above == 0
    for n_people, n in ((6, 2), (7, 10), (8, 100)):
        cases = sift_search.sifted(robust_search.sampled(545, n_tables // n, 2, n_people, (4, 5)))
        telling = partial(robust_search.telling_for, gh.Sift())
        title = f"Sift, people set aside from {n_people}"
        assert robust_search.try_classes(title, telling, cases, 545, parted=False)[2] == 0
    half = partial(robust_search.telling_for, gh.Mirror(inner="anatomize", slack=1, start=1))
    for ell, n_people, n_values in ((2, 8, (3, 4)), (4, 8, (5, 6, 7, 8))):
        sampled = robust_search.sampled(541, 2 * n_tables, ell, n_people, n_values)
        assert robust_search.try_classes(f"Mirror, l = {ell}, told half-groups", half, sampled, 541)[2] == 0
    slow = partial(robust_search.mirror_twin, sets="half-groups")
    drawn = by_force.random_cases(544, n_tables // 50, people=(7,), ells=(2,), n_values=(3, 4), max_worlds=210)
    assert robust_search.try_tables("Mirror's twin, seven people, told half-groups", slow, drawn).n_ties == 0
    for ell, n_groups in ((4, 2), (4, 3), (3, 2)):
        leaves = mirror_search.failed_leaves(542, n_tables // 10, [(ell, n_groups)])
        title = f"Mirror, l = {ell}, {n_groups} groups, told half-groups"
        assert robust_search.try_leaves(title, leaves, 542, n_worlds=3).n_ties == 0
    for name, method in robust_search.CONTROLS.items():
        cases = by_force.random_cases(543, n_tables, people=(5, 6), ells=(2,), n_values=(2, 3), max_worlds=60)
        found = robust_search.try_tables(name, partial(robust_search.telling_for, method), cases, until_tied=True)
        assert found.n_ties > 0, f"{name} was not found out"
    odds = Fraction(exp(0.5))
    half = (1 + 2 * odds) / 3 * odds  # at l = 3 one group has the value twice that makes the half fail
    assert robust_search.worst_in_leaf(3, 12, odds, everybody=False) == half / (1 + half) * 2 * odds / (1 + 2 * odds)
    for name, method in {"Ace": gh.Ace(), "Hybrid": gh.Hybrid(), "Mirror, inner Ace": gh.Mirror(inner="ace")}.items():
        belief = robust_search.tied_groups(method, 4, odds)
        by_force.say(f"{name}, a bucket of four groups, eps .5: {float(belief):.3f}")
        assert belief == odds**4 / (1 + odds**4)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
