"""A saved folder is a function of what a table says: every method with every recoding, every file byte by byte.

`test_invariance` tries many small tables in many clothes. Here one table of some size goes through everything in the
catalogue, and whole folders are compared: tables in both formats, description and README.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
import glasshouse.journeys.publish as journey
from glasshouse.pages.report.publication import Publication
from glasshouse.release.package.flat import write_flat
from tests.laws.people import PLACES, SENSITIVE, SENSITIVE_ORDER, SENSITIVE_TREE, People, leaves
from tests.laws.samples import METHODS, PERTURBED, RECODINGS, SMALL_TABLES, TARGETS, RecodingSample, kept

PRINCIPLE = gh.LDiversity(ell=2)  # which every method serves and every recoding keeps
COMBINED: list[tuple[Any, Any, RecodingSample]] = [
    *((PRINCIPLE, method, recoding) for method in METHODS for recoding in RECODINGS),
    *((TARGETS[0], gh.Mondrian(), recoding) for recoding in PERTURBED),
]
assert all(kept(sample.recoding, PRINCIPLE) for sample in RECODINGS)

every_release = pytest.mark.parametrize(("principle", "method", "recoding"), COMBINED, ids=repr)
pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")  # some methods promise less


@cache
def hospital(n: int) -> People:
    """Some people have all quasi-identifiers alike, some have none, and the rows are in no order."""
    places = [*leaves(PLACES), None]
    places.remove("Alta")  # where nobody lives
    rows = np.random.default_rng(8).permutation(n).tolist()
    columns: dict[str, list[Any]] = {
        "place": [places[row // 3 % 9] for row in rows],
        "age": [30 + row * row % 17 for row in rows],
        "sensitive": [SENSITIVE[row * 5 % 6 if row % 4 else row % 3] for row in rows],
        "who": [f"person {row}" for row in rows],
    }
    return People(columns=columns, quasi=("place", "age"), identifier="who", trees={"place": PLACES})


def size_for(method: Any) -> int:
    return 8 if method.name in SMALL_TABLES else 44


# --- the same people, in other words ---------------------------------------------------------------------------------


def _rows_permuted(table: People, folder: Path) -> Any:
    return table.permuted(np.random.default_rng(1).permutation(table.n).tolist()).arrow()


def _index_replaced(table: People, folder: Path) -> Any:
    frame = table.arrow().to_pandas()
    frame.index = pd.Index([f"row {7 * i % table.n}" for i in range(table.n)], name="age")
    return frame


def _dictionaries_turned_round(table: People, folder: Path) -> Any:
    return _with_dictionaries(table, unused=[])


def _unused_categories_added(table: People, folder: Path) -> Any:
    return _with_dictionaries(table, unused=["Alta", "aaa nobody has received it", "zzz nobody has received it"])


def _with_dictionaries(table: People, unused: list[str]) -> pa.Table:
    whole = table.arrow()
    for i, name in enumerate(whole.column_names):
        if pa.types.is_string(whole[name].type):
            known = [*unused[:2], *sorted(set(whole[name].drop_null().to_pylist()), reverse=True), *unused[2:]]
            codes = pa.array([None if value is None else known.index(value) for value in table.columns[name]])
            whole = whole.set_column(i, name, pa.DictionaryArray.from_arrays(codes.cast(pa.int16()), known))
    return whole


def _categories_of_pandas(table: People, folder: Path) -> Any:
    frame = table.arrow().to_pandas()
    frame["sensitive"] = pd.Categorical(frame["sensitive"], categories=["nobody has received it", *reversed(SENSITIVE)])
    frame["place"] = pd.Categorical(frame["place"])
    return frame


def _unused_columns_added(table: People, folder: Path) -> Any:
    numbers = pa.array(np.random.default_rng(2).random(table.n))
    return table.arrow().add_column(0, "a", numbers).append_column("z", pa.array([f"note {i}" for i in range(table.n)]))


def _people_renamed(table: People, folder: Path) -> Any:
    return table.with_columns({"who": [f"{name!r} renamed {i % 7}" for i, name in enumerate(table.columns["who"])]})


def _in_a_file(table: People, folder: Path) -> Any:
    pq.write_table(table.arrow(), folder / "people.parquet", row_group_size=9)
    return folder / "people.parquet"


def _in_a_file_of_another_name_elsewhere(table: People, folder: Path) -> Any:
    (folder / "moved" / "away").mkdir(parents=True)
    return _in_a_file(table, folder / "moved" / "away").rename(folder / "moved" / "renamed.parquet")


def _in_a_text_file(table: People, folder: Path) -> Any:
    pa_csv.write_csv(_rows_permuted(table, folder), folder / "people.csv")
    return folder / "people.csv"


ALTERED: dict[str, Callable[[People, Path], Any]] = {
    alter.__name__.strip("_"): alter
    for alter in (
        _rows_permuted,
        _index_replaced,
        _dictionaries_turned_round,
        _unused_categories_added,
        _categories_of_pandas,
        _unused_columns_added,
        _people_renamed,
        _in_a_file,
        _in_a_file_of_another_name_elsewhere,
        _in_a_text_file,
    )
}


@pytest.fixture(scope="module")
def altered(tmp_path_factory: pytest.TempPathFactory) -> Mapping[int, Mapping[str, gh.Microdata]]:
    """By size, the table as it is and in all other words: read once, for all."""
    read: dict[int, dict[str, gh.Microdata]] = {}
    for n in sorted({size_for(method) for method in METHODS}):
        table = hospital(n)
        read[n] = {"as it is": table.read()}
        for name, alter in ALTERED.items():
            source = alter(table, tmp_path_factory.mktemp(name))
            read[n][name] = source.read() if isinstance(source, People) else table.read(source)
    return read


def saved(table: gh.Microdata, folder: Path, seed: int = 5, **choices: Any) -> dict[str, bytes]:
    """Every byte that goes out, in both formats; saving a release writes what publishing to a folder does."""
    source = gh.Source.seeded(seed)
    release = gh.publish(table, out=folder / "out", source=source, allow_seed=True, threads=1, **choices)
    release.save(folder / "csv", format="csv", allow_seed=True)
    release.save(folder / "parquet", allow_seed=True)
    found = {"parquet": bytes_of(folder / "parquet"), "csv": bytes_of(folder / "csv")}
    assert found["parquet"] == bytes_of(folder / "out" / "release")
    assert all({"datapackage.json", "README.md"} < set(files) for files in found.values())
    return {f"{format}/{name}": content for format, files in found.items() for name, content in files.items()}


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@every_release
def test_every_file_is_the_same_byte_by_byte_for_the_same_people_in_other_words(
    principle: Any, method: Any, recoding: RecodingSample, altered: Any, tmp_path: Path
) -> None:
    table = hospital(size_for(method))
    choices = {"principle": principle, "method": method, "recoding": recoding.on(table)}
    folders = iter(tmp_path / str(i) for i in range(99))
    expected = saved(altered[table.n]["as it is"], next(folders), **choices)

    for name in ALTERED:
        assert expected == saved(altered[table.n][name], next(folders), **choices), name


# --- at fixed groups, it does not matter who has which value ---------------------------------------------------------


def groups_within(labels: np.ndarray) -> Iterator[np.ndarray]:
    yield from (np.flatnonzero(labels == label) for label in range(labels.max() + 1))


@every_release
def test_who_in_a_group_has_which_value_changes_no_byte_of_any_file(
    principle: Any, method: Any, recoding: RecodingSample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = hospital(size_for(method))
    choices = {"principle": principle, "method": method, "recoding": recoding.on(table)}
    divided, made = journey._divided, []

    def as_before(*given: Any) -> Any:
        made.append(made[0] if made else divided(*given))
        return made[0]

    monkeypatch.setattr(journey, "_divided", as_before)
    expected = saved(table.read(), tmp_path / "0", **choices)
    draws, values = np.random.default_rng(3), np.array(table.columns["sensitive"], object)
    for turn in ("1", "2"):
        moved = values.copy()
        for rows in groups_within(made[0][1].labels):
            moved[rows] = values[draws.permutation(rows)]
        assert (moved != values).any()

        exchanged = table.with_columns({"sensitive": moved.tolist()}).read()
        assert expected == saved(exchanged, tmp_path / turn, **choices)
    assert len(made) == 3


# --- the flat table that a spreadsheet's file gets by default ---------------------------------------------------------


def beside(table: People, file: Path, folder: Path, recoding: str, **choices: Any) -> dict[str, bytes]:
    """Every byte that may go out where a CSV file is published and nobody chose how: the release and the flat table."""
    if not file.exists():
        pa_csv.write_csv(table.arrow(), file)
    asked = {"quasi": ["place", "age"], "sensitive": ["sensitive"], "identifier": "who", "missing": "category"}
    asked |= {"file": str(file), "ell": 2, "recoding": recoding, "report": "none", "out": str(folder), **choices}
    work = Publication(asked, source=gh.Source.seeded(5))
    work.publish(work.prepare())
    assert {"release", "flat", "audit"} == {path.name for path in folder.iterdir()}
    found = {name: bytes_of(folder / name) for name in ("release", "flat")}
    assert {"table.csv", "README.md", "contents.json"} == set(found["flat"])
    return {f"{name}/{file}": content for name, files in found.items() for file, content in files.items()}


@pytest.mark.parametrize("recoding", ["angel", "anatomy"])
def test_a_flat_table_is_the_same_byte_by_byte_for_the_same_people_in_another_file(
    recoding: str, tmp_path: Path
) -> None:
    table = hospital(44)
    expected = beside(table, tmp_path / "people.csv", tmp_path / "0", recoding)
    wide = table.arrow().append_column("unused", pa.array(range(table.n)))
    pa_csv.write_csv(wide.select(["unused", "who", "sensitive", "age", "place"]), tmp_path / "wide.csv")
    pa_csv.write_csv(table.arrow(), tmp_path / "tabs.tsv", pa_csv.WriteOptions(delimiter="\t"))
    others = {
        "permuted.csv": table.permuted(np.random.default_rng(1).permutation(table.n).tolist()),
        "renamed.csv": table.with_columns({"who": [f"{i % 7} {name}" for i, name in enumerate(table.columns["who"])]}),
        "wide.csv": table,
        "tabs.tsv": table,
    }
    for name, other in others.items():
        assert expected == beside(other, tmp_path / name, tmp_path / f"of {name}", recoding), name
    asked = {"repeated": "sample"}  # which reads the table as a whole, and not in batches
    whole = beside(table, tmp_path / "people.csv", tmp_path / "whole", recoding, **asked)
    assert whole == beside(others["permuted.csv"], tmp_path / "permuted.csv", tmp_path / "other", recoding, **asked)


@pytest.mark.parametrize("recoding", ["angel", "anatomy"])
def test_who_in_a_group_has_which_value_changes_no_byte_of_a_flat_table(
    recoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = hospital(44)
    divided, made = journey._divided, []

    def as_before(*given: Any) -> Any:
        made.append(made[0] if made else divided(*given))
        return made[0]

    monkeypatch.setattr(journey, "_divided", as_before)
    asked = {"repeated": "sample"}  # which reads the table as a whole
    expected = beside(table, tmp_path / "0.csv", tmp_path / "0", recoding, **asked)
    values = np.array(table.columns["sensitive"], object)
    moved = values.copy()
    for rows in groups_within(made[0][1].labels):
        moved[rows] = values[np.roll(rows, 1)]
    assert (moved != values).any()
    exchanged = table.with_columns({"sensitive": moved.tolist()})
    assert expected == beside(exchanged, tmp_path / "1.csv", tmp_path / "1", recoding, **asked)
    assert len(made) == 2


@pytest.mark.parametrize("recoding", ["angel", "anatomy"])
def test_everybody_who_has_the_release_can_draw_the_flat_table(recoding: str, tmp_path: Path) -> None:
    files = beside(hospital(44), tmp_path / "people.csv", tmp_path / "out", recoding)
    shutil.copytree(tmp_path / "out" / "release", tmp_path / "elsewhere")
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "people.csv").unlink()
    release, source = gh.load(tmp_path / "elsewhere"), gh.Source.seeded(5).child("flat table")
    drawn = [gh.sample(release, source=source)]
    write_flat(tmp_path / "flat", drawn, release=tmp_path / "elsewhere", n_tuples=release.n_tuples)
    assert {name: content for name, content in files.items() if name.startswith("flat/")} == {
        f"flat/{name}": content for name, content in bytes_of(tmp_path / "flat").items()
    }


# --- what is said beside the tables ----------------------------------------------------------------------------------

DECLARED = {"nothing": {}, "order": {"orders": SENSITIVE_ORDER}, "tree": {"trees": SENSITIVE_TREE}}


@pytest.mark.parametrize("declared", DECLARED)
def test_beside_a_perturbed_table_nothing_tells_which_values_people_have(declared: str, tmp_path: Path) -> None:
    """A corrupting attacker knows everyone's value but one: a list of those that occur would tell the last."""
    domain = [*SENSITIVE, "never seen"]
    recoding = gh.Perturbed(p="1/10", domain=domain)
    tellings = []
    for i, victim in enumerate(["s0", "s5", "never seen"]):
        table = People(
            columns={"age": list(range(12)), "sensitive": ["s0", "s1", "s2"] * 3 + ["s1", "s2", victim]},
            quasi=("age",),
            **{role: {"sensitive": value} for role, value in DECLARED[declared].items()},
        )
        tellings.append(told(saved(table.read(), tmp_path / str(i), principle=TARGETS[1], recoding=recoding)))

    assert tellings[0] == tellings[1] == tellings[2]


def told(files: Mapping[str, bytes]) -> dict[str, Any]:
    """What is said beside the published rows: the README, the description without sums and shown values, the types."""
    found: dict[str, Any] = {}
    for name, content in files.items():
        if name.endswith(".md"):
            found[name] = content
        elif name.endswith(".json"):
            found[name] = _without_published_values(json.loads(content))
        elif name.endswith(".parquet"):
            found[name] = pq.read_schema(pa.BufferReader(content))
    return found


def _without_published_values(manifest: Any) -> Any:
    for described in (*manifest["resources"], *manifest["glasshouse"]["files"]):
        described.pop("hash")
        described.pop("bytes", None)
    for resource in manifest["resources"]:
        for field in resource["schema"]["fields"]:
            field.pop("categories", None)
    for column in manifest["glasshouse"]["columns"]:
        column.get("declared", {}).pop("nodes", None)  # the cells again, and how they lie within each other
    return manifest


GAPS: dict[str, list[Any]] = {
    "age": [None, 2, 3, 4, 5, 6],
    "city": [None, "Rome", "Oslo", "Rome", "Oslo", "Rome"],
    "sensitive": ["flu"] * 4 + ["gout", "cold"],
}


@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_that_a_dropped_person_had_gaps_is_told_nowhere(recoding: RecodingSample, tmp_path: Path) -> None:
    """Not by what columns are said to mean, nor by their types: all is as if the gaps had been values."""
    gaps = People(columns=GAPS, quasi=("city", "age"), trees={"city": {"anywhere": ["Oslo", "Rome"]}})
    filled = gaps.with_columns({"age": [4, *GAPS["age"][1:]], "city": ["Oslo", *GAPS["city"][1:]]})
    choices = {"principle": gh.LDiversity(ell=2), "recoding": recoding.on(gaps), "suppress": "0.4"}
    expected, compared = told(saved(filled.read(), tmp_path / "filled", method=gh.Mondrian(), **choices)), 0
    for seed in range(20):
        out = tmp_path / str(seed)
        files = saved(gaps.read(), out, seed=seed, method=gh.Mondrian(), **choices)
        if pq.read_table(out / "out" / "audit" / "partition.parquet")["group"].to_pylist()[0] is None:
            compared += 1
            assert expected == told(files)
    assert compared > 2
