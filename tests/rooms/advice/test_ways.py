# SPDX-License-Identifier: Apache-2.0
"""Ways out in Python: an error offers calls, each of which publishes what it promises."""

from __future__ import annotations

import random
import traceback
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.catalog import principle_of
from glasshouse.grouping.suppression import keep_eligible
from glasshouse.journeys.advice.sketch import Sketch
from glasshouse.journeys.advice.ways import Way, as_asked, ways_out, with_room
from glasshouse.policy.first_choices import first_choices
from glasshouse.randomness import Source

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")


def table_of(**sensitive: list[Any]) -> gh.Microdata:
    n = len(next(iter(sensitive.values())))
    draw = random.Random(3)
    quasi = {"age": [draw.randint(20, 70) for _ in range(n)], "sex": [draw.choice("FM") for _ in range(n)]}
    return gh.read({**quasi, **sensitive}, quasi=["age", "sex"], sensitive=list(sensitive), missing="category")


def published(way: Way, table: gh.Microdata) -> gh.Release:
    """Run the call of a way as it stands there."""
    made = eval(way.call, {"gh": gh, "table": table})
    assert isinstance(made, gh.Release)
    return made


def check_way(way: Way, table: gh.Microdata) -> None:
    release = published(way, table)
    assert repr(principle_of(release.recipe)) == repr(way.principle)
    assert release.n_dropped == way.n_left_out
    assert gh.verify(release).holds


def test_an_uncaught_error_shows_the_calls_and_they_publish() -> None:
    table = table_of(hiv=["no"] * 90 + ["yes"] * 10)
    with pytest.raises(gh.Infeasible) as refused:
        gh.publish(table, principle=gh.LDiversity(3))

    shown = "".join(traceback.format_exception(refused.value))
    assert {way.name for way in refused.value.ways} == {"designated", "closeness", "alpha", "perturbed", "suppress"}
    for way in refused.value.ways:
        assert way.call in shown
        assert way.cost in shown
        check_way(way, table)


def test_leaving_people_out_is_offered_only_where_every_draw_works_and_somebody_is_left() -> None:
    draw = random.Random(7)
    values = {name: [draw.choices(["no", "yes"], [7, 3])[0] for _ in range(300)] for name in ("smokes", "drinks")}
    table = table_of(**values)
    sketch = Sketch.of(table)
    kept = [keep_eligible(sketch.kinds, gh.LDiversity(2), "0.999", Source.seeded(seed)) for seed in range(10, 60)]
    needed = {300 - int(one.sum()) for one in kept}
    assert len(needed) > 1  # it depends on who is drawn
    (way,) = [one for one in ways_out(sketch, gh.LDiversity(2)) if one.name == "suppress"]
    assert max(needed) <= way.suppress * 300
    assert gh.verify(published(way, table)).holds
    few = table_of(**{name: ["no"] * 290 + ["yes"] * 10 for name in values})
    assert "suppress" not in {one.name for one in ways_out(Sketch.of(few), gh.LDiversity(2))}


def test_of_several_columns_each_gets_what_it_can_keep() -> None:
    draw = random.Random(5)
    table = table_of(ill=[draw.choice("abcdef") for _ in range(90)], hiv=["no"] * 80 + ["yes"] * 10)
    with pytest.raises(gh.Infeasible) as refused:
        gh.publish(table, principle=gh.LDiversity(3))

    ways = {way.name: way for way in refused.value.ways}
    assert isinstance(ways["by-column"].principle, Mapping)
    assert [type(one) for one in ways["by-column"].principle.values()] == [gh.LDiversity, gh.TCloseness]
    assert ways["without-column"].sensitive == ("ill",)
    for name, way in ways.items():
        if name != "without-column":  # another table must be read for that
            check_way(way, table)


@settings(deadline=None, max_examples=25)
@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    missing=st.integers(0, 5),
    ell=st.integers(2, 6),
)
def test_every_way_of_every_table_succeeds(counts: list[int], missing: int, ell: int) -> None:
    values: list[str | None] = [f"v{i}" for i, count in enumerate(counts) for _ in range(count)]
    values += [None] * missing
    table = table_of(value=values)
    try:
        gh.publish(table, principle=gh.LDiversity(ell))
    except gh.Infeasible as refused:
        for way in refused.ways:
            if way.sensitive is None:
                check_way(way, table)


def test_what_a_way_costs_is_counted() -> None:
    ways = {w.name: w for w in ways_out(Sketch.of(table_of(hiv=["no"] * 80 + ["yes"] * 20)), gh.LDiversity(2))}

    assert ways["suppress"].n_left_out == 60
    assert ways["suppress"].suppress == Fraction(6, 10)
    assert "60 of 100 records (60 %)" in ways["suppress"].cost
    assert "80 of 100 records have" in ways["designated"].cost
    assert "at least 5 records, and more where 'no' is more frequent" in ways["alpha"].cost
    assert "at most 40 % of the records of a group" in ways["closeness"].promise
    assert "At most 16 of 100 records" in ways["perturbed"].cost


@pytest.mark.parametrize(("n_yes", "ell"), [(16, 5), (19, 4), (40, 2), (41, None)])
def test_designated_values_are_offered_with_room_to_divide_groups(n_yes: int, ell: int | None) -> None:
    table = table_of(hiv=["no"] * (100 - n_yes) + ["yes"] * n_yes)
    ways = {way.name: way for way in ways_out(Sketch.of(table), gh.LDiversity(2))}

    expected = None if ell is None else gh.DesignatedLDiversity(ell=ell, values=("yes",))
    assert (ways["designated"].principle if "designated" in ways else None) == expected


def test_a_nearest_promise_of_the_same_kind_is_offered_first() -> None:
    table = table_of(ill=[*"aaabbbcccdde"] * 6)
    with pytest.raises(gh.Infeasible) as refused:
        gh.publish(table, principle=gh.LDiversity(5))

    assert refused.value.ways[0].principle == gh.LDiversity(4)
    assert [way.name for way in refused.value.ways] == ["nearest", "suppress"]
    for way in refused.value.ways:
        check_way(way, table)


def test_a_call_holds_strange_values_as_python_writes_them() -> None:
    table = table_of(ill=["no"] * 40 + ['it\'s "bad"'] * 10)
    with pytest.raises(gh.Infeasible) as refused:
        gh.publish(table, principle=gh.LDiversity(2))

    for way in refused.value.ways:
        check_way(way, table)


def test_t_closeness_of_two_columns_is_published_from_batches(tmp_path: Any) -> None:
    from glasshouse.streaming.publish import publish_file

    draw = random.Random(1)
    rows = [f"{draw.randint(20, 70)},{draw.choice('abcdefgh')},{'yes' if i % 9 else 'no'}" for i in range(200)]
    (tmp_path / "people.csv").write_text("\n".join(["age,ill,hiv", *rows]) + "\n")
    made = publish_file(
        tmp_path / "out",
        tmp_path / "people.csv",
        quasi=["age"],
        sensitive=["ill", "hiv"],
        principle=gh.TCloseness("0.2"),
    )

    assert made.n_tuples == 200
    assert gh.verify(tmp_path / "out").holds


@pytest.mark.parametrize(("n_no", "alpha"), [(55, "0.75"), (83, "0.95"), (96, "0.98"), (99, "0.995")])
def test_alpha_leaves_room_above_the_largest_share(n_no: int, alpha: str) -> None:
    table = table_of(hiv=["no"] * n_no + ["yes"] * (100 - n_no))
    ways = {way.name: way for way in ways_out(Sketch.of(table), gh.LDiversity(2))}

    assert ways["alpha"].principle == gh.AlphaKAnonymity(alpha=alpha, k=5)


@pytest.mark.parametrize(("n", "offered"), [(1, []), (7, ["groups"])])
def test_closeness_is_not_offered_where_it_would_protect_nobody(n: int, offered: list[str]) -> None:
    """One record, or the same value everywhere: every group is at distance 0 from the table, and tells everything."""
    people = {"age": list(range(n)), "disease": ["flu"] * n}
    table = gh.read(people, quasi=["age"], sensitive="disease")
    with pytest.raises(gh.Infeasible) as refused:
        gh.publish(table, principle=gh.LDiversity(ell=2))
    assert [way.name for way in refused.value.ways] == offered
    with pytest.warns(gh.DisclosureWarning, match="0.05-closeness protects nobody's disease here") as told:
        gh.publish(table, principle=gh.TCloseness(t="0.05"))
    assert ("the table has one record" in str(told[0].message)) == (n == 1)
    first = first_choices(gh.inspect(people, sensitive="disease"))
    assert "sensitive" not in first.choices
    assert "t" not in first.choices


def test_a_constant_column_beside_another_is_not_offered_closeness_either() -> None:
    people = {"age": list(range(9)), "disease": ["flu"] * 9, "drug": list("abcabcabc")}
    table = gh.read(people, quasi=["age"], sensitive=["disease", "drug"])
    with pytest.raises(gh.Infeasible) as refused:
        gh.publish(table, principle=gh.LDiversity(ell=2))
    assert not {"closeness", "by-column"} & {way.name for way in refused.value.ways}
    assert "without-column" in {way.name for way in refused.value.ways}


def test_a_way_that_leaves_one_group_says_so_and_one_that_divides_is_offered_too() -> None:
    people = {
        "age": [20 + i % 60 for i in range(4000)],
        "disease": [i * 7 % 11 for i in range(4000)],
        "pay": [f"class {i % 4}" for i in range(4000)],
    }
    people["disease"] = [f"d{value}" for value in people["disease"]]
    table = gh.read(people, quasi=["age"], sensitive=["disease", "pay"])
    sketch = Sketch.of(table)

    tight = as_asked(sketch, gh.LDiversity(ell=4))
    most = as_asked(sketch, gh.LDiversity(ell=3))
    assert tight is not None
    assert most is not None
    assert "The most frequent value of pay is nearly as frequent" in tight.cost
    assert "which quasi-identifiers go with it" not in most.cost
    room = with_room(sketch, gh.LDiversity(ell=4))
    assert room is not None
    assert room.principle == gh.LDiversity(ell=3)
    offered = {way.name: way.principle for way in ways_out(sketch, gh.LDiversity(ell=9))}
    assert (offered["nearest"], offered["roomier"]) == (gh.LDiversity(ell=4), gh.LDiversity(ell=3))
    assert with_room(sketch, gh.LDiversity(ell=3)) is None
    assert with_room(sketch.only(1), gh.LDiversity(ell=4)) is None, "one column needs no room"
