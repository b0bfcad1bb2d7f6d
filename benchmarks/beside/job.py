# SPDX-License-Identifier: Apache-2.0
"""One tool does one task on one table, in a process and an environment of its own; see `benchmarks/peers.py`.

Run by the Python of the tool's environment, so nothing is imported here but pandas and the tool. Every tool is used as
its own documentation says, and starts from the same pandas frame. The clock runs from there to the published frame:
Python, imports, reading and writing are not counted. Short work is done up to three times, and the shortest counts.

    python job.py JOB.json          # what to do; a line of JSON comes back
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

ENOUGH = 5.0  # seconds after which work is not done again


def anonypy(frame, job):
    import anonypy
    import pandas as pd

    asked, quasi, sensitive = job["asked"], job["quasi"], job["sensitive"]
    frame = as_categories(frame, [*job["categories"], sensitive])

    def work():
        preserver = anonypy.Preserver(frame, quasi, sensitive)
        if "distinct_ell" in asked:
            return pd.DataFrame(preserver.anonymize_l_diversity(k=asked["k"], l=asked["distinct_ell"]))
        if "t" in asked:
            return pd.DataFrame(preserver.anonymize_t_closeness(k=asked["k"], p=asked["t"]))
        return pd.DataFrame(preserver.anonymize_k_anonymity(k=asked["k"]))

    def rows(found):
        for name in quasi:  # a cell is a list with one text
            found[name] = found[name].str[0]
        return one_row_each(found)

    return work, rows


def anonypyx(frame, job):
    from anonypyx import Anonymiser

    asked, quasi, sensitive = job["asked"], job["quasi"], job["sensitive"]
    options = {"algorithm": "Mondrian", **job["options"]}
    numbers = [] if options.get("closeness_metric") else [name for name in quasi if name not in job["categories"]]
    frame = as_categories(frame, [name for name in (*quasi, sensitive) if name not in numbers])
    wanted = {"k": asked["k"], "l": asked.get("distinct_ell"), "t": asked.get("t"), **options}

    def work():
        anonymiser = Anonymiser(
            frame,
            feature_columns=quasi,
            sensitive_column=sensitive,
            generalisation_strategy="human-readable",
            **wanted,
        )
        return anonymiser.anonymise()

    return work, one_row_each


def anjana(frame, job):
    import numpy as np
    from anjana.anonymity import k_anonymity, l_diversity, t_closeness

    asked, quasi, sensitive = job["asked"], job["quasi"], job["sensitive"]
    dropped = job["options"]["supp_level"]

    def work():
        trees = {name: {i: np.array(level) for i, level in enumerate(tree)} for name, tree in job["trees"].items()}
        if "distinct_ell" in asked:
            return l_diversity(frame, [], quasi, sensitive, asked["k"], asked["distinct_ell"], dropped, trees)
        if "t" in asked:
            return t_closeness(frame, [], quasi, sensitive, asked["k"], asked["t"], dropped, trees)
        return k_anonymity(frame, [], quasi, asked["k"], dropped, trees)

    return work, lambda found: found


def pycanon(frame, job):
    from pycanon import anonymity

    quasi, sensitive = job["quasi"], [job["sensitive"]]

    def work():
        return {
            "k": int(anonymity.k_anonymity(frame, quasi)),
            "distinct_ell": int(anonymity.l_diversity(frame, quasi, sensitive)),
            "t": float(anonymity.t_closeness(frame, quasi, sensitive)),
        }

    return work, None


def glasshouse(frame, job):
    import glasshouse as gh

    warnings.simplefilter("ignore", gh.DisclosureWarning)
    asked, options = job["asked"], job["options"]
    if options.get("verify"):

        def count():
            found = gh.verify(frame, quasi=job["quasi"], sensitive=job["sensitive"])
            return {"k": found.k, "distinct_ell": found.distinct_ell, "t": float(found.t_exact)}

        return count, None

    principle = gh.KAnonymity(k=asked["k"])
    if "distinct_ell" in asked:  # which needs as many tuples as values
        kind = gh.LDiversity if options.get("frequency") else gh.DistinctLDiversity
        principle = kind(ell=asked["distinct_ell"])
    elif "t" in asked:
        principle = gh.AllOf(principles=(principle, gh.TCloseness(t=str(asked["t"]))))
    method = getattr(gh, options["method"])()
    recoding = getattr(gh, options["recoding"])()

    def work():
        table = gh.read(frame, quasi=job["quasi"], sensitive=job["sensitive"])
        return gh.publish(table, principle=principle, method=method, recoding=recoding)

    return work, lambda release: release


TOOLS = {"anonypy": anonypy, "anonypyx": anonypyx, "anjana": anjana, "pycanon": pycanon, "glasshouse": glasshouse}


def as_categories(frame, names):
    return frame.astype(dict.fromkeys(names, "category"))


def one_row_each(found):
    """The frame with one row a person, of one that counts them."""
    return found.loc[found.index.repeat(found["count"])].drop(columns="count")


def peak():
    """Peak memory in GB; `getrusage` would count what the parent had when it started this process."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1e6


def measured(work):
    best, clock, began = float("inf"), float("inf"), time.perf_counter()
    for _ in range(3):
        cpu, start = time.process_time(), time.perf_counter()
        found = work()
        best, clock = min(best, time.process_time() - cpu), min(clock, time.perf_counter() - start)
        if time.perf_counter() - began > ENOUGH:
            break
    return found, {"cpu": best, "clock": clock, "gigabytes": peak()}


def do(job):
    import pandas as pd

    frame = pd.read_csv(job["table"], dtype=dict.fromkeys([*job["categories"], job["sensitive"]], str))
    work, rows = TOOLS[job["tool"]](frame, job)
    found, told = measured(work)
    told["version"] = importlib.metadata.version(job["tool"])
    if rows is None:
        return {**told, "counted": found}
    published = rows(found)
    if hasattr(published, "save"):
        published.save(job["out"], force=True)
    else:
        published.to_csv(job["out"], index=False)
    return told


def main():
    job = json.loads(Path(sys.argv[1]).read_text())
    warnings.simplefilter("ignore", FutureWarning)
    try:
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):  # some tools talk
            told = do(job)
    except Exception as error:
        kind = "MemoryError" if isinstance(error, MemoryError) else type(error).__name__
        told = {"failed": f"{kind}: {error}".strip().splitlines()[0]}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
