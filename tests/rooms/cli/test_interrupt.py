# SPDX-License-Identifier: Apache-2.0
"""A stop cleans up: Ctrl-C, a termination, a lost terminal leave the old pair or the new one, and say which."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse
from glasshouse.release.package import folders as placing
from tests.rooms.cli.world import ROLES
from tests.tiers import tables

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")


@pytest.fixture(autouse=True)
def heard() -> Iterator[None]:
    """Signals that whatever runs the tests ignores, as ``nohup`` does, are heard here, and in processes begun here."""
    before = {stop: signal.signal(stop, signal.SIG_DFL) for stop in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for stop, handler in before.items():
        signal.signal(stop, handler)


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
    wait_for("count", process, tmp_path / "log")
    process.send_signal(signal.SIGINT)
    printed, told = process.communicate(timeout=120)

    assert process.returncode == 130, told
    assert printed == ""
    assert told.splitlines()[-1] == "error: interrupted; nothing was written"
    assert "Traceback" not in told
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
    assert json.loads((tmp_path / "log").read_text().splitlines()[-1])["error"] == "Stopped"


CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
CALLED = {signal.SIGINT: "interrupted", signal.SIGTERM: "stopped by SIGTERM", signal.SIGHUP: "stopped by SIGHUP"}


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("stop", "after"),
    [
        (signal.SIGINT, "write"),
        *((signal.SIGTERM, after) for after in ("read", "divide", "write", "audit")),
        (signal.SIGHUP, "write"),
    ],
)
def test_a_stop_leaves_no_partial_folder_and_the_pair_that_was_there(
    stop: signal.Signals, after: str, table: Path, tmp_path: Path
) -> None:
    """After ``write`` everything is on its stage, and the report is being made: nothing of it stays."""
    gh.publish(gh.synthetic.hospital(100, seed=1), out=tmp_path / "out", principle=gh.LDiversity(ell=2))
    before = bytes_of(tmp_path / "out")
    process = started(table, tmp_path, "--force", *(["--engine", "disk"] if after == "audit" else []))
    wait_for(after, process, tmp_path / "log")
    process.send_signal(stop)
    printed, told = process.communicate(timeout=120)

    assert process.returncode == CODES[stop], told
    assert printed == ""
    assert f"error: {CALLED[stop]}; nothing was written" in told.splitlines()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "out"]
    assert before == bytes_of(tmp_path / "out")


@pytest.mark.parametrize("stop", CODES, ids=lambda stop: stop.name)
def test_a_stop_that_comes_while_folders_change_places_waits_and_says_that_they_did(
    stop: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = placing._put

    def stopped_there(*paths: Path) -> None:
        os.kill(os.getpid(), stop)
        time.sleep(0.01)
        put(*paths)

    monkeypatch.setattr(placing, "_put", stopped_there)
    before = {number: signal.getsignal(number) for number in CODES}
    result = CliRunner().invoke(glasshouse, ["demo", "--rows", "200", "--out", str(tmp_path / "demo")])

    assert result.exit_code == CODES[stop], result.output
    assert f"error: {CALLED[stop]}; {tmp_path / 'demo'} was written completely before this happened" in result.stderr
    assert gh.load(tmp_path / "demo" / "release").n_tuples == 200
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == ["audit", "release"]
    assert before == {number: signal.getsignal(number) for number in CODES}


def test_a_stop_after_the_folders_appeared_says_that_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("glasshouse.cli.demo._both_ways", interrupted)
    result = CliRunner().invoke(glasshouse, ["demo", "--rows", "200", "--out", str(tmp_path / "demo")])

    assert result.exit_code == 130
    assert result.stderr.endswith(
        f"error: interrupted; {tmp_path / 'demo'} was written completely before this happened\n"
    )


def test_a_run_that_ignores_a_lost_terminal_goes_on(table: Path, tmp_path: Path) -> None:
    """As under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = started(table, tmp_path, "--no-report")
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_for("read", process, tmp_path / "log")
    process.send_signal(signal.SIGHUP)
    told = process.communicate(timeout=120)[1]
    assert process.returncode == 0, told


def test_the_library_installs_no_handler_of_its_own(tmp_path: Path) -> None:
    before = {number: signal.getsignal(number) for number in CODES}
    seen = []

    def finishing(*_: object) -> None:
        seen.append({number: signal.getsignal(number) for number in CODES})

    gh.publish(
        gh.synthetic.hospital(100, seed=1), out=tmp_path / "out", principle=gh.LDiversity(ell=2), finishing=finishing
    )
    assert [*seen, {number: signal.getsignal(number) for number in CODES}] == [before, before]


def test_interrupted_at_any_moment_there_is_the_old_release_or_the_new_one(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = started(table, tmp_path, "--no-report")
    began = time.perf_counter()
    process.communicate(timeout=120)
    assert process.returncode == 0
    lasted = time.perf_counter() - began
    chance = random.Random(7)
    ended = set()
    for _ in range(tables(40)):
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
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("glasshouse.microdata.inspection.inspection.inspect", interrupted)
    result = CliRunner().invoke(glasshouse, ["inspect", "x.csv"])

    assert (result.exit_code, result.stderr) == (130, "error: interrupted; nothing was written\n")


def test_an_interrupt_that_a_library_turned_into_something_else_is_still_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def half_imported(*_: object, **__: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        except KeyboardInterrupt:
            raise AttributeError("partially initialized module") from None

    monkeypatch.setattr("glasshouse.microdata.inspection.inspection.inspect", half_imported)
    before = signal.getsignal(signal.SIGINT)
    result = CliRunner().invoke(glasshouse, ["inspect", "x.csv"])

    assert (result.exit_code, result.stderr) == (130, "error: interrupted; nothing was written\n")
    assert signal.getsignal(signal.SIGINT) is before
