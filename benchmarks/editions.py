"""Five years of a table that lives, published in editions, anew every year, and once: docs/benchmarks.md, Editions.

Employed people of Census-Income (KDD). Every year after the first some come, two in a hundred leave, and two in a
hundred change their occupation, which editions refuse to publish again. Each year questions are asked about the people
who are there: counts of two quasi-identifiers and an occupation, with a true count of at least 20.

    python benchmarks/editions.py ../shared/data
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh

QUASI = ["age", "sex", "education", "race"]
SENSITIVE = "detailed_occupation_recode"
ELL, YEARS, FIRST, MORE, QUESTIONS, ENOUGH = 4, range(2026, 2031), 20_000, 4_000, 60, 20
LEAVING, CHANGING = 0.02, 0.02


def main(folder: str) -> None:
    warnings.simplefilter("ignore")
    draws = np.random.default_rng(1)
    everybody = _people(Path(folder, "census_income_kdd.parquet"), draws)
    there, values = np.zeros(everybody.num_rows, bool), everybody[SENSITIVE].to_numpy().copy()
    came = 0
    with tempfile.TemporaryDirectory() as place:
        anew: list[tuple[np.ndarray, gh.Release]] = []
        for year in YEARS:
            if year > YEARS[0]:
                there[_some(there, LEAVING, draws)] = False
                changing = _some(there, CHANGING, draws)
                values[changing] = draws.permutation(values[changing])
            arriving = FIRST if year == YEARS[0] else MORE
            there[came : came + arriving] = True
            came += arriving
            rows = np.flatnonzero(there)
            now = everybody.set_column(everybody.column_names.index(SENSITIVE), SENSITIVE, pa.array(values))
            table = _read(now.take(pa.array(rows)))
            out, started = Path(place, str(year)), time.process_time()
            if year == YEARS[0]:
                release = gh.publish(table, principle=gh.LDiversity(ELL), recoding="anatomy", edition=year, out=out)
            else:
                release = gh.publish(
                    table, after=Path(place, str(year - 1)), edition=year, keep_published=True, out=out
                )
            spent = time.process_time() - started
            again = gh.publish(table, principle=gh.LDiversity(ELL), recoding="anatomy", out=Path(place, f"anew-{year}"))
            anew.append((rows, again))
            if year == YEARS[0]:
                once = again
            _tell(year, table, release, again, once, spent, draws)
        _believed(release, place, everybody, [Path(place, f"anew-{year}") for year in YEARS])
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10:,} MiB at most")


def _people(file: Path, draws: np.random.Generator) -> pa.Table:
    census = pq.read_table(file, columns=[*QUASI, SENSITIVE])
    census = census.filter(pc.greater(census[SENSITIVE], 0))
    n = FIRST + MORE * (len(YEARS) - 1)
    census = census.take(pa.array(draws.permutation(census.num_rows)[:n]))
    return census.add_column(0, "id", pa.array(np.arange(n)))


def _read(table: pa.Table) -> gh.Microdata:
    return gh.read(table, identifier="id", quasi=QUASI, sensitive=SENSITIVE, categorical=[SENSITIVE])


def _some(there: np.ndarray, share: float, draws: np.random.Generator) -> np.ndarray:
    rows = np.flatnonzero(there)
    return draws.choice(rows, int(share * len(rows)), replace=False)


def _tell(
    year: int,
    table: gh.Microdata,
    editions: gh.Release,
    anew: gh.Release,
    once: gh.Release,
    spent: float,
    draws: np.random.Generator,
) -> None:
    """The mean relative error of the year's questions, in percent."""
    errors: dict[str, list[float]] = {"editions": [], "anew": [], "once": []}
    age, sex = (table.column(name) for name in ("age", "sex"))
    years, occupations = age.domain.decode(age.codes).to_numpy(), table.sensitive[0]
    codes = occupations.domain.decode(occupations.codes).to_numpy()
    while len(errors["once"]) < QUESTIONS:
        low, value, code = int(draws.integers(20, 50)), int(draws.choice(sex.codes)), int(draws.choice(codes))
        truth = int(((years >= low) & (years < low + 15) & (sex.codes == value) & (codes == code)).sum())
        if truth < ENOUGH:
            continue
        text = sex.domain.texts[value]
        sql = f"SELECT COUNT(*) WHERE age >= {low} AND age < {low + 15} AND sex = '{text}' AND {SENSITIVE} = {code}"
        asked = {"editions": (editions, year), "anew": (anew, None), "once": (once, None)}
        for name, (release, as_of) in asked.items():
            found = gh.query(release, sql, model="uniform", as_of=as_of).value
            errors[name].append(abs(found - truth) / truth)
    shown = "  ".join(f"{name} {100 * np.mean(own):5.1f} %" for name, own in errors.items())
    print(f"{year}: {table.n_tuples:,} people there; error {shown}; edition published in {spent:.1f} s of CPU")


def _believed(release: gh.Release, place: str, everybody: pa.Table, anew: list[Path]) -> None:
    """The worst belief after all editions; and of whom releases made anew leave a single value."""
    ledger = pq.read_table(Path(place, str(YEARS[-1]), "audit", "ledger.parquet"))
    labels = np.array([edition.label for edition in release.editions])[np.asarray(ledger["edition"]) - 1]
    known = everybody.take(pc.index_in(ledger["identifier"], value_set=everybody["id"].combine_chunks()))
    external = gh.read(known.append_column("edition", pa.array(labels)), identifier="id", quasi=["edition", *QUASI])
    worst = gh.attack(release, gh.Linking(), knowledge=gh.Knowledge(external=external)).worst().belief
    print(f"editions: worst belief by linking {worst:.4f}, 1/l is {1 / ELL:.4f}")
    left: dict[int, set[object]] = {}
    for folder in anew:
        counts = pq.read_table(folder / "release" / "st.parquet")
        held: dict[int, set[object]] = {}
        for group, value in zip(counts["Group-ID"].to_pylist(), counts[SENSITIVE].to_pylist(), strict=True):
            held.setdefault(group, set()).add(value)
        partition = pq.read_table(folder / "audit" / "partition.parquet")
        for person, group in zip(partition["identifier"].to_pylist(), partition["group"].to_pylist(), strict=True):
            left[person] = left.get(person, held[group]) & held[group]
    single = sum(len(values) == 1 for values in left.values())
    none = sum(not values for values in left.values())
    print(
        f"anew: of {len(left):,} people {single:,} ({100 * single / len(left):.0f} %) have one value that all of their "
        f"groups hold, and {none:,} have none, for they changed"
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
