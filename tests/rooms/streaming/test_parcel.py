"""Pieces that take along what is known of their kinds give the bytes of those that share the driver's memory."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.streaming.local import Local
from glasshouse.streaming.publish import publish_file

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")  # some methods promise less

OPTIONS: dict[str, Any] = {"quasi": ["a", "b"], "sensitive": "ill", "principle": "3-diversity", "allow_seed": True}


def people(n: int) -> pa.Table:
    draw = np.random.default_rng(2)
    columns = {"a": draw.integers(0, 40, n), "b": draw.integers(0, 400, n)}
    return pa.table({**columns, "ill": [f"d{value}" for value in draw.integers(0, 7, n)]})


class Apart(Local):
    """The engine in memory as one whose tasks run elsewhere: what comes and goes is copied, and measured."""

    at_once = True
    shares_memory = False
    carried: list[int]

    def map_pieces(self, pieces: Any, work: Any, summary: Any, *, ballast: Any = None) -> list[Any]:
        self.carried.append(len(pickle.dumps(ballast)))
        return super().map_pieces(map(copied, pieces), work, summary, ballast=copied(ballast))

    def shuffle(self, rows: Any, tables: Any, finish: Any, *, ballast: Any = None) -> Any:
        self.carried.append(len(pickle.dumps(ballast)))
        return super().shuffle(rows, tables, finish, ballast=copied(ballast))


def copied(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def published(file: Path, out: Path, **choices: Any) -> dict[str, bytes]:
    made = publish_file(
        out, file, engine="memory", partition=False, source=gh.Source.seeded(3), part_rows=300, **OPTIONS, **choices
    )
    return {str(path.relative_to(made.folder)): path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("method", "recoding"),
    [("sift", "angel"), ("mirror", "boxes"), ("anatomize", "permutation"), ("snug", "anatomy"), ("tailor", "boxes")],
)
def test_what_pieces_take_along_is_enough(
    method: str, recoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(people(900), tmp_path / "people.parquet")
    choices = {"method": method, "recoding": recoding, "piece": 200}
    expected = published(tmp_path / "people.parquet", tmp_path / "here", **choices)
    monkeypatch.setattr("glasshouse.streaming.publish.Local", Apart)
    monkeypatch.setattr(Apart, "carried", [], raising=False)

    assert published(tmp_path / "people.parquet", tmp_path / "there", **choices) == expected
    assert len(Apart.carried) == 2


def test_what_all_pieces_need_does_not_grow_with_the_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("glasshouse.streaming.publish.Local", Apart)
    found = []
    for n in (2_000, 16_000):
        monkeypatch.setattr(Apart, "carried", [], raising=False)
        pq.write_table(people(n), tmp_path / "people.parquet")
        published(tmp_path / "people.parquet", tmp_path / f"{n}", recoding="boxes", method="mirror", piece=1000)
        found.append(Apart.carried)
    few, many = found

    assert many[0] < few[0] + 1_000, "before rows are made there are domains alone"
