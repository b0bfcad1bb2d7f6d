"""A question about a value that does not exist is refused where the release shows which exist, and noted where not."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import glasshouse as gh
from glasshouse.cli.commands import glasshouse as command

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")

N = 24
PEOPLE: dict[str, Any] = {
    "state": [["Texas", "Utah", "Ohio"][i % 3] for i in range(N)],
    "age": [20 + i % 9 for i in range(N)],
    "height": [1.5 + i % 5 / 10 for i in range(N)],
    "born": [dt.date(1990, 1 + i % 12, 3) for i in range(N)],
    "member": [True] * N,
    "ill": [["flu", "gout", "cold"][i % 3] for i in range(N)],
}
QUASI = [name for name in PEOPLE if name != "ill"]
EXACT = [gh.Anatomy(), gh.Permutation()]
COARSE = [gh.Boxes(), gh.Angel()]


def release(recoding: Any, **options: Any) -> gh.Release:
    roles = {"quasi": QUASI, "sensitive": "ill", **options}
    return gh.publish(gh.read(PEOPLE, **roles), principle=gh.LDiversity(ell=2), recoding=recoding)


def asked(made: gh.Release, condition: str) -> Any:
    """By the uniform model, as it is asked for: other notes are on the values alone."""
    return gh.query(made, f"SELECT COUNT(*) WHERE {condition}", model="uniform")


@pytest.mark.parametrize("recoding", [*EXACT, *COARSE], ids=repr)
@pytest.mark.parametrize(
    "condition",
    [
        "ill = 'fluu'",
        "ill <> 'fluu'",
        "ill IN ('gout', 'fluu')",
        "ill NOT IN ('fluu')",
        "NOT ill = 'fluu'",
        "age > 3 AND ill = 'FLU'",
    ],
)
def test_a_sensitive_value_that_there_is_not_is_refused_with_the_near_one(recoding: Any, condition: str) -> None:
    with pytest.raises(
        gh.DomainError, match=r"column 'ill' has no value '(fluu|FLU)': did you mean 'flu'\?"
    ) as refused:
        asked(release(recoding), condition)
    assert refused.value.column == "ill"


@pytest.mark.parametrize("recoding", EXACT, ids=repr)
def test_an_exact_cell_that_there_is_not_is_refused(recoding: Any) -> None:
    made = release(recoding)

    with pytest.raises(gh.DomainError, match=r"column 'state' has no value 'texas': did you mean 'Texas'\?"):
        asked(made, "state = 'texas'")
    with pytest.raises(gh.DomainError, match=r"its values are 'Ohio', 'Texas', 'Utah'$"):
        asked(made, "state <> 'nowhere at all'")
    assert float(asked(made, "state IN ('Texas', 'Ohio')")) == 16


@pytest.mark.parametrize("recoding", COARSE, ids=repr)
def test_where_it_is_not_told_which_values_there_are_the_answer_says_that_no_cell_has_it(recoding: Any) -> None:
    made = release(recoding)
    found = asked(made, "state = 'Texass'")

    assert float(found) == 0
    assert found.notes == (
        "no published cell of 'state' contains 'Texass', so nobody is counted for it; did you mean 'Texas'?",
    )
    assert "note: no published cell of 'state' contains 'Texass'" in str(found)
    assert found.to_dict()["notes"] == list(found.notes)
    assert not asked(made, "state = 'Texas'").notes
    assert float(asked(made, "state <> 'Texass'")) == N
    assert asked(made, "state <> 'Texass'").notes
    assert "'a', 'b', 'c' and 1 more" in asked(made, "state IN ('a', 'b', 'c', 'd')").notes[0]


@pytest.mark.parametrize("recoding", [*EXACT, *COARSE], ids=repr)
def test_numbers_dates_and_truth_values_out_of_reach_are_noted_and_not_refused(recoding: Any) -> None:
    made = release(recoding)
    for condition in (
        "age = 200",
        "age > 200",
        "age BETWEEN 1 AND 3",
        "born < DATE '1900-01-01'",
        "height > 9",
        "member = FALSE",
        "NOT member",
    ):
        found = asked(made, condition)
        assert float(found) == 0
        assert len(found.notes) == 1, condition
        name = condition.split()[1] if condition.startswith("NOT") else condition.split()[0]
        assert found.notes[0].startswith(f"no published cell of {name!r} contains a value in "), found.notes
    for condition in ("age = 22", "age < 200", "born > DATE '1900-01-01'", "member", "height < 9"):
        assert not asked(made, condition).notes


def test_an_exact_value_of_what_is_measured_is_not_answered_0_without_a_word() -> None:
    one = gh.read(PEOPLE, quasi=["height"], sensitive="ill")
    made = gh.publish(one, principle=gh.KAnonymity(k=N), recoding=gh.Boxes())

    found = asked(made, "height = 1.7")
    assert float(found) == 0
    assert "cannot be counted: ask for a range of values, as in height >= 1 AND height < 2" in found.notes[0]


def test_a_declared_tree_or_order_says_which_values_there_are() -> None:
    tree = gh.Taxonomy.from_nested({"US": {"South": ["Texas", "Florida"], "West": ["Utah"], "North": ["Ohio"]}})
    made = gh.publish(
        gh.read(PEOPLE, quasi=["state"], sensitive="ill", taxonomies={"state": tree}),
        principle=gh.KAnonymity(k=8),
        recoding=gh.Taxonomies(),
        carry="declared",
    )
    for slip, meant in (("Texass", "Texas"), ("south", "South"), ("FLORIDA", "Florida")):
        with pytest.raises(gh.DomainError, match=rf"has no value {slip!r}: did you mean {meant!r}\?"):
            asked(made, f"state = '{slip}'")
    assert asked(made, "state = 'Florida'").notes  # it is declared, and in no cell
    assert float(asked(made, "state = 'South'")) == 8

    sizes = {"size": ["S", "M", "L", "M"] * 6, "ill": PEOPLE["ill"]}
    ordered = gh.publish(
        gh.read(sizes, quasi=["size"], sensitive="ill", ordered={"size": ["S", "M", "L", "XL"]}),
        principle=gh.KAnonymity(k=N),
        recoding=gh.Boxes(),
        carry="declared",
    )
    with pytest.raises(gh.DomainError, match=r"column 'size' has no value 'm': did you mean 'M'\?"):
        asked(ordered, "size = 'm'")
    assert asked(ordered, "size = 'XL'").notes


def test_a_perturbed_sample_refuses_only_what_is_not_in_its_declared_domain() -> None:
    table = gh.read(PEOPLE, quasi=["age"], sensitive="ill")
    choices = {"principle": gh.RhoBreach(rho1="0.4", rho2="0.7", k=3)}
    declared = gh.publish(table, recoding=gh.Perturbed(domain=["flu", "gout", "cold", "ulcer"]), **choices)
    undeclared = gh.publish(table, **choices)

    with pytest.raises(gh.DomainError, match=r"did you mean 'ulcer'\?"):
        asked(declared, "ill = 'ulcers'")
    asked(declared, "ill = 'ulcer'")
    assert asked(undeclared, "ill = 'ulcers'").notes


def test_a_workload_with_a_value_that_the_carried_tree_lacks_is_refused() -> None:
    tree = gh.Taxonomy.from_nested({"US": {"South": ["Texas"], "West": ["Utah"], "North": ["Ohio"]}})
    table = gh.read(PEOPLE, quasi=["state"], sensitive="ill", taxonomies={"state": tree})
    made = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Taxonomies(), carry="declared")
    workload = gh.Workload.anatomy(table, qd=1, n=3)
    wrong = gh.Workload(
        domains={**workload.domains, "state": ("Texass", *workload.domains["state"][1:])},
        wanted=workload.wanted,
        name="with a slip",
    )

    gh.answer(made, workload)
    with pytest.raises(gh.DomainError, match="column 'state' has no value 'Texass'"):
        gh.answer(made, wrong)


def test_the_error_shows_nothing_that_is_not_in_the_release() -> None:
    dropped = {"age": list(range(9)), "ill": ["flu"] * 5 + ["gout", "ulcer", "cold", "cold"]}
    table = gh.read(dropped, quasi=["age"], sensitive="ill")
    made = gh.publish(table, principle=gh.LDiversity(ell=2), method=gh.Hybrid(), suppress="0.4")
    shown = {
        value for shown in made.tables.values() if "ill" in shown.column_names for value in shown["ill"].to_pylist()
    }

    with pytest.raises(gh.DomainError) as refused:
        asked(made, "ill = 'measles'")
    told = str(refused.value).partition(": its values are ")[2].replace("'", "").split(", ")
    assert set(told) == shown


def test_the_command_line_says_it_too(tmp_path: Path) -> None:
    release(gh.Boxes()).save(tmp_path / "release")
    run = CliRunner()

    noted = run.invoke(command, ["query", str(tmp_path / "release"), "SELECT COUNT(*) WHERE state = 'Texass'"])
    assert noted.exit_code == 0
    assert "note: no published cell of 'state' contains 'Texass'" in noted.output
    refused = run.invoke(command, ["query", str(tmp_path / "release"), "SELECT COUNT(*) WHERE ill = 'fluu'"])
    assert refused.exit_code != 0
    assert "did you mean 'flu'?" in refused.output


@pytest.mark.parametrize("carry", ["cells", "declared"])
def test_a_node_of_a_rule_by_prefixes_stands_for_all_texts_below_it(carry: Any) -> None:
    codes = [f"{i % 4}{i * 7 % 10}{i % 3}" for i in range(120)]
    table = gh.read(
        {"code": codes, "ill": [f"v{i % 5}" for i in range(120)]},
        quasi=["code"],
        sensitive="ill",
        taxonomies={"code": gh.Taxonomy.prefix(length=3)},
    )
    release = gh.publish(table, principle=gh.LDiversity(2), recoding=gh.Taxonomies(), carry=carry)
    counts = [gh.query(release, f"SELECT COUNT(*) WHERE code {asked}").value for asked in (
        "= '1**'", "LIKE '1%'", "IN ('0**', '1**')", "<> '1**'", "= '***'",
    )]  # fmt: skip

    assert counts[0] == counts[1] == pytest.approx(30, abs=15)
    assert counts[3] == pytest.approx(120 - counts[0])
    assert counts[0] < counts[2] < counts[4] == 120
    nowhere = gh.query(release, "SELECT COUNT(*) WHERE code = '9**'")
    assert nowhere.value == 0
    assert "no published cell" in nowhere.notes[0]


CODES = ["01067", "01069", "04103", "20095"]


def of_prefixes(n: int = 400) -> tuple[list[str], gh.Release]:
    """Codes of which the publisher shows beginnings: all of them, or of some only ``*``."""
    codes = [CODES[(i * i + i // 7) % 4] for i in range(n)]
    columns = {"age": [i * 13 % 60 for i in range(n)], "zip": codes, "ill": [f"v{i % 5}" for i in range(n)]}
    trees = {"zip": gh.Taxonomy.prefix(length=5), "age": gh.Taxonomy.intervals(width=10)}
    table = gh.read(columns, quasi=["age", "zip"], sensitive="ill", taxonomies=trees)
    return codes, gh.publish(table, principle=gh.LDiversity(4), recoding=gh.Taxonomies(), source=gh.Source.seeded(1))


@pytest.mark.parametrize("model", ["learned", "uniform"])
@pytest.mark.parametrize("condition", ["zip = '20095'", "zip LIKE '01%'", "zip <> '01067'", "zip >= '04103'"])
def test_a_count_of_codes_behind_stars_may_be_anything_up_to_all_people_of_these_cells(
    model: str, condition: str
) -> None:
    codes, release = of_prefixes()
    cells = release.data.column("zip").to_pylist()
    assert any(cell.endswith("*") for cell in cells)
    fits = {
        "zip = '20095'": lambda code: code == "20095",
        "zip LIKE '01%'": lambda code: code.startswith("01"),
        "zip <> '01067'": lambda code: code != "01067",
        "zip >= '04103'": lambda code: code >= "04103",
    }[condition]

    found = gh.query(release, f"SELECT COUNT(*) WHERE {condition}", model=model)
    some = [[fits(code) for code in CODES if code.startswith(cell.rstrip("*"))] for cell in cells]
    low, high = found.interval
    assert low <= sum(map(all, some)) <= sum(map(fits, codes)) <= high <= len(codes)
    assert "which texts they stand for" in found.notes[0]
    assert gh.query(release, "SELECT COUNT(*) WHERE zip = '*****'", model=model).interval == (400, 400)


def test_counts_of_codes_behind_stars_count_nobody_twice_and_answer_row_by_row() -> None:
    codes, release = of_prefixes()
    either = gh.query(release, "SELECT COUNT(*) WHERE zip = '20095' OR age < 30").interval
    below = gh.query(release, "SELECT COUNT(*) WHERE age < 30", model="uniform").value
    assert either[0] <= below <= either[1] <= len(codes) + 1e-9
    rows = gh.query(release, "SELECT ill, COUNT(*) WHERE zip = '20095' GROUP BY ill").to_pandas()
    assert (rows["count low"] <= 20).all()
    assert (rows["count high"] >= 20).all()
    share = gh.query(release, "SELECT AVG(CASE WHEN zip = '20095' THEN 1 ELSE 0 END)").interval
    assert share[0] <= codes.count("20095") / len(codes) <= share[1]


def of_cells(cells: list[str]) -> gh.Release:
    """A release whose cells of codes are these, each for ten people."""
    codes = [f"{i % 5}{i % 2}{i % 7}" for i in range(10 * len(cells))]
    columns = {"code": codes, "age": [20 + i % 50 for i in range(len(codes))], "ill": ["a", "b"] * (len(codes) // 2)}
    trees = {"code": gh.Taxonomy.prefix(length=3), "age": gh.Taxonomy.intervals(width=10)}
    table = gh.read(columns, quasi=["code", "age"], sensitive="ill", taxonomies=trees)
    made = gh.publish(table, principle=gh.LDiversity(2), recoding=gh.Taxonomies())
    shown = pa.array([cell for cell in cells for _ in range(10)])
    return replace(made, tables={"data": made.data.set_column(made.data.column_names.index("code"), "code", shown)})


@pytest.mark.parametrize(
    ("cells", "example"),
    [
        (["20*", "2**", "1**"], "1**"),  # of people with 2** it is not known who has 20*
        (["20*", "21*", "***", "1**"], None),  # of people with *** nothing is known
    ],
)
def test_the_way_out_of_stars_does_not_lead_back(cells: list[str], example: str | None) -> None:
    release = of_cells(cells)
    condition = "code = '123' OR code = '203'"
    (said,) = [note for note in asked(release, condition).notes if "which texts they stand for" in note]
    assert "ordered={'code': [...]}" in said
    with pytest.raises(gh.InputError, match="which texts they stand for") as refused:
        gh.query(release, f"SELECT AVG(age) WHERE {condition}")
    for text in (said, str(refused.value)):
        assert (example is not None) == ("cells as they are published" in text)
    if example is not None:
        assert f"such as {example!r}" in said
        assert not asked(release, f"code = {example!r}").notes


@pytest.mark.parametrize(
    ("condition", "same"),
    [
        ("zip = '20095' AND zip = '04103'", "age < 0"),
        ("zip <> '20095' OR zip = '20095'", "age >= 0"),
        ("age < 30 AND NOT (zip = '20095' AND zip = '04103')", "age < 30"),
    ],
)
def test_a_condition_that_does_not_depend_on_codes_behind_stars_is_answered_as_without(
    condition: str, same: str
) -> None:
    _, release = of_prefixes()
    one, other = (gh.query(release, f"SELECT COUNT(*) WHERE {text}") for text in (condition, same))
    assert (one.interval, one.model) == (other.interval, other.model)
    assert not [note for note in one.notes if "which texts they stand for" in note]


def test_possible_counts_say_that_people_are_assumed_to_be_spread_evenly_where_another_column_is_asked_about() -> None:
    _, release = of_prefixes()

    def is_said(condition: str, **options: Any) -> bool:
        answer = gh.query(release, f"SELECT COUNT(*) WHERE {condition}", **options)
        return any("spread evenly within each cell" in note for note in answer.notes)

    assert is_said("zip = '20095' AND age < 33")
    assert is_said("zip = '20095' OR age < 33")
    assert not is_said("zip = '20095' AND age < 33", model="uniform")
    assert not is_said("zip = '20095'")
    assert not is_said("zip = '20095' AND ill = 'v0'")


@pytest.mark.parametrize("model", ["learned", "uniform"])
def test_a_count_of_codes_behind_stars_does_not_depend_on_the_order_of_or(model: str) -> None:
    """The least count of people with one of two things is at least that of each of them."""
    _, release = of_prefixes()
    for other in ("ill = 'v0'", "age < 30", "age < 30 AND ill IN ('v0', 'v1')"):
        for code in ("zip = '20095'", "zip = '20095' AND age >= 20"):
            one, two = (
                gh.query(release, f"SELECT COUNT(*) WHERE {asked}", model=model)
                for asked in (f"({code}) OR ({other})", f"({other}) OR ({code})")
            )
            alone = gh.query(release, f"SELECT COUNT(*) WHERE {other}", model="uniform")
            assert one.interval == pytest.approx(two.interval)
            assert one.value == pytest.approx(two.value)
            assert one.interval[0] >= alone.interval[0] - 1e-9
            assert one.interval[1] >= alone.interval[1] - 1e-9


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("recoding", [gh.Taxonomies(), gh.Angel(cells="taxonomies")], ids=repr)
def test_with_codes_behind_stars_in_two_columns_nobody_counts_twice(recoding: Any, weighted: bool) -> None:
    n = 300
    codes = [f"{(i * 7919 + i // 3) % 1000:03}" for i in range(n)]
    columns = {
        "home": codes,
        "work": codes[100:] + codes[:100],
        "age": [20 + i * 13 % 60 for i in range(n)],
        "weight": [[0.5, 1.0, 2.0][i % 3] for i in range(n)],
        "ill": [f"v{i * i % 7}" for i in range(n)],
        "drug": [f"d{i * 5 % 7}" for i in range(n)],
    }
    trees = {name: gh.Taxonomy.prefix(length=3) for name in ("home", "work")}
    roles: dict[str, Any] = {"quasi": ["home", "work", "age"], "sensitive": ["ill", "drug"], "weight": "weight"}
    table = gh.read(columns, **roles, taxonomies={**trees, "age": gh.Taxonomy.intervals(width=10)})
    release = gh.publish(table, principle=gh.LDiversity(2), recoding=recoding, source=gh.Source.seeded(1))
    either = f"(home = '{codes[0]}' OR work = '{codes[7]}')"
    for among in ("age < 33", "ill IN ('v1', 'v2')", "ill IN ('v1', 'v2') AND drug IN ('d1', 'd2')"):
        some, of_all = (
            gh.query(release, f"SELECT COUNT(*) WHERE {asked}", model="uniform", weighted=weighted)
            for asked in (f"{among} AND {either}", among)
        )
        assert some.interval[1] <= 1.02 * of_all.interval[1], "groups leave a little open"


def test_beside_a_sum_people_with_codes_behind_stars_can_be_counted() -> None:
    _, release = of_prefixes()
    counted = "COUNT(*) FILTER (WHERE zip = '20095')"
    row = gh.query(release, f"SELECT AVG(age) FILTER (WHERE ill = 'v0'), {counted}").estimates[0]
    assert row[0].value == gh.query(release, "SELECT AVG(age) WHERE ill = 'v0'").value
    assert (row[1].low, row[1].high) == gh.query(release, "SELECT COUNT(*) WHERE zip = '20095'").interval


@pytest.mark.parametrize("measure", ["AVG(age)", "SUM(age)", "MEDIAN(age)", "SUM(age) FILTER (WHERE zip = '01069')"])
def test_sums_of_people_with_codes_behind_stars_are_refused(measure: str) -> None:
    _, release = of_prefixes()
    where = "" if "FILTER" in measure else " WHERE zip = '20095'"
    with pytest.raises(gh.InputError, match="which texts they stand for"):
        gh.query(release, f"SELECT {measure}{where}")
    with pytest.raises(gh.InputError, match="GROUP BY zip is not possible"):
        gh.query(release, "SELECT zip, COUNT(*) GROUP BY zip")


def test_codes_that_are_given_are_counted_as_equally_likely() -> None:
    _, release = of_prefixes()
    found = gh.query(release, "SELECT COUNT(*) WHERE zip = '20095'", model="uniform", ordered={"zip": CODES})
    assert 0 < found.error < 20
    assert not found.notes


def of_masked_codes() -> gh.Release:
    codes = ["F10.1", "F10.2", "F11.0", "E11.5", "E12.0", "E"]
    columns = {"age": [20 + i % 9 for i in range(60)], "icd": [codes[i % 6] for i in range(60)]}
    table = gh.read(columns, quasi=["age"], sensitive="icd", bins={"icd": gh.Taxonomy.prefix(length=5)})
    return gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy())


@pytest.mark.parametrize(
    ("condition", "n"),
    [
        ("icd LIKE 'F10%'", 20),
        ("icd LIKE 'f1%'", 0),
        ("icd ILIKE 'f1%'", 30),
        ("icd NOT LIKE 'F%'", 30),
        ("icd >= 'F'", 30),
        ("icd < 'F10'", 30),
        ("icd = 'F10.*'", 20),
    ],
)
def test_masked_values_are_counted_where_all_that_they_may_stand_for_is_asked(condition: str, n: int) -> None:
    assert asked(of_masked_codes(), condition).only.value == n


@pytest.mark.parametrize("condition", ["icd LIKE 'F10.2%'", "icd NOT LIKE '%.2'", "icd >= 'F10.2'", "icd LIKE 'F10._'"])
def test_a_condition_that_divides_masked_values_is_refused(condition: str) -> None:
    with pytest.raises(gh.InputError, match=r"only some of the texts that '?(F1[01]\.\*|E)"):
        asked(of_masked_codes(), condition)


def test_a_value_that_is_a_star_alone_masks_nothing() -> None:
    codes = ["*", "F10", "F11", "E11", "G20"]
    columns = {"age": [20 + i % 9 for i in range(60)], "icd": [codes[i % 5] for i in range(60)]}
    table = gh.read(columns, quasi=["age"], sensitive="icd", accept=["missing-words"])
    made = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy())
    counts = {"LIKE 'F%'": 24, "NOT LIKE 'F%'": 36, "LIKE '*%'": 12, "= '*'": 12, ">= 'F'": 36}

    assert {asks: asked(made, f"icd {asks}").only.value for asks in counts} == counts


def test_a_median_of_whole_numbers_that_are_stored_as_decimals_is_one_of_them() -> None:
    columns = {
        "years": [None if i % 10 == 0 else float(i % 30) for i in range(300)],
        "ill": [["flu", "gout", "cold"][i % 3] for i in range(300)],
    }
    table = gh.read(columns, quasi=["years"], sensitive="ill", missing="category")
    exact = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Anatomy())
    years = sorted(own for own in columns["years"] if own is not None)
    found = gh.query(exact, "SELECT QUANTILE(years, 0.9), MEDIAN(years)").estimates[0]
    assert [one.value for one in found] == [years[int(0.9 * len(years)) - 1], (years[134] + years[135]) / 2]

    boxes = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=gh.Boxes())
    middle = gh.query(boxes, "SELECT QUANTILE(years, 0.5)", model="uniform").only
    assert middle.low <= years[134] <= middle.high


# --- the next step ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recoding", [*EXACT, *COARSE], ids=repr)
def test_who_asks_for_missing_values_by_a_word_is_told_how_to_ask(recoding: Any) -> None:
    people = {"state": PEOPLE["state"], "what-ill": [None if i % 3 == 0 else ["flu", "gout"][i % 2] for i in range(N)]}
    table = gh.read(people, quasi=["state"], sensitive="what-ill", missing="category")
    made = gh.publish(table, principle=gh.LDiversity(ell=2), recoding=recoding)
    told = '; to count missing values, write "what-ill" IS NULL'

    for word in ("missing", "NULL", ""):
        with pytest.raises(gh.DomainError, match=f"column 'what-ill' has no value '{word}'{told}$"):
            asked(made, f"\"what-ill\" = '{word}'")
    with pytest.raises(gh.DomainError, match="did you mean 'flu'"):
        asked(made, "\"what-ill\" = 'fluu'")
    assert asked(made, '"what-ill" = NULL').notes == (
        f"no value of 'what-ill' fits the condition, so nobody is counted for it{told}",
    )
    assert "IS NULL" not in asked(made, "state = NULL").notes[0]
    assert float(asked(made, '"what-ill" IS NULL')) == 8


@pytest.mark.parametrize("recoding", [*EXACT, *COARSE], ids=repr)
@pytest.mark.parametrize(
    ("condition", "nobody"),
    [
        ("age IN (22, 200)", "{200}"),
        ("age IN (22, 23, 200, 201, 300)", "[200, 201] or [300, 300]"),
        ("age IN (22, 22.5)", "{22.5}"),
        ("age NOT IN (22, 200)", "{200}"),
        ("born IN (DATE '1990-01-03', DATE '1890-01-03')", "{1890-01-03}"),
        ("age IN (22, 23)", ""),
        ("NOT age BETWEEN 22 AND 200", ""),
    ],
)
def test_a_number_in_a_list_that_nobody_can_have_is_noted(recoding: Any, condition: str, nobody: str) -> None:
    made = release(recoding)
    name = condition.removeprefix("NOT ").split()[0]
    what = "left out" if "NOT IN" in condition else "counted"
    notes = [f"no published cell of {name!r} contains a value in {nobody}, so nobody is {what} for it"]
    assert list(asked(made, condition).notes) == (notes if nobody else [])


def test_a_fraction_in_a_list_of_whole_numbers_changes_nothing_else() -> None:
    made = release(gh.Boxes())
    for condition in ("age {} IN (22, 24, 22.5)", "age {} IN (22, 24, 22.5) AND age < 23", "age {} IN (1e399, 22.5)"):
        for negated in ("", "NOT"):
            own = condition.format(negated)
            found, plain = asked(made, own), asked(made, own.replace(", 22.5", ""))
            assert (found.value, found.error) == (plain.value, plain.error)


def test_a_column_that_no_table_contains_is_named() -> None:
    made = release(gh.Angel(marginals=[["age", "height", "ill"]]))
    with pytest.raises(gh.InputError, match="no table of the release contains the column 'state': ask without it"):
        asked(made, "state = 'Texas'")


@pytest.mark.parametrize("question", [None, 5, b"SELECT COUNT(*)", ["SELECT COUNT(*)"]])
def test_a_question_that_is_no_text_is_refused_in_words(question: Any) -> None:
    with pytest.raises(gh.InputError, match="the question is not a text but a value of the type"):
        gh.query(release(gh.Boxes()), question)


@pytest.mark.parametrize("recoding", COARSE, ids=repr)
@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("age IN (22, 30.5)", "'age' contains a value in {30.5}, so nobody is counted for it"),
        ("age NOT IN (30.5, 22)", "'age' contains a value in {30.5}, so nobody is left out for it"),
        ("NOT age IN (30.5, 22)", "'age' contains a value in {30.5}, so nobody is left out for it"),
        ("state NOT IN ('Utah', 'Texass')", "'state' contains 'Texass', so nobody is left out for it; did you mean"),
        ("state IN ('Utah', 'Texass')", "'state' contains 'Texass', so nobody is counted for it; did you mean"),
        ("age > 300", "'age' contains a value in [301, inf), so nobody is counted for it"),
    ],
)
def test_where_all_others_are_asked_for_nobody_is_left_out_for_a_value_that_nobody_has(
    recoding: Any, condition: str, told: str
) -> None:
    (note,) = asked(release(recoding), condition).notes
    assert note.startswith(f"no published cell of {told}")
