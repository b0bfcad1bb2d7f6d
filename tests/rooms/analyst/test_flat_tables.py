# SPDX-License-Identifier: Apache-2.0
"""Flat tables: complete tables drawn from what a release teaches agree with all that it says, and read nothing else."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.population.population import Drawn, Population

RECODINGS: dict[str, Any] = {
    "anatomy": gh.Anatomy(),
    "angel": gh.Angel(),
    "boxes": gh.Boxes(),
    "permutation": gh.Permutation(),
}


def people(n: int = 900, seed: int = 1) -> gh.Microdata:
    """People with a number of their own each, on which their value depends."""
    random = np.random.default_rng(seed)
    age = random.integers(20, 80, n)
    likely = np.where(age < 50, 0, 3)
    ill = (likely + np.where(random.random(n) < 0.7, random.integers(0, 3, n), random.integers(0, 6, n))) % 6
    columns = {"number": np.arange(n), "age": age, "ill": pa.array([f"value {code}" for code in ill])}
    return gh.read(columns, quasi=["number", "age"], sensitive="ill")


def published(recoding: str = "anatomy", **more: Any) -> gh.Release:
    source = gh.Source.seeded(3)
    return gh.publish(people(), principle=gh.LDiversity(ell=3), recoding=RECODINGS[recoding], source=source, **more)


def check_group_totals(release: gh.Release, drawn: pa.Table) -> None:
    """Every group has the values that were published for it: the numbers of people say who is in which."""
    qit, st = release.tables["qit"].to_pydict(), release.tables["st"].to_pydict()
    group_of = dict(zip(qit["number"], qit["Group-ID"], strict=True))
    expected = Counter({(g, v): n for g, v, n in zip(st["Group-ID"], st["ill"], st["Count"], strict=True)})
    found = Counter((group_of[row["number"]], row["ill"]) for row in drawn.to_pylist())
    assert expected == found


def test_every_group_of_an_anatomy_has_its_values_and_everybody_is_there_once() -> None:
    release = published()
    for drawn in gh.sample(release, tables=3):
        assert drawn.schema.metadata[b"glasshouse.model"] == b"learned"
        check_group_totals(release, drawn)
        exact = release.tables["qit"].select(["number", "age"]).to_pylist()
        shown = drawn.select(["number", "age"]).to_pylist()
        assert sorted(map(str, exact)) == sorted(map(str, shown))


def test_draws_that_ignore_the_groups_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_chances_alone(self: Population, random: np.random.Generator, weights: Any) -> Drawn:
        point = self.seen.draw(self.chances(), random)[0]
        sums = np.cumsum(self.regression.at_points(weights)[point], axis=1)
        code = (sums < random.random(len(point))[:, np.newaxis]).sum(axis=1)
        return Drawn(point, np.minimum(code, len(self.values) - 1).astype(np.int32))

    monkeypatch.setattr(Population, "drawn", by_chances_alone)
    release = published()
    with pytest.raises(AssertionError):
        check_group_totals(release, gh.sample(release))


@pytest.mark.parametrize("recoding", RECODINGS)
def test_every_value_occurs_as_often_as_it_was_published(recoding: str) -> None:
    release = published(recoding)
    truth = Counter(people().sensitive[0].domain.decode(people().sensitive[0].codes).to_pylist())
    for drawn in gh.sample(release, source=gh.Source.seeded(1), tables=2):
        assert drawn.schema.metadata[b"glasshouse.model"] == b"learned"
        assert drawn.column_names == ["number", "age", "ill"]
        assert truth == Counter(drawn["ill"].to_pylist())


def test_a_perturbed_sample_gives_a_row_for_everybody_and_values_of_the_domain() -> None:
    census = gh.synthetic.census(5_000, seed=1, sensitive="income")
    recoding = gh.Perturbed(p="0.5", domain=range(50))
    release = gh.publish(
        census, principle=gh.DeltaGrowth(k=4, lambda_="0.1"), recoding=recoding, source=gh.Source.seeded(1)
    )
    drawn = gh.sample(release, source=gh.Source.seeded(1))
    assert (drawn.num_rows, drawn.schema.metadata[b"glasshouse.model"]) == (5_000, b"uniform")
    assert set(drawn["income"].to_pylist()) <= set(range(50))


@pytest.mark.parametrize("recoding", ["anatomy", "angel"])
def test_nothing_but_the_release_is_read(tmp_path: Path, recoding: str) -> None:
    published(recoding, out=tmp_path / "here", allow_seed=True)
    release = gh.load(tmp_path / "here" / "release")
    shutil.copytree(tmp_path / "here" / "release", tmp_path / "elsewhere")
    shutil.rmtree(tmp_path / "here")
    again = gh.load(tmp_path / "elsewhere")
    drawn = gh.sample(release, source=gh.Source.seeded(5), tables=2)
    assert [
        a.equals(b) for a, b in zip(drawn, gh.sample(again, source=gh.Source.seeded(5), tables=2), strict=True)
    ] == [
        True,
        True,
    ]


def test_tables_differ_and_the_first_of_several_is_the_one_that_the_seed_gives_alone() -> None:
    release = published()
    alone, several = (
        gh.sample(release, source=gh.Source.seeded(7)),
        gh.sample(release, source=gh.Source.seeded(7), tables=3),
    )
    assert isinstance(several, list)
    assert several[0].equals(alone)
    assert several[1]["number"].to_pylist() != several[2]["number"].to_pylist() != several[0]["number"].to_pylist()
    assert not several[1].sort_by("number").equals(several[0].sort_by("number"))
    assert not several[1].sort_by("number").equals(several[2].sort_by("number"))
    assert not gh.sample(release).equals(gh.sample(release))


def test_rows_are_in_random_order() -> None:
    release = published()
    numbers = np.asarray(gh.sample(release, source=gh.Source.seeded(7))["number"])
    for order in (np.arange(900), release.tables["qit"]["number"].to_numpy()):
        place = np.argsort(order)[numbers]
        assert abs(np.corrcoef(place, np.arange(900))[0, 1]) < 0.12  # three and a half standard errors


def test_fewer_rows_are_chosen_without_replacement_and_more_are_drawn_with_it() -> None:
    release = published()
    fewer, more = gh.sample(release, 850)["number"].to_pylist(), gh.sample(release, 3_000)["number"].to_pylist()
    assert (len(fewer), len(set(fewer))) == (850, 850)
    assert len(more) == 3_000
    assert set(more) < set(range(900)) or set(more) == set(range(900))
    assert max(Counter(more).values()) > 4  # copies of everybody would have four at most
    assert gh.sample(release, 0).num_rows == 0
    assert gh.sample(release, 0).column_names == ["number", "age", "ill"]


def test_tables_scatter_about_the_answers_of_query_and_are_nearer_to_the_truth_than_independent_draws() -> None:
    release, table = published(method=gh.Anatomize()), people()
    asked = gh.query(release, "SELECT COUNT(*) WHERE age < 50 AND ill IN ('value 0', 'value 1', 'value 2')")

    def counted(drawn: pa.Table) -> int:
        ill = np.isin(np.array(drawn["ill"].to_pylist()), ["value 0", "value 1", "value 2"])
        return int((ill & (np.asarray(drawn["age"]) < 50)).sum())

    ill = table.sensitive[0].domain.decode(table.sensitive[0].codes)
    true = counted(pa.table({"age": table.quasi[1].domain.decode(table.quasi[1].codes), "ill": ill}))
    learned = np.array([counted(one) for one in gh.sample(release, source=gh.Source.seeded(1), tables=40)])
    uniform = [counted(one) for one in gh.sample(release, source=gh.Source.seeded(1), tables=40, model="uniform")]
    error = learned.std(ddof=1) / 40**0.5
    assert abs(learned.mean() - float(asked)) < 4 * error + 0.02 * true
    assert abs(learned.mean() - true) < abs(np.mean(uniform) - true) / 3


def test_the_weights_of_the_model_are_drawn_anew_for_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fitted weights alone the tables would agree too well: what is not known of the model would be missing."""
    release = published(method=gh.Mirror(start="1.75"))

    def spread() -> float:
        tables = gh.sample(release, source=gh.Source.seeded(1), tables=60)
        found = [[(np.asarray(t["age"]) < 50)[np.array(t["ill"].to_pylist()) == "value 0"].sum()] for t in tables]
        return float(np.std(found))

    full = spread()
    monkeypatch.setattr(Population, "more_deviations", lambda self, n, _: np.zeros((n, *self.regression.shape)))
    assert spread() < 0.8 * full


def test_where_nothing_is_learned_tuples_are_drawn_one_by_one() -> None:
    few = gh.publish(gh.examples.anatomy_table1(), principle=gh.LDiversity(ell=2), source=gh.Source.seeded(1))
    drawn, plain = (gh.sample(few, source=gh.Source.seeded(1), model=model) for model in ("learned", "uniform"))
    assert drawn.equals(plain)
    assert drawn.schema.metadata[b"glasshouse.model"] == b"uniform"


def test_columns_that_were_named_need_no_note() -> None:
    drawn = gh.sample(published(), attributes=["age"])
    assert (drawn.column_names, b"glasshouse.notes" in drawn.schema.metadata) == (["age"], False)


def test_what_cannot_be_drawn_is_refused() -> None:
    release = published()
    for wrong in (0, -1, True, 1.5):
        with pytest.raises(gh.ParameterError, match="tables"):
            gh.sample(release, tables=wrong)  # type: ignore[call-overload]
    with pytest.raises(gh.ParameterError, match="'learned' or 'uniform'"):
        gh.sample(release, model="guessed")
