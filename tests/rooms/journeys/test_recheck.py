"""The last check before a release is handed over: it asks everything, and notices a broken promise."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.journeys.recheck import recheck
from glasshouse.principles.principle import Principle, Requirement

COLUMNS = {
    "age": [30, 31, 32, 33, 34, 35, 36, 37],
    "disease": ["flu", "ulcer", "gout", "asthma"] * 2,
    "ward": ["a", "b", "c", "d"] * 2,
}
EVERYTHING = gh.AllOf(
    principles=(
        gh.KAnonymity(k=4),
        gh.LDiversity(ell=4),
        gh.LDiversity(ell=2),
        gh.DistinctLDiversity(ell=4),
        gh.EntropyLDiversity(ell=4),
        gh.RecursiveLDiversity(c=2, ell=2),
        gh.DesignatedLDiversity(ell=4, values=("flu",)),
        gh.AlphaKAnonymity(alpha="0.25", k=4),
        gh.TCloseness(t="0.1"),
    )
)


def microdata() -> gh.Microdata:
    return gh.read(COLUMNS, quasi=["age"], sensitive=["disease", "ward"])


def test_every_principle_is_asked_and_a_good_release_passes() -> None:
    table = microdata()
    principle = {"disease": EVERYTHING, "ward": gh.TCloseness(t="0.2")}
    release = gh.publish(table, principle=principle)
    verification = recheck(release, Requirement.of(principle, table))

    assert verification.holds
    assert release.data["age"].unique().to_pylist() == ["[30, 33]", "[34, 37]"]


@pytest.mark.parametrize("principle", EVERYTHING.principles, ids=lambda principle: principle.title)
def test_a_broken_promise_is_noticed_for_every_principle(principle: gh.LDiversity) -> None:
    table = gh.read(COLUMNS, quasi=["age"], sensitive="disease")
    requirement = Requirement.of(principle, table)
    good = gh.publish(table, principle=principle)
    broken = pa.table({"age": [str(age) for age in COLUMNS["age"]], "disease": ["flu"] * 4 + ["gout"] * 4})

    with pytest.raises(gh.GuaranteeBroken, match="published tables do not satisfy"):
        recheck(replace(good, tables={"data": broken}), requirement)


def test_two_that_ask_the_same_of_one_column_are_both_asked() -> None:
    table = gh.read(COLUMNS, quasi=["age"], sensitive="disease")
    both = gh.AllOf(principles=(gh.LDiversity(ell=2), gh.LDiversity(ell=4)))
    lax = gh.publish(table, principle=gh.LDiversity(ell=2))

    with pytest.raises(gh.GuaranteeBroken, match="ell = 4"):
        recheck(lax, Requirement.of(both, table))


def test_a_principle_that_nothing_would_check_is_refused() -> None:
    class Stranger(Principle):
        name = "stranger"
        title = "strangeness"

        def holds(self, counts: object) -> object:
            return counts.sizes > 0  # type: ignore[attr-defined]

        def describe(self, column: str | None = None) -> str:
            return "everything goes"

    table = gh.read(COLUMNS, quasi=["age"], sensitive="disease")

    with pytest.raises(gh.NotSupported, match="independent check does not know"):
        gh.publish(table, principle=Stranger(), method=gh.Mondrian())


def test_designated_values_may_be_numpy_numbers_and_still_make_a_plain_recipe() -> None:
    principle = gh.DesignatedLDiversity(ell=2, values=(np.int64(1), np.str_("a")))

    assert json.loads(json.dumps(principle.to_data()))["values"] == [1, "a"]
