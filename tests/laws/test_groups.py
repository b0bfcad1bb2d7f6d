"""Every release keeps its promise, by the slow twins; what cannot be kept is refused, and nothing else is."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from tests.laws.people import PLACES, SENSITIVE_ORDER, SENSITIVE_TREE, People, people
from tests.laws.publishing import assert_lawful, examples, published
from tests.laws.samples import (
    BOXES,
    EVERY_RECODING,
    METHODS,
    NEEDS_SENSITIVE,
    ONE_COLUMN,
    PAIRS,
    PLAIN_PRINCIPLES,
    PRINCIPLES,
    RECODINGS,
    TARGETS,
    PrincipleSample,
    RecodingSample,
    goes_together,
    kept,
    meets,
    needs_tree,
    recodings_for,
    samples_for,
)


@pytest.mark.parametrize(("method", "sample"), PAIRS, ids=repr)
@examples(16)
@given(data=st.data(), seed=st.integers(0, 3))
def test_a_feasible_table_is_published_safely_and_an_infeasible_one_refused_with_a_true_witness(
    method: Any, sample: PrincipleSample, data: st.DataObject, seed: int
) -> None:
    recoding = data.draw(st.sampled_from(recodings_for(sample.principle)))
    table = data.draw(people(tree=recoding.tree, declared=sample.declared, occurring=sample.occurring))
    values = table.columns["sensitive"]
    choices = {"principle": sample.principle, "method": method, "recoding": recoding.on(table), "seed": seed}

    if not sample.judge(values, values):
        with pytest.raises(gh.Infeasible) as refused:
            published(table.read(), **choices)
        assert sample.witness(values, refused.value), vars(refused.value)
    elif table.n < recoding.k:
        with pytest.raises(gh.Infeasible) as refused:
            published(table.read(), **choices)
        assert refused.value.count == refused.value.of == table.n
    else:
        assert_lawful(table, published(table.read(), **choices), {"sensitive": sample}, recoding)


SEVERAL_COLUMNS = [method for method in METHODS if method.name not in ONE_COLUMN]


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@pytest.mark.parametrize("method", SEVERAL_COLUMNS, ids=repr)
@examples(24)
@given(data=st.data())
def test_each_sensitive_column_has_a_principle_of_its_own(
    method: Any, recoding: RecodingSample, data: st.DataObject
) -> None:
    number = data.draw(st.integers(2, 3))
    table = data.draw(people(least=4, widest=2, tree=recoding.tree, sensitive=number))
    keepable = [sample for sample in PLAIN_PRINCIPLES if kept(recoding.recoding, sample.principle)]
    principles = {name: data.draw(st.sampled_from(keepable)) for name in table.sensitive}
    feasible = all(sample.judge(table.columns[name], table.columns[name]) for name, sample in principles.items())
    choices = {
        "principle": {name: sample.principle for name, sample in principles.items()},
        "method": method,
        "recoding": recoding.on(table),
    }

    if feasible:
        assert_lawful(table, published(table.read(), **choices), principles, recoding)
    else:
        with pytest.raises(gh.Infeasible) as refused:
            published(table.read(), **choices)
        broken = next(n for n, s in principles.items() if not s.judge(table.columns[n], table.columns[n]))
        assert principles[broken].witness(table.columns[broken], refused.value), vars(refused.value)
        assert refused.value.column in (broken, None)


@pytest.mark.parametrize("method", SEVERAL_COLUMNS, ids=repr)
@examples(20)
@given(table=people(sensitive=0), k=st.integers(2, 4))
def test_a_table_without_sensitive_columns_is_published_with_groups_of_k(method: Any, table: People, k: int) -> None:
    choices = {"principle": gh.KAnonymity(k=k), "method": method, "recoding": gh.Boxes()}

    if table.n < k:
        with pytest.raises(gh.Infeasible):
            published(table.read(), **choices)
    else:
        made = published(table.read(), **choices)
        assert_lawful(table, made, {}, BOXES)
        assert min(map(len, made.partition)) >= k


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(60)
@given(data=st.data(), method=st.sampled_from(METHODS), suppress=st.sampled_from(["0", "0.5"]))
def test_publishing_changes_nothing_that_was_given(
    recoding: RecodingSample, data: st.DataObject, method: Any, suppress: str
) -> None:
    table = data.draw(people(tree=recoding.tree, identifier=data.draw(st.booleans())))
    choices = {"principle": gh.LDiversity(ell=2), "recoding": recoding.on(table), "suppress": suppress}
    given = table.arrow()
    bytes_of = {
        name: [buffer and buffer.to_pybytes() for buffer in given[name].chunk(0).buffers()] for name in table.columns
    }
    microdata = table.read(given)
    codes_of = {c.name: c.codes.tobytes() for c in (*microdata.quasi, *microdata.sensitive)}

    with contextlib.suppress(gh.Infeasible):
        published(microdata, method=method, **choices)

    assert bytes_of == {name: [b and b.to_pybytes() for b in given[name].chunk(0).buffers()] for name in table.columns}
    assert codes_of == {c.name: c.codes.tobytes() for c in (*microdata.quasi, *microdata.sensitive)}
    assert all(c.codes.dtype == np.int32 for c in (*microdata.quasi, *microdata.sensitive))


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_every_method_serves_some_principle(method: Any) -> None:
    assert samples_for(method)


# --- what goes together ----------------------------------------------------------------------------------------------

SIX = {"place": ["Zadar", "Adra", "Olot", "Turku", "Espoo", "Oulu"], "sensitive": [f"s{i}" for i in range(6)]}


def six(declared: str = "", sensitive: str | None = "sensitive", *, tree: bool = True) -> People:
    """Six people whom every principle here allows to publish."""
    return People(
        columns=SIX,
        quasi=("place",),
        sensitive=("sensitive",) if sensitive else (),
        orders={"sensitive": SENSITIVE_ORDER} if declared == "order" else {},
        trees=({"place": PLACES} if tree else {}) | ({"sensitive": SENSITIVE_TREE} if declared == "tree" else {}),
    )


@pytest.mark.parametrize("recoding", EVERY_RECODING, ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")  # an observed domain promises nothing
def test_what_does_not_go_together_is_refused_by_name_and_nothing_else_is(
    method: Any, recoding: RecodingSample
) -> None:
    """Over the whole catalogue: method, recoding, principle, and promises about beliefs."""
    for sample in PRINCIPLES:
        table = six(sample.declared)
        choices = {"principle": sample.principle, "method": method, "recoding": recoding.on(table)}
        choices |= {"threads": 1, "source": gh.Source.seeded(0)}
        if goes_together(method, sample.principle, recoding.recoding):
            gh.publish(table.read(), **choices)
        else:
            with pytest.raises(gh.NotSupported) as refused:
                gh.publish(table.read(), **choices)
            assert refused.value.what
            assert refused.value.instead
    for target in TARGETS:
        table = six()
        choices = {"principle": target, "method": method, "recoding": recoding.on(table), "threads": 1}
        with pytest.raises(gh.NotSupported) if not meets(method, recoding.recoding) else contextlib.nullcontext():
            gh.publish(table.read(), **choices)


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_a_table_that_a_recoding_cannot_show_is_refused_by_name_and_no_other_is(recoding: RecodingSample) -> None:
    two = [gh.KAnonymity(k=1 + recoding.k), gh.LDiversity(ell=2)]
    (principle,) = [p for p in two if kept(recoding.recoding, p)][:1]
    name = recoding.recoding.name
    for table, refused in (
        (six(), False),
        (six(tree=False), needs_tree(recoding.recoding)),
        (six(sensitive=None), name in NEEDS_SENSITIVE),
    ):
        if not table.sensitive and principle.needs_sensitive:
            assert refused, "no principle is left that could be asked of a table without a sensitive column"
            continue
        choices = {"principle": principle, "method": gh.Mondrian(), "recoding": recoding.recoding}
        if table.sensitive:
            choices["recoding"] = recoding.on(table)
        with pytest.raises(gh.NotSupported) if refused else contextlib.nullcontext():
            gh.publish(table.read(), **choices)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_methods_for_one_sensitive_column_refuse_two_and_the_others_do_not(method: Any) -> None:
    table = gh.read({**SIX, "second": list("abcdef")}, quasi=["place"], sensitive=["sensitive", "second"])

    with pytest.raises(gh.NotSupported) if method.name in ONE_COLUMN else contextlib.nullcontext():
        gh.publish(table, principle=gh.LDiversity(ell=2), method=method, recoding=gh.Anatomy())


def test_every_recoding_keeps_some_principle_and_every_principle_some_recoding() -> None:
    assert all(any(kept(recoding.recoding, sample.principle) for sample in PRINCIPLES) for recoding in RECODINGS)
    assert all(recodings_for(sample.principle) for sample in PRINCIPLES)
