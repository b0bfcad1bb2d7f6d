# SPDX-License-Identifier: Apache-2.0
"""A bottom code lies below the top code of its column, however they are given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import glasshouse as gh
from tests.rooms.cli.world import run

if TYPE_CHECKING:
    from pathlib import Path

PEOPLE = {"age": list(range(20, 80)), "ill": [f"ill {i % 5}" for i in range(60)]}
SAID = "must be less than its"


@pytest.mark.parametrize(("bottom", "top"), [(80, 70), (70, 70), ("80", 70.0)])
def test_a_bottom_code_above_the_top_code_is_refused(bottom: Any, top: Any) -> None:
    with pytest.raises(gh.InputError, match=rf"bottom= of column 'age' \({bottom}\) {SAID} top= \({top}\)"):
        gh.read(PEOPLE, quasi=["age"], sensitive="ill", bottom={"age": bottom}, top={"age": top})


def test_what_lies_between_them_stays() -> None:
    ages = gh.read(PEOPLE, quasi=["age"], sensitive="ill", bottom={"age": 30}, top={"age": 31}).column("age")
    assert ages.domain.values.to_pylist() == [30, 31]


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_the_command_line_and_a_policy_refuse_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.chdir(tmp_path)
    rows = zip(PEOPLE["age"], PEOPLE["ill"], strict=True)
    (tmp_path / "t.csv").write_text("age,ill\n" + "".join(f"{age},{ill}\n" for age, ill in rows))
    (tmp_path / "p.toml").write_text(
        '[source]\nfile = "t.csv"\n[roles]\nquasi = ["age"]\nsensitive = "ill"\n[columns.age]\nbottom = 80\ntop = 70\n'
        "[principle]\nell = 2\n"
    )
    asked = "publish t.csv --quasi age --sensitive ill --ell 2 --bottom age=80 --top age=70 --out out"
    for line in (f"{asked} --engine {engine}", f"publish p.toml --out out --engine {engine}"):
        told = run(line, code=2).stderr
        assert "--bottom of column 'age' (80) must be less than its --top (70)" in told
    assert not (tmp_path / "out").exists()
