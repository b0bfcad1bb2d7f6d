"""Every release keeps its promise, by the slow twins; what cannot be kept is refused, and nothing else is."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from tests.conformance.people import People, people
from tests.conformance.publishing import assert_lawful, examples, published
from tests.conformance.samples import (
    METHODS,
    PLAIN_PRINCIPLES,
    PRINCIPLES,
    RECODINGS,
    PrincipleSample,
    RecodingSample,
    samples_for,
)


@pytest.mark.parametrize("sample", PRINCIPLES, ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
@examples(16)
@given(data=st.data(), recoding=st.sampled_from(RECODINGS), seed=st.integers(0, 3))
def test_a_feasible_table_is_published_safely_and_an_infeasible_one_refused_with_a_true_witness(
    method: Any, sample: PrincipleSample, data: st.DataObject, recoding: RecodingSample, seed: int
) -> None:
    table = data.draw(people(tree=recoding.tree, declared=sample.declared, occurring=sample.occurring))
    values = table.columns["sensitive"]
    choices = {"principle": sample.principle, "method": method, "recoding": recoding.recoding, "seed": seed}

    if sample.judge(values, values):
        assert_lawful(table, published(table.read(), **choices), {"sensitive": sample}, recoding)
    else:
        with pytest.raises(gh.Infeasible) as refused:
            published(table.read(), **choices)
        assert sample.witness(values, refused.value), vars(refused.value)


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
@examples(30)
@given(data=st.data())
def test_each_sensitive_column_has_a_principle_of_its_own(
    method: Any, recoding: RecodingSample, data: st.DataObject
) -> None:
    number = data.draw(st.integers(2, 3))
    table = data.draw(people(least=4, widest=2, tree=recoding.tree, sensitive=number))
    principles = {name: data.draw(st.sampled_from(PLAIN_PRINCIPLES)) for name in table.sensitive}
    feasible = all(sample.judge(table.columns[name], table.columns[name]) for name, sample in principles.items())
    choices = {
        "principle": {name: sample.principle for name, sample in principles.items()},
        "method": method,
        "recoding": recoding.recoding,
    }

    if feasible:
        assert_lawful(table, published(table.read(), **choices), principles, recoding)
    else:
        with pytest.raises(gh.Infeasible) as refused:
            published(table.read(), **choices)
        broken = next(n for n, s in principles.items() if not s.judge(table.columns[n], table.columns[n]))
        assert principles[broken].witness(table.columns[broken], refused.value), vars(refused.value)
        assert refused.value.column in (broken, None)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@examples(20)
@given(table=people(sensitive=0), k=st.integers(2, 4))
def test_a_table_without_sensitive_columns_is_published_with_groups_of_k(method: Any, table: People, k: int) -> None:
    choices = {"principle": gh.KAnonymity(k=k), "method": method, "recoding": gh.Boxes()}

    if table.n < k:
        with pytest.raises(gh.Infeasible):
            published(table.read(), **choices)
    else:
        made = published(table.read(), **choices)
        assert_lawful(table, made, {}, RECODINGS[0])
        assert min(map(len, made.partition)) >= k


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
@examples(15)
@given(data=st.data(), suppress=st.sampled_from(["0", "0.5"]))
def test_publishing_changes_nothing_that_was_given(
    method: Any, recoding: RecodingSample, data: st.DataObject, suppress: str
) -> None:
    table = data.draw(people(tree=recoding.tree, identifier=data.draw(st.booleans())))
    given = table.arrow()
    bytes_of = {
        name: [buffer and buffer.to_pybytes() for buffer in given[name].chunk(0).buffers()] for name in table.columns
    }
    microdata = table.read(given)
    codes_of = {c.name: c.codes.tobytes() for c in (*microdata.quasi, *microdata.sensitive)}

    with contextlib.suppress(gh.Infeasible):
        published(
            microdata, principle=gh.LDiversity(ell=2), method=method, recoding=recoding.recoding, suppress=suppress
        )

    assert bytes_of == {name: [b and b.to_pybytes() for b in given[name].chunk(0).buffers()] for name in table.columns}
    assert codes_of == {c.name: c.codes.tobytes() for c in (*microdata.quasi, *microdata.sensitive)}
    assert all(c.codes.dtype == np.int32 for c in (*microdata.quasi, *microdata.sensitive))


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_every_method_serves_some_principle(method: Any) -> None:
    assert samples_for(method)
