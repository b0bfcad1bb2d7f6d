"""Tables at the edge: one tuple, one value, huge domains, wide numbers, dates, gaps; every method and recoding."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.microdata.cautions import CAUTIONS
from tests.laws.people import PLACES, People, leaves
from tests.laws.publishing import assert_lawful, published
from tests.laws.samples import (
    METHODS,
    PLAIN_PRINCIPLES,
    RECODINGS,
    RecodingSample,
    goes_together,
    methods_for,
)

DIVERSE = next(sample for sample in PLAIN_PRINCIPLES if sample.principle == gh.LDiversity(ell=2))
ANONYMOUS = next(sample for sample in PLAIN_PRINCIPLES if sample.principle == gh.KAnonymity(k=2))
CITIES = list(leaves(PLACES))
NOON = dt.datetime(2024, 2, 29, 12)


def of(n: int, **quasi: list[Any]) -> People:
    """A table with a place for everyone, whose tree every recoding can use, and two sensitive values in turn."""
    columns = {**quasi, "place": [CITIES[i * 5 % 9] for i in range(n)], "sensitive": ["s0", "s1"] * (n // 2)}
    return People(columns=columns, quasi=(*quasi, "place"), trees={"place": PLACES})


TABLES: dict[str, People] = {
    "two tuples": of(2, age=[30, 40]),
    "all equal": of(8, age=[30] * 8).with_columns({"place": ["Lund"] * 8}),
    "one attribute": of(8),
    "one attribute and one value": of(8).with_columns({"place": ["Lund"] * 8}),
    "constant column": of(8, age=[30] * 8, height=[1.5, 1.6] * 4),
    "duplicate rows": of(12, age=[1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]).with_columns(
        {"place": ["Lund", "Oulu", "Adra"] * 4}
    ),
    "every row unique": of(12, age=list(range(12))),
    "beyond 32 bits": of(8, salary=[2**31, 2**31 + 1, -(2**31) - 1, 2**40, -(2**40), 2**31 - 1, 0, 1]),
    "beyond exact floats": of(
        8, number=[2**53, 2**53 + 1, 2**53 + 2, 2**53 + 3, -(2**53) - 1, 2**62, -(2**63), 2**63 - 1]
    ),
    "negative": of(8, balance=[-1, -2, -3, -100, -5, 0, 5, -1]),
    "tiny and huge floats": of(8, x=[5e-324, -5e-324, 1.7e308, -1.7e308, 0.1, 0.30000000000000004, 0.3, 1e22]),
    "negative zero": of(4, x=[-0.0, 0.0, 1.5, -1.5]),
    "dates": of(8, born=[dt.date(1900 + 17 * i, 2, 28) for i in range(8)]),
    "dates before the epoch": of(
        4, born=[dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31), dt.date(1970, 1, 1)]
    ),
    "timestamps": of(8, seen=[NOON + dt.timedelta(microseconds=7**i) for i in range(8)]),
    "time zones": of(4, seen=[(NOON + dt.timedelta(hours=i)).replace(tzinfo=dt.UTC) for i in range(4)]),
    "times of day": of(4, at=[dt.time(8, 30), dt.time(0), dt.time(23, 59, 59, 999_999), dt.time(8, 30)]),
    "booleans": of(8, smokes=[True, False, True, True, False, False, True, False]),
    "one boolean": of(4, smokes=[True] * 4),
    "gaps in numbers": of(8, age=[30, None, 31, None, 45, 46, None, 60]),
    "gaps in text": of(8, city=["Ulm", None, "Bonn", "Ulm", None, None, "Bonn", "Ulm"]),
    "gaps in the tree": of(8, age=list(range(8))).with_columns(
        {"place": ["Lund", None, "Oulu", None, None, "Adra", "Zadar", "Lund"]}
    ),
    "gaps in booleans": of(4, smokes=[True, None, None, False]),
    "gaps in dates": of(4, born=[dt.date(2000, 1, 1), None, dt.date(2001, 1, 1), None]),
    "gaps but one": of(6, age=[None, None, 31, None, None, None]),
    "gaps in the sensitive column": of(8, age=list(range(8))).with_columns(
        {"sensitive": ["s0", None, "s1", None, "s0", "s2", None, "s1"]}
    ),
    "words of the grammar": of(8, word=["missing", "*", "a, b", "{a}", "[1, 2]", 'say "so"', "", "a or missing"]),
    "blanks": of(6, word=[" ", "  ", "a ", " a", "a", "\t"]),
    "other alphabets": of(6, word=["Ωμέγα", "日本", "é", "e\u0301", "🏠", "Z"]),
    "numbers as text": of(6, code=["007", "7", "07", "1e3", "1000", "-0"]),
}
ODD_SENSITIVE: dict[str, list[Any]] = {
    "booleans": [True, False],
    "booleans with gaps": [True, None, False],
    "numbers that are names": [30, 4],
    "numbers with gaps": [30, None, 4],
    "floats": [1.0, 2.5],
    "dates": [dt.date(2024, 1, 1), dt.date(1899, 12, 31)],
    "timestamps": [NOON, NOON + dt.timedelta(microseconds=1)],
    "words that mean missing": ["NA", "null", "", None, "nan", "missing"],
    "odd text": ["a,b", 'say "so"', "two\nlines", " ", "007", "7", "true"],
}
HUGE = 100_000


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_tables_at_the_edge_are_published_lawfully(method: Any, name: str) -> None:
    """By boxes and taxonomies, and by one of the other recodings in turn: each meets every table, and every method."""
    turn = 2 + (METHODS.index(method) + list(TABLES).index(name)) % len(RECODINGS[2:])
    for recoding in (*RECODINGS[:2], RECODINGS[turn]):
        _published_lawfully(TABLES[name], method, recoding)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("recoding", RECODINGS[2:], ids=repr)
def test_tables_at_the_edge_are_published_lawfully_by_every_recoding(recoding: RecodingSample, name: str) -> None:
    _published_lawfully(TABLES[name], gh.Mondrian(), recoding)


def _published_lawfully(table: People, method: Any, recoding: RecodingSample) -> None:
    for sample, format in ((DIVERSE, "parquet"), (ANONYMOUS, "csv")):
        if not goes_together(method, sample.principle, recoding.recoding):
            continue
        choices = {"principle": sample.principle, "method": method, "recoding": recoding.on(table), "format": format}
        if table.n < recoding.k:
            with pytest.raises(gh.Infeasible, match=f"{recoding.k}-anonymity"):
                published(table.read(), **choices)
        else:
            assert_lawful(table, published(table.read(), **choices), {"sensitive": sample}, recoding)


WITHOUT_TREE = [sample for sample in RECODINGS if not sample.tree]


def _loads_alike(release: gh.Release, files: Any, folder: Path) -> None:
    for file, content in files.items():
        (folder / file).write_bytes(content)
    loaded = gh.load(folder)
    assert list(release.tables) == list(loaded.tables)
    for name, table in release.tables.items():
        assert table.to_pylist() == loaded.tables[name].to_pylist()


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("name", ODD_SENSITIVE)
@pytest.mark.parametrize("recoding", WITHOUT_TREE, ids=repr)
def test_sensitive_values_of_any_kind_are_published_as_they_are(
    recoding: RecodingSample, name: str, format: str, tmp_path: Path
) -> None:
    values = ODD_SENSITIVE[name] * 3
    columns = {"age": list(range(len(values))), "sensitive": values}
    table = People(columns=columns, quasi=("age",), categorical=("sensitive",))

    odd = table.read(accept=CAUTIONS)  # odd they are, and that is what is tested
    made = published(odd, principle=gh.LDiversity(ell=2), recoding=recoding.on(table), format=format)

    assert_lawful(table, made, {"sensitive": DIVERSE}, recoding)
    _loads_alike(made.release, made.files, tmp_path)


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Permutation()], ids=repr)
def test_exact_quasi_identifiers_of_any_kind_are_loaded_as_they_were_published(
    recoding: Any, name: str, format: str, tmp_path: Path
) -> None:
    made = published(TABLES[name].read(), principle=gh.LDiversity(ell=2), recoding=recoding, format=format)

    _loads_alike(made.release, made.files, tmp_path)


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("recoding", WITHOUT_TREE, ids=repr)
def test_columns_may_be_called_anything(recoding: RecodingSample, format: str, tmp_path: Path) -> None:
    names = ["a,b", 'say "q"', "row", "group", "data", "name", "qit", "gt", "two\nlines", "ü", "x" * 300]
    columns = {name: [i, i + 1, i, i + 1] for i, name in enumerate(names)} | {"missing": ["s0", "s1", "s1", "s0"]}
    table = People(columns=columns, quasi=tuple(names), sensitive=("missing",))

    made = published(table.read(), principle=gh.LDiversity(ell=2), recoding=recoding.on(table), format=format)

    assert_lawful(table, made, {"missing": DIVERSE}, recoding)
    _loads_alike(made.release, made.files, tmp_path)


@pytest.mark.parametrize("role", ["quasi", "sensitive"])
@pytest.mark.parametrize("name", ["Group-ID", "Batch-ID", "Count"])
@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_a_column_with_the_name_of_an_added_one_is_refused_only_where_one_is_added(
    recoding: RecodingSample, name: str, role: str
) -> None:
    columns: dict[str, Any] = {"place": ["Lund", "Oulu"] * 2, "sensitive": ["s0", "s0", "s1", "s1"]}
    if role == "quasi":
        table = People(columns={**columns, name: [1, 2, 3, 4]}, quasi=("place", name), trees={"place": PLACES})
    else:
        columns = {"place": columns["place"], name: columns["sensitive"]}
        table = People(columns=columns, quasi=("place",), sensitive=(name,), trees={"place": PLACES})
    choices = {"principle": gh.LDiversity(ell=2), "method": gh.Mondrian(), "recoding": recoding.on(table)}

    if name in recoding.recoding.added():
        with pytest.raises(gh.SchemaError, match=f"adds a column '{name}'"):
            published(table.read(), **choices)
    else:
        published(table.read(), **choices)


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_one_tuple_can_be_published_under_no_principle_that_hides_it(method: Any, recoding: RecodingSample) -> None:
    table = People(columns={"place": ["Lund"], "sensitive": ["s0"]}, quasi=("place",), trees={"place": PLACES})

    for sample in PLAIN_PRINCIPLES:
        if not sample.judge(["s0"], ["s0"]) and goes_together(method, sample.principle, recoding.recoding):
            with pytest.raises(gh.Infeasible) as refused:
                published(table.read(), principle=sample.principle, method=method, recoding=recoding.on(table))
            assert sample.witness(["s0"], refused.value)


CLOSE = gh.TCloseness(t="0.1")


@pytest.mark.filterwarnings("ignore:.*protects nobody:glasshouse.DisclosureWarning")
@pytest.mark.parametrize("method", methods_for(CLOSE), ids=repr)
def test_one_tuple_is_its_own_group_under_t_closeness(method: Any) -> None:
    table = gh.read({"age": [30], "s": ["a"]}, quasi=["age"], sensitive="s")

    def of(recoding: Any) -> dict[str, Any]:
        release = published(table, principle=CLOSE, method=method, recoding=recoding).release
        return {name: data.to_pylist() for name, data in release.tables.items()}

    assert of(gh.Boxes()) == {"data": [{"age": "30", "s": "a"}]}
    assert of(gh.Permutation()) == {"data": [{"age": 30, "Group-ID": 1, "s": "a"}]}
    assert of(gh.Anatomy()) == {
        "qit": [{"age": 30, "Group-ID": 1}],
        "st": [{"Group-ID": 1, "s": "a", "Count": 1}],
    }
    assert of(gh.Angel(k=1)) == {
        "bt": [{"Batch-ID": 1, "s": "a", "Count": 1}],
        "gt": [{"age": "30", "Batch-ID": 1}],
    }


@pytest.mark.parametrize("kind", ["numbers", "text"])
@pytest.mark.parametrize("method", [method for method in METHODS if method.name != "opt-gen"], ids=repr)
def test_huge_domains_are_published_lawfully(method: Any, kind: str) -> None:
    numbers = [(i * 7919) % HUGE for i in range(HUGE)]  # 7919 and 100,000 share no factor: every number once
    values = numbers if kind == "numbers" else [f"v{number:06}" for number in numbers]
    table = gh.read({"wide": values, "s": ["a", "b", "c", "d"] * (HUGE // 4)}, quasi=["wide"], sensitive="s")

    made = published(table, principle=gh.LDiversity(ell=2), method=method, recoding=gh.Boxes())

    sensitive = ["a", "b", "c", "d"]
    for group in made.partition:
        counts = [sum(row % 4 == i for row in group) for i in range(len(sensitive))]
        assert max(counts) * 2 <= len(group)
    expected = sum(len(group) for group in made.partition)
    assert HUGE == expected == made.release.data.num_rows
    cells = set(made.release.data["wide"].unique().to_pylist())
    if kind == "numbers":
        assert {_interval([values[row] for row in group]) for group in made.partition} == cells
    else:
        assert {_set([str(values[row]) for row in group]) for group in made.partition} == cells


@pytest.mark.parametrize("kind", ["numbers", "text"])
@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Permutation(), gh.Angel(k=1)], ids=repr)
def test_huge_domains_are_published_exactly(recoding: Any, kind: str) -> None:
    numbers = [(i * 7919) % HUGE for i in range(HUGE)]
    values = numbers if kind == "numbers" else [f"v{number:06}" for number in numbers]
    table = gh.read({"wide": values, "s": ["a", "b", "c", "d"] * (HUGE // 4)}, quasi=["wide"], sensitive="s")

    made = published(table, principle=gh.LDiversity(ell=2), method=gh.Hybrid(), recoding=recoding)

    shown = made.release.tables["gt" if recoding.name == "angel" else "qit" if recoding.name == "anatomy" else "data"]
    number = "Batch-ID" if recoding.name == "angel" else "Group-ID"
    found = dict(zip(map(str, shown["wide"].to_pylist()), shown[number].to_pylist(), strict=True))
    assert found == {str(value): label + 1 for value, label in zip(values, made.labels, strict=True)}


def _interval(values: list[Any]) -> str:
    return str(values[0]) if len(values) == 1 else f"[{min(values)}, {max(values)}]"


def _set(values: list[str]) -> str:
    return values[0] if len(values) == 1 else "{" + ", ".join(sorted(values)) + "}"


@pytest.mark.parametrize("method", methods_for(gh.KAnonymity(k=4)), ids=repr)
def test_a_missing_number_is_published_as_a_range_or_missing(method: Any) -> None:
    table = gh.read(
        {"age": [34, None, 21, None], "s": ["a", "a", "b", "b"]}, quasi=["age"], sensitive="s", missing="category"
    )

    release = published(table, principle=gh.KAnonymity(k=4), method=method).release

    assert {"[21, 34] or missing"} == set(release.data["age"].to_pylist())
    assert "or missing" in release.columns[0].meaning


def test_a_group_in_which_all_are_missing_says_so() -> None:
    table = gh.read(
        {"age": [30, 30, None, None], "s": ["a", "b", "a", "b"]}, quasi=["age"], sensitive="s", missing="category"
    )

    release = published(table, principle=gh.LDiversity(ell=2), recoding=gh.Boxes()).release

    assert ["30", "30", "missing", "missing"] == release.data["age"].to_pylist()


def test_missing_quasi_identifiers_are_empty_where_values_are_exact_and_said_so() -> None:
    table = gh.read(
        {"age": [30, 30, None, None], "s": ["a", "b", "a", "b"]}, quasi=["age"], sensitive="s", missing="category"
    )

    for recoding in (gh.Anatomy(), gh.Permutation()):
        release = published(table, principle=gh.LDiversity(ell=2), recoding=recoding).release

        shown = release.tables["qit" if recoding.name == "anatomy" else "data"]["age"].to_pylist()
        assert Counter(shown) == {30: 2, None: 2}
        assert "empty if missing" in release.columns[0].meaning
