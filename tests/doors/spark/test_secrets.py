"""No key is left in what Spark writes and shows; the same search finds a key that was put there.

Spark's own encryption and compression are off here, so that the search can read what it finds.
"""

from __future__ import annotations

import pickle
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.randomness import Source
from glasshouse.spark import Engine
from tests.doors.spark import scan, sessions, toy

pytestmark = pytest.mark.filterwarnings(
    "ignore:Spark does not protect the table enough:glasshouse.errors.DisclosureWarning"
)

NAMED = [f"somebody {i:03}" for i in range(300)]
NAMES = [name.encode() for name in NAMED]
PLAIN = {
    "spark__io__encryption__enabled": False,
    "spark__ui__enabled": True,
    "spark__eventLog__enabled": True,
    "spark__eventLog__compress": False,
    "spark__eventLog__logBlockUpdates__enabled": True,
    "spark__eventLog__longForm__enabled": True,
    "spark__shuffle__compress": False,
    "spark__shuffle__spill__compress": False,
    "spark__broadcast__compress": False,
    "spark__rdd__compress": False,
    "spark__sql__maxPlanStringLength": 10_000_000,
    "spark__ui__dagGraph__retainedRootRDDs": 1000,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("spark")
    (made / "events").mkdir()
    return made


@pytest.fixture(scope="module")
def session(folder: Path) -> Iterator[Any]:
    with sessions.running(folder, **PLAIN, spark__eventLog__dir=(folder / "events").as_uri()) as made:
        yield made


class Seen:
    """Everything that Spark wrote and shows, read while it is there."""

    def __init__(self, session: Any, folder: Path) -> None:
        self.session, self.folder, self.began = session, folder, time.time() - 1
        self.frames: list[Any] = []  # kept, so that their shuffle files are
        self.plans: dict[str, bytes] = {}

    def plan(self, frame: Any, capsys: pytest.CaptureFixture[str]) -> None:
        capsys.readouterr()
        for mode in ("extended", "formatted", "codegen", "cost"):
            frame.explain(mode=mode)
        self.frames.append(frame)
        self.plans[f"plan {len(self.frames)}"] = capsys.readouterr().out.encode()

    def everything(self) -> dict[str, bytes]:
        context = self.session.sparkContext
        temporary = Path(tempfile.gettempdir())
        others = [p for p in temporary.glob("*spark*") if p.is_dir() and p.stat().st_mtime >= self.began]
        found = {
            # all folders of this run: Java keeps the place of the first session's temporary files
            **scan.contents([self.folder.parent, *others]),
            **scan.pages(context.uiWebUrl, context.applicationId),
            **self.plans,
        }
        assert any("shuffle_" in place and content for place, content in found.items()), "there are shuffle files"
        assert any("/events/" in place and content for place, content in found.items()), "there is an event log"
        for page in ("/SQL/execution/", "/jobs/job/", "/stages/stage/", "/api/"):
            assert any(place.startswith(page) for place in found)
        return found


def test_no_key_is_left_in_what_spark_writes_and_shows(
    session: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = Seen(session, folder)
    run = Engine._run

    def watched(engine: Any, phase: str, kind: str, total: int, frame: Any) -> Any:
        seen.plan(frame, capsys)
        done = run(engine, phase, kind, total, frame)
        inside.update(scan.contents([tmp_path]))
        if phase == "reunite":
            parts = {place: text for place, text in scan.contents([engine._folder]).items() if "/partition-" in place}
            assert len(parts) > 1
            assert not [place for place, text in parts.items() if any(name in text for name in NAMES)], (
                "the audit is sealed"
            )
            reunited.update(parts)
        return done

    inside: dict[str, bytes] = {}
    reunited: dict[str, bytes] = {}
    monkeypatch.setattr(Engine, "_run", watched)
    source = Source.secure()
    with Engine(session, tmp_path, source=source) as engine:
        toy.Toy(toy.people(400)).on_spark(engine)
        release = Source.seeded(2024)
        _published(session, tmp_path, release)
        found = {**seen.everything(), **inside}
    keys = {
        "a release": release._key,
        "its numbers": release.child("group numbers")._key,
        "its recoding": release.child("recoding")._key,
        "its audit": release.child("who is who")._key,
        "the source": source._key,
        "a piece": source.child("piece", 1)._key,
        "the seal": engine._seal._key,
    }

    assert {what: scan.places(key, found) for what, key in keys.items()} == {what: {} for what in keys}
    for page in ("/SQL/execution/", "/api/", "plan"):
        assert any(b"glasshouse" in text for place, text in found.items() if place.startswith(page)), "our tasks"
    assert sum("/piece/" in place or "/result/" in place or "/ballast" in place for place in inside) > 6
    assert b"value 3" in pickle.dumps(toy.Toy(toy.people(4)).ballast)
    assert reunited
    published = ("/part/", "/bt/", "/gt/")
    shown = [place for place, text in found.items() if b"value 3" in text and not any(p in place for p in published)]
    assert shown == [], "ballast is sealed"


def _published(session: Any, folder: Path, source: Source) -> None:
    """A release with an audit, in parts."""
    table = toy.people(300)
    file = folder / "people.parquet"
    pq.write_table(table.set_column(1, "value", table["value"].cast("string")).append_column("who", [NAMED]), file)
    gh.spark.publish(
        session.read.parquet(str(file)),
        out=folder / "out",
        quasi=["point"],
        sensitive="value",
        identifier="who",
        principle="2-diversity",
        part_rows=100,
        piece=100,
        source=source,
        allow_seed=True,
    )


def test_the_search_finds_keys_that_were_put_there(
    session: Any, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyspark.sql import functions

    seen = Seen(session, folder)
    literal, setting, column, shown, closure = (Source.secure()._key for _ in range(5))
    session.conf.set("spark.sql.glasshouse.key", str(int.from_bytes(setting, "big")))
    frame = session.range(4).select("id", functions.lit(literal.hex()).alias("key"))
    seen.plan(frame, capsys)
    frame.toArrow()
    data = session.createDataFrame([(i, bytearray(column)) for i in range(4)], "id int, key binary")
    seen.plan(data.repartition(2, "id"), capsys)
    seen.frames[-1].toArrow()
    large = np.random.default_rng(1).bytes(2 << 20)

    def kept(batches: Any) -> Any:
        yield from (batch for batch in batches if closure and large)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        seen.frames.append(session.range(1).mapInArrow(kept, "id long"))
    seen.frames[-1].toArrow()
    session.range(1).select(functions.rand(int.from_bytes(shown[:7], "big"))).toArrow()

    found = seen.everything()

    assert set(scan.places(literal, found)) == {"hex"}
    events = [place for place in scan.places(literal, found)["hex"] if "/events/" in place]
    pages = [place for place in scan.places(literal, found)["hex"] if place.startswith(("/SQL", "/api"))]
    plans = [place for place in scan.places(literal, found)["hex"] if place.startswith("plan")]
    assert events
    assert pages
    assert plans
    assert any("shuffle_" in place for place in scan.places(column, found)["raw"])
    assert scan.places(closure, found)["raw"], "a function of over 1 MiB lies in a file"
    assert scan.places(setting, found).keys() == {"decimal"}
    assert any(str(int.from_bytes(shown[:7], "big")).encode() in content for content in found.values())


def test_every_form_is_found() -> None:
    key = Source.secure()._key
    import base64

    for form, text in scan.forms(key).items():
        assert scan.places(key, {"here": b"before" + text + b"after"}).get(form) == ["here"]
    for before in (b"", b"a", b"ab", b"abc", b"abcd"):
        assert any("base64" in form for form in scan.places(key, {"x": base64.b64encode(before + key + b"more")}))
        assert any("base64" in form for form in scan.places(key, {"x": base64.b64encode(before + key)}))
