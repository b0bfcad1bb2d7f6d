"""Benchmarks of large tables: kinds are counted in chunks as in one, growth is foretold, processes are added up."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import glasshouse as gh
from benchmarks import billion
from glasshouse.microdata.kinds import kinds_of
from glasshouse.microdata.synthetic import TRANSPARENT_QUASI


def test_kinds_of_chunks_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds, _ = kinds_of(gh.synthetic.census(3_000))

    assert billion.growth(TRANSPARENT_QUASI, [3_000])[0] == (kinds.points().n_groups, len(kinds))

    codes = [billion.packed(1_000, seed, TRANSPARENT_QUASI) for seed in range(3)]
    monkeypatch.setattr(billion, "CHUNK", 1_000)
    assert billion.growth(TRANSPARENT_QUASI, [1_000, 3_000])[1][1] == len(np.unique(np.concatenate(codes)))


def test_a_growth_that_does_not_slow_down_is_foretold_exactly() -> None:
    rows = [1_000, 2_000, 4_000, 8_000]

    low, high = billion.foretold(rows, [n**0.5 for n in rows], 1_000_000, 10**9)

    assert low == pytest.approx(1_000)
    assert high == pytest.approx(1_000)


def test_what_slows_down_is_foretold_by_a_range_below_what_there_can_be() -> None:
    rows = [1_000, 2_000, 4_000, 8_000]
    found = [round(10_000 * (1 - np.exp(-n / 10_000))) for n in rows]

    low, high = billion.foretold(rows, found, 20_000, 10**9)

    assert found[-1] < low < high
    assert billion.foretold(rows, found, 10**9, 10_000) == (10_000, 10_000)


def test_the_time_of_processes_that_have_ended_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(billion.__file__).parent))
    if not Path("/proc/self/stat").exists():
        pytest.skip("there is no /proc")
    from benchmarks import spark

    busy = "import time\nwhile time.process_time() < 0.3: pass"
    before = sum(spark.cpu_of(spark.tree()).values())
    subprocess.run([sys.executable, "-c", busy], check=True)
    with subprocess.Popen([sys.executable, "-c", f"{busy}\ntime.sleep(60)"]) as running:
        try:
            until = time.monotonic() + 10
            while spark.tree()[running.pid][0] < 0.25 and time.monotonic() < until:
                time.sleep(0.05)
            spent = sum(spark.cpu_of(spark.tree()).values()) - before
        finally:
            running.kill()

    assert spent > 0.5  # two times 0.3, in ticks of the clock
