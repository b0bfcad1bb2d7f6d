# SPDX-License-Identifier: Apache-2.0
"""People who were dropped: what follows from their being left out, against every table that could have given it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.adversary.dropped_people import UNPUBLISHED, count_dropped, held_possible, trimmed_shares
from glasshouse.adversary.reverse_engineering.greedy.sequences import GreedyGroups
from glasshouse.adversary.reverse_engineering.strategies import believed
from glasshouse.adversary.reverse_engineering.worlds.every_world import EveryWorld
from glasshouse.adversary.task import Task
from glasshouse.cli.commands import glasshouse
from glasshouse.journeys.attack import algorithm_of
from glasshouse.journeys.recheck import verify_release
from glasshouse.pages.report.effort import Effort
from glasshouse.release.contents import Published
from tests.twins.dropped import believed_of_dropped, largest_cap


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


Wanted = dict[tuple[str, str], Fraction]


def small(
    values: str, ell: int, quasi: list[int], n_others: int, prior: dict[str, Fraction] | None = None
) -> tuple[gh.Release, gh.Knowledge, Wanted]:
    """A release with people left out, what is known of people, and the probabilities by trying every table."""
    n = len(values)
    names = named(n + n_others)
    table = people({"name": names[:n], "x": quasi[:n], "s": list(values)})
    release = gh.publish(
        table,
        principle=gh.LDiversity(ell=ell),
        method=gh.Separate(),
        recoding=gh.Anatomy(),
        suppress="0.7",
        source=gh.Source.seeded(0),
    )
    assert release.n_dropped > 0
    shown = Published.of(release)
    left = [(value, int(n)) for value, n in zip(shown.values, shown.counts, strict=True)]
    published = (
        tuple(sorted(int(text) for text in release.tables["qit"]["x"].to_pylist())),
        tuple(value for value, n in left for _ in range(n)),
    )
    wanted = believed_of_dropped(
        dict(zip(names, quasi, strict=True)), sorted(set(values)), release.n_dropped, published, ell, prior
    )
    return release, gh.Knowledge(external=people({"name": names, "x": quasi}), prior=prior), wanted


@pytest.mark.parametrize(("values", "ell", "quasi", "n_others"), SMALL)
def test_beliefs_are_those_of_all_tables_that_could_have_given_the_release(
    values: str, ell: int, quasi: list[int], n_others: int
) -> None:
    names = named(len(values) + n_others)
    release, knowledge, wanted = small(values, ell, quasi, n_others)
    for attack in (
        gh.Linking(),
        gh.Corruption(),
        gh.Minimality(scheme="local"),
        gh.Intersection(),
        gh.ReverseEngineering(),
    ):
        found = gh.attack(release, attack, knowledge=knowledge)
        assert found.how in ("exact", "credibility"), attack
        for name in names:
            for value in set(values):
                belief = found.of(name).get(value, 0.0)
                assert belief == pytest.approx(float(wanted.get((name, value), 0)), abs=1e-9), (attack, name, value)
            total = sum(float(wanted.get((name, value), 0)) for value in set(values))
            assert found.present(name) == pytest.approx(total), (attack, name)


@pytest.mark.parametrize(("values", "ell", "quasi", "n_others"), [SMALL[0], SMALL[4], SMALL[5]])
@pytest.mark.parametrize("rare", [Fraction(1, 3), Fraction(1, 1000)])
def test_a_prior_tells_which_value_was_too_frequent_and_nothing_is_above_the_bound(
    values: str, ell: int, quasi: list[int], n_others: int, rare: Fraction
) -> None:
    prior = {value: rare**place for place, value in enumerate(sorted(set(values)))}
    release, knowledge, wanted = small(values, ell, quasi, n_others, prior)
    _, without, _ = small(values, ell, quasi, n_others)
    for attack in (gh.Corruption(), gh.Minimality(scheme="local")):
        found = gh.attack(release, attack, knowledge=knowledge)
        for (name, value), belief in wanted.items():
            assert found.of(name).get(value, 0.0) == pytest.approx(float(belief), abs=1e-9), (attack, name, value)
    for attack in (gh.Linking(), gh.ReverseEngineering()):
        bound = gh.attack(release, attack, knowledge=without)
        bound = bound.once_known or bound
        for (name, value), belief in wanted.items():
            assert float(belief) <= bound.of(name).get(value, 0.0) + 1e-9, (attack, name, value)


def yes_and_no() -> tuple[dict[str, list[Any]], gh.Microdata]:
    """Most people have no: as many of them are published as have yes, so nobody can tell which of the two was cut."""
    columns = {"name": named(40), "x": list(range(40)), "s": ["no"] * 30 + ["yes"] * 10}
    return columns, people(columns)


def test_two_values_that_are_published_as_often_do_not_hide_the_one_that_was_too_frequent() -> None:
    _, table = yes_and_no()
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.6")
    assert release.n_dropped == 20
    found = gh.attack(release, knowledge=gh.Knowledge(external=table))
    assert found.unless_known.share_above() == 0
    assert found.exceeds(Fraction(1, 2))
    assert not found.exceeds(1)
    assert found.once_known is not None
    assert found.once_known.share_above() == 1 / 2
    assert "knows more about 20 people who may have been left out: a probability may then reach 1.0000" in str(found)
    everybody = people({"name": named(60), "x": list(range(60))})
    some = gh.attack(release, gh.Corruption(in_table=True), knowledge=gh.Knowledge(external=everybody))
    assert some.once_known is not None
    assert some.once_known.largest.max() == 1.0
    assert "a probability may then reach 1.0000" in some.notes[-1]
    wider = gh.attack(release, knowledge=gh.Knowledge(external=everybody))
    assert wider.once_known is not None
    assert wider.once_known.largest.max() == pytest.approx(20 / 40)  # of 40 who are not published, 20 were dropped


def test_what_is_compared_with_a_limit_counts_an_attacker_who_knows_which_value_was_cut() -> None:
    """The library tells no less than the command with --fail-above does."""
    _, table = yes_and_no()
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.6")
    shown = set(release.tables["qit"]["x"].to_pylist())
    dropped = [f"p{i}" for i in range(40) if i not in shown]
    found = gh.attack(release, knowledge=gh.Knowledge(external=table))
    assert found.share_above() == found.share_above(0.6) == 1 / 2
    assert found.worst() == (dropped[0], "no", 1.0)
    assert [one.person for one in found.above()] == dropped
    assert {one.belief for one in found.above()} == {1.0}
    assert found.multiple() == 2.0
    assert found.distribution(4).tolist() == [0, 0, 0.5, 0.5]
    assert found.of(dropped[0]) == {"no": 0.5, "yes": 0.5}
    assert found.explain(dropped[0]).endswith("too frequent in the table, a probability may be up to 1.0000")
    own = found.unless_known
    assert (own.share_above(), own.worst().belief, own.above(), own.multiple()) == (0, 0.5, [], 1.0)
    told, plain = found.to_dict(), own.to_dict()
    numbers = ("how", "largest", "share_above", "multiple", "median")
    assert tuple(told[name] for name in numbers) == ("bound", 1.0, 0.5, 2.0, 0.75)
    assert tuple(plain[name] for name in numbers) == ("exact", 0.5, 0.0, 1.0, 0.5)
    assert told["once_known"] == 1.0
    assert told["unless_known"] == {name: plain[name] for name in told["unless_known"]}
    assert not {"once_known", "unless_known"} & set(plain)
    rows = {row["person"]: row for row in found.to_table().to_pylist()}
    assert {(row["belief"], row["once_known"]) for name, row in rows.items() if name in dropped} == {(0.5, 1.0)}
    assert {(row["belief"], row["once_known"]) for name, row in rows.items() if name not in dropped} == {(0.5, 0.5)}
    assert "once_known" not in own.to_table().column_names
    text = str(found)
    assert "with probability up to 1.0000" in text
    assert "(exact; a bound for people who may have been left out)" in text
    assert "50.00% of people; the largest is 2.00 times 1/2" in text
    assert "does not know which value was too frequent, no probability is above 0.5000" in text
    assert "a bound for people who may have been left out" in found.plot()


def test_a_bound_for_sets_of_values_is_one_for_single_values() -> None:
    rows = [("p0", 0, "a"), *((f"p{i}", i, v) for i in (1, 2) for v in "ab"), ("p3", 3, "c")]
    columns = dict(zip(("name", "x", "s"), map(list, zip(*rows, strict=True)), strict=True))
    table = people(columns, repeated="together")
    release = gh.publish(table, principle=gh.LDiversity(ell=2), method="mondrian", recoding="boxes", suppress="0.6")
    assert release.n_dropped
    found = gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=table))
    assert found.once_known is not None
    assert found.once_known.values == found.values == ("a", "b", "c")
    assert found.worst().value in found.values
    assert (found.once_known.largest >= found.largest).all()


def test_personal_priors_give_a_bound_and_people_left_out_at_random_none() -> None:
    _, table = yes_and_no()
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.6")
    lost = next(i for i in range(40) if i not in set(release.tables["qit"]["x"].to_pylist()))
    knowledge = gh.Knowledge(external=table, prior={f"p{lost}": {"yes": 1, "no": 9}})
    task = replace(Task.of(gh.Linking(), release, gh.Knowledge(external=table)), knowledge=knowledge)
    plain = gh.Linking().published(Task.of(gh.Linking(), release, gh.Knowledge(external=table)))
    found = count_dropped(plain, task)
    assert found.how == "bound"
    assert found.of(f"p{lost}") == {"no": 1.0, "yes": 1.0}
    columns = {"x": list(range(5)), "s": list("abcda"), "r": list("abcda")}
    several = gh.read(columns, quasi=["x"], sensitive=["s", "r"])
    lots = gh.publish(several, principle=gh.LDiversity(2), method=gh.Mirror(leave_out="1/5"), recoding=gh.Anatomy())
    assert lots.n_dropped == 1
    assert gh.attack(lots, gh.Linking(column="s"), knowledge=gh.Knowledge(external=several)).once_known is None


@pytest.mark.parametrize(("limit", "code"), [("1/2", 1), ("1", 0)])
def test_the_command_does_not_pass_in_silence_where_it_is_open_which_value_was_cut(
    limit: str, code: int, tmp_path: Any
) -> None:
    columns, table = yes_and_no()
    lines = ["name,x,s", *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    gh.publish(table, out=tmp_path / "out", principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.6")
    given = ["attack", str(tmp_path / "out" / "release"), "--external", str(tmp_path / "people.csv")]
    result = CliRunner().invoke(glasshouse, [*given, "--identifier", "name", "--fail-above", limit])
    assert result.exit_code == code, result.output
    assert ("no probability of this attack is above 1/2" in result.stderr) == (code == 1)
    assert "a probability may then reach 1.0000" in result.stdout
    assert result.stdout.count("\n  exposed: p") == 5
    told = json.loads(CliRunner().invoke(glasshouse, [*given, "--identifier", "name", "--json"]).stdout)
    assert (told["share_above"], told["largest"]) == (0.5, 1.0)


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
        assert "were left out, all of them with the most frequent values" in found.explain(found.worst().person)
        assert not any("not in the table" in note for note in found.notes)


def trimmed() -> tuple[gh.Microdata, gh.Release, int]:
    """Six people, two of whom have to go: the value a is trimmed to two, and everybody knows that."""
    table = people({"name": named(6), "x": [1, 2, 3, 4, 5, 6], "s": list("aaaabc")})
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.5")
    assert release.n_dropped == 2
    shown = set(release.tables["qit"]["x"].to_pylist())
    return table, release, next(i for i in range(6) if i + 1 not in shown)


def test_those_who_fit_may_have_been_dropped_too() -> None:
    """Four people of whom two are published at one place: each was dropped with probability 1/2."""
    table = people({"name": named(6), "x": [1, 1, 1, 1, 2, 3], "s": list("aaaabc")})
    release = gh.publish(
        table, principle=gh.LDiversity(ell=2), method=gh.Separate(), recoding=gh.Anatomy(), suppress="0.5"
    )
    found = gh.attack(release, knowledge=gh.Knowledge(external=table))
    assert sorted(release.tables["qit"]["x"].to_pylist()) == [1, 1, 2, 3]
    assert found.of("p0") == pytest.approx({"a": 1 / 2 + 1 / 2 * 1 / 2, "b": 1 / 8, "c": 1 / 8})
    assert found.of("p5") == pytest.approx({"a": 1 / 2, "b": 1 / 4, "c": 1 / 4})
    assert "or such a person was left out" in found.explain("p0")
    assert "left out" not in found.explain("p5")


def test_a_list_that_lacks_people_gives_a_bound() -> None:
    _, release, lost = trimmed()
    known = [lost, next(i for i in range(6) if i + 1 in set(release.tables["qit"]["x"].to_pylist()))]
    few = people({"name": [f"p{i}" for i in known], "x": [i + 1 for i in known]})
    found = gh.attack(release, knowledge=gh.Knowledge(external=few))
    assert found.how == "bound"
    assert found.of(f"p{lost}") == {"a": 1.0}
    assert any("does not list everybody" in note for note in found.notes)


def test_known_values_of_dropped_people_are_used() -> None:
    """Of d people dropped, those found out take their values with them: weighed by hand."""
    table = people({"name": named(9), "x": list(range(9)), "s": list("aaaabbbbc")})
    principle = gh.LDiversity(ell=3)
    release = gh.publish(table, principle=principle, recoding=gh.Anatomy(), suppress="0.8", source=gh.Source.seeded(2))
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
    _, release, lost = trimmed()
    knowledge = gh.Knowledge(external=people({"name": named(10), "x": list(range(1, 11))}))
    assert gh.attack(release, gh.Corruption(), knowledge=knowledge).of(f"p{lost}") == pytest.approx({"a": 1 / 3})
    assert gh.attack(release, gh.Corruption(in_table=True), knowledge=knowledge).of(f"p{lost}") == {"a": 1.0}
    asked = gh.attack(release, gh.Corruption(predicate={"a"}), knowledge=knowledge)
    assert asked.of(f"p{lost}") == pytest.approx({True: 1 / 3})
    other = gh.attack(release, gh.Corruption(predicate={"b"}), knowledge=knowledge)
    assert other.of(f"p{lost}").get(True, 0.0) == 0.0
    assert "not in the table" not in other.explain(f"p{lost}")


def test_more_corrupted_people_are_bounded() -> None:
    """Somebody who finds out that others who are left out are not in the table is surer of the rest."""
    _, release, lost = trimmed()
    voters = people({"name": named(10), "x": list(range(1, 11))})
    found = gh.attack(release, gh.Corruption(most_corrupted=1), knowledge=gh.Knowledge(external=voters))
    absent = gh.Knowledge(external=voters, corrupted={"p9": gh.ABSENT})
    after = gh.attack(release, gh.Corruption(), knowledge=absent)
    assert after.of(f"p{lost}") == pytest.approx({"a": 2 / 5})
    assert found.of(f"p{lost}") == pytest.approx({"a": 2 / 5})


@pytest.mark.parametrize("last", ["drop"])
def test_people_whom_a_method_drops_are_bounded_not_absent(last: str) -> None:
    table = people({"name": named(4), "x": [1, 2, 3, 4], "s": list("cbaa")})
    release = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Greedy(last=last), recoding=gh.Boxes())
    assert release.n_dropped == 2
    found = gh.attack(release, knowledge=gh.Knowledge(external=table))
    assert found.how == "bound"
    assert found.largest[found.kind].tolist() == [0.5, 0.5, 1.0, 1.0]
    assert any("left out by the method" in note for note in found.notes)


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

    both = gh.AllOf(principles=(gh.LDiversity(ell=2), gh.DesignatedLDiversity(ell=2, values=("a",))))
    shares, is_exact = trimmed_shares(both, shown, np.array([3, 3, 1, 1]), 2, Counter())
    assert not is_exact
    assert shares.tolist() == [1.0, 1.0, 0.0, 0.0]
    shares, is_exact = trimmed_shares(gh.LDiversity(ell=2), shown, np.array([3, 3, 1, 1]), 2, Counter())
    assert is_exact
    assert shares.tolist() == [0.5, 0.5, 0.0, 0.0]


def test_nothing_dropped_nothing_added() -> None:
    table = people({"name": named(4), "x": [1, 2, 3, 4], "s": list("abcd")})
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy())
    task = Task.of(gh.Linking(), release, gh.Knowledge(external=table))
    found = gh.Linking().published(task)
    assert count_dropped(found, task) is found


def test_the_command_fails_above_the_limit_and_lists_dropped_people(tmp_path: Any) -> None:
    columns = {"name": named(12), "x": list(range(12)), "s": list("aaaaaaaabcde")}
    lines = ["name,x,s", *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    gh.publish(
        people(columns), out=tmp_path / "out", principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), suppress="0.6"
    )
    given = ["attack", str(tmp_path / "out" / "release"), "--external", str(tmp_path / "people.csv")]
    result = CliRunner().invoke(glasshouse, [*given, "--identifier", "name", "--fail-above", "1/2"])
    assert result.exit_code == 1, result.output
    assert "were left out" in result.output
    assert "not in the table" not in result.output


def test_the_report_counts_dropped_people() -> None:
    columns = {"name": named(12), "x": list(range(12)), "s": list("aaaaaaaabcde")}
    table = people(columns)
    release = gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), suppress="0.6")
    found = gh.make_report(release, table).to_dict()["beliefs"]
    assert {entry["adversary"]: entry["people_above"] >= release.n_dropped for entry in found if entry["ran"]} == {
        "linking": True,
        "algorithm-aware": True,
        "corrupting": True,
    }


def test_the_report_counts_an_attacker_who_knows_which_value_was_cut() -> None:
    _, table = yes_and_no()
    release = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy(), suppress="0.6")
    report = gh.make_report(release, table)
    facts, page = report.to_dict(), report.to_html()
    found = facts["beliefs"][0]
    assert (found["adversary"], found["how"], found["people_above"]) == ("linking", "bound", 20)
    assert (found["unless_known"]["how"], found["unless_known"]["people_above"]) == ("exact", 0)
    assert sum(found["histogram"]["people"]) == 40
    assert found["histogram"]["people"][-1] == 20
    told = "20 of 40 people may have a value of s with a probability of more than 1/2, up to 1.0000, if the attacker"
    levels = [one["level"] for one in facts["cautions"] if told in one["text"]]
    assert levels
    assert set(levels) == {"attention"}
    assert "up to 20 people above 1/2, if the attacker knows which value was so frequent that some" in page
    assert "nobody above 1/2" not in page
    assert "people above 1/2 if the attacker does not know which value was so frequent that some" in page


def test_the_report_still_stops_where_those_who_do_not_know_it_are_above_the_limit() -> None:
    table = people({"name": named(14), "x": list(range(14)), "s": list("aaaaabbbbbcdef")})
    release = gh.publish(table, principle=gh.LDiversity(ell=4), recoding=gh.Anatomy(), suppress="0.6")
    report = gh.make_report(release, table)
    found = report.to_dict()["beliefs"][0]
    assert found["unless_known"]["people_above"] == found["people_above"] == release.n_dropped
    (level,) = [
        one["level"]
        for one in report.to_dict()["cautions"]
        if "an attacker who links people" in one["text"] and "it is up to 1.0000" in one["text"]
    ]
    assert level == "stop"


@pytest.mark.parametrize("seed", [*range(6), 25, 28, 45])  # the last three: people who may have been dropped too
def test_mirror_after_suppression_against_every_table(seed: int) -> None:
    """Small tables, by trying every world: nothing is above the bound, and what is called exact is."""
    random = np.random.default_rng(seed)
    n, n_others = 4, int(random.integers(0, 2))
    x, y = random.integers(0, 4, n + n_others).tolist(), random.integers(0, 3, n + n_others).tolist()
    values = random.choice(list("aaab" if seed % 2 else "aaaabc"), n).tolist()
    names = named(n + n_others)
    table = people({"name": names[:n], "x": x[:n], "y": y[:n], "s": values})
    recoding = [gh.Anatomy(), gh.Boxes()][seed % 4 // 2]
    try:
        release = gh.publish(
            table,
            principle=gh.LDiversity(ell=2),
            method=gh.Mirror(),
            recoding=recoding,
            suppress="0.7",
            source=gh.Source.seeded(seed),
        )
    except gh.Infeasible:
        return
    if not release.n_dropped:
        return
    knowledge = gh.Knowledge(external=people({"name": names, "x": x, "y": y}))
    task = Task.of(gh.ReverseEngineering(), release, knowledge, algorithm_of(release.recipe))
    try:
        exact = believed([EveryWorld(most_runs=50_000)], replace(task, contents=held_possible(task)))
    except gh.NotSupported:
        return
    by_theorem = gh.ReverseEngineering().believe(task)
    bound = gh.attack(release, gh.ReverseEngineering(how="bound"), knowledge=knowledge)
    for name in names:
        for value, belief in exact.of(name).items():
            assert belief <= bound.of(name).get(value, 0.0) + 1e-9, (name, value)
            if by_theorem.how == "exact":
                assert belief == pytest.approx(by_theorem.of(name).get(value, 0.0)), (name, value)


# --- people whom the method drops -------------------------------------------------------------------------------------


def grown(values: str, principle: Any = None, **choices: Any) -> tuple[gh.Microdata, gh.Release]:
    table = people({"name": named(len(values)), "x": list(range(len(values))), "s": list(values)})
    method = gh.Greedy(last="drop", **choices)
    principle = principle or gh.LDiversity(ell=2)
    return table, gh.publish(table, principle=principle, method=method, recoding=gh.Boxes())


def test_dropped_people_may_have_values_that_are_published_nowhere() -> None:
    """c, b, a, a: with any other value than a new one the table would not have been eligible."""
    table, release = grown("cbaa")
    assert release.n_dropped == 2
    found = gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=table))
    assert found.of("p2") == found.of("p3") == {UNPUBLISHED: 1.0}
    assert found.worst().belief == 1.0
    assert found.share_above() == 0.5


def test_a_prior_names_the_values_that_there_are() -> None:
    table, release = grown("cbaa")
    prior = {"a": 1, "b": 1, "c": 1}
    found = gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=table, prior=prior))
    assert found.of("p2") == found.of("p3") == {"a": 1.0}
    more = gh.Knowledge(external=table, prior={**prior, "d": 3})
    found = gh.attack(release, gh.ReverseEngineering(), knowledge=more)
    assert found.of("p2") == pytest.approx({"a": 0.1, "d": 0.9})  # both have it: weights 1 and 9


def test_beliefs_about_those_dropped_are_those_of_all_tables() -> None:
    """Every table over the published values and one more, against a greedy division written out here."""
    table, release = grown("abcbaa")
    dropped = release.n_dropped
    assert dropped

    def kept(values: tuple[str, ...]) -> tuple[tuple[str, ...], ...] | None:
        if max(values.count(v) for v in values) * 2 > len(values):
            return None
        groups: list[tuple[str, ...]] = []
        start = 0
        for end in range(2, len(values) + 1, 2):
            group = values[start:end]
            if max(group.count(v) for v in group) * 2 <= len(group):
                groups.append(tuple(sorted(group)))
                start = end
        return tuple(groups)

    published = kept(tuple("abcbaa"))
    assert published is not None
    shown = sorted({v for group in published for v in group})
    worlds = [w for w in product([*shown, UNPUBLISHED], repeat=6) if kept(w) == published]
    found = gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=table))
    for i in range(6):
        for value in (*shown, UNPUBLISHED):
            wanted = sum(w[i] == value for w in worlds) / len(worlds)
            assert found.of(f"p{i}").get(value, 0.0) == pytest.approx(wanted), (i, value)


def test_at_scale_too() -> None:
    table, release = grown("abcd" * 30 + "eeee")
    knowledge = gh.Knowledge(external=table)
    found = gh.attack(release, gh.ReverseEngineering(), knowledge=knowledge)
    assert found.values[-1] == UNPUBLISHED
    assert found.of("p123")[UNPUBLISHED] == pytest.approx(1 / 5)
    table, release = grown("cbaa")
    knowledge = gh.Knowledge(external=table)
    task = Task.of(gh.ReverseEngineering(), release, knowledge, algorithm_of(release.recipe))
    small = GreedyGroups().believe(replace(task, contents=held_possible(task)))
    assert small.of("p2") == {UNPUBLISHED: 1.0}


def test_a_designated_value_may_be_published_nowhere() -> None:
    _, release = grown("cbcbcba", gh.DesignatedLDiversity(ell=2, values=("a",)))
    assert release.n_dropped == 1
    assert verify_release(release).holds
    table, release = grown("cbcbcba", gh.DesignatedLDiversity(ell=2, values=("a",)))
    found = gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=table))
    assert found.of("p6") == {"a": 1.0}
    with pytest.raises(gh.errors.DomainError):  # a slip of the pen is still refused on the way in
        grown("cbcbcba", gh.DesignatedLDiversity(ell=2, values=("A",)))


@pytest.mark.parametrize("distance", ["equal", "ordered"])
@pytest.mark.parametrize("method", [gh.Greedy(last="drop"), gh.RandomisedGreedy(p="1/3", last="drop")], ids=repr)
def test_groups_are_close_to_what_is_published(distance: str, method: Any) -> None:
    n_dropped = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        n = int(random.integers(4, 13))
        columns = {"name": named(n), "x": list(range(n)), "s": random.choice(list("abc"), n).tolist()}
        table = people(columns, ordered={"s": list("abc")} if distance == "ordered" else None)
        for t in ("0.1", "0.3"):
            principle = gh.TCloseness(t=t, distance=distance)
            release = gh.publish(table, principle=principle, method=method, recoding=gh.Anatomy())
            assert verify_release(release).holds
            n_dropped += release.n_dropped > 0
    assert n_dropped > 10


def test_reverse_engineering_runs_greedy_groups_under_closeness_as_they_were_made() -> None:
    table = people({"name": named(5), "x": list(range(5)), "s": list("abbab")})
    release = gh.publish(table, principle=gh.TCloseness(t="0.2"), method=gh.Greedy(last="drop"), recoding=gh.Anatomy())
    assert release.n_dropped
    found = gh.attack(release, gh.ReverseEngineering(), knowledge=gh.Knowledge(external=table))
    assert all(found.of(f"p{i}").get(value, 0.0) > 0 for i, value in enumerate("abbab"))


def test_a_report_that_does_not_go_through_people_says_whom_its_bound_leaves_out() -> None:
    columns = {"name": named(12), "x": list(range(12)), "s": list("aaaaaaaabcde")}
    table = people(columns)
    release = gh.publish(table, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy(), suppress="0.6")
    effort = replace(Effort(), most_rows=1, most_linked=1)
    found = gh.make_report(release, table, effort=effort).to_dict()["beliefs"]
    bounded = [entry for entry in found if entry["bound"]]
    assert {entry["adversary"] for entry in bounded} == {"linking", "algorithm-aware"}
    assert all(f"the {release.n_dropped} who were left out" in entry["because"] for entry in bounded)
