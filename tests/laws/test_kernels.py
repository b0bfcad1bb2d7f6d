"""The compiled kernels and their source, run by the interpreter, publish the same bytes."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.kernels import compiled, interpreted
from glasshouse.recoding.anatomy import Side
from tests.laws.people import people
from tests.laws.publishing import examples, published
from tests.laws.samples import PAIRS, PrincipleSample, recodings_for

for module in pkgutil.walk_packages(gh.__path__, "glasshouse."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)


@contextmanager
def all_interpreted() -> Iterator[set[str]]:
    """Run every kernel from its source; gives the names of those that were asked for."""
    asked: set[str] = set()
    load = cache(interpreted)

    def recorded(name: str) -> Any:
        asked.add(name)
        return load(name)

    with pytest.MonkeyPatch.context() as patch:
        for name, loaded in list(sys.modules.items()):
            if name.startswith("glasshouse.") and getattr(loaded, "compiled", None) is compiled:
                patch.setattr(loaded, "compiled", recorded)
        yield asked


@pytest.mark.parametrize(("method", "sample"), PAIRS, ids=repr)
@examples(8)
@given(data=st.data(), suppress=st.sampled_from(["0", "0.5"]))
def test_interpreted_kernels_publish_the_same_bytes(
    method: Any, sample: PrincipleSample, data: st.DataObject, suppress: str
) -> None:
    recoding = data.draw(st.sampled_from(recodings_for(sample.principle)))
    table = data.draw(people(tree=recoding.tree, declared=sample.declared, occurring=sample.occurring, least=4))
    choices = {"principle": sample.principle, "method": method, "recoding": recoding.on(table), "suppress": suppress}

    def run() -> Any:
        try:
            return published(table.read(), **choices).files
        except gh.Infeasible as refusal:
            return str(refusal)

    expected = run()
    with all_interpreted():
        assert expected == run()


@examples(120)
@given(data=st.data(), bits=st.sampled_from([0, 5, 63]), small=st.sampled_from([0, 1, 3, 48]), seed=st.integers(0, 3))
def test_a_side_is_sorted_inside_groups_however_wide_its_codes_and_however_long_its_groups(
    data: st.DataObject, bits: int, small: int, seed: int
) -> None:
    table = data.draw(people())
    microdata = table.read()
    raw = data.draw(st.lists(st.integers(-1, 3), min_size=table.n, max_size=table.n))
    groups = gh.Groups(np.array(raw, np.int32), 4)

    def sides() -> Any:
        side = Side(microdata.quasi, groups, bits=bits, small=small)
        plain = {name: column.to_pylist() for name, column in side.published().items()}
        side.shuffle([(gh.Source.seeded(seed), 0, int(groups.offsets[-1]))])
        return plain, {name: column.to_pylist() for name, column in side.published().items()}

    codes = list(zip(*(column.codes.tolist() for column in microdata.quasi), strict=True))
    rows = [codes[row] for g in range(4) for row in sorted(np.flatnonzero(groups.labels == g), key=codes.__getitem__)]
    expected = {
        column.name: column.domain.decode(np.array([row[i] for row in rows], np.int32)).to_pylist()
        for i, column in enumerate(microdata.quasi)
    }
    ordered, shuffled = sides()
    assert ordered == expected
    start = 0
    for size in groups.sizes.tolist():  # the tuples of a group stay together, and each stays whole
        tuples = [
            Counter(zip(*(v[start : start + size] for v in s.values()), strict=True)) for s in (expected, shuffled)
        ]
        assert tuples[0] == tuples[1]
        start += size
    with all_interpreted():
        assert (ordered, shuffled) == sides()


def test_a_whole_journey_asks_for_kernels_of_every_room() -> None:
    table = gh.synthetic.hospital(n=60, seed=2)
    with all_interpreted() as asked:
        published(table, principle=gh.TCloseness(t="0.5"), method=gh.Mondrian(partitioning="relaxed"))
        published(table, principle=gh.TCloseness(t="0.5"), method=gh.Mondrian(), recoding=gh.Anatomy())

    assert "glasshouse.recoding._kernels" in asked
    assert {name.split(".")[1] for name in asked} >= {
        "engines",
        "kernels",
        "microdata",
        "principles",
        "recoding",
    }
