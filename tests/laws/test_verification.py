"""Counting again, from the published tables alone, finds at least what was promised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.grouping.method import Method
from glasshouse.journeys.recheck import recheck
from glasshouse.principles.principle import Requirement
from tests.laws.people import PLACES, People, people
from tests.laws.publishing import examples, published
from tests.laws.samples import (
    PRINCIPLES,
    RECODINGS,
    PrincipleSample,
    RecodingSample,
    batches_of,
    methods_for,
    recodings_for,
)
from tests.twins import verification as twin


@pytest.mark.parametrize("sample", PRINCIPLES, ids=repr)
@examples(30)
@given(data=st.data())
def test_verify_and_its_twin_find_what_was_promised(sample: PrincipleSample, data: st.DataObject) -> None:
    recoding = data.draw(st.sampled_from(recodings_for(sample.principle)))
    method = data.draw(st.sampled_from(methods_for(sample.principle)))
    table = data.draw(people(tree=recoding.tree, declared=sample.declared, occurring=sample.occurring, widest=2))
    suppress = data.draw(st.sampled_from(["0", "0.5"]))
    choices = {"principle": sample.principle, "method": method, "recoding": recoding.on(table), "suppress": suppress}
    try:
        release = published(table.read(), **choices).release
    except gh.Infeasible:
        return
    declared = {
        "ordered": {name: order for name, order in table.orders.items() if name == "sensitive"},
        "taxonomies": {n: gh.Taxonomy.from_nested(tree) for n, tree in table.trees.items() if n == "sensitive"},
    }

    counted, quasi = _countable(release, table, recoding)
    found = gh.verify(counted, quasi=quasi, sensitive="sensitive", **declared)

    rows = counted.to_pylist()
    achieved = found.columns["sensitive"]
    assert sample.kept(rows, quasi, "sensitive")
    assert (len(rows), len(twin.groups(rows, quasi))) == (found.n_tuples, found.n_groups)
    assert twin.k(rows, quasi) == found.k
    assert twin.ell(rows, quasi, "sensitive") == achieved.ell
    assert twin.alpha(rows, quasi, "sensitive") == achieved.alpha_exact
    assert twin.distinct_ell(rows, quasi, "sensitive") == achieved.distinct_ell
    assert Fraction(twin.entropy_ell(rows, quasi, "sensitive"), 10**6) == achieved.entropy.exact
    assert twin.t(rows, quasi, "sensitive", twin.equal_distance) == achieved.closeness["equal"].exact
    if recoding.recoding.name == "angel":
        for name, gt in release.tables.items():
            if name.startswith("gt"):
                assert gh.verify(gt, quasi=[n for n in gt.column_names if n in table.quasi]).k >= recoding.k


def _countable(release: gh.Release, table: People, recoding: RecodingSample) -> tuple[pa.Table, list[str]]:
    """A row for every tuple, and the columns in which those of a group agree."""
    if not recoding.numbers:
        return release.data, list(table.quasi)
    if recoding.recoding.name == "permutation":
        return release.data, ["Group-ID"]
    batches = batches_of(release.tables, "sensitive")
    kind = next(t for t in release.tables.values() if "Count" in t.column_names).schema.field("sensitive").type
    rows = [(number, value) for number, values in batches.items() for value in values]
    numbers, values = (pa.array([row[i] for row in rows], (pa.int32(), kind)[i]) for i in (0, 1))
    return pa.table({"number": numbers, "sensitive": values}), ["number"]


@dataclass(frozen=True, kw_only=True)
class Liar(Method):
    """A method that puts everybody into a separate group, whatever was asked for."""

    name: ClassVar[str] = "liar"

    def claim(self, requirement: Any) -> Any:
        return gh.Mondrian().claim(requirement)

    def divide(self, table: gh.Microdata, requirement: Any, **how: Any) -> gh.Groups:
        return gh.Groups(np.arange(table.n_tuples, dtype=np.int32), table.n_tuples)


@pytest.mark.parametrize("sample", [s for s in PRINCIPLES if not s.declared], ids=repr)
def test_a_method_that_lies_is_caught_and_nothing_is_written(sample: PrincipleSample, tmp_path: Path) -> None:
    values = ["s0", "s1", "s2", "s3", "s4", "s5"]
    columns = {"place": ["Zadar", "Adra", "Olot", "Turku", "Espoo", "Oulu"], "sensitive": values}
    table = People(columns=columns, quasi=("place",), trees={"place": PLACES})
    if all(sample.judge([value], values) for value in values):
        pytest.skip("this principle allows groups of one")

    for recoding in recodings_for(sample.principle):
        choices = {"principle": sample.principle, "method": Liar(), "recoding": recoding.on(table)}
        with pytest.raises(gh.GuaranteeBroken):
            gh.publish(table.read(), out=tmp_path / "out", **choices)

    assert [] == list(tmp_path.rglob("*"))


# --- tables that were tampered with ----------------------------------------------------------------------------------

PEOPLE = People(
    columns={
        "place": ["Zadar", "Zadar", "Olot", "Olot", "Turku", "Turku", "Espoo", "Espoo"],
        "sensitive": ["s0", "s1", "s2", "s3"] * 2,
        "second": ["a", "b", "b", "a"] * 2,
    },
    quasi=("place",),
    sensitive=("sensitive", "second"),
    trees={"place": PLACES},
)


def changed(table: pa.Table, name: str, row: int, value: Any) -> pa.Table:
    """The table with one cell changed."""
    cells = table[name].to_pylist()
    assert cells[row] != value
    cells[row] = value
    return table.set_column(table.column_names.index(name), name, [cells])


Tampering = Callable[[Mapping[str, pa.Table]], Mapping[str, pa.Table]]


def _cell(table: str, name: str, value: Callable[[Any], Any], row: int = 0) -> Tampering:
    return lambda t: {**t, table: changed(t[table], name, row, value(t[table][name].to_pylist()[row]))}


def _without_a_row(table: str) -> Tampering:
    return lambda t: {**t, table: t[table].slice(1)}


def _other(number: int) -> int:
    return 2 if number == 1 else 1


def _of_numbers(table: str, number: str) -> dict[str, Tampering]:
    return {
        f"{table}: another number": _cell(table, number, _other),
        f"{table}: a number that nobody has": _cell(table, number, lambda value: 99),
        f"{table}: the number 0": _cell(table, number, lambda value: 0),
        f"{table}: a negative number": _cell(table, number, lambda value: -1),
        f"{table}: a row taken away": _without_a_row(table),
    }


def _of_counts(table: str, number: str) -> dict[str, Tampering]:
    return {
        **_of_numbers(table, number),
        f"{table}: one more": _cell(table, "Count", lambda value: value + 1),
        f"{table}: none": _cell(table, "Count", lambda value: 0),
        f"{table}: fewer than none": _cell(table, "Count", lambda value: -value),
    }


def _all_alike(table: str) -> Tampering:
    def tampered(tables: Mapping[str, pa.Table]) -> Mapping[str, pa.Table]:
        data = tables[table]
        column = next(name for name in ("sensitive", "second") if name in data.column_names)
        alike = pa.array([data[column].to_pylist()[0]] * data.num_rows)
        return {**tables, table: data.set_column(data.column_names.index(column), column, alike)}

    return tampered


TAMPERINGS: dict[str, dict[str, Tampering]] = {  # by how tables are read
    "boxes": {"data: all alike": _all_alike("data")},
    "anatomy": {
        **_of_numbers("qit", "Group-ID"),
        **_of_counts("st_1", "Group-ID"),
        **_of_counts("st_2", "Group-ID"),
        "st_1: all alike": _all_alike("st_1"),
        "st_2: all alike": _all_alike("st_2"),
    },
    "permutation": {
        "data: another number": _cell("data", "Group-ID", _other),
        "data: a number that nobody has": _cell("data", "Group-ID", lambda value: 99),
        "data: all alike": _all_alike("data"),
    },
    "angel": {
        **_of_counts("bt_1", "Batch-ID"),
        **_of_counts("bt_2", "Batch-ID"),
        "bt_1: all alike": _all_alike("bt_1"),
        "bt_2: all alike": _all_alike("bt_2"),
    },
}


def _tamperings(recoding: RecodingSample) -> dict[str, Tampering]:
    found = TAMPERINGS[recoding.recoding.layout.kind]
    if recoding.recoding.name == "angel":
        batched = {2: "gt", 1: "gt_2", 3: "gt"}[recoding.k]
        found = {**found, **_of_numbers(batched, "Batch-ID")}
        if recoding.k > 1:  # fewer than k in a bucket
            found["gt: a cell of its own"] = _cell("gt", "place", lambda value: "Lund")
        if recoding.k == 3:
            found["gt_2: a cell of its own"] = _cell("gt_2", "place", lambda value: "Lund")
    return found


@pytest.mark.parametrize(
    ("recoding", "what"), [(recoding, what) for recoding in RECODINGS for what in _tamperings(recoding)], ids=repr
)
def test_tables_that_were_tampered_with_are_noticed(recoding: RecodingSample, what: str) -> None:
    release, requirement = _good(recoding)
    tampered = _tamperings(recoding)[what](release.tables)

    recheck(release, requirement)
    with pytest.raises(gh.GuaranteeBroken):
        recheck(replace(release, tables=tampered), requirement)


def _good(recoding: RecodingSample) -> tuple[gh.Release, Requirement]:
    """A release in four groups of two, in which nothing is to spare."""
    table = PEOPLE.read()
    choices = {"principle": gh.LDiversity(ell=2), "method": gh.Mondrian(), "recoding": recoding.on(PEOPLE)}
    release = gh.publish(table, source=gh.Source.seeded(1), **choices)
    return release, Requirement.of(gh.LDiversity(ell=2), table)


def test_tables_of_sensitive_values_that_count_other_people_are_noticed() -> None:
    release, requirement = _good(next(sample for sample in RECODINGS if sample.recoding.name == "anatomy"))
    one, two = (release.tables[name] for name in ("st_1", "st_2"))

    for tables in (
        {**release.tables, "st_2": changed(changed(two, "Count", 0, 2), "Count", 1, 2)},  # a group twice as large
        {**release.tables, "st_1": pa.concat_tables([one, one])},
        {**release.tables, "st_1": one.rename_columns(["Group-ID", "place", "Count"])},
    ):
        with pytest.raises(gh.GuaranteeBroken):
            recheck(replace(release, tables=tables), requirement)


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(15)
@given(data=st.data(), format=st.sampled_from(["parquet", "csv"]))
def test_what_is_loaded_is_what_was_saved(
    recoding: RecodingSample, data: st.DataObject, format: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = data.draw(people(tree=recoding.tree, sensitive=2))
    try:
        release = gh.publish(
            table.read(), principle=gh.LDiversity(ell=2), recoding=recoding.on(table), suppress="0.5", threads=1
        )
    except gh.Infeasible:
        return
    folder = tmp_path_factory.mktemp("saved") / "release"
    release.save(folder, format=format)

    loaded = gh.load(folder)

    assert {name: data.to_pylist() for name, data in release.tables.items()} == {
        name: data.to_pylist() for name, data in loaded.tables.items()
    }
    assert (release.recipe, release.guarantee, release.columns) == (loaded.recipe, loaded.guarantee, loaded.columns)
    assert (release.n_tuples, release.n_dropped) == (loaded.n_tuples, loaded.n_dropped)
