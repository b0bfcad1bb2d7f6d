# SPDX-License-Identifier: Apache-2.0
"""People who were dropped: what follows from their being left out, against every table that could have given it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.adversary.dropped import count_dropped, trimmed_shares
from glasshouse.cli import main
from glasshouse.published import Published
from tests.naive.dropped import believed_of_dropped, largest_cap


@pytest.fixture(autouse=True)
def _without_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def people(columns: dict[str, list[Any]], **choices: Any) -> gh.Microdata:
    quasi = [name for name in columns if name not in ("name", "s")]
    own = {"sensitive": "s"} if "s" in columns else {}
    return gh.read(columns, identifier="name", quasi=quasi, **own, **choices)


def named(n: int) -> list[str]:
    return [f"p{i}" for i in range(n)]


SMALL = [
    ("aaab", 2, [1, 2, 3, 4], 0),
    ("aaaab", 2, [1, 1, 2, 2, 3], 0),
    ("aaabbc", 3, [1, 2, 3, 4, 5, 6], 0),
    ("aaabbc", 3, [1, 1, 2, 2, 3, 3], 0),
    ("aaab", 2, [1, 2, 3, 4, 5], 1),
    ("aabb" + "c", 3, [1, 2, 3, 4, 5], 0),
    ("aaab", 2, [1, 1, 2, 2, 2, 3], 2),
]
"""Values, l, the quasi-identifier of everybody on the list, and how many of these are not in the table."""


@pytest.mark.parametrize(("values", "ell", "quasi", "n_others"), SMALL)
@pytest.mark.parametrize("seed", range(3))
def test_beliefs_are_those_of_all_tables_that_could_have_given_the_release(
    values: str, ell: int, quasi: list[int], n_others: int, seed: int
) -> None:
    n = len(values)
    names = named(n + n_others)
    table = people({"name": names[:n], "x": quasi[:n], "s": list(values)})
    release = gh.publish(
        table,
        principle=gh.LDiversity(ell=ell),
        method=gh.Separate(),
        recoding=gh.Anatomy(),
        suppress="0.7",
        source=gh.Source.seeded(seed),
    )
    assert release.n_dropped > 0
    shown = Published.of(release)
    left = [(value, int(n)) for value, n in zip(shown.values, shown.counts, strict=True)]
    published = (
        tuple(sorted(int(text) for text in release.tables["qit"]["x"].to_pylist())),
        tuple(value for value, n in left for _ in range(n)),
    )
    wanted = believed_of_dropped(dict(zip(names, quasi, strict=True)), sorted(set(values)), release.n_dropped, published, ell)
    knowledge = gh.Knowledge(external=people({"name": names, "x": quasi}))
    for attack in (gh.Linking(), gh.Corruption(), gh.Minimality(scheme="local"), gh.Intersection(), gh.ReverseEngineering()):
        found = gh.attack(release, attack, knowledge=knowledge)
        assert found.how in ("exact", "credibility"), attack
        for name in names:
            for value in set(values):
                belief = found.of(name).get(value, 0.0)
                assert belief == pytest.approx(float(wanted.get((name, value), 0)), abs=1e-9), (attack, name, value)
            total = sum(float(wanted.get((name, value), 0)) for value in set(values))
            assert found.present(name) == pytest.approx(total), (attack, name)


def test_everybody_whom_no_cell_covers_has_a_value_that_was_trimmed() -> None:
    table = people({"name": named(12), "x": list(range(12)), "s": list("aaaaaaaabcde")})
    release = gh.publish(
        table, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), suppress="0.6", source=gh.Source.seeded(1)
    )
    knowledge = gh.Knowledge(external=table)
    for attack in (gh.Linking(), gh.Corruption(), gh.Intersection(), gh.ReverseEngineering(how="bound")):
        found = gh.attack(release, attack, knowledge=knowledge)
        certain = [belief for belief in found.above(Fraction(1, 2)) if belief.belief == 1.0]
        assert len(certain) == release.n_dropped
        assert {belief.value for belief in certain} == {"a"}
        assert found.worst().belief == 1.0
        assert found.share_above() == release.n_dropped / 12
        assert "were dropped, all with the most frequent values" in found.explain(found.worst().person)
        assert not any("not in the table" in note for note in found.notes)


def test_those_who_fit_may_have_been_dropped_too() -> None:
    """Three people of whom two are published at one place: each is the third with probability 1/3."""
    table = people({"name": named(4), "x": [1, 1, 1, 2], "s": list("aaab")})
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.5")
    found = gh.attack(release, knowledge=gh.Knowledge(external=table))
    assert release.n_dropped == 2
    shown = sorted(release.tables["qit"]["x"].to_pylist())
    assert shown == [1, 2]
    assert found.of("p0") == pytest.approx({"a": 2 / 3 + 1 / 6, "b": 1 / 6})
    assert "or such a person was dropped" in found.explain("p0")


def test_a_list_that_lacks_people_gives_a_bound() -> None:
    table = people({"name": named(6), "x": [1, 2, 3, 4, 5, 6], "s": list("aaaabc")})
    release = gh.publish(
        table, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), suppress="0.5", source=gh.Source.seeded(0)
    )
    shown = set(release.tables["qit"]["x"].to_pylist())
    lost = next(i for i in range(6) if i + 1 not in shown)
    known = [lost, next(i for i in range(6) if i + 1 in shown)]
    few = people({"name": [f"p{i}" for i in known], "x": [i + 1 for i in known]})
    found = gh.attack(release, knowledge=gh.Knowledge(external=few))
    assert found.how == "bound"
    assert found.of(f"p{lost}") == {"a": 1.0, "b": 1.0, "c": 1.0}
    assert any("the list lacks people" in note for note in found.notes)


def test_known_values_of_dropped_people_are_used() -> None:
    """Of d people dropped, those found out take their values with them: weighed by hand, tables of two trimmed values."""
    table = people({"name": named(9), "x": list(range(9)), "s": list("aaaabbbbc")})
    principle = gh.LDiversity(ell=3)
    release = gh.publish(
        table, principle=principle, recoding=gh.Anatomy(), suppress="0.8", source=gh.Source.seeded(2)
    )
    assert release.n_dropped == 6
    shown = set(release.tables["qit"]["x"].to_pylist())
    lost = [i for i in range(9) if i not in shown]
    plain = gh.attack(release, knowledge=gh.Knowledge(external=table))
    assert plain.of(f"p{lost[0]}") == pytest.approx({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3})
    values = "aaaabbbbc"
    corrupted = {f"p{i}": values[i] for i in lost[1:3]}
    found = gh.attack(release, gh.Corruption(), knowledge=gh.Knowledge(external=table, corrupted=corrupted))
    assert found.how == "exact"
    assert sum(found.of(f"p{lost[0]}").values()) == pytest.approx(1.0)
    # by hand: e tuples of each value were dropped, the cap is 1, and the rule must give cap 1 for 1 + e
    weights: dict[str, Fraction] = dict.fromkeys("abc", Fraction(0))
    spent = {v: list(corrupted.values()).count(v) for v in "abc"}
    from math import factorial

    total = Fraction(0)
    for e in ((i, j, 6 - i - j) for i in range(7) for j in range(7 - i)):
        of = dict(zip("abc", e, strict=True))
        if any(of[v] < spent[v] for v in "abc") or largest_cap({v: 1 + of[v] for v in "abc"}, 3) != 1:
            continue
        weight = Fraction(1)
        for v in "abc":
            weight *= Fraction(factorial(of[v]), factorial(of[v] - spent[v]) * factorial(1 + of[v]))
        total += weight
        for v in "abc":
            weights[v] += weight * (of[v] - spent[v]) / 4
    wanted = {v: float(w / total) for v, w in weights.items() if w}
    assert found.of(f"p{lost[0]}") == pytest.approx(wanted)


def test_who_asks_about_the_table_alone_conditions_on_presence() -> None:
    table = people({"name": named(4), "x": [1, 2, 3, 4], "s": list("aaab")})
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.5")
    shown = set(release.tables["qit"]["x"].to_pylist())
    lost = next(i for i in range(4) if i + 1 not in shown)
    voters = people({"name": named(8), "x": list(range(1, 9))})
    knowledge = gh.Knowledge(external=voters)
    assert gh.attack(release, gh.Corruption(), knowledge=knowledge).of(f"p{lost}") == pytest.approx({"a": 1 / 3})
    assert gh.attack(release, gh.Corruption(in_table=True), knowledge=knowledge).of(f"p{lost}") == {"a": 1.0}
    asked = gh.attack(release, gh.Corruption(predicate={"a"}), knowledge=knowledge)
    assert asked.of(f"p{lost}") == pytest.approx({True: 1 / 3})
    other = gh.attack(release, gh.Corruption(predicate={"b"}), knowledge=knowledge)
    assert other.of(f"p{lost}") == {}
    assert "not in the table" not in other.explain(f"p{lost}")


def test_more_corrupted_people_are_bounded() -> None:
    """Whoever finds out that the others who are left out are not in the table is certain of the last."""
    table = people({"name": named(4), "x": [1, 2, 3, 4], "s": list("aaab")})
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.5")
    lost = next(i for i in range(4) if i + 1 not in set(release.tables["qit"]["x"].to_pylist()))
    voters = people({"name": named(8), "x": list(range(1, 9))})
    found = gh.attack(release, gh.Corruption(most_corrupted=1), knowledge=gh.Knowledge(external=voters))
    absent = gh.Knowledge(external=voters, corrupted={"p7": gh.adversary.ABSENT})
    after = gh.attack(release, gh.Corruption(), knowledge=absent)
    assert found.of(f"p{lost}")["a"] == pytest.approx(after.of(f"p{lost}")["a"])


@pytest.mark.parametrize("last", ["drop"])
def test_people_whom_a_method_drops_are_bounded_not_absent(last: str) -> None:
    table = people({"name": named(4), "x": [1, 2, 3, 4], "s": list("cbaa")})
    release = gh.publish(
        table, principle=gh.LDiversity(ell=2), method=gh.Greedy(last=last), recoding=gh.Boxes()
    )
    assert release.n_dropped == 2
    found = gh.attack(release, knowledge=gh.Knowledge(external=table))
    assert found.how == "bound"
    assert found.largest[found.kind].tolist() == [0.5, 0.5, 1.0, 1.0]
    assert any("dropped by the method" in note for note in found.notes)


def test_several_columns_and_named_values_give_bounds() -> None:
    columns = {"name": named(8), "x": list(range(8)), "s": list("aaaaabcd"), "r": list("uuvvwwzz")}
    table = gh.read(columns, identifier="name", quasi=["x"], sensitive=["s", "r"])
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.5")
    found = gh.attack(release, gh.Linking(column="r"), knowledge=gh.Knowledge(external=table))
    assert found.how == "bound"
    assert found.share_above() == release.n_dropped / 8


def test_the_shares_of_values_that_are_not_alike_to_the_principle_are_bounds() -> None:
    table = people({"name": named(4), "x": [1, 2, 3, 4], "s": list("abcd")})
    shown = Published.of(gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy()))
    from collections import Counter

    both = gh.principles.AllOf(principles=(gh.LDiversity(ell=2), gh.DesignatedLDiversity(ell=2, values=("a",))))
    shares, is_exact = trimmed_shares(both, shown, np.array([3, 3, 1, 1]), 2, Counter())
    assert not is_exact
    assert shares.tolist() == [1.0, 1.0, 0.0, 0.0]
    shares, is_exact = trimmed_shares(gh.LDiversity(ell=2), shown, np.array([3, 3, 1, 1]), 2, Counter())
    assert is_exact
    assert shares.tolist() == [0.5, 0.5, 0.0, 0.0]


def test_nothing_dropped_nothing_added() -> None:
    table = people({"name": named(4), "x": [1, 2, 3, 4], "s": list("abcd")})
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy())
    found = gh.Linking().published(release, gh.Knowledge(external=table))
    assert count_dropped(found, release, Published.of(release)) is found


def test_the_command_fails_above_the_limit_and_lists_dropped_people(tmp_path: Any) -> None:
    columns = {"name": named(12), "x": list(range(12)), "s": list("aaaaaaaabcde")}
    lines = ["name,x,s", *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    gh.publish_to(
        tmp_path / "out", people(columns), principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), suppress="0.6"
    )
    given = ["attack", str(tmp_path / "out" / "release"), "--external", str(tmp_path / "people.csv")]
    result = CliRunner().invoke(main, [*given, "--identifier", "name", "--fail-above", "1/2"])
    assert result.exit_code == 1, result.output
    assert "were dropped" in result.output
    assert "not in the table" not in result.output


def test_the_report_counts_dropped_people() -> None:
    columns = {"name": named(12), "x": list(range(12)), "s": list("aaaaaaaabcde")}
    table = people(columns)
    release = gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), suppress="0.6")
    found = gh.report(release, table).to_dict()["beliefs"]
    assert {entry["adversary"]: entry["people_above"] >= release.n_dropped for entry in found if entry["ran"]} == {
        "linking": True,
        "algorithm-aware": True,
        "corrupting": True,
    }


@pytest.mark.parametrize("seed", range(24))
def test_mirror_after_suppression_against_every_table(seed: int) -> None:
    """Small tables, by trying every world: nothing is above the bound, and what is called exact is."""
    random = np.random.default_rng(seed)
    n, n_others = int(random.integers(4, 6)), int(random.integers(0, 2))
    x, y = random.integers(0, 4, n + n_others).tolist(), random.integers(0, 3, n + n_others).tolist()
    values = random.choice(list("aaab" if seed % 2 else "aaaabc"), n).tolist()
    names = named(n + n_others)
    table = people({"name": names[:n], "x": x[:n], "y": y[:n], "s": values})
    recoding = [gh.Anatomy(), gh.Boxes()][seed % 4 // 2]
    try:
        release = gh.publish(
            table, principle=gh.LDiversity(ell=2), method=gh.Mirror(), recoding=recoding, suppress="0.7"
        )
    except gh.Infeasible:
        return
    if not release.n_dropped:
        return
    knowledge = gh.Knowledge(external=people({"name": names, "x": x, "y": y}))
    attack = gh.ReverseEngineering()
    from glasshouse.attack import algorithm_of

    try:
        exact = attack._imagined(release, knowledge, algorithm_of(release.recipe))
    except gh.NotSupported:
        return
    by_theorem = attack.attack(release, knowledge, algorithm_of(release.recipe))
    bound = gh.attack(release, gh.ReverseEngineering(how="bound"), knowledge=knowledge)
    for name in names:
        for value, belief in exact.of(name).items():
            assert belief <= bound.of(name).get(value, 0.0) + 1e-9, (name, value)
            if by_theorem.how == "exact":
                assert belief == pytest.approx(by_theorem.of(name).get(value, 0.0)), (name, value)
