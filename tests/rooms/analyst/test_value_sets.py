"""Value sets: membership, complements and the ways to read them, beside plain functions of one value."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.errors import InputError
from glasshouse.supports.value_sets import Interval, Listing, ValueSet, common_parts

DAY = dt.date(2024, 2, 27)
MOMENT = dt.datetime(2024, 2, 27, 23)


@dataclass(frozen=True)
class Line:
    """Some values of one kind: those that sets are made of, and those that are asked for, between them too."""

    ends: tuple[Any, ...]
    asked: tuple[Any, ...]
    whole: bool = False


LINES = {
    "integer": Line(tuple(range(5)), tuple(range(-2, 8)), whole=True),
    "integer, fractions as ends": Line((0, 0.5, Decimal("1.5"), 2, 2.5, 3), tuple(range(-2, 7)), whole=True),
    "float": Line((0.0, 0.5, 1.0, 2.5), (-1.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.7, 2.5, 9.0)),
    "date": Line(
        tuple(DAY + dt.timedelta(i) for i in range(5)), tuple(DAY + dt.timedelta(i) for i in range(-2, 7)), whole=True
    ),
    "timestamp": Line(
        tuple(MOMENT + dt.timedelta(hours=i) for i in range(4)),
        tuple(MOMENT + dt.timedelta(minutes=30 * i) for i in range(-2, 9)),
    ),
    "category": Line(("b", "d", "é", "z"), ("", "a", "b", "ba", "d", "e", "é", "z", "zz")),
    "boolean": Line((False, True), (False, True)),
}

Member = Callable[[Any], bool]


@st.composite
def made(draw: Any, line: Line, depth: int = 3) -> tuple[ValueSet, Member]:
    """A set, and what should be in it (None is missing), as a function of one value."""
    how = draw(st.sampled_from(["of", "between", "above", "below", "or", "and", "not"] if depth else ["of", "between"]))
    end = st.sampled_from(line.ends)
    if how == "of":
        values = draw(st.lists(st.one_of(end, st.none()), max_size=4))
        return ValueSet.of(values, whole=line.whole), lambda v: v in values
    if how == "between":
        low, high, closed = draw(end), draw(end), draw(st.tuples(st.booleans(), st.booleans()))
        return (
            ValueSet.between(low, high, closed=closed, whole=line.whole),
            lambda v: (
                v is not None and (low < v or (closed[0] and low == v)) and (v < high or (closed[1] and v == high))
            ),
        )
    if how in ("above", "below"):
        bound, reached = draw(end), draw(st.booleans())
        if how == "above":
            made_so = ValueSet.above(bound, closed=reached, whole=line.whole)
            return made_so, lambda v: v is not None and (v > bound or (reached and v == bound))
        made_so = ValueSet.below(bound, closed=reached, whole=line.whole)
        return made_so, lambda v: v is not None and (v < bound or (reached and v == bound))
    one, in_one = draw(made(line, depth - 1))
    if how == "not":
        return ~one, lambda v: not in_one(v)
    two, in_two = draw(made(line, depth - 1))
    if how == "or":
        return one | two, lambda v: in_one(v) or in_two(v)
    return one & two, lambda v: in_one(v) and in_two(v)


lines = st.sampled_from(list(LINES.values()))


@given(st.data(), lines)
def test_a_set_holds_what_the_words_that_made_it_say(data: st.DataObject, line: Line) -> None:
    values, member = data.draw(made(line))

    assert [member(v) for v in (*line.asked, None)] == [v in values for v in (*line.asked, None)]


@given(st.data(), lines)
def test_complements_turn_unions_into_intersections(data: st.DataObject, line: Line) -> None:
    (a, _), (b, _), (c, _) = (data.draw(made(line)) for _ in range(3))

    assert ~(a | b) == ~a & ~b
    assert ~(a & b) == ~a | ~b
    assert ~~a == a
    assert a & (b | c) == (a & b) | (a & c)
    assert ValueSet.any_of([a, b, c]) == a | b | c
    assert ValueSet.all_of([a, b, c]) == a & b & c
    assert (a | ~a).is_everything
    assert (a & ~a).is_empty


@given(st.data(), st.sampled_from([LINES["integer"], LINES["date"]]))
def test_sets_of_whole_numbers_or_days_are_equal_exactly_if_their_members_are(data: st.DataObject, line: Line) -> None:
    (a, _), (b, _) = data.draw(made(line)), data.draw(made(line))

    alike = all((v in a) == (v in b) for v in (*line.asked, None))
    assert alike == (a == b)
    assert a.is_empty == (not any(v in a for v in (*line.asked, None)))
    if a == b:
        assert hash(a) == hash(b)


@given(st.data(), lines)
def test_intervals_say_the_same_as_membership_and_do_not_touch(data: st.DataObject, line: Line) -> None:
    values, _ = data.draw(made(line))
    intervals = values.intervals()

    def inside(v: Any, low: Any, high: Any, closed_low: bool, closed_high: bool) -> bool:
        after = low is None or low < v or (closed_low and low == v)
        return after and (high is None or v < high or (closed_high and v == high))

    for v in line.asked:
        assert (v in values) == any(inside(v, *interval) for interval in intervals)
    for one, two in itertools.pairwise(intervals):
        assert one.high < two.low or (one.high == two.low and not one.closed_high and not two.closed_low)
        if line.whole:
            assert one.closed_high
            assert two.closed_low
            assert two.low > one.high
    again = ValueSet.any_of([ValueSet.between(i.low, i.high, closed=i[2:], whole=line.whole) for i in intervals])
    assert again == values & ~ValueSet.of([None])


@given(st.data(), lines)
def test_a_listing_says_the_same_as_membership(data: st.DataObject, line: Line) -> None:
    values, _ = data.draw(made(line))
    pieces = values.pieces()

    if isinstance(pieces, Listing):
        assert pieces == values.finite()
        for v in line.asked:
            assert (v in values) == ((v in pieces.values) != pieces.cofinite)
    else:
        assert pieces == values.intervals()
        with pytest.raises(InputError, match="cannot be listed"):
            values.finite()


@given(st.data(), lines)
def test_every_set_is_a_union_of_the_common_parts_which_are_disjoint_and_as_few_as_possible(
    data: st.DataObject, line: Line
) -> None:
    sets = [data.draw(made(line))[0] for _ in range(data.draw(st.integers(0, 4)))]
    parts = common_parts(sets)

    for v in (*line.asked, None):
        (key,) = [key for key, part in parts.items() if v in part]
        assert key == sum((v in some) << i for i, some in enumerate(sets))
    for i, some in enumerate(sets):
        assert some == ValueSet.any_of([part for key, part in parts.items() if key >> i & 1])
    assert not any(part.is_empty for part in parts.values())
    assert ValueSet.any_of(list(parts.values())).is_everything


def test_everything_and_nothing_are_what_they_say() -> None:
    assert ValueSet.everything().is_everything
    assert ValueSet.nothing().is_empty
    assert ~ValueSet.everything() == ValueSet.nothing()
    assert ValueSet.everything().pieces() == Listing((), True)
    assert ValueSet.nothing().pieces() == Listing((), False)
    assert ValueSet.everything().intervals() == (Interval(None, None, False, False),)
    assert not ValueSet.between(None, None).is_everything, "missing is not between"


def test_the_first_and_last_day_have_no_neighbours() -> None:
    up_to_last = ValueSet.below(dt.date.max, closed=True, whole=True)
    before_first = ValueSet.below(dt.date.min, whole=True)

    assert dt.date.max in up_to_last
    assert up_to_last.intervals() == (Interval(None, dt.date.max, False, True),)
    assert dt.date.min not in before_first
    assert before_first.intervals() == (Interval(None, dt.date.min, False, False),)
    assert ValueSet.of([dt.date.max], whole=True).pieces() == Listing((dt.date.max,), False)


def test_decimals_compare_as_floats_and_exactly_with_whole_numbers() -> None:
    almost = Decimal("29." + "9" * 40)

    assert Decimal("0.1") in ValueSet.of([0.1])
    assert 0.1 in ValueSet.of([Decimal("0.1")])
    assert 29 in ValueSet.below(almost, whole=True)
    assert 30 not in ValueSet.below(almost, closed=True, whole=True)
    assert 30 in ValueSet.above(almost, whole=True)


def test_times_with_an_offset_are_moments_and_are_not_compared_with_what_a_clock_shows() -> None:
    noon = dt.datetime(2024, 5, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=2)))

    assert noon in ValueSet.of([dt.datetime(2024, 5, 1, 10, tzinfo=dt.UTC)])
    assert dt.datetime(2024, 5, 1, 11, tzinfo=dt.UTC) in ValueSet.between(noon, None)
    with pytest.raises(InputError, match="no common order"):
        assert noon in ValueSet.of([dt.datetime(2024, 5, 1, 12)])
    with pytest.raises(InputError, match="no common order"):
        ValueSet.between(noon, dt.datetime(2024, 5, 2))
    with pytest.raises(InputError, match="no common order"):
        _ = ValueSet.above(noon) & ValueSet.below(dt.datetime(2024, 5, 2))


def test_what_has_no_place_in_the_order_is_refused() -> None:
    with pytest.raises(InputError, match="not a number"):
        ValueSet.of([float("nan")])
    with pytest.raises(InputError, match="not a number"):
        ValueSet.above(Decimal("nan"))
    with pytest.raises(InputError, match="time of day"):
        ValueSet.above(MOMENT, whole=True)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (ValueSet.nothing(), "nothing"),
        (ValueSet.everything(), "anything or missing"),
        (ValueSet.of([None]), "missing"),
        (~ValueSet.of(["a, b", "c"]), 'all but {"a, b", c} or missing'),
        (ValueSet.of([1, 2, 3, 9], whole=True), "[1, 3] or [9, 9]"),
        (ValueSet.between(0.5, 2, closed=(False, True)) | ValueSet.above(7), "(0.5, 2] or (7, inf)"),
    ],
)
def test_a_set_reads_as_words(values: ValueSet, words: str) -> None:
    assert words == str(values)
    assert repr(values) == f"<ValueSet {words}>"
