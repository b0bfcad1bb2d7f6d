"""The engine on two threads of one machine: the same files as one process, nothing left, errors without values."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import glasshouse as gh
from glasshouse.randomness import Source
from glasshouse.spark import Engine, SparkFailed
from glasshouse.spark.engine import _translated
from glasshouse.spark.seal import Seal
from glasshouse.spark.worker import Errand, TaskFailed, versions
from tests.doors.spark import toy


def test_spark_writes_the_files_of_one_process(session: Any, tmp_path: Path) -> None:
    expected = toy.Toy(toy.people(1000)).written_here(tmp_path, Source.seeded(3))
    told = []
    with Engine(session, tmp_path, source=Source.seeded(3), progress=lambda *what: told.append(what)) as engine:
        found = toy.Toy(toy.people(1000)).on_spark(engine)

    assert found == expected
    assert len(expected) == 5
    assert told[0] == ("divide", 0, 7)
    assert told[-1] == ("write", 5, 5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bt", "gt"], "what was sealed is gone"


def test_another_key_gives_other_files(session: Any, tmp_path: Path) -> None:
    small = toy.Toy(toy.people(60), largest=30)
    expected = small.written_here(tmp_path, Source.seeded(3))
    with Engine(session, tmp_path, source=Source.seeded(4)) as engine:
        assert small.on_spark(engine) != expected


def fails_naming_a_value(piece: Any, ballast: Any, source: Source) -> Any:
    raise ValueError("CANARY the value of somebody")


def test_an_error_in_a_task_tells_no_value_and_leaves_nothing(session: Any, tmp_path: Path) -> None:
    with Engine(session, tmp_path, source=Source.seeded(3)) as engine, pytest.raises(SparkFailed) as told:
        engine.map_pieces([1], fails_naming_a_value, toy.summary)

    assert "ValueError in test_engine.py, line" in str(told.value)
    assert "CANARY" not in repr(told.getrepr(chain=True))
    assert not list(tmp_path.iterdir())


def test_what_is_large_does_not_travel_with_the_keys(session: Any, tmp_path: Path) -> None:
    large = np.random.default_rng(1).bytes(1 << 20)
    with Engine(session, tmp_path, source=Source.seeded(3)) as engine:
        with pytest.raises(gh.NotSupported, match="give large data to the argument 'ballast'"):
            engine.map_pieces([1], lambda *_: large, toy.summary)
        assert engine.map_pieces(
            [1], lambda _piece, ballast, _source: len(ballast), lambda _p, n, _b: n, ballast=large
        ) == [1 << 20]


def test_rows_that_do_not_fit_are_refused(session: Any, tmp_path: Path) -> None:
    small = toy.Toy(toy.people(60), largest=30)
    with Engine(session, tmp_path, source=Source.seeded(3)) as engine:
        (gt, bt) = small.tables(engine.map_pieces(small.pieces, toy.work, toy.summary, ballast=small.ballast))
        few = [gt, type(bt)(name="bt", n_parts=1, n_words=2)]
        with pytest.raises(
            SparkFailed, match="a row has the number of a part that does not exist: the table has 1 part"
        ):
            engine.shuffle(toy.rows, few, toy.finish, ballast=small.ballast)
        narrow = [gt, type(bt)(name="bt", n_parts=2, n_words=1)]
        with pytest.raises(SparkFailed, match="where 1 column was expected"):
            engine.shuffle(toy.rows, narrow, toy.finish, ballast=small.ballast)


def test_encryption_is_asked_for(tmp_path: Path) -> None:
    plain = SimpleNamespace(version="4.1.0", conf={"spark.master": "spark://somewhere"})

    with pytest.warns(gh.DisclosureWarning, match=r"io\.encryption.*network\.crypto.*spark\.authenticate"):
        Engine(plain, tmp_path, source=Source.seeded(3))  # type: ignore[arg-type]
    plain.version = "3.5.1"
    with pytest.raises(gh.NotSupported, match=r"Spark 3\.5\.1"):
        Engine(plain, tmp_path, source=Source.seeded(3))  # type: ignore[arg-type]


def waits(piece: Any, ballast: Any, source: Source) -> Any:
    time.sleep(300)


def test_a_stop_ends_the_tasks_and_leaves_nothing(session: Any, tmp_path: Path) -> None:
    began = time.monotonic()
    stop = threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    with Engine(session, tmp_path, source=Source.seeded(3)) as engine:
        stop.start()
        with pytest.raises(KeyboardInterrupt):
            engine.map_pieces([1, 2], waits, toy.summary)

    assert time.monotonic() - began < 120
    assert not list(tmp_path.iterdir())
    small = toy.Toy(toy.people(60), largest=30)
    with Engine(session, tmp_path, source=Source.seeded(3)) as engine:  # the threads are free again
        assert small.on_spark(engine)


def test_what_workers_lack_is_told_in_words(tmp_path: Path) -> None:
    told = {
        "glasshouse task: folder": (gh.OutputError, "cannot see"),
        "glasshouse task: versions; the driver has 1, a worker has 2": (gh.NotSupported, "the same versions"),
        "ModuleNotFoundError: No module named 'glasshouse'": (gh.InputError, "Glasshouse is not installed"),
        "glasshouse task: piece 3 failed with ValueError in x.py, line 2": (SparkFailed, "piece 3 failed"),
    }
    for text, (kind, words) in told.items():
        found = _translated(RuntimeError(f"a long story\n{text}\nand its end"), tmp_path)
        assert isinstance(found, kind)
        assert words in str(found)
    assert _translated(RuntimeError("something else"), tmp_path) is None


def test_a_worker_of_other_versions_or_without_the_folder_does_nothing(tmp_path: Path) -> None:
    known: dict[str, Any] = {"seal": Seal.new(), "key": Source.seeded(1).handed_over(), "ballast": "", "n_pieces": 1}
    Errand(folder=str(tmp_path), versions=versions(), **known).check()
    with pytest.raises(TaskFailed, match="folder"):
        Errand(folder=str(tmp_path / "elsewhere"), versions=versions(), **known).check()
    with pytest.raises(TaskFailed, match="versions"):
        Errand(folder=str(tmp_path), versions=("glasshouse 0",), **known).check()


def test_what_is_sealed_opens_under_its_own_label_and_key_alone() -> None:
    seal = Seal.new()
    closed = seal.closed(b"people", "piece 1")
    assert closed == pickle.loads(pickle.dumps(seal)).closed(b"people", "piece 1"), "a task that is repeated"
    assert b"people" not in closed
    assert bytes(seal.opened(seal.closed(b"", "x"), "x")) == b""
    for other, label, content in (
        (seal, "piece 2", closed),
        (Seal.new(), "piece 1", closed),
        (seal, "piece 1", closed[:-1]),
        (seal, "piece 1", b""),
    ):
        with pytest.raises(gh.SourceError, match="changed while it was sent"):
            other.opened(content, label)
