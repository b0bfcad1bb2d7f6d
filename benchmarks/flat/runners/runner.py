# SPDX-License-Identifier: Apache-2.0
"""What every runner does: read a job and a CSV file, let the tool work, write a CSV file, tell a line of JSON.

Runners are run by the Python of a tool's own environment, so nothing is imported here but the standard library. Python,
imports, reading and writing are not counted; the CPU seconds are those of the process and of the processes it started.
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


def spent():
    whose = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, whose))


def run(distribution, work):
    """Do the job that the command line names; ``work`` takes it and gives a dictionary, which is told."""
    job = json.loads(Path(sys.argv[1]).read_text())
    warnings.simplefilter("ignore")
    try:
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):  # some tools talk
            told = work(job)
        told["version"] = importlib.metadata.version(distribution)
    except Exception as error:
        told = {"failed": f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]}
    print(json.dumps(told))


@contextlib.contextmanager
def measured(told):
    cpu, clock = spent(), time.perf_counter()
    yield
    told.update(cpu=spent() - cpu, clock=time.perf_counter() - clock)
