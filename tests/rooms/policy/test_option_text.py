# SPDX-License-Identifier: Apache-2.0
"""Messages of the library, which name arguments of Python, name options on the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import glasshouse as gh
from glasshouse.journeys.plan import unused_taxonomies
from glasshouse.policy import policy_from
from glasshouse.policy.next_steps import first_lines, first_steps
from glasshouse.policy.option_text import chosen, text_of_choice, with_options

OFFERED = {
    "--accept": None,
    "--bin": None,
    "--keep-published": None,
    "--missing": ("error", "category", "drop"),
    "--model": ("learned", "uniform"),
    "--order": None,
    "--retention": None,
    "--taxonomy": None,
    "--unweighted": None,
}


@pytest.mark.parametrize(
    ("python", "options"),
    [
        ("use missing='category' or missing='drop'", "use --missing category or --missing drop"),
        ("accept=['look-alikes', 'line-breaks']", "--accept look-alikes,line-breaks"),
        ("give one (ordered={'shirt size': [...]})", "give one (--order 'shirt size=A,B,C')"),
        ("taxonomies={'zip': ...}", "--taxonomy zip=FILE"),
        ("bins={'pay': 'intervals:10'}, or not", "--bin pay=intervals:10, or not"),
        ("put them into ranges (bins=), or ordered=", "put them into ranges (--bin), or --order"),
        ("with keep_published=True", "with --keep-published"),
        ("ask with weighted=False", "ask with --unweighted"),
        ("give it (p=), or Perturbed(p=0.3)", "give it (--retention), or Perturbed(p=0.3)"),
    ],
)
def test_an_argument_becomes_the_option_that_says_the_same(python: str, options: str) -> None:
    assert with_options(python, OFFERED) == options


@pytest.mark.parametrize(
    "message",
    [
        "read it with normalise=['town']",  # the command has no such option
        "SELECT COUNT(*) WHERE model='T' AND missing='yes'",  # columns of a question, with other values
        "gh.read(file, missing='drop', ordered={'a': [1]})",  # an example of Python
        "column 'accept='",
        "taxonomies={broken}",
        "weighted=True",
    ],
)
def test_what_no_option_says_stays_as_it_is(message: str) -> None:
    assert with_options(message, OFFERED) == message


def test_what_to_give_for_cells_that_cannot_be_read_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "theirs.csv").write_text("age,ill\nyoung,flu\nyoung,gout\n30-39,flu\n30-39,gout\n")
    release = gh.foreign_release(tmp_path / "theirs.csv", quasi=["age"], sensitive="ill")
    numbers = replace(
        release, columns=tuple(replace(c, kind="integer") if c.name == "age" else c for c in release.columns)
    )
    with pytest.raises(gh.DomainError) as caught:
        gh.query(numbers, "SELECT COUNT(*) WHERE age > 35")

    assert "of the column (taxonomies=, ordered=), or leave" in str(caught.value)
    assert "of the column (--taxonomy, --order), or leave" in with_options(str(caught.value), OFFERED)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("HIV, flu", ["HIV", "flu"]),
        ("[0, 1000),[1000, 2000)", ["[0, 1000)", "[1000, 2000)"]),
        ("(0,5] , (5,9]", ["(0,5]", "(5,9]"]),
        ("{F, M},X", ["{F, M}", "X"]),
        ('"a, b",c', ["a, b", "c"]),
        ('"say ""no""",ok', ['say "no"', "ok"]),
        ("[a,b", ["[a", "b"]),
        ('5",6"', ['5"', '6"']),
    ],
)
def test_a_comma_in_a_range_or_in_quotes_does_not_cut(text: str, values: list[str]) -> None:
    choices = chosen({"domain": text, "designated": (text,), "order": (f"size={text}",)})

    assert choices == {"domain": values, "designated": values, "order": {"size": values}}
    assert chosen({"designated": (f"a={text}", "b=X")}) == {"designated": {"a": values, "b": ["X"]}}


@pytest.mark.parametrize("values", [["a, b", "c"], ["[0, 10)", "[10, 20)"], ['"x"'], ['say "no", ok', " y"]])
def test_values_are_written_so_that_they_are_read_again(values: list[str]) -> None:
    for name in ("domain", "designated"):
        assert chosen({name: text_of_choice(name, values)}) == {name: values}
    assert chosen({"order": text_of_choice("order", {"size": values})}) == {"order": {"size": values}}


@pytest.mark.parametrize("column", ["Dept ", "Dept, unit", 'so "called"', '"x"', "a=b", '"a"=b', " , "])
def test_a_name_in_double_quotes_may_have_commas_blanks_and_equals_signs(column: str) -> None:
    for name, value in (
        ("quasi", ["age", column]),
        ("together", [[column, "age"]]),
        ("bins", {column: "intervals:5"}),
        ("order", {column: ["a", "b, c"]}),
        ("designated", {column: ["x"], "age": ["y"]}),
        ("ell", {column: "3", "age": "2"}),
    ):
        assert chosen({name: text_of_choice(name, value)}) == {name: value}
    assert chosen({"taxonomy": ('"Dept, unit"=prefix:3',)}) == {"taxonomy": {"Dept, unit": "prefix:3"}}
    assert with_options("normalise=['Dept ']", {"--normalise": None}) == "--normalise '\"Dept \"'"


def test_inspect_offers_a_command_whatever_columns_are_called_or_says_why_not(tmp_path: Path) -> None:
    def steps(column: str) -> list[dict[str, str]]:
        table = {column: [*range(20)], "disease": [*"abcdefghij"] * 2}
        return first_steps(gh.inspect(table), file="t.csv")

    assert "--quasi '\"Age, years \"'" in steps("Age, years ")[0]["command"]
    (step,) = steps("Age\nyears")
    assert step["command"] == "glasshouse publish policy.toml"
    assert "glasshouse init" in step["first"]
    assert "invisible character" in " ".join(first_lines([step]))


def test_a_first_policy_quotes_the_column_in_the_option_that_it_names() -> None:
    table = {"age": [*range(20)], "Disability status": ["none"] * 18 + ["hearing", "vision"]}
    text = " ".join(policy_from(gh.inspect(table)).replace("\n#  ", "").split())
    assert "glasshouse inspect with --sensitive 'Disability status' shows" in text


def test_a_taxonomy_that_is_not_used_is_told_with_the_options_that_use_it() -> None:
    table = gh.read(
        {"zip": [2139, 2141] * 2, "ill": ["a", "b"] * 2}, quasi=["zip"], sensitive="ill", taxonomies={"zip": "prefix:5"}
    )
    (notice,) = unused_taxonomies(table, gh.publish(table, principle="2-diversity").recipe)
    offered = {"--recoding": ("angel", "taxonomies"), "--recoding-with": None}
    told = with_options(notice, offered)
    assert told.endswith("use --recoding taxonomies, or --recoding angel --recoding-with cells=taxonomies")
