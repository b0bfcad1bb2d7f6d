"""Publishing a table to disk and taking everything back: the bytes that went out, and the partition that stayed."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from hypothesis import HealthCheck, currently_in_test_context, reject, settings

import glasshouse as gh
from tests.laws.people import People
from tests.laws.samples import SMALL_TABLES, PrincipleSample, RecodingSample, rows_of
from tests.tiers import SHARE


def examples(number: int) -> settings:
    """About so many examples, a quarter of them in the gate; ``GLASSHOUSE_EXAMPLES=20`` tries twenty times as many."""
    return settings(
        max_examples=max(4, round(number * SHARE)), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


@dataclass(frozen=True)
class Published:
    """What went out, byte by byte, and which rows of the input are in which group."""

    release: gh.Release
    files: Mapping[str, bytes]
    labels: tuple[int, ...]  # by row of the input as it was read: the group's number, less 1; -1 if dropped

    @property
    def partition(self) -> list[list[int]]:
        """The groups as row numbers, in the order of their numbers."""
        groups: list[list[int]] = [[] for _ in range(max(self.labels, default=-1) + 1)]
        for row, label in enumerate(self.labels):
            if label >= 0:
                groups[label].append(row)
        return groups

    @property
    def manifest(self) -> Any:
        return json.loads(self.files["datapackage.json"])


def published(table: gh.Microdata, *, seed: int = 0, format: str = "parquet", **choices: Any) -> Published:
    """Publish with the random choices of a seed.

    A method may refuse a single table for its size: then hypothesis is asked for another one. Whatever else is refused
    is an error: tests ask for what goes together.
    """
    choices = {"threads": 1, **choices}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        source = gh.Source.seeded(seed)
        try:
            release = gh.publish(table, out=out, format=format, allow_seed=True, source=source, **choices)
        except gh.NotSupported:
            method = getattr(choices.get("method"), "name", "")
            if method in SMALL_TABLES and currently_in_test_context():
                reject()
            raise
        files = {path.name: path.read_bytes() for path in sorted((out / "release").iterdir())}
        partition = pq.read_table(out / "audit" / "partition.parquet")
    if table.identifier is None:
        assert list(range(table.n_tuples)) == partition["row"].to_pylist()
    else:
        assert table.identifier.to_pylist() == partition["identifier"].to_pylist()
    numbers = partition["group"].to_pylist()
    return Published(release, files, tuple(-1 if number is None else number - 1 for number in numbers))


def assert_lawful(
    table: People, published: Published, principles: Mapping[str, PrincipleSample], recoding: RecodingSample
) -> None:
    """Check a release against its table, by the slow twins alone."""
    release, partition = published.release, published.partition
    kept = [row for group in partition for row in group]

    # every tuple is in one group, or reported as dropped; no number is left out
    assert len(published.labels) == table.n
    assert (release.n_tuples, release.n_dropped) == (len(kept), table.n - len(kept))
    assert all(partition)

    # every group is safe, and so is whatever can be linked from the published tables alone
    for name, sample in principles.items():
        whole = [table.columns[name][row] for row in kept]
        for group in partition:
            assert sample.judge([table.columns[name][row] for row in group], whole), (name, sample, group)
        for values in recoding.linked(release.tables, table, name):
            assert sample.judge(values, whole), (name, sample, values)

    # what is published is what the groups say, and nothing else
    assert recoding.twin(table, partition) == recoding.read(release.tables)
    own = [*table.quasi, *table.sensitive]
    assert [*own, *recoding.recoding.added()] == [column.name for column in release.columns]
    for data in release.tables.values():
        added = [name for name in data.column_names if name not in own]
        assert set(added) <= set(recoding.recoding.added())
        assert [name for name in data.column_names if name in own] == [n for n in own if n in data.column_names]
        if recoding.k > 1 and "Count" not in added:
            shown = rows_of(data.select([name for name in data.column_names if name in table.quasi]))
            assert min(shown.values()) >= recoding.k
