"""A release that Spark makes: the files of one process, in one folder or none, with everything that it promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.journeys import recheck
from glasshouse.streaming import journey
from glasshouse.streaming.publish import publish_file
from tests.doors.spark import attack, product
from tests.doors.spark.product import files

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")  # some methods promise less

ROLES: dict[str, Any] = {"quasi": ["age", "sex", "zipcode"], "sensitive": "disease"}


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = gh.synthetic.hospital(n=2000, seed=1)
    columns = {c.name: c.domain.decode(c.codes) for c in (*table.quasi, *table.sensitive)}
    path = tmp_path_factory.mktemp("data") / "patients.parquet"
    pq.write_table(pa.table({**columns, "patient": np.arange(2000)}), path)
    return path


def test_spark_publishes_the_bytes_of_memory(session: Any, patients: Path, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"principle": "3-diversity", "allow_seed": True}
    frame = session.read.parquet(str(patients)).drop("patient")
    made = gh.spark.publish(
        frame.orderBy("disease").repartition(3), out=tmp_path / "spark", source=gh.Source.seeded(7), **ROLES, **asked
    )
    table = gh.read(pq.read_table(patients).drop_columns(["patient"]), **ROLES)
    expected = gh.publish(table, out=tmp_path / "memory", source=gh.Source.seeded(7), **asked)

    assert files(made.folder) == files(tmp_path / "memory" / "release")
    assert gh.verify(made.folder).holds
    assert made.guarantee == expected.guarantee
    assert {name: own.count() for name, own in made.tables.items()} == {
        name: own.num_rows for name, own in expected.tables.items()
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memory", "spark"]
    made.save(tmp_path / "copy")
    assert files(tmp_path / "copy") == files(made.folder)


@pytest.mark.parametrize("one", [*product.for_engine(0), product.PERTURBED], ids=str)
def test_methods_and_recodings_give_the_bytes_of_one_machine(
    session: Any, one: product.Combination, tmp_path: Path
) -> None:
    expected = product.of_one_machine(one, tmp_path)
    frame = session.read.parquet(str(tmp_path / "people.parquet")).repartition(2, "ill")
    made = gh.spark.publish(frame, out=tmp_path / "spark", source=gh.Source.seeded(11), **one.asked)

    assert files(made.folder) == expected


def test_pieces_and_parts_are_those_of_the_disk_in_any_order(
    session: Any, patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {"principle": "3-diversity", "allow_seed": True, "part_rows": 600, "piece": 700, **ROLES}
    frame = session.read.parquet(str(patients))
    others = frame.orderBy("age", ascending=False).repartition(5)
    told: set[str] = set()
    monkeypatch.setattr(journey, "verify_stream", lambda folder: pytest.fail("the driver counted the release itself"))
    monkeypatch.setattr(recheck, "verify_stream", lambda folder, **_: pytest.fail("the parts were not enough"))
    made = gh.spark.publish(
        others,
        out=tmp_path / "spark",
        source=gh.Source.seeded(7),
        progress=lambda phase, *_: told.add(phase),
        **asked,
    )
    monkeypatch.undo()
    disk = publish_file(tmp_path / "disk", patients, source=gh.Source.seeded(7), **asked)

    assert files(made.folder) == files(disk.folder)
    assert len(made.files["gt"]) > 2
    assert told == {"divide", "write", "count"}
    assert gh.verify(made.folder).holds
    assert gh.load(made.folder).tables["gt"].num_rows == 2000
    assert made.tables["gt"].count() == 2000


def test_people_who_are_suppressed_are_in_no_group_of_the_audit(session: Any, tmp_path: Path) -> None:
    table = pa.table({"x": np.arange(300) % 40, "value": ["most"] * 140 + ["a", "b"] * 80, "who": np.arange(300)})
    pq.write_table(table, tmp_path / "people.parquet")
    roles: dict[str, Any] = {"quasi": ["x"], "sensitive": "value", "identifier": "who"}
    asked: dict[str, Any] = {"principle": "3-diversity", "suppress": "0.3", "recoding": "anatomy", "allow_seed": True}
    made = gh.spark.publish(
        session.read.parquet(str(tmp_path / "people.parquet")),
        out=tmp_path / "spark",
        source=gh.Source.seeded(7),
        **roles,
        **asked,
    )
    gh.publish(gh.read(table, **roles), out=tmp_path / "memory", source=gh.Source.seeded(7), **asked)
    kept = pq.read_table(made.audit / "partition.parquet")

    assert files(made.folder) == files(tmp_path / "memory" / "release")
    assert kept["group"].null_count == made.n_dropped > 0
    nobody = set(kept.filter(kept["group"].is_null())["identifier"].to_pylist())
    assert {value for who, value in zip(range(300), table["value"].to_pylist(), strict=True) if who in nobody} == {
        "most"
    }


@pytest.mark.parametrize("engine", ["memory", "disk", "spark"])
def test_the_order_of_rows_in_files_tells_nothing(session: Any, engine: str, tmp_path: Path) -> None:
    file = attack.write_people(tmp_path)
    if engine == "spark":
        made: Any = gh.spark.publish(session.read.parquet(str(file)), out=tmp_path / "out", **attack.ASKED)
    else:
        made = publish_file(tmp_path / "out", file, engine=engine, partition=False, **attack.ASKED)

    attack.assert_order_tells_nothing(made)


def test_nothing_is_published_where_something_fails(session: Any, patients: Path, tmp_path: Path) -> None:
    frame = session.read.parquet(str(patients))
    asked: dict[str, Any] = {"out": tmp_path / "out", **ROLES}

    def fails(made: Any) -> None:
        assert gh.verify(made.folder).holds
        raise RuntimeError("no report")

    with pytest.raises(RuntimeError, match="no report"):
        gh.spark.publish(frame, principle="3-diversity", finishing=fails, **asked)
    with pytest.raises(gh.Infeasible):
        gh.spark.publish(frame, principle="50-diversity", **asked)
    with pytest.raises(gh.OutputError, match="made with a fixed seed"):
        gh.spark.publish(frame, principle="3-diversity", source=gh.Source.seeded(1), **asked)
    assert not list(tmp_path.iterdir())


def test_the_audit_tells_who_is_where(session: Any, patients: Path, tmp_path: Path) -> None:
    frame = session.read.parquet(str(patients))
    asked: dict[str, Any] = {"principle": "3-diversity", "identifier": "patient", "allow_seed": True, **ROLES}
    asked |= {"part_rows": 700, "piece": 1000, "recoding": "anatomy"}
    made = gh.spark.publish(frame, out=tmp_path / "one", source=gh.Source.seeded(7), **asked)
    other = frame.orderBy("age").repartition(4)
    gh.spark.publish(other, out=tmp_path / "two", source=gh.Source.seeded(7), **asked)
    kept = pq.read_table(made.audit / "partition.parquet")
    people = pq.read_table(patients)
    found = people.join(kept.rename_columns(["patient", "Group-ID"]), "patient")

    assert kept.column_names == ["identifier", "group"]
    assert sorted(kept["identifier"].to_pylist()) == list(range(2000))
    for name, columns in (("qit", [*ROLES["quasi"], "Group-ID"]), ("st", ["Group-ID", "disease"])):
        published = pa.concat_tables([pq.read_table(made.folder / path) for path in made.files[name]])
        rows = [
            tuple(row[column] for column in columns)
            for row in published.to_pylist()
            for _ in range(row.get("Count", 1))
        ]
        assert sorted(rows) == sorted(tuple(row[column] for column in columns) for row in found.to_pylist())
    assert (tmp_path / "two/audit/partition.parquet").read_bytes() == (made.audit / "partition.parquet").read_bytes()
    assert "no identifier was named" not in " ".join(made.notices)
    assert not any("patient" in text for text in made.notices)
