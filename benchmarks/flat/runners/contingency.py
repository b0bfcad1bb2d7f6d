# SPDX-License-Identifier: Apache-2.0
"""OpenDP's contingency tables: AIM chooses and measures noisy pairs of attributes, and a graphical model joins them.

The epsilon and delta of the job are turned into zero-concentrated differential privacy, in which AIM counts. Numbers
are cut into about 20 bins of equal width, and drawn uniformly from them. OpenDP draws its noise from a secure source,
which takes no seed.

The table is drawn from the released model, which costs no privacy, in a way that goes round two faults of mbi 1.1.0,
the version that OpenDP 0.16.0 asks for (https://github.com/ryan112358/mbi/pull/145): its default, rounding, makes
columns depend on each other that do not in the model, and it draws a column from its measured pairs alone.
"""

from __future__ import annotations

import sys
from dataclasses import replace
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


def joined(model):
    """The same model over the largest cliques of its junction tree, from which mbi draws rightly."""
    from mbi import junction_tree

    tree, _ = junction_tree.make_junction_tree(model.domain, [set(clique) for clique in model.cliques])
    return model.replace(potentials=model.potentials.expand(list(tree.nodes)))


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
        table = query.release()
        drawn = replace(table, model=joined(table.model)).synthesize(rows=job["rows"], method="sample")
    drawn.write_csv(job["out"])
    return told


if __name__ == "__main__":
    run("opendp", work)
