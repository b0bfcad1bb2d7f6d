# SPDX-License-Identifier: Apache-2.0
"""Progress is shown to a person who watches, and never written to a file or a pipe."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from glasshouse.cli.progress import Foretelling, Measured, progress_bar, progress_of_steps
from glasshouse.log import LOGGER, step
from tests.rooms.cli.world import QUICK, ROLES


def test_steps_are_shown_while_they_last(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of_steps(shown=True), step("read"), step("divide", rows=20_000):
        time.sleep(0.3)
    told = capsys.readouterr().err

    assert "divide" in told
    assert "20,000 rows" in told


def test_nothing_is_shown_to_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    before = list(LOGGER.handlers)
    with progress_of_steps(), progress_bar() as tell, step("divide", rows=20_000):
        assert LOGGER.handlers == before
        tell("reading", 1, 2)

    assert capsys.readouterr().err == ""


def test_a_pipe_gets_no_control_characters_and_a_terminal_does(world: Path) -> None:
    words = f"publish patients.csv {ROLES} --ell 3 --out piped {QUICK} --json".split()
    done = subprocess.run(
        [sys.executable, "-m", "glasshouse", *words], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stderr == ""
    assert "\x1b" not in done.stdout

    ours, theirs = os.openpty()
    words[words.index("piped")] = "watched"
    with subprocess.Popen(
        [sys.executable, "-m", "glasshouse", *words],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": "xterm"},
    ) as process:
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the terminal is gone
                break
            if not piece:
                break
            seen += piece
        printed = process.communicate(timeout=120)[0]
    os.close(ours)

    assert b"\x1b" in seen
    assert b"read" in seen
    assert "\x1b" not in printed


def test_time_and_memory_are_measured() -> None:
    measured = Measured()
    time.sleep(0.01)

    assert measured.seconds >= 0.01
    assert measured.peak_memory is not None
    assert 10 << 20 < measured.peak_memory < 1 << 40
    assert " s, " in str(measured)


def test_how_long_work_may_take_is_told_once_and_not_before_something_is_done() -> None:
    shares, seconds = list[float](), list[float]()
    tell = Foretelling(shares.append, seconds.append, after=0.2)
    tell(0.01)
    assert not seconds
    time.sleep(0.25)
    for share in (0.0, 0.01, 0.02):
        tell(share)
    assert shares == [0.01, 0.0, 0.01, 0.02]
    assert len(seconds) == 1
    assert 25 <= seconds[0] < 100
