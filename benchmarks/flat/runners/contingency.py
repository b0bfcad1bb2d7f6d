# SPDX-License-Identifier: Apache-2.0
"""OpenDP's contingency tables: AIM chooses and measures noisy pairs of attributes, and a graphical model joins them.

The epsilon and delta of the job are turned into zero-concentrated differential privacy, in which AIM counts. Numbers
are cut into about 20 bins of equal width, and drawn uniformly from them. OpenDP draws its noise from a secure source,
which takes no seed.
"""

from __future__ import annotations

import sys
from math import log, sqrt
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from runner import measured, run

BINS = 20
ITERATIONS = 250  # of each fit of the graphical model; by default 1,000, which takes minutes


def ends(values):
    """Where bins end; the least and the greatest value have bins of their own, beyond which OpenDP draws nothing."""
    low, high = values[0], values[-1]
    width = max(1, (high - low) // BINS)
    return [*range(low, high - 1, width), high - 1]


def fitted(domain, loss_fn, *, potentials=None):
    from mbi.estimation import mirror_descent

    return mirror_descent(domain, loss_fn, potentials=potentials, iters=ITERATIONS)


def work(job):
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    frame, told, options = pl.read_csv(job["table"]), {}, job["options"]
    keys = {name: values for name, values in job["domains"].items() if name not in job["numbers"]}
    cuts = {name: ends(job["domains"][name]) for name in job["numbers"]}
    rho = (sqrt(options["epsilon"] + log(1 / options["delta"])) - sqrt(log(1 / options["delta"]))) ** 2
    with measured(told):
        context = dp.Context.compositor(
            data=frame.lazy(),
            privacy_unit=dp.unit_of(contributions=1),
            privacy_loss=dp.loss_of(rho=rho),
            split_evenly_over=1,
        )
        pairs = dp.mbi.AIM(queries=2, max_size=options["megabytes"], rounds=options["rounds"], estimator=fitted)
        query = context.query().select(*frame.columns).contingency_table(keys=keys, cuts=cuts, algorithm=pairs)
        drawn = query.release().synthesize(rows=job["rows"])
    drawn.write_csv(job["out"])
    return told


if __name__ == "__main__":
    run("opendp", work)
