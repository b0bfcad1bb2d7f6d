# SPDX-License-Identifier: Apache-2.0
"""What of a request a table can keep stays in every way that is offered, or its cost says that it does not."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import glasshouse as gh
from glasshouse.journeys.advice.sketch import Sketch
from glasshouse.journeys.advice.ways import ways_out
from glasshouse.microdata.inspection.amounts import Reading
from glasshouse.policy.next_steps import command_of
from glasshouse.principles.principle import Principle

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")


def sketch_of(*sensitive: str) -> Sketch:
    draw = random.Random(1)
    hiv = ["yes" if i % 20 == 0 else "no" for i in range(1500)]
    columns = {"hiv": hiv, "dead": hiv[::-1], "ill": draw.choices("abcdefgh", k=1500)}
    columns["drug"] = draw.choices("abcde", k=1500)
    kept = {name: columns[name] for name in sensitive}
    table = gh.read({"age": draw.choices(range(60), k=1500), **kept}, quasi=["age"], sensitive=list(kept))
    return Sketch.of(table)


ASKED: list[tuple[tuple[str, ...], Principle | dict[str, Principle]]] = [
    (("hiv",), gh.AllOf(gh.KAnonymity(20), gh.LDiversity(3), gh.TCloseness("0.02"))),
    (("hiv", "ill"), {"hiv": gh.AllOf(gh.LDiversity(2), gh.TCloseness("0.02")), "ill": gh.LDiversity(3)}),
    (("hiv", "ill"), {name: gh.AllOf(gh.KAnonymity(20), gh.LDiversity(2)) for name in ("hiv", "ill")}),
]


@pytest.mark.parametrize(("sensitive", "asked"), ASKED)
def test_a_way_keeps_the_k_and_the_t_that_were_asked_or_says_that_it_does_not(
    sensitive: tuple[str, ...], asked: Principle | dict[str, Principle]
) -> None:
    each = asked if isinstance(asked, dict) else dict.fromkeys(sensitive, asked)
    ways = ways_out(sketch_of(*sensitive), asked)
    assert len(ways) >= 3
    for way in ways:
        for name, own in each.items():
            got = way.principle if isinstance(way.principle, Principle) else way.principle[name]
            ks = [max(one.terms.anonymity, one.grouping().terms.anonymity) for one in got.singles()]
            assert max(ks) >= own.terms.anonymity
            ts = [one.terms.closeness for one in own.singles() if one.terms.closeness is not None]
            found = [one.terms.closeness for one in got.singles() if one.terms.closeness is not None]
            if ts and way.domain is not None:
                assert f"something else that you asked for and the table allows: 0.02-closeness of {name}." in way.cost
            elif ts:
                assert min(found, default=Fraction(1)) <= ts[0]
        command = command_of(way, {"file": "t.csv", "quasi": ["age"], "sensitive": list(sensitive), "out": "out"})
        assert command is not None
        assert ("--k 20" in command) == any(one.terms.anonymity == 20 for one in each.values())


def test_the_nearest_promise_keeps_the_asked_k() -> None:
    ways = ways_out(sketch_of("ill"), gh.AllOf(gh.KAnonymity(20), gh.LDiversity(9)))
    assert ways[0].name == "nearest"
    assert ways[0].principle.singles()[0] == gh.KAnonymity(20)  # type: ignore[union-attr]


def test_who_is_left_out_by_lot_is_no_number_of_another_draw_and_columns_are_listed() -> None:
    ways = {way.name: way for way in ways_out(sketch_of("hiv", "dead", "ill", "drug"), gh.LDiversity(3))}
    assert ways["without-column"].n_left_out
    assert "may leave out up to" not in ways["without-column"].cost
    assert "The columns hiv and dead are not published." in ways["without-column"].cost


def test_a_reading_can_name_its_column() -> None:
    assert Reading(words="Its dates are read as years.").named("born") == "born: its dates are read as years."
