# SPDX-License-Identifier: Apache-2.0
"""An attacker who knows Mirror or Sift: beliefs by every world and every random choice; and by shares, at scale."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.adversary.reverse_engineering.theorems.largest_shares import LargestShares, PublishedShares
from glasshouse.adversary.reverse_engineering.worlds.enumeration import exact_posterior
from glasshouse.adversary.reverse_engineering.worlds.replay import Rerun
from glasshouse.release.contents import Published
from tests.tiers import tables

NEAR = 1e-9

TWO = gh.LDiversity(ell=2)
# by name: the principle, and the method for so many people; nobody is left over, so that all choices can be tried
PRINCIPLES: dict[str, tuple[Any, Any]] = {
    "refined by ace": (TWO, lambda n: gh.Mirror(inner="ace")),
    "refined by anatomize": (TWO, lambda n: gh.Mirror(inner="anatomize")),
    "refined, untested": (TWO, lambda n: gh.Mirror(inner="anatomize", floor=n)),
    "sift": (TWO, lambda n: gh.Sift()),
    "l-diversity": (TWO, lambda n: gh.Mirror(inner="none", floor=n // 2)),
    "t-closeness": (gh.TCloseness(t="1/3"), lambda n: gh.Mirror(floor=n // 2)),
    "entropy": (gh.EntropyLDiversity(ell=2), lambda n: gh.Mirror(floor=n // 2)),
    "distinct": (gh.DistinctLDiversity(ell=2), lambda n: gh.Mirror(floor=n // 2)),
}
RECODINGS: dict[str, Any] = {"anatomy": gh.Anatomy(), "boxes": gh.Boxes()}


@dataclass
class Case:
    """A table, how it is published, and who is on the list beside its people."""

    people: dict[str, list[int]]
    values: list[str]
    principle: Any
    method: Any
    recoding: Any
    named: bool = False
    outside: dict[str, list[int]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [f"p{i}" for i in range(len(self.values))]

    def publish(self, seed: int = 1) -> gh.Release:
        given: dict[str, Any] = {**self.people, "s": self.values, **({"id": self.names} if self.named else {})}
        table = gh.read(given, quasi=[*self.people], sensitive="s", identifier="id" if self.named else None)
        return gh.publish(
            table,
            principle=self.principle,
            method=self.method,
            recoding=self.recoding,
            source=gh.Source.seeded(seed),
            threads=1,
        )

    def external(self) -> gh.Microdata:
        given: dict[str, Any] = {name: codes + self.outside.get(name, []) for name, codes in self.people.items()}
        if self.named:
            given["id"] = self.names
        return gh.read(given, quasi=[*self.people], identifier="id" if self.named else None)

    def knowledge(self, **more: Any) -> gh.Knowledge:
        return gh.Knowledge(external=self.external(), **more)

    def attack(self, release: gh.Release, attack: Any = None, **more: Any) -> Any:
        steps = self.principle, self.method, self.recoding
        return (attack or PublishedShares().attack)(release, self.knowledge(**more), steps)

    def by_force(self, release: gh.Release, limit_runs: int = 1000) -> Any:
        """Every world and every random choice."""
        return exact_posterior(
            self.external(),
            Rerun(principle=self.principle, method=self.method, recoding=self.recoding),
            release.tables,
            values=Counter(self.values),
            sensitive="s",
            limit_worlds=200,
            limit_runs=limit_runs,
        )


def random_case(rng: random.Random, name: str, recoding: Any, *, few: bool = False, **more: Any) -> Case:
    values = list(rng.choice(["aabb", "aabc", "abcd", "aabbc", "aabbcc", "aaabbc"][: 3 if few else 6]))
    n = len(values)
    principle, method = PRINCIPLES[name]
    numbers = rng.choice([range(n), range(n), [i // 2 for i in range(n)], [0, *range(n - 1)]])
    people = {axis: rng.sample(numbers, n) for axis in ("x", "y")[: rng.choice([1, 1, 2])]}
    return Case(people, rng.sample(values, n), principle, method(n), recoding, **more)


def beliefs_of(found: Any, row: int) -> dict[Any, float]:
    kind = found.kind[row]
    mine = slice(found.offsets[kind], found.offsets[kind + 1])
    return {found.values[c]: float(b) for c, b in zip(found.codes[mine], found.beliefs[mine], strict=True)}


@dataclass
class Tried:
    """How often the attacker's beliefs were compared with those of all worlds."""

    n_exact: int = 0
    n_bounded: int = 0
    n_divided: int = 0

    def compare(self, case: Case, seed: int) -> None:
        try:
            release = case.publish(seed)
            expected = case.by_force(release)
        except (gh.Infeasible, gh.NotSupported):  # or there is too much to try
            return
        bound = case.attack(release, LargestShares().attack)
        for row, beliefs in expected.of.items():
            most = beliefs_of(bound, row)
            assert bound.presence[bound.kind[row]] >= float(expected.presence[row]) - NEAR
            for value, belief in beliefs.items():
                assert most.get(value, 0.0) >= float(belief) - NEAR, (case, seed, row, value)
        self.n_bounded += 1
        try:
            found = case.attack(release)
        except gh.NotSupported:
            return
        for row, beliefs in expected.of.items():
            mine = beliefs_of(found, row)
            assert found.presence[found.kind[row]] == pytest.approx(float(expected.presence[row]), abs=NEAR)
            for value in {*beliefs, *mine}:
                assert mine.get(value, 0.0) == pytest.approx(float(beliefs.get(value, 0)), abs=NEAR), (case, seed, row)
        self.n_exact += 1
        self.n_divided += Published.of(release).n_groups > 1


# --- against every world and every coin ------------------------------------------------------------------------------


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("principle", PRINCIPLES)
def test_beliefs_are_what_every_world_and_every_coin_give(principle: str, recoding: str) -> None:
    rng, tried = random.Random(f"{principle}, {recoding}"), Tried()

    for i in range(tables(48, 4)):
        tried.compare(random_case(rng, principle, RECODINGS[recoding]), seed=i)

    assert tried.n_exact > 0
    assert tried.n_divided > 0


@pytest.mark.parametrize("recoding", RECODINGS)
@pytest.mark.parametrize("principle", ["refined by anatomize", "l-diversity", "t-closeness"])
def test_so_it_is_where_the_attacker_knows_the_identifiers_that_break_ties(principle: str, recoding: str) -> None:
    rng, tried = random.Random(f"{principle}, {recoding}, named"), Tried()

    for i in range(tables(24, 4)):
        tried.compare(random_case(rng, principle, RECODINGS[recoding], named=True), seed=i)

    assert tried.n_bounded >= tried.n_exact > 0


@pytest.mark.parametrize("recoding", [*RECODINGS.values(), gh.Permutation()], ids=lambda recoding: recoding.name)
@pytest.mark.parametrize("principle", ["refined by ace", "entropy"])
def test_so_it_is_where_some_on_the_list_are_not_in_the_table(principle: str, recoding: Any) -> None:
    rng, tried = random.Random(f"{principle}, {recoding.name}, outside"), Tried()

    for i in range(tables(24, 4)):
        case = random_case(rng, principle, recoding, few=True)  # with more people there is too much to try
        taken = [rng.randrange(4) for _ in range(rng.choice([1, 2]))]
        moved = rng.choice([0, 0, 1])
        case.outside = {name: [codes[row] + moved for row in taken] for name, codes in case.people.items()}
        tried.compare(case, seed=i)

    assert tried.n_bounded > 0
    if recoding.name != "boxes":
        assert tried.n_exact > 0


# --- where who is in which group is not known ------------------------------------------------------------------------


def test_two_groups_with_one_box_are_not_taken_for_one() -> None:
    """Either of the two who have 0 is in another group, of three or of four people, and b and c are too: so each of the
    two has b with (1/3 + 1/4) / 4, and not with the 1/7 that the box shows."""
    case = Case({"x": [0, 0, 1, 1, 1, 1, 1]}, list("aaaaabc"), gh.DistinctLDiversity(ell=2), gh.Mirror(), gh.Boxes())
    release = next(
        r for r in map(case.publish, range(99)) if r.data["x"].unique().to_pylist() == ["[0, 1]"] and r.n_tuples == 7
    )

    with pytest.raises(gh.NotSupported, match="exact probabilities for 7 people"):
        case.attack(release)
    bound = case.attack(release, LargestShares().attack)
    assert beliefs_of(bound, 0) == {"a": 1, "b": 0.5, "c": 0.5}
    assert beliefs_of(case.attack(release, gh_linking), 0)["b"] < float(Fraction(7, 48)) < beliefs_of(bound, 0)["b"]


def gh_linking(release: gh.Release, knowledge: gh.Knowledge, _: Any) -> Any:
    return gh.attack(release, gh.Linking(), knowledge=knowledge)


def test_a_box_one_of_whose_ends_is_one_person_is_one_group() -> None:
    case = Case({"x": [0, 1, 1, 1, 1, 2, 2]}, list("aaaaabc"), gh.DistinctLDiversity(ell=2), gh.Mirror(), gh.Boxes())
    whole = replace(case, method=gh.Mirror(floor=7)).publish()

    found = case.attack(whole)

    assert beliefs_of(found, 0) == pytest.approx({"a": 5 / 7, "b": 1 / 7, "c": 1 / 7})


@pytest.mark.parametrize("principle", [gh.TCloseness(t="0.3"), gh.LDiversity(ell=3), gh.EntropyLDiversity(ell=3)])
def test_no_group_is_smaller_than_what_two_groups_in_a_box_are_judged_by(principle: Any) -> None:
    least = getattr(principle, "ell", 8)

    for seed in range(3):
        release = large(seed).publish_as(principle, gh.Mirror(), gh.Anatomy())
        assert Published.of(release).sizes.min() >= least


# --- at scale --------------------------------------------------------------------------------------------------------


@dataclass
class Large:
    """Some hundred people, many of them alike."""

    people: dict[str, list[int]]
    values: list[str]

    def publish_as(self, principle: Any, method: Any, recoding: Any) -> gh.Release:
        table = gh.read({**self.people, "s": self.values}, quasi=[*self.people], sensitive="s")
        return gh.publish(table, principle=principle, method=method, recoding=recoding, source=gh.Source.seeded(1))

    @property
    def knowledge(self) -> gh.Knowledge:
        return gh.Knowledge(external=gh.read(self.people, quasi=[*self.people]))


def large(seed: int, n: int = 300) -> Large:
    rng = random.Random(seed)
    people = {"x": [rng.randrange(30) for _ in range(n)], "y": [rng.randrange(4) for _ in range(n)]}
    return Large(people, [rng.choice("abcdefgh"[: 4 + x // 8]) for x in people["x"]])


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Permutation()], ids=lambda recoding: recoding.name)
@pytest.mark.parametrize("principle", [gh.LDiversity(ell=3), gh.TCloseness(t="0.3")], ids=repr)
def test_where_quasi_identifiers_are_published_beliefs_are_what_linking_tells(principle: Any, recoding: Any) -> None:
    table = large(1)
    release = table.publish_as(principle, gh.Mirror(), recoding)

    found = gh.attack(release, gh.ReverseEngineering(), knowledge=table.knowledge)
    linked = gh.attack(release, gh.Linking(), knowledge=table.knowledge)

    assert (found.how, found.attack) == ("exact", "reverse engineering")
    assert all(beliefs_of(found, row) == pytest.approx(beliefs_of(linked, row)) for row in range(300))
    assert found.presence.tolist() == [1.0] * len(found.presence)


@pytest.mark.parametrize("principle", [gh.LDiversity(ell=3), gh.TCloseness(t="0.3")], ids=repr)
def test_where_boxes_overlap_nothing_is_believed_above_the_largest_share(principle: Any) -> None:
    table = large(2)
    release = table.publish_as(principle, gh.Mirror(), gh.Boxes())

    found = gh.attack(release, gh.ReverseEngineering(), knowledge=table.knowledge)

    assert found.how == "bound"
    shares = {value: n / 300 for value, n in Counter(table.values).items()}
    refined = principle == gh.LDiversity(ell=3)
    caps = {value: 1 / 3 if refined else share + 0.3 for value, share in shares.items()}
    expected, settled = largest_by_hand(table, release, 3 if refined else 8, caps)
    rough = [row for row in range(300) if "no group that this person may be in" in found.explain(row)]
    assert rough
    assert all(beliefs_of(found, row) == pytest.approx(expected[row]) for row in {*rough, *settled})
    assert not settled.intersection(rough)
    assert all(b <= expected[row][v] + NEAR for row in range(300) for v, b in beliefs_of(found, row).items())
    with pytest.raises(gh.NotSupported, match="in groups with different shares"):
        gh.attack(release, gh.ReverseEngineering(how="exact"), knowledge=table.knowledge)


def largest_by_hand(
    table: Large, release: gh.Release, least: int, caps: dict[str, float]
) -> tuple[list[dict[str, float]], set[int]]:
    """Of every person the largest shares of the boxes that they can be in; and who can be in one, that is one group."""
    boxes: dict[tuple[str, str], list[str]] = {}
    for row in release.data.to_pylist():
        boxes.setdefault((row["x"], row["y"]), []).append(row["s"])
    points = list(zip(table.people["x"], table.people["y"], strict=True))
    ends = {cells: [[int(end) for end in cell.strip("[]").split(", ")] for cell in cells] for cells in boxes}
    inside = {
        cells: {i for i, point in enumerate(points) if all(e[0] <= p <= e[-1] for e, p in zip(box, point, strict=True))}
        for cells, box in ends.items()
    }
    for _ in boxes:  # as many people as tuples: they are all there, and nowhere else
        for full in [cells for cells in boxes if len(inside[cells]) == len(boxes[cells])]:
            for cells in boxes:
                inside[cells] -= inside[full] if cells != full else set()
    expected: list[dict[str, float]] = [{} for _ in points]
    settled = Counter[int]()
    for cells, values in boxes.items():
        wide = [(d, end) for d, e in enumerate(ends[cells]) if len(e) > 1 for end in e]
        one = len(values) < 2 * least or 1 in [sum(points[i][d] == end for i in inside[cells]) for d, end in wide]
        settled.update(dict.fromkeys(inside[cells], 1 if one else 2))
        for value, n in Counter(values).items():
            share = n / len(values) if one else min(n / least, caps[value])
            for i in inside[cells]:
                expected[i][value] = max(expected[i].get(value, 0.0), share)
    return expected, {i for i, times in settled.items() if times == 1}


# --- how it is asked, and what is refused ----------------------------------------------------------------------------

SMALL = Case({"x": [1, 2, 3, 4], "y": [1, 4, 2, 3]}, list("aabc"), TWO, gh.Mirror(), gh.Anatomy())


def test_a_bound_is_called_one_and_knows_no_value_above_one_in_l() -> None:
    table = large(3)
    for recoding in (gh.Anatomy(), gh.Boxes()):
        release = table.publish_as(gh.LDiversity(ell=3), gh.Mirror(), recoding)
        found = gh.attack(release, gh.ReverseEngineering(how="bound"), knowledge=table.knowledge)
        assert found.how == "bound"
        assert found.beliefs.max() <= 1 / 3 + NEAR


def test_small_tables_that_no_theorem_settles_are_tried_out() -> None:
    release = SMALL.publish()
    told = gh.attack(release, gh.ReverseEngineering(), knowledge=SMALL.knowledge())
    corrupted = gh.attack(release, gh.ReverseEngineering(), knowledge=SMALL.knowledge(corrupted={0: "a"}))

    assert "Theorem M2" in told.notes[0]
    assert "could have produced it" in corrupted.notes[0]
    assert [beliefs_of(corrupted, row) for row in (1, 2, 3)] != [
        pytest.approx(beliefs_of(told, row)) for row in (1, 2, 3)
    ]


@pytest.mark.parametrize(("method", "theorem"), [(gh.Mirror(), "M2"), (gh.Mirror(inner="none"), "M1")])
def test_the_attacker_is_told_why_knowing_the_algorithm_does_not_help(method: Any, theorem: str) -> None:
    case = replace(SMALL, method=method)

    said = case.attack(case.publish()).explain(0)

    assert "knowing the algorithm does not help" in said
    assert f"(Theorem {theorem} of the method Mirror)" in said


def test_a_prior_for_everybody_changes_nothing() -> None:
    release = SMALL.publish()
    prior = {"a": 5, "b": 1, "c": 1}

    found, plain = SMALL.attack(release, prior=prior), SMALL.attack(release)

    assert found.beliefs.tolist() == plain.beliefs.tolist()
    assert "prior" in found.notes[-1]


@pytest.mark.parametrize("more", [{"corrupted": {0: "a"}}, {"corrupted": {0: gh.ABSENT}}, {"prior": {0: {"a": 1}}}])
@pytest.mark.parametrize("attack", [PublishedShares().attack, LargestShares().attack])
def test_the_theorems_are_not_for_those_who_know_more(attack: Any, more: dict[str, Any]) -> None:
    with pytest.raises(gh.NotSupported, match="known values of other people"):
        SMALL.attack(SMALL.publish(), attack, **more)


def test_a_dropped_person_is_believed_to_have_a_trimmed_value() -> None:
    table = gh.read({"x": [1, 2, 3, 4, 5], "s": list("aaabc")}, quasi=["x"], sensitive="s")
    release = gh.publish(table, principle=TWO, method=gh.Mirror(), recoding=gh.Anatomy(), suppress="1/5")
    steps = TWO, gh.Mirror(), gh.Anatomy()
    found = PublishedShares().attack(release, gh.Knowledge(external=table), steps)
    (lost,) = set(range(5)) - {x - 1 for x in release.tables["qit"]["x"].to_pylist()}
    assert found.of(lost) == {"a": 1.0}
    assert all(max(found.of(row).values()) <= 0.5 for row in range(5) if row != lost)


def test_nor_for_groups_of_another_method() -> None:
    with pytest.raises(gh.NotSupported, match=r"the method 'mondrian', and .* by the method 'mirror' or 'sift'"):
        replace(SMALL, method=gh.Mondrian()).attack(SMALL.publish())


def test_a_list_without_everybody_gives_a_bound_only() -> None:
    release = SMALL.publish()
    fewer = gh.Knowledge(external=gh.read({"x": [1, 2, 3], "y": [1, 4, 2]}, quasi=["x", "y"]))
    steps = (TWO, gh.Mirror(), gh.Anatomy())

    with pytest.raises(gh.NotSupported, match="everybody in the published table"):
        PublishedShares().attack(release, fewer, steps)
    found = LargestShares().attack(release, fewer, steps)
    assert beliefs_of(found, 0) == pytest.approx(beliefs_of(SMALL.attack(release), 0))
