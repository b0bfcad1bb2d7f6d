"""An attack by the places of rows in files: the r-th row of a group has the r-th value of the group, it is guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ELL = 4
ASKED: dict[str, Any] = {
    "quasi": ["x"],
    "sensitive": "value",
    "principle": f"{ELL}-diversity",
    "method": "mirror",
    "recoding": "anatomy",
    "part_rows": 700,
    "piece": 900,
}


def people() -> pa.Table:
    """People who are known by one number, and have a value that has nothing to do with it."""
    draws = np.random.default_rng(5)
    return pa.table({"x": draws.permutation(2400), "value": [f"v{i}" for i in draws.integers(0, 8, 2400)]})


def write_people(folder: Path) -> Path:
    """A file of them, in the order of their values, which is also that in which kinds come."""
    pq.write_table(people().sort_by("value"), folder / "known.parquet")
    return folder / "known.parquet"


def guessed_by_place(qit: pa.Table, st: pa.Table, truth: dict[int, str]) -> float:
    """How often the r-th row of a group has the r-th value of the group."""
    values: dict[int, list[str]] = {}
    for row in st.to_pylist():
        values.setdefault(row["Group-ID"], []).extend([row["value"]] * row["Count"])
    right = [values[row["Group-ID"]].pop(0) == truth[row["x"]] for row in qit.to_pylist()]
    return sum(right) / len(right)


def assert_order_tells_nothing(made: Any) -> None:
    """The attack succeeds with 1/l, and always where rows are in the order of their values."""
    known = people()
    truth = dict(zip(known["x"].to_pylist(), known["value"].to_pylist(), strict=True))
    qit, st = (
        pa.concat_tables([pq.read_table(made.folder / path) for path in made.files[name]]) for name in ("qit", "st")
    )
    ordered = qit.append_column("value", pa.array([truth[x] for x in qit["x"].to_pylist()]))
    worst = ordered.sort_by([("Group-ID", "ascending"), ("value", "ascending")])
    assert guessed_by_place(worst, st, truth) == 1, "the attack finds an order by sensitive values"
    assert guessed_by_place(qit, st, truth) == pytest.approx(1 / ELL, abs=0.045)
