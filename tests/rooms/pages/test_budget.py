"""A brief report takes no more CPU time than it may, says what it left out, and leaves out the least important."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.pages.report import Effort
from glasshouse.pages.report import facts as facts_of
from glasshouse.pages.report.effort import Budget, Sizes

PATIENTS = gh.synthetic.hospital(400, seed=3)


def moments(n: int) -> gh.Microdata:
    """People with a day and a moment, nearly all of them different."""
    draws = np.random.default_rng(1)
    days = np.datetime64("1940-01-01") + draws.integers(0, 25_000, n)
    times = np.datetime64("2020-01-01T00:00:00") + draws.integers(0, 10**8, n)
    ills = [f"d{i}" for i in draws.integers(0, 30, n)]
    table = pa.table({"born": days, "seen": times.astype("datetime64[us]"), "ill": ills})
    return gh.read(table, quasi=["born", "seen"], sensitive="ill")


def made(table: gh.Microdata, **choices: Any) -> gh.Release:
    return gh.publish(table, principle=gh.LDiversity(ell=3), source=gh.Source.seeded(1), **choices)


@pytest.mark.parametrize("recoding", [gh.Angel(), gh.Boxes()], ids=repr)
def test_a_table_with_days_and_moments_is_reported_on_in_about_the_time_that_is_allowed(recoding: Any) -> None:
    table = moments(6_000)
    release = made(table, recoding=recoding)
    started = time.process_time()
    report = gh.make_report(release, table, publishing=0.0).to_dict()

    assert time.process_time() - started < 2.0  # half a second is allowed; before there was a budget it took minutes
    assert report["bounded"]


def test_with_no_time_at_all_what_the_groups_achieve_is_told_and_what_is_left_out_is_said() -> None:
    release = made(PATIENTS)
    facts = gh.make_report(release, PATIENTS, effort=Effort(cpu=0.0, divergence=False)).to_dict()

    assert facts["kept"] is True
    assert facts["findable"]
    assert facts["mapping"]
    assert [(found["ran"], found["bounded"]) for found in facts["beliefs"]] == [(False, True)] * 3
    assert [found["bound"] for found in facts["beliefs"]] == ["1/3", "1/3", None]
    assert facts["losses"] is None
    assert not facts["utility"]
    assert facts["kl"] is None
    said = " ".join(facts["bounded"])
    for part in (
        "by an attacker who links people to the release was not run",
        "who also knows the algorithm",
        "one other person's value",
        "loss of information",
        "questions",
    ):
        assert part in said
    assert "--report full" in said
    assert "report='full'" in said


def test_fewer_questions_are_asked_where_time_is_short_and_the_report_says_how_many() -> None:
    sizes = Sizes(rows=10**6, cells=1_000, values=1_000)
    asked = [
        Budget(seconds).questions(sizes.first_question, sizes.each_question, 1_000) for seconds in (0.1, 1, 2, 5, 100)
    ]
    assert asked == sorted(asked)
    assert asked[0] == 0
    assert 0 < asked[1] < asked[-1] == 1_000
    assert Budget(None).questions(1e9, 1e9, 60) == 60

    release = made(PATIENTS)
    facts = gh.make_report(release, PATIENTS, effort=Effort(cpu=100.0, questions=1_000, divergence=False)).to_dict()
    assert {found["questions"] for found in facts["utility"]} == {1_000}
    assert not any("questions" in sentence for sentence in facts["bounded"])


def test_risk_comes_before_usefulness(monkeypatch: pytest.MonkeyPatch) -> None:
    attacked = facts_of.beliefs_of
    left = [1.0]

    def until_the_time_is_over(*given: Any) -> Any:
        found = attacked(*given)
        left[0] = 0.0
        return found

    monkeypatch.setattr(Budget, "left", property(lambda _: left[0]))
    monkeypatch.setattr(facts_of, "beliefs_of", until_the_time_is_over)
    facts = gh.make_report(made(PATIENTS), PATIENTS, effort=Effort(cpu=1.0, divergence=False)).to_dict()

    assert all(found["ran"] for found in facts["beliefs"])
    assert facts["losses"] is None
    assert not facts["utility"]


def test_a_full_report_leaves_nothing_out() -> None:
    facts = gh.make_report(made(PATIENTS), PATIENTS, report="full").to_dict()

    assert all(found["ran"] for found in facts["beliefs"])
    assert facts["bounded"] == []
    assert facts["kl"] is not None
    assert {found["questions"] for found in facts["utility"]} == {1_000}


def test_publishing_says_how_long_it_took_and_a_brief_report_may_take_as_long() -> None:
    release = made(PATIENTS)

    assert 0 < release.spent < 60
    assert Effort.named("brief", publishing=7.0).cpu == 7.0
    assert Effort.named("brief", publishing=0.01).cpu == 0.5
    with pytest.raises(gh.InputError, match="'brief' or 'full'"):
        gh.make_report(release, PATIENTS, report="long")


def test_how_long_publishing_took_is_written_nowhere(tmp_path: Path) -> None:
    release = made(PATIENTS)
    release.save(tmp_path / "one", allow_seed=True)
    object.__setattr__(release, "spent", 123.25)
    release.save(tmp_path / "two", allow_seed=True)

    assert [file.read_bytes() for file in sorted((tmp_path / "one").iterdir())] == [
        file.read_bytes() for file in sorted((tmp_path / "two").iterdir())
    ]
