# SPDX-License-Identifier: Apache-2.0
"""An option that was given what it cannot be is named as an option, with a sentence on what its value means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.rooms.cli.world import run

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = {
    "--ell 1": ("--ell must be a whole number of at least 2, not 1. ", "--ell 3 means"),
    "--ell 2.5": ("--ell must be a whole number, not 2.5. ", "1/3"),
    "--ell 1/3": ("--ell must be a whole number, not 1/3. ", "--ell 3 means"),
    "--ell '33 %'": ("--ell must be a whole number, not 33 %. ", "at most 33 %"),
    "--k 0": ("--k must be a whole number of at least 2, not 0. ", "--k 5 means"),
    "--t 1.5": ("--t must be a number of at least 0 and below 1, not 1.5. ", "--t 0.2 means"),
    "--alpha 2 --k 3": ("--alpha must be a number above 0 and below 1, not 2. ", "--alpha 0.5 means"),
    "--distinct-ell 1": ("--distinct-ell must be a whole number of at least 2, not 1. ", "--distinct-ell 3 means"),
    "--entropy-ell 1": ("--entropy-ell must be a number above 1, not 1. ", "--entropy-ell 3 means"),
    "--recursive 2,1": ("L of --recursive C,L must be a whole number of at least 2, not 1. ", "--recursive 2,3 means"),
    "--rho1 3 --rho2 4 --k 2 --domain a,b": ("--rho1 must be a number above 0 and below 1, not 3", ""),
    "--ell 3 --delimiter semicolon": ("--delimiter must be one character", "';' for semicolons"),
    "--ell 3 --decimal x": ("--decimal must be '.' or ',', not x. ", "72,5"),
    "--ell 3 --encoding klingon": ("--encoding must be the name of an encoding, not klingon. ", "cp1252"),
    "--ell 3 --suppress 2": ("--suppress must be a share of at least 0 and less than 1, not 2. ", "2 %"),
}


@pytest.mark.parametrize("given", REFUSED)
def test_a_refused_option_says_what_it_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("age,ill\n" + "".join(f"{20 + i},ill {i % 5}\n" for i in range(60)))
    told = run(f"publish t.csv --quasi age --sensitive ill {given} --out out", code=2).stderr
    for words in REFUSED[given]:
        assert words in told
    assert "got" not in told


def test_other_commands_name_their_options_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("age\n20\n20\n")
    assert (
        "--k must be a whole number of at least 1, not 0. --k 5 means"
        in run("verify t.csv --quasi age --k 0", code=2).stderr
    )


def test_a_parameter_of_a_method_is_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("age,ill\n" + "".join(f"{20 + i},ill {i % 5}\n" for i in range(60)))
    line = "publish t.csv --quasi age --sensitive ill --ell 2 --method mirror --with floor=0 --out out"
    assert "Mirror: floor must be an integer >= 1" in run(line, code=2).stderr
