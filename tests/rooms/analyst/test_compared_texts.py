"""Texts are compared in the order that was declared for them, or else letter by letter, and the answer says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse as command

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")

N = 48
EDUCATION = ["none", "school", "college"]
SEVERITY = ["slight", "moderate", "grave"]
PEOPLE: dict[str, Any] = {
    "education": [EDUCATION[i % 3] for i in range(N)],
    "age": [20 + i % 8 for i in range(N)],
    "grade": [["9", "10", "30"][i % 3] for i in range(N)],
    "severity": [SEVERITY[(i // 3) % 3] for i in range(N)],
}
QUASI = ["education", "age", "grade"]
ORDERED = {"education": EDUCATION}
KINDS = [gh.Boxes(), gh.Anatomy(), gh.Angel(), gh.Permutation()]
LETTERS = "texts of {!r} are compared letter by letter, as in a dictionary"


def release(recoding: Any, sensitive: str = "severity", **options: Any) -> gh.Release:
    quasi = [name for name in QUASI if name != sensitive]
    return gh.publish(
        gh.read(PEOPLE, quasi=quasi, sensitive=sensitive, **options),
        principle=gh.LDiversity(ell=2),
        recoding=recoding,
    )


def asked(made: gh.Release, condition: str, **options: Any) -> Any:
    return gh.query(made, f"SELECT COUNT(*) WHERE {condition}", model="uniform", **options)


@pytest.mark.parametrize("recoding", KINDS, ids=repr)
@pytest.mark.parametrize(
    ("condition", "listed"),
    [
        ("severity > 'slight'", "severity IN ('moderate', 'grave')"),
        ("severity <= 'moderate'", "severity IN ('slight', 'moderate')"),
        ("severity BETWEEN 'moderate' AND 'grave'", "severity <> 'slight'"),
        ("severity NOT BETWEEN 'moderate' AND 'grave'", "severity = 'slight'"),
        ("NOT 'moderate' <= severity", "severity = 'slight'"),
    ],
)
def test_a_declared_order_of_sensitive_values_is_in_the_release(recoding: Any, condition: str, listed: str) -> None:
    made = release(recoding, ordered={"severity": SEVERITY})

    found = asked(made, condition)

    assert 0 < float(found) < N
    assert float(found) == float(asked(made, listed))
    assert found.notes == ()


@pytest.mark.parametrize("recoding", KINDS, ids=repr)
def test_a_declared_order_that_is_not_in_the_release_is_asked_for(recoding: Any) -> None:
    made = release(recoding, ordered=ORDERED)

    with pytest.raises(gh.InputError, match=r"the values of column 'education' have an order .* not in the release"):
        asked(made, "education >= 'school'")

    found = asked(made, "education >= 'school'", ordered=ORDERED)
    assert float(found) == float(asked(made, "education IN ('school', 'college')", ordered=ORDERED))


@pytest.mark.parametrize("recoding", [gh.Anatomy(), gh.Permutation()], ids=repr)
def test_rows_are_ordered_by_a_declared_order_or_not_at_all(recoding: Any) -> None:
    """Not by the alphabet: what `<` cannot compare, ORDER BY cannot order."""
    made = release(recoding, ordered=ORDERED)
    sql = "SELECT education, COUNT(*) GROUP BY education"

    for end in (" ORDER BY education", " ORDER BY COUNT(*), 1 DESC"):
        with pytest.raises(
            gh.InputError, match=r"the values of column 'education' have an order .* not in the release"
        ):
            gh.query(made, sql + end)

    assert len(gh.query(made, sql).keys) == 3
    assert len(gh.query(made, f"{sql} ORDER BY COUNT(*)").keys) == 3
    found = gh.query(made, f"{sql} ORDER BY education DESC", ordered=ORDERED)
    assert [key for (key,) in found.keys] == ["college", "school", "none"]


@pytest.mark.parametrize("recoding", KINDS, ids=repr)
def test_without_a_declared_order_the_answer_says_that_letters_are_compared(recoding: Any) -> None:
    made = release(recoding)

    found = asked(made, "education < 'none' AND severity >= 'moderate'")

    assert found.notes == (LETTERS.format("education"), LETTERS.format("severity"))
    assert float(found) == float(asked(made, "education = 'college' AND severity IN ('moderate', 'slight')"))


@pytest.mark.parametrize("recoding", KINDS, ids=repr)
@pytest.mark.parametrize("sensitive", ["severity", "grade"])
def test_texts_of_digits_are_not_compared_letter_by_letter(recoding: Any, sensitive: str) -> None:
    made = release(recoding, sensitive)

    with pytest.raises(gh.InputError, match=r"so that '30' comes before '9': .* grade IN \('9', '30'\)"):
        asked(made, "grade >= '10'")
    assert float(asked(made, "grade IN ('9', '30')")) == 32


def test_texts_of_digits_in_the_order_of_the_numbers_are_compared_without_a_note() -> None:
    people = {**PEOPLE, "grade": [["09", "10", "30"][i % 3] for i in range(N)]}
    made = gh.publish(
        gh.read(people, quasi=QUASI, sensitive="severity"), principle=gh.LDiversity(ell=2), recoding=gh.Anatomy()
    )

    found = asked(made, "grade >= '10'")

    assert (float(found), found.notes) == (32, ())


@pytest.mark.parametrize(
    ("condition", "n", "is_noted"),
    [
        ("code < '9999'", 48, True),
        ("code < '09999'", 32, False),
        ("code BETWEEN '1000' AND '4999'", 16, True),
        ("code BETWEEN '01000' AND '04999'", 32, False),
        ("code <= '1067'", 48, True),
        ("code >= '10000'", 16, False),
        ("code > 'x'", 0, True),
    ],
)
def test_digits_are_compared_with_a_number_of_another_length_letter_by_letter(
    condition: str, n: int, is_noted: bool
) -> None:
    people = {"code": [["01067", "04103", "10115"][i % 3] for i in range(N)], "ill": ["a", "b"] * (N // 2)}
    table = gh.read(people, quasi=["code"], sensitive="ill")
    made = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy())

    found = asked(made, condition)

    assert (float(found), found.notes) == (n, (LETTERS.format("code"),) if is_noted else ())


def test_a_value_that_is_not_in_the_order_is_refused() -> None:
    made = release(gh.Boxes(), ordered={"severity": SEVERITY})

    with pytest.raises(gh.DomainError, match=r"column 'severity' has no value 'graves': did you mean 'grave'\?"):
        asked(made, "severity < 'graves'")


def test_a_comparison_with_null_counts_nobody_and_says_so() -> None:
    found = asked(release(gh.Boxes()), "education < NULL")

    assert (float(found), found.notes) == (
        0,
        ("no value of 'education' fits the condition, so nobody is counted for it",),
    )


def test_rows_of_an_answer_are_arranged_in_the_declared_order() -> None:
    made = release(gh.Boxes(), ordered={"severity": SEVERITY})

    found = gh.query(made, "SELECT severity, COUNT(*) GROUP BY severity ORDER BY severity DESC")

    assert found.to_table().column("severity").to_pylist() == SEVERITY[::-1]


def test_the_command_line_takes_the_order(tmp_path: Path) -> None:
    release(gh.Anatomy(), ordered=ORDERED).save(tmp_path / "release")
    asked = ["query", str(tmp_path / "release"), "SELECT COUNT(*) WHERE education >= 'school'"]

    refused = CliRunner().invoke(command, asked)
    taken = CliRunner().invoke(command, [*asked, "--order", f"education={','.join(EDUCATION)}"])

    assert refused.exit_code == 2
    assert "with --order education=" in refused.output
    assert taken.exit_code == 0
    assert "32" in taken.output
