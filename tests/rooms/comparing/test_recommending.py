# SPDX-License-Identifier: Apache-2.0
"""What is recommended: enough is promised first, and only then accuracy counts."""

from __future__ import annotations

from typing import Any

from glasshouse.comparing.comparison import Row
from glasshouse.comparing.recommendation import recommend

USUAL = ("mirror", "angel")


def row(method: str, recoding: str, error: float | None, **more: Any) -> Row:
    known: dict[str, Any] = {
        "adversary": "algorithm-aware",
        "promise": "l-diversity",
        "belief": 0.5,
        "how": "bound",
        "limit": "1/2",
        "baseline": 0.2,
        "shows_presence": recoding == "anatomy",
    }
    return Row(method=method, recoding=recoding, error=error, **(known | more))


def chosen(*rows: Row, presence: str = "secret") -> str | None:
    found = recommend(rows, preferred=USUAL, presence=presence).row
    return None if found is None else found.way


def test_what_holds_against_an_attacker_who_knows_the_algorithm_goes_before_accuracy() -> None:
    assert (
        chosen(row("mondrian", "angel", 0.01, adversary="linking"), row("hybrid", "angel", 0.05)) == "hybrid as angel"
    )


def test_of_ways_that_hold_the_most_accurate_is_taken_whatever_the_default_is() -> None:
    assert chosen(row("mirror", "angel", 0.05), row("hybrid", "boxes", 0.03)) == "hybrid as boxes"


def test_among_ways_that_are_nearly_equal_the_default_method_is_taken_and_then_the_default_recoding() -> None:
    ways = [row("hybrid", "boxes", 0.030), row("mirror", "boxes", 0.031), row("mirror", "angel", 0.0325)]

    assert chosen(*ways) == "mirror as angel"
    assert chosen(*ways[:2]) == "mirror as boxes"


def test_a_method_that_ties_its_groups_is_recommended_only_if_no_other_holds() -> None:
    tied, other = row("hybrid", "angel", 0.01, ties_groups=True), row("anatomize", "angel", 0.05)

    assert chosen(tied, other) == "anatomize as angel"
    reason = recommend([tied, other], preferred=USUAL).reason
    assert "Ways whose groups depend on each other were set aside" in reason
    assert "It is the only way left; its mean error is 5.0%" in reason
    assert chosen(tied, row("mondrian", "angel", 0.005, adversary="linking")) == "hybrid as angel"


def test_exact_quasi_identifiers_are_recommended_only_if_it_is_no_secret_who_is_in_the_table() -> None:
    ways = [row("mirror", "anatomy", 0.02), row("mirror", "angel", 0.04)]

    assert chosen(*ways) == "mirror as angel"
    assert chosen(*ways, presence="public") == "mirror as anatomy"
    assert "If it is not secret" in " ".join(recommend(ways, preferred=USUAL).notes)
    assert "can see whether the person is in the table" in " ".join(
        recommend(ways, preferred=USUAL, presence="public").notes
    )


def test_a_way_that_an_attack_broke_is_not_recommended_whatever_it_claims() -> None:
    broken = row("mirror", "angel", 0.01, belief=0.7, how="exact")

    assert chosen(broken, row("hybrid", "angel", 0.05)) == "hybrid as angel"


def test_a_sampled_belief_within_its_error_breaks_nothing() -> None:
    sampled = row("mirror", "angel", 0.01, belief=0.51, belief_error=0.02, how="sampled")

    assert chosen(sampled, row("hybrid", "angel", 0.05)) == "mirror as angel"


def test_what_failed_or_was_not_measured_is_not_recommended() -> None:
    assert chosen(row("mirror", "angel", None), row("hybrid", "angel", 0.01, failed="why")) is None


def test_where_nothing_holds_against_the_attacker_the_reason_says_so() -> None:
    found = recommend([row("mondrian", "boxes", 0.02, adversary="linking", belief=None)], preferred=USUAL)

    assert found.row is not None
    assert "none of the ways protects against an attacker who knows the algorithm" in found.reason


def test_the_reason_has_the_promise_the_error_the_rival_and_no_link() -> None:
    rows = [
        row("mirror", "angel", 0.04),
        row("hybrid", "angel", 0.08),
        row("mondrian", "angel", 0.09, adversary="linking"),
    ]
    found = recommend(rows, preferred=USUAL)

    assert found.reason.endswith(".")
    assert found.reason.count(". ") == 1  # two sentences
    for said in (
        "protects against an attacker who knows the algorithm",
        "is at most 0.5",
        "4.0%",
        "hybrid as angel",
        "8.0%",
        "20.0%",
    ):
        assert said in found.reason
    assert "mondrian as angel does not protect" in " ".join(found.notes)


def test_an_error_no_better_than_without_a_link_is_pointed_out() -> None:
    assert "no more accurate than two tables" in " ".join(
        recommend([row("mirror", "angel", 0.3)], preferred=USUAL).notes
    )


def test_a_way_that_costs_people_much_is_set_aside_if_another_one_spares_it_at_twice_the_error() -> None:
    costly = row("mirror", "anatomy", 0.04, cost=0.25, cost_error=0.01)
    mild = row("mirror", "angel", 0.08, cost=0.05, cost_error=0.01)
    useless = row("separate", "boxes", 0.2, cost=0.0, cost_error=0.0)

    assert chosen(costly, mild, useless, presence="public") == "mirror as angel"
    said = recommend([costly, mild, useless], preferred=USUAL, presence="public")
    assert "guesses right for 5.0 more if they are in the table" in said.reason
    assert "gains much more than from another way" in said.reason
    assert "Of the 2 ways that are left, it gives the best answers" in said.reason
    assert said.notes[0] == (
        "mirror as anatomy has a smaller mean error, 4.0%, but it was not chosen: of 100 people, an attacker who "
        "learns a model from the release guesses right for 25.0 more if they are in the table than if they are not."
    )
    assert chosen(costly, useless, presence="public") == "mirror as anatomy"  # the error would be five times as large
    dearer = row("mirror", "angel", 0.081, cost=0.05, cost_error=0.01)
    assert chosen(costly, dearer, presence="public") == "mirror as anatomy"


def test_a_cost_counts_only_beyond_chance_and_where_it_is_known() -> None:
    mild = row("mirror", "angel", 0.06, cost=0.05, cost_error=0.03)
    for cost, error in ((0.2, 0.03), (None, None), (0.14, 0.0)):
        costly = row("hybrid", "boxes", 0.04, cost=cost, cost_error=error)
        assert chosen(costly, mild) == "hybrid as boxes"
    assert chosen(row("hybrid", "boxes", 0.04, cost=0.22, cost_error=0.03), mild) == "mirror as angel"


def test_differences_that_nobody_would_notice_do_not_count() -> None:
    assert chosen(row("hybrid", "boxes", 0.004), row("mirror", "angel", 0.006)) == "mirror as angel"
    assert chosen(row("hybrid", "boxes", 0.004), row("mirror", "angel", 0.007)) == "hybrid as boxes"


def notes(*rows: Row) -> str:
    return " ".join(recommend(rows, preferred=USUAL).notes)


def test_a_recommendation_that_a_single_run_would_overturn_says_so_and_names_the_other_way() -> None:
    steady = row("mirror", "angel", 0.04, errors=(0.04, 0.04, 0.04))
    close = row("hybrid", "boxes", 0.05, errors=(0.06, 0.02, 0.07))

    assert chosen(steady, close) == "mirror as angel"
    assert "not certain" in notes(steady, close)
    assert "hybrid as boxes in run 2)" in notes(steady, close)


def test_a_recommendation_on_which_all_runs_agree_is_not_called_uncertain() -> None:
    best = row("mirror", "angel", 0.04, errors=(0.03, 0.05, 0.04))

    assert "certain" not in notes(best, row("hybrid", "boxes", 0.08, errors=(0.06, 0.10, 0.08)))


def test_a_way_that_no_choice_allows_overturns_nothing() -> None:
    best = row("mirror", "angel", 0.04, errors=(0.04, 0.04))

    assert "certain" not in notes(best, row("mondrian", "boxes", 0.01, errors=(0.01, 0.01), adversary="linking"))


def test_of_a_single_run_it_is_told_that_chance_may_have_decided() -> None:
    assert "only once" in notes(row("mirror", "angel", 0.04, errors=(0.04,)))
    assert "once" not in notes(row("mirror", "angel", 0.04))  # how often it was run is not known
