# SPDX-License-Identifier: Apache-2.0
"""The learning adversary: against every deal by force, Kifer's example, calibration, the cost of being in a table."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.adversary.learning import definetti
from glasshouse.adversary.learning.even_seating import _scaled
from glasshouse.adversary.learning.guesses import judged
from glasshouse.adversary.linking import Sitting
from glasshouse.adversary.task import Task
from glasshouse.cli.commands import glasshouse
from glasshouse.population import learn
from glasshouse.population.deals import Deals
from glasshouse.population.population import Population
from tests.twins import definetti as twin

QUASI = ["age", "sex"]


@pytest.fixture(autouse=True)
def quiet() -> None:
    warnings.simplefilter("ignore", gh.DisclosureWarning)


# --- by force ---------------------------------------------------------------------------------------------------------

# A number of people who are alike, and every value three times.
SMALL: dict[str, list[Any]] = {
    "age": [20, 20, 21, 22, 23, 23, 24, 30, 30, 31, 32, 33],
    "sex": list("FFMFMMFMFFMM"),
    "ill": list("abcdabcdabcd"),
}
RELEASES: dict[str, Callable[[gh.Microdata], gh.Release]] = {
    "anatomy": lambda table: _published(table, gh.Anatomize(), gh.Anatomy()),
    "permutation": lambda table: _published(table, gh.Anatomize(), gh.Permutation()),
    "boxes": lambda table: _published(table, gh.Mondrian(), gh.Boxes()),
    "boxes that overlap": lambda table: _published(table, gh.Mirror(), gh.Boxes()),
    "angel": lambda table: _published(table, gh.Anatomize(), gh.Angel(k=3)),
}


def _published(table: gh.Microdata, method: Any, recoding: Any) -> gh.Release:
    return gh.publish(
        table, principle=gh.LDiversity(ell=2), method=method, recoding=recoding, source=gh.Source.seeded(1)
    )


def given_weights(monkeypatch: pytest.MonkeyPatch, seed: int) -> dict[str, Population]:
    """Have the attack learn random weights, from any number of people; the model that it then has is in the answer."""
    monkeypatch.setattr(learn, "too_little", lambda *_: "")
    kept: dict[str, Population] = {}

    def learned(*given: Any) -> Population:
        found = learn.learned_from(*given)
        assert found is not None
        weights = np.random.default_rng(seed).normal(0, 1.5, found.regression.shape)
        kept["model"] = replace(found, fitted=replace(found.fitted, weights=weights, z=9.0))
        return kept["model"]

    monkeypatch.setattr(definetti, "learned_from", learned)
    return kept


def by_force(release: gh.Release, people: gh.Microdata, model: Population) -> list[tuple[dict[Any, float], float]]:
    """What the slow twin believes of every person on a list."""
    task = Task.of(gh.DeFinetti(), release, gh.Knowledge(external=people))
    published, (seats,) = task.contents, task.contents.seats
    at_points = model.regression.at_points(model.fitted.weights)
    at_places = model.regression.mixed(at_points)

    def named(row: Any) -> dict[Any, float]:
        return dict(zip(model.values, row.tolist(), strict=True))

    points = {
        tuple(values[code] for values, code in zip(model.points.values, codes, strict=True)): named(at_points[i])
        for i, codes in enumerate(model.points.codes.T.tolist())
    }
    groups: dict[int, tuple[list[int], list[Any]]] = {}
    for g in range(published.n_groups):
        some = slice(published.offsets[g], published.offsets[g + 1])
        codes = np.repeat(published.codes[some], published.counts[some])
        own = [seat for seat in np.flatnonzero(seats.group == g).tolist() for _ in range(seats.count[seat])]
        groups[g] = (own, [published.values[code] for code in codes])
    sitting = Sitting.of(task, seats, most_states=10**6)
    columns = [people.column(name).domain.decode(people.column(name).codes).to_pylist() for name in QUASI]
    found = []
    for row in range(people.n_tuples):
        kind = task.kinds.of_person[row]
        matches = range(sitting.matches.offsets[kind], sitting.matches.offsets[kind + 1])
        places = []
        for i in matches:
            seat = int(sitting.matches.seats[i])
            own, values = groups[int(seats.group[seat])]
            chances = [named(at_places[model.points.place_of_seat[other]]) for other in own]
            places.append((float(sitting.weight[i]), chances, values, own.index(seat)))
        q = tuple(column[row] for column in columns)
        # a combination that no place stands for has the weights of its levels all the same
        own_chances = points.get(q) or _by_levels(model, q)
        found.append(twin.believed(own_chances, places))
    return found


def _by_levels(model: Population, q: tuple[Any, ...]) -> dict[Any, float]:
    """The chances at a point, weight by weight."""
    codes = [values.index(value) for values, value in zip(model.points.values, q, strict=True)]
    scores = np.array(model.regression.base)
    features = model.regression.features
    for block, start in zip(features.blocks, features.starts, strict=False):
        level = int(block.levels(np.array(codes, np.int32)[:, np.newaxis])[0])
        if level >= 0:
            scores = scores + model.fitted.weights[start + level]
    chances = np.exp(scores) / np.exp(scores).sum()
    return dict(zip(model.values, chances.tolist(), strict=True))


def differences(found: gh.Posterior, expected: list[tuple[dict[Any, float], float]]) -> float:
    """The largest difference between beliefs."""
    worst = 0.0
    for row, (beliefs, presence) in enumerate(expected):
        own = found.of(row)
        worst = max(worst, abs(found.present(row) - presence))
        worst = max([worst, *(abs(own.get(value, 0.0) - beliefs.get(value, 0.0)) for value in {*own, *beliefs})])
    return worst


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", RELEASES)
def test_beliefs_are_those_of_every_deal_by_force(name: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    release = RELEASES[name](gh.read(SMALL, quasi=QUASI, sensitive="ill"))
    kept = given_weights(monkeypatch, seed)
    voters = gh.read({name: SMALL[name] for name in QUASI}, quasi=QUASI)
    found = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=voters))

    assert found.model == "learned"
    assert found.how == "learned"
    assert found.cost is None
    assert differences(found, by_force(release, voters, kept["model"])) < 1e-6


def test_people_on_the_list_who_need_not_be_in_the_table_are_weighed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    release = RELEASES["angel"](gh.read(SMALL, quasi=QUASI, sensitive="ill"))
    kept = given_weights(monkeypatch, 1)
    more: dict[str, list[Any]] = {"age": [*SMALL["age"], 21, 32, 90], "sex": [*SMALL["sex"], "M", "M", "F"]}
    voters = gh.read(more, quasi=QUASI)
    found = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=voters))

    assert found.present(14) == 0.0
    assert found.of(14) == {}
    assert 0 < found.present(13) < 1
    assert differences(found, [*by_force(release, voters.take(np.arange(14)), kept["model"]), ({}, 0.0)]) < 1e-6


def test_where_seats_cannot_be_counted_everybody_sits_once_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table = gh.read(SMALL, quasi=QUASI, sensitive="ill")
    release = RELEASES["boxes that overlap"](table)
    given_weights(monkeypatch, 1)
    voters = gh.read({name: SMALL[name] for name in QUASI}, quasi=QUASI)
    counted, even = (
        gh.attack(release, gh.DeFinetti(most_states=most), knowledge=gh.Knowledge(external=voters))
        for most in (10**6, 1)
    )

    assert "the probabilities are approximate" in str(even)
    assert [even.present(row) for row in range(12)] == pytest.approx([1.0] * 12)
    assert [sum(even.of(row).values()) for row in range(12)] == pytest.approx([1.0] * 12)
    assert 0 < differences(even, [(counted.of(row), 1.0) for row in range(12)]) < 0.15


@pytest.mark.parametrize("more", [-3.0, 0.0, 3.0])
def test_every_place_is_full_and_nobody_sits_twice(more: float) -> None:
    random = np.random.default_rng(7)
    fits = random.random((12, 5)) < 0.6
    fits[:, 0] = True
    row, column = np.nonzero(fits)
    people, tuples = random.integers(1, 5, 12).astype(float), np.full(5, 6.0)
    people *= (tuples.sum() + more) / people.sum()
    share = _scaled(row, column, people, tuples)
    seated = np.bincount(row, weights=share, minlength=12)
    filled = np.bincount(column, weights=share, minlength=5)

    assert (seated <= people * (1 + 1e-9)).all()
    assert seated.sum() == pytest.approx(min(people.sum(), tuples.sum()), rel=1e-3)
    assert (filled <= tuples * (1 + 1e-3)).all()
    if more >= 0:
        assert filled == pytest.approx(tuples, rel=1e-3)


@pytest.mark.parametrize("broken", ["the model alone", "the share of the group"])
@pytest.mark.parametrize("name", ["anatomy", "angel"])
def test_a_learner_that_is_broken_is_caught(name: str, broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def expected(self: Deals, chances: Any) -> tuple[Any, Any]:
        own = chances[self.place_of_entry, self.code_of_entry] * self.people[self.seat_of_entry]
        if broken == "the share of the group":
            counts = self.counts[_slots(self)]
            own = self.people[self.seat_of_entry] * counts / np.diff(self.persons)[self.group_of_entry]
        return own, np.zeros(self.n_groups)

    release = RELEASES[name](gh.read(SMALL, quasi=QUASI, sensitive="ill"))
    kept = given_weights(monkeypatch, 0)
    voters = gh.read({name: SMALL[name] for name in QUASI}, quasi=QUASI)
    gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=voters))
    right = by_force(release, voters, kept["model"])
    monkeypatch.setattr(Deals, "expected", expected)
    found = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=voters))

    assert differences(found, right) > 0.05


def _slots(deals: Deals) -> Any:
    width = np.diff(deals.offsets)[deals.group]
    within = np.arange(int(width.sum())) - np.repeat(np.cumsum(width) - width, width)
    return np.repeat(deals.offsets[:-1][deals.group], width) + within


def test_of_a_perturbed_sample_beliefs_are_those_of_corruption_with_the_model_as_prior(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = gh.read(SMALL, quasi=QUASI, sensitive="ill")
    release = gh.publish(
        table,
        principle=gh.RhoBreach(rho1="0.3", rho2="0.8", k=3),
        recoding=gh.Perturbed(p="0.1", domain=tuple("abcde")),
        source=gh.Source.seeded(1),
    )
    kept = given_weights(monkeypatch, 2)
    more: dict[str, list[Any]] = {
        "age": [*SMALL["age"], 21],
        "sex": [*SMALL["sex"], "M"],
    }  # somebody who is not in the table
    voters = gh.read(more, quasi=QUASI)
    found = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=voters))
    model = kept["model"]
    priors = {row: _by_levels(model, (more["age"][row], more["sex"][row])) for row in range(13)}
    by_paper = gh.attack(release, gh.Linking(), knowledge=gh.Knowledge(external=voters, prior=priors))

    assert set(model.values) == set("abcde")
    assert differences(found, [(by_paper.of(row), by_paper.present(row)) for row in range(13)]) < 1e-6


# --- what is learned --------------------------------------------------------------------------------------------------


def kifer(n: int = 1000) -> gh.Microdata:
    """Smokers have an illness of the lungs, nearly always, and others another one (in the spirit of Kifer 2009)."""
    random = np.random.default_rng(5)
    smokes = random.random(n) < 0.4
    lungs = random.choice(["cancer", "bronchitis", "asthma"], n, p=[0.5, 0.3, 0.2])
    others = random.choice(["flu", "gastritis", "migraine", "ulcer"], n, p=[0.4, 0.3, 0.2, 0.1])
    ill = np.where(smokes == (random.random(n) < 0.98), lungs, others)
    rows = {"smokes": np.where(smokes, "yes", "no").tolist(), "height": random.permutation(n).tolist()}
    return gh.read({**rows, "ill": ill.tolist()}, quasi=["smokes", "height"], sensitive="ill")


def test_kifer_tells_apart_what_every_group_keeps_together() -> None:
    table = kifer()
    release = _published(table, gh.Anatomize(), gh.Anatomy())
    knowledge = gh.Knowledge(external=table)
    linked, found = (gh.attack(release, way, knowledge=knowledge) for way in (gh.Linking(), gh.DeFinetti()))

    assert linked.worst().belief <= 0.5 + 1e-12
    assert isinstance(found, gh.LearnedPosterior)
    assert found.model == "learned"
    assert found.cost is not None
    assert found.cost.in_table.right > 0.65
    assert found.share_above() > 0.9
    assert found.cost.cost > 0.3
    assert found.cost.linked.in_truth == pytest.approx(0.5, abs=0.01)
    assert found.cost.linked.right == pytest.approx(0.5, abs=0.03)
    assert "better than the overall frequencies" in str(found)
    assert "all groups of the release together" in found.explain(0)


def test_where_there_is_nothing_to_learn_beliefs_are_those_of_linking_and_it_is_said() -> None:
    random = np.random.default_rng(1)
    rows = {"age": random.integers(20, 60, 600).tolist(), "ill": random.choice(list("abcd"), 600).tolist()}
    table = gh.read(rows, quasi=["age"], sensitive="ill")
    for recoding in (gh.Anatomy(), gh.Angel(k=3)):
        release = _published(table, gh.Anatomize(), recoding)
        linked = gh.attack(release, knowledge=gh.Knowledge(external=table))
        found = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=table))

        assert found.model == "none"
        assert "The probabilities are those of linking" in str(found)
        assert [found.of(row) for row in range(600)] == [linked.of(row) for row in range(600)]
        assert found.cost is not None
        assert found.cost.outsider.in_truth == pytest.approx(found.cost.base_rate.in_truth)


def test_of_few_people_nothing_is_learned_and_it_is_said() -> None:
    table = gh.read(SMALL, quasi=QUASI, sensitive="ill")
    release = RELEASES["anatomy"](table)
    found = gh.attack(release, "definetti", knowledge=gh.Knowledge(external=table))

    assert found.model == "none"
    assert found.cost is None
    assert "the release has fewer than 200 people" in str(found)
    linked = gh.attack(release, knowledge=gh.Knowledge(external=table))
    assert [found.of(row) for row in range(12)] == [linked.of(row) for row in range(12)]


def drawn(n: int, seed: int) -> dict[str, list[Any]]:
    """People of a known model: chances of six values by two attributes, strong enough to be learned."""
    random = np.random.default_rng(seed)
    region, job = random.integers(0, 8, n), random.integers(0, 10, n)
    fixed = np.random.default_rng(99)
    scores = fixed.normal(0, 1.2, (8, 6))[region] + fixed.normal(0, 1.2, (10, 6))[job]
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    value = (chances.cumsum(axis=1) < random.random((n, 1))).sum(axis=1)
    age = random.integers(0, 60, n)
    return {
        "region": [f"r{i}" for i in region],
        "job": [f"j{i}" for i in job],
        "age": age.tolist(),
        "ill": [f"v{i}" for i in value],
    }


def both(n: int = 4000) -> tuple[gh.Microdata, gh.Microdata]:
    inside, outside = (gh.read(drawn(n, seed), quasi=["region", "job", "age"], sensitive="ill") for seed in (1, 2))
    return inside, outside


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Angel(k=3)], ids=["anatomy", "angel"])
def test_beliefs_are_as_often_right_as_they_say_and_both_outsiders_agree(recoding: Any) -> None:
    table, control = both()
    release = _published(table, gh.Anatomize(), recoding)
    knowledge = gh.Knowledge(external=table)
    halved = gh.attack(release, gh.DeFinetti(), knowledge=knowledge).cost
    found = gh.attack(release, gh.DeFinetti(control=control), knowledge=knowledge).cost

    assert halved is not None
    assert found is not None
    assert found.in_table.calibration < 0.04
    assert found.outsider.calibration < 0.05
    assert found.in_table == halved.in_table
    assert found.outsider.in_truth == pytest.approx(halved.outsider.in_truth, abs=0.04)
    assert found.best_outsider.in_truth == pytest.approx(found.outsider.in_truth, abs=0.03)
    assert found.in_table.in_truth > found.outsider.in_truth > found.base_rate.in_truth + 0.1
    assert (found.outsiders_are, halved.outsiders_are) == ("control", "halves")


def test_angel_keeps_the_cost_small_where_anatomy_does_not() -> None:
    table, control = both()
    costs = []
    for recoding in (gh.Anatomy(), gh.Angel(k=3)):
        release = _published(table, gh.Anatomize(), recoding)
        found = gh.attack(release, gh.DeFinetti(control=control), knowledge=gh.Knowledge(external=table))
        assert found.cost is not None
        costs.append(found.cost.cost)
        told = json.loads(json.dumps(found.to_dict()))
        assert told["cost_of_presence"]["cost"] == pytest.approx(found.cost.cost)
        told = (
            f"The difference, {found.cost.cost:.4f} (plus or minus {found.cost.error:.4f}), is what being in the table"
        )
        assert told in str(found)
        assert "of people are unique" in str(found)

    assert costs[1] < 0.6 * costs[0]


def test_judging_counts_ties_in_parts_and_values_that_are_not_shown_as_wrong() -> None:
    beliefs = np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]])
    found = judged(beliefs, np.array([0, 0, 1, 1]), np.array([0, 2, 2, 3]), [0.4, 0.9])

    assert found.right == pytest.approx((0.5 + 0 + 1 + 0) / 4)
    assert found.in_truth == pytest.approx((0.5 + 0 + 0.9 + 0) / 4)
    assert found.above[0][:2] == ("0.4", 1.0)
    assert found.above[0].right == pytest.approx(0.375)
    assert found.above[1].share == 0.0  # at a limit is not above it
    assert found.calibration == pytest.approx((abs(1.0 - 0.5) + abs(1.8 - 1.0)) / 4)


def test_people_are_judged_by_weights() -> None:
    beliefs = np.array([[1.0, 0.0], [0.5, 0.5]])
    once = judged(beliefs, np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1]), [0.5])
    weighted = judged(beliefs, np.array([0, 1]), np.array([0, 1]), [0.5], np.array([3.0, 1.0]))

    assert (weighted.in_truth, weighted.right, weighted.above) == (once.in_truth, once.right, once.above)
    assert weighted.people == 4


# --- doors ------------------------------------------------------------------------------------------------------------


def test_values_that_the_release_does_not_show_have_no_weights_or_those_of_the_nearest_number() -> None:
    table = kifer()
    release = _published(table, gh.Mondrian(), gh.Boxes())
    voters = gh.read({"smokes": ["yes", "yes", "never said"], "height": [450, 4500, 450]}, quasi=["smokes", "height"])
    found = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=voters))

    assert found.present(0) > 0
    assert found.present(1) == found.present(2) == 0


def test_what_cannot_be_used_is_refused() -> None:
    table = kifer()
    release = _published(table, gh.Anatomize(), gh.Anatomy())
    names = ["smokes", "height"]
    bare = gh.read(
        {name: table.column(name).domain.decode(table.column(name).codes).to_pylist() for name in names}, quasi=names
    )
    with pytest.raises(gh.NotSupported, match="learns the prior probabilities from the release"):
        gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=table, corrupted={0: "flu"}))
    with pytest.raises(gh.InputError, match="the external table must be the table that was published"):
        gh.attack(release, gh.DeFinetti(control=table), knowledge=gh.Knowledge(external=bare))
    with pytest.raises(gh.InputError, match="the control table is the published table itself"):
        gh.attack(release, gh.DeFinetti(control=table), knowledge=gh.Knowledge(external=table))
    with pytest.raises(gh.SchemaError, match="the control table has no sensitive column"):
        gh.attack(release, gh.DeFinetti(control=bare), knowledge=gh.Knowledge(external=table))
    found = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=bare))
    assert "only be measured with the true values" in str(found)


def test_beliefs_that_are_not_to_be_taken_at_their_word_are_told() -> None:
    table = kifer()
    release = _published(table, gh.Anatomize(), gh.Anatomy())
    cost = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=table)).cost
    assert cost is not None
    for calibration in (0.09, 0.31):
        told = "\n".join(replace(cost, in_table=replace(cost.in_table, calibration=calibration)).lines())
        assert ("These probabilities are not reliable" in told) == (calibration > 0.1)


def test_a_release_without_quasi_identifiers_beside_values_is_refused() -> None:
    table = gh.read(SMALL, quasi=QUASI, sensitive="ill")
    release = _published(table, gh.Anatomize(), gh.Angel(k=3, marginals=(("age",), ("sex",))))
    with pytest.raises(gh.NotSupported, match="no table of the release links"):
        gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=table))


def test_dropped_people_are_believed_of_as_elsewhere() -> None:
    random, n = np.random.default_rng(3), 1200
    smokes = np.arange(n) % 2 == 0
    ill = np.where(smokes == (random.random(n) < 0.9), "flu", random.choice(list("abc"), n))
    ill[:80] = "flu"  # more than half of all
    rows = {"number": (np.arange(n) + n * smokes).tolist(), "smokes": smokes.tolist(), "ill": ill.tolist()}
    table = gh.read(rows, quasi=["number", "smokes"], sensitive="ill")
    release = gh.publish(
        table,
        principle=gh.LDiversity(ell=2),
        method=gh.Anatomize(),
        recoding=gh.Anatomy(),
        suppress="0.1",
        source=gh.Source.seeded(3),
    )
    found = gh.attack(release, gh.DeFinetti(), knowledge=gh.Knowledge(external=table))

    assert release.n_dropped > 0
    assert found.model == "learned"
    assert "records were left out" in found.notes[0]
    sure = [row for row in range(n) if found.of(row) == {"flu": 1.0} and "left out" in found.explain(row)]
    assert len(sure) == release.n_dropped


def test_progress_is_told_up_to_the_end() -> None:
    told: list[float] = []
    table = kifer()
    release = _published(table, gh.Anatomize(), gh.Anatomy())
    gh.attack(release, gh.DeFinetti(progress=told.append), knowledge=gh.Knowledge(external=table))

    assert told == sorted(told)
    assert told[-1] == 1.0


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, seed in (("inside", 1), ("outside", 2)):
        table = gh.read(drawn(1500, seed), quasi=["region", "job", "age"], sensitive="ill")
        columns = [*table.quasi, *table.sensitive]
        rows = {column.name: column.domain.decode(column.codes) for column in columns}
        pa_csv.write_csv(pa.table(rows), tmp_path / f"{name}.csv")
        del rows["ill"]
        pa_csv.write_csv(pa.table(rows), tmp_path / f"{name}-list.csv")
        if name == "inside":
            gh.publish(
                table,
                principle=gh.LDiversity(ell=2),
                method=gh.Anatomize(),
                recoding="anatomy",
                out=tmp_path / "out",
            )
    return tmp_path


def test_the_command_measures_where_true_values_are_and_believes_where_they_are_not(files: Path) -> None:
    def run(*arguments: str) -> Any:
        release = str(files / "out" / "release")
        return CliRunner().invoke(glasshouse, ["attack", release, "--attack", "definetti", *arguments])

    inside, outside = str(files / "inside.csv"), str(files / "outside.csv")
    measured = run("--external", inside, "--control", outside, "--json", "--save")
    assert measured.exit_code == 0, measured.output
    told = json.loads(measured.stdout)
    assert told["cost_of_presence"]["outsiders_are"] == "control"
    assert told["cost_of_presence"]["cost"] > 0.05
    assert json.loads((files / "out" / "audit" / "attack-definetti.json").read_text()) == told
    plain = run("--external", str(files / "inside-list.csv"))
    assert plain.exit_code == 0, plain.output
    assert "only be measured with the true values" in " ".join(plain.output.split())
    refused = run("--external", str(files / "inside-list.csv"), "--control", outside)
    assert refused.exit_code != 0
    assert "must be the table that was published" in " ".join(refused.output.split())
    assert run("--external", inside, "--fail-above", "1/2").exit_code == 1
