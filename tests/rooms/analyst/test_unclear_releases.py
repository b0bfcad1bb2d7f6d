# SPDX-License-Identifier: Apache-2.0
"""Where a release does not show clearly how values depend on other columns, intervals say that they may."""

from __future__ import annotations

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.analyst.answers.estimates import Estimate
from glasshouse.analyst.statistics.composite import _share

SHARE = "SELECT AVG(CASE WHEN region = 'S' THEN 1 ELSE 0 END) WHERE race = 'b'"
COUNT = "SELECT COUNT(*) WHERE region = 'S' AND race = 'b'"


def lived(*, dependent: bool) -> dict[str, np.ndarray]:
    """Black people live in the south more often than others, or equally often; of four regions groups have three."""
    random = np.random.default_rng(1)
    race = random.choice(["w", "b", "o"], 20_000, p=[0.8, 0.12, 0.08])
    of_all = random.choice(list("SNWO"), 20_000, p=[0.3, 0.25, 0.24, 0.21])
    own = random.choice(list("SNWO"), 20_000, p=[0.55, 0.2, 0.1, 0.15])
    return {
        "race": race,
        "age": random.integers(18, 80, 20_000),
        "region": np.where((race == "b") & dependent, own, of_all),
    }


@pytest.fixture(scope="module", params=["angel", "anatomy"])
def unclear(request: pytest.FixtureRequest) -> tuple[gh.Release, dict[str, np.ndarray]]:
    columns = lived(dependent=True)
    table = gh.read(columns, quasi=["race", "age"], sensitive="region")
    recoding = gh.Angel(k=3) if request.param == "angel" else gh.Anatomy()
    for seed in range(1, 9):
        release = gh.publish(table, principle=gh.LDiversity(3), recoding=recoding, source=gh.Source.seeded(seed))
        if gh.learn(release).is_unclear:
            return release, columns
    pytest.fail("all releases show clearly how the region depends on the race")


def test_an_unclear_release_has_intervals_that_contain_what_it_leaves_open(
    unclear: tuple[gh.Release, dict[str, np.ndarray]],
) -> None:
    release, columns = unclear
    black, south = columns["race"] == "b", columns["region"] == "S"
    for question, truth in ((SHARE, south[black].mean()), (COUNT, (south & black).sum())):
        found = gh.query(release, question)
        low, high = found.interval
        assert low < truth < high, question
        assert found.value < low + 0.7 * (high - low)
        assert any("the intervals allow for what it leaves open" in note for note in found.notes)


def test_estimates_of_an_unclear_release_are_those_of_the_papers(
    unclear: tuple[gh.Release, dict[str, np.ndarray]],
) -> None:
    release, _ = unclear
    found = gh.query(release, COUNT).value
    assert found == pytest.approx(gh.query(release, COUNT, model="uniform").value, rel=0.02)


def test_a_release_that_shows_that_nothing_depends_has_narrower_intervals(
    unclear: tuple[gh.Release, dict[str, np.ndarray]],
) -> None:
    release, _ = unclear
    alone = gh.read(lived(dependent=False), quasi=["race", "age"], sensitive="region")
    same = gh.publish(alone, principle=gh.LDiversity(2), recoding=gh.Anatomy(), source=gh.Source.seeded(1))
    assert gh.query(same, SHARE).error < gh.query(release, SHARE).error / 2


def test_a_saved_model_of_an_unclear_release_gives_the_same_intervals(
    unclear: tuple[gh.Release, dict[str, np.ndarray]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    release, _ = unclear
    file, found = tmp_path_factory.mktemp("model") / "model.json", gh.query(release, COUNT).interval
    gh.learn(release).save(file)
    again = gh.Release(**{name: getattr(release, name) for name in release.__dataclass_fields__ if name[0] != "_"})
    assert gh.learn(again, keep=file).is_unclear
    assert gh.query(again, COUNT).interval == found


def test_a_share_is_not_more_certain_because_its_parts_and_the_whole_come_from_different_models() -> None:
    parts = Estimate.normal(40.0, 70.0), Estimate.normal(140.0, 300.0)
    apart = _share(*parts, Estimate.normal(180.0, 370.0))
    whole = _share(*parts, Estimate.normal(180.0, 730.0))
    assert whole.error == pytest.approx(apart.error)
    assert _share(*parts, Estimate.normal(180.0, 0.0)).error > apart.error
