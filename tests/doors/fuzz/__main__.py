"""Fuzzing for as long as one likes: ``python -m tests.doors.fuzz MINUTES [DOOR ...]``.

Every case is made from a door and a number; ``python -m tests.doors.fuzz again DOOR NUMBER`` carries one in again, in
this process, and shows what happens. Ends with 1 if anything was found.
"""

from __future__ import annotations

import itertools
import random
import secrets
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from tests.doors.fuzz.confined import Confined, Finding
from tests.doors.fuzz.doors import DOORS, enter


def main(arguments: list[str]) -> int:
    """Fuzz, or repeat a case."""
    if arguments[:1] == ["again"]:
        return again(arguments[1], int(arguments[2]))
    if not arguments or not set(arguments[1:]) <= DOORS.keys():
        print(f"{__doc__}\nDoors: {', '.join(DOORS)}")
        return 2
    return fuzz(60 * float(arguments[0]), arguments[1:] or list(DOORS))


def fuzz(seconds: float, doors: list[str]) -> int:
    """Carry cases in by turns until the time is over; tell every kind of finding once, when it is found."""
    start, end = secrets.randbelow(1 << 48), time.monotonic() + seconds
    kinds: dict[str, list[Finding]] = {}
    counts = dict.fromkeys(doors, 0)
    with Confined() as confined:
        with suppress(KeyboardInterrupt):  # what was found until then is told
            for door, number in ((door, start + i) for i in itertools.count() for door in doors):
                if time.monotonic() > end:
                    break
                counts[door] += 1
                found = confined.carry(door, number)
                if found is not None:
                    kinds.setdefault(found.place, []).append(found)
                    if len(kinds[found.place]) == 1:
                        print(
                            f"{found.place}\n  python -m tests.doors.fuzz again {door} {number}\n{found.trace}",
                            flush=True,
                        )
        print(", ".join(f"{door} {n:,}" for door, n in counts.items()), "cases;", end=" ")
        print(f"{confined.n_taken:,} taken, {confined.n_refused:,} refused, {len(kinds)} kinds of findings")
    for place, list_ in sorted(kinds.items()):
        print(f"{len(list_):6,}  {place}  e.g. {', '.join(str(f.number) for f in list_[:3])}")
    return 1 if kinds else 0


def again(door: str, number: int) -> int:
    """Carry one case in, here, and let whatever is raised be seen."""
    case = DOORS[door].make(random.Random(f"{door} {number}"))
    print(case.text or f"{ {name: len(content) for name, content in case.files.items()} } {dict(case.odd)}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="glasshouse-fuzz-"), "case")
    print(folder, flush=True)
    print("taken" if enter(door, case, folder) else "refused")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
