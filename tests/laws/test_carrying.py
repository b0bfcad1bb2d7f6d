"""What a release carries of a taxonomy tells nothing about people that its cells do not tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import glasshouse as gh
from glasshouse.microdata import Microdata

TREE = {"europe": {"north": ["Oslo", "Bergen"], "south": ["Rome", "Faro"], "Paris": []}}
ORDER = ["first", "second", "third", "fourth"]
ILL = ["flu", "gout", "flu", "cold", "gout"]
RECODINGS = [gh.Taxonomies(), gh.Angel(cells="taxonomies", k=2), gh.Boxes(), gh.Anatomy()]


def tables() -> Iterator[tuple[tuple[str, ...], Microdata]]:
    """Five people in every combination of places; two of them stay where they are."""
    for places in product(["Oslo", "Bergen", "Rome", "Faro", "Paris"], repeat=3):
        cities = ["Oslo", *places, "Rome"]
        yield (
            tuple(sorted(set(cities))),
            gh.read(
                {"city": cities, "ill": ILL},
                quasi=["city"],
                sensitive="ill",
                taxonomies={"city": gh.Taxonomy.from_nested(TREE)},
            ),
        )


def in_order() -> Iterator[tuple[tuple[str, ...], Microdata]]:
    for grades in product(ORDER, repeat=3):
        chosen = ["first", *grades, "fourth"]
        yield (
            tuple(sorted(set(chosen))),
            gh.read({"grade": chosen, "ill": ILL}, quasi=["grade"], sensitive="ill", ordered={"grade": ORDER}),
        )


def folder_of(release: gh.Release, folder: Path) -> dict[str, bytes]:
    release.save(folder, allow_seed=True, format="csv")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def assert_that_folders_tell_no_more_than_their_tables(
    made: Iterator[tuple[tuple[str, ...], Microdata]], recoding: Any, carry: str, folder: Path
) -> int:
    """Releases with the same tables are the same bytes; how many pairs of tables with other values were compared."""
    seen: dict[str, list[tuple[tuple[str, ...], dict[str, bytes]]]] = defaultdict(list)
    for number, (occupied, table) in enumerate(made):
        release = gh.publish(
            table,
            principle=gh.LDiversity(ell=2),
            method=gh.Mondrian(),
            recoding=recoding,
            carry=carry,
            source=gh.Source.seeded(1),
        )
        key = str({name: shown.to_pydict() for name, shown in release.tables.items()})
        seen[key].append((occupied, folder_of(release, folder / str(number))))
    for alike in seen.values():
        for _, files in alike:
            assert files == alike[0][1]
    return sum(len({occupied for occupied, _ in alike}) > 1 for alike in seen.values())


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
@pytest.mark.parametrize("carry", ["cells", "declared"])
@pytest.mark.parametrize("recoding", RECODINGS, ids=repr)
def test_tables_with_the_same_cells_are_the_same_bytes_whichever_leaves_are_occupied(
    recoding: Any, carry: str, tmp_path: Path
) -> None:
    told_apart = assert_that_folders_tell_no_more_than_their_tables(tables(), recoding, carry, tmp_path)

    assert told_apart > 0 or not recoding.shows_nodes  # other recodings show which values occur


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
@pytest.mark.parametrize("carry", ["cells", "declared"])
def test_intervals_with_the_same_ends_are_the_same_bytes_whatever_lies_between(carry: str, tmp_path: Path) -> None:
    assert assert_that_folders_tell_no_more_than_their_tables(in_order(), gh.Boxes(), carry, tmp_path) > 0


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
def test_a_tree_that_lists_the_leaves_that_occur_would_be_caught(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def observed(table: Microdata, *_: Any) -> dict[str, Any]:
        values = table.quasi[0].domain.values.to_pylist()
        return {"city": {"kind": "tree", "tree": ["europe", *values]}}

    monkeypatch.setattr("glasshouse.recoding.columns.carried", observed)

    with pytest.raises(AssertionError):
        assert_that_folders_tell_no_more_than_their_tables(tables(), gh.Taxonomies(), "cells", tmp_path)


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_no_leaf_and_no_node_that_is_no_cell_is_told_unless_the_declared_tree_is(format: str, tmp_path: Path) -> None:
    table = gh.read(
        {"city": ["Oslo", "Bergen", "Rome", "Rome"], "ill": ["flu", "gout", "flu", "gout"]},
        quasi=["city"],
        sensitive="ill",
        taxonomies={"city": gh.Taxonomy.from_nested(TREE)},
    )
    for carry, told in (("cells", False), ("declared", True)):
        release = gh.publish(
            table, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Taxonomies(), carry=carry
        )
        release.save(tmp_path / carry, format=format)
        assert set(release.data["city"].to_pylist()) == {"north", "Rome"}
        words = b"".join(path.read_bytes() for path in (tmp_path / carry).iterdir())
        for hidden in (b"Bergen", b"Faro", b"Paris", b"europe", b"south"):
            assert (hidden in words) == told
