"""A trial shows of every person the rows that the release has of them: all people together, exactly its rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.journeys.trial import Cell, Trial, draw_trial

N = 240
AGES = gh.Taxonomy.intervals(width=10)


def patients(**more: Any) -> gh.Microdata:
    table = gh.synthetic.hospital_table(n=N, seed=1)
    roles: dict[str, Any] = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease", "identifier": "patient"}
    return gh.read(table, **{**roles, **more})


def rows_of(trial: Trial, name: str) -> tuple[tuple[str, ...], list[tuple[Cell, ...] | None]]:
    (found,) = [seen for seen in trial.seen(range(N)) if seen.name == name]
    return found.columns, list(found.rows)


@pytest.mark.parametrize(
    ("recoding", "table"),
    [
        ({"name": "boxes"}, "data"),
        ({"name": "taxonomies"}, "data"),
        ({"name": "angel"}, "gt"),
        ({"name": "angel", "marginals": [["age", "disease"], ["sex", "zipcode"]]}, "gt_2"),
        ({"name": "anatomy"}, "qit"),
    ],
)
@pytest.mark.parametrize("suppressed", [False, True])
def test_all_people_together_have_exactly_the_published_rows(
    recoding: dict[str, Any], table: str, suppressed: bool
) -> None:
    microdata = patients(taxonomies={"age": AGES})
    how = {"principle": "12-diversity", "suppress": "1/2"} if suppressed else {"principle": "3-diversity"}
    trial = draw_trial(microdata, **how, recoding=recoding, source=gh.Source.seeded(1))

    columns, rows = rows_of(trial, table)
    published = trial.release.tables[table]

    assert tuple(published.column_names) == columns
    assert rows.count(None) == trial.release.n_dropped
    assert (trial.release.n_dropped > 0) == suppressed
    seen = Counter(tuple(cell.text for cell in row) for row in rows if row is not None)
    assert seen == Counter(tuple(map(str, row.values())) for row in published.to_pylist())


def test_what_is_counted_by_group_is_what_the_release_counts() -> None:
    trial = draw_trial(patients(), principle="3-diversity", source=gh.Source.seeded(1))
    counts: dict[str, dict[str, int]] = {}
    for row in trial.release.tables["bt"].to_pylist():
        counts.setdefault(str(row["Batch-ID"]), {})[row["disease"]] = row["Count"]

    columns, rows = rows_of(trial, "bt")

    assert columns == ("Batch-ID", "disease")
    for number, cell in filter(None, rows):
        own = sorted(counts[number.text].items(), key=lambda each: (-each[1], each[0]))
        more = [f"{len(own) - 6} more values"] if len(own) > 6 else []
        assert cell == Cell(", ".join([*(f"{value}: {count}" for value, count in own[:6]), *more]), "counted")


def test_a_cell_says_whether_it_is_the_value_itself() -> None:
    trial = draw_trial(patients(), principle="3-diversity", recoding="boxes", source=gh.Source.seeded(1))
    columns, rows = rows_of(trial, "data")

    for own, row in zip(trial.before(range(N)), rows, strict=True):
        assert row is not None
        for value, cell in zip(own, row, strict=True):
            assert (cell.kind == "same") == (cell.text == value)
    assert {cell.kind for row in rows if row is not None for cell in row} == {"same", "coarser"}
    assert columns == ("age", "sex", "zipcode", "disease")


def test_values_that_changed_places_and_values_by_chance_are_said_to_be_so() -> None:
    moved = draw_trial(patients(), principle="3-diversity", recoding="permutation")
    diseases = sorted(set(gh.synthetic.hospital_table(n=N, seed=1)["disease"].to_pylist()))
    drawn = draw_trial(
        patients(),
        principle=gh.RhoBreach(rho1="0.2", rho2="0.5", k=6, lambda_="0.1"),
        recoding=gh.Perturbed(domain=diseases),
    )

    assert [cell.kind for cell in rows_of(moved, "data")[1][0] or ()] == ["same"] * 3 + ["number", "counted"]
    columns, rows = rows_of(drawn, "data")
    assert {row[-1].kind for row in rows if row is not None} == {"random"}
    boxes = Counter(tuple(cell.text for cell in row[:4]) for row in rows if row is not None)
    published = drawn.release.tables["data"].select(list(columns[:4])).to_pylist()
    assert {tuple(map(str, row.values())): int(row["G"]) for row in published} == boxes
