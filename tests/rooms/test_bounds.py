"""Numbers, depths and lists are bounded before anything is computed with them, at every door."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.bounds import MOST_DIGITS, MOST_WHOLE, OutOfBounds, exact, is_bounded, whole
from glasshouse.cli.commands import glasshouse
from tests.rooms.release.kinds import write

LONG = [
    "1e-99999999",
    "1E+99999999",
    "1e-999999999999999999999",
    "0." + "0" * 200_000 + "1",
    "9" * 5_000,
    f"1/{'7' * 5_000}",
    "1/0",
    "1e5000",
    "nan",
    "inf",
    "1_000",
    "0x1",
    "\u0663",
    "",
]
NUMBERS = [*LONG, 10**5_000, -(10**5_000), float("inf"), float("nan"), 1e300, 5e-324, Decimal("1e-99999999")]


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    began = time.process_time()
    yield
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "make",
    [
        lambda x: gh.TCloseness(t=x),
        lambda x: gh.AlphaKAnonymity(alpha=x, k=2),
        lambda x: gh.EntropyLDiversity(ell=x),
        lambda x: gh.RecursiveLDiversity(c=x, ell=2),
        lambda x: gh.RhoBreach(rho1=x, k=2),
        lambda x: gh.RhoBreach(rho1="0.1", rho2=x, k=2),
        lambda x: gh.RhoBreach(rho1="0.1", lambda_=x, k=2),
        lambda x: gh.RhoBreach(rho1="0.1", s=x),
        lambda x: gh.DeltaGrowth(delta=x, k=2),
        lambda x: gh.RandomisedGreedy(p=x),
        lambda x: gh.Perturbed(p=x),
        lambda x: gh.Mirror(slack=x),
        lambda x: gh.Mirror(start=x),
        lambda x: gh.Mirror(weights={"age": x}),
        lambda x: gh.publish(gh.examples.transparent_t1(), principle=gh.LDiversity(ell=2), suppress=x),
        lambda x: gh.verify({"a": ["x"], "b": ["y"]}, quasi=["a"], sensitive="b", t=x),
        lambda x: gh.verify({"a": ["x"], "b": ["y"]}, quasi=["a"], sensitive="b", recursive=(x, 2)),
    ],
)
@pytest.mark.parametrize(
    "number",
    NUMBERS,
    ids=lambda number: f"{type(number).__name__}-{str(number)[:20]}" if not isinstance(number, int) else "int",
)
def test_a_share_with_too_many_digits_is_refused_soon(make: Callable[[Any], Any], number: Any) -> None:
    with pytest.raises(gh.ParameterError) as refused:
        make(number)
    assert len(str(refused.value)) < 500


@pytest.mark.parametrize(
    "make",
    [
        lambda n: gh.KAnonymity(k=n),
        lambda n: gh.LDiversity(ell=n),
        lambda n: gh.DistinctLDiversity(ell=n),
        lambda n: gh.RecursiveLDiversity(c=2, ell=n),
        lambda n: gh.DesignatedLDiversity(ell=n, values=("a",)),
        lambda n: gh.AlphaKAnonymity(alpha="0.5", k=n),
        lambda n: gh.DeltaGrowth(delta="0.5", k=n),
        lambda n: gh.Mirror(floor=n),
        lambda n: gh.Mirror(mirrors=n),
        lambda n: gh.EvenSplit(extra=n),
        lambda n: gh.Symmetric(extra=n),
        lambda n: gh.Angel(k=n),
        lambda n: gh.Taxonomy.intervals(width=n * 10**100),
        lambda n: gh.Taxonomy.intervals(width=1, levels=n),
        lambda n: gh.Taxonomy.quantiles(n=n),
        lambda n: gh.Taxonomy.prefix(length=n),
        lambda n: gh.verify({"a": ["x"]}, quasi=["a"], k=n),
    ],
)
@pytest.mark.parametrize("number", [2**31, 2**63, 10**30, 10**5_000], ids=["2**31", "2**63", "10**30", "10**5000"])
def test_a_count_beyond_all_tables_is_refused_soon(make: Callable[[int], Any], number: int) -> None:
    with pytest.raises(gh.ParameterError) as refused:
        make(number)
    assert len(str(refused.value)) < 500


def test_numbers_within_the_bounds_are_read_exactly() -> None:
    assert exact("0." + "1" * MOST_DIGITS) == Fraction(int("1" * MOST_DIGITS), 10**MOST_DIGITS)
    assert [exact(x) for x in (0.1, "1/3", Decimal("2.5"), np.float64(0.5))] == [
        Fraction(1, 10), Fraction(1, 3), Fraction(5, 2), Fraction(1, 2)
    ]  # fmt: skip
    assert [exact(x) for x in (np.int8(3), Fraction(1, 7), ".5", "2.")] == [3, Fraction(1, 7), Fraction(1, 2), 2]
    assert whole(np.int64(MOST_WHOLE)) == MOST_WHOLE
    with pytest.raises(OutOfBounds):
        exact("1" * (MOST_DIGITS + 2))
    for nothing in (True, None, [1], "a", 1.5):
        with pytest.raises(TypeError):
            whole(nothing)


def test_plain_data_are_shallow_and_short() -> None:
    deep: Any = []
    for _ in range(1_000_000):
        deep = [deep]
    assert is_bounded([{"a": [1, 2.5, "x", None, True]}])
    assert not is_bounded(deep)
    assert not is_bounded(["x"] * 200_000)
    assert not is_bounded({"k": 10**200})
    while deep:  # or the interpreter takes it apart recursively
        deep = deep[0]


# ------------------------------------------------------------------------------------------------------ in a package


def nested(key: str, name: str, depth: int) -> dict[str, Any]:
    data: dict[str, Any] = {"name": "mirror" if key == "coarse" else "k-anonymity", "k": 2}
    for _ in range(depth):
        data = {"name": name, key: data if key == "coarse" else [data]}
    return data


@pytest.mark.parametrize(
    ("part", "value"),
    [
        *(("principle", {"name": "t-closeness", "t": t, "distance": "equal"}) for t in ("1e-99999999", "1/0", 1e300)),
        ("principle", {"name": "t-closeness", "t": "0." + "3" * 100_000, "distance": "equal"}),
        ("principle", {"name": "l-diversity", "ell": 10**1000}),
        ("principle", {"name": "l-diversity", "ell": 2**40}),
        ("principle", nested("principles", "all-of", 400)),
        ("principle", {"name": "all-of", "principles": [{"name": "k-anonymity", "k": 2}] * 5_000}),
        ("principle", {"name": "rho-breach", "rho1": "1e-99999999", "k": 2}),
        ("principle", {"name": "rho-breach", "rho1": "0.1", "k": 2}),
        ("method", nested("coarse", "refined", 400)),
        ("method", {"name": "mirror", "slack": "1e99999999"}),
        ("method", {"name": "mirror", "weights": [["age", "1e-99999999"]]}),
        ("method", {"name": "mirror", "priority": ["age"] * 1_000_000}),
        ("method", {"name": "sift", "weights": [["age", "1e-99999999"]]}),
        ("method", {"name": "sift", "priority": ["age"] * 1_000_000}),
        ("method", {"name": "even-split", "extra": 10**400}),
        ("recoding", {"name": "angel", "k": 10**400, "marginals": [], "cells": "boxes"}),
        ("suppress", "1e-99999999"),
        ("suppress", "1/0"),
        ("suppress", "2"),
        ("suppress", "a lot"),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, str) else None,
)
@pytest.mark.parametrize("software", ["", "glasshouse 0.0.9"], ids=["ours", "another version"])
def test_a_recipe_with_numbers_or_depths_beyond_all_bounds_is_refused_soon(
    software: str, part: str, value: Any, tmp_path: Path
) -> None:
    folder = write("angel", tmp_path, "csv")
    manifest = json.loads((folder / "datapackage.json").read_text())
    manifest["glasshouse"]["recipe"][part] = value
    if software:
        manifest["glasshouse"]["software"] = software
    (folder / "datapackage.json").write_text(json.dumps(manifest))

    with pytest.raises(gh.SourceError) as refused:
        gh.load(folder)
    assert len(str(refused.value)) < 1_000
    result = CliRunner().invoke(glasshouse, ["verify", str(folder)])
    assert result.exit_code == 2
    assert "Traceback" not in result.output


# ---------------------------------------------------------------------------------- on the command line, in a policy


@pytest.mark.parametrize(
    "options",
    [
        *(["--t", text] for text in LONG),
        ["--entropy-ell", "1e-99999999"],
        ["--recursive", "1e-99999999,2"],
        ["--recursive", "2," + "9" * 5_000],
        ["--k", "2", "--alpha", "1e-99999999"],
        ["--k", "9" * 5_000],
        ["--ell", "9" * 5_000],
        ["--ell", "2", "--suppress", "1e-99999999"],
        ["--rho1", "1e-99999999", "--k", "2"],
        ["--delta", "0.5", "--s", "1e-99999999"],
        ["--delta", "0.5", "--lambda", "1e-99999999", "--k", "2"],
        ["--delta", "0.5", "--retention", "1e-99999999", "--k", "2"],
        ["--ell", "2", "--method", "mirror", "--with", "slack=1e99999999"],
        ["--ell", "2", "--method", "mirror", "--with", f"mirrors={'9' * 5_000}"],
        ["--ell", "2", "--method", "randomised-greedy", "--with", "p=1e-99999999"],
        ["--ell", "2", "--bin", "age=intervals:1e-300"],
        ["--ell", "2", "--bin", "age=intervals:1e999"],
        ["--ell", "2", "--bin", f"age=quantiles:{'9' * 5_000}"],
        ["--ell", "2", "--bin", f"age=prefix:{'9' * 4_000}"],
    ],
    ids=lambda options: " ".join(options)[:50],
)
def test_an_option_with_too_many_digits_is_refused_soon(options: list[str], tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("age,ill\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(8)))
    roles = ["--quasi", "age", "--sensitive", "ill", "--out", str(tmp_path / "o"), "--no-report"]
    result = CliRunner().invoke(glasshouse, ["publish", str(tmp_path / "p.csv"), *roles, *options])

    assert result.exit_code == 2, result.output
    assert "error: " in result.output
    assert len(result.output) < 2_000
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("text", LONG[:7])
def test_verify_and_attack_refuse_such_options_too(text: str, tmp_path: Path) -> None:
    folder = write("boxes", tmp_path, "csv")
    (tmp_path / "p.csv").write_text("age,ill\n1,a\n1,b\n")
    for line in (
        ["verify", str(tmp_path / "p.csv"), "--quasi", "age", "--sensitive", "ill", "--t", text],
        ["attack", str(folder), "--external", str(tmp_path / "p.csv"), "--fail-above", text],
    ):
        result = CliRunner().invoke(glasshouse, line)
        assert result.exit_code == 2, result.output
        assert len(result.output) < 20_000


@pytest.mark.parametrize(
    "text",
    [
        "[principle]\nt = '1e-99999999'",
        "[principle]\nt = 1e-300",
        f"[principle]\nk = {'9' * 400}",
        f"[principle]\nk = {2**31}",
        "[principle]\nell = 2\n[release]\nsuppress = '1e-99999999'",
        "[principle]\nell = 2\n[method]\nname = 'mirror'\nslack = '1e99999999'",
        "[principle]\nell = 2\n[method]\nname = 'mirror'\npriority = [" + "'age'," * 150_000 + "]",
        "[principle]\nell = 2\n[method]\nname = 'refined'\ncoarse = " + "{coarse = " * 300 + "1" + "}" * 300,
    ],
    ids=lambda text: text[:50],
)
def test_a_policy_with_such_numbers_is_refused_soon(text: str, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(f'[roles]\nquasi = ["age"]\nsensitive = "ill"\n{text}\n')

    with pytest.raises(gh.PolicyError):
        gh.load_policy(tmp_path / "policy.toml")


@pytest.mark.parametrize(
    "text", ["9" * 300_000, "aa:/:" * 60_000, "aa:/:" * 60_000 + "\n@", "a@" * 100_000, "://" * 90_000]
)
def test_a_long_text_is_searched_for_passwords_soon(text: str) -> None:
    from glasshouse.database import masked
    from glasshouse.policy.keys import is_secret

    assert masked(text)
    assert not is_secret(text)
