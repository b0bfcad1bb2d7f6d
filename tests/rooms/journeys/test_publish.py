"""The journey: which method serves whom, and what a user is told."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.catalog import METHODS
from glasshouse.cli.commands import glasshouse


def table() -> gh.Microdata:
    return gh.synthetic.hospital(n=300, seed=2)


def test_l_diversity_of_one_column_is_published_by_sift_and_holds_against_an_attacker_who_knows_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = gh.publish(table(), principle=gh.LDiversity(ell=3))

    assert release.recipe.method["name"] == "sift"
    assert release.recipe.recoding == {"name": "angel", "k": 3, "marginals": [], "cells": "boxes"}
    assert release.guarantee.adversary == "algorithm-aware"


@pytest.mark.parametrize(
    "principle",
    [
        gh.TCloseness(t="0.5"),
        gh.EntropyLDiversity(ell=3),
        gh.AllOf(principles=(gh.KAnonymity(k=4), gh.LDiversity(ell=2))),
    ],
)
def test_other_principles_are_published_by_mirror_and_hold_too(principle: gh.Principle) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = gh.publish(table(), principle=principle)

    assert release.recipe.method["name"] == "mirror"
    assert release.guarantee.adversary == "algorithm-aware"
    assert "Theorem M1" in release.guarantee.theorem


@pytest.mark.parametrize(
    ("recoding", "ell", "method"),
    [
        (gh.Boxes(), 2, "sift"),
        (gh.Boxes(), 3, "mirror"),
        (gh.Anatomy(), 3, "sift"),
        (gh.Permutation(), 3, "sift"),
        (gh.Angel(), 3, "sift"),
    ],
)
def test_cells_around_whole_groups_are_mirrors_from_l_3_on(recoding: Any, ell: int, method: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = gh.publish(table(), principle=gh.LDiversity(ell=ell), recoding=recoding)

    assert release.recipe.method["name"] == method
    assert "a probability may reach" in " ".join(release.guarantee.limits)


@pytest.mark.parametrize("method", [gh.Ace(), gh.Hybrid(), gh.Mirror(inner="ace")], ids=lambda m: m.name)
def test_a_method_that_ties_its_groups_warns_and_says_so_in_the_guarantee(method: Any) -> None:
    with pytest.warns(gh.DisclosureWarning, match="The method 'sift' does not have this weakness"):
        release = gh.publish(table(), principle=gh.LDiversity(ell=3), method=method)

    assert any("says something about other groups" in limit for limit in release.guarantee.limits)


def test_snug_divides_for_k_anonymity_alone() -> None:
    assert gh.publish(table(), principle=gh.KAnonymity(k=5)).recipe.method["name"] == "snug"


def test_k_anonymity_alone_needs_no_warning_and_says_what_it_does_not_protect() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        release = gh.publish(table(), principle=gh.KAnonymity(k=5))

    assert release.guarantee.adversary == "algorithm-aware"
    assert any("does not protect sensitive values" in limit for limit in release.guarantee.limits)


@pytest.mark.parametrize("method", [gh.Mondrian(), gh.Greedy(), gh.RandomisedGreedy(p="1/2")], ids=lambda m: m.name)
def test_an_attackable_method_warns_and_names_the_remedy(method: gh.Mondrian) -> None:
    with pytest.warns(gh.DisclosureWarning, match="the default one also protects against such an attacker"):
        gh.publish(table(), principle=gh.LDiversity(ell=2), method=method)


def test_tuples_that_a_method_drops_are_counted(tmp_path: Path) -> None:
    columns = {"age": [1, 2, 3, 4, 5], "disease": ["flu", "ulcer", "flu", "ulcer", "gout"]}
    microdata = gh.read(columns, quasi=["age"], sensitive="disease")
    release = gh.publish(
        microdata, out=tmp_path / "out", principle=gh.LDiversity(ell=2), method=gh.Greedy(last="drop"), allow_seed=True
    )

    assert (release.n_tuples, release.n_dropped) == (4, 1)
    assert release.tables["gt"].num_rows == 4
    assert any("left out" in limit for limit in release.guarantee.limits)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_of_the_command_line_publishes_or_says_why_not(name: str, tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    rows = [f"{30 + i % 7},{'FM'[i % 2]},{'abc'[i % 3]}" for i in range(30)]
    source.write_text("\n".join(["age,sex,disease", *rows]) + "\n")
    needed = {"randomised-greedy": ["--with", "p=1/3"], "refined": ["--with", "coarse=tailor"]}
    command = ["publish", str(source), "--quasi", "age,sex", "--sensitive", "disease", "--ell", "2", "--method", name]
    result = CliRunner().invoke(glasshouse, [*command, *needed.get(name, []), "--out", str(tmp_path / "out")])

    assert result.exit_code == 0, result.output
    assert gh.load(tmp_path / "out" / "release").recipe.method["name"] == name


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--with", "partitioning=relaxed"], "name the method with --method"),
        (["--method", "mondrian", "--with", "name=mirror"], "'name', which is not a parameter"),
        (["--method", "mondrian", "--with", "extra=1"], "no parameter 'extra': it has partitioning"),
        (["--method", "mondrian", "--with", "partitioning=lax"], "'strict' or 'relaxed'"),
    ],
)
def test_parameters_that_a_method_does_not_have_are_refused(options: list[str], says: str, tmp_path: Path) -> None:
    source = tmp_path / "table.csv"
    source.write_text("age,disease\n1,a\n2,b\n")
    command = ["publish", str(source), "--quasi", "age", "--sensitive", "disease", "--ell", "2"]
    result = CliRunner().invoke(glasshouse, [*command, *options, "--out", str(tmp_path / "out")])

    assert (result.exit_code, says in result.stderr) == (2, True), result.output


@pytest.mark.parametrize("source", [gh.Source.secure, lambda: gh.Source.seeded(3)], ids=["secure", "seeded"])
@pytest.mark.parametrize("kind", ["anatomy", "permutation", "perturbed", "mirror", "suppressed"])
def test_one_source_makes_no_two_releases_with_the_same_choices(source: Any, kind: str) -> None:
    """Two releases of a table whose random choices agree can be laid side by side; chance makes these differ."""
    table = gh.synthetic.hospital(400, seed=1)
    domain = table.sensitive[0].domain.values.to_pylist()
    choices: dict[str, Any] = {
        "anatomy": {"principle": gh.LDiversity(ell=3), "method": gh.Anatomize(), "recoding": gh.Anatomy()},
        "permutation": {"principle": gh.LDiversity(ell=3), "method": gh.Separate(), "recoding": gh.Permutation()},
        "perturbed": {"principle": gh.DeltaGrowth(k=4), "recoding": gh.Perturbed(p="1/4", domain=domain)},
        "mirror": {"principle": gh.LDiversity(ell=3)},
        "suppressed": {"principle": gh.LDiversity(ell=9), "suppress": "0.9", "recoding": gh.Anatomy()},
    }[kind]
    made = source()
    first, second = (
        {name: part.to_pydict() for name, part in gh.publish(table, source=made, **choices).tables.items()}
        for _ in range(2)
    )
    assert first != second


def test_one_seed_makes_one_release() -> None:
    table = gh.synthetic.hospital(100, seed=1)
    first, second = (
        gh.publish(table, principle=gh.LDiversity(ell=3), source=gh.Source.seeded(3)).tables for _ in range(2)
    )
    assert {name: part.to_pydict() for name, part in first.items()} == {
        name: part.to_pydict() for name, part in second.items()
    }


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table, dict])
def test_a_table_that_was_not_read_is_refused_with_the_call_that_reads_it(make: Any) -> None:
    data = make({"age": [30, 31], "quasi": [1, 2], "disease": ["flu", "gout"]})
    with pytest.raises(
        gh.InputError, match=r"was given \w+: call table = gh.read\(data, quasi=\[...\], sensitive=...\)"
    ):
        gh.publish(data, principle=gh.LDiversity(ell=2))
