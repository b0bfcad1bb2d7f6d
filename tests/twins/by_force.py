# SPDX-License-Identifier: Apache-2.0
"""Transparency by force: run a method on every world and every coin toss, and see what the adversary may believe.

**What is run.** A `Method` is any function ``groups = method(codes, sensitive, draws)``: the quasi-identifier codes of
the people in the table (in the order of their identifiers), their sensitive codes, a source of randomness that tries
all outcomes; groups are collections of row numbers. No groups at all means that nothing is published, and is not judged
(TRANSPARENT Definition 5 allows it). Slow twins and the product's own methods go through the same door.

**Which worlds.** A `Case` is the adversary's list of people and the multiset of sensitive values in the table. If the
list is longer than the multiset, some people on it are not in the table. By TRANSPARENT Definition 4 every choice of
people with every assignment of values is a possible world; but the number of tuples and the multiset of all values can
be read off any release that leaves sensitive values intact, so the worlds that count are every choice of that many
people with every distinct arrangement of those values. All others have likelihood 0. (Methods that drop or edit tuples
do not show the multiset; for these `worst_of` takes any worlds, such as `attack.worlds` gives.)

**What is published.** Three recodings, from fine to coarse:

* `by_person`: who is in which group, and the multiset of values of each group. This is the isomorphism class of the
  partition (TRANSPARENT 2.1), and so the most that any recoding may tell (Definition 1: isomorphic groups look equal).
* `by_values`: the multiset of QI values and the multiset of sensitive values of each group (anatomy).
* `by_boxes`: the multiset of rows (smallest box of the group, sensitive value) of the whole table.

`by_force_recodings` has more: anatomy, permutation, ANGEL. A recoding that is itself random answers with a list of
(probability, release), as a randomised algorithm does in `attack`.

A belief after a coarser release is an average of beliefs after the finer ones it may have come from. So `by_person`
bounds everything, if it is run for each set of people who may be in the table; the other two are run because they are
what leaves the building, and only there can a person outside the table share a belief.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations, permutations, product
from random import Random
from typing import Any

from tests.twins import enumerating
from tests.twins.attack import Beliefs, World
from tests.twins.mondrian import Row
from tests.twins.transparent import Bucket

__all__ = [
    "Case",
    "Evidence",
    "Finding",
    "Method",
    "Tally",
    "arrangements",
    "beliefs_after",
    "by_boxes",
    "by_person",
    "by_values",
    "evidence_by_recoding",
    "evidence_of",
    "knowledge",
    "random_cases",
    "rows_of",
    "say",
    "slices_of_symmetric",
    "symmetric",
    "try_cases",
    "try_recodings",
    "unequal_likelihood",
    "unequal_symmetry",
    "worlds_of",
    "worst_belief",
    "worst_of",
]

Codes = Sequence[tuple[int, ...]]
Groups = Iterable[Collection[int]]
Method = Callable[[Codes, Sequence[int], Any], Groups]  # the last is a source of draws
Release = Any  # hashable
Recode = Callable[[Codes, Sequence[int], list[int], list[frozenset[int]]], Release]  # or [(probability, release)]
Weights = list[tuple[World, Fraction]]  # worlds that may have given a release, with their likelihoods


@dataclass(frozen=True)
class Case:
    """A list of people, and what is known of a table about some or all of them."""

    codes: tuple[tuple[int, ...], ...]  # of everybody on the adversary's list, in the order of their identifiers
    positions: tuple[tuple[int, ...], ...]  # per dimension and code, the place on the axis
    values: tuple[int, ...]  # the multiset of sensitive codes in the table
    ell: int


@dataclass
class Evidence:
    """Every release that a method may give, and how much was run to know it."""

    releases: dict[Release, Weights] = field(default_factory=dict)
    n_worlds: int = 0
    n_runs: int = 0
    n_divided: int = 0  # runs that gave more than one group: a method that never divides proves nothing


@dataclass(frozen=True)
class Finding:
    """The highest belief over all releases, people and values, and the evidence for it."""

    belief: Fraction
    person: Hashable
    value: Any
    release: Release
    evidence: Evidence = field(repr=False)


@dataclass
class Tally:
    """What was found over many cases."""

    name: str
    worst: Finding | None = None
    case: Case | None = None
    n_cases: int = 0
    n_above: int = 0  # cases with a belief above 1/l
    n_worlds: int = 0
    n_runs: int = 0
    n_divided: int = 0
    n_releases: int = 0

    def add(self, case: Case, finding: Finding) -> None:
        """Count one case."""
        self.n_cases += 1
        self.n_above += finding.belief * case.ell > 1
        self.n_worlds += finding.evidence.n_worlds
        self.n_runs += finding.evidence.n_runs
        self.n_divided += finding.evidence.n_divided
        self.n_releases += len(finding.evidence.releases)
        if self.worst is None or finding.belief * case.ell > self.times_promised:
            self.worst, self.case = finding, case

    @property
    def times_promised(self) -> Fraction:
        """The highest belief as a multiple of 1/l, for cases have different l."""
        return self.worst.belief * self.case.ell if self.worst is not None and self.case is not None else Fraction(0)

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.n_cases} tables, {self.n_worlds} worlds, {self.n_runs} runs "
            f"({self.n_divided} divided), {self.n_releases} releases; {self.n_above} tables above 1/l, "
            f"worst belief {self.times_promised} of 1/l"
        )


# --- one case --------------------------------------------------------------------------------------------------------


def worst_belief(method: Method, case: Case, recode: Recode | None = None) -> Finding:
    """The highest belief that the adversary of a case can hold after any release of the method."""
    return worst_of(method, case.codes, worlds_of(case), recode)


def worst_of(method: Method, codes: Codes, worlds: Iterable[World], recode: Recode | None = None) -> Finding:
    """The same over any worlds of the people ``range(len(codes))``."""
    return _worst(evidence_of(method, codes, worlds, recode))


def evidence_of(method: Method, codes: Codes, worlds: Iterable[World], recode: Recode | None = None) -> Evidence:
    """Run the method on every world, once for each outcome of its draws."""
    (evidence,) = evidence_by_recoding(method, codes, worlds, [recode or by_person])
    return evidence


def evidence_by_recoding(
    method: Method, codes: Codes, worlds: Iterable[World], recodings: Sequence[Recode]
) -> list[Evidence]:
    """The same for several recodings, each published alone; the method is run once for all."""
    evidences = [Evidence() for _ in recodings]
    for world in worlds:
        people: list[Any] = sorted(world)
        sensitive = [world[person] for person in people]
        present = [codes[person] for person in people]
        runs = [
            (probability, [frozenset(people[i] for i in group) for group in groups])
            for probability, groups in enumerating.enumerate_runs(partial(method, present, sensitive))
        ]
        for recode, evidence in zip(recodings, evidences, strict=True):
            outcomes: dict[Release, Fraction] = {}
            for probability, members in runs:
                evidence.n_runs += 1
                evidence.n_divided += len(members) > 1
                if members:
                    answer = recode(codes, sensitive, people, members)
                    for share, release in answer if isinstance(answer, list) else [(Fraction(1), answer)]:
                        outcomes[release] = outcomes.get(release, Fraction(0)) + probability * share
            evidence.n_worlds += 1
            for release, probability in outcomes.items():
                evidence.releases.setdefault(release, []).append((world, probability))
    return evidences


def _worst(evidence: Evidence) -> Finding:
    worst = Fraction(0)
    at: tuple[Any, Any, Any] = (None, None, None)
    for release, weights in evidence.releases.items():
        for (person, value), belief in beliefs_after(weights).items():
            if belief > worst:
                worst, at = belief, (person, value, release)
    return Finding(worst, *at, evidence)


def beliefs_after(weights: Iterable[tuple[World, Fraction]]) -> Beliefs:
    """TRANSPARENT Proposition 1, from the worlds that may have given one release and their likelihoods."""
    total = Fraction(0)
    joint: Beliefs = {}
    for world, likelihood in weights:
        total += likelihood
        for event in world.items():
            joint[event] = joint.get(event, Fraction(0)) + likelihood
    return {event: weight / total for event, weight in joint.items()}


def knowledge(evidence: Evidence) -> Counter[tuple[tuple[Any, Fraction], ...]]:
    """All that the attacker may come to believe, each with its probability if worlds are equally likely.

    Two recodings tell the same exactly if these are equal, whatever their tables look like.
    """
    found: Counter[Any] = Counter()
    for weights in evidence.releases.values():
        found[tuple(sorted(beliefs_after(weights).items()))] += sum(share for _, share in weights) / evidence.n_worlds
    return found


def worlds_of(case: Case) -> Iterator[World]:
    """Every choice of people for the table, with every distinct arrangement of the values."""
    for present in combinations(range(len(case.codes)), len(case.values)):
        for arrangement in arrangements(case.values):
            yield dict(zip(present, arrangement, strict=True))


def arrangements(values: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every distinct order of these values."""
    if not values:
        yield ()
    for first in sorted(set(values)):
        rest = list(values)
        rest.remove(first)
        for others in arrangements(rest):
            yield (first, *others)


def rows_of(codes: Codes, sensitive: Sequence[int]) -> list[Row]:
    """The table as the slow twins take it."""
    return list(zip(codes, sensitive, strict=True))


# --- what is published -----------------------------------------------------------------------------------------------


def by_person(codes: Codes, sensitive: Sequence[int], people: list[int], groups: list[frozenset[int]]) -> Release:
    """Who is in which group, and the multiset of values of each group; people left out are in no group."""
    value = dict(zip(people, sensitive, strict=True))
    return frozenset((group, tuple(sorted(value[person] for person in group))) for group in groups)


def by_values(codes: Codes, sensitive: Sequence[int], people: list[int], groups: list[frozenset[int]]) -> Release:
    """The QI values and the sensitive values of each group, either in an order of their own."""
    value = dict(zip(people, sensitive, strict=True))
    return tuple(
        sorted(
            (tuple(sorted(codes[person] for person in group)), tuple(sorted(value[person] for person in group)))
            for group in groups
        )
    )


def by_boxes(codes: Codes, sensitive: Sequence[int], people: list[int], groups: list[frozenset[int]]) -> Release:
    """All published rows: the smallest box of the group (in codes), and the sensitive value."""
    value = dict(zip(people, sensitive, strict=True))
    rows: list[Any] = []
    for group in groups:
        axes = list(zip(*(codes[person] for person in group), strict=True))
        box = tuple((min(axis), max(axis)) for axis in axes)
        rows.extend((box, value[person]) for person in group)
    return tuple(sorted(rows))


# --- laws ------------------------------------------------------------------------------------------------------------


def unequal_likelihood(method: Method, case: Case) -> tuple[Release, int, int, set[Fraction]] | None:
    """A release that breaks the condition of TRANSPARENT Theorem 1 (for a randomised method: in probability).

    Every table with a partition isomorphic to the one that was published must give this partition equally often.
    Returns the release, how many tables must give it, how many do, with which likelihoods; or None if there is no such
    release.
    """
    for release, weights in evidence_of(method, case.codes, worlds_of(case)).releases.items():
        wanted = 1
        for _, values in release:
            wanted *= sum(1 for _ in arrangements(values))
        given = {probability for _, probability in weights}
        if len(weights) != wanted or len(given) > 1:
            return release, wanted, len(weights), given
    return None


def symmetric(buckets: Sequence[Bucket]) -> Iterator[list[Bucket]]:
    """All bucket partitions symmetric to this one (TRANSPARENT Definition 13): values change columns in each bucket."""
    choices = []
    for bucket in buckets:
        columns = list(bucket.values())
        choices.append([dict(zip(bucket, order, strict=True)) for order in permutations(columns)])
    for combination in product(*choices):
        yield list(combination)


def unequal_symmetry(
    assign: Callable[[Sequence[int], Any], Sequence[Bucket]], sensitive: Sequence[int]
) -> tuple[Any, Any, Fraction, Fraction] | None:
    """Two symmetric bucket partitions of unequal probability (against TRANSPARENT Lemma 6), or None.

    ``assign(sensitive, draws)`` gives buckets: per sensitive value the row numbers of its column.
    """

    def chances(values: Sequence[int]) -> dict[Any, Fraction]:
        return enumerating.distribution(lambda draws: _frozen(assign(values, draws)))

    for frozen, probability in chances(sensitive).items():
        buckets = [{value: list(column) for value, column in bucket} for bucket in frozen]
        for twin in symmetric(buckets):
            values = list(sensitive)
            for bucket in twin:
                for value, column in bucket.items():
                    for i in column:
                        values[i] = value
            other = chances(values).get(_frozen(twin), Fraction(0))
            if other != probability:
                return frozen, _frozen(twin), probability, other
    return None


def slices_of_symmetric(
    sliced: Callable[[Sequence[int], Bucket], Groups], columns: Sequence[Sequence[int]]
) -> set[frozenset[frozenset[int]]]:
    """The different partitions that ``sliced(sensitive, bucket)`` gives to the buckets symmetric to one.

    By TRANSPARENT Lemma 5 there is one only. The bucket's columns cover the row numbers ``0, 1, ...``.
    """
    partitions = set()
    for values in permutations(range(len(columns))):
        bucket = {value: list(column) for value, column in zip(values, columns, strict=True)}
        sensitive = [value for _, value in sorted((i, value) for value, column in bucket.items() for i in column)]
        partitions.add(frozenset(frozenset(group) for group in sliced(sensitive, bucket)))
    return partitions


def _frozen(buckets: Sequence[Bucket]) -> Any:
    return frozenset(frozenset((value, frozenset(column)) for value, column in bucket.items()) for bucket in buckets)


# --- many cases ------------------------------------------------------------------------------------------------------


def random_cases(
    seed: int,
    n_cases: int,
    *,
    people: Sequence[int] = (4, 5, 6),
    extra: Sequence[int] = (0,),
    ells: Sequence[int] = (2, 3),
    n_values: Sequence[int] = (3, 4, 5, 6),
    max_worlds: int = 1000,
) -> Iterator[Case]:
    """Small tables that are l-eligible: one to three dimensions with ties and uneven places.

    Parameters
    ----------
    seed
        Of the choice of cases; the methods' own randomness is enumerated.
    n_cases
        How many.
    people
        How many people are in the table: one of these.
    extra
        How many people of the list are not in the table: one of these.
    ells, n_values
        The l, and up to how many different sensitive values there are: one of these.
    max_worlds
        Cases with more worlds are left out.
    """
    source = Random(seed)
    while n_cases:
        n, ell = source.choice(people), source.choice(ells)
        values = sorted(source.randrange(source.choice(n_values)) for _ in range(n))
        n_people = n + source.choice(extra)
        n_dimensions, n_codes = source.choice((1, 1, 2, 3)), source.choice((2, 4, n_people))
        positions = tuple(tuple(sorted(source.sample(range(10), n_codes))) for _ in range(n_dimensions))
        codes = tuple(tuple(source.randrange(n_codes) for _ in range(n_dimensions)) for _ in range(n_people))
        case = Case(codes, positions, tuple(values), ell)
        if max(Counter(values).values()) * ell <= n and _n_worlds(case) <= max_worlds:
            n_cases -= 1
            yield case


def try_cases(
    name: str,
    make: Callable[[Case], Method],
    cases: Iterable[Case],
    recode: Recode | None = None,
    *,
    until_above: bool = False,
) -> Tally:
    """Run a method through many cases, or until one has a belief above 1/l, and say how much was run.

    Parameters
    ----------
    name
        Of the method, for the line that is printed.
    make
        The method for a case: with its l, and its axes. The method is then run on the people of the case.
    cases
        Such as `random_cases` gives.
    recode
        What is published; `by_person` if None.
    until_above
        Whether to stop at the first case with a belief above 1/l.
    """
    tally = Tally(f"{name}, {(recode or by_person).__name__}")
    for case in cases:
        tally.add(case, worst_belief(make(case), case, recode))
        if until_above and tally.n_above:
            break
    say(tally)
    return tally


def try_recodings(
    name: str, make: Callable[[Case], Method], cases: Iterable[Case], recodings: Mapping[str, Recode]
) -> dict[str, Tally]:
    """Run a method through many cases as `try_cases` does, once for several recodings."""
    tallies = {recoding: Tally(f"{name}, {recoding}") for recoding in recodings}
    for case in cases:
        found = evidence_by_recoding(make(case), case.codes, worlds_of(case), list(recodings.values()))
        for tally, evidence in zip(tallies.values(), found, strict=True):
            tally.add(case, _worst(evidence))
    for tally in tallies.values():
        say(tally)
    return tallies


def _n_worlds(case: Case) -> int:
    chosen = sum(1 for _ in combinations(case.codes, len(case.values)))
    orders = 1
    left = len(case.values)
    for count in Counter(case.values).values():
        orders *= sum(1 for _ in combinations(range(left), count))
        left -= count
    return chosen * orders


def say(line: object) -> None:
    """Counts are part of the evidence: shown by ``pytest -rP`` or ``-s``."""
    sys.stdout.write(f"{line}\n")
