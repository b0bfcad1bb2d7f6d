"""Whoever counts again, from the published tables alone, finds at least what was promised."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.publish import publish_to
from tests.conformance.people import people
from tests.conformance.publishing import examples, published
from tests.conformance.samples import PRINCIPLES, RECODINGS, PrincipleSample, RecodingSample, methods_for
from tests.naive import verification as twin


@pytest.mark.parametrize("sample", PRINCIPLES, ids=repr)
@examples(20)
@given(data=st.data(), recoding=st.sampled_from(RECODINGS))
def test_verify_and_its_twin_find_what_was_promised(
    sample: PrincipleSample, data: st.DataObject, recoding: RecodingSample
) -> None:
    method = data.draw(st.sampled_from(methods_for(sample.principle)))
    table = data.draw(people(tree=recoding.tree, declared=sample.declared, occurring=sample.occurring, widest=2))
    suppress = data.draw(st.sampled_from(["0", "0.5"]))
    choices = {"principle": sample.principle, "method": method, "recoding": recoding.recoding, "suppress": suppress}
    try:
        release = published(table.read(), **choices).release
    except gh.Infeasible:
        return
    declared = {
        "ordered": {name: order for name, order in table.orders.items() if name == "sensitive"},
        "taxonomies": {n: gh.Taxonomy.from_nested(tree) for n, tree in table.trees.items() if n == "sensitive"},
    }

    found = gh.verify(release.data, quasi=table.quasi, sensitive="sensitive", **declared)

    rows = release.data.to_pylist()
    achieved = found.columns["sensitive"]
    assert sample.kept(rows, table.quasi, "sensitive")
    assert (len(rows), len(twin.groups(rows, table.quasi))) == (found.n_tuples, found.n_groups)
    assert twin.k(rows, table.quasi) == found.k
    assert twin.ell(rows, table.quasi, "sensitive") == achieved.ell
    assert twin.alpha(rows, table.quasi, "sensitive") == achieved.alpha_exact
    assert twin.distinct_ell(rows, table.quasi, "sensitive") == achieved.distinct_ell
    assert Fraction(twin.entropy_ell(rows, table.quasi, "sensitive"), 10**6) == achieved.entropy.exact
    assert twin.t(rows, table.quasi, "sensitive", twin.equal_distance) == achieved.closeness["equal"].exact


@dataclass(frozen=True, kw_only=True)
class Liar:
    """A method that puts everybody into a group of her own, whatever was asked for."""

    name: ClassVar[str] = "liar"

    def claim(self, requirement: Any) -> Any:
        return gh.Mondrian().claim(requirement)

    def divide(self, table: gh.Microdata, requirement: Any, **how: Any) -> gh.Groups:
        return gh.Groups(np.arange(table.n_tuples, dtype=np.int32), table.n_tuples)


@pytest.mark.parametrize("sample", [s for s in PRINCIPLES if not s.declared], ids=repr)
def test_a_method_that_lies_is_caught_and_nothing_is_written(sample: PrincipleSample, tmp_path: Path) -> None:
    values = ["s0", "s1", "s2", "s3", "s4", "s5"]
    table = gh.read({"age": list(range(6)), "sensitive": values}, quasi=["age"], sensitive="sensitive")
    if all(sample.judge([value], values) for value in values):
        pytest.skip("this principle allows groups of one")

    with pytest.raises(gh.GuaranteeBroken):
        publish_to(tmp_path / "out", table, principle=sample.principle, method=Liar())

    assert [] == list(tmp_path.rglob("*"))


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(15)
@given(data=st.data(), format=st.sampled_from(["parquet", "csv"]))
def test_what_is_loaded_is_what_was_saved(
    recoding: RecodingSample, data: st.DataObject, format: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    table = data.draw(people(tree=recoding.tree, sensitive=2))
    try:
        release = gh.publish(
            table.read(), principle=gh.LDiversity(ell=2), recoding=recoding.recoding, suppress="0.5", threads=1
        )
    except gh.Infeasible:
        return
    folder = tmp_path_factory.mktemp("saved") / "release"
    release.save(folder, format=format)

    loaded = gh.load(folder)

    assert release.data.to_pylist() == loaded.data.to_pylist()
    assert (release.recipe, release.guarantee, release.columns) == (loaded.recipe, loaded.guarantee, loaded.columns)
    assert (release.n_tuples, release.n_dropped) == (loaded.n_tuples, loaded.n_dropped)
