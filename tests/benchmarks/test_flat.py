"""What flat tables of any tool are measured and attacked by."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from benchmarks.flat import attacks, measures, page
from benchmarks.flat.people import TABLES, People, divided, plain

from glasshouse.analyst.usefulness.workloads import Workload


def people(published: pd.DataFrame, control: pd.DataFrame | None = None) -> People:
    control = published if control is None else control
    both = pd.concat([published, control])
    return People(
        name="a few",
        published=published,
        control=control,
        others=None,
        quasi=list(published.columns[:-1]),
        numbers=["age"],
        sensitive=published.columns[-1],
        domains={name: sorted(both[name].unique().tolist()) for name in both.columns},
    )


DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
FOUR = pd.DataFrame({"age": [20, 30, 40, 60], "sex": ["F", "M", "F", "M"], "ill": ["flu", "cold", "flu", "gout"]})
DEPENDENT = pd.DataFrame(
    {"age": [20, 30, 40, 60] * 50, "sex": list("FMFM") * 50, "ill": ["flu", "cold", "flu", "gout"] * 50}
)


# --- people -----------------------------------------------------------------------------------------------------------


def test_nobody_is_published_and_in_the_control_or_among_the_others() -> None:
    frame = pd.DataFrame({"age": range(100), "ill": ["flu", "cold"] * 50})
    found = divided(frame, name="", numbers=["age"], rows=30, seed=1)
    assert found.others is not None

    ages = [set(part["age"]) for part in (found.published, found.control, found.others)]
    assert [len(part) for part in ages] == [30, 25, 30]
    assert len(set.union(*ages)) == 85


def test_without_a_number_all_but_the_control_are_published_and_there_are_no_others() -> None:
    frame = pd.DataFrame({"age": range(100), "ill": ["flu", "cold"] * 50})
    found = divided(frame, name="", numbers=["age"], rows=None, seed=1)

    assert (len(found.published), len(found.control), found.others) == (70, 30, None)


def test_rows_with_empty_cells_are_left_out_and_numbers_are_whole() -> None:
    told = pd.DataFrame({"ill": ["flu", None, "cold"], "age": [20.4, 30.0, 39.6], "sex": ["F", "M", "M"], "more": 1})
    found = people(FOUR).tidy(told)

    assert found.to_dict("list") == {"age": [20, 40], "sex": ["F", "M"], "ill": ["flu", "cold"]}


def test_a_flat_table_without_a_column_is_refused() -> None:
    with pytest.raises(ValueError, match="has no column ill"):
        people(FOUR).tidy(FOUR.drop(columns="ill"))


def test_codes_that_are_names_become_texts() -> None:
    found = plain(pd.DataFrame({"age": [20, 30], "job": [7, 12]}), ["age"])

    assert found.to_dict("list") == {"age": [20, 30], "job": ["c7", "c12"]}


@pytest.mark.parametrize("name", ["adult", "census"])
def test_real_tables_have_no_empty_cells_and_the_sensitive_column_last(name: str) -> None:
    if not DATA.exists():
        pytest.skip("the real tables are not beside the project")
    found = TABLES[name](DATA, 300, 0)

    assert found.tidy(found.published).equals(found.published)
    assert found.columns == list(found.published.columns)
    assert (len(found.published), found.numbers) == (300, ["age"])


# --- usefulness -------------------------------------------------------------------------------------------------------


def test_counts_are_those_by_hand() -> None:
    asked = Workload(
        domains={"age": (20, 30, 40, 60), "sex": ("F", "M"), "ill": ("cold", "flu", "gout")},
        wanted=(
            np.array([[True, True, True, False], [True] * 4]),
            np.array([[True, False], [False, True]]),
            np.array([[False, True, False], [True] * 3]),
        ),
        name="",
    )
    strange = FOUR.assign(age=[20, 99, 40, 60])

    assert measures.counts(FOUR, asked).tolist() == [2, 2]
    assert measures.counts(strange.assign(sex="F", ill="flu"), asked).tolist() == [2, 0]
    assert measures.counts(strange, asked).tolist() == [2, 2]  # an age that nobody has is covered where any age is


def test_the_true_table_errs_in_nothing_in_any_order_and_written_twice() -> None:
    twice = pd.concat([DEPENDENT, DEPENDENT]).sample(frac=1, random_state=1)
    found = measures.usefulness(twice.reset_index(drop=True), people(DEPENDENT), seed=0)

    assert [found[name] for name in ("transparent", "anatomy", "everyday", "group_by")] == pytest.approx([0] * 4)
    assert found["accuracy"] == 1.0


def test_shuffled_columns_err_in_everything() -> None:
    rng = np.random.default_rng(0)
    shuffled = pd.DataFrame({name: rng.permutation(column.to_numpy()) for name, column in DEPENDENT.items()})
    found = measures.usefulness(shuffled, people(DEPENDENT), seed=0)

    assert min(found[name] for name in ("transparent", "anatomy", "everyday")) > 0.2
    assert found["group_by"] > 0.03
    assert found["accuracy"] < 0.8


def test_group_by_errs_as_by_hand() -> None:
    moved = FOUR.assign(ill=["gout", "cold", "flu", "gout"])

    # one of four people moved: two cells are wrong by a quarter, of 4 x 3 by age and of 2 x 3 by sex
    assert measures.group_by_error(moved, people(FOUR)) == pytest.approx((0.5 / 12 + 0.5 / 6) / 2)


def test_everyday_questions_have_one_to_three_conditions_and_a_value_and_are_the_same_for_a_seed() -> None:
    frame = DEPENDENT.assign(place=list("abcde") * 40)[["age", "sex", "place", "ill"]]
    asked, again = (measures.everyday(people(frame), 3, n=50) for _ in range(2))
    found = [asked.condition(i) for i in range(50)]

    assert found == [again.condition(i) for i in range(50)]
    assert all(len(condition["ill"]) == 1 for condition in found)
    assert all(len(condition.get("sex", "F")) == 1 for condition in found)
    assert {len(condition) - 1 for condition in found} <= {0, 1, 2, 3}  # a range may cover every age
    assert {len(condition) - 1 for condition in found} >= {1, 2, 3}


def test_a_flat_table_with_one_value_is_scored_and_a_surprise_costs_no_more_than_it_may() -> None:
    accuracy, loss = measures.classified(DEPENDENT.assign(ill="gout"), people(DEPENDENT))

    assert accuracy == 0.25
    assert loss == pytest.approx(0.75 * -np.log(measures.LEAST), abs=0.01)


def test_a_classifier_may_meet_values_in_people_that_it_never_saw_in_the_table() -> None:
    seen = DEPENDENT[DEPENDENT["age"] < 60].reset_index(drop=True)
    accuracy, loss = measures.classified(seen, people(DEPENDENT))

    assert accuracy == 0.75
    assert 0.25 * -np.log(measures.LEAST) == pytest.approx(loss, abs=0.1)


# --- attacks ----------------------------------------------------------------------------------------------------------


def test_the_value_of_the_nearest_rows_is_guessed_and_of_equally_near_ones_the_most_frequent() -> None:
    flat = pd.DataFrame({"age": [20, 20, 20, 60], "sex": ["F"] * 3 + ["M"], "ill": ["cold", "flu", "flu", "gout"]})
    right = attacks.guesses(flat, FOUR, people(FOUR))

    # the man of 30 is three quarters of the range from the man of 60, and a quarter and the sex from the women of 20
    assert right.tolist() == [True, False, True, True]
    assert attacks.guesses(FOUR, FOUR, people(FOUR)).all()


def test_a_member_of_the_true_table_is_at_no_distance_and_others_are_by_hand() -> None:
    away = FOUR.assign(age=[30, 40, 40, 60], ill=["flu", "cold", "flu", "flu"])

    assert attacks.nearest(FOUR, FOUR, people(FOUR)).tolist() == [0, 0, 0, 0]
    assert attacks.nearest(FOUR, away, people(FOUR)) == pytest.approx([0.25, 0.25, 0, 1])


def test_members_are_told_from_others_by_the_true_table_and_not_by_a_strange_one() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(0, 10_000, 900), "sex": rng.choice(list("FM"), 900), "ill": rng.choice(list("abc"), 900)}
    )
    halves = [frame.iloc[i : i + 300].reset_index(drop=True) for i in (0, 300, 600)]
    known = people(halves[0], halves[1])

    true, strange = (attacks.attacked(flat, known, 0) for flat in (halves[0], halves[2]))
    assert true["membership"] > 0.95
    assert true["guessed_members"] - true["guessed_control"] > 0.5
    assert strange["membership"] == pytest.approx(0.5, abs=0.06)
    assert strange["guessed_members"] == pytest.approx(strange["guessed_control"], abs=0.1)


def test_separation_counts_ties_by_halves() -> None:
    assert attacks.separation(np.zeros(3), np.zeros(5)) == 0.5
    assert attacks.separation(np.zeros(3), np.ones(5)) == 1.0


# --- the page ---------------------------------------------------------------------------------------------------------


def row(**more: Any) -> dict[str, Any]:
    useful = dict.fromkeys(("transparent", "anatomy", "everyday", "group_by", "accuracy", "log_loss"), 0.25)
    attack = {"guessed_members": 0.5, "guessed_control": 0.25, "membership": 0.5}
    found = {"risk": 0.125, "interval": [0.0, 0.25]}
    judge = {"singling_out": found, "linkability": {"failed": "no"}, "inference": found}
    return {
        "name": "tool",
        "promise": "nothing",
        "cpu": 12.3,
        "usefulness": useful,
        "attacks": attack,
        "anonymeter": judge,
        **more,
    }


def test_every_row_of_the_page_has_as_many_cells_as_there_are_heads() -> None:
    failed = {"name": "other", "promise": "nothing", "failed": "over 180 s"}
    lines = page.page([row(), row(cpu=None), row(anonymeter={"failed": "not installed"}), failed]).splitlines()

    assert {line.count("|") for line in lines} == {len(page.HEADS) + 1}
    assert lines[2].startswith("| tool | nothing | 12 s | 0.250 |")
    assert lines[2].endswith("| 0.12 (0.00, 0.25) | no answer | 0.12 (0.00, 0.25) |")
    assert "| not judged |" in lines[4]
    assert lines[5].startswith("| other | nothing | over 180 s |")


def test_bins_of_numbers_end_so_that_every_value_is_drawn_from_its_own_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    from benchmarks.flat.runners.contingency import ends

    for low, high in ((17, 90), (0, 1), (5, 9), (0, 100)):
        found = ends([low, high])
        assert found == sorted(set(found))
        assert (found[0], found[-1]) == (low, high - 1)
