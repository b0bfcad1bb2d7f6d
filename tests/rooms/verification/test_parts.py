"""A release of which every file is counted by itself: the verdict of the stream, to the last number, broken or not."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.journeys import recheck
from glasshouse.journeys.recheck import verify_parts, verify_stream
from tests.rooms.release.kinds import KINDS, of_kind
from tests.rooms.verification.test_stream import RECODINGS, put, released, swapped, with_tables


def run(work: Callable[[Any], Any], items: list[Any]) -> list[Any]:
    """As tasks do: everything that comes and goes is copied."""
    return [pickle.loads(pickle.dumps(work(pickle.loads(pickle.dumps(item))))) for item in items]


@pytest.fixture
def parts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What parts cannot tell is told by nobody."""

    def nothing(*_: Any, **__: Any) -> Any:
        raise AssertionError("a stream was asked")

    monkeypatch.setattr(recheck, "verify_stream", nothing)


@pytest.mark.usefixtures("parts_alone")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "perturbed"])
def test_parts_are_counted_as_a_stream(kind: str, tmp_path: Path) -> None:
    for rows in (1, 4, 1000):
        folder = put(tmp_path / f"r{rows}", of_kind(kind), rows)
        assert verify_parts(folder, run) == verify_stream(folder)


@pytest.mark.usefixtures("parts_alone")
@pytest.mark.parametrize("rows", [13, 150])
@pytest.mark.parametrize("name", RECODINGS)
def test_groups_that_go_on_in_the_next_part_are_joined(name: str, rows: int, tmp_path: Path) -> None:
    folder = put(tmp_path / "r", released(RECODINGS[name]), rows)
    assert verify_parts(folder, run) == verify_stream(folder)


@pytest.mark.usefixtures("parts_alone")
def test_k_and_the_risk_are_those_of_the_table_that_hides_people_least(tmp_path: Path) -> None:
    """The groups of a marginal are others, and smaller or larger ones."""
    recoding = gh.Angel(k=4, marginals=[["age", "sex", "city", "disease"], ["sex", "disease"]])
    made = released(recoding)
    sizes = {}
    for name, table in made.tables.items():
        if cells := [own for own in ("age", "sex", "city") if own in table.column_names]:
            counts = Counter(zip(*(table[own].to_pylist() for own in cells), strict=True))
            sizes[name] = min(counts.values()), len(counts)
    assert len({smallest for smallest, _ in sizes.values()}) > 1
    folder = put(tmp_path / "r", made)
    for found in (gh.verify(made), verify_stream(folder), verify_parts(folder, run)):
        assert found.k == min(smallest for smallest, _ in sizes.values())
        assert found.risk is not None
        worst = max(sizes.values(), key=lambda own: (1 / own[0], own[1]))
        assert found.risk.prosecutor_average == Fraction(worst[1], made.n_tuples)


def moved(table: pa.Table, one: int, two: int) -> pa.Table:
    order = list(range(table.num_rows))
    order.insert(two, order.pop(one))
    return table.take(order)


def dropped(table: pa.Table, one: int, _two: int) -> pa.Table:
    return pa.concat_tables([table[:one], table[one + 1 :]])


def replaced(table: pa.Table, one: int, two: int) -> pa.Table:
    """Another number for the group of a row, where groups have numbers: the order of rows does not tell that."""
    number = table.column_names[-1]
    if number not in ("Group-ID", "Batch-ID"):
        return swapped(table, one, two)
    numbers = table[number].to_pylist()
    numbers[one] = numbers[two]
    return table.set_column(table.num_columns - 1, number, pa.array(numbers, table[number].type))


@pytest.mark.parametrize("change", [swapped, moved, dropped, replaced])
@pytest.mark.parametrize("name", RECODINGS)
def test_rows_that_were_changed_are_noticed_as_by_a_stream(
    name: str, change: Callable[[pa.Table, int, int], pa.Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = released(RECODINGS[name])
    chance = np.random.default_rng(4)
    asked: list[Path] = []
    stream = verify_stream
    monkeypatch.setattr(recheck, "verify_stream", lambda folder, **how: asked.append(folder) or stream(folder, **how))
    for table, own in made.tables.items():
        for _ in range(3):
            one, two = sorted(chance.choice(own.num_rows, 2, replace=False).tolist())
            other = change(own, one, two)
            if other.equals(own):
                continue
            folder = put(tmp_path / "r", with_tables(made, **{table: other}), 60)
            asked.clear()
            found = verify_parts(folder, run)
            assert found == stream(folder)
            assert not found.holds
            assert asked, "the parts tell that something is wrong"


def test_a_file_that_is_another_one_is_refused_as_by_a_stream(tmp_path: Path) -> None:
    folder = put(tmp_path / "r", released(gh.Anatomy()), 60)
    content = bytearray((folder / "qit" / "part-00001.parquet").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "qit" / "part-00001.parquet").write_bytes(content)
    with pytest.raises(gh.SourceError, match="its checksum differs"):
        verify_parts(folder, run)
