"""Publishing a table to disk and taking everything back: the bytes that went out, and the partition that stayed."""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, currently_in_test_context, reject, settings

import glasshouse as gh
from glasshouse.publish import publish_to
from tests.conformance.people import People
from tests.conformance.samples import PrincipleSample, RecodingSample, goes_together


def examples(number: int) -> settings:
    """About so many examples, half of them in the gate; ``GLASSHOUSE_EXAMPLES=20`` tries twenty times as many."""
    times = float(os.environ.get("GLASSHOUSE_EXAMPLES", "0.5"))
    return settings(
        max_examples=max(4, round(number * times)), deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


@dataclass(frozen=True)
class Published:
    """What went out, byte by byte, and which rows of the input are in which group."""

    release: gh.Release
    files: Mapping[str, bytes]
    labels: tuple[int, ...]  # by row of the input as it was read; -1 if dropped

    @property
    def partition(self) -> list[list[int]]:
        """The groups as row numbers."""
        groups: dict[int, list[int]] = {}
        for row, label in enumerate(self.labels):
            if label >= 0:
                groups.setdefault(label, []).append(row)
        return list(groups.values())

    @property
    def manifest(self) -> Any:
        return json.loads(self.files["datapackage.json"])


def published(table: gh.Microdata, *, seed: int = 0, format: str = "parquet", **choices: Any) -> Published:
    """Publish with the random choices of a seed; skip the test where method and principle never go together.

    A method may also refuse a single table, for its size: then hypothesis is asked for another one.
    """
    choices = {"threads": 1, **choices}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        source = gh.Source.seeded(seed)
        try:
            release = publish_to(out, table, format=format, allow_seed=True, source=source, **choices)
        except gh.NotSupported as refusal:
            principle = choices["principle"]
            served = not isinstance(principle, Mapping) and goes_together(choices.get("method"), principle)
            if served and currently_in_test_context():
                reject()
            pytest.skip(str(refusal))
        files = {path.name: path.read_bytes() for path in sorted((out / "release").iterdir())}
        partition = pq.read_table(out / "audit" / "partition.parquet")
    if table.identifier is None:
        assert list(range(table.n_tuples)) == partition["row"].to_pylist()
    else:
        assert table.identifier.to_pylist() == partition["identifier"].to_pylist()
    return Published(release, files, tuple(partition["group"].to_pylist()))


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    """The rows of a published table, in no order."""
    return Counter(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))


def assert_lawful(
    table: People, published: Published, principles: Mapping[str, PrincipleSample], recoding: RecodingSample
) -> None:
    """Check a release against its table, by the slow twins alone."""
    release, partition = published.release, published.partition
    kept = [row for group in partition for row in group]

    # every tuple is in one group, or reported as dropped
    assert len(published.labels) == table.n
    assert (release.n_tuples, release.n_dropped) == (len(kept), table.n - len(kept))

    # every group is safe
    for name, sample in principles.items():
        whole = [table.columns[name][row] for row in kept]
        for group in partition:
            assert sample.judge([table.columns[name][row] for row in group], whole), (name, sample, group)

    # what is published is what the groups say, and nothing else
    assert recoding.twin(table, partition) == {name: rows_of(data) for name, data in release.tables.items()}
    assert [*table.quasi, *table.sensitive] == release.data.column_names
