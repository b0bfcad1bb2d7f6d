# SPDX-License-Identifier: Apache-2.0
"""Laws of taxonomies: what they refuse, how nodes are named, what binding answers, what the builders make."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import sys
import time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import DisclosureWarning, DomainError, MissingExtra, ParameterError, SourceError
from glasshouse.microdata.taxonomy.taxonomy import BoundTaxonomy, Taxonomy

DISEASES = {"any": {"lungs": ["flu", "asthma"], "stomach": {"acid": ["ulcer", "gastritis"]}, "skin": ["eczema"]}}


def rows(tmp_path: Path, *lines: str) -> Taxonomy:
    path = tmp_path / "hierarchy.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return Taxonomy.from_csv(path)


def shown(bound: BoundTaxonomy, low: int, high: int) -> str:
    return bound.labels[int(bound.lca(low, high))]


def leaf_labels(bound: BoundTaxonomy) -> list[str]:
    return [bound.labels[node] for node in bound.leaves]


# --- bound trees against a plain walk ------------------------------------------------------------------------------


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """A parent for each node but the root, and some of the leaves, in any order."""
    parents = [-1] + [draw(st.integers(0, node)) for node in range(draw(st.integers(0, 24)))]
    leaves = [node for node in range(len(parents)) if node not in parents]
    chosen = draw(st.lists(st.sampled_from(leaves), min_size=1, unique=True))
    return parents, chosen


def nested(parents: list[int], node: int = 0) -> dict[str, object]:
    return {f"n{node}": [nested(parents, child) for child, above in enumerate(parents) if above == node]}


def way_up(parents: list[int], node: int) -> list[int]:
    return [node, *way_up(parents, parents[node])] if node >= 0 else []


@given(trees())
def test_every_answer_about_a_bound_tree_equals_a_plain_walk(tree: tuple[list[int], list[int]]) -> None:
    parents, chosen = tree
    bound = Taxonomy.from_nested(nested(parents)).bind("x", pa.array([f"n{node}" for node in chosen]))
    place = {label: node for node, label in enumerate(bound.labels)}
    leaves = [chosen[index] for index in bound.order]
    used = {above for node in chosen for above in way_up(parents, node)}

    assert sorted(place) == sorted(f"n{node}" for node in used)
    assert [f"n{node}" for node in leaves] == leaf_labels(bound)
    assert bound.parents[bound.root] == -1
    for low in range(len(leaves)):
        for high in range(len(leaves)):
            met = [node for node in way_up(parents, leaves[low]) if node in way_up(parents, leaves[high])]
            assert shown(bound, low, high) == f"n{met[0]}"
            if low < high:
                assert bound.separation[low:high].min() == len(met) - 1
    for node in used:
        here = place[f"n{node}"]
        below = [leaf for leaf in range(len(parents)) if leaf not in parents and node in way_up(parents, leaf)]
        ranks = [rank for rank, leaf in enumerate(leaves) if node in way_up(parents, leaf)]
        assert bound.depth[here] == len(way_up(parents, node)) - 1
        assert bound.height(here) == max(way_up(parents, leaf).index(node) for leaf in below)
        assert bound.n_leaves(here) == len(below)
        assert bound.ranges[here].tolist() == [ranks[0], ranks[-1]]
        assert ranks == list(range(ranks[0], ranks[-1] + 1))
        if node:
            assert bound.labels[bound.parents[here]] == f"n{parents[node]}"


@given(trees())
def test_a_listed_taxonomy_survives_plain_data_and_its_own_code(tree: tuple[list[int], list[int]]) -> None:
    taxonomy = Taxonomy.from_nested(nested(tree[0]))

    assert Taxonomy.from_data(json.loads(json.dumps(taxonomy.to_data()))) == taxonomy
    assert pickle.loads(pickle.dumps(taxonomy)) == taxonomy
    if repr(taxonomy).startswith("Taxonomy"):
        assert eval(repr(taxonomy)) == taxonomy
        assert hash(eval(repr(taxonomy))) == hash(taxonomy)


def test_a_long_tree_prints_as_a_summary() -> None:
    taxonomy = Taxonomy.from_nested({"any": [f"value number {i}" for i in range(50)]})

    assert repr(taxonomy) == "<Taxonomy of 50 leaves, height 1, root 'any'>"


def test_one_value_is_bound_to_one_leaf() -> None:
    bound = Taxonomy.from_nested(DISEASES).bind("x", pa.array(["flu"]))

    assert (bound.labels, shown(bound, 0, 0), bound.separation.tolist()) == (("any", "lungs", "flu"), "flu", [])


def test_leaf_codes_that_do_not_exist_are_refused() -> None:
    bound = Taxonomy.from_nested(DISEASES).bind("x", pa.array(["flu", "ulcer"]))

    for low, high in [(0, 2), (-1, 0)]:
        with pytest.raises(IndexError, match=r"0 \.\. 1"):
            bound.lca([low], [high])


def test_nobody_can_write_to_a_bound_taxonomy() -> None:
    bound = Taxonomy.from_nested(DISEASES).bind("x", pa.array(["flu", "ulcer"]))

    for array in (bound.order, bound.parents, bound.depth, bound.ranges, bound.leaves, bound.separation, bound.heights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_million_ranges_over_a_hundred_thousand_zip_codes_are_answered_fast() -> None:
    random = np.random.default_rng(7)
    codes = pa.array([f"{code:05d}" for code in random.permutation(100_000)])
    low, high = random.integers(0, 100_000, (2, 1_000_000))

    begin = time.process_time()
    bound = Taxonomy.prefix(length=5).bind("zip", codes)
    made = time.process_time()
    nodes = bound.lca(low, high)
    end = time.process_time()

    assert made - begin < 2
    assert end - made < 0.8
    assert bound.labels[nodes[0]].rstrip("*") == _common(f"{low[0]:05d}", f"{high[0]:05d}")


def _common(one: str, other: str) -> str:
    return one[: next((i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), 5)]


# --- heights, for the hierarchical distance --------------------------------------------------------------------------


def test_height_is_the_longest_way_down_in_the_whole_taxonomy_whatever_values_came() -> None:
    taxonomy = Taxonomy.from_nested(DISEASES)

    for values in (["flu", "eczema"], ["flu", "asthma", "ulcer", "gastritis", "eczema"]):
        bound = taxonomy.bind("disease", pa.array(values))
        height = {label: int(bound.height(node)) for node, label in enumerate(bound.labels)}
        assert (height["any"], height["lungs"], height["flu"]) == (3, 1, 0)
        assert bound.n_leaves(bound.root) == 5


# --- how nodes are named ---------------------------------------------------------------------------------------------


def test_a_parent_and_a_child_with_one_label_are_one_node(tmp_path: Path) -> None:
    taxonomy = rows(tmp_path, "a;A;X;*", "b;X;X;*", "c;c;c;*", "d;*;*;*")

    assert taxonomy == Taxonomy.from_nested({"*": [{"X": [{"A": ["a"]}, "b"]}, "c", "d"]})


def test_children_that_move_up_keep_their_place_among_their_siblings(tmp_path: Path) -> None:
    taxonomy = rows(tmp_path, "a;A;X;*", "b;X;X;*", "c;C;X;*")

    assert leaf_labels(taxonomy.bind("x", pa.array(["c", "b", "a"]))) == ["a", "b", "c"]


def test_a_leaf_and_the_group_that_holds_it_with_others_are_told_apart(tmp_path: Path) -> None:
    bound = rows(tmp_path, "Other;Other;*", "Misc;Other;*", "Sales;Trade;*").bind("x", pa.array(["Misc", "Other"]))

    assert bound.labels == ("*", "Other (*)", "Other", "Misc")
    assert shown(bound, 0, 1) == "Other (*)"


def test_branches_that_share_a_label_are_published_with_their_parents() -> None:
    taxonomy = Taxonomy.from_nested({"any": {"lungs": {"other": ["a", "b"]}, "stomach": {"other": ["c", "d"]}}})

    assert taxonomy.bind("x", pa.array(list("abcd"))).labels[3:5] == ("other (lungs)", "other (stomach)")


def test_a_name_in_brackets_climbs_until_it_is_nobody_elses() -> None:
    deep = {"p": {"s": {"x": ["a", "b"]}}, "q": {"s": {"x": ["c", "d"]}}, "r": ["s (p)", "e"]}
    labels = Taxonomy.from_nested(deep).bind("x", pa.array(["a", "b", "c", "d", "e"])).labels

    assert [label for label in labels if label[0] in "sx"] == ["s (p, *)", "s (q)", "x (s, p)", "x (s, q)"]


def test_the_name_of_a_node_does_not_depend_on_the_values_that_came() -> None:
    taxonomy = Taxonomy.from_nested({"any": {"lungs": {"other": ["a", "b"]}, "stomach": {"other": ["c", "d"]}}})

    assert shown(taxonomy.bind("x", pa.array(["a", "b"])), 0, 1) == "other (lungs)"


def test_leaves_that_the_column_does_not_have_are_nowhere_in_what_is_bound() -> None:
    bound = Taxonomy.from_nested(DISEASES).bind("disease", pa.array(["flu", "ulcer"]))

    assert set(bound.labels) == {"any", "lungs", "stomach", "acid", "flu", "ulcer"}


def test_several_labels_on_top_get_a_root() -> None:
    assert Taxonomy.from_nested({"a": ["x"], "b": ["y"]}) == Taxonomy.from_nested({"*": {"a": ["x"], "b": ["y"]}})
    assert Taxonomy.from_nested(["x", "y"]) == Taxonomy.from_nested({"*": ["x", "y"]})


# --- what meets what -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("leaves", "values"),
    [
        (["37", "38"], pa.array([37, 38], pa.int8())),
        (["37", "38"], pa.array([37.0, 38.0])),
        (["37.0", "38.50"], pa.array([37.0, 38.5])),
        (["0.1", "0.7"], pa.array([0.1, 0.7], pa.float32())),
        (["37.5", "38"], pa.array([Decimal("37.50"), Decimal("38.00")])),
        (["False", "TRUE"], pa.array([False, True])),
        (["2020-01-31", "2020-02-01"], pa.array([dt.date(2020, 1, 31), dt.date(2020, 2, 1)])),
        (["2020-01-31", "2020-02-01 10:30"], pa.array([dt.datetime(2020, 1, 31), dt.datetime(2020, 2, 1, 10, 30)])),
        (["a", "b"], pa.array(["a", "b"]).dictionary_encode()),
        (["a", "b"], pa.array(["a", "b"], pa.large_string())),
    ],
)
def test_leaves_meet_values_by_what_they_mean_in_the_columns_type(leaves: list[str], values: pa.Array) -> None:
    bound = Taxonomy.from_nested({"any": [*leaves, "unknown"]}).bind("x", values)

    assert bound.order.tolist() == [0, 1]
    assert leaf_labels(bound) == leaves


def test_text_is_not_read_as_numbers() -> None:
    with pytest.raises(DomainError, match="lacks 1 of 2 values; add them: '02139'"):
        Taxonomy.from_nested({"any": ["2139", "1"]}).bind("zip", pa.array(["02139", "1"]))


def test_numbers_come_in_their_own_order_as_far_as_the_tree_allows(tmp_path: Path) -> None:
    taxonomy = rows(tmp_path, "10;10-19;*", "9;0-9;*", "19;10-19;*", "2;0-9;*")

    assert leaf_labels(taxonomy.bind("age", pa.array([19, 2, 10, 9]))) == ["2", "9", "10", "19"]
    assert leaf_labels(taxonomy.bind("age", pa.array(["19", "2", "10", "9"]))) == ["10", "19", "9", "2"]


def test_labels_may_be_numbers_dates_or_truth_values() -> None:
    taxonomy = Taxonomy.from_nested({"any": [1, 2.5, True, dt.date(2020, 1, 31), Decimal("1.50")]})

    assert taxonomy.to_data()["tree"] == ["any", "1", "2.5", "true", "2020-01-31", "1.50"]


# --- what is refused -------------------------------------------------------------------------------------------------


def test_missed_values_are_all_in_the_error_and_ten_in_its_message() -> None:
    values = [f"v{i:02d}" for i in range(15)]

    with pytest.raises(DomainError) as caught:
        Taxonomy.from_nested({"any": ["v00", "w"]}).bind("colour", pa.array(values))

    assert caught.value.values == tuple(values[1:])
    assert caught.value.column == "colour"
    assert "column 'colour': the taxonomy lacks 14 of 15 values; add them: 'v01'," in str(caught.value)
    assert "'v10' and 4 more" in str(caught.value)
    assert "v11" not in str(caught.value)


@pytest.mark.parametrize(
    ("lines", "message", "values"),
    [
        (["a;X;*", "b;X;*", "a;X;*"], "more than once: 'a'", ("a",)),
        (["a;X;*", "b;Y;*", "a;Y;*"], "more than once: 'a'", ("a",)),
        (["a;X;P;*", "b;X;Q;*", "c;Q;Q;*"], "the taxonomy has two different parents for 'X'", ("X",)),
        (["a;*;P;all", "b;*;Q;all"], r"the taxonomy has two different parents for '\*'", ("*",)),
        (
            ["a;X;*", "b;X", "c;X;*", "d;X;Y;*"],
            "have 3 fields; correct the rows with more or fewer, those of 'b', 'd'",
            ("b", "d"),
        ),
        (["a;X", "b;Y"], "root, and must be the same in all rows; it is 'X', 'Y'", ("X", "Y")),
        (
            ["a;b;a;*", "c;b;a;*"],
            "stand twice above one value, with a different label between them; rename one of each two: 'a'",
            ("a",),
        ),
        (["*;X;*", "a;X;*"], r"label as the root of the taxonomy; give the root another label than '\*'", ("*",)),
        (["a|X|*", "b|X|*"], "one field in every row: see whether ';' is the right delimiter", ()),
        ([], "no rows", ()),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    tmp_path: Path, lines: list[str], message: str, values: tuple[str, ...]
) -> None:
    with pytest.raises(DomainError, match=message) as caught:
        rows(tmp_path, *lines)

    assert caught.value.values == values


def test_a_nested_taxonomy_that_contradicts_itself_is_refused() -> None:
    circle: dict[str, object] = {"a": ["x"]}
    circle["b"] = circle
    branch = ["x", "y"]

    for wrong, message in [
        (circle, "contain itself or occur twice; correct what is below 'b'"),
        ({"any": {"a": branch, "b": branch}}, "occur twice"),
        ({"any": {"a": ["x"], "b": ["x"]}}, "more than once: 'x'"),
        ({"any": [{"a": ["x", "y"]}, {"a": ["z", "w"]}]}, "cannot be told apart; rename them: 'a'"),
        ({"x": {"y": {"x": ["a", "b"]}, "z": ["c"]}}, "stand twice above one value"),
        ({"any": [["x"], ["y"]]}, "every inner list needs a label"),
        ({"any": ["x", None]}, "not NoneType"),
        ({}, "must not be empty"),
        ("flu", "a dict of labels"),
    ]:
        with pytest.raises(DomainError, match=message):
            Taxonomy.from_nested(wrong)  # type: ignore[arg-type]


def test_two_leaves_that_are_one_number_are_refused() -> None:
    with pytest.raises(
        DomainError, match=r"stand for one value of the column; keep one of each: '37', '37\.0'"
    ) as caught:
        Taxonomy.from_nested({"any": ["37", "37.0", "38"]}).bind("age", pa.array([38.0]))

    assert caught.value.values == ("37", "37.0")


@pytest.mark.parametrize("values", [["a", None], ["a", "a"], []])
def test_only_distinct_values_are_bound(values: list[str | None]) -> None:
    with pytest.raises(DomainError, match="column 'x'"):
        Taxonomy.from_nested({"any": ["a", "b"]}).bind("x", pa.array(values, pa.string()))


# --- files -----------------------------------------------------------------------------------------------------------


def test_json_and_yaml_files_give_the_taxonomy_that_is_nested_in_them(tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(json.dumps(DISEASES))
    (tmp_path / "t.YML").write_text(
        "any:\n  lungs: [flu, asthma]\n  stomach:\n    acid: [ulcer, gastritis]\n  skin: eczema\n"
    )

    assert Taxonomy.from_file(tmp_path / "t.json") == Taxonomy.from_nested(DISEASES)
    assert Taxonomy.from_file(str(tmp_path / "t.YML")) == Taxonomy.from_nested(DISEASES)


def test_labels_in_files_stay_as_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("north: [no, se, 1.50]\nsouth:\n  it:\n  0123:\n")
    (tmp_path / "t.json").write_text('{"any": [1.50, 1e3, true]}')

    assert Taxonomy.from_file(tmp_path / "t.yaml").to_data()["tree"] == [
        "*", ["north", "no", "se", "1.50"], ["south", "it", "0123"],
    ]  # fmt: skip
    assert Taxonomy.from_file(tmp_path / "t.json").to_data()["tree"] == ["any", "1.50", "1e3", "true"]


@pytest.mark.parametrize(
    ("name", "text", "error", "message"),
    [
        ("t.json", '{"any": {"a": ["x"], "a": ["y"]}}', DomainError, "more than once: 'a'"),
        ("t.yaml", "any:\n  a: [x]\n  a: [y]\n", DomainError, "more than once: 'a'"),
        ("t.yaml", "any:\n  a: &a [x, y]\n  b: *a\n", DomainError, "occur twice"),
        ("t.yaml", "&any\nx: *any\n", SourceError, "recursive"),
        ("t.yaml", "any: [a", SourceError, "'t.yaml' cannot be read"),
        ("t.json", '{"any": [', SourceError, "'t.json' cannot be read"),
        ("t.txt", "any", SourceError, "ends in .csv, .json, .yaml, .yml, or is one of .* got 't.txt'"),
    ],
)
def test_a_file_that_is_no_taxonomy_is_refused(
    tmp_path: Path, name: str, text: str, error: type[Exception], message: str
) -> None:
    (tmp_path / name).write_text(text)

    with pytest.raises(error, match=message):
        Taxonomy.from_file(tmp_path / name)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("Köln;Städte\n".encode("latin-1"))

    with pytest.raises(SourceError, match=r"there is no file .*none\.csv: check the path"):
        Taxonomy.from_file(tmp_path / "none.csv")
    with pytest.raises(SourceError, match=r"there is no file .*latim\.csv: did you mean .*latin\.csv\?"):
        Taxonomy.from_file(tmp_path / "latim.csv")
    with pytest.raises(SourceError, match=r"there is no file .*none\.json: check the path"):
        Taxonomy.from_file(tmp_path / "none.json")
    with pytest.raises(SourceError, match=r"'latin\.csv' is not text in the encoding"):
        Taxonomy.from_csv(tmp_path / "latin.csv")
    assert Taxonomy.from_csv(tmp_path / "latin.csv", encoding="latin-1") == Taxonomy.from_nested({"Städte": ["Köln"]})


def test_a_hierarchy_may_have_a_mark_of_its_encoding_quotes_blank_lines_and_another_delimiter(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes('\ufeff"a, b",X,*\r\n\r\nc,X,*\r\n'.encode())

    assert Taxonomy.from_csv(tmp_path / "t.csv", delimiter=",") == Taxonomy.from_nested({"*": {"X": ["a, b", "c"]}})
    with pytest.raises(ParameterError, match="delimiter must be one character"):
        Taxonomy.from_csv(tmp_path / "t.csv", delimiter="||")


def test_yaml_without_its_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.yaml").write_text("any: [a]")
    monkeypatch.setitem(sys.modules, "yaml", None)

    with pytest.raises(MissingExtra, match=r"glasshouse\[yaml\]"):
        Taxonomy.from_file(tmp_path / "t.yaml")


# --- intervals -------------------------------------------------------------------------------------------------------


def borders(label: str) -> tuple[Fraction, Fraction]:
    low, high = label.strip("[)").split(", ")
    return Fraction(low), Fraction(high)


widths = st.sampled_from([0.1, 0.25, 0.3, 1, 2.5, 5, 7, 1000])
amounts = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(-300, 300), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(-300, 300).map(lambda n: n / 10 + 0.0), min_size=1, max_size=8, unique=True),
    st.lists(st.floats(-1e12, 1e12).map(lambda x: x + 0.0), min_size=1, max_size=8, unique=True),
    st.lists(st.integers(-300, 300).map(lambda n: Decimal(n) / 100), min_size=1, max_size=8, unique=True),
)


@given(amounts, widths, st.sampled_from([0, -3, 0.5, 18]), st.integers(2, 4), st.sampled_from([None, 1, 3]))
@settings(deadline=None)
def test_every_interval_above_a_number_holds_it_as_it_is_written(
    values: list[float | Decimal], width: float, start: float, fanout: int, levels: int | None
) -> None:
    taxonomy = Taxonomy.intervals(width=width, start=start, fanout=fanout, levels=levels)
    bound = taxonomy.bind("x", pa.array(values))

    assert [values[index] for index in bound.order] == sorted(values)
    for code, index in enumerate(bound.order):
        written = Fraction(str(values[index]))
        node, step = int(bound.parents[bound.leaves[code]]), 0
        while node >= 0 and bound.labels[node] != "*":
            low, high = borders(bound.labels[node])
            assert low <= written < high
            assert high - low == Fraction(str(width)) * fanout**step
            assert (low - Fraction(str(start))) % (high - low) == 0
            node, step = int(bound.parents[node]), step + 1
        assert levels is None or (step == levels and node == bound.root)


def test_levels_grow_until_one_interval_holds_all_or_two_meet_at_the_start() -> None:
    assert Taxonomy.intervals(width=5).bind("x", pa.array([3, 17])).labels[0] == "[0, 20)"
    assert Taxonomy.intervals(width=5, fanout=3).bind("x", pa.array([3, 17])).labels[0] == "[0, 45)"
    assert Taxonomy.intervals(width=5).bind("x", pa.array([-3, 17])).labels[:3] == ("*", "[-20, 0)", "[0, 20)")
    assert Taxonomy.intervals(width=5, start=-40).bind("x", pa.array([-3, 17])).labels[0] == "[-40, 40)"
    assert Taxonomy.intervals(width=5).bind("x", pa.array([3])).labels == ("[0, 5)", "3")


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        ([0.3, 0.7, 0.1], pa.float64(), ["[0.3, 0.4)", "[0.7, 0.8)", "[0.1, 0.2)"]),
        ([0.3, 0.7, 0.1], pa.float32(), ["[0.3, 0.4)", "[0.7, 0.8)", "[0.1, 0.2)"]),
        ([1e300, 0.05], pa.float64(), [f"[{10**300}, {10**300}.1)", "[0, 0.1)"]),
        ([1e20, 0.05], pa.float64(), [f"[{10**20}, {10**20}.1)", "[0, 0.1)"]),
        ([2**64 - 1, 0], pa.uint64(), [f"[{2**64 - 1}, {2**64 - 1}.1)", "[0, 0.1)"]),
    ],
)
def test_borders_are_the_decimals_that_were_asked_for(
    values: list[float], kind: pa.DataType, labels: list[str]
) -> None:
    assert Taxonomy.intervals(width=0.1).bin(pa.array(values, kind))[0].to_pylist() == labels


def test_the_smallest_and_largest_whole_numbers_find_their_intervals() -> None:
    for values, kind in [([-(2**63), 2**63 - 1], pa.int64()), ([0, 2**64 - 1], pa.uint64())]:
        labels = Taxonomy.intervals(width=5, start=18).bin(pa.array(values, kind))[0].to_pylist()
        lows = [value - (value - 18) % 5 for value in values]
        assert labels == [f"[{low}, {low + 5})" for low in lows]


# --- quantiles -------------------------------------------------------------------------------------------------------


def test_quantiles_look_at_the_table_and_say_so() -> None:
    for use in (
        lambda: Taxonomy.quantiles(n=2).bind("pay", pa.array([1, 2])),
        lambda: Taxonomy.quantiles(n=2).bin(pa.array([1, 2]), name="pay"),
    ):
        with pytest.warns(
            DisclosureWarning, match="takes the borders of its intervals from the values of column 'pay'"
        ) as caught:
            use()
        assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(2, 8), st.integers(2, 3))
def test_a_quantile_holds_its_share_and_at_most_one_value_more(column: list[int], n: int, fanout: int) -> None:
    labels, natural = Taxonomy.quantiles(n=n, fanout=fanout).bin(pa.array(column))

    assert list(natural) == list(
        dict.fromkeys(label for _, label in sorted(zip(column, labels.to_pylist(), strict=True)))
    )
    for label in natural:
        held = sorted(value for value, shown in zip(column, labels.to_pylist(), strict=True) if shown == label)
        without_the_last = [value for value in held if value != held[-1]]
        assert len(without_the_last) * n < len(column)


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
def test_quantiles_weigh_values_by_how_often_they_occur_and_leave_the_outermost_open() -> None:
    values = pa.array([10, 20, 30, 40])
    even = Taxonomy.quantiles(n=4).bind("x", values)
    heavy = Taxonomy.quantiles(n=4).bind("x", values, counts=np.array([1, 1, 1, 9]))

    assert even.labels == ("*", "(-inf, 30)", "[30, inf)", "(-inf, 20)", "[20, 30)", "[30, 40)", "[40, inf)",
                           "10", "20", "30", "40")  # fmt: skip
    assert heavy.labels == ("*", "(-inf, 40)", "[40, inf)", "10", "20", "30", "40")
    assert Taxonomy.quantiles(n=4).bin(pa.array([10, 20, 30] + [40] * 9))[1] == ("(-inf, 40)", "[40, inf)")


@pytest.mark.filterwarnings("ignore::glasshouse.errors.DisclosureWarning")
def test_quantiles_of_dates_and_of_one_value() -> None:
    days = pa.array([dt.date(2020, 1, 31), dt.date(2020, 2, 1)])

    assert Taxonomy.quantiles(n=2).bin(days)[1] == ("(-inf, 2020-02-01)", "[2020-02-01, inf)")
    assert Taxonomy.quantiles(n=2).bind("x", pa.array([5])).labels == ("*", "5")


# --- prefixes --------------------------------------------------------------------------------------------------------


def test_prefixes_mask_one_character_after_another() -> None:
    bound = Taxonomy.prefix(length=5).bind("zip", pa.array(["14850", "13068", "13053"]))

    assert bound.labels == ("*", "1****", "13***", "14***", "130**", "148**", "1305*", "1306*", "1485*",
                            "13053", "13068", "14850")  # fmt: skip
    assert (shown(bound, 0, 1), shown(bound, 0, 2)) == ("130**", "1****")


def test_whole_numbers_get_their_leading_zeros_back() -> None:
    bound = Taxonomy.prefix(length=5).bind("zip", pa.array([13053, 2139, 2140]))

    assert leaf_labels(bound) == ["02139", "02140", "13053"]
    assert shown(bound, 0, 1) == "021**"
    assert bound.order.tolist() == [1, 2, 0]


def test_shorter_codes_stand_beside_the_codes_that_begin_with_them() -> None:
    bound = Taxonomy.prefix(length=5).bind("icd", pa.array(["J45.1", "J45", "J45.0", "J46"]))

    assert leaf_labels(bound) == ["J45", "J45.0", "J45.1", "J46"]
    assert [shown(bound, 0, 1), shown(bound, 1, 2), shown(bound, 0, 3)] == ["J45**", "J45.*", "J4***"]


def test_codes_that_are_masked_already_are_told_from_the_masks() -> None:
    bound = Taxonomy.prefix(length=5).bind("zip", pa.array(["13053", "130**", "13068"]))

    assert shown(bound, 0, 2) == "130** (13***)"
    assert "130**" in leaf_labels(bound)


def test_codes_that_are_too_long_or_negative_are_refused() -> None:
    for values, unfit in [(["123456", "12345"], ("123456",)), ([-1, 5], ("-0001",))]:
        with pytest.raises(DomainError, match="1 code of column 'zip' is longer, or negative") as caught:
            Taxonomy.prefix(length=5).bind("zip", pa.array(values))
        assert caught.value.values == unfit


# --- dates -----------------------------------------------------------------------------------------------------------


def test_dates_are_cut_to_months_quarters_and_years() -> None:
    days = [dt.date(2020, 2, 1), dt.date(1999, 12, 31), dt.date(2020, 1, 31)]
    bound = Taxonomy.dates().bind("day", pa.array(days))

    assert bound.labels == ("*", "1999", "2020", "1999-Q4", "2020-Q1", "1999-12", "2020-01", "2020-02",
                            "1999-12-31", "2020-01-31", "2020-02-01")  # fmt: skip
    assert shown(bound, 1, 2) == "2020-Q1"


@given(st.dates(), st.sampled_from(["day", "month", "quarter", "year", "decade"]))
def test_a_cut_date_begins_as_the_date_does(day: dt.date, unit: str) -> None:
    for value in (day, dt.datetime(day.year, day.month, day.day, 23, 59, 59)):
        label = Taxonomy.dates(levels=[unit]).bin(pa.array([value]))[0][0].as_py()
        if unit == "quarter":
            assert label == f"{day.year:04d}-Q{1 + (day.month - 1) // 3}"
        else:
            assert day.isoformat().startswith(label.removesuffix("0s") if unit == "decade" else label)
            assert len(label) == {"day": 10, "month": 7, "year": 4, "decade": 5}[unit]


def test_a_day_of_a_date_is_the_date_itself_and_a_day_of_timestamps_holds_them() -> None:
    day = Taxonomy.dates(levels=("day", "decade"))

    assert day.bind("x", pa.array([dt.date(2020, 1, 31)])).labels == ("*", "2020s", "2020-01-31")
    hours = day.bind("x", pa.array([dt.datetime(2020, 1, 31, 5), dt.datetime(2020, 1, 31, 6)]))
    assert shown(hours, 0, 1) == "2020-01-31"


def test_timestamps_are_cut_in_their_own_time_zone() -> None:
    moment = pa.array([dt.datetime(2020, 1, 31, 23, 30)], pa.timestamp("us")).cast(pa.timestamp("us", "UTC"))

    assert Taxonomy.dates().bin(moment.cast(pa.timestamp("us", "Europe/Berlin")))[1] == ("2020-02",)


# --- builders as values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "taxonomy",
    [
        Taxonomy.intervals(width=5),
        Taxonomy.intervals(width=0.5, start=-3, fanout=4, levels=2),
        Taxonomy.quantiles(n=8),
        Taxonomy.prefix(length=5),
        Taxonomy.dates(levels=["day", "year"]),
        Taxonomy.dates(),
    ],
    ids=repr,
)
def test_a_builder_is_its_name_and_parameters(taxonomy: Taxonomy) -> None:
    assert Taxonomy.from_data(json.loads(json.dumps(taxonomy.to_data()))) == taxonomy
    assert eval(repr(taxonomy)) == taxonomy
    assert hash(eval(repr(taxonomy))) == hash(taxonomy)
    assert pickle.loads(pickle.dumps(taxonomy)) == taxonomy
    assert taxonomy != Taxonomy.prefix(length=6)


def test_builders_print_as_short_as_they_can() -> None:
    width: float = np.int64(5)  # type: ignore[assignment]

    assert repr(Taxonomy.intervals(width=width, levels=2)) == "Taxonomy.intervals(width=5, levels=2)"
    assert repr(Taxonomy.dates()) == "Taxonomy.dates()"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Taxonomy.intervals(width=0), "Taxonomy.intervals: width must be a number above 0, got 0"),
        (lambda: Taxonomy.intervals(width=float("inf")), "width must be a number above 0, got inf"),
        (lambda: Taxonomy.intervals(width=True), "width must be a number above 0, got True"),
        (lambda: Taxonomy.intervals(width="5"), "width must be a number above 0, got '5'"),  # type: ignore[arg-type]
        (lambda: Taxonomy.intervals(width=5, start=float("nan")), "start must be a finite number"),
        (lambda: Taxonomy.intervals(width=5, fanout=1), "fanout must be an integer >= 2, got 1"),
        (lambda: Taxonomy.intervals(width=5, levels=0), "levels must be an integer >= 1, got 0"),
        (lambda: Taxonomy.quantiles(n=1), "n must be an integer >= 2, got 1"),
        (lambda: Taxonomy.quantiles(n=2.5), "n must be an integer >= 2, got 2.5"),  # type: ignore[arg-type]
        (lambda: Taxonomy.prefix(length=True), "length must be an integer >= 1, got True"),
        (lambda: Taxonomy.prefix(length=0), "length must be an integer >= 1, got 0"),
        (lambda: Taxonomy.dates(levels=["year", "month"]), "levels must be some of .* in this order"),
        (lambda: Taxonomy.dates(levels=["week"]), "levels must be some of"),
        (lambda: Taxonomy.dates(levels=[]), "levels must be some of"),
        (lambda: Taxonomy.from_data({"kind": "magic"}), "kind must be one of tree, intervals"),
        (lambda: Taxonomy.from_data({"kind": "prefix", "size": 5}), "prefix must be given with its own parameters"),
        (lambda: Taxonomy.from_data({"kind": "tree", "tree": ["any", [5]]}), "a list that begins with one"),
    ],
)
def test_parameters_out_of_their_range_are_refused(make: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("taxonomy", "values", "message"),
    [
        (Taxonomy.intervals(width=5), pa.array(["a"]), "needs numbers; column 'x' has type string"),
        (Taxonomy.intervals(width=5), pa.array([True]), "needs numbers"),
        (Taxonomy.intervals(width=5), pa.array([1.0, float("inf")]), "column 'x' has infinite values"),
        (Taxonomy.quantiles(n=2), pa.array(["a"]), "needs numbers or dates"),
        (Taxonomy.prefix(length=5), pa.array([1.5]), "needs text or whole numbers"),
        (Taxonomy.dates(), pa.array([5]), "needs dates or timestamps"),
    ],
)
def test_a_column_that_a_builder_is_not_for_is_refused(taxonomy: Taxonomy, values: pa.Array, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        taxonomy.bind("x", values)


# --- bins ------------------------------------------------------------------------------------------------------------


def test_bins_replace_values_by_labels_and_come_with_their_order() -> None:
    pay = pa.chunked_array([[120.0, 7.5, None], [float("nan"), 99.0, 7.5]])
    labels, natural = Taxonomy.intervals(width=10).bin(pay)

    assert labels.type == pa.string()
    assert labels.to_pylist() == ["[120, 130)", "[0, 10)", None, None, "[90, 100)", "[0, 10)"]
    assert natural == ("[0, 10)", "[90, 100)", "[120, 130)")


def test_bins_are_in_natural_order_whatever_order_the_values_came_in() -> None:
    days = pa.array([dt.date(2020, 2, 1), dt.date(1999, 12, 31), dt.date(2020, 1, 31)])

    assert Taxonomy.dates().bin(days)[1] == ("1999-12", "2020-01", "2020-02")
    assert Taxonomy.prefix(length=2).bin(pa.array(["b1", "a2", "b0"]))[1] == ("a*", "b*")


def test_a_column_without_values_has_no_bins() -> None:
    labels, natural = Taxonomy.intervals(width=10).bin(pa.array([None, None], pa.float64()))

    assert (labels.to_pylist(), natural) == ([None, None], ())


def test_a_listed_taxonomy_bins_into_its_lowest_groups_which_do_not_overlap() -> None:
    taxonomy = Taxonomy.from_nested({"any": [{"high": [{"top": [90, 80]}, 70]}, {"low": [20, 10]}, 50]})
    labels, natural = taxonomy.bin(pa.array([90, 10, 70, 50, 20]).dictionary_encode())

    assert labels.to_pylist() == ["top", "low", "70", "50", "low"]
    assert natural == ("low", "50", "70", "top")
    with pytest.raises(DomainError, match="column 'pay': the taxonomy has no level between its values and its root"):
        Taxonomy.from_nested(["1", "2"]).bin(pa.array([1, 2]), name="pay")


# --- the shared hierarchies ------------------------------------------------------------------------------------------

ADULT = ["age", "education", "marital-status", "native-country", "occupation", "race", "sex", "workclass"]


@pytest.mark.parametrize("name", [*ADULT, "salary-class"])
def test_the_hierarchies_of_adult_load_unchanged_and_cover_its_columns(shared_data: Path, name: str) -> None:
    path = shared_data / "hierarchies" / "adult" / f"adult_hierarchy_{name}.csv"
    column = "income" if name == "salary-class" else name
    values = pq.read_table(shared_data / "adult.parquet", columns=[column])[column].drop_null().unique()
    listed = [line.split(";") for line in path.read_text().splitlines()]
    bound = Taxonomy.from_csv(path).bind(column, values)

    assert Taxonomy.from_file(path) == Taxonomy.from_csv(path)
    assert bound.labels[bound.root] == "*"
    assert bound.n_leaves(bound.root) == len(listed)
    assert sorted(leaf_labels(bound)) == sorted(map(str, values.to_pylist()))
    for leaf, *above in listed:
        if leaf in bound.labels:
            node, climbed = int(bound.parents[bound.labels.index(leaf)]), []
            while node >= 0:
                climbed.append(bound.labels[node])
                node = int(bound.parents[node])
            assert climbed == above


def test_every_hierarchy_of_adult_is_tested(shared_data: Path) -> None:
    found = {path.stem for path in (shared_data / "hierarchies" / "adult").glob("*.csv")}

    assert found == {f"adult_hierarchy_{name}" for name in [*ADULT, "salary-class"]}


def test_the_age_hierarchy_gives_ages_in_their_own_order(shared_data: Path) -> None:
    ages = pq.read_table(shared_data / "adult.parquet", columns=["age"])["age"].unique()
    bound = Taxonomy.from_csv(shared_data / "hierarchies" / "adult" / "adult_hierarchy_age.csv").bind("age", ages)

    assert ages.take(pa.array(bound.order)).to_pylist() == sorted(ages.to_pylist())
    assert (shown(bound, 0, 3), shown(bound, 0, 4)) == ("15-19", "*")
