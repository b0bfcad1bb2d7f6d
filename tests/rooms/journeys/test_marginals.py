"""More marginals of a table that was published before: the release grows, and what it said and promised stays."""

from __future__ import annotations

import json
import shutil
import stat
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.journeys.marginals import publish_marginals

N = 60
COLUMNS: dict[str, list[Any]] = {
    "name": [f"p{(7 * i) % N:02}" for i in range(N)],
    "age": [20 + (i * i) % 47 for i in range(N)],
    "sex": ["F" if i % 3 else "M" for i in range(N)],
    "ward": [f"w{(i * 5) % 7}" for i in range(N)],
    "disease": [["flu", "gout", "ulcer", "cold", "asthma"][(i * 3 + i // 7) % 5] for i in range(N)],
}
QUASI = ["age", "sex", "ward"]


def patients(columns: Any = None, *, identifier: str | None = "name", order: Any = None, **options: Any) -> Any:
    columns = columns or COLUMNS
    if order is not None:
        columns = {name: [values[i] for i in order] for name, values in columns.items()}
    roles = {"quasi": QUASI, "sensitive": "disease", "identifier": identifier, **options}
    return gh.read(columns, **roles)


def published(out: Path, table: gh.Microdata | None = None, **choices: Any) -> gh.Release:
    choices = {"principle": gh.LDiversity(ell=3), "recoding": gh.Angel(k=4), **choices}
    return gh.publish(patients() if table is None else table, out=out, **choices)


def bytes_of(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def plain(table: pa.Table) -> list[Any]:
    return table.to_pylist()


MORE = [["ward", "disease"], ["sex", "age"]]


@pytest.mark.parametrize("identifier", ["name", None], ids=["named", "by row"])
@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_new_tables_come_beside_the_old_ones_which_do_not_change(
    format: str, identifier: str | None, tmp_path: Path
) -> None:
    table = patients(identifier=identifier)
    before = published(tmp_path, table, format=format)
    files = bytes_of(tmp_path / "release")

    more = publish_marginals(tmp_path, table, marginals=MORE)

    assert ["bt", "gt", "gt_2", "gt_3"] == list(more.tables)
    now = bytes_of(tmp_path / "release")
    assert {f"{name}.{format}" for name in more.tables} | {"datapackage.json", "README.md"} == set(now)
    for name in ("bt", "gt"):
        assert plain(before.tables[name]) == plain(more.tables[name])
        assert files[f"{name}.{format}"] == now[f"{name}.{format}"]
    loaded = gh.load(tmp_path / "release")
    assert {name: plain(t) for name, t in more.tables.items()} == {n: plain(t) for n, t in loaded.tables.items()}
    assert (more.recipe, more.guarantee, more.columns) == (loaded.recipe, loaded.guarantee, loaded.columns)


def test_the_new_tables_are_over_the_same_batches_and_have_k_people_in_every_cell(tmp_path: Path) -> None:
    table = patients()
    published(tmp_path, table)
    labels = np.array(pq.read_table(tmp_path / "audit" / "partition.parquet")["group"].to_pylist(), np.int32) - 1
    everything = gh.Angel(k=4, marginals=((*QUASI, "disease"), *map(tuple, MORE)))

    more = publish_marginals(tmp_path, table, marginals=MORE)

    batches = gh.Groups(labels, int(labels.max()) + 1)
    at_once = everything.recode(table, batches, buckets=everything.buckets(table, gh.Mondrian().divide))
    assert {name: plain(t) for name, t in at_once.items()} == {name: plain(t) for name, t in more.tables.items()}
    assert ["ward", "Batch-ID"] == more.tables["gt_2"].column_names
    assert ["age", "sex"] == more.tables["gt_3"].column_names  # no sensitive attribute, no batch
    for name in ("gt", "gt_2", "gt_3"):
        cells = Counter(tuple(row[q] for q in QUASI if q in row) for row in plain(more.tables[name]))
        assert min(cells.values()) >= 4


def test_the_guarantee_stays_but_k_is_said_to_hold_for_each_table_by_itself(tmp_path: Path) -> None:
    before = published(tmp_path)
    more = publish_marginals(tmp_path, patients(), marginals=MORE)

    assert (before.n_tuples, before.n_dropped) == (more.n_tuples, more.n_dropped)
    for part in ("promise", "adversary", "adversary_knows", "theorem", "assumptions"):
        assert getattr(before.guarantee, part) == getattr(more.guarantee, part)
    assert len(before.guarantee.limits) == len(more.guarantee.limits)
    assert any(
        "only by k-anonymity with k = 4, which protects the generalized table" in limit
        for limit in before.guarantee.limits
    )
    assert any("each generalized table by itself, but not several together" in limit for limit in more.guarantee.limits)


def test_the_recipe_lists_all_marginals_and_so_does_the_audit(tmp_path: Path) -> None:
    published(tmp_path)
    partition = (tmp_path / "audit" / "partition.parquet").read_bytes()
    more = publish_marginals(tmp_path, patients(), marginals=MORE)

    assert [[*QUASI, "disease"], *MORE] == more.recipe.recoding["marginals"]
    report = json.loads((tmp_path / "audit" / "report.json").read_text())
    assert json.loads(json.dumps(more.recipe.to_data())) == report["recipe"]
    assert pq.read_table(pa.BufferReader(partition)) == pq.read_table(tmp_path / "audit" / "partition.parquet")


def test_marginals_may_be_added_again_and_again(tmp_path: Path) -> None:
    published(tmp_path, recoding=gh.Angel(k=4, marginals=[["sex", "disease"]]))
    publish_marginals(tmp_path, patients(), marginals=[["age", "disease"]])
    last = publish_marginals(tmp_path, patients(), marginals=[["age", "ward"], ["ward"]])

    assert [["sex", "disease"], ["age", "disease"], ["age", "ward"], ["ward"]] == last.recipe.recoding["marginals"]
    assert ["bt", "gt", "gt_2", "gt_3", "gt_4"] == list(last.tables) == list(gh.load(tmp_path / "release").tables)


def test_published_files_can_be_read_by_all_and_audit_files_by_their_owner(tmp_path: Path) -> None:
    published(tmp_path)
    publish_marginals(tmp_path, patients(), marginals=MORE)

    def modes(*paths: Path) -> set[int]:
        return {stat.S_IMODE(path.stat().st_mode) for path in paths}

    assert {0o755} == modes(tmp_path / "release")
    assert {0o700} == modes(tmp_path / "audit")
    assert {0o644} == modes(*(tmp_path / "release").iterdir())
    assert {0o600} == modes(*(tmp_path / "audit").iterdir())
    assert {"release", "audit"} == {path.name for path in tmp_path.iterdir()}


def test_with_an_identifier_the_rows_may_come_in_another_order(tmp_path: Path) -> None:
    order = [(11 * i) % N for i in range(N)]
    for folder in ("one", "two"):
        published(tmp_path / folder, source=gh.Source.seeded(3), allow_seed=True)
    one = publish_marginals(tmp_path / "one", patients(), marginals=MORE, allow_seed=True)

    two = publish_marginals(tmp_path / "two", patients(order=order), marginals=MORE, allow_seed=True)

    assert {name: plain(t) for name, t in one.tables.items()} == {name: plain(t) for name, t in two.tables.items()}
    assert bytes_of(tmp_path / "one" / "release") == bytes_of(tmp_path / "two" / "release")
    partitions = [pq.read_table(tmp_path / folder / "audit" / "partition.parquet") for folder in ("one", "two")]
    assert partitions[0] == partitions[1]


def test_people_who_were_dropped_are_in_no_new_table(tmp_path: Path) -> None:
    diseases = ["flu"] * 30 + COLUMNS["disease"][30:]
    table = patients({**COLUMNS, "disease": diseases})
    before = published(tmp_path, table, suppress="0.5")
    assert before.n_dropped > 0

    more = publish_marginals(tmp_path, table, marginals=MORE)

    assert {before.n_tuples} == {more.tables[name].num_rows for name in ("gt", "gt_2", "gt_3")}
    groups = pq.read_table(tmp_path / "audit" / "partition.parquet")["group"].to_pylist()
    wards = Counter(COLUMNS["ward"][i] for i, number in enumerate(groups) if number is not None)
    assert {ward for ward, count in wards.items() if count} >= {
        cell for cell in more.tables["gt_2"]["ward"].to_pylist() if not cell.startswith("{")
    }


def test_several_sensitive_columns_keep_their_batch_tables(tmp_path: Path) -> None:
    table = patients({**COLUMNS, "other": [f"o{i % 4}" for i in range(N)]}, sensitive=["disease", "other"])
    before = published(tmp_path, table, method=gh.Mondrian(), principle=gh.LDiversity(ell=2))

    more = publish_marginals(tmp_path, table, marginals=[["age", "other"]])

    assert ["bt_1", "bt_2", "gt", "gt_2"] == list(more.tables)
    assert all(plain(before.tables[name]) == plain(more.tables[name]) for name in before.tables)


# What is refused, with nothing changed


def refused(out: Path, error: type[Exception], says: str, table: Any, **options: Any) -> None:
    files = bytes_of(out)
    with pytest.raises(error, match=says):
        publish_marginals(out, table, **{"marginals": MORE, **options})
    assert files == bytes_of(out)
    assert {"release", "audit"} >= {path.name for path in out.iterdir()}


def changed(name: str, row: int, value: Any) -> dict[str, list[Any]]:
    values = list(COLUMNS[name])
    assert values[row] != value
    values[row] = value
    return {**COLUMNS, name: values}


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (changed("disease", 0, "cold"), "comes out differently"),
        (changed("age", 5, 99), "comes out differently"),
        (changed("ward", 5, "w9"), "comes out differently"),
        (changed("name", 0, "stranger"), "1 person of the table was not published before"),
        (
            {name: values[:-1] for name, values in COLUMNS.items()},
            "has 59 records, but the one that was published had 60",
        ),
        ({n: [*v, "p99" if n == "name" else v[0]] for n, v in COLUMNS.items()}, "has 61 records"),
        ({n: v[::-1] if n == "disease" else v for n, v in COLUMNS.items()}, "comes out differently"),
    ],
    ids=["sensitive value", "number", "category", "person", "fewer", "more", "another table"],
)
def test_another_table_is_refused(columns: Any, says: str, tmp_path: Path) -> None:
    published(tmp_path)

    refused(tmp_path, gh.InputError, says, patients(columns))


def test_a_table_without_its_identifier_is_refused(tmp_path: Path) -> None:
    published(tmp_path)

    refused(tmp_path, gh.InputError, "published with an identifier", patients(identifier=None))


def test_a_table_with_an_identifier_that_it_did_not_have_is_refused(tmp_path: Path) -> None:
    published(tmp_path, patients(identifier=None))

    refused(tmp_path, gh.InputError, "published without an identifier", patients())


def test_rows_in_another_order_are_refused_where_nothing_names_them(tmp_path: Path) -> None:
    published(tmp_path, patients(identifier=None))

    refused(tmp_path, gh.InputError, "comes out differently", patients(identifier=None, order=range(N - 1, -1, -1)))


def test_a_table_that_was_read_otherwise_is_refused(tmp_path: Path) -> None:
    published(tmp_path)

    refused(tmp_path, gh.InputError, "comes out differently", patients(quasi=QUASI[::-1]))
    refused(tmp_path, gh.SchemaError, "ward", patients(quasi=QUASI[:2]), marginals=[["age", "disease"]])
    refused(tmp_path, gh.SchemaError, "disease", patients(sensitive="ward", quasi=QUASI[:2]), marginals=[["age"]])


@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Anatomy(), gh.Permutation()], ids=repr)
def test_a_release_by_another_recoding_is_refused(recoding: Any, tmp_path: Path) -> None:
    published(tmp_path, recoding=recoding)

    refused(tmp_path, gh.NotSupported, "with the recoding 'angel' from the start", patients())


@pytest.mark.parametrize(
    ("marginals", "error", "says"),
    [
        ([["age", "illness"]], gh.SchemaError, "illness"),
        ([["disease"]], gh.SchemaError, "no more than the batch table"),
        ([["age", "age"]], gh.ParameterError, "different attributes"),
        ([[]], gh.ParameterError, "none empty"),
        ([["disease", "ward", "sex", "age"]], gh.ParameterError, "different lists"),  # published before
        ([["age"], ["age"]], gh.ParameterError, "different lists"),
    ],
)
def test_marginals_that_make_no_sense_are_refused(marginals: Any, error: Any, says: str, tmp_path: Path) -> None:
    published(tmp_path)

    refused(tmp_path, error, says, patients(), marginals=marginals)


def test_without_the_audit_nothing_can_be_added(tmp_path: Path) -> None:
    published(tmp_path)
    shutil.rmtree(tmp_path / "audit")

    refused(tmp_path, gh.SourceError, "without it no marginal table can be added", patients())


def test_without_a_release_nothing_can_be_added(tmp_path: Path) -> None:
    with pytest.raises(gh.SourceError, match="is not a release"):
        publish_marginals(tmp_path, patients(), marginals=MORE)


def test_a_release_that_was_tampered_with_is_refused(tmp_path: Path) -> None:
    published(tmp_path, format="csv")
    file = tmp_path / "release" / "bt.csv"
    file.write_text(file.read_text().replace("gout", "cold"))

    refused(tmp_path, gh.OutputError, "bt.csv was changed since", patients())


def test_a_seeded_release_grows_only_where_that_is_allowed(tmp_path: Path) -> None:
    published(tmp_path, source=gh.Source.seeded(1), allow_seed=True)

    refused(tmp_path, gh.OutputError, "fixed seed", patients())
    assert publish_marginals(tmp_path, patients(), marginals=MORE, allow_seed=True).recipe.seeded


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_parts_stay_as_they_are_and_large_new_tables_are_parted_too(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = patients()
    for large in ("publish", "marginals"):
        monkeypatch.setattr(f"glasshouse.journeys.{large}.PART_ROWS", 17)
    published(tmp_path, table, format=format)
    before = bytes_of(tmp_path / "release")
    grown = publish_marginals(tmp_path, table, marginals=MORE)
    after = bytes_of(tmp_path / "release")

    assert f"gt/part-00001.{format}" in before
    told = ("README.md", "datapackage.json")
    assert {name: after.get(name) for name in before if name not in told} == {
        name: content for name, content in before.items() if name not in told
    }
    assert {f"{name}/part-00001.{format}" for name in ("gt_2", "gt_3")} <= after.keys()
    assert gh.verify(tmp_path).holds

    monkeypatch.setattr("glasshouse.journeys.marginals.PART_ROWS", 1 << 21)
    shutil.rmtree(tmp_path / "release")
    shutil.rmtree(tmp_path / "audit")
    monkeypatch.setattr("glasshouse.journeys.publish.PART_ROWS", 1 << 21)
    whole = published(tmp_path, table)
    again = publish_marginals(tmp_path, table, marginals=MORE)
    assert list(whole.tables) == ["bt", "gt"]
    for name in ("gt_2", "gt_3"):  # whatever the batches, the cells are the same
        cells = [column for column in again.tables[name].column_names if column != "Batch-ID"]
        assert plain(again.tables[name].select(cells)) == plain(grown.tables[name].select(cells))
