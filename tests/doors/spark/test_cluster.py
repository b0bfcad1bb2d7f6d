"""A cluster of several processes: the files of one process, also where an executor is killed in the middle."""

from __future__ import annotations

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
from tests.doors.spark import attack, cluster, product, scan, sessions, toy
from tests.tiers import LOOK

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")  # some methods promise less


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cluster.Cluster]:
    with cluster.running(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(scope="module")
def session(machines: cluster.Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    settings = {name.replace(".", "__"): value for name, value in cluster.ENCRYPTED.items()}
    quick = {"spark__shuffle__io__retryWait": "100ms", "spark__shuffle__io__maxRetries": 1}
    with sessions.running(tmp_path_factory.mktemp("spark"), machines.address, **settings, **quick) as made:
        yield made


@pytest.mark.skipif(not LOOK, reason="it takes long: with GLASSHOUSE_LOOK=1, as in `make prove`")
def test_an_executor_that_is_killed_among_parts_changes_no_byte(
    machines: cluster.Cluster, session: Any, tmp_path: Path
) -> None:
    killed = []

    def kill(step: str, done: int, total: int) -> None:
        if step == "write" and 0 < done < total and not killed:  # what it had ready for others is lost with it
            killed.append(machines.kill_one())

    job = toy.Toy(toy.people(1500))
    expected = job.written_here(tmp_path, Source.seeded(5))
    with warnings.catch_warnings():
        warnings.simplefilter("error", gh.DisclosureWarning)  # all that is asked for is on
        engine = Engine(session, tmp_path, source=Source.seeded(5), progress=kill)
    with engine:
        assert job.on_spark(engine, seconds=0.4) == expected

    assert killed, "the executor was killed in the middle"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bt", "gt"]


@pytest.mark.parametrize("one", product.for_engine(1), ids=str)
def test_a_release_of_a_cluster_is_that_of_one_machine_though_an_executor_dies(
    machines: cluster.Cluster, session: Any, one: product.Combination, tmp_path: Path
) -> None:
    killed: list[int] = []
    dies = LOOK or one == product.for_engine(1)[0]  # it takes seconds to start another

    def kill(step: str, done: int, total: int) -> None:
        if step == "write" and dies and not killed:
            killed.append(machines.kill_one())

    expected = product.of_one_machine(one, tmp_path)
    table = product.people().take(np.random.default_rng(1).permutation(product.N))
    pq.write_table(table, tmp_path / "people.parquet")
    source = Source.seeded(11)
    frame = session.read.parquet(str(tmp_path / "people.parquet")).repartition(3)
    made = gh.spark.publish(frame, out=tmp_path / "spark", source=source, progress=kill, **one.asked)

    assert product.files(made.folder) == expected
    assert len(killed) == dies
    if killed:
        logs = scan.contents([machines.folder])
        assert any("/work-" in place for place in logs), "the executors' own logs are among them"
        assert scan.places(source._key, logs) == {}


def test_the_order_of_rows_in_files_of_a_cluster_tells_nothing(session: Any, tmp_path: Path) -> None:
    frame = session.read.parquet(str(attack.write_people(tmp_path)))
    attack.assert_order_tells_nothing(gh.spark.publish(frame, out=tmp_path / "out", **attack.ASKED))
