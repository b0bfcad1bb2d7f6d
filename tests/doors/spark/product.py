"""Four methods times four recodings, on the engines of one machine: the files that Spark must write byte for byte."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.streaming.publish import publish_file
from tests.laws.people import GRADES, PLACES, leaves
from tests.tiers import LOOK

METHODS = ("mirror", "anatomize", "mondrian", "snug")
RECODINGS = ("boxes", "taxonomies", "permutation", "angel")
N = 150
SIZES: dict[str, int] = {"part_rows": 60, "piece": 70}


class Combination(NamedTuple):
    """A method and a recoding; None for what belongs to a perturbed sample."""

    method: str | None
    recoding: str

    def __str__(self) -> str:
        return f"{self.method or 'default'} and {self.recoding}"

    @property
    def asked(self) -> dict[str, Any]:
        """All choices of the release but the source."""
        chosen: dict[str, Any] = {"principle": "2-diversity", "method": self.method, "recoding": self.recoding}
        if self.recoding == "perturbed":
            target = gh.RhoBreach(rho1="0.2", rho2="0.6", lambda_="0.3", k=2)
            chosen = {"principle": target, "recoding": gh.Perturbed(domain=[f"s{i}" for i in range(6)])}
        return {**chosen, **SIZES, **OPTIONS, "allow_seed": True}


OPTIONS: dict[str, Any] = {
    "quasi": ["place", "number", "grade"],
    "sensitive": "ill",
    "taxonomies": {"place": gh.Taxonomy.from_nested(PLACES)},
    "ordered": {"grade": GRADES},
    "missing": "category",
}
SQUARE = [Combination(*both) for both in product(METHODS, RECODINGS)]
PERTURBED = Combination(None, "perturbed")


def for_engine(number: int) -> list[Combination]:
    """The combinations that one of two engines of Spark is given: each method and each recoding once; all if asked."""
    return [
        one
        for place, one in enumerate(SQUARE)
        if LOOK or (place // len(RECODINGS) + place % len(RECODINGS)) % 4 == number
    ]


def people() -> pa.Table:
    """Many people of equal kinds, values that are missing, a tree and an order."""
    draw = np.random.default_rng(8)
    places = [*leaves(PLACES), None]
    return pa.table(
        {
            "place": [places[i] for i in draw.integers(0, len(places), N)],
            "number": [None if i == 9 else 30 + i for i in draw.integers(0, 10, N).tolist()],
            "grade": [GRADES[i] for i in draw.integers(0, 5, N)],
            "ill": [f"s{min(i, 5)}" for i in draw.integers(0, 8, N)],
        }
    )


def of_one_machine(one: Combination, folder: Path) -> dict[str, bytes]:
    """The files of the engines in memory and on disk, which must be the same."""
    file = folder / "people.parquet"
    pq.write_table(people(), file)
    memory, disk = (
        publish_file(folder / name, file, engine=name, source=gh.Source.seeded(11), **one.asked)
        for name in ("memory", "disk")
    )
    assert files(memory.folder) == files(disk.folder)
    assert len(memory.files[next(iter(memory.files))]) > 1 or one.recoding == "perturbed"
    return files(memory.folder)


def files(folder: Path) -> dict[str, bytes]:
    """All files of a folder, by their paths in it."""
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
