# SPDX-License-Identifier: Apache-2.0
"""The hint adversary: against every way by force and every world, the specimen, calibration, boxes, the command."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.adversary.hint import hint, seating, slices
from glasshouse.adversary.hint.signs import Hinted, read_signs
from glasshouse.adversary.hint.slices import bucket_beliefs, ties_of
from glasshouse.adversary.task import Task
from glasshouse.cli.commands import glasshouse
from glasshouse.journeys.attack import algorithm_of
from tests.twins import hint as twin

SIGN = [("income", "B", +1)]


@pytest.fixture(autouse=True)
def quiet() -> None:
    warnings.simplefilter("ignore", gh.DisclosureWarning)


def earners(shift: float, *, ell: int = 2, n: int = 4000, seed: int = 1) -> gh.Microdata:
    """People with one of ell values, as many with each, and an income that is larger by ``shift`` of those with B."""
    random = np.random.default_rng(seed)
    value = random.permutation(np.repeat(np.arange(ell), n // ell))
    income = random.normal(50, 15, len(value)) + shift * (value == 1)
    rows = {"income": income.tolist(), "s": np.array(list("ABCDE"))[value].tolist()}
    return gh.read(rows, quasi=["income"], sensitive="s")


def published(
    table: gh.Microdata, method: Any, recoding: Any = "anatomy", *, ell: int = 2, seed: int = 1
) -> gh.Release:
    return gh.publish(
        table, principle=gh.LDiversity(ell=ell), method=method, recoding=recoding, source=gh.Source.seeded(seed)
    )


def attacked(table: gh.Microdata, method: Any, recoding: Any = "anatomy", *, ell: int = 2) -> gh.HintPosterior:
    release = published(table, method, recoding, ell=ell)
    return gh.attack(release, gh.Hint(signs=SIGN), knowledge=gh.Knowledge(external=table))


def reasoned(attack: gh.Hint, release: gh.Release, knowledge: gh.Knowledge) -> hint._Reasoning:
    """What the attack does, so that each of its ways can be asked."""
    task = Task.of(attack, release, knowledge, algorithm_of(release.recipe))
    return hint._Reasoning(attack, task, Hinted.of(task, tuple(attack.signs), attack.strength))


# --- by force ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_groups", "width"), [(2, 2), (5, 2), (3, 3), (4, 3), (2, 4)])
@pytest.mark.parametrize("seed", range(4))
def test_evidence_of_a_bucket_adds_up_as_over_all_ways_to_give_out_values(n_groups: int, width: int, seed: int) -> None:
    random = np.random.default_rng(100 * seed + width)
    columns = np.sort(random.permutation(100)[: n_groups * width].reshape(width, n_groups), axis=1)
    groups = np.array([random.permutation(own) for own in columns.T])[random.permutation(n_groups)]
    chances = random.integers(1, 10, (n_groups, width, width))
    codes = groups[:, :, np.newaxis].astype(np.int64)

    ties = ties_of(codes, [np.arange(100) / 99])
    found = bucket_beliefs(codes, chances / 10, ties)

    assert len(ties) == n_groups - 1
    weights = [[[Fraction(int(one), 10) for one in person] for person in group] for group in chances]
    expected = np.array(twin.beliefs_by_force(groups.tolist(), weights), float)
    assert np.allclose(found, expected, atol=1e-12)
    free = np.array(twin.deals_by_force(groups.tolist(), weights), float)
    assert np.allclose(bucket_beliefs(codes, chances / 10, []), free, atol=1e-12)


def test_groups_that_no_cut_parts_are_not_tied() -> None:
    nested = np.array([[[0], [9]], [[4], [5]]])  # groups of two buckets: neither is before the other
    assert ties_of(nested, [np.arange(10) / 9]) == []


def test_long_chains_of_strong_evidence_do_not_vanish() -> None:
    n = 3000
    codes = (np.arange(n)[:, np.newaxis] + np.array([0, 2]))[:, :, np.newaxis].astype(np.int64)
    chances = np.tile(np.array([[0.9, 0.1], [0.1, 0.9]]), (n, 1, 1))
    chances[: n // 2] = chances[: n // 2, ::-1]  # a first half that says the opposite, a little less
    chances[0] = chances[-1]
    found = bucket_beliefs(codes, chances, ties_of(codes, [np.arange(n + 2) / n]))
    odds = 81.0**2  # of the two groups by which one half outweighs the other
    assert np.allclose(found[:, 0, 0], odds / (1 + odds), atol=1e-9)


METHODS: dict[str, Any] = {
    "ace": gh.Ace(),
    "hybrid": gh.Hybrid(),
    "mirror, ace": gh.Mirror(inner="ace", slack=2),
    "tailor": gh.Tailor(),
    "anatomize": gh.Anatomize(),
}


@pytest.mark.parametrize("recoding", ["anatomy", "boxes"])
@pytest.mark.parametrize("name", METHODS)
def test_with_one_attribute_it_is_what_every_world_says(name: str, recoding: str) -> None:
    random = np.random.default_rng(len(name))
    for seed in range(3):
        values = random.permutation(list("ABAB" if name == "anatomize" else "ABABAB" if seed else "ABCABC"))
        table = gh.read(
            {"income": (random.permutation(40)[: len(values)]).tolist(), "s": values.tolist()},
            quasi=["income"],
            sensitive="s",
        )
        release = published(table, METHODS[name], recoding, ell=len(set(values.tolist())), seed=seed)
        attack = gh.Hint(signs=SIGN, strength=0.8, most_worlds=100_000, most_runs=1_000_000)
        reasoning = reasoned(attack, release, gh.Knowledge(external=table))
        tried, dealt = reasoning.tried(), reasoning.dealt()
        assert tried is not None
        assert tried.how == "exact"
        if "mixture" in dealt.how:  # a box whose people the ends do not give away
            continue
        for person in range(table.n_tuples):
            expected, found = tried.of(person), dealt.of(person)
            assert all(found.get(v, 0.0) == pytest.approx(belief, abs=1e-12) for v, belief in expected.items())


def test_small_tables_are_tried_with_the_prior_of_single_people() -> None:
    people = {"income": [1, 2, 3, 4]}
    table = gh.read({**people, "s": list("ABAB")}, quasi=["income"], sensitive="s")
    release = published(table, gh.Ace())
    prior = {0: {"A": 1, "B": 3}, 3: {"A": 2, "B": 1}}
    hinted = gh.attack(release, gh.Hint(), knowledge=gh.Knowledge(external=table, prior=prior))
    worlds = gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=table, prior=prior))
    for person in range(4):
        assert hinted.of(person) == pytest.approx(worlds.of(person), abs=1e-7)


def test_small_tables_by_any_method_are_tried() -> None:
    people = {"x": [1, 2, 3, 4, 5], "y": [5, 4, 3, 2, 1]}
    table = gh.read({**people, "s": list("bcaad")}, quasi=["x", "y"], sensitive="s")
    release = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Mondrian())
    found = gh.attack(release, gh.Hint(signs=["x:c:+"]), knowledge=gh.Knowledge(external=table))
    assert found.how == "exact"
    assert found.of(2) == {"a": 1.0}
    assert found.cost is not None
    assert found.cost.by_group is None
    assert found.cost.beyond_groups == 0.0


# --- the specimen -----------------------------------------------------------------------------------------------------

SLICED = {"ace": gh.Ace(), "hybrid": gh.Hybrid(), "mirror": gh.Mirror(inner="ace")}
ROBUST = {
    "sift": gh.Sift(),
    "varied": gh.Anatomize(varied=True),
    "slack 2": gh.Mirror(inner="anatomize", slack=2),
    "mirror": gh.Mirror(inner="anatomize"),
}


@pytest.mark.parametrize("shift", [0.5, 2.0, 3.5, 5.0, 10.0])
@pytest.mark.parametrize("ell", [2, 3, 5])
def test_one_bit_tells_all_of_sliced_buckets_and_next_to_nothing_of_others(shift: float, ell: int) -> None:
    table = earners(shift, ell=ell)
    plain = attacked(table, gh.Anatomize(), ell=ell)
    assert plain.cost is not None
    assert plain.how == "exact"
    assert plain.cost.outsider.right - 0.03 < plain.cost.in_table.right < plain.cost.outsider.right + 0.08
    for method in ROBUST.values():
        found = attacked(table, method, ell=ell).cost
        assert found is not None
        assert abs(found.in_table.right - plain.cost.in_table.right) < 0.03
        assert found.fair is not None
        assert abs(found.fair.right - found.fair.believed) < 0.02  # also where the hint is weaker than the truth
        assert found.doubt() == ""
    caught = attacked(table, gh.Ace(), ell=ell)
    assert caught.cost is not None
    assert caught.how == "by bucket"
    assert caught.cost.beyond_groups > 0.05
    assert "reveals more than the values of their group" in caught.cost.doubt()
    if shift >= 2:
        assert caught.cost.in_table.right > 2 / ell - 0.02  # who has B is known, and the others share the rest
        assert caught.cost.in_table.in_truth > 2 / ell - 0.02
        assert caught.cost.in_table.calibration < 0.03
    else:
        assert caught.cost.in_table.right > plain.cost.in_table.right + 0.03


@pytest.mark.parametrize("name", SLICED)
def test_the_specimen(name: str) -> None:
    table = earners(2.0)
    caught = attacked(table, SLICED[name]).cost
    assert caught is not None
    assert caught.by_group is not None
    assert caught.in_table.right > 0.99
    assert caught.by_group.right > 0.99
    assert caught.by_group.believed < 0.52
    assert caught.beyond_groups > 0.4
    assert "reveals more than the values of their group" in caught.doubt()
    assert caught.outsider.right == pytest.approx(0.527, abs=0.01)
    assert caught.linked.right == pytest.approx(0.5)
    for method in (gh.Anatomize(), *ROBUST.values()):
        found = attacked(table, method).cost
        assert found is not None
        assert found.in_table.right == pytest.approx(0.54, abs=0.012)
        assert found.beyond_groups < 0.01


def test_beliefs_that_are_approximate_are_not_taken_for_a_leak() -> None:
    table, knowledge = drawn(1500, 7)
    for method in (gh.Anatomize(), gh.Mirror(inner="anatomize", slack=2)):
        cost = gh.attack(published(table, method, "boxes"), gh.Hint(), knowledge=knowledge).cost
        assert cost is not None
        assert cost.by_group is not None
        assert cost.fair is None or cost.fair.people < 300
        assert cost.doubt() == ""


def test_boxes_that_overlap_give_away_who_is_in_them() -> None:
    table = earners(2.0)
    found = attacked(table, gh.Mirror(inner="ace"), "boxes")
    assert found.cost is not None
    assert found.how == "by bucket"
    assert "for 4,000 people the ends of the intervals show in which group they are" in found.notes
    assert found.cost.in_table.right > 0.99
    release = published(table, gh.Mirror(inner="ace"), "boxes")
    linked = gh.attack(release, gh.Linking(most_states=0), knowledge=gh.Knowledge(external=table))
    assert linked.largest.max() == pytest.approx(0.5)  # and linking sees nothing of it


def test_rounded_incomes_leave_some_people_open() -> None:
    exact = earners(2.0, n=1000)
    rows = {
        "income": np.round(exact.column("income").domain.positions[exact.column("income").codes], 1).tolist(),
        "s": exact.sensitive[0].domain.decode(exact.sensitive[0].codes).to_pylist(),
    }
    table = gh.read(rows, quasi=["income"], sensitive="s")
    found = attacked(table, gh.Mirror(inner="ace"), "boxes")
    assert found.cost is not None
    assert found.how == "by bucket, mixture"
    assert found.cost.known is not None
    assert 0 < found.cost.known.people < 1000
    assert found.cost.known.right > 0.9
    assert found.presence.min() > 0.999
    assert "people whose group is known" in found.cost.sentence()


@pytest.mark.parametrize("method", [gh.Mirror(inner="ace"), gh.Hybrid(), gh.Snug()])
@pytest.mark.parametrize("seed", range(3))
def test_whom_the_ends_of_boxes_give_away_is_there(method: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 150
    rows = {"x": random.integers(0, 30, n), "y": random.integers(0, 12, n), "z": random.choice(list("abcde"), n)}
    everybody = [f"{i:03}" for i in range(n)]  # a value for each, which tells where somebody is
    table = gh.read(pa.table({**rows, "s": everybody}), quasi=["x", "y", "z"], sensitive="s", accept="unique-values")
    release = published(table, method, "boxes", ell=3)
    task = Task.of(gh.Linking(), release, gh.Knowledge(external=table))
    (seats,) = task.contents.seats
    matches = task.fits(seats)
    sure = seating._sure(task, seats, matches)
    groups = np.repeat(np.arange(task.contents.n_groups), np.diff(task.contents.offsets))
    group_of = dict(zip((task.contents.values[code] for code in task.contents.codes), groups.tolist(), strict=True))
    there = np.zeros((task.kinds.n_kinds, task.contents.n_groups))
    for row, name in enumerate(everybody):
        there[task.kinds.of_person[row], group_of[name]] += 1
    truth = there[matches.of_match, seats.group[matches.seats]]
    assert (sure <= truth).all()
    assert (truth[sure < 0] == 0).all()
    assert sure.max() > 0


def test_without_ends_boxes_are_a_mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seating, "_MOST_MATCHES", 0)
    found = attacked(earners(2.0, n=200), gh.Mirror(inner="ace"), "boxes")
    assert found.how == "by group, mixture"
    assert any("for each group separately" in note for note in found.notes)


def test_a_bucket_with_too_many_columns_is_gone_through_group_by_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hint, "MOST_COLUMNS", 2)
    assert slices.MOST_COLUMNS == 6
    assert attacked(earners(2.0, n=300, ell=3), gh.Ace(), ell=3).how == "by group"
    assert attacked(earners(2.0, n=300), gh.Ace()).how == "by bucket"


# --- calibration ------------------------------------------------------------------------------------------------------


def drawn(n: int, seed: int) -> tuple[gh.Microdata, gh.Knowledge]:
    """People with three attributes, whose value is drawn by known chances; and an attacker who knows the chances."""
    random = np.random.default_rng(seed)
    age, hours, sex = random.integers(18, 80, n), random.integers(0, 60, n), random.integers(0, 2, n)
    logs = np.stack([0 * age, (age - 49) / 15, (hours - 30) / 14, 1.2 * sex - 0.6], axis=1)
    chances = np.exp(logs) / np.exp(logs).sum(axis=1, keepdims=True)
    value = np.minimum((random.random(n)[:, np.newaxis] > chances.cumsum(axis=1)).sum(axis=1), 3)
    names = list("ABCD")
    rows = {"age": age, "hours": hours, "sex": np.array(["F", "M"])[sex], "s": np.array(names)[value]}
    table = gh.read(pa.table(rows), quasi=["age", "hours", "sex"], sensitive="s")
    prior = {i: dict(zip(names, own, strict=True)) for i, own in enumerate(chances.round(6).tolist())}
    return table, gh.Knowledge(external=table, prior=prior)


def test_beliefs_by_group_are_right_as_often_as_they_say_where_worlds_are_a_product() -> None:
    table, knowledge = drawn(6000, 3)
    said = {}
    for name, method in {"anatomize": gh.Anatomize(), **ROBUST, "ace": gh.Ace()}.items():
        cost = gh.attack(published(table, method, ell=2), gh.Hint(), knowledge=knowledge).cost
        assert cost is not None
        assert cost.by_group is not None
        (own,) = [one for one in cost.by_group.above if one.limit == "0.5"]
        said[name] = own.right - own.believed
        if name == "ace":  # the evidence of buckets takes most of the difference away
            assert cost.in_table.in_truth > cost.by_group.in_truth
            assert cost.in_table.calibration < cost.by_group.calibration
    assert abs(said["anatomize"]) < 0.03
    assert abs(said["slack 2"]) < 0.03
    assert abs(said["mirror"]) < 0.03
    assert said["ace"] > 0.05


# --- what is known, and what is refused -------------------------------------------------------------------------------


def test_signs_are_log_odds_for_each_standard_deviation() -> None:
    table = gh.read(
        {"income": [10, 20, 30, 40] * 10, "sex": ["F", "M"] * 20, "s": ["A", "B"] * 20},
        quasi=["income", "sex"],
        sensitive="s",
    )
    release = published(table, gh.Anatomize())
    task = reasoned(gh.Hint(signs=SIGN, strength=0.5), release, gh.Knowledge(external=table)).task
    z = (np.array([10, 20, 30, 40]) - 25) / np.std([10, 20, 30, 40])
    found = Hinted.of(task, read_signs(SIGN), 0.5).kinds
    odds = found[task.kinds.of_person[:4], 1] / found[task.kinds.of_person[:4], 0]
    assert np.allclose(np.log(odds), 0.5 * z)
    women = Hinted.of(task, read_signs(["sex=F:B:-"]), 0.5).kinds
    assert np.allclose(np.log(women[:, 1] / women[:, 0])[task.kinds.of_person[:2]], [-0.5, 0.5])
    common = gh.Knowledge(external=table, prior={"A": 3, "B": 1})
    prior = reasoned(gh.Hint(), release, common).hinted.kinds
    assert np.allclose(prior, [0.75, 0.25])


def test_what_says_nothing_or_cannot_be_answered_is_refused() -> None:
    table = earners(2.0, n=200)
    release, knowledge = published(table, gh.Anatomize()), gh.Knowledge(external=table)
    with pytest.raises(gh.InputError, match="needs a hint"):
        gh.attack(release, "hint", knowledge=knowledge)
    for signs in ("income", [("income", "B")], [("income", "B", 2)], [3], "income:B:?"):
        with pytest.raises(gh.ParameterError, match="signs"):
            gh.Hint(signs=signs)
    for strength in (0, -1, float("nan"), True, "much"):
        with pytest.raises(gh.ParameterError, match="strength"):
            gh.Hint(signs=SIGN, strength=strength)  # type: ignore[arg-type]
    with pytest.raises(gh.InputError, match="which is not published"):
        gh.attack(release, gh.Hint(signs=["income:Z:+"]), knowledge=knowledge)
    with pytest.raises(gh.SchemaError, match="the attribute of a sign"):
        gh.attack(release, gh.Hint(signs=["wealth:B:+"]), knowledge=knowledge)
    with pytest.raises(gh.NotSupported, match="which parts of the table are divided independently"):
        gh.attack(published(table, gh.Mondrian()), gh.Hint(signs=SIGN), knowledge=knowledge)
    with pytest.raises(gh.NotSupported):
        gh.attack(release, gh.Hint(signs=SIGN), knowledge=gh.Knowledge(external=table, corrupted={0: "A"}))
    colours = gh.read({"colour": list("rgby") * 25, "s": list("AABB") * 25}, quasi=["colour"], sensitive="s")
    made = published(colours, gh.Anatomize())
    with pytest.raises(gh.InputError, match="have no order"):
        gh.attack(made, gh.Hint(signs=["colour:B:+"]), knowledge=gh.Knowledge(external=colours))
    same = gh.read({"x": [1] * 100, "s": list("AABB") * 25}, quasi=["x"], sensitive="s")
    with pytest.raises(gh.InputError, match="the same value for everybody"):
        gh.attack(published(same, gh.Anatomize()), gh.Hint(signs=["x:B:+"]), knowledge=gh.Knowledge(external=same))


def test_people_outside_the_table_and_lists_without_values_are_taken() -> None:
    table = earners(2.0, n=400)
    release = published(table, gh.Ace())
    rows = {"income": [*table.column("income").domain.positions[table.column("income").codes].tolist(), 1e6, -1e6]}
    voters = gh.read(rows, quasi=["income"])
    found = gh.attack(release, gh.Hint(signs=SIGN), knowledge=gh.Knowledge(external=voters))
    assert found.cost is None
    assert "only be counted with the true values" in " ".join(str(found).split())
    assert found.present(0) == 1.0
    assert found.present(400) == found.present(401) == 0.0
    assert found.to_dict()["cost_of_presence"] is None


@pytest.mark.parametrize(
    ("method", "principle", "over"),
    [
        (gh.Anatomize(), gh.LDiversity(ell=2), "groups"),
        (gh.Sift(), gh.LDiversity(ell=2), "groups"),
        (gh.Tailor(), gh.LDiversity(ell=2), "groups"),
        (gh.Separate(), gh.LDiversity(ell=2), "groups"),
        (gh.Mirror(inner="anatomize", slack=2), gh.LDiversity(ell=2), "groups"),
        (gh.Mirror(inner="anatomize"), gh.LDiversity(ell=2), "half-groups"),
        (gh.Mirror(inner="ace"), gh.LDiversity(ell=2), "buckets"),
        (gh.Mirror(inner="none"), gh.LDiversity(ell=2), "faces"),
        (gh.Mirror(inner="anatomize"), gh.EntropyLDiversity(ell=2), "faces"),
        (gh.Ace(), gh.LDiversity(ell=2), "buckets"),
        (gh.Hybrid(), gh.LDiversity(ell=2), "buckets"),
        (gh.Mondrian(), gh.LDiversity(ell=2), "none"),
        (gh.Snug(), gh.LDiversity(ell=2), "none"),
        (gh.Snug(), gh.KAnonymity(k=2), "groups"),
    ],
)
def test_over_which_people_worlds_are_a_product(method: Any, principle: Any, over: str) -> None:
    table = earners(2.0, n=100)
    release = gh.publish(table, principle=principle, method=method, recoding="boxes", source=gh.Source.seeded(1))
    task = Task.of(gh.Hint(signs=SIGN), release, gh.Knowledge(external=table), algorithm_of(release.recipe))
    assert task.independent == over


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_takes_signs_and_counts_right_guesses(tmp_path: Path) -> None:
    table = earners(5.0, n=400)
    columns = [*table.quasi, *table.sensitive]
    rows = {column.name: column.domain.decode(column.codes) for column in columns}
    pa_csv.write_csv(pa.table(rows), tmp_path / "people.csv")
    gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Ace(), recoding="boxes", out=tmp_path / "out")

    def run(*arguments: str) -> Any:
        given = [str(tmp_path / "out" / "release"), "--external", str(tmp_path / "people.csv"), *arguments]
        return CliRunner().invoke(glasshouse, ["attack", *given])

    plain = run("--attack", "hint", "--sign", "income:B:+")
    assert plain.exit_code == 0, plain.output
    assert "people with larger income have B more often" in " ".join(plain.output.split())
    assert "people are guessed right" in " ".join(plain.output.split())
    told = run("--attack", "hint", "--sign", "income:B:+", "--strength", "0.2", "--json", "--save")
    assert told.exit_code == 0, told.output
    summary = json.loads(told.stdout)
    assert summary["cost_of_presence"]["in_table"]["right"] > 0.9
    assert summary["cost_of_presence"]["outsider"]["right"] < 0.6
    assert "the odds of the value change by the factor 1.22." in summary["hint"]
    assert json.loads((tmp_path / "out" / "audit" / "attack-hint.json").read_text()) == summary
    assert run("--attack", "hint", "--sign", "income:B:+", "--fail-above", "1/2").exit_code == 1
    assert "--sign can only be given with --attack hint" in run("--sign", "income:B:+").output
    assert "signs must be" in " ".join(run("--attack", "hint", "--sign", "income").output.split())
