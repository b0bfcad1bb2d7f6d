"""The learning adversary: 70 % of a table published, the other 30 % as control.

python benchmarks/definetti.py adult ADULT.parquet       # Adult of UCI, as a Parquet file; l = 3
python benchmarks/definetti.py census CENSUS.parquet     # Census-Income of UCI, everybody with an occupation; l = 4
python benchmarks/definetti.py hospital                  # as many people of the synthetic hospital as Adult has; l = 3

Further words choose rows of the table by their titles: ``python benchmarks/definetti.py adult ADULT.parquet angel``.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import glasshouse as gh
from glasshouse.pages.report.beliefs import estimated_fits

TABLES = {
    "adult": (["age", "workclass", "education", "marital-status", "race", "sex"], "occupation", 3),
    "census": (
        ["age", "sex", "education", "marital_stat", "race", "class_of_worker", "country_of_birth_self"],
        "detailed_occupation_recode",
        4,
    ),
    "hospital": (["age", "sex", "zipcode"], "disease", 3),
}
METHODS: dict[str, Any] = {
    "Anatomize": gh.Anatomize(),
    "Anatomize, varied": gh.Anatomize(varied=True),
    "Hybrid": gh.Hybrid(),
    "Sift": gh.Sift(),
    "Mirror": gh.Mirror(start="1.75"),
    "Mondrian": gh.Mondrian(),
}
MOST_FITS = 20_000_000  # pairs of a kind of people and a seat that are gone through


def rows_of(name: str, file: str | None) -> pa.Table:
    """The complete rows of a table."""
    quasi, sensitive, _ = TABLES[name]
    rows = gh.synthetic.hospital_table(46_033, seed=1) if file is None else pq.read_table(file)
    if name == "census":
        rows = rows.filter(pc.field(sensitive) > 0)
        rows = rows.set_column(rows.schema.get_field_index(sensitive), sensitive, rows[sensitive].cast(pa.string()))
    return rows.select([*quasi, sensitive]).drop_null()


def main(name: str, file: str | None, chosen: list[str]) -> None:
    """Print a row for every method and recoding."""
    warnings.simplefilter("ignore", gh.DisclosureWarning)
    quasi, sensitive, ell = TABLES[name]
    rows = rows_of(name, file)
    order = gh.Source.seeded(1).permutation(rows.num_rows)
    n = int(0.7 * rows.num_rows)
    table, control = (gh.read(rows.take(part), quasi=quasi, sensitive=sensitive) for part in (order[:n], order[n:]))
    print(
        f"| {name}, l = {ell}, {table.n_tuples:,} people | top guess right | above 1/{ell} (right) | "
        "above .5 (right) | above .9 (right) | calibration | belief in the truth | not in the table | best outsider | "
        "base rate | linking | cost | no double | seconds |\n" + "| --- " * 14 + "|"
    )
    for recoding in ("anatomy", "angel", "boxes"):
        for title, method in METHODS.items():
            title = f"{title}, {recoding}"
            if chosen and not any(word in title for word in chosen):
                continue
            release = gh.publish(
                table,
                principle=gh.LDiversity(ell=ell),
                method=method,
                recoding=recoding,
                source=gh.Source.seeded(1),
            )
            fits = estimated_fits(release, table, sensitive)
            if fits > MOST_FITS:
                print(f"| {title} | not run: about {fits:.1g} pairs of people and places |", flush=True)
                continue
            start = time.perf_counter()
            found = gh.attack(release, gh.DeFinetti(control=control), knowledge=gh.Knowledge(external=table))
            told, cost = found.to_dict(), found.cost
            if cost is None:
                print(f"| {title} | {told['learning']} |", flush=True)
                continue
            own = cost.in_table
            cells = [
                f"{own.right:.3f}",
                *(f"{one.share:.1%} ({one.right:.0%})" for one in own.above),
                f"{own.calibration:.3f}",
                *(
                    f"{one.in_truth:.3f}"
                    for one in (own, cost.outsider, cost.best_outsider, cost.base_rate, cost.linked)
                ),
                f"{cost.cost:.3f}",
                f"{cost.alone.in_truth:.3f} ({cost.alone_outsider.in_truth:.3f})",
                f"{time.perf_counter() - start:.0f}",
            ]
            print(
                f"| {title}{'' if found.model == 'learned' else ' (nothing learned)'} | {' | '.join(cells)} |",
                flush=True,
            )


if __name__ == "__main__":
    table_name, *rest = sys.argv[1:] or ["hospital"]
    path = rest[0] if rest and rest[0].endswith(".parquet") else None
    main(table_name, path, rest[1:] if path else rest)
