# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C cleans up: exit code 130, nothing half-written, an earlier release untouched."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from tests.cli.world import ROLES

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("interrupted") / "patients.parquet"
    pq.write_table(gh.synthetic.hospital_table(n=150_000, seed=1), path)
    return path


def started(table: Path, folder: Path, *more: str) -> subprocess.Popen[str]:
    words = f"publish {table} {ROLES} --ell 5 --out {folder / 'out'} --log-json {folder / 'log'}".split()
    return subprocess.Popen(
        [sys.executable, "-m", "glasshouse", *words, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )


def wait_for(step: str, process: subprocess.Popen[str], log: Path) -> None:
    """Wait until a step has ended."""
    while process.poll() is None:
        if log.exists() and any(json.loads(line)["step"] == step for line in log.read_text().splitlines(keepends=True)):
            return
        time.sleep(0.002)


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_an_interrupted_command_leaves_nothing_and_ends_with_130(engine: str, table: Path, tmp_path: Path) -> None:
    process = started(table, tmp_path, "--no-report", "--engine", engine)
    wait_for("read" if engine == "memory" else "survey", process, tmp_path / "log")
    process.send_signal(signal.SIGINT)
    printed, told = process.communicate(timeout=120)

    assert process.returncode == 130, told
    assert printed == ""
    assert told.splitlines()[-1] == "error: interrupted; nothing unfinished stays behind"
    assert "Traceback" not in told
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
    assert json.loads((tmp_path / "log").read_text().splitlines()[-1])["error"] == "KeyboardInterrupt"


def test_interrupted_at_any_moment_there_is_the_old_release_or_the_new_one(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = started(table, tmp_path, "--no-report")
    began = time.perf_counter()
    process.communicate(timeout=120)
    assert process.returncode == 0
    lasted = time.perf_counter() - began
    chance = random.Random(7)
    ended = set()
    for _ in range(8):
        process = started(table, tmp_path, "--no-report", "--force")
        time.sleep(chance.uniform(0.2, 1.1) * lasted)
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=120)[1]
        # the interpreter ends itself by the signal where the interrupt came while it built a class
        ended.add(process.returncode)
        assert process.returncode in (0, 130, -signal.SIGINT), told
        assert sorted(path.name for path in out.iterdir()) == ["audit", "release"]
        assert as_published(out) == as_kept(out, table)

    assert ended & {130, -signal.SIGINT}


def as_published(out: Path) -> Counter[tuple[int, str]]:
    """How often each disease is in each batch, as the release says."""
    batches = gh.load(out / "release").tables["bt"]
    rows = zip(*(batches[name].to_pylist() for name in ("Batch-ID", "disease", "Count")), strict=True)
    return Counter({(batch, disease): count for batch, disease, count in rows})


def as_kept(out: Path, table: Path) -> Counter[tuple[int, str]]:
    """The same, as the partition of the audit says; numbers of batches are drawn anew in every run."""
    groups = pq.read_table(out / "audit" / "partition.parquet")["group"].to_pylist()
    return Counter(zip(groups, pq.read_table(table)["disease"].to_pylist(), strict=True))


def test_an_interrupt_inside_a_command_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("glasshouse.microdata.inspection.inspect", interrupted)
    result = CliRunner().invoke(glasshouse, ["inspect", "x.csv"])

    assert (result.exit_code, result.stderr) == (130, "error: interrupted; nothing unfinished stays behind\n")


def test_an_interrupt_that_a_library_turned_into_something_else_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    def half_imported(*_: object, **__: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            raise AttributeError("partially initialized module") from None

    monkeypatch.setattr("glasshouse.microdata.inspection.inspect", half_imported)
    before = signal.getsignal(signal.SIGINT)
    result = CliRunner().invoke(glasshouse, ["inspect", "x.csv"])

    assert (result.exit_code, result.stderr) == (130, "error: interrupted; nothing unfinished stays behind\n")
    assert signal.getsignal(signal.SIGINT) is before
