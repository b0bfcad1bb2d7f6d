"""The compiled kernels and their source, run by the interpreter, publish the same bytes."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.kernels import compiled, interpreted
from tests.conformance.people import people
from tests.conformance.publishing import examples, published
from tests.conformance.samples import METHODS, PRINCIPLES, RECODINGS, PrincipleSample, RecodingSample

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


@pytest.mark.parametrize("sample", PRINCIPLES, ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
@examples(6)
@given(data=st.data(), recoding=st.sampled_from(RECODINGS), suppress=st.sampled_from(["0", "0.5"]))
def test_interpreted_kernels_publish_the_same_bytes(
    method: Any, sample: PrincipleSample, data: st.DataObject, recoding: RecodingSample, suppress: str
) -> None:
    table = data.draw(people(tree=recoding.tree, declared=sample.declared, occurring=sample.occurring, least=4))
    choices = {"principle": sample.principle, "method": method, "recoding": recoding.recoding, "suppress": suppress}

    def run() -> Any:
        try:
            return published(table.read(), **choices).files
        except gh.Infeasible as refusal:
            return str(refusal)

    expected = run()
    with all_interpreted():
        assert expected == run()


def test_a_whole_journey_asks_for_kernels_of_every_room() -> None:
    table = gh.synthetic.hospital(n=60, seed=2)
    with all_interpreted() as asked:
        published(table, principle=gh.TCloseness(t="0.5"), method=gh.Mondrian(partitioning="relaxed"))

    assert {name.split(".")[1] for name in asked} >= {
        "_random_kernels",
        "engines",
        "microdata",
        "principles",
        "recoding",
    }
