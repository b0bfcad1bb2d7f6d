"""Ways to a flat table that need no other tool, and what is said of a tool that cannot be had."""

from __future__ import annotations

import importlib
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from benchmarks.flat.people import People, divided

import glasshouse as gh

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def instead(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))  # as if the script were run
    return importlib.import_module("instead")


@pytest.fixture
def people() -> People:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.integers(20, 60, 400), "sex": rng.choice(list("FM"), 400), "ill": rng.choice(list("abcdef"), 400)}
    )
    return divided(frame, name="a few", numbers=["age"], rows=150, seed=0)


def bench(instead: ModuleType, folder: Path) -> object:
    given = Namespace(seconds=10, gigabytes=4, patience=2, cache=folder, seed=0)
    return instead.Bench(given, folder)


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
def test_our_flat_table_has_everybody_s_columns_and_nothing_is_said_by_a_judge_that_is_not_there(
    instead: ModuleType, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_network(*_: object) -> Path:
        raise instead.NotInstalled("not installed: no network")

    monkeypatch.setattr(instead, "python_of", no_network)
    ours, tool = (next(way for way in instead.WAYS if name in way.name) for name in ("Glasshouse", "OpenDP"))
    row = bench(instead, tmp_path).row(ours, people)  # type: ignore[attr-defined]

    assert row["rows"] == 150
    assert 0 < row["usefulness"]["everyday"] < 5
    assert row["anonymeter"] == {"failed": "not installed: no network"}
    assert bench(instead, tmp_path).row(tool, people)["failed"] == "not installed: no network"  # type: ignore[attr-defined]


def test_shuffling_keeps_columns_and_other_people_are_others(instead: ModuleType, people: People) -> None:
    shuffled = instead.shuffled(people, 0)

    assert not shuffled.equals(people.published)
    for name in people.columns:
        assert sorted(shuffled[name]) == sorted(people.published[name])
    assert instead.original(people, 0) is people.published
    assert instead.others(people, 0) is people.others


def test_every_tool_that_a_way_names_is_pinned_and_has_a_runner(instead: ModuleType) -> None:
    for way in instead.WAYS:
        if way.make is None:
            assert way.tool in instead.TOOLS
            assert (instead.RUNNERS / way.runner).exists()
    for tool in instead.TOOLS.values():
        assert "==" in (tool.alone or tool.requirements[0])


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
def test_a_flat_table_is_the_same_for_a_seed(instead: ModuleType, people: People) -> None:
    table = gh.read(people.published, quasi=people.quasi, sensitive=people.sensitive)
    release = gh.publish(table, principle=gh.LDiversity(ell=4))

    assert instead.drawn(release, 1).equals(instead.drawn(release, 1))
    assert not instead.drawn(release, 1).equals(instead.drawn(release, 2))
