# SPDX-License-Identifier: Apache-2.0
"""Anonymeter: singling out, linkability and inference on a flat table, each with a control group.

Every attack tells the success rates against the members and against the control, and Anonymeter's risk: what the first
has over the second, as a share of what was left to gain, with its interval of 95 %.

Whether a predicate holds for exactly one person depends on how many there are, so singling out is tried on members and
a control of the same number: on as many other people if the job has them (`alike`), or on as many members as there are
in the control.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from runner import measured, run

NEIGHBOURS = 10  # as in Anonymeter's own example


def work(job):
    import numpy as np
    import pandas as pd
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    np.random.seed(job["seed"])
    kinds = {name: "int64" if name in job["numbers"] else str for name in job["columns"]}
    read = {
        what: pd.read_csv(job[what], dtype=kinds, keep_default_na=False)
        for what in ("ori", "syn", "control", "alike")
        if job[what]
    }
    quasi, n, told = job["quasi"], job["attacks"], {}
    columns = job["columns"]
    halves = columns[: len(columns) // 2], columns[len(columns) // 2 :]
    with measured(told):
        single = SinglingOutEvaluator(
            **alike(read), n_attacks=n, n_cols=len(quasi), max_attempts=job["attempts"], seed=job["seed"]
        )
        told["singling_out"] = judged(lambda: single.evaluate(mode="multivariate"))
        read.pop("alike", None)
        link = LinkabilityEvaluator(**read, n_attacks=n, aux_cols=halves, n_neighbors=NEIGHBOURS)
        told["linkability"] = judged(lambda: link.evaluate(n_jobs=1))
        infer = InferenceEvaluator(**read, n_attacks=n, aux_cols=quasi, secret=job["sensitive"], regression=False)
        told["inference"] = judged(lambda: infer.evaluate(n_jobs=1))
    return told


def alike(read):
    """The tables for singling out: as many members as people of the control."""
    if "alike" in read:
        return {"ori": read["ori"], "syn": read["syn"], "control": read["alike"]}
    n = min(len(read["ori"]), len(read["control"]))
    return {"ori": read["ori"].iloc[:n], "syn": read["syn"], "control": read["control"].iloc[:n]}


def judged(evaluate):
    """What an attack found, or why it found nothing."""
    try:
        evaluator = evaluate()
        results, risk = evaluator.results(confidence_level=0.95), evaluator.risk(confidence_level=0.95)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]}
    return {
        "members": float(results.attack_rate.value),
        "control": float(results.control_rate.value),
        "baseline": float(results.baseline_rate.value),
        "risk": float(risk.value),
        "interval": [float(end) for end in risk.ci],
    }


if __name__ == "__main__":
    run("anonymeter", work)
