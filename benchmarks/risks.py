"""Singling out, linkability and inference: half of a table published, the other half as control.

python benchmarks/risks.py ADULT.parquet       # Adult of UCI, as a Parquet file
python benchmarks/risks.py                     # as many people of the synthetic hospital
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import glasshouse as gh

ADULT = ["age", "workclass", "education", "marital-status", "race", "sex"], "occupation"
HOSPITAL = ["age", "sex", "zipcode"], "disease"
WAYS: dict[str, tuple[Any, Any, str]] = {
    "Snug, k = 5, boxes": (gh.KAnonymity(k=5), gh.Snug(), "boxes"),
    "Mondrian, k = 5, boxes": (gh.KAnonymity(k=5), gh.Mondrian(), "boxes"),
    "Mondrian, l = 2, boxes": (gh.LDiversity(ell=2), gh.Mondrian(), "boxes"),
    "Mirror, l = 2, boxes": (gh.LDiversity(ell=2), gh.Mirror(start="1.75", inner="ace"), "boxes"),
    "Mirror, l = 4, boxes": (gh.LDiversity(ell=4), gh.Mirror(start="1.75", inner="ace"), "boxes"),
    "Mirror, l = 4, ANGEL": (gh.LDiversity(ell=4), gh.Mirror(start="1.75"), "angel"),
    "Anatomize, l = 4, anatomy": (gh.LDiversity(ell=4), gh.Anatomize(), "anatomy"),
}


def halves(rows: pa.Table, quasi: list[str], sensitive: str) -> tuple[gh.Microdata, gh.Microdata]:
    """The complete rows, in two halves at random."""
    complete = rows.select([*quasi, sensitive]).drop_null()
    order = gh.Source.seeded(1).permutation(complete.num_rows)
    half = complete.num_rows // 2
    first, second = (
        gh.read(complete.take(part), quasi=quasi, sensitive=sensitive) for part in (order[:half], order[half:])
    )
    return first, second


def main(file: str | None) -> None:
    warnings.simplefilter("ignore", gh.DisclosureWarning)
    quasi, sensitive = HOSPITAL if file is None else ADULT
    rows = gh.synthetic.hospital_table(46_033, seed=1) if file is None else pq.read_table(file)
    table, control = halves(rows, quasi, sensitive)
    print("| attack, naive guess, control: risk | singling out | linkability | inference |\n| --- | --- | --- | --- |")
    for title, (principle, method, recoding) in WAYS.items():
        release = gh.publish(table, principle=principle, method=method, recoding=recoding, source=gh.Source.seeded(1))
        cells = []
        for attack in (gh.SinglingOut, gh.Linkability, gh.Inference):
            chosen = attack(control=control, source=gh.Source.seeded(1))
            found = gh.attack(release, chosen, knowledge=gh.Knowledge(external=table))
            assert found.control is not None
            assert found.risk is not None
            rates = (found.success.value, found.baseline.value, found.control.value)
            digits = 5 if attack is gh.Linkability else 3
            cells.append(f"{', '.join(f'{rate:.{digits}f}' for rate in rates)}: {found.risk.value:.{digits}f}")
        print(f"| {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
