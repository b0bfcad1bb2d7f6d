"""Tables: UCI's own text and any other file of the same rows are one table, and nothing is fetched unasked."""

from __future__ import annotations

import gzip
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from glasshouse.errors import ParameterError, SourceError
from glasshouse.papers import data
from glasshouse.papers.data import Data, open_data


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_given: Any, **_more: Any) -> None:
        raise urllib.error.URLError("no network in tests")

    monkeypatch.setattr(urllib.request, "urlopen", refused)


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> list[str]:
    """Adult as UCI wrote it, line by line; its SHA-256 is that of adult.data and adult.test."""
    table = pq.read_table(shared_data / "adult.parquet")
    parts = {"train": "", "test": "."}
    columns = [table[name].to_pylist() for name in table.column_names]
    return [
        ", ".join("?" if value is None else str(value) for value in row[:-1]) + parts[row[-1]]
        for row in zip(*columns, strict=True)
    ]


def test_the_text_of_uci_is_read_plain_and_packed(adult: list[str], tmp_path: Path) -> None:
    text = ("|1x3 Cross validator\n" + "\n".join(adult) + "\n\n").encode()
    (tmp_path / "adult.data").write_bytes(text)
    (tmp_path / "adult.data.gz").write_bytes(gzip.compress(text))

    for name in ("adult.data", "adult.data.gz"):
        form, table = data.read_file(tmp_path / name)
        assert form is data.ADULT
        assert table.num_rows == 48_842
        assert data.digest(table) == data.ADULT.sha256


@pytest.mark.parametrize(("name", "form"), [("adult", data.ADULT), ("census_income_kdd", data.CENSUS)])
def test_a_parquet_file_of_the_same_rows_is_the_same_table(shared_data: Path, name: str, form: data.Form) -> None:
    found, table = data.read_file(shared_data / f"{name}.parquet")

    assert found is form
    assert data.digest(table) == form.sha256


def test_a_table_with_another_row_is_said_to_be_another(shared_data: Path, tmp_path: Path) -> None:
    table = pq.read_table(shared_data / "adult.parquet").slice(1)
    pq.write_table(table, tmp_path / "other.parquet")

    other, same = (open_data(path, 100_000) for path in (tmp_path / "other.parquet", shared_data / "adult.parquet"))
    assert "NOT as UCI has it" in other.about
    assert ", as UCI has it, the 45,222 complete rows" in same.about
    assert (other.given, same.given) == ("other.parquet", "adult")  # who has no such file can fetch it


def test_a_packed_file_that_is_cut_off_is_refused(adult: list[str], tmp_path: Path) -> None:
    (tmp_path / "adult.gz").write_bytes(gzip.compress("\n".join(adult).encode())[:-50_000])

    with pytest.raises(SourceError, match="cannot be unpacked"):
        data.read_file(tmp_path / "adult.gz")


def test_without_a_network_the_error_says_what_else_to_give() -> None:
    with pytest.raises(SourceError, match="--data PATH"):
        open_data("census", 100)


def test_the_synthetic_census_and_local_files_fetch_nothing(shared_data: Path) -> None:
    assert open_data("synthetic", 100).n == 100
    assert open_data(shared_data / "adult.parquet", 100).n == 100


def test_other_files_and_sizes_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")

    with pytest.raises(SourceError, match="neither the columns of Adult nor those of Census-Income"):
        open_data(tmp_path / "other.csv", 10)
    with pytest.raises(SourceError, match="cannot be read"):
        open_data(tmp_path / "nothing.csv", 10)
    with pytest.raises(ParameterError, match="rows"):
        open_data("synthetic", 0)


def depth(tree: Any) -> int:
    return 1 + max(map(depth, tree.values())) if isinstance(tree, dict) else 1


def leaves(tree: Any) -> list[int]:
    return [n for below in tree.values() for n in leaves(below)] if isinstance(tree, dict) else [int(n) for n in tree]


@pytest.mark.parametrize("given", ["synthetic", "adult.parquet", "census_income_kdd.parquet"])
def test_taxonomies_have_the_heights_of_anatomy_table_6_and_every_value_once_in_order(
    given: str, shared_data: Path
) -> None:
    data = open_data(given if given == "synthetic" else shared_data / given, 100_000)

    heights = {"gender": 2, "marital": 3, "race": 2, "workclass": 4, "country": 3}
    assert {name: depth(tree) for name, tree in data.taxonomies.items()} == heights
    for name, tree in data.taxonomies.items():
        assert leaves(tree) == sorted(set(leaves(tree)))
        assert set(leaves(tree)) >= set(data.table[name].unique().to_pylist())


def test_fewer_people_are_some_of_them_in_their_order() -> None:
    data = Data(
        name="x",
        about="ten",
        given="x",
        table=pa.table({"age": list(range(10))}),
        sensitive={},
        taxonomies={},
        classes={},
        designated={},
    )

    some = data.fewer(4)
    assert some.table["age"].to_pylist() == sorted(set(some.table["age"].to_pylist()))
    assert some.n == 4
    assert some.about == "ten; 4 of them, drawn at random"
    assert data.fewer(10) is data
