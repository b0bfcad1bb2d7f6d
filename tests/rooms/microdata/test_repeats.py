# SPDX-License-Identifier: Apache-2.0
"""People with several rows: refused, drawn from or joined; and the signs of them that are told."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.cells.sets import members_in, set_text
from glasshouse.cells.values import NotAValue
from glasshouse.microdata.set_members import as_sets
from glasshouse.policy import policy_from
from glasshouse.policy.first_choices import first_choices
from glasshouse.policy.next_steps import first_steps
from tests.tiers import examples, tables
from tests.twins.member_sets import joined

STAYS: dict[str, list[Any]] = {
    "patient": ["Ann", "Bob", "Ann", "Cid", "Ann", "Bob"],
    "age": [30, 41, 30, 52, 30, 41],
    "disease": ["flu", "gout", "ulcer", "flu", "flu", "gout"],
}
ROLES: dict[str, Any] = {"identifier": "patient", "quasi": ["age"], "sensitive": "disease"}


def shuffled(table: dict[str, list[Any]], seed: int) -> dict[str, list[Any]]:
    order = list(range(len(table["age"])))
    Random(seed).shuffle(order)
    return {name: [values[i] for i in order] for name, values in table.items()}


def people(table: gh.Microdata) -> Counter[tuple[Any, ...]]:
    """Everybody, as they were read."""
    columns = [column.domain.decode(column.codes).to_pylist() for column in (*table.quasi, *table.sensitive)]
    assert table.identifier is not None
    return Counter(zip(table.identifier.to_pylist(), *columns, strict=True))


# --- refused ----------------------------------------------------------------------------------------------------------


def test_without_a_word_they_are_counted_and_both_ways_out_are_named() -> None:
    with pytest.raises(gh.InputError, match=r"\b3 rows have an identifier") as refusal:
        gh.read(STAYS, **ROLES)
    assert "repeated='together'" in str(refusal.value)
    assert "repeated='sample'" in str(refusal.value)


@pytest.mark.parametrize("repeated", ["sample", "together"])
def test_an_identifier_must_say_whose_a_row_is(repeated: Any) -> None:
    with pytest.raises(gh.SchemaError, match="identifier"):
        gh.read(STAYS, quasi=["age"], sensitive="disease", repeated=repeated)
    missing = {**STAYS, "patient": ["Ann", None, "Ann", "Cid", "Ann", "Bob"]}
    with pytest.raises(gh.DomainError, match="missing in 1 row:"):
        gh.read(missing, **ROLES, repeated=repeated)


@pytest.mark.parametrize("repeated", ["sample", "together"])
def test_where_rows_go_by_in_batches_it_is_refused_by_name(tmp_path: Any, repeated: Any) -> None:
    from glasshouse.streaming.publish import publish_file

    with pytest.raises(gh.NotSupported, match=f"repeated='{repeated}'.*engine='memory'"):
        publish_file(tmp_path / "out", tmp_path / "none.csv", **ROLES, principle="2-diversity", repeated=repeated)


# --- one row of each --------------------------------------------------------------------------------------------------


def test_one_row_of_each_person_is_kept_and_the_others_are_counted() -> None:
    table = gh.read(STAYS, **ROLES, repeated="sample")

    assert people(table).keys() <= set(zip(*STAYS.values(), strict=True))
    assert sorted(table.identifier.to_pylist()) == ["Ann", "Bob", "Cid"]  # type: ignore[union-attr]
    assert any("3 rows were left out" in notice for notice in table.notices)
    assert table.sensitive[0].domain.members is None


def test_who_is_drawn_does_not_depend_on_the_order_of_rows() -> None:
    for seed in range(tables(100)):
        first = gh.read(STAYS, **ROLES, repeated="sample", random=gh.Source.seeded(seed))
        second = gh.read(shuffled(STAYS, seed), **ROLES, repeated="sample", random=gh.Source.seeded(seed))
        assert people(first) == people(second)
        assert any("only for tests" in notice for notice in first.notices)


def test_every_row_of_a_person_is_as_likely_as_every_other() -> None:
    drawn: Counter[str] = Counter()
    for seed in range(600):
        table = gh.read(STAYS, **ROLES, repeated="sample", random=gh.Source.seeded(seed))
        drawn += Counter({ill: 1 for name, _, ill in people(table) if name == "Ann"})

    assert drawn.keys() == {"flu", "ulcer"}
    assert 330 < drawn["flu"] < 470  # two rows of three: 400 expected, six standard deviations


def test_values_that_were_left_out_are_in_no_domain() -> None:
    table = gh.read(STAYS, **ROLES, repeated="sample", random=gh.Source.seeded(1))
    column = table.sensitive[0]
    assert set(column.domain.values.to_pylist()) == set(column.domain.decode(column.codes).to_pylist())


# --- all rows together ------------------------------------------------------------------------------------------------


def test_all_rows_of_a_person_are_one_record_with_the_set_of_their_values() -> None:
    table = gh.read(STAYS, **ROLES, repeated="together")

    assert people(table) == {("Ann", 30, '["flu", "ulcer"]'): 1, ("Bob", 41, '["gout"]'): 1, ("Cid", 52, '["flu"]'): 1}
    assert any("3 people, and 3 rows were joined to others" in notice for notice in table.notices)
    assert people(gh.read(shuffled(STAYS, 3), **ROLES, repeated="together")) == people(table)


def test_records_are_those_of_the_slow_twin() -> None:
    for seed in range(tables(300)):
        random = Random(seed)
        rows = [(random.randrange(6), random.choice("abcd")) for _ in range(random.randint(1, 20))]
        stays = {"patient": [p for p, _ in rows], "age": [p // 2 for p, _ in rows], "disease": [v for _, v in rows]}
        table = gh.read(stays, **ROLES, repeated="together")
        found = {name: frozenset(members_in(text)) for name, _, text in people(table)}
        assert found == joined(rows)


def test_quasi_identifiers_that_differ_are_counted_and_refused() -> None:
    moved = {**STAYS, "age": [30, 41, 31, 52, 30, 42]}
    with pytest.raises(gh.InputError, match=r"quasi-identifiers: 2 \(age of 2\).*repeated='sample'"):
        gh.read(moved, **ROLES, repeated="together")
    binned = gh.read(moved, **ROLES, repeated="together", bins={"age": "intervals:10"})
    assert binned.n_tuples == 3


def test_a_missing_value_is_a_value_of_a_set_or_drops_its_row() -> None:
    gaps = {**STAYS, "disease": ["flu", None, None, "flu", "flu", "gout"]}
    kept = gh.read(gaps, **ROLES, repeated="together", missing="category")
    assert {text for _, _, text in people(kept)} == {'["flu", null]', '["gout", null]', '["flu"]'}
    dropped = gh.read(gaps, **ROLES, repeated="together", missing="drop")
    assert {text for _, _, text in people(dropped)} == {'["flu"]', '["gout"]'}


def test_several_sensitive_columns_are_sets_each() -> None:
    table = gh.read(
        {**STAYS, "ward": list("abcabc")}, **{**ROLES, "sensitive": ["disease", "ward"]}, repeated="together"
    )
    assert [column.domain.kind for column in table.sensitive] == ["set", "set"]
    assert ("Ann", 30, '["flu", "ulcer"]', '["a", "b", "c"]') in people(table)


# --- the text of a set ------------------------------------------------------------------------------------------------

values = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.none(), min_size=1, unique=True)


@settings(max_examples=examples(200), deadline=None)
@given(values)
def test_a_set_is_read_as_it_was_written_whatever_it_holds(members: list[str | None]) -> None:
    assert list(members_in(set_text(members))) == members


@pytest.mark.parametrize(
    "text", ["", "flu", "[]", '"flu"', '["flu", "flu"]', "[1]", "[true]", '[["flu"]]', '{"a": 1}', "null",
             '["\\ud800"]', "[" * 100_000, None, 5, "[" + "1" * 5_000 + "]"],
)  # fmt: skip
def test_what_is_no_set_is_refused(text: Any) -> None:
    with pytest.raises(NotAValue):
        members_in(text)


def test_a_column_of_texts_becomes_one_of_sets_or_is_refused() -> None:
    table = gh.read({"age": [1, 2], "s": ['["b", "a"]', '["a"]']}, quasi=["age"], sensitive="s")
    column = as_sets(table.sensitive[0])
    assert column.domain.members is not None
    assert column.domain.singles.values.to_pylist() == ["a", "b"]
    with pytest.raises(gh.DomainError, match="must have sets of values"):
        as_sets(gh.read({"age": [1, 2], "s": ['["a"]', "a"]}, quasi=["age"], sensitive="s").sensitive[0])


# --- signs ------------------------------------------------------------------------------------------------------------


def test_inspect_tells_that_people_seem_to_have_several_rows_and_how_to_read_them() -> None:
    (found,) = [notice for notice in gh.inspect(STAYS).notices if " repeat: " in notice]
    assert "3 rows" in found
    assert "identifier='patient' and repeated='together'" in found
    once = {name: values[1:4] for name, values in STAYS.items()}
    assert not any(" repeat: " in notice for notice in gh.inspect(once).notices)


def test_inspect_tells_of_rows_that_are_equal_in_every_column() -> None:
    alike = {"age": [30, 30, 41], "disease": ["flu", "flu", "flu"]}
    assert any("in every column: 1." in notice for notice in gh.inspect(alike).notices)
    assert not any("in every column" in n for n in gh.inspect({"age": [30, 31], "disease": ["flu", "flu"]}).notices)


@pytest.mark.parametrize("name", ["household", "household_id", "Family-Nr", "address"])
def test_a_key_of_households_is_noticed_by_its_name_and_because_rows_share_it(name: str) -> None:
    table = {"age": [1, 2, 3, 4], name: [7, 7, 8, 9], "disease": list("abab")}
    assert any("To protect whole households" in notice for notice in gh.inspect(table).notices)
    assert any("To protect whole households" in n for n in gh.read(table, quasi=["age"], sensitive="disease").notices)
    alone = {**table, name: [1, 2, 3, 4]}
    assert not any("To protect whole households" in notice for notice in gh.inspect(alone).notices)
    read = gh.read(
        table, identifier=name, repeated="together", quasi=["age"], sensitive="disease", bins={"age": "intervals:9"}
    )
    assert not any("To protect whole households" in notice for notice in read.notices)


def test_the_size_of_a_household_is_no_key() -> None:
    table = {"age": [1, 2, 3, 4] * 6, "household_size": [1, 2] * 12, "disease": list("abab") * 6}
    for notices in (gh.inspect(table).notices, gh.read(table, quasi=["age"], sensitive="disease").notices):
        assert not any("To protect whole households" in notice for notice in notices)


@pytest.mark.parametrize(("moved", "repeated"), [(False, "together"), (True, "sample")])
def test_what_is_suggested_is_about_people_where_a_number_of_people_repeats(moved: bool, repeated: str) -> None:
    random = Random(1)
    who = [person for person in range(200) for _ in range(random.randint(1, 3))]
    stays: dict[str, list[Any]] = {
        "case": [f"F{i}" for i in range(len(who))],
        "Pat-Nr": [5 + 7 * person for person in who],
        "age": [20 + person % 40 + (i % 2 if moved else 0) for i, person in enumerate(who)],
        "disease": [random.choice("abcdefghijklmnop") for _ in who],
    }
    report = gh.inspect(stays)
    assert {name: report.suggested[name] for name in ("identifier", "repeated")} == {
        "identifier": "Pat-Nr",
        "repeated": repeated,
    }
    assert gh.read(stays, **report.suggested).n_tuples == 200
    step, *_ = first_steps(report, file="stays.csv")
    assert f"--identifier Pat-Nr --ell 5 --out out --repeated {repeated}" in step["command"]
    assert (
        "not used: people's quasi-identifiers differ" if moved else "one record is made for each of 200 people"
    ) in step["cost"]
    assert f'repeated = "{repeated}"' in policy_from(report, file="stays.csv")
    pairs = list(zip(who, stays["disease"], strict=True))
    counts: dict[str, Any] = dict.fromkeys(stays["disease"], 0)
    for person, ill in pairs if moved else set(pairs):
        counts[ill] += Fraction(1, who.count(person)) if moved else 1
    assert report.sensitive is not None
    assert report.sensitive.largest_ell == 200 // max(counts.values()), "of people, and not of rows"
    assert report.sensitive.is_drawn == moved
    assert ("up to about l = " in str(report)) == moved


def test_l_that_is_said_to_be_possible_and_the_offered_one_fit_each_other() -> None:
    """Everybody has the value in one of three rows: a third of the people are expected to have it."""
    stays: dict[str, list[Any]] = {
        "patient_id": [5 + 7 * (i // 3) for i in range(900)],
        "age": [20 + i % 40 for i in range(900)],
        "disease": ["flu" if i % 3 == 0 else f"v{i % 11}" for i in range(900)],
    }
    report = gh.inspect(stays)
    assert report.sensitive is not None
    assert (report.suggested["repeated"], report.sensitive.largest_ell) == ("sample", 3)
    principle = first_choices(report).principle
    assert principle.terms.one_in is not None
    assert 2 <= principle.terms.one_in <= report.sensitive.largest_ell


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("sensitive", [None, "constant"])
def test_what_becomes_of_rows_is_said_also_without_a_sensitive_column(moved: bool, sensitive: str | None) -> None:
    stays: dict[str, list[Any]] = {
        "patient_id": [5 + 7 * (i // 3) for i in range(300)],
        "age": [20 + i // 3 % 40 + (i % 3 if moved else 0) for i in range(300)],
        "day": [str(i // 3 % 28) for i in range(300)],
    }
    if sensitive == "constant":
        stays["disease"] = ["flu"] * 300
    step, *_ = first_steps(gh.inspect(stays), file="stays.csv")

    assert f"--repeated {'sample' if moved else 'together'}" in step["command"]
    if moved:
        assert "Of 300 rows, 200 are not used: people's quasi-identifiers differ from row to row" in step["cost"]
        assert "One row of each person is drawn at random" in step["cost"]
    else:
        assert step["cost"] == "From 300 rows, one record is made for each of 100 people."


def test_a_unique_number_of_people_is_the_identifier_although_another_one_repeats() -> None:
    table = {"ssn": [f"{i:09}" for i in range(20)], "client": [i // 2 for i in range(20)], "age": [1, 2] * 10}
    assert gh.inspect(table).suggested == {"identifier": "ssn", "quasi": ["age"], "sensitive": None}


def test_a_first_policy_for_sets_that_cannot_be_diverse_has_no_value_and_can_be_published() -> None:
    for common in (8, 10):
        stays = {
            "patient_id": [5 + 7 * (i // 2) for i in range(400)],
            "case": [f"F{i}" for i in range(400)],
            "age": [20 + i // 2 % 40 for i in range(400)],
            "disease": ["zz" if i % 2 or i % 10 < common else "yy" for i in range(400)],
        }
        report = gh.inspect(stays)
        assert report.suggested["repeated"] == "together"
        text = policy_from(report, file="stays.csv")
        assert "zz" not in text
        assert "yy" not in text
        first = first_choices(report)
        read = {name: first.choices.get(name) for name in ("identifier", "repeated", "quasi", "sensitive")}
        gh.publish(gh.read(stays, **read), principle=first.principle)


def test_publishing_says_that_a_number_of_people_is_not_the_identifier() -> None:
    stays = {"case": [1, 2, 3, 4], "Pat-Nr": [7, 7, 8, 9], "age": [1, 2, 3, 4], "disease": list("abab")}
    told = gh.read(stays, quasi=["age"], sensitive="disease", identifier="case").notices
    assert any("Pat-Nr looks like a personal number" in n and "for each value of case" in n for n in told)
    fine = gh.read(stays, quasi=["age"], sensitive="disease", identifier="Pat-Nr", repeated="sample").notices
    assert not any("looks like a personal number" in notice for notice in fine)
