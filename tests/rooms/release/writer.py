"""A process that replaces a release again and again, until it is killed; run by `test_placing`.

It is told on standard input what to write, and the number of the first one: a ``release`` alone, a ``pair`` in a folder
of its own, a pair ``among`` other things; after ``plain-`` on a file system that cannot exchange two folders. It starts
a process that does so for ever, tells its number, waits for its end, and says so. The numbers are the titles of what it
writes.
"""

from __future__ import annotations

import itertools
import logging
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

import glasshouse as gh
from glasshouse.release.package import folders as placing
from glasshouse.release.package.pair import Pair
from glasshouse.release.package.write import write_audit, write_release

__all__ = ["RELEASES", "write_one"]

PEOPLE = {"age": [1, 2, 3, 4, 5, 6], "disease": ["flu", "gout", "ulcer"] * 2}
PARTITION = pa.table({"identifier": [f"p{i}" for i in range(6)], "group": [1, 1, 2, 2, 3, 3]})
TABLE = gh.read(PEOPLE, quasi=["age"], sensitive="disease")
RELEASES = [
    gh.publish(TABLE, principle=gh.LDiversity(ell=2), method=gh.Hybrid(), recoding=recoding)
    for recoding in (gh.Anatomy(), gh.Permutation())
]


def write_one(folder: Path, number: int, what: str) -> None:
    """Write the release with this number; what comes after it has other tables in it."""
    release = replace(RELEASES[number % 2], title=str(number))
    if what == "release":
        release.save(folder / "release", force=True)
        return
    with Pair(folder, force=True).new() as (inside, outside):
        write_audit(inside, {"number": number}, PARTITION)
        write_release(release, outside, "parquet")


def _write_for_ever(folder: Path, what: str, first: int) -> None:
    if what.startswith("plain-"):
        placing.exchange = lambda one, other: False
        logging.disable()
    what = what.removeprefix("plain-")
    for number in itertools.count(first):
        write_one(folder, number, what)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as warm:  # everything that is loaded late is loaded now
        for number in (0, 1):
            write_one(Path(warm) / "out", number, "pair")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            what, first = line.split()
            place = Path(sys.argv[1])
            _write_for_ever(place if what == "release" else place / "out", what, int(first))
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        os.waitpid(child, 0)
        sys.stdout.write("ended\n")
        sys.stdout.flush()
