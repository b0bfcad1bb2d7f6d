# SPDX-License-Identifier: Apache-2.0
"""The papers' tables are as printed, and each fits the tables that it was made from."""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain, zip_longest

import pyarrow as pa
import pytest

from glasshouse.microdata import Microdata, examples
from tests.conftest import ROOT

PAPERS = ROOT.parent / "shared" / "papers"
TEXT_OF = {
    "transparent": "000_transparent_anonymization.txt",
    "voters": "000_transparent_anonymization.txt",
    "corruption": "001_anti_corruption.txt",
    "anatomy": "002_anatomy.txt",
    "angel": "004_angel.txt",
}
MICRODATA = {
    "anatomy_table1", "angel_table1", "angel_table2", "angel_table8", "corruption_figure1", "corruption_table1",
    "corruption_table2a", "minimality_figure6a", "minimality_figure6b", "transparent_t1", "transparent_t3",
    "transparent_t5", "transparent_t8", "transparent_t9", "transparent_t9_masked", "transparent_table7",
}  # fmt: skip
# Printed side by side, with merged cells, or (all of MINIMALITY) damaged in the stored text.
NOT_LINE_BY_LINE = {
    "angel_table3a", "corruption_figure1", "corruption_table2a", "corruption_table2b", "corruption_table2c",
    "minimality_figure6a", "minimality_figure6a_published", "minimality_figure6b", "minimality_figure6b_published",
}  # fmt: skip


def rows(example: Microdata | pa.Table) -> list[tuple]:
    """The rows of an example, identifier first and sensitive value last."""
    if isinstance(example, pa.Table):
        columns = [column.to_pylist() for column in example.columns]
    else:
        columns = [c.domain.decode(c.codes).to_pylist() for c in (*example.quasi, *example.sensitive)]
        columns = columns if example.identifier is None else [example.identifier.to_pylist(), *columns]
    return list(zip(*columns, strict=True))


def by_name(example: Microdata | pa.Table) -> dict:
    return {row[0]: row[1:] for row in rows(example)}


@pytest.mark.parametrize("name", examples.__all__)
def test_an_example_is_microdata_or_a_plain_table_and_its_docstring_names_paper_and_table(name):
    function = getattr(examples, name)

    assert isinstance(function(), Microdata if name in MICRODATA else pa.Table)
    assert re.match(
        r"(TRANSPARENT|CORRUPTION|ANATOMY|MINIMALITY|ANGEL) (appendix )?(Table|Figure) \w", function.__doc__
    )
    assert function() is not function()


def test_every_example_is_exported():
    functions = {
        n for n, f in vars(examples).items() if callable(f) and getattr(f, "__module__", "") == examples.__name__
    }

    assert set(examples.__all__) == {n for n in functions if not n.startswith("_")}


@pytest.mark.parametrize("name", sorted(set(examples.__all__) - NOT_LINE_BY_LINE))
def test_an_example_stands_in_the_paper_line_by_line(name):
    paper = PAPERS / TEXT_OF[name.split("_")[0]]
    if not paper.is_file():
        pytest.skip("the papers (../shared/papers) are not here")
    text = re.sub(r"</?\w+>|[*](?=\w)|(?<=\w)[*](?=\t)| \(\w+\)(?=\t)", "", paper.read_text(encoding="utf-8"))
    if name in ("angel_table2", "angel_table8"):
        text = re.sub(r"\b(\d\d)k\t", r"\g<1>000\t", text)

    assert "\n".join("\t".join(map(str, row)) for row in rows(getattr(examples, name)())) + "\n" in text


def test_table_2_of_corruption_stands_in_the_paper_with_its_parts_side_by_side():
    paper = PAPERS / TEXT_OF["corruption"]
    if not paper.is_file():
        pytest.skip("the papers (../shared/papers) are not here")
    parts = [rows(getattr(examples, f"corruption_table2{part}")()) for part in "abc"]
    lines = ["\t".join(map(str, chain.from_iterable(line))) for line in zip_longest(*parts, fillvalue=("",) * 5)]

    assert [line.rstrip("\t") for line in lines] == [
        line.rstrip()
        for line in paper.read_text(encoding="utf-8").splitlines()
        if line.count("\t") >= 8 and "Owner" not in line
    ]


# --- each published table is what its microdata and its groups make ---------------------------------------------------


def box(values: list, *, comma: str) -> str:
    """A cell as the papers print it: the value itself, an interval, thousands as k, ``*`` for both sexes."""
    low, high = min(values), max(values)
    if low == high:
        return str(low)
    if isinstance(low, str):
        return "*"
    low, high = (f"{v // 1000}k" if v >= 1000 else str(v) for v in (low, high))
    return f"[{low}{comma}{high}]"


def boxes(microdata: Microdata, groups: list[list[str]], *, comma: str = ", ") -> list[tuple[str, ...]]:
    """Minimum bounding boxes of the groups, each person's sensitive value behind the box."""
    people = by_name(microdata)
    published = []
    for group in groups:
        *quasi, sensitive = zip(*(people[name] for name in group), strict=True)
        cells = [box(list(values), comma=comma) for values in quasi]
        published += [(*cells, value) for value in sensitive]
    return published


def people(names: str) -> list[list[str]]:
    return [group.split() for group in names.split(",")]


@pytest.mark.parametrize(
    ("release", "microdata", "groups"),
    [
        ("transparent_t2", "transparent_t1", "Ann Bob, Cate Don, Ed Fred Gill Hera"),
        ("transparent_t4", "transparent_t3", "Ann Bob, Cate Don Ed Fred Gill Hera"),
        ("transparent_t4", "transparent_t1", "Ann Bob, Cate Don Ed Fred Gill Hera"),
        ("transparent_t6", "transparent_t5", "Ann Bob Cate Don, Ed Fred, Gill Hera"),
        ("transparent_t6", "transparent_t3", "Ann Bob Cate Don, Ed Fred, Gill Hera"),
        ("transparent_t7", "transparent_t5", "Ann Bob, Gill Ed, Don Fred, Hera Cate"),
        ("transparent_t7", "transparent_t8", "Ann Bob, Gill Ed, Don Fred, Hera Cate"),
        ("transparent_t10", "transparent_t9_masked", "Ann Bob, Cate Don, Ed Fred Gill"),
    ],
)
def test_a_release_of_transparent_holds_the_bounding_boxes_of_its_groups(release, microdata, groups):
    expected = boxes(getattr(examples, microdata)(), people(groups))

    assert Counter(expected) == Counter(tuple(map(str, row)) for row in rows(getattr(examples, release)()))


@pytest.mark.parametrize(
    ("release", "microdata", "groups"),
    [
        ("angel_table1b", "angel_table1", "Alan Bob Carrie Daisy, Eddy Frank Gloria Helena"),
        ("angel_table2b", "angel_table2", "Alan Bob, Carrie Daisy, Eddy Frank"),
        ("angel_table2b", "angel_table8", "Alan Bob, Carrie Daisy, Eddy Frank"),
    ],
)
def test_a_release_of_angel_holds_the_bounding_boxes_of_its_groups(release, microdata, groups):
    expected = boxes(getattr(examples, microdata)(), people(groups), comma=",")

    assert Counter(expected) == Counter(rows(getattr(examples, release)()))


@pytest.mark.parametrize("microdata", ["angel_table2", "angel_table8"])
def test_the_marginal_of_angel_holds_the_bounding_boxes_of_its_groups(microdata):
    whole = boxes(getattr(examples, microdata)(), people("Alan Carrie, Bob Daisy, Eddy Frank"), comma=",")

    assert Counter(row[2:] for row in whole) == Counter(rows(examples.angel_table2c()))


def test_tables_2b_and_2c_of_angel_together_leave_alan_one_disease():
    in_2b = {row[-1] for row in rows(examples.angel_table2b()) if row[0] == "[21,23]"}
    in_2c = {row[-1] for row in rows(examples.angel_table2c()) if row[0] == "[10k,12k]"}

    assert in_2b & in_2c == {"pneumonia"}


@pytest.mark.parametrize(
    ("batch_table", "generalized_table", "microdata", "batches", "buckets", "kept"),
    [
        ("angel_table3a", "angel_table3b", "angel_table1", "Alan Carrie, Bob Daisy, Eddy Gloria, Frank Helena",
         "Alan Bob, Carrie Daisy, Eddy Frank, Gloria Helena", slice(0, 2)),
        ("angel_table4a", "angel_table4b", "angel_table1", "Alan Bob Carrie Daisy, Eddy Frank Gloria Helena",
         "Alan Bob Carrie Daisy, Eddy Frank Gloria Helena", slice(0, 2)),
        ("angel_table7a", "angel_table7b", "angel_table2", "Alan Bob, Carrie Daisy, Eddy Frank",
         "Alan Bob, Carrie Daisy, Eddy Frank", slice(0, 3)),
        ("angel_table7a", "angel_table7c", "angel_table2", "Alan Bob, Carrie Daisy, Eddy Frank",
         "Alan Carrie, Bob Daisy, Eddy Frank", slice(2, 3)),
    ],
)  # fmt: skip
def test_an_angelization_counts_its_batches_and_boxes_its_buckets(
    batch_table, generalized_table, microdata, batches, buckets, kept
):
    table = getattr(examples, microdata)()
    disease = {name: row[-1] for name, row in by_name(table).items()}
    batch_of = {name: i for i, batch in enumerate(people(batches), start=1) for name in batch}
    counted = Counter((batch_of[name], disease[name]) for name in disease)
    boxed = boxes(table, people(buckets), comma=",")
    names = [name for bucket in people(buckets) for name in bucket]
    generalized = [(*row[kept], batch_of[name]) for row, name in zip(boxed, names, strict=True)]

    assert {(i, d): count for i, d, count in rows(getattr(examples, batch_table)())} == counted
    assert Counter(generalized) == Counter(rows(getattr(examples, generalized_table)()))


@pytest.mark.parametrize(
    ("table", "groups"),
    [
        ("angel_table5a", "Alan Carrie, Bob Daisy, Eddy Gloria, Frank Helena"),
        ("angel_table5b", "Alan Bob, Carrie Daisy, Eddy Frank, Gloria Helena"),
    ],
)
def test_the_two_partitions_behind_an_angelization_are_boxes_with_names(table, groups):
    names = [name for group in people(groups) for name in group]
    expected = boxes(examples.angel_table1(), people(groups), comma=",")

    assert [(name, *row) for name, row in zip(names, expected, strict=True)] == rows(getattr(examples, table)())


@pytest.mark.parametrize(
    ("quasi_table", "sensitive_table", "microdata", "first"),
    [
        ("transparent_table6a", "transparent_table6b", "transparent_t1", 0),
        ("anatomy_table3a", "anatomy_table3b", "anatomy_table1", 1),
        ("angel_table6a", "angel_table6b", "angel_table1", 0),
    ],
)
def test_an_anatomy_lists_exact_values_and_counts_sensitive_ones(quasi_table, sensitive_table, microdata, first):
    tuples = list(by_name(getattr(examples, microdata)()).values())
    published = [row[first:] for row in rows(getattr(examples, quasi_table)())]
    counted = Counter((row[-1], t[-1]) for row, t in zip(published, tuples, strict=True))
    sensitive = Counter()
    for group, value, *count in rows(getattr(examples, sensitive_table)()):
        sensitive[group, value] += count[0] if count else 1

    assert [row[:-1] for row in published] == [t[:-1] for t in tuples]
    assert sensitive == counted


def test_table_4_of_anatomy_is_the_join_of_tables_3a_and_3b_for_group_1():
    join = [
        (*row[1:], disease, count)
        for row in rows(examples.anatomy_table3a())
        for group, disease, count in rows(examples.anatomy_table3b())
        if row[-1] == group == 1
    ]

    assert rows(examples.anatomy_table4()) == join


def covers(cell: str, value: object) -> bool:
    """Whether a printed cell covers a value; 11*** begins at 11000 and 30*** ends at 30999."""
    bounds = re.fullmatch(r"\[(\S+), (\S+)\]", cell)
    if bounds is None:
        return cell == str(value)
    return int(bounds[1].replace("*", "0")) <= value <= int(bounds[2].replace("*", "9"))


@pytest.mark.parametrize(
    ("release", "microdata"),
    [
        ("corruption_table1c", "corruption_table1"),
        ("corruption_table2b", "corruption_table2a"),
        ("anatomy_table2", "anatomy_table1"),
    ],
)
def test_a_release_with_wider_boxes_covers_each_tuple_and_keeps_its_sensitive_value(release, microdata):
    published = rows(getattr(examples, release)())
    published = [row[1:] for row in published] if release == "anatomy_table2" else published

    for row, person in zip(published, by_name(getattr(examples, microdata)()).values(), strict=True):
        assert all(covers(cell, value) for cell, value in zip(row[:-1], person[:-1], strict=True))
        assert row[-1] == person[-1]


def test_perturbation_in_corruption_kept_only_calvin_and_gloria():
    before, after = by_name(examples.corruption_table1()), by_name(examples.corruption_table2a())

    assert [name for name in before if before[name] == after[name]] == ["Calvin", "Gloria"]
    assert all(before[name][:-1] == after[name][:-1] for name in before)
    assert {row[-1] for row in after.values()} <= {row[-1] for row in before.values()}


def test_the_sample_of_corruption_has_one_tuple_a_group_and_the_groups_size():
    groups = {}
    for row in rows(examples.corruption_table2b()):
        groups.setdefault(row[:-1], []).append(row[-1])

    sample = rows(examples.corruption_table2c())

    assert len(sample) == len(groups)
    assert all(row[3] in groups[row[:3]] and row[4] == len(groups[row[:3]]) for row in sample)


def test_the_group_of_figure_1_of_corruption_is_half_three_diverse():
    counts = sorted(Counter(row[-1] for row in rows(examples.corruption_figure1())).values(), reverse=True)

    assert counts == [3, 2, 2, 2, 1, 1]
    assert 2 * counts[0] <= sum(counts[2:])


@pytest.mark.parametrize(
    ("voters", "microdata", "absent"),
    [("voters_e1", "transparent_t1", {"Bruce"}), ("corruption_table1b", "corruption_table1", {"Emily"})],
)
def test_a_voter_list_knows_everyone_in_the_microdata_and_someone_more(voters, microdata, absent):
    listed, inside = by_name(getattr(examples, voters)()), by_name(getattr(examples, microdata)())

    assert set(listed) - set(inside) == absent
    assert all(listed[name] == inside[name][:-1] for name in inside)


def test_the_voter_list_of_anatomy_has_the_women_of_the_microdata_and_emily():
    women = [row[:-1] for row in by_name(examples.anatomy_table1()).values() if row[1] == "F"]

    assert [row[1:] for row in rows(examples.anatomy_table5()) if row[0] != "Emily"] == women


@pytest.mark.parametrize(
    "name", ["transparent_t1", "transparent_t3", "transparent_t5", "transparent_t8", "transparent_table7"]
)
def test_every_world_of_transparent_agrees_with_the_voter_list(name):
    voters = by_name(examples.voters_e1())

    assert all(voters[person] == row[:-1] for person, row in by_name(getattr(examples, name)()).items())


@pytest.mark.parametrize("figure", ["minimality_figure6a", "minimality_figure6b"])
def test_the_truth_behind_figure_6_is_the_published_group_with_a_and_b_positive(figure):
    truth, published = rows(getattr(examples, figure)()), rows(getattr(examples, f"{figure}_published")())

    assert [qi for qi, _ in truth] == [qi for qi, _ in published]
    assert Counter(sa for _, sa in truth) == Counter(sa for _, sa in published)
    assert {qi for qi, sa in truth if sa == "Positive"} == {"a", "b"}
