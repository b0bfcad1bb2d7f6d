"""What judges other tools' tables, and what keeps their environments and jobs apart from ours."""

from __future__ import annotations

import os
import sys
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from benchmarks.beside import job, running, tables
from benchmarks.beside.judging import Verdict, judge, judge_release

import glasshouse as gh

TRUTH = tables.Table(
    name="four people",
    frame=pd.DataFrame(
        {"age": [20, 30, 40, 60], "sex": ["F", "M", "F", "M"], "ill": ["flu", "cold", "flu", "gout"]},
    ),
    quasi=["age", "sex"],
    categories=["sex"],
    sensitive="ill",
    trees={},
)


def published(age: list[str], sex: list[str], ill: list[str] | None = None) -> pd.DataFrame:
    return pd.DataFrame({"age": age, "sex": sex, "ill": ill or TRUTH.frame["ill"].tolist()})


PAIRS = published(["20-30", "20-30", "40-60", "40-60"], ["F,M"] * 4)


def judged(frame: pd.DataFrame, **asked: Any) -> Verdict:
    found = judge(frame, TRUTH, asked)
    assert found is not None
    return found


def test_a_table_that_has_what_was_asked_for_holds_and_loses_what_it_loses_by_hand() -> None:
    found = judged(PAIRS, k=2, distinct_ell=2, t=0.5)

    # ages are a quarter and a half of the range wide, the sexes all of it
    assert (found.holds, found.n_dropped, found.average_size) == (True, 0, 2.0)
    assert found.ncp == pytest.approx((0.25 + 1 + 0.5 + 1) / 4)


@pytest.mark.parametrize(
    ("asked", "broken"),
    [({"k": 3}, "k = 2"), ({"k": 2, "distinct_ell": 3}, "l = 2"), ({"k": 2, "t": 0.2}, "t = 0.25")],
)
def test_a_table_without_what_was_asked_for_is_told_with_what_it_has(asked: dict[str, Any], broken: str) -> None:
    found = judged(PAIRS, **asked)

    assert not found.holds
    assert found.broken == broken


def test_cells_of_other_tools_score_as_our_own_do() -> None:
    ours = published(["[20, 30]", "[20, 30]", "[40, 60]", "[40, 60]"], ["{F, M}"] * 4)

    assert judged(ours, k=2) == judged(PAIRS, k=2)


def test_our_own_release_is_judged_by_its_published_cells() -> None:
    table = gh.read(TRUTH.frame, quasi=TRUTH.quasi, sensitive=TRUTH.sensitive)
    release = gh.publish(table, principle=gh.KAnonymity(k=2), method=gh.Mondrian(), recoding=gh.Boxes())

    assert judge_release(release, TRUTH, {"k": 2}).holds
    assert judge_release(release, TRUTH, {"k": 5}).broken.startswith("k = ")


def test_a_release_in_several_tables_is_held_to_its_recipe() -> None:
    table = gh.read(TRUTH.frame, quasi=TRUTH.quasi, sensitive=TRUTH.sensitive)
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Angel())

    assert judge_release(release, TRUTH, {"k": 2, "distinct_ell": 2}).holds


def test_a_dropped_person_counts_as_cells_as_wide_as_the_range() -> None:
    found = judged(published(["20", "30", "40"], ["F", "M", "F"], ["flu", "cold", "flu"]), k=1)

    assert found.n_dropped == 1
    assert found.ncp == pytest.approx(1 / 4)


def test_people_who_are_not_in_the_microdata_are_noticed() -> None:
    assert judged(published(["20-60"] * 4, ["F,M"] * 4, ["flu", "flu", "flu", "gout"]), k=4).broken == "1 invented"


def test_a_table_without_rows_has_no_verdict() -> None:
    assert judge(pd.DataFrame(), TRUTH, {"k": 2}) is None


def test_widths_of_numbers_that_came_out_as_sets_are_not_compared() -> None:
    found = judged(published(["20,30", "20,30", "40,60", "40,60"], ["F,M"] * 4), k=2)

    assert found.holds
    assert (found.ncp, found.error) == (None, None)


def test_rows_that_count_people_become_one_row_each() -> None:
    counted = pd.DataFrame({"age": ["20-30", "40-60"], "ill": ["flu", "gout"], "count": [1, 3]})

    assert job.one_row_each(counted)["ill"].tolist() == ["flu", "gout", "gout", "gout"]


# --- tables -----------------------------------------------------------------------------------------------------------


def every_tree() -> dict[str, tables.Levels]:
    school = pd.Series([value for group in tables.SCHOOL for value in group])
    return {**tables.census(3_000).trees, "school": tables.classes(school, tables.CLASSES["education"])}


@pytest.mark.parametrize("name", [*tables.STEPS, "school"])
def test_levels_of_a_tree_are_nested_and_end_with_everything(name: str) -> None:
    levels = every_tree()[name]

    for lower, upper in pairwise(levels):
        assert len(lower) == len(upper)
        assert len(set(zip(lower, upper, strict=True))) == len(set(lower))
    assert len(set(levels[-1])) == 1


@pytest.mark.parametrize("name", [*tables.STEPS, "school"])
def test_every_value_lies_in_its_ranges_and_sets(name: str) -> None:
    values, *levels = every_tree()[name]

    for level in levels:
        for value, cell in zip(values, level, strict=True):
            if name == "school":
                assert value in cell.split(",")
            else:
                low, high = map(int, cell.split("-"))
                assert low <= value <= high


# --- running ----------------------------------------------------------------------------------------------------------


def told_by(folder: Path, code: str, **limits: Any) -> dict[str, Any]:
    script = folder / "fake.py"
    script.write_text(textwrap.dedent(code))
    given = {"seconds": 20, "gigabytes": 4, "slack": 0, **limits}
    return running.run(Path(sys.executable), script, {"k": 2}, **given)


def test_a_job_gets_its_file_and_tells_a_line_of_json(tmp_path: Path) -> None:
    code = "import json, pathlib, sys; print('talk'); print(pathlib.Path(sys.argv[1]).read_text())"

    assert told_by(tmp_path, code) == {"k": 2}


def test_a_job_over_its_cpu_seconds_is_stopped(tmp_path: Path) -> None:
    assert told_by(tmp_path, "while True: pass", seconds=1, patience=60) == {"failed": "over 1 s"}


def test_a_job_that_only_waits_is_stopped_by_the_clock(tmp_path: Path) -> None:
    told = told_by(tmp_path, "import time; time.sleep(60)", seconds=1, patience=1)

    assert told == {"failed": "over 1 s by the clock"}


def test_a_job_that_says_it_took_too_long_did(tmp_path: Path) -> None:
    assert told_by(tmp_path, "print('{\"cpu\": 21.0}')") == {"failed": "over 20 s"}


def test_a_job_that_breaks_tells_why(tmp_path: Path) -> None:
    assert told_by(tmp_path, "raise ValueError('no such k')")["failed"] == "ended with 1: ValueError: no such k"


def test_a_job_cannot_take_more_memory_than_it_may(tmp_path: Path) -> None:
    assert "MemoryError" in told_by(tmp_path, "bytearray(2_000_000_000)", gigabytes=1)["failed"]


def test_a_job_sees_nothing_of_our_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    code = "import json, os, sys; print(json.dumps({'path': sys.path, 'set': 'PYTHONPATH' in os.environ}))"
    told = told_by(tmp_path, code)

    assert str(tmp_path) not in told["path"]
    assert not told["set"]
    assert os.environ["PYTHONPATH"] == str(tmp_path)


def test_an_environment_that_is_ready_is_not_made_again(tmp_path: Path) -> None:
    (tmp_path / "ready").write_text("tool==1")

    assert running.environment(tmp_path, ["tool==1"]) == tmp_path / "bin" / "python"
    assert [file.name for file in tmp_path.iterdir()] == ["ready"]


def test_a_tool_that_cannot_be_installed_tells_why(tmp_path: Path) -> None:
    with pytest.raises(running.NotInstalled, match=r"not installed: .*no-such-tool"):
        running.environment(tmp_path / "env", ["--no-index", "no-such-tool==0"])
    assert not (tmp_path / "env" / "ready").exists()
