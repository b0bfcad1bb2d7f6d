"""How CPU time grows when something doubles: rows, sensitive values, columns, distinct values, nodes, answers.

Every job is done at sizes that double, on one thread, and the table shows CPU seconds and the ratio of each doubling to
the one before. 2 is linear, a little more is n log n, 4 is quadratic. A size that takes longer than ``--patience``
seconds ends its line.

    python benchmarks/growth.py                      # everything
    python benchmarks/growth.py values --only mirror # one thing that grows, and the jobs whose names have this in them
    python benchmarks/growth.py --smallest 1000 --doublings 2
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pyarrow as pa

import glasshouse as gh
from glasshouse.errors import DisclosureWarning, GlasshouseError

Job = Callable[[], Any]
ELL = 4


def people(
    rows: int,
    *,
    values: int = 50,
    columns: int = 4,
    distinct: int = 60,
    nodes: int = 0,
    frequent: bool = False,
    read: bool = True,
) -> Any:
    """Make a table: whole numbers as quasi-identifiers, one sensitive column of texts.

    Parameters
    ----------
    rows, values, columns, distinct
        Tuples, sensitive values, quasi-identifiers, and values of each of these.
    nodes
        Give the first quasi-identifier a taxonomy with about so many nodes.
    frequent
        Give one value to as many tuples as l-diversity allows.
    read
        Read it; otherwise the Arrow table and what to read it with.
    """
    draws = np.random.default_rng(rows + columns)
    drawn = {f"q{i:02}": pa.array(draws.integers(0, distinct, rows)) for i in range(columns)}
    taxonomies = {}
    if nodes:
        leaves = max(2, nodes * 8 // 9)
        drawn["q00"] = pa.array([f"p{code:07}" for code in draws.integers(0, leaves, rows)])
        taxonomies["q00"] = gh.Taxonomy.from_nested(
            {
                "anywhere": {
                    f"region {i}": [f"p{code:07}" for code in range(i, min(i + 8, leaves))] for i in range(0, leaves, 8)
                }
            }
        )
    codes = draws.permutation(np.arange(rows) % values)
    if frequent:
        codes[draws.permutation(rows)[: rows // ELL]] = 0
        codes[(codes == 0) & (np.cumsum(codes == 0) > rows // ELL)] = 1
    drawn["value"] = pa.array([f"v{code:07}" for code in codes.tolist()])
    table = pa.table(drawn)
    options = {"quasi": list(drawn)[:-1], "sensitive": "value", "taxonomies": taxonomies}
    return gh.read(table, **options) if read else (table, options)


def published(table: gh.Microdata, recoding: Any = None, method: Any = None) -> gh.Release:
    """Publish on one thread."""
    return gh.publish(table, principle=gh.LDiversity(ell=ELL), method=method, recoding=recoding, threads=1)


def written(table: gh.Microdata, format: str) -> None:
    """Publish into a folder, load what was written and count it again."""
    with tempfile.TemporaryDirectory() as folder:
        gh.publish(table, out=folder, format=format, principle=gh.LDiversity(ell=ELL), threads=1)
        gh.verify(gh.load(Path(folder) / "release"))


METHODS: dict[str, Any] = {
    "mirror": gh.Mirror(),
    "tailor": gh.Tailor(),
    "ace": gh.Ace(),
    "hybrid": gh.Hybrid(),
    "anatomize": gh.Anatomize(),
    "snug": gh.Snug(),
    "mondrian": gh.Mondrian(),
    "mondrian, relaxed": gh.Mondrian(partitioning="relaxed"),
    "even splits": gh.EvenSplit(),
    "greedy": gh.Greedy(),
    "randomised greedy": gh.RandomisedGreedy(p="1/2"),
    "symmetric": gh.Symmetric(),
    "refined": gh.Refined(coarse=gh.Tailor(), inner="ace"),
    "separate": gh.Separate(),
}
RECODINGS: dict[str, Any] = {
    "boxes": gh.Boxes(),
    "anatomy": gh.Anatomy(),
    "permutation": gh.Permutation(),
    "angel": gh.Angel(),
}
PRINCIPLES: dict[str, Any] = {
    "k-anonymity": gh.KAnonymity(k=ELL),
    "distinct l-diversity": gh.DistinctLDiversity(ell=ELL),
    "entropy l-diversity": gh.EntropyLDiversity(ell=3),
    "recursive l-diversity": gh.RecursiveLDiversity(c=3, ell=3),
    "(alpha, k)-anonymity": gh.AlphaKAnonymity(alpha="1/3", k=ELL),
    "t-closeness": gh.TCloseness(t="0.6", distance="equal"),
}


def jobs_of(table: gh.Microdata, *, groupings: str = "SELECT value, COUNT(*) GROUP BY value") -> dict[str, Job]:
    """Everything that is done with a table; what is prepared for it is not measured."""
    jobs: dict[str, Job] = {"publish, by default": partial(published, table)}
    for name, method in METHODS.items():
        jobs[f"publish, {name}"] = partial(published, table, gh.Boxes(), method)
    for name, recoding in RECODINGS.items():
        jobs[f"recode, {name}"] = partial(published, table, recoding, gh.Anatomize())
    for name, principle in PRINCIPLES.items():
        jobs[f"publish, {name}"] = partial(gh.publish, table, principle=principle, threads=1)
    jobs["write, load, verify"] = partial(written, table, "parquet")
    jobs["report, brief"] = _after(_once(partial(published, table)), lambda it: gh.make_report(it, table))
    for name in ("boxes", "anatomy", "angel"):
        made: list[gh.Release] = []

        def release(name: str = name, made: list[gh.Release] = made) -> gh.Release:
            if not made:
                made.append(published(table, RECODINGS[name], gh.Snug() if name == "boxes" else None))
            return made[0]

        jobs[f"verify, {name}"] = _after(release, gh.verify)
        jobs[f"count, {name}"] = _after(release, lambda it: gh.query(it, "SELECT COUNT(*) WHERE q01 < 9"))
        jobs[f"group by, {name}"] = _after(release, lambda it: gh.query(it, groupings))
        jobs[f"losses, {name}"] = _after(release, gh.losses)
        jobs[f"link, {name}"] = _after(
            release, lambda it: gh.attack(it, gh.Linking(), knowledge=gh.Knowledge(external=table))
        )
    return jobs


def _after(prepare: Callable[[], Any], work: Callable[[Any], Any]) -> Job:
    """A job on something that is prepared when it is first asked for, by the call that is not measured."""
    prepared: list[Any] = []

    def job() -> Any:
        if not prepared:
            prepared.append(prepare())
            return None
        return work(prepared[0])

    return job


def by_rows(n: int) -> dict[str, Job]:
    """Rows, and with them groups."""
    table, options = people(n, read=False)
    reading: dict[str, Job] = {
        "read": lambda: gh.read(table, **options),
        "inspect": lambda: gh.inspect(table),
    }
    return {**reading, **jobs_of(gh.read(table, **options))}


def by_values(n: int) -> dict[str, Job]:
    """Sensitive values: a quarter as many as rows."""
    return jobs_of(people(n, values=n // 4))


def by_frequent(n: int) -> dict[str, Job]:
    """The same, and one value is as frequent as it may be: hardly any cut is possible."""
    return jobs_of(people(n, values=n // 4, frequent=True))


def by_distinct(n: int) -> dict[str, Job]:
    """Distinct values of every quasi-identifier: as many as rows."""
    table, options = people(n, distinct=n, read=False)
    return {"inspect": lambda: gh.inspect(table), **jobs_of(gh.read(table, **options))}


def by_moments(n: int) -> dict[str, Job]:
    """Rows with a day and a moment, nearly all of them different."""
    draws = np.random.default_rng(n)
    drawn = {
        "born": np.datetime64("1940-01-01") + draws.integers(0, 25_000, n),
        "seen": (np.datetime64("2020-01-01T00:00:00") + draws.integers(0, 10**8, n)).astype("datetime64[us]"),
        "sex": draws.choice(["F", "M"], n),
        "value": [f"v{code}" for code in draws.integers(0, 30, n).tolist()],
    }
    table = gh.read(pa.table(drawn), quasi=["born", "seen", "sex"], sensitive="value")
    release = _once(partial(published, table))
    return {
        "publish, by default": partial(published, table),
        "publish, mirror": partial(published, table, gh.Boxes()),
        "publish, snug": partial(published, table, gh.Boxes(), gh.Snug()),
        "report, brief": _after(release, lambda it: gh.make_report(it, table)),
        "link, angel": _after(release, lambda it: gh.attack(it, gh.Linking(), knowledge=gh.Knowledge(external=table))),
        "losses, angel": _after(release, gh.losses),
        "count, angel": _after(release, lambda it: gh.query(it, "SELECT COUNT(*) WHERE born < DATE '1970-01-01'")),
        "group by, angel": _after(release, lambda it: gh.query(it, "SELECT sex, value, COUNT(*) GROUP BY sex, value")),
    }


def by_columns(n: int) -> dict[str, Job]:
    """Quasi-identifiers, at a fixed number of rows."""
    rows, columns = 8_000, max(2, n * 4 // 5_000)
    table, options = people(rows, columns=columns, read=False)
    return {"inspect": lambda: gh.inspect(table), **jobs_of(gh.read(table, **options))}


def by_nodes(n: int) -> dict[str, Job]:
    """Nodes of a taxonomy: half as many as rows."""
    table = people(n, nodes=n // 2)
    jobs: dict[str, Job] = {
        "publish, taxonomies": partial(published, table, gh.Taxonomies(), gh.Snug()),
        "publish, taxonomies, mondrian": partial(published, table, gh.Taxonomies(), gh.Mondrian()),
        "publish, angel by taxonomies": partial(published, table, gh.Angel(cells="taxonomies")),
    }
    terms: dict[str, Any] = {"taxonomies": {"q00": table.column("q00").domain.tree}}
    release = _once(lambda: published(table, gh.Taxonomies(), gh.Snug()))
    jobs["verify, taxonomies"] = _after(release, gh.verify)
    jobs["count, taxonomies"] = _after(
        release, lambda it: gh.query(it, "SELECT COUNT(*) WHERE q00 = 'p0000001'", **terms)
    )
    jobs["group by, taxonomies"] = _after(
        release, lambda it: gh.query(it, "SELECT value, COUNT(*) GROUP BY value", **terms)
    )
    jobs["losses, taxonomies"] = _after(release, lambda it: gh.losses(it, **terms))
    jobs["link, taxonomies"] = _after(
        release, lambda it: gh.attack(it, gh.Linking(), knowledge=gh.Knowledge(external=table))
    )
    return jobs


def _once(make: Callable[[], Any]) -> Callable[[], Any]:
    made: list[Any] = []

    def get() -> Any:
        if not made:
            made.append(make())
        return made[0]

    return get


def by_answers(n: int) -> dict[str, Job]:
    """Rows of an answer to a question with GROUP BY, at a fixed number of tuples."""
    answers, rows = max(2, n // 10), 20_000
    table = people(rows, values=answers, distinct=answers)
    two = people(rows, values=max(2, answers // 20), distinct=20)
    jobs: dict[str, Job] = {}
    for name in ("boxes", "anatomy", "angel"):
        one, other = (
            _once(partial(published, some, RECODINGS[name], gh.Snug() if name == "boxes" else None))
            for some in (table, two)
        )
        jobs[f"group by sensitive, {name}"] = _after(
            one, lambda it: gh.query(it, "SELECT value, COUNT(*) GROUP BY value")
        )
        jobs[f"group by quasi, {name}"] = _after(one, lambda it: gh.query(it, "SELECT q00, COUNT(*) GROUP BY q00"))
        jobs[f"group by both, {name}"] = _after(
            other, lambda it: gh.query(it, "SELECT q00, value, COUNT(*), AVG(q01) GROUP BY q00, value")
        )
    return jobs


GROWING: dict[str, Callable[[int], dict[str, Job]]] = {
    "rows": by_rows,
    "values": by_values,
    "frequent": by_frequent,
    "distinct": by_distinct,
    "moments": by_moments,
    "columns": by_columns,
    "nodes": by_nodes,
    "answers": by_answers,
}


def seconds_of(job: Job, patience: float) -> float:
    """CPU seconds, the least of three runs after one that is not counted; of one run, if that took long."""
    best = float("inf")
    job()
    for _ in range(3):
        start = time.process_time()
        job()
        taken = time.process_time() - start
        best = min(best, taken)
        if taken > patience / 10:
            break
    return best


def measure(name: str, sizes: list[int], only: str, patience: float) -> None:
    """Print a line for every job."""
    print(f"\n{name}: {(GROWING[name].__doc__ or '').splitlines()[0]}", flush=True)
    print(f"{'':<36}" + "".join(f"{size:>12,}" for size in sizes) + "   ratio of each doubling")
    found: dict[str, list[float | str]] = {}
    for size in sizes:
        for what, job in GROWING[name](size).items():
            line = found.setdefault(what, [])
            if only not in what or (line and (isinstance(line[-1], str) or line[-1] > patience)):
                continue
            try:
                line.append(seconds_of(job, patience))
            except GlasshouseError as error:
                line.append(str(error))
    for what, line in found.items():
        taken = [cell for cell in line if isinstance(cell, float)]
        ratios = "  ".join(f"{later / max(first, 1e-9):.1f}" for first, later in pairwise(taken))
        said = next((cell for cell in line if isinstance(cell, str)), "")
        if line:
            print(f"{what:<36}" + "".join(f"{t:>11.3f}s" for t in taken) + f"   {ratios}  {said[:60]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("growing", nargs="*", choices=[*GROWING, []], help="what grows; all by default")
    parser.add_argument("--smallest", type=int, default=10_000)
    parser.add_argument("--doublings", type=int, default=3)
    parser.add_argument("--only", default="", metavar="TEXT", help="jobs whose names have this in them")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds after which a line ends")
    given = parser.parse_args()
    warnings.simplefilter("ignore", DisclosureWarning)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    for name in given.growing or GROWING:
        measure(name, [given.smallest << i for i in range(given.doublings + 1)], given.only, given.patience)


if __name__ == "__main__":
    main()
