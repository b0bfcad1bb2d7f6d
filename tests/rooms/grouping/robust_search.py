# SPDX-License-Identifier: Apache-2.0
"""Robust transparency by force, on the product's methods and their twins: for the small tier and for ``make prove``.

What a proof tells beside the release is found here without any knowledge of how people are dealt to groups: of Mirror,
which leaves there were and what their halves (or faces) are; of even splits, what the halves of a group are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations, product
from random import Random
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.grouping.independence import Independent
from glasshouse.grouping.mirror import halves as halving
from glasshouse.principles.principle import Principle, Requirement
from tests.rooms.grouping import mirror_search, sift_search
from tests.rooms.grouping.doors import forced
from tests.twins import by_force, decisions, enumerating, greedy, mirror, robust
from tests.twins.robust import Run, Telling

__all__ = [
    "CONTROLS",
    "METHODS",
    "bound_of",
    "cases_of",
    "mirror_product",
    "mirror_twin",
    "sampled",
    "telling_for",
    "tied_groups",
    "try_classes",
    "try_leaves",
    "try_tables",
    "worst_in_leaf",
]

# What can be told so that worlds are a product over small sets.
METHODS: dict[str, Any] = {
    "Tailor": gh.Tailor(),
    "Anatomize": gh.Anatomize(),
    "Anatomize, varied": gh.Anatomize(varied=True),
    "Sift": gh.Sift(),
    "Separate": gh.Separate(),
    "Tailor refined by Anatomize": gh.Refined(coarse=gh.Tailor(), inner="anatomize"),
    "EvenSplit": gh.EvenSplit(),
    "Symmetric": gh.Symmetric(),
    "EvenSplit at l": gh.EvenSplit(extra=0),
    "Mirror, slack 2": gh.Mirror(inner="anatomize", slack=2, start=1),
    "Mirror, slack 1": gh.Mirror(inner="anatomize", slack=1, start=1),
    "Mirror, slack 6/5": gh.Mirror(inner="anatomize", slack="6/5", start=1),
}
# What cannot: told no more than the release, worlds must be found not to be a product over groups.
CONTROLS: dict[str, Any] = {
    "Ace": gh.Ace(),
    "Hybrid": gh.Hybrid(),
    "Mirror, inner Ace": gh.Mirror(inner="ace", slack=1, start=1),
    "strict Mondrian": gh.Mondrian(),
    "Snug": gh.Snug(),
    "Greedy": gh.Greedy(),
}


def bound_of(method: Any, ell: int) -> Callable[[Fraction], Fraction | None]:
    """What a method says of beliefs, by odds."""
    return partial(method.believed_at_most, Requirement.in_words(gh.LDiversity(ell=ell), ["sensitive"]))


def sets_of(method: Any, principle: Principle) -> Independent:
    """Over which sets a method says that worlds are a product."""
    found: Independent = method.independent(Requirement.in_words(principle, ["sensitive"]))
    return found


# --- what is told ----------------------------------------------------------------------------------------------------


def telling_for(method: Any, case: by_force.Case, principle: Principle | None = None) -> Telling:
    """A method of the product, with what is told of it beside the release: its groups, or what it says is needed."""
    asked = principle or gh.LDiversity(ell=case.ell)
    sets = sets_of(method, asked)
    if isinstance(method, gh.Mirror):
        return mirror_product(case, method, asked)
    if isinstance(method, gh.Sift) or method == gh.Anatomize(varied=True):
        return robust.told_by_groups(sift_search.product(case, method))
    run = forced(method, lambda: asked, case.positions)
    if sets == "half-groups":
        return _told_halves(method, run, case)
    return robust.told_by_groups(run)


def _told_halves(method: Any, run: by_force.Method, case: by_force.Case) -> Telling:
    """Even splits: the halves of every group that some dealing of its values would have cut."""
    people = range(len(case.codes))
    if isinstance(method, gh.EvenSplit):
        tries = decisions.even_cuts(case.codes, case.positions, people)
    else:
        tries = decisions.symmetric_cuts(sorted(people, key=lambda i: (case.codes[i], i)))
    ell = case.ell + method.extra

    def tell(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> Run | None:
        groups = frozenset(frozenset(group) for group in run(codes, sensitive, draws))
        sets: set[frozenset[int]] = set()
        for group in groups:
            halves = next(tries(sorted(group)), ())
            most = max(Counter(sensitive[i] for i in group).values())
            may_be_cut = bool(halves) and most <= sum(len(half) // ell for half in halves)
            sets.update(map(frozenset, halves) if may_be_cut else [group])
        return Run(groups, frozenset(sets)) if groups else None

    return tell


def mirror_product(case: by_force.Case, method: gh.Mirror, principle: Principle | None = None) -> Telling:
    """The product's Mirror; it draws each remainder once only, so that all draws can be tried."""
    asked = principle or gh.LDiversity(ell=case.ell)
    run, sets = forced(method, lambda: asked, case.positions), sets_of(method, asked)

    def tell(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> Run | None:
        with _watched() as leaves, pytest.MonkeyPatch.context() as patch:
            patch.setattr(halving, "ATTEMPTS", 1)
            groups = run(codes, sensitive, draws)
        return _run_of_mirror(groups, leaves, sets)

    return tell


def mirror_twin(case: by_force.Case, sets: Independent, **options: Any) -> Telling:
    """The slow twin of Mirror."""
    holds = options.pop("holds", None) or (lambda table: greedy.frequency_diverse(case.ell))
    given: dict[str, Any] = {"floor": 1, "ell": case.ell, "inner": "anatomize", **options}

    def tell(codes: by_force.Codes, sensitive: Sequence[int], draws: Any) -> Run | None:
        leaves: list[list[frozenset[int]]] = []
        slow = mirror.Mirror(
            rows=by_force.rows_of(codes, sensitive),
            positions=case.positions,
            holds=holds(sensitive),
            leaves=leaves,
            **given,
        )
        return _run_of_mirror(slow.groups(draws), leaves, sets)

    return tell


def _run_of_mirror(
    groups: Iterable[frozenset[int]], leaves: list[list[frozenset[int]]], sets: Independent
) -> Run | None:
    """Groups meet the halves of a leaf that failed, or the faces of a leaf that is a group."""
    found = frozenset(groups)
    if not found:
        return None
    if sets in ("groups", "buckets"):
        return Run(found, found)
    faces = [face for leaf in leaves for face in leaf]
    met = frozenset(group & face for group in found for face in faces if group & face)
    return Run(found, met, frozenset(frozenset(leaf) for leaf in leaves))


@contextmanager
def _watched() -> Iterator[list[list[frozenset[int]]]]:
    """Write down every leaf of the product's Mirror, as the twin does: its faces, its halves, or itself."""
    leaves: list[list[frozenset[int]]] = []
    refined, halved, divided = gh.Mirror._refined, halving.HalvedRows._halved, halving.HalvedRows.leaves
    faces: dict[tuple[int, int], int] = {}

    def note(rows: Any, nodes: Any, n_faces: Callable[[int, int], int]) -> None:
        if len(nodes):
            _, numbers, offsets = rows.take(nodes)
            for at, start, stop in zip(offsets, nodes.starts, nodes.stops, strict=False):
                n = n_faces(int(start), int(stop))
                size = int(stop - start) // n
                leaves.append([frozenset(numbers[at + f * size : at + (f + 1) * size].tolist()) for f in range(n)])

    def watch_refined(self: Any, table: Any, rows: Any, untested: Any, failed: Any, *rest: Any) -> Any:
        note(rows, untested, lambda *_: 1)
        note(rows, failed, lambda *_: 2)
        return refined(self, table, rows, untested, failed, *rest)

    def watch_halved(self: Any, requirement: Any, k: int, mirrors: int, nodes: Any) -> Any:
        again, done = halved(self, requirement, k, mirrors, nodes)
        for start, stop, n in zip(nodes.starts, nodes.stops, nodes.faces, strict=True):
            tested = stop - start > k and (stop - start) // n % 2 == 0
            faces[int(start), int(stop)] = int(2 * n if tested else n)
        return again, done

    def watch_leaves(self: Any, *given: Any) -> Any:
        found = divided(self, *given)
        note(self, found, lambda start, stop: faces[start, stop])
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gh.Mirror, "_refined", watch_refined)
        patch.setattr(halving.HalvedRows, "_halved", watch_halved)
        patch.setattr(halving.HalvedRows, "leaves", watch_leaves)
        yield leaves


# --- many tables -----------------------------------------------------------------------------------------------------


def try_tables(
    name: str,
    make: Callable[[by_force.Case], Telling],
    cases: Iterable[by_force.Case],
    bound: Callable[[int], Callable[[Fraction], Fraction | None]] = lambda ell: lambda odds: None,
    *,
    until_tied: bool = False,
) -> robust.Tally:
    """Run a method on every world and coin toss of many tables, or until a told class is no product."""
    tally, random = robust.Tally(name), Random(name)
    for case in cases:
        robust.examine(tally, robust.evidence_of(make(case), case), case, bound(case.ell), random)
        if until_tied and tally.n_ties:
            break
    by_force.say(tally)
    return tally


def sampled(seed: int, n_cases: int, ell: int, n_people: int, n_values: Sequence[int]) -> Iterator[by_force.Case]:
    """Tables of one size, in which people stand in a row or in a plane; however many worlds they have."""
    shape: dict[str, Any] = {"ells": (ell,), "n_values": n_values, "max_worlds": 10**9}
    return by_force.random_cases(seed, n_cases, people=(n_people,), **shape)


def try_classes(
    name: str,
    make: Callable[[by_force.Case], Telling],
    cases: Iterable[by_force.Case],
    seed: int,
    *,
    parted: bool = True,
) -> tuple[int, int, int]:
    """Take one run of every table, and see that its told class is a product: for tables with too many worlds for more.

    Returns how many classes there were, how many had more than one set in a group, and how many are no product. Where
    ``parted``, tables of which the run parts no group are passed over.
    """
    n_classes = n_parted = n_ties = n_worlds = 0
    random, source = Random(seed), gh.Source.seeded(seed)
    for number, case in enumerate(cases):
        world = tuple(random.sample(case.values, len(case.values)))
        telling = make(case)
        run = telling(case.codes, list(world), source.child(number))
        if run is None or (parted and run.groups == run.sets):
            continue
        wanted, weights = robust.class_of_run(telling, case.codes, world, source.child(number))
        n_classes += 1
        n_worlds += len(weights)
        n_parted += run.groups != run.sets
        n_ties += not robust.is_product(wanted.told, weights)
    by_force.say(f"{name}: {n_classes} told classes ({n_parted} parted) of {n_worlds} worlds, {n_ties} no product")
    return n_classes, n_parted, n_ties


def try_leaves(name: str, leaves: Iterable[mirror_search.Leaf], seed: int, *, n_worlds: int) -> robust.Tally:
    """Take one division of every failed leaf, and see that its told class is a product.

    Every world of the class is judged by the exact chance that the twin computes, and so many of them by all random
    choices of the product.
    """
    tally, random, source = robust.Tally(name), Random(seed), gh.Source.seeded(seed)
    for number, leaf in enumerate(leaves):
        groups, holds = leaf.refined(source.child(number)), greedy.frequency_diverse(leaf.ell)
        parts = [group & set(half) for group in groups for half in leaf.halves]
        told = (), frozenset((part, tuple(sorted(leaf.values[i] for i in part))) for part in parts)
        worlds = [*robust.worlds_of_class(told, len(leaf.values))]
        weights = {world: mirror.chance(world, leaf.halves, groups, leaf.ell) for world in worlds}
        tied = not robust.is_product(told, weights)
        for world in random.sample(worlds, min(n_worlds, len(worlds))):
            tied |= all(holds([world[i] for i in half]) for half in leaf.halves)  # it would have been halved
            other = mirror_search.Leaf(list(world), leaf.ell)
            runs = enumerating.distribution(lambda draws, other=other: frozenset(other.refined(draws)))
            tied |= runs.get(frozenset(groups), Fraction(0)) != weights[world]
            tally.n_runs += len(runs)
        tally.n_cases += 1
        tally.n_classes += 1
        tally.n_worlds += len(worlds)
        tally.n_ties += tied
    by_force.say(f"{name}: {tally.n_classes} told classes of {tally.n_worlds} worlds, {tally.n_ties} no product")
    return tally


def cases_of(method: Any, seed: int, n_cases: int) -> Iterator[by_force.Case]:
    """Tables on which a method divides some and leaves others whole: few people, or it would take too long."""
    yield mirror_search.ROW
    yield by_force.Case(tuple((i,) for i in range(4)), (tuple(range(4)),), (0, 1, 2, 3), 2)  # which Tailor cuts
    shape: dict[str, Any] = {"people": (4, 5, 6), "ells": (2,), "n_values": (3, 4), "max_worlds": 40}
    if not method.randomised:  # one run a world
        shape = {"people": (4, 5, 6, 7), "ells": (2, 3), "n_values": (3, 5, 6), "max_worlds": 100}
    yield from by_force.random_cases(seed, n_cases, **shape)


# --- little knowledge of many people ---------------------------------------------------------------------------------


def tied_groups(method: Any, n_groups: int, odds: Fraction) -> Fraction:
    """The highest belief at l = 2 if of every group one person leans to one of two values: those who truly have it."""
    n = 2 * n_groups
    case = by_force.Case(tuple((i,) for i in range(n)), (tuple(range(n)),), tuple(2 * i // n for i in range(n)), 2)
    run = forced(method, partial(gh.LDiversity, ell=2), case.positions)
    _, weights = robust.class_of_run(robust.told_by_groups(run), case.codes, case.values, gh.Source.seeded(n))
    leaning = [i for i in range(n) if case.values[i] == 1]
    prior = robust.leaning_prior(leaning, 1, n, 2, odds)
    return max(robust.beliefs(weights.items(), prior, range(n)).values())


def worst_in_leaf(ell: int, n: int, odds: Fraction, *, everybody: bool) -> Fraction:
    """The highest belief after a failed leaf of n people, in which a value fills as much of a half as makes it fail.

    The half leans to the value: everybody in it, or all but those who are in the half-group of the person asked about.
    """
    times = n // (2 * ell) + 1
    values = [0] * times + list(range(1, n - times + 1))
    leaf = mirror_search.Leaf(values, ell)
    groups = leaf.refined(gh.Source.seeded(n))
    weights = {
        world: chance
        for half in leaf.halves  # other values are different: the test fails if all people with this one are together
        for world in _worlds_with_zeros(groups, values, half)
        if (chance := mirror.chance(world, leaf.halves, groups, ell))
    }
    worst = Fraction(0)
    for person in leaf.halves[0]:
        (group,) = (group for group in groups if person in group)
        spared = set() if everybody else group - {person}
        prior = robust.leaning_prior(set(leaf.halves[0]) - spared, 0, n, max(values) + 1, odds)
        worst = max(worst, robust.beliefs(weights.items(), prior, range(n)).get((person, 0), Fraction(0)))
    return worst


def _worlds_with_zeros(
    groups: Iterable[frozenset[int]], values: Sequence[int], half: Iterable[int]
) -> Iterator[robust.World]:
    """All worlds that give groups their values, in which everybody with the value 0 is in this half."""
    inside, choices = set(half), []
    for group in map(sorted, groups):
        others = [values[i] for i in group if values[i]]
        choices.append(
            [
                {**dict.fromkeys(chosen, 0), **dict(zip((i for i in group if i not in chosen), order, strict=True))}
                for chosen in combinations([i for i in group if i in inside], len(group) - len(others))
                for order in permutations(others)
            ]
        )
    for parts in product(*choices):
        world = {person: value for part in parts for person, value in part.items()}
        yield tuple(world[person] for person in range(len(values)))
