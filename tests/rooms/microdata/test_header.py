# SPDX-License-Identifier: Apache-2.0
"""A table whose first person was taken for the names of its columns stops a publication until it is answered."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import glasshouse as gh
from glasshouse.streaming.count import count_file
from tests.rooms.cli.world import run

if TYPE_CHECKING:
    from pathlib import Path

RANDOM = Random(3)
N = 200


def _drawn(*kinds: list[Any]) -> list[list[Any]]:
    return [[RANDOM.choice(kind) for kind in kinds] for _ in range(N)]


AGES, ZIPS, SEXES, ILL = list(range(20, 80)), list(range(1000, 1006)), ["F", "M"], ["flu", "HIV", "none"]
DATES = [f"19{year}-03-{day}" for year in range(50, 90) for day in range(10, 28)]
PEOPLE = {
    "numbered": [[i, i + 20, f"d{i % 5}"] for i in range(1, 41)],
    "texts": [[f"name {i}", *row] for i, row in enumerate(_drawn(SEXES, ILL))],
    "numbers": _drawn(AGES, [1, 2, 3, 4], list(range(1000, 5000))),
    "far apart": [[i * 37, i * i * 5 + 3, f"case {i}"] for i in range(1, N)],
    "years of birth": _drawn(list(range(1950, 1990)), SEXES, ILL),
    "dates": _drawn(DATES, SEXES, ILL),
    "with a gap": [["NA", "F", "flu"], *_drawn(AGES, SEXES, ILL)],
    "decimal numbers": _drawn([x / 4 for x in range(50, 90)], AGES, ILL),
}
HEADERS: dict[str, tuple[list[Any], list[list[Any]]]] = {
    "ordinary": (["age", "zip", "disease"], _drawn(AGES, ZIPS, ILL)),
    "years": (["country", 2019, 2020], [[f"c{i}", *row] for i, row in enumerate(_drawn(*[list(range(3000))] * 2))]),
    "questions": ([1, 2, 3, 4, 5], _drawn(*[[1, 2, 3, 4, 5]] * 5)),
    "questions of women": (["sex", 1, 2, 3], _drawn(SEXES, *[[1, 2, 3, 4, 5]] * 3)),
    "dummies": (["sex", "F", "M"], _drawn(SEXES, [0, 1], [0, 1])),
    "marks": (["sex", "HIV", "flu"], _drawn(SEXES, ["HIV", ""], ["flu", ""])),
    "one marks itself": (["sex", "region", "HIV"], _drawn(SEXES, ["north", "south"], ["HIV", "none"])),
    "several mark themselves": (["age", "flu", "HIV"], _drawn(AGES, ["flu", "none"], ["HIV", "none"])),
}


def _file(folder: Path, rows: list[list[Any]]) -> Path:
    path = folder / "people.csv"
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def _found(path: Path) -> list[str]:
    """What is found, by every way to read the table."""
    columns = [column.name for column in gh.inspect(path).columns]
    roles: dict[str, Any] = {"quasi": columns, "missing": "category"}
    ways = [gh.inspect(path).cautions, gh.read(path, **roles).cautions, count_file(path, **roles).cautions]
    found = [[caution.name for caution in cautions if caution.name == "no-header"] for cautions in ways]
    assert found[0] == found[1] == found[2]
    return found[0]


@pytest.mark.parametrize("rows", PEOPLE.values(), ids=PEOPLE)
def test_a_first_person_as_names_is_noticed(tmp_path: Path, rows: list[list[Any]]) -> None:
    assert _found(_file(tmp_path, rows)) == ["no-header"]


@pytest.mark.parametrize(("names", "rows"), HEADERS.values(), ids=HEADERS)
def test_names_stay_names(tmp_path: Path, names: list[Any], rows: list[list[Any]]) -> None:
    assert _found(_file(tmp_path, [names, *rows])) == []


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_nothing_is_published_until_it_is_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.chdir(tmp_path)
    _file(tmp_path, PEOPLE["numbered"])
    asked = f"publish people.csv --quasi 21 --sensitive d1 --ell 3 --out out --engine {engine}"
    refused = run(asked, code=2)
    assert "no-header: 2 columns have names that look like their values: '21', 'd1'" in refused.stderr
    assert "write a line with a name for each column" in refused.stderr
    assert not (tmp_path / "out").exists()
    run(f"{asked} --accept no-header")


def test_a_data_frame_is_looked_at_too_and_one_without_names_is_taken_as_it_is() -> None:
    people = {str(name): values for name, *values in zip(*PEOPLE["numbered"], strict=True)}
    assert [one.count for one in gh.read(people, quasi=["21"], sensitive="d1").cautions] == [2]
    counted = {str(place): column for place, column in enumerate(zip(*PEOPLE["numbered"], strict=True))}
    assert not gh.read({name: list(column) for name, column in counted.items()}, quasi=["0", "1", "2"]).cautions


def test_a_first_person_with_two_equal_values_or_a_gap_is_told_how_to_add_names(tmp_path: Path) -> None:
    for first in ("1,1,flu", "1,,flu"):
        path = tmp_path / "people.csv"
        path.write_text(f"{first}\n2,3,HIV\n")
        with pytest.raises(gh.SchemaError, match="If its first line is a person, write a line with the names"):
            gh.inspect(path)
