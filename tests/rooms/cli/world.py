# SPDX-License-Identifier: Apache-2.0
"""A folder with everything that the examples of the commands name, and a way to run command lines in it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
from click.testing import CliRunner, Result

import glasshouse as gh
from glasshouse.cli.commands import glasshouse

ROLES = "--quasi age,sex,zipcode --sensitive disease"
QUICK = "--no-report"


def make_world(folder: Path, n: int = 300) -> None:
    """Patients, the people whom an adversary knows, a table of another tool, and lists."""
    patients = gh.synthetic.hospital_table(n=n, seed=1)
    pa_csv.write_csv(patients, folder / "patients.csv")
    _write_next_year(folder, patients)
    pa_csv.write_csv(gh.synthetic.hospital_table(n=300, seed=2), folder / "others.csv")  # people who are not published
    voters = patients.select(["patient", "age", "sex", "zipcode"]).rename_columns(["name", "age", "sex", "zipcode"])
    pa_csv.write_csv(voters, folder / "voters.csv")
    diseases = sorted(set(patients["disease"].to_pylist()))
    (folder / "diseases.txt").write_text("\n".join(diseases) + "\n")
    cells = {name: ["*"] * n for name in ("age", "sex", "zipcode")}
    pa_csv.write_csv(pa.table({**cells, "disease": patients["disease"]}), folder / "any_tool_output.csv")
    (folder / "arx.csv").write_text("age,zipcode,disease\n" + "".join(f"1-5,1-5,{value}\n" for value in "bcaad"))
    (folder / "people.csv").write_text("age,zipcode\n" + "".join(f"{i},{6 - i}\n" for i in range(1, 6)))


def _write_next_year(folder: Path, patients: pa.Table) -> None:
    """The same table a year later: a tenth of the people left, and others came."""
    others = gh.synthetic.hospital_table(n=patients.num_rows // 2, seed=3)
    named = pa.array([f"N{i}" for i in range(others.num_rows)])
    others = others.set_column(others.column_names.index("patient"), "patient", named)
    pa_csv.write_csv(pa.concat_tables([patients.slice(patients.num_rows // 10), others]), folder / "2027.csv")


def run(line: str, *, code: int = 0) -> Result:
    """Run a command line in the current folder; it must end with this exit code."""
    words = shlex.split(line, comments=True)
    result = CliRunner().invoke(glasshouse, words[1:] if words[0] == "glasshouse" else words)
    assert result.exit_code == code, f"{line}\n{result.output}\n{result.exception!r}"
    return result
