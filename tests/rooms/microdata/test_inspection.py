# SPDX-License-Identifier: Apache-2.0
"""What `inspect` says of a table: exact shares, sensible roles, and no value where logs could see it."""

from __future__ import annotations

import json
from collections import Counter
from datetime import date, datetime
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from glasshouse.errors import SchemaError, SourceError
from glasshouse.microdata.domains import code
from glasshouse.microdata.inspection import uniqueness
from glasshouse.microdata.inspection.inspection import Inspection, inspect
from glasshouse.microdata.inspection.role_words import QUASI, SENSITIVE, first_match
from glasshouse.microdata.reading.sources import open_source
from glasshouse.microdata.table import read

HOSPITAL = {
    "name": ["Ann", "Bob", "Cid", "Dan", "Eva", "Fay", "Gus", "Hal"],
    "age": [21, 21, 34, 34, 47, 47, 60, 60],
    "sex": ["F", "M", "F", "M", "F", "M", "F", "M"],
    "zipcode": [10, 10, 20, 20, 30, 30, 10, 20],
    "country": ["DE"] * 8,
    "notes": [f"patient {i} came in on a rainy day and felt very unwell" for i in range(8)],
    "disease": ["flu", "flu", "ulcer", "HIV", "gout", "gout", "flu", "ulcer"],
    "salary": [10.5, 20.5, 30.5, 40.5, 50.5, 60.5, 70.5, 80.5],
}


def unique_rows(table: dict[str, list[Any]], columns: tuple[str, ...]) -> int:
    """Count the rows that nobody shares, by looking at them; a missing value equals a missing value."""
    rows = list(zip(*(table[name] for name in columns), strict=True))
    return sum(count == 1 for count in Counter(rows).values())


def most_identifying(table: dict[str, list[Any]], columns: list[str], width: int) -> list[tuple[tuple[str, ...], int]]:
    """Count every combination, the best three first, ties in the order of the table."""
    counted = [(chosen, unique_rows(table, chosen)) for chosen in combinations(columns, width)]
    return sorted(counted, key=lambda c: -c[1])[:3]


def found(best: tuple[uniqueness.Uniqueness, ...]) -> list[tuple[tuple[str, ...], int]]:
    return [(u.columns, u.unique) for u in best]


TYPES = {"age": pa.int64(), "sex": pa.string(), "zip": pa.int64(), "birth": pa.float64(), "race": pa.string()}


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Tables of known quasi-identifiers with two values at least and some missing ones."""
    n = draw(st.integers(2, 25))
    columns: dict[str, list[Any]] = {}
    for name, kind in TYPES.items():
        values = ["a", "b", "c", None] if kind == pa.string() else [*range(draw(st.integers(2, 9))), None]
        cells = draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
        columns[name] = [*values[:2], *cells]
    return columns


def as_arrow(table: dict[str, list[Any]]) -> pa.Table:
    return pa.table({name: pa.array(values, TYPES[name]) for name, values in table.items()})


@settings(deadline=None)
@given(tables())
def test_unique_rows_alone_in_pairs_in_triples_and_together_are_those_of_a_plain_count(
    table: dict[str, list[Any]],
) -> None:
    report = inspect(as_arrow(table))

    names = list(table)
    assert names == report.suggested["quasi"]
    assert [unique_rows(table, (name,)) for name in names] == [c.unique for c in report.columns]
    assert most_identifying(table, names, 2) == found(report.pairs)
    assert most_identifying(table, names, 3) == found(report.triples)
    assert report.together is not None
    assert unique_rows(table, tuple(names)) == report.together.unique


@settings(deadline=None)
@given(tables(), st.randoms(use_true_random=False))
def test_permuting_the_rows_changes_nothing(table: dict[str, list[Any]], random: Any) -> None:
    arrow = as_arrow(table)
    order = list(range(arrow.num_rows))
    random.shuffle(order)

    assert inspect(arrow) == inspect(arrow.take(order))


@pytest.mark.parametrize("limit", [1 << 62, 1 << 23, 1])
@pytest.mark.parametrize("values", [3, 60, 400, 3000])
def test_unique_rows_are_exact_for_small_large_and_huge_products_of_domains(
    values: int, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uniqueness, "KEY_LIMIT", limit)
    rng = np.random.default_rng(values)
    names = ["age", "birth", "zip", "city"]
    columns = {name: rng.integers(0, values, 4000) // rng.integers(1, 4, 4000) for name in names}
    table = {name: column.tolist() for name, column in columns.items()}
    report = inspect(pa.table(columns))

    assert most_identifying(table, names, 2) == found(report.pairs)
    assert most_identifying(table, names, 3) == found(report.triples)
    assert report.together is not None
    assert unique_rows(table, tuple(names)) == report.together.unique


SMALL = st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=14)


@settings(deadline=None)
@example([[0, 1, 3, 3, 2], [0, 0, 1, 2, 0], [0, 2, 2, 3, 1], [0, 0, 1, 2, 0]])  # ties that a hasty bound would cut off
@given(SMALL)
def test_no_triple_is_passed_over_that_belongs_to_the_best(rows: list[list[int]]) -> None:
    table = {name: list(values) for name, values in zip("abcde", zip(*rows, strict=True), strict=True)}
    coded = [code(pa.array(values), name=name) for name, values in table.items()]
    pairs, triples = uniqueness.best_pairs_and_triples(coded)

    assert most_identifying(table, list(table), 2) == found(pairs)
    assert most_identifying(table, list(table), 3) == found(triples)


def test_combinations_are_told_apart_where_their_numbers_exceed_32_bits() -> None:
    there = np.arange(4096)
    ages = there % 512
    table = pa.table(
        {
            "age": np.concatenate([ages, (ages + 256) % 512]),  # 256 * 4096 * 4096 is 2 ** 32
            "city": np.concatenate([there, there]),
            "zip": np.concatenate([there, there]),
        }
    )

    assert [8192] == [triple.unique for triple in inspect(table).triples]


def test_columns_are_counted_one_by_one() -> None:
    report = inspect(pa.table({"age": [3, 3, 4, None, 5], "city": ["a", "b", "b", "a", None]}))
    age, city = report.columns

    assert (age.kind, age.n_tuples, age.distinct, age.missing) == ("integer", 5, 3, 1)
    assert (age.most_frequent, age.most_frequent_count, age.most_frequent_share) == (3, 2, 0.4)
    assert (age.unique, age.unique_share) == (3, 0.6)  # 4, 5 and missing stand alone
    assert (
        city.kind, city.distinct, city.missing, city.most_frequent, city.most_frequent_count, city.unique
    ) == ("category", 2, 1, "a", 2, 1)  # fmt: skip


def test_types_are_named_in_plain_words() -> None:
    report = inspect(
        pa.table(
            {
                "i": [1, 1, 2],
                "f": [1.5, 2.5, 2.5],
                "d": [date(2020, 1, 1), date(2020, 1, 1), date(2021, 1, 1)],
                "t": [datetime(2020, 1, 1, 12), datetime(2020, 1, 1, 12), datetime(2021, 1, 1)],
                "b": [True, True, False],
                "c": ["x", "x", "y"],
                "k": ["x", "y", "z"],
                "e": pa.nulls(3),
            }
        )
    )

    kinds = ["integer", "float", "date", "timestamp", "boolean", "category", "text", "empty"]
    assert kinds == [c.kind for c in report.columns]
    tops = [1, 2.5, "2020-01-01", "2020-01-01T12:00:00", True, "x", "x", None]
    assert tops == [c.most_frequent for c in report.columns]


def test_a_hospital_table_gets_the_roles_that_a_steward_would_give() -> None:
    report = inspect(HOSPITAL)

    assert report.suggested == {"identifier": "name", "quasi": ["age", "sex", "zipcode"], "sensitive": "disease"}
    assert (report.column("country").role, report.column("country").reason) == ("leave out", "has only one value")
    assert (report.column("notes").role, report.column("notes").kind) == ("leave out", "text")
    assert "free text" in report.column("notes").reason
    assert report.column("salary").role == "sensitive"
    assert all(c.reason for c in report.columns)
    assert report.notices == ("these columns look sensitive too, and are not published unless you name them: salary",)


def test_the_suggested_roles_read_the_table() -> None:
    microdata = read(HOSPITAL, **inspect(HOSPITAL).suggested)

    assert tuple(c.name for c in microdata.quasi) == ("age", "sex", "zipcode")
    assert tuple(c.name for c in microdata.sensitive) == ("disease",)


def test_the_risk_is_said_in_words_the_fewest_columns_first() -> None:
    report = inspect({"age": [1, 1, 2, 2], "sex": ["f", "m", "f", "f"], "disease": ["x", "x", "y", "z"]})

    assert report.risk == ("50 % of rows are unique by age, sex",)
    assert report.risk[0] in str(report)


def test_the_risk_ends_with_all_quasi_identifiers_together() -> None:
    four = {
        "age": [1, 1, 2, 2],
        "sex": ["f", "m", "f", "f"],
        "city": ["x", "x", "y", "y"],
        "race": ["a", "a", "b", "b"],
    }

    assert inspect(four).risk[-1] == "50 % of rows are unique by age, sex, city, race"
    assert inspect({"age": [1, 1, 2, 3]}).risk == ("50 % of rows are unique by age",)


def test_adult_gets_the_roles_of_the_literature(shared_data: Any) -> None:
    report = inspect(shared_data / "adult.parquet")

    known = {"age", "workclass", "education", "marital-status", "race", "sex", "native-country", "relationship"}
    assert known <= set(report.suggested["quasi"])
    assert report.suggested["sensitive"] == "occupation"
    assert (report.column("income").role, report.column("capital-gain").role) == ("sensitive", "sensitive")
    assert report.column("fnlwgt").role == "leave out"  # a survey weight: nearly a fingerprint
    assert report.sensitive is not None
    assert report.sensitive.largest_ell == 48842 // 6172
    assert report.pairs[0].columns == ("age", "hours-per-week")


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("SSN", "identifier"),
        ("e-mail", "identifier"),
        ("PhoneNumber", "identifier"),
        ("first_name", "identifier"),
        ("Nachname", "identifier"),
        ("homeAddress", "identifier"),
        ("credit card", "identifier"),
        ("customer name", "identifier"),
        ("Age", "quasi"),
        ("age_at_diagnosis", "quasi"),
        ("patient_age", "quasi"),
        ("dateOfBirth", "quasi"),
        ("Geburtsjahr", "quasi"),
        ("ZIPCode", "quasi"),
        ("post_code", "quasi"),
        ("código postal", "quasi"),
        ("Nationalité", "quasi"),
        ("country name", "quasi"),
        ("ESTADO_CIVIL", "quasi"),
        ("something", "quasi"),
        ("Diagnose", "sensitive"),
        ("diagnosis code", "sensitive"),
        ("ICD10", "sensitive"),
        ("patient-religion", "sensitive"),
        ("maladie_principale", "sensitive"),
        ("occupation", "sensitive"),
        ("agency", "quasi"),
        ("store_id", "quasi"),
    ],
)
def test_names_of_columns_tell_their_roles_in_several_languages(name: str, role: str) -> None:
    report = inspect({name: ["a", "b", "c", "d"] * 5})

    assert role == report.columns[0].role, report.columns[0].reason


def test_words_match_pieces_of_a_name_and_never_their_inside() -> None:
    assert first_match("agency", QUASI) is None
    assert first_match("percentage", QUASI) is None
    assert first_match("silicdust", SENSITIVE["health"]) is None
    assert first_match("", QUASI) is None


@pytest.mark.parametrize("words", [*SENSITIVE.values(), QUASI])
def test_every_word_can_match(words: str) -> None:
    for word in words.split():
        assert first_match(word.rstrip("*"), words), word


def test_a_column_whose_values_hardly_repeat_is_an_identifier_only_if_it_is_text_or_whole_numbers() -> None:
    n = 100
    report = inspect(
        {
            "k": [f"k{i}" for i in range(n)],
            "i": list(range(0, 2 * n, 2)),
            "almost": [*range(n - 2), 0, 1],
            "measure": [i + 0.5 for i in range(n)],
            "when": [date.fromordinal(730000 + i) for i in range(n)],
            "half": [i // 2 * 2 for i in range(n)],
            "visit_id": [i // 3 for i in range(n)],
            "gaps": [f"k{i}" if i % 2 else None for i in range(n)],
        }
    )

    roles = {c.name: c.role for c in report.columns}
    assert [roles["k"], roles["i"], roles["almost"], roles["gaps"]] == ["identifier"] * 4
    assert (
        roles["measure"], roles["when"], roles["half"], roles["visit_id"]
    ) == ("leave out", "quasi", "quasi", "identifier")  # fmt: skip
    assert report.suggested["identifier"] == "k"


@pytest.mark.parametrize("name", ["rownames", "index", "...1"])
def test_a_column_that_numbers_the_rows_does_not_say_who_they_are_about(name: str) -> None:
    visits = {"person_id": [7, 7, 9, 4], "age": [30, 30, 40, 50], "disease": ["x", "y", "x", "z"]}
    report = inspect({name: [1, 2, 3, 4]} | visits)

    assert report.column(name).role == "leave out"
    assert "numbers the rows" in report.column(name).reason
    assert report.suggested["identifier"] == "person_id"
    assert report.suggested["repeated"] == "together", "person_id repeats, so people have several rows"
    assert any("values of person_id repeat" in notice for notice in report.notices)
    assert inspect({"patient": [1, 2, 3, 4], "disease": ["x", "y", "x", "z"]}).suggested["identifier"] == "patient"
    other = "leave out" if name == "rownames" else "identifier"
    assert inspect({name: [1, 3, 2, 4]} | visits).column(name).role == other, "not in the order of the rows"


def test_an_identifier_that_repeats_or_is_missing_is_not_suggested_to_read_and_a_notice_says_why() -> None:
    repeats = inspect({"name": ["Ann", "Ann", "Bob"], "age": [1, 2, 2], "disease": ["x", "y", "z"]})
    missing = inspect({"name": ["Ann", None, "Bob"], "age": [1, 2, 2], "disease": ["x", "y", "z"]})
    fine = inspect({"name": ["Ann", "Cid", "Bob"], "age": [1, 2, 2], "disease": ["x", "y", "z"]})

    for report in (repeats, missing):
        assert report.column("name").role == "identifier"
        assert report.suggested["identifier"] is None
        assert any("values of name repeat or are missing" in notice for notice in report.notices)
    assert not any("identifier" in notice for notice in fine.notices)


def test_work_is_sensitive_unless_something_graver_can_be_protected() -> None:
    work = {"occupation": ["a", "b", "a", "b"]}

    assert inspect(work).column("occupation").role == "sensitive"
    assert inspect({**work, "disease": ["x", "y", "z", "x"]}).column("occupation").role == "quasi"
    assert inspect({**work, "income": ["low", "low", "low", "high"]}).column("occupation").role == "sensitive"


def test_the_suggested_sensitive_column_can_be_protected_first_needs_no_bins_second_and_is_grave_third() -> None:
    constantly = ["x", "x", "x", "y"]
    often = ["x", "y", "z", "y"]
    amounts = [1, 2, 3, 4]

    assert inspect({"income": often, "disease": constantly}).suggested["sensitive"] == "income"
    assert inspect({"income": amounts, "disease": constantly}).suggested["sensitive"] == "income"
    assert inspect({"income": often, "disease": amounts}).suggested["sensitive"] == "income"
    assert inspect({"income": often, "disease": often}).suggested["sensitive"] == "disease"


def test_texts_that_hardly_repeat_are_suggested_last() -> None:
    told = [f"visit {i}: pain" for i in range(200)]
    table = {"age": list(range(200)), "diagnosis": told, "diabetes": ["yes"] * 20 + ["no"] * 180}

    assert inspect(table).suggested["sensitive"] == "diabetes"


def test_a_date_is_known_to_others_whatever_its_name_speaks_of() -> None:
    report = inspect({"diagnosis date": [date(2020, 1, 1), date(2020, 1, 1), date(2020, 1, 2)]})

    assert report.columns[0].role == "quasi"
    assert report.sensitive is None


DAYS = [date.fromordinal(724_000 + 7 * i - 7 * (i % 20 == 19)) for i in range(200)]  # of 200 rows 190 have one each
WRITTEN_DAYS = {
    "German": [f"{day:%d.%m.%Y}" for day in DAYS],
    "American": [f"{day.month}/{day.day}/{day:%Y}" for day in DAYS],
    "English": [f"{day.day} {day:%b %Y}" for day in DAYS],
    "ISO": list(map(str, DAYS)),
    "ISO, with a time": [f"{day}T08:15:{i % 60:02}" for i, day in enumerate(DAYS)],
    "with gaps": [*[f"{day:%d.%m.%Y}" for day in DAYS[:-2]], None, "unknown"],
}


@pytest.mark.parametrize("how", [*WRITTEN_DAYS, "dates", "times"])
@pytest.mark.parametrize("name", ["Eintritt", "patient since", "last login", "passport issued"])
def test_dates_of_which_hardly_one_repeats_are_no_identifier(how: str, name: str) -> None:
    typed: dict[str, list[Any]] = {"dates": DAYS, "times": [datetime(d.year, d.month, d.day, 8, 15, 1) for d in DAYS]}
    ages, ills = [20 + i % 60 for i in range(200)], [("flu", "gout")[i % 2] for i in range(200)]
    report = inspect({name: WRITTEN_DAYS.get(how, typed.get(how)), "age": ages, "disease": ills})

    assert report.column(name).role == "quasi"
    assert report.column(name).distinct_share >= 0.95
    assert report.suggested == {"identifier": None, "quasi": [name, "age"], "sensitive": "disease"}
    about = [notice for notice in report.notices if name in notice and "missing values" not in notice]
    assert [notice.partition(",")[0] for notice in about] == [f"{name} has dates that are read as text"] * (
        how in WRITTEN_DAYS
    )
    assert not report.cautions


def test_dates_that_repeat_are_no_number_of_people_with_several_rows() -> None:
    days = [f"{day:%d.%m.%Y}" for day in DAYS[:100]] * 2
    report = inspect(
        {"Kunde seit": days, "age": [*range(200)], "disease": [("flu", "gout")[i % 2] for i in range(200)]}
    )

    assert not any("values of Kunde seit repeat" in notice for notice in report.notices)
    assert "repeated" not in report.suggested


def test_the_named_sensitive_column_is_taken_whatever_it_looks_like() -> None:
    report = inspect(HOSPITAL, sensitive="sex")

    assert (report.column("sex").role, report.column("sex").reason) == ("sensitive", "named as the sensitive column")
    assert report.suggested["quasi"] == ["age", "zipcode"]
    assert report.sensitive is not None
    assert (
        report.sensitive.column, report.sensitive.named, report.sensitive.largest_ell, report.sensitive.must_be_binned
    ) == ("sex", True, 2, False)  # fmt: skip


def test_an_unknown_sensitive_column_is_refused_with_the_near_name() -> None:
    with pytest.raises(SchemaError, match="did you mean 'disease'"):
        inspect(HOSPITAL, sensitive="desease")
    with pytest.raises(SchemaError, match="did you mean 'disease'"):
        inspect(HOSPITAL).column("desease")


@pytest.mark.parametrize(
    ("values", "ell", "complete"),
    [
        (["a", "a", "b", "c", "d"], 2, 2),
        (["a", "a", "a", "b", "c"], 1, 1),
        (["a", "b", "c", None, None, None], 2, 3),
        (["a", "a", "b", "b", None], 2, 2),
        (["a", "b", "c"], 3, 3),
    ],
)
def test_the_largest_ell_is_rows_by_the_most_frequent_value_rounded_down(
    values: list[str | None], ell: int, complete: int
) -> None:
    report = inspect({"disease": values}).sensitive

    assert report is not None
    assert (ell, complete) == (report.largest_ell, report.largest_ell_complete)
    assert f"l-diversity is possible up to l = {ell}" in str(report)
    assert (ell < 2) == ("more than half" in str(report))
    assert (ell != complete) == (f"{complete} if the rows without a value are dropped" in str(report))


def test_amounts_must_be_binned_before_they_are_sensitive() -> None:
    report = inspect({"age": [1, 1, 2], "salary": [10, 20, 30]})

    assert report.sensitive is not None
    assert (report.sensitive.column, report.sensitive.named, report.sensitive.must_be_binned) == ("salary", False, True)
    assert "bins=" in str(report)


def test_pairs_and_triples_are_tried_among_the_twelve_most_distinguishing_and_a_notice_says_so() -> None:
    rng = np.random.default_rng(1)
    names = [f"city{i}" for i in range(13)]
    table = {name: rng.integers(0, 4 + i, 200).tolist() for i, name in enumerate(names)}
    twelve = inspect({name: table[name] for name in names[1:]})
    thirteen = inspect(table)

    assert not any("were counted only" in notice for notice in twelve.notices)
    assert any("those 12 of the 13 quasi-identifiers" in notice for notice in thirteen.notices)
    assert (twelve.pairs, twelve.triples) == (thirteen.pairs, thirteen.triples)
    assert most_identifying(table, names, 3) == found(thirteen.triples)
    assert thirteen.together is not None
    assert len(thirteen.together.columns) == 13


def test_notices_of_reading_are_carried_over(tmp_path: Any) -> None:
    path = tmp_path / "patients.csv"
    path.write_text("age;sex;disease\n1;f;flu\n1;m;flu\n2;f;ulcer\n")
    report = inspect(path)

    notices = open_source(path).notices
    assert notices
    assert notices == report.notices[: len(notices)]
    assert [c.name for c in report.columns] == ["age", "sex", "disease"]


def test_delimiter_and_encoding_reach_the_reader(tmp_path: Any) -> None:
    path = tmp_path / "patients.csv"
    path.write_bytes("größe|age\nä|1\nä|1\nö|2\n".encode("cp1252"))
    report = inspect(path, delimiter="|", encoding="cp1252")

    assert [(c.name, c.most_frequent) for c in report.columns] == [("größe", "ä"), ("age", 1)]


def test_notices_tell_of_missing_and_infinite_values_and_of_roles_that_nobody_has() -> None:
    report = inspect({"age": [1.5, float("inf"), 1.5, None], "thing": ["x", "x", "y", "y"]})
    bare = inspect({"ssn": ["x", "x", "y", "y"]})

    assert any("missing values in age (1)" in notice for notice in report.notices)
    assert any("age has infinite values" in notice for notice in report.notices)
    assert any("no column looks sensitive" in notice for notice in report.notices)
    assert any("no column looks like a quasi-identifier" in notice for notice in bare.notices)


@pytest.mark.parametrize("n", [1, 2])
def test_tables_of_one_and_two_rows_are_reported(n: int) -> None:
    report = inspect({name: values[:n] for name, values in HOSPITAL.items()})

    assert n == report.n_tuples
    assert [n] * 2 == [report.column("name").unique, report.column("salary").unique]
    assert_presentable(report)


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(SourceError, match="no rows"):
        inspect(pa.table({"age": pa.array([], pa.int64()), "disease": pa.array([], pa.string())}))


@settings(deadline=None)
@given(tables())
def test_the_report_fits_a_hundred_columns_and_is_json(table: dict[str, list[Any]]) -> None:
    assert_presentable(inspect(as_arrow(table)))


def test_long_names_and_control_characters_do_not_break_the_printed_report() -> None:
    long = "the name of a column that a database made " * 5
    report = inspect(
        {
            long: ["a", "b", "a" * 300, "a" * 300],
            "a\x1b[31m\n": ["\x1b[2J", "\x1b[2J", "y", "z"],
            "x" * 150: [1, 1, 2, 2],
        }
    )

    assert_presentable(report)
    assert "\x1b" not in str(report)


def assert_presentable(report: Inspection) -> None:
    lines = str(report).split("\n")
    assert max(map(len, lines)) <= 100
    assert report.to_dict() == json.loads(json.dumps(report.to_dict(), allow_nan=False))


def test_the_repr_shows_no_value_of_the_table() -> None:
    report = inspect({"age": [77771, 77771, 5], "disease": ["gout-like", "gout-like", "flu"]})

    assert "77771" in str(report)
    assert "gout-like" in str(report)
    assert "77771" not in repr(report)
    assert "gout-like" not in repr(report)


def test_every_share_is_in_the_plain_data() -> None:
    data = inspect(HOSPITAL).to_dict()

    assert data["n_tuples"] == 8
    assert data["pairs"][0] == {"columns": ["age", "sex"], "unique": 8, "share": 1.0}
    assert {"name": "age", "unique": 0, "unique_share": 0.0, "role": "quasi"}.items() <= data["columns"][1].items()
    assert (data["sensitive"]["column"], data["sensitive"]["largest_ell"]) == ("disease", 2)


def test_zip_codes_that_lost_leading_zeros_are_told_with_how_to_read_them_as_codes() -> None:
    def told(name: str, codes: list[int]) -> str:
        return " ".join(inspect({name: codes * 4, "disease": ["x", "y"] * 2 * len(codes)}).notices)

    notice = told("ZIP", [2138, 10001, 10002])
    assert "4 to 5 digits: if they are zip codes, leading zeros were lost" in notice
    assert "categorical=['ZIP']" in notice
    assert "taxonomies={'ZIP': 'prefix:5'}" in notice
    assert "leading zeros" not in told("ZIP", [12138, 10001, 10002])
    assert "leading zeros" not in told("age", [5, 10, 100])
