"""Saving and loading a release: whole or not at all, and nothing but what was published."""

from __future__ import annotations

import stat
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import glasshouse as gh

COLUMNS = {
    "age": [30, 31, 32, 33, 34, 35],
    "joined": pa.array([1, 2, 3, 4, 5, 6], pa.date32()),
    "sex": ["F", "M", "F", "M", "F", "M"],
    "disease": ["flu", "ulcer", "flu", "ulcer", "asthma", "asthma"],
}
QUASI = ["age", "joined", "sex"]


RECODINGS = [gh.Boxes(), gh.Anatomy(), gh.Permutation(), gh.Angel(marginals=(("age", "disease"), ("joined", "sex")))]


def release(recoding: object = None, **options: object) -> gh.Release:
    table = gh.read(COLUMNS, quasi=QUASI, sensitive="disease", **options)  # type: ignore[arg-type]
    return gh.publish(table, principle=gh.LDiversity(ell=2), recoding=recoding or gh.Boxes())


def plain(table: pa.Table) -> dict[str, list[object]]:
    return {name: table[name].to_pylist() for name in table.column_names}


@pytest.mark.parametrize("recoding", RECODINGS, ids=lambda recoding: recoding.name)
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_saved_release_loads_as_it_was(format: str, recoding: object, tmp_path: Path) -> None:
    made = release(recoding)
    made.save(tmp_path / "release", format=format)
    loaded = gh.load(tmp_path / "release")

    assert {name: plain(table) for name, table in made.tables.items()} == {
        name: plain(table) for name, table in loaded.tables.items()
    }
    assert (made.recipe, made.guarantee, made.columns) == (loaded.recipe, loaded.guarantee, loaded.columns)
    assert (made.n_tuples, made.n_dropped) == (loaded.n_tuples, loaded.n_dropped)


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_sensitive_numbers_and_gaps_survive_both_formats(format: str, tmp_path: Path) -> None:
    table = gh.read(
        {"age": [1, 2, 3, 4, 5, 6], "ward": [7, None, 7, None, 9, 9]},
        quasi=["age"],
        sensitive="ward",
        categorical=["ward"],
        missing="category",
    )
    made = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Boxes())
    made.save(tmp_path / "release", format=format)

    assert plain(made.data) == plain(gh.load(tmp_path / "release").data)


def test_published_files_can_be_read_by_all_and_audit_files_by_their_owner(tmp_path: Path) -> None:
    table = gh.read(COLUMNS, quasi=QUASI, sensitive="disease")
    gh.publish(table, out=tmp_path / "out", principle=gh.LDiversity(ell=2))

    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    assert {0o755} == {mode(tmp_path / "out" / "release")}
    assert {0o700} == {mode(tmp_path / "out" / "audit")}
    assert {0o644} == {mode(path) for path in (tmp_path / "out" / "release").iterdir()}
    assert {0o600} == {mode(path) for path in (tmp_path / "out" / "audit").iterdir()}


def test_the_audit_keeps_who_is_in_which_group(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    table = gh.read({**COLUMNS, "name": list("abcdef")}, identifier="name", quasi=QUASI, sensitive="disease")
    gh.publish(table, out=tmp_path / "out", principle=gh.LDiversity(ell=2))
    partition = pq.read_table(tmp_path / "out" / "audit" / "partition.parquet")

    assert list("abcdef") == partition["identifier"].to_pylist()
    assert min(partition["group"].to_pylist()) == 1


def test_a_release_with_something_put_beside_it_is_not_replaced(tmp_path: Path) -> None:
    release().save(tmp_path / "release")
    (tmp_path / "release" / "thesis.txt").write_text("years of work")

    with pytest.raises(gh.OutputError, match="not replaced"):
        release().save(tmp_path / "release", force=True)


def test_a_format_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(gh.ParameterError, match="'parquet' or 'csv'"):
        release().save(tmp_path / "release", format="xls")


def test_published_tables_come_back_as_the_type_that_came_in() -> None:
    frames = {"pandas": pd.DataFrame(COLUMNS), "polars": pl.DataFrame(COLUMNS), "arrow": pa.table(COLUMNS)}
    kinds = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.Table}
    for name, frame in frames.items():
        table = gh.read(frame, quasi=["age", "sex"], sensitive="disease")
        back = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Boxes()).to_native()

        assert isinstance(back, kinds[name])
        assert len(back) == 6


def test_a_duckdb_relation_comes_back_as_one() -> None:
    import duckdb

    source = pa.table(COLUMNS)  # duckdb finds it by its name
    relation = duckdb.sql("select age, sex, disease from source")
    table = gh.read(relation, quasi=["age", "sex"], sensitive="disease")
    back = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Boxes()).to_native()

    assert source.num_rows == len(back.fetchall())
    assert isinstance(back, duckdb.DuckDBPyRelation)
