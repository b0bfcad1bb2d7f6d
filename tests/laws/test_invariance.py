"""With the same seed, what says the same is published the same, byte by byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.engines import memory
from tests.laws.disguises import DISGUISES, SUFFIXES, as_file, with_orders
from tests.laws.people import SENSITIVE, People, people
from tests.laws.publishing import Published, examples, published
from tests.laws.samples import (
    METHODS,
    PRINCIPLES,
    RECODINGS,
    RecodingSample,
    kept,
    methods_for,
    recodings_for,
    samples_for,
)


def outcome(table: gh.Microdata, **choices: Any) -> Any:
    """The bytes that go out, or what is refused and why."""
    try:
        return published(table, **choices).files
    except gh.Infeasible as refusal:
        return str(refusal), refusal.value, refusal.count, refusal.of


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("method", METHODS, ids=repr)
@examples(20)
@given(data=st.data())
def test_a_table_in_other_clothes_is_published_byte_by_byte_alike(
    method: Any, disguise: str, data: st.DataObject
) -> None:
    sample = data.draw(st.sampled_from(samples_for(method)))
    recoding = data.draw(st.sampled_from(recodings_for(sample.principle)))
    identifier = data.draw(st.booleans())
    needs = {"tree": recoding.tree, "declared": sample.declared, "occurring": sample.occurring}
    table = data.draw(people(identifier=identifier, widest=3, **needs))
    choices = {
        "principle": sample.principle,
        "method": method,
        "recoding": recoding.on(table),
        "suppress": data.draw(st.sampled_from(["0", "0.6"])),
        "seed": data.draw(st.integers(0, 3)),
        "format": data.draw(st.sampled_from(["parquet", "csv"])),
    }

    expected = outcome(table.read(), **choices)

    assert expected == outcome(table.read(DISGUISES[disguise](table, data.draw)), **choices)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@examples(20)
@given(table=people(least=6, tree=True), data=st.data())
def test_threads_and_pieces_and_the_way_of_counting_change_no_byte(
    method: Any, table: People, data: st.DataObject
) -> None:
    sample = data.draw(st.sampled_from(samples_for(method, PRINCIPLES[:4])))
    recoding = data.draw(st.sampled_from(recodings_for(sample.principle)))
    choices = {"principle": sample.principle, "method": method, "recoding": recoding.on(table), "seed": 3}
    expected = outcome(table.read(), **choices)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "PIECE", data.draw(st.integers(0, 12)))
        patch.setattr(memory, "DENSE", data.draw(st.sampled_from([0, 1 << 40])))

        assert expected == outcome(table.read(), threads=data.draw(st.integers(1, 4)), **choices)


def by_turns(things: list[Any]) -> list[tuple[Any, Any]]:
    """Every method with one of these, and every one of these with some method."""
    return [(method, things[i % len(things)]) for i, method in enumerate(METHODS)]


MANY_PIECES = [*[(method, gh.Boxes()) for method in METHODS], *by_turns([gh.Anatomy(), gh.Permutation(), gh.Angel()])]


@pytest.mark.parametrize(("method", "recoding"), MANY_PIECES, ids=repr)
def test_threads_change_no_byte_of_a_table_with_many_pieces(
    method: Any, recoding: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = gh.synthetic.hospital(n=4_000 if method.name != "opt-gen" else 8, seed=5)
    choices = {"principle": gh.LDiversity(ell=3 if method.name != "opt-gen" else 2), "method": method}
    choices |= {"recoding": recoding, "suppress": "0.5"}
    expected = outcome(table, **choices)
    monkeypatch.setattr(memory, "PIECE", 300)

    assert expected == outcome(table, threads=1, **choices)
    assert expected == outcome(table, threads=4, **choices)


MIXED = pa.table(
    {
        "age": [34, 21, 60, 47, 34, 52, 21, 66, 39, 45, 34, 58],
        "height": [1.75, 1.5, 1.825, 1.61, 1.7, 1.75, 1.93, 1.5, 1.66, 1.75, 1.8, 1.61],
        "born": pa.array(np.arange("2001-03-01", "2001-03-13", dtype="datetime64[D]")),
        "seen": pa.array(np.datetime64("2024-05-01T08:30:00", "us") + np.arange(12) * np.timedelta64(3607, "s")),
        "smokes": [True, False, False, True, True, False, True, False, True, False, False, True],
        "city": ["Ulm", "Köln", "Ulm", "Bonn", "St. John's, NL", "Köln", "Bonn", "Ulm", "Köln", "Ulm", "Bonn", "Köln"],
        "disease": ["flu", "ulcer", "flu", "gout", "ulcer", "flu", "gout", "gout", "ulcer", "flu", "gout", "ulcer"],
    }
)
ROLES: dict[str, Any] = {"quasi": ["age", "height", "born", "seen", "smokes", "city"], "sensitive": "disease"}


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "with gaps"])
@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_files_and_frames_of_the_same_table_are_published_byte_by_byte_alike(
    method: Any, suffix: str, gaps: bool
) -> None:
    whole = MIXED
    if gaps:
        left_out = {name: pa.array([(i + j) % 5 == 0 for j in range(12)]) for i, name in enumerate(MIXED.column_names)}
        whole = pa.table({n: pa.compute.if_else(left_out[n], None, MIXED[n]) for n in MIXED.column_names})
    recodings = [gh.Boxes(), gh.Anatomy(), gh.Permutation(), gh.Angel(marginals=[["age", "disease"], ["city"]])]
    recoding = recodings[(METHODS.index(method) + SUFFIXES.index(suffix)) % 4]
    choices = {"principle": gh.LDiversity(ell=2), "method": method, "recoding": recoding, "seed": 1}
    options = {**ROLES, "missing": "category"}

    expected = outcome(gh.read(whole, **options), **choices)

    with as_file(whole, suffix) as path:
        assert expected == outcome(gh.read(path, **options), **choices)


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(100)
@given(data=st.data(), method=st.sampled_from(METHODS), seed=st.integers(0, 3))
def test_renaming_sensitive_values_in_their_order_changes_nothing_but_the_names(
    recoding: RecodingSample, data: st.DataObject, method: Any, seed: int
) -> None:
    samples = [sample for sample in samples_for(method) if kept(recoding.recoding, sample.principle)]
    sample = data.draw(st.sampled_from(samples))
    table = data.draw(people(tree=recoding.tree, declared=sample.declared, occurring=sample.occurring))
    names = {value: f"T{value[1:]} renamed" for value in SENSITIVE} | {"never seen": "Unseen", None: None}
    renamed = People(
        columns={**table.columns, "sensitive": [names[value] for value in table.columns["sensitive"]]},
        quasi=table.quasi,
        orders={n: [names.get(v, v) for v in order] for n, order in table.orders.items()},
        trees={n: _renamed(tree, names) if n == "sensitive" else tree for n, tree in table.trees.items()},
    )
    principle = sample.principle
    if isinstance(principle, gh.DesignatedLDiversity):
        principle = gh.DesignatedLDiversity(ell=principle.ell, values=tuple(names[value] for value in principle.values))
    choices = {"method": method, "recoding": recoding.on(table), "seed": seed, "suppress": "0.6"}

    def run(people: People, principle: Any) -> Published | gh.Infeasible:
        try:
            return published(people.read(), principle=principle, **choices)
        except gh.Infeasible as refusal:
            return refusal

    one, other = run(table, sample.principle), run(renamed, principle)
    if isinstance(one, gh.Infeasible) or isinstance(other, gh.Infeasible):
        assert (type(one), one.count, one.of) == (type(other), other.count, other.of)  # type: ignore[union-attr]
        assert names[one.value] == other.value  # type: ignore[index, union-attr]
        return
    assert one.labels == other.labels
    assert list(one.release.tables) == list(other.release.tables)
    for before, after in zip(one.release.tables.values(), other.release.tables.values(), strict=True):
        assert before.column_names == after.column_names
        for name in before.column_names:
            if name == "sensitive":
                assert [names[value] for value in before[name].to_pylist()] == after[name].to_pylist()
            else:
                assert before[name] == after[name]
    assert _without_principle(one.manifest) == _without_principle(other.manifest)


def _renamed(tree: Any, names: Any) -> Any:
    if isinstance(tree, dict):
        return {label: _renamed(below, names) for label, below in tree.items()}
    return [names[leaf] for leaf in tree]


def _without_principle(manifest: Any) -> Any:
    """All but what names a sensitive value, or weighs one."""
    for resource in manifest["resources"]:
        del resource["hash"]
        resource.pop("bytes", None)  # stated for CSV
        for field in resource["schema"]["fields"]:
            field.pop("categories", None)
    ours = manifest["glasshouse"]
    del manifest["description"]  # which has the promise
    del ours["recipe"]["principle"], ours["guarantee"]["promise"], ours["files"]
    for column in ours["columns"]:
        column.pop("axis", None)
    return manifest


@examples(40)
@given(data=st.data())
def test_an_order_that_a_frame_brings_is_as_good_as_a_declared_one(data: st.DataObject) -> None:
    sample = next(sample for sample in PRINCIPLES if sample.declared == "order")
    method = data.draw(st.sampled_from(methods_for(sample.principle)))
    recoding = data.draw(st.sampled_from([r for r in recodings_for(sample.principle) if not r.tree]))
    table = data.draw(people(declared="order", widest=2))
    choices = {"principle": sample.principle, "method": method, "recoding": recoding.on(table)}

    expected = outcome(table.read(), **choices)

    assert expected == outcome(table.read(with_orders(table, data.draw), ordered={}), **choices)


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@examples(30)
@given(data=st.data())
def test_rows_that_are_dropped_for_their_gaps_might_as_well_not_have_been_there(
    recoding: RecodingSample, data: st.DataObject
) -> None:
    principle = gh.KAnonymity(k=2) if kept(recoding.recoding, gh.KAnonymity(k=2)) else gh.DistinctLDiversity(ell=2)
    method = data.draw(st.sampled_from(methods_for(principle)))
    table = data.draw(people(tree=recoding.tree))
    complete = [row for row in range(table.n) if None not in [values[row] for values in table.columns.values()]]
    choices = {"principle": principle, "method": method, "recoding": recoding.on(table)}
    if not complete:
        with pytest.raises(gh.DomainError):
            table.read(missing="drop")
        return

    expected = outcome(table.permuted(complete).read(missing="error"), **choices)

    dropping = table.read(missing="drop")
    assert expected == outcome(dropping, **choices)
    dropped = table.n - len(complete)
    assert (dropped > 0) == any("dropped" in notice and f"{dropped:,}" in notice for notice in dropping.notices)


def test_what_says_the_same_in_other_words_is_published_byte_by_byte_alike() -> None:
    table = gh.read(
        {"age": [1, 2, 3, 4, 5], "a": list("xxxyy"), "b": list("uvwuv")}, quasi=["age"], sensitive=["a", "b"]
    )
    diverse, close = gh.LDiversity(ell=2), gh.TCloseness(t=0.5)
    expected = outcome(table, principle={"a": diverse, "b": close}, suppress="1/5")

    assert isinstance(expected, dict)
    assert expected == outcome(table, principle={"b": gh.TCloseness(t="1/2"), "a": diverse}, suppress=0.2)
    assert expected == outcome(
        table, principle={"a": diverse, "b": close}, suppress="0.20", method=gh.Mirror(leave_out=None)
    )


@pytest.mark.parametrize(("method", "recoding"), by_turns([gh.Boxes(), gh.Anatomy(), gh.Permutation(), gh.Angel()]))
def test_another_seed_may_change_who_shares_a_group_but_never_what_is_promised(method: Any, recoding: Any) -> None:
    table = gh.read({"age": [1] * 6 + [2] * 6, "s": list("abcdef") * 2}, quasi=["age"], sensitive="s")
    choices = {"principle": gh.LDiversity(ell=2), "method": method, "recoding": recoding}
    releases = [published(table, seed=seed, **choices).release for seed in range(5)]

    assert {str(release.guarantee) for release in releases} == {str(releases[0].guarantee)}


def test_a_frame_comes_back_as_the_frame_that_went_in() -> None:
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "s": ["a", "b", "a", "b"]}, index=[3, 3, 1, 0])
    table = gh.read(frame, quasi=["age"], sensitive="s")

    for recoding in (gh.Boxes(), gh.Permutation()):
        native = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=recoding).to_native()

        assert isinstance(native, pd.DataFrame)
        assert [0, 1, 2, 3] == native.index.tolist()
    for name in ("bt", "gt"):
        assert isinstance(gh.publish(table, principle=gh.LDiversity(ell=2)).to_native(name), pd.DataFrame)
