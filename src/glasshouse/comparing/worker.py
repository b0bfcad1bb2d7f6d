# SPDX-License-Identifier: Apache-2.0
"""A process that tries ways one after another: ``python -m glasshouse.comparing.worker``.

It reads pickles, the setting and then a method with a recoding each, and writes lines of JSON: for each way what is
known before the attack, and the row. Both are pipes to the process that started it; no table touches a disk.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from typing import TYPE_CHECKING

from glasshouse.analyst.workloads import Workload
from glasshouse.comparing.scoring import Setting, score
from glasshouse.grouping import Mirror
from glasshouse.microdata import examples
from glasshouse.principles import LDiversity
from glasshouse.recoding import Angel, Boxes
from glasshouse.report.effort import Effort

if TYPE_CHECKING:
    from glasshouse.comparing.row import Row

__all__ = ["main"]


def main() -> None:
    """Work until nobody asks for more."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)  # whatever a library prints is no row

        def send(kind: str, row: Row) -> None:
            out.write(json.dumps({kind: row.to_dict()}) + "\n")
            out.flush()

        _warm_up()
        setting = pickle.load(sys.stdin.buffer)
        while True:
            try:
                method, recoding = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            send("row", score(setting, method, recoding, lambda row: send("part", row)))


def _warm_up() -> None:
    """Publish a few tuples, so that no row pays for what is loaded when it is first used."""
    table = examples.transparent_t1()
    setting = Setting(
        tables=(table,),
        principle=LDiversity(ell=2),
        workload=Workload.transparent(table, n=1),
        seed=0,
        effort=Effort(most_worlds=1, most_runs=1),
        threads=1,
    )
    for recoding in (Boxes(), Angel()):
        score(setting, Mirror(), recoding)


if __name__ == "__main__":
    main()
