# SPDX-License-Identifier: Apache-2.0
"""verify against pyCANON 1.3: k, distinct l and t of the same 100,000 rows, in CPU seconds, and whether both agree.

pyCANON lives in an environment of its own (build/peers/pycanon), made on the first run. Both get the same pandas frame,
a synthetic census in groups of some hundred people on average, and then the same rows shuffled. Reading is not counted
for either; Python and imports neither. (pyCANON 1.3 mixes positions with index labels, and errs on shuffled rows.)

    python benchmarks/verify_against_pycanon.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from measure import cpu, row

from glasshouse.journeys.verify import verify
from glasshouse.microdata.synthetic import census_table
from glasshouse.verification import verify_table

PEER = Path(__file__).resolve().parents[1] / "build" / "peers" / "pycanon"
QUASI = ["age", "gender", "education", "marital"]
SENSITIVE = "occupation"
ASK_PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity

path, quasi, sensitive = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
frame = pd.read_csv(path, dtype=str, index_col=0)
frame.index = frame.index.astype(int)
start = time.process_time()
answer = {
    "k": int(anonymity.k_anonymity(frame, quasi)),
    "l": int(anonymity.l_diversity(frame, quasi, [sensitive])),
    "t": float(anonymity.t_closeness(frame, quasi, [sensitive])),
}
print(json.dumps({"cpu": time.process_time() - start, **answer}))
"""


def generalized(n: int) -> pa.Table:
    """A census with ages by decades and education in three steps: text, as another tool would have published it."""
    table = census_table(n, seed=1, columns=[*QUASI, SENSITIVE])
    coarse = {"age": 10, "education": 6}
    columns = {}
    for name in table.column_names:
        numbers = pc.divide(table[name].cast(pa.int64()), coarse.get(name, 1))
        columns[name] = pc.binary_join_element_wise(name, numbers.cast(pa.string()), "-")
    return pa.table(columns)


def peer() -> Path:
    """The Python that has pyCANON; made if it is not there."""
    python = PEER / "bin" / "python"
    if not python.exists():
        venv.create(PEER, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "pycanon==1.3.*"], check=True)
    return python


def ask_pycanon(frame: pd.DataFrame) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.to_csv(path)
        asked = [peer(), "-c", ASK_PYCANON, str(path), json.dumps(QUASI), SENSITIVE]
        done = subprocess.run(asked, check=True, capture_output=True, text=True)
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    frame = generalized(100_000).to_pandas()
    row("k, l and t of 100,000 rows", "verify, s", "pyCANON, s", "ratio", "agree")
    shuffled = frame.sample(frac=1, random_state=1)
    cases = {"in order": frame, "shuffled": shuffled, "shuffled, index reset": shuffled.reset_index(drop=True)}
    for what, rows in cases.items():
        seconds = cpu(lambda rows=rows: verify(rows, quasi=QUASI, sensitive=SENSITIVE))
        ours = verify(rows, quasi=QUASI, sensitive=SENSITIVE)
        theirs = ask_pycanon(rows)
        same = ours.k == theirs["k"] and ours.distinct_ell == theirs["l"] and abs(ours.t_exact - theirs["t"]) < 1e-9
        numbers = f"{seconds:.3f}", f"{theirs['cpu']:.2f}", f"{theirs['cpu'] / seconds:.0f}", "yes" if same else "no"
        row(f"  {what}", *numbers)
        row("    k, l, t: verify", str(ours.k), str(ours.distinct_ell), f"{float(ours.t_exact):.6f}")
        row("    k, l, t: pyCANON", str(theirs["k"]), str(theirs["l"]), f"{theirs['t']:.6f}")

    for n in (1_000_000, 10_000_000):
        table = generalized(n)
        ordered = table.sort_by([(name, "ascending") for name in QUASI])
        row(f"everything of {n:,} rows, CPU seconds", *(["as they come", "sorted by group"]))
        found = [cpu(lambda t=t: verify(t, quasi=QUASI, sensitive=SENSITIVE), runs=2) for t in (table, ordered)]
        row("  verify, from text", *(f"{seconds:.2f}" for seconds in found))
        encoded = [pa.table({name: t[name].dictionary_encode() for name in t.column_names}) for t in (table, ordered)]
        found = [cpu(lambda t=t: verify_table(t, quasi=QUASI, sensitive=SENSITIVE), runs=2) for t in encoded]
        row("  verify_table, from dictionaries", *(f"{seconds:.2f}" for seconds in found))


if __name__ == "__main__":
    sys.exit(main())
