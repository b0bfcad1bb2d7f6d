# SPDX-License-Identifier: Apache-2.0
"""Verify against its slow twin, and unmoved by everything that does not change a table's rows."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from glasshouse.errors import DomainError, InputError, ParameterError, SchemaError
from glasshouse.journeys.verify import verify
from glasshouse.microdata.taxonomy.taxonomy import Taxonomy
from glasshouse.verification import groups as groups_module
from glasshouse.verification import verify_table
from glasshouse.verification.columns import ascending, encode
from glasshouse.verification.excess import ordered_excess
from glasshouse.verification.groups import divide, histograms
from glasshouse.verification.verification import _expected_reciprocals
from tests.tiers import examples
from tests.twins import verification as naive

QUASI = ["age", "zip"]
DISEASES = ["asthma", "flu", "gastritis", "ulcer"]
TREE = {"any": {"lungs": ["asthma", "flu"], "stomach": {"upper": ["gastritis"], "lower": ["ulcer"]}}}
# each disease's ancestors at heights 0 .. 3; lungs is of height 1, so it stands for its diseases at height 2 also
PATHS = {
    "asthma": ["asthma", "lungs", "lungs", "any"],
    "flu": ["flu", "lungs", "lungs", "any"],
    "gastritis": ["gastritis", "upper", "stomach", "any"],
    "ulcer": ["ulcer", "lower", "stomach", "any"],
}

rows = st.lists(
    st.fixed_dictionaries(
        {
            "age": st.sampled_from([30, 40, None]),
            "zip": st.sampled_from(["47*", "", "*", None]),
            "disease": st.sampled_from([*DISEASES, None]),
            "salary": st.sampled_from([1.5, 2.0, 7.0, -0.0, 0.0, float("nan"), None]),
        }
    ),
    min_size=1,
    max_size=10,
)


def table_of(table: list[dict[str, Any]]) -> pa.Table:
    types = {"age": pa.int64(), "zip": pa.string(), "disease": pa.string(), "salary": pa.float64()}
    return pa.table({name: pa.array([row[name] for row in table], kind) for name, kind in types.items()})


def everything(frame: Any, **options: Any) -> dict[str, Any]:
    """All that is reported of a frame, but for notices on how it was read."""
    options = {"quasi": QUASI, "sensitive": ["disease", "salary"], "population": 10_000, **options}
    return {**verify(frame, **options).to_dict(), "notices": []}


# --- against the twin -------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=examples(200))
@given(rows)
def test_every_number_is_the_slow_twins(table: list[dict[str, Any]]) -> None:
    found = verify(
        table_of(table),
        quasi=QUASI,
        sensitive=["disease", "salary"],
        taxonomies={"disease": Taxonomy.from_nested(TREE)},
    )

    assert found.k == naive.k(table, QUASI)
    assert found.n_groups == len(naive.groups(table, QUASI))
    for name in ("disease", "salary"):
        column = found.columns[name]
        assert column.ell == naive.ell(table, QUASI, name)
        assert column.alpha_exact == naive.alpha(table, QUASI, name)
        assert column.distinct_ell == naive.distinct_ell(table, QUASI, name)
        assert round(column.entropy.exact * 10**6) == naive.entropy_ell(table, QUASI, name)
        assert list(column.recursive) == list(range(1, column.distinct_ell + 1))
        for ell, c in column.recursive.items():
            assert c.exact == naive.recursive_c(table, QUASI, name, ell)
        assert naive.recursive_c(table, QUASI, name, column.distinct_ell + 1) is None
        assert column.closeness["equal"].exact == naive.t(table, QUASI, name, naive.equal_distance)


@settings(deadline=None, max_examples=examples(200))
@given(rows)
def test_ordered_and_hierarchical_t_are_the_cheapest_shipments(table: list[dict[str, Any]]) -> None:
    order = [*DISEASES[::-1]]
    taxonomies = {"disease": Taxonomy.from_nested(TREE)}
    found = verify_table(
        table_of(table), quasi=QUASI, sensitive=["disease", "salary"], taxonomies=taxonomies, ordered={"disease": order}
    )

    present = {naive.cell(row["disease"]) for row in table}
    ranks = [value for value in [*order, naive.MISSING] if value in present]
    amounts = {naive.cell(row["salary"]) for row in table}
    salaries = [*sorted(amounts - {naive.MISSING}), *amounts & {naive.MISSING}]
    disease, salary = found.columns["disease"].closeness, found.columns["salary"].closeness
    assert disease["ordered"].exact == naive.t(table, QUASI, "disease", naive.ordered_distance(ranks))
    assert disease["hierarchical"].exact == naive.t(table, QUASI, "disease", naive.hierarchical_distance(PATHS, 3))
    assert salary["ordered"].exact == naive.t(table, QUASI, "salary", naive.ordered_distance(salaries))
    assert found.columns["disease"].distance == "hierarchical"
    assert found.columns["salary"].distance == "ordered"


@settings(deadline=None, max_examples=examples(100))
@given(rows)
def test_the_named_group_attains_the_number(table: list[dict[str, Any]]) -> None:
    found = verify(table_of(table), quasi=QUASI, sensitive="disease").columns["disease"]
    groups = naive.groups(table, QUASI)

    def group_of(attained: Any) -> list[dict[str, Any]]:
        return groups[tuple(naive.cell(value) for value in attained.group.cells.values())]

    frequent = naive.histogram(group_of(found.frequency), "disease")
    assert Fraction(len(group_of(found.frequency)), max(frequent.values())) == found.ell_exact
    assert frequent[naive.cell(found.most_frequent)] == max(frequent.values())
    assert len(naive.histogram(group_of(found.distinct), "disease")) == found.distinct_ell
    assert len(group_of(found.distinct)) == found.distinct.group.size
    counts = naive.histogram(group_of(found.entropy), "disease").values()
    assert not naive.entropy_at_least(counts, found.entropy.exact + Fraction(1, 10**6))
    whole = group_of(found.closeness["equal"])
    part, table_counts = naive.histogram(whole, "disease"), naive.histogram(table, "disease")
    moved = sum(abs(Fraction(part[v], len(whole)) - Fraction(table_counts[v], len(table))) for v in table_counts) / 2
    assert moved == found.t_exact


@settings(deadline=None, max_examples=examples(100))
@given(rows, st.data())
def test_thresholds_hold_exactly_up_to_what_is_achieved(table: list[dict[str, Any]], data: st.DataObject) -> None:
    frame, options = table_of(table), {"quasi": QUASI, "sensitive": "disease"}
    found = verify(frame, **options)
    reached = found.columns["disease"]
    step = Fraction(1, 10**20)

    def holds(**asked: Any) -> bool:
        answer = verify(frame, **options, **asked)
        (check,) = answer.checks
        assert answer.holds is check.holds is (not check.worst)
        assert check.n_failing == 0 or sum(group.size for group in check.worst) <= check.n_tuples
        return check.holds

    assert holds(k=found.k)
    assert not holds(k=found.k + 1)
    assert holds(ell=found.ell)
    assert not holds(ell=found.ell + 1)
    assert holds(distinct_ell=found.distinct_ell)
    assert not holds(distinct_ell=found.distinct_ell + 1)
    assert holds(alpha=reached.alpha_exact)
    assert not holds(alpha=reached.alpha_exact - step)
    assert holds(t=reached.t_exact)
    assert reached.t_exact == 0 or not holds(t=reached.t_exact - min(step, reached.t_exact))
    assert holds(entropy_ell=reached.entropy.exact)
    assert not holds(entropy_ell=reached.entropy.exact + Fraction(1, 10**6))
    ell = data.draw(st.sampled_from(list(reached.recursive)))
    assert holds(recursive=(reached.recursive[ell].exact, ell))
    assert not holds(recursive=(reached.recursive[ell].exact - step, ell))
    assert not holds(recursive=(10**9, found.distinct_ell + 1))


@settings(deadline=None, max_examples=examples(100))
@given(rows)
def test_failing_groups_are_counted_as_the_twin_counts_them(table: list[dict[str, Any]]) -> None:
    found = verify(table_of(table), quasi=QUASI, sensitive="disease", k=2, ell=2)
    groups = naive.groups(table, QUASI).values()

    small = [group for group in groups if len(group) < 2]
    uneven = [group for group in groups if max(naive.histogram(group, "disease").values()) * 2 > len(group)]
    assert [check.n_failing for check in found.checks] == [len(small), len(uneven)]
    assert [check.n_tuples for check in found.checks] == [sum(map(len, small)), sum(map(len, uneven))]


@settings(deadline=None, max_examples=examples(100))
@given(rows, st.sets(st.sampled_from(DISEASES), min_size=1))
def test_designated_values_alone_are_counted(table: list[dict[str, Any]], designated: set[str]) -> None:
    designated &= {row["disease"] for row in table}
    if not designated:
        return
    found = verify(table_of(table), quasi=QUASI, sensitive="disease", designated={"disease": sorted(designated)})

    assert found.columns["disease"].designated is not None
    assert 1 / found.columns["disease"].designated.exact == naive.designated_alpha(table, QUASI, "disease", designated)


@settings(deadline=None, max_examples=examples(100))
@given(rows)
def test_dropping_missing_values_is_verifying_the_complete_rows(table: list[dict[str, Any]]) -> None:
    complete = [row for row in table if None not in (row["age"], row["zip"], row["disease"])]
    options = {"quasi": QUASI, "sensitive": "disease"}
    if not complete:
        with pytest.raises(DomainError, match="nothing is left"):
            verify(table_of(table), **options, missing="drop")
        return
    found = verify(table_of(table), **options, missing="drop")

    assert found.to_dict() | {"counting": []} == verify(table_of(complete), **options).to_dict() | {"counting": []}
    dropped = len(table) - len(complete)
    assert any(f"{dropped} row" in line for line in found.counting) == (dropped > 0)


# --- what changes nothing ---------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=examples(100))
@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_changes_nothing(table: list[dict[str, Any]], random: Any) -> None:
    shuffled = random.sample(table, len(table))
    expected = everything(table_of(table))

    assert everything(table_of(shuffled)) == expected
    assert everything(table_of(table).select(["salary", "zip", "disease", "age"])) == expected


@settings(deadline=None, max_examples=examples(100))
@given(rows, st.randoms(use_true_random=False))
def test_a_pandas_index_changes_nothing(table: list[dict[str, Any]], random: Any) -> None:
    frame = table_of(table).to_pandas()
    order = random.sample(range(len(table)), len(table))
    expected = everything(frame)

    assert everything(frame.iloc[order]) == expected
    assert everything(frame.set_axis(["same"] * len(frame))) == expected
    assert everything(frame.set_axis(order)) == expected


@settings(deadline=None, max_examples=examples(100))
@given(rows)
def test_types_encodings_and_chunks_change_nothing(table: list[dict[str, Any]]) -> None:
    plain = table_of(table)
    expected = verify_table(plain, quasi=QUASI, sensitive=["disease", "salary"]).to_dict()
    halves = [plain.slice(0, len(table) // 2), plain.slice(len(table) // 2)]
    encoded = pa.concat_tables(
        [pa.table({n: half[n].dictionary_encode() for n in half.column_names}) for half in halves]
    )
    ends = pa.array(range(1, len(table) + 1), pa.int32())
    runs = {n: pa.RunEndEncodedArray.from_arrays(ends, plain[n].combine_chunks()) for n in plain.column_names}
    forms = {
        "chunks": pa.concat_tables(halves),
        "dictionaries that differ by chunk": encoded,
        "views": plain.set_column(1, "zip", plain["zip"].cast(pa.string_view())),
        "large strings": plain.set_column(2, "disease", plain["disease"].cast(pa.large_string())),
        "small integers": plain.set_column(0, "age", plain["age"].cast(pa.uint8())),
        "small floats": plain.set_column(3, "salary", plain["salary"].cast(pa.float32())),
        "run ends": pa.table(runs),
    }

    for form, other in forms.items():
        assert verify_table(other, quasi=QUASI, sensitive=["disease", "salary"]).to_dict() == expected, form


@settings(deadline=None, max_examples=examples(100))
@given(rows)
def test_pandas_polars_and_arrow_agree(table: list[dict[str, Any]]) -> None:
    table = [
        *table,
        {"age": 30, "zip": "47*", "disease": "flu", "salary": 1.5},
    ]  # no column without a value: it has no type
    arrow = table_of(table)
    expected = everything(arrow)
    categories = arrow.to_pandas().astype({"zip": "category", "disease": "category"})

    assert everything(arrow.to_pandas()) == expected
    assert everything(categories) == expected
    assert everything(pl.from_arrow(arrow)) == expected


def test_a_dictionary_may_repeat_values_hold_nulls_and_name_what_does_not_occur() -> None:
    indices = pa.array([0, 1, 2, 3, None], pa.int8())
    odd = pa.DictionaryArray.from_arrays(indices, pa.array(["x", "x", None, "y", "never", None]))
    plain = pa.array(["x", "x", None, "y", None])
    other = pa.array(["a", "a", "a", "b", "b"])

    as_quasi = [
        verify_table(pa.table({"q": q, "d": other}), quasi=["q"], sensitive="d").to_dict() for q in (odd, plain)
    ]
    as_sensitive = [verify_table(pa.table({"q": other, "d": d}), quasi=["q"], sensitive="d") for d in (odd, plain)]

    assert as_quasi[0] == as_quasi[1]
    assert as_sensitive[0].to_dict() == as_sensitive[1].to_dict()
    assert as_sensitive[0].columns["d"].n_values == 3


@settings(deadline=None, max_examples=examples(100))
@given(rows)
def test_numbering_keys_anew_changes_nothing(table: list[dict[str, Any]]) -> None:
    expected = everything(table_of(table))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups_module, "_FITS", 8)
        assert everything(table_of(table)) == expected


def test_domains_whose_product_passes_64_bits_do_not_collide() -> None:
    n = 2**16 - 1  # with missing, each of the later columns takes 16 bits, which would push the first one out of 64
    rows = np.arange(2 * n)
    columns = {"first": rows // n} | {f"q{i}": rows % n for i in range(4)}
    found = verify(columns, quasi=list(columns))

    assert (found.k, found.n_groups) == (1, 2 * n)


def test_sums_beyond_64_bits_are_exact() -> None:
    most, n_values = 2**30, 40
    columns = [[most, *[0] * (n_values - 1)], [*[0] * (n_values - 1), most], [1] * n_values]  # one histogram a group
    entries = [(g, v, count) for g, column in enumerate(columns) for v, count in enumerate(column) if count]
    groups, values, counts = (np.array(part) for part in zip(*entries, strict=True))
    seen = groups_module.Histograms(
        sizes=np.array([sum(column) for column in columns]),
        offsets=np.array([0, 1, 2, 2 + n_values]),
        groups=groups,
        values=values,
        counts=counts,
        totals=np.array([sum(each) for each in zip(*columns, strict=True)]),
    )
    excess, scale = ordered_excess(seen)

    whole = np.cumsum(seen.totals).tolist()
    expected = [
        sum(abs(sum(column[: j + 1]) * whole[-1] - whole[j] * sum(column)) for j in range(n_values))
        for column in columns
    ]
    assert max(expected) > 2**63
    assert min(expected) < 2**62
    assert (scale, excess.tolist()) == (n_values - 1, expected)


# --- cases that other tools get wrong ---------------------------------------------------------------------------------


def test_a_frame_with_a_shuffled_index_is_counted_by_position() -> None:
    frame = pd.DataFrame({"q": ["a", "a", "b", "b"], "d": ["x", "x", "y", "y"]}).loc[[0, 2, 1, 3]]
    found = verify(frame, quasi=["q"], sensitive="d")

    assert (found.k, found.ell, found.distinct_ell, found.t) == (2, 1, 1, 0.5)


def test_the_salaries_of_li_et_al_are_as_close_as_printed() -> None:
    salaries = [
        3,
        4,
        5,
        6,
        8,
        11,
        7,
        9,
        10,
    ]  # thousands; "t-Closeness", Section 4.2: D(P1, Q) = 0.375, D(P2, Q) = 0.167
    found = verify({"group": [1, 1, 1, 2, 2, 2, 3, 3, 3], "salary": salaries}, quasi=["group"], sensitive="salary")
    division = divide([encode("group", pa.chunked_array([[1, 1, 1, 2, 2, 2, 3, 3, 3]]))])
    coded = encode("salary", pa.chunked_array([salaries]))
    seen = histograms(division, coded.reordered(ascending(coded.values)))
    excess, scale = ordered_excess(seen)

    assert found.t == 0.375
    assert found.columns["salary"].closeness["ordered"].group.cells == {"group": 1}
    assert Fraction(int(excess[1]), 3 * 9 * scale) == Fraction(1, 6)


def test_missing_values_that_are_written_in_two_ways_are_said_to_be_one_value(tmp_path: Any) -> None:
    (tmp_path / "t.csv").write_text("age,s\n,x\nNA,y\n20-29,x\n20-29,y\n")
    found = verify(tmp_path / "t.csv", quasi=["age"], sensitive="s")

    assert found.n_groups == 2
    (said,) = (line for line in found.counting if line.startswith("missing values"))
    assert said.endswith("in age (2); those of a column count as one value, which differs from every other value")


def test_empty_text_missing_and_suppressed_are_three_values() -> None:
    found = verify(pa.table({"q": ["", None, "*", ""]}), quasi=["q"])

    assert (found.n_groups, found.k) == (3, 1)
    assert (
        "missing values: in q (1); those of a column count as one value, which differs from every other value"
        in found.counting
    )
    assert (
        "suppressed cells: in q (1); those that are written alike count as one value, "
        "which differs from every other value" in found.counting
    )
    assert any("1 record has every quasi-identifier suppressed" in line for line in found.counting)


def test_zeros_of_both_signs_are_one_value_and_nan_is_missing() -> None:
    found = verify(pa.table({"q": [0.0, -0.0, float("nan"), None]}), quasi=["q"])

    assert (found.n_groups, found.k) == (2, 2)


def test_ordered_categories_have_the_order_of_their_declaration() -> None:
    grades = pd.Categorical(
        ["low", "high", "middle", "low"], categories=["never", "low", "middle", "high"], ordered=True
    )
    frame = pd.DataFrame({"q": [1, 1, 2, 2], "grade": grades})
    found = verify(frame, quasi=["q"], sensitive="grade")

    assert found.columns["grade"].distance == "ordered"
    assert found.t_exact == Fraction(1, 8)  # {low, high} against two low, a middle, a high: 1/4 moves one of two steps


def test_suppressed_and_missing_come_after_the_largest_amount() -> None:
    table = {"q": ["a", "a", "b", "b"], "pay": [-1, 5, 7, None]}
    found = verify(table, quasi=["q"], sensitive="pay", suppressed=[-1])

    rows = [{"q": q, "pay": pay} for q, pay in zip(table["q"], table["pay"], strict=True)]
    assert found.t_exact == naive.t(rows, ["q"], "pay", naive.ordered_distance([5, 7, -1, naive.MISSING]))
    assert found.t_exact != naive.t(rows, ["q"], "pay", naive.ordered_distance([-1, 5, 7, naive.MISSING]))
    assert (
        "suppressed and missing values of pay are put after the largest value when the ordered distance is calculated"
        in found.counting
    )


@pytest.mark.parametrize("frame", [dict, lambda columns: pd.DataFrame(columns, dtype=object)], ids=["dict", "pandas"])
def test_a_number_and_the_text_that_looks_like_it_are_two_values(frame: Any) -> None:
    ages = [34, "*", "34", 34.0, True, None, "*", float("nan"), "True", "34 (number)"]
    found = verify(frame({"age": ages, "d": ["x", 1] * 5}), quasi=["age"], sensitive="d", k=2)

    assert found.n_groups == 7  # 34 = 34.0, "*", "34", True, missing, "True", "34 (number)"
    assert found.columns["d"].n_values == 2
    assert (
        "suppressed cells: in age (2); those that are written alike count as one value, "
        "which differs from every other value" in found.counting
    )
    assert [line for line in found.notices if "has numbers and texts" in line]
    assert not found.holds


def test_lists_and_records_are_cells_like_any_other() -> None:
    cells = pa.array([["a", "b"], ["a", "b"], ["b"], None, [None], ["b"]])
    records = pa.array([{"low": 1.0, "high": float("nan")}, {"low": 1.0, "high": None}, None, None, None, None])

    assert verify_table(pa.table({"q": cells}), quasi=["q"]).n_groups == 4
    assert verify_table(pa.table({"q": records}), quasi=["q"]).n_groups == 2
    json.dumps(verify_table(pa.table({"q": cells, "r": records}), quasi=["q", "r"]).to_dict())


@pytest.mark.parametrize(
    "values",
    [
        [datetime.date(2020, 1, 2), datetime.date(2020, 1, 1), None],
        [datetime.datetime(2020, 1, 2, 3), datetime.datetime(2020, 1, 1), None],
        [datetime.time(3), datetime.time(2), None],
        [datetime.timedelta(3), datetime.timedelta(2), None],
        [Decimal("1.50"), Decimal("0.25"), None],
        [True, False, None],
        [b"x", b"y", None],
        [float("inf"), 5.0, None],
        [None, None, None],
    ],
    ids=lambda values: type(values[0]).__name__,
)
def test_every_plain_type_is_counted_and_can_be_shown(values: list[Any]) -> None:
    table = pa.table({"q": values, "d": values})
    found = verify_table(table.append_column("same", pa.array(["s"] * 3)), quasi=["same"], sensitive="d")
    grouped = verify_table(table, quasi=["q"])

    assert found.distinct_ell == len(set(values))
    assert found.t == 0
    assert grouped.n_groups == len(set(values))
    json.dumps([found.to_dict(), grouped.to_dict()], allow_nan=False)
    assert str(found)


def test_one_row_is_one_group() -> None:
    found = verify({"q": ["a"], "d": ["x"]}, quasi=["q"], sensitive="d")

    assert (found.k, found.ell, found.entropy_ell, found.t, found.alpha) == (1, 1, 1.0, 0.0, 1.0)


def test_rows_that_are_all_different_are_groups_of_one() -> None:
    found = verify({"q": list(range(50)), "d": ["x", "y"] * 25}, quasi=["q"], sensitive="d")

    assert (found.k, found.n_groups, found.ell, found.t) == (1, 50, 1, 0.5)
    assert found.smallest.cells == {"q": 0}
    assert found.smallest.n_others == 49


def test_several_sensitive_columns_are_reported_by_column_and_none_as_none() -> None:
    table = {"q": ["a", "a"], "d": ["x", "y"], "e": ["x", "x"]}
    several = verify(table, quasi=["q"], sensitive=["d", "e"], ell={"d": 2})

    assert several.ell == {"d": 2, "e": 1}
    assert several.holds
    assert verify(table, quasi=["q"], sensitive=["d", "e"], ell=2).holds is False
    alone = verify(table, quasi=["q"])
    assert (alone.ell, alone.t, alone.holds, alone.columns) == (None, None, None, {})


# --- rounding and exactness -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "expected"),
    [([3, 3], 2.0), ([4, 1, 1, 1, 1], 4.0), ([2, 1], 1.889881), ([1] * 7, 7.0), ([10**5, 1], 1.000125)],
)
def test_entropy_is_rounded_down_and_exact_where_it_is_whole(counts: list[int], expected: float) -> None:
    values = [f"v{i}" for i, count in enumerate(counts) for _ in range(count)]
    found = verify({"q": ["a"] * len(values), "d": values}, quasi=["q"], sensitive="d")

    assert found.entropy_ell == expected
    assert expected <= math.exp(-sum(c / len(values) * math.log(c / len(values)) for c in counts)) + 1e-12


def test_t_and_alpha_are_rounded_up() -> None:
    found = verify({"q": ["a"] * 3 + ["b"] * 3, "d": list("xyyxyz")}, quasi=["q"], sensitive="d")

    assert (found.columns["d"].alpha_exact, found.alpha) == (Fraction(2, 3), 0.666667)
    assert (found.t_exact, found.t) == (Fraction(1, 6), 0.166667)


def test_ell_of_designated_values_is_rounded_down() -> None:
    table = {"q": ["a"] * 10, "d": list("xxxyyyyyyy")}
    found = verify(table, quasi=["q"], sensitive="d", designated={"d": ["x"]}, designated_ell=3)

    assert found.columns["d"].to_dict()["designated_ell"]["value"] == 3.333333
    assert found.holds
    assert not verify(table, quasi=["q"], sensitive="d", designated={"d": ["x"]}, designated_ell=4).holds


def test_a_float_threshold_means_the_decimal_that_it_prints() -> None:
    table = {"q": ["a"] * 10, "d": list("xxxyyyzzwv")}  # alpha is exactly 3/10, above the binary number nearest to it

    assert Fraction(0.3) < Fraction(3, 10)
    assert verify(table, quasi=["q"], sensitive="d", alpha=0.3).holds
    assert verify(table, quasi=["q"], sensitive="d", alpha="3/10").holds
    assert not verify(table, quasi=["q"], sensitive="d", alpha=Fraction(0.3)).holds


def test_huge_thresholds_do_not_overflow() -> None:
    table, most = {"q": ["a", "a"], "d": ["x", "y"]}, 2**31 - 1
    found = verify(table, quasi=["q"], sensitive="d", k=most, ell=most, distinct_ell=most)

    assert [check.n_failing for check in found.checks] == [1, 1, 1]
    with pytest.raises(ParameterError, match="at most 2,147,483,647"):
        verify(table, quasi=["q"], k=most + 1)


# --- risk -------------------------------------------------------------------------------------------------------------


def test_prosecutor_and_marketer_risk_follow_from_group_sizes() -> None:
    risk = verify({"q": ["a"] * 4 + ["b"] * 5 + ["c"]}, quasi=["q"]).risk

    assert risk.prosecutor_highest == 1
    assert risk.prosecutor_average == risk.marketer == Fraction(3, 10)
    assert risk.at_risk == Fraction(5, 10)  # groups of five are at one fifth, not above


@pytest.mark.parametrize("fraction", [Fraction(1), Fraction(9, 10), Fraction(1, 2), Fraction(49, 100), Fraction(1, 10)])
def test_journalist_risk_is_the_expected_reciprocal_of_people(fraction: Fraction) -> None:
    sizes = np.array([1, 2, 3, 10, 29, 30, 31, 100])
    expected = [naive.expected_reciprocal(int(size), fraction) for size in sizes]

    assert _expected_reciprocals(sizes, float(fraction)) == pytest.approx(expected, rel=1e-9)


def test_journalist_risk_lies_between_the_sample_and_the_blown_up_sample() -> None:
    sizes, p = np.arange(1, 200), 1e-4
    risk = _expected_reciprocals(sizes, p)

    assert (np.diff(risk) < 0).all()
    assert (risk > p / sizes).all()  # Jensen: E[1/F] > 1/E[F]
    assert (risk < 1 / sizes).all()


@pytest.mark.parametrize("p", [0.3, 1e-2, 1e-6])
def test_journalist_risk_of_one_and_of_two_is_as_published(p: float) -> None:
    q = 1 - p  # the closed forms that sdcMicro and mu-Argus use
    expected = [-p / q * math.log(p), p / q**2 * (p * math.log(p) + q)]

    assert _expected_reciprocals(np.array([1, 2]), p) == pytest.approx(expected, rel=1e-12)


def test_a_table_of_the_whole_population_has_the_prosecutors_risk() -> None:
    risk = verify({"q": ["a"] * 4 + ["b"] * 6}, quasi=["q"], population=10).risk

    assert (risk.journalist_highest, risk.journalist_average) == (0.25, 0.2)


# --- what is refused --------------------------------------------------------------------------------------------------

TABLE = {"age": [1, 2], "zip": ["a", "b"], "disease": ["x", "y"]}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"quasi": []}, SchemaError, "at least one quasi-identifier"),
        ({"quasi": ["agee"]}, SchemaError, "did you mean 'age'"),
        ({"quasi": ["age"], "sensitive": "diseas"}, SchemaError, "did you mean 'disease'"),
        ({"quasi": ["age"], "sensitive": "age"}, SchemaError, "quasi-identifier and as sensitive"),
        ({"quasi": ["age", "age"]}, SchemaError, "named twice"),
        ({"quasi": ["age"], "ell": 2}, SchemaError, "no sensitive column"),
        ({"quasi": ["age"], "sensitive": "disease", "t": {"zip": 0.1}}, SchemaError, "no column 'zip'"),
        ({"quasi": ["age"], "ordered": {"zip": ["a", "b"]}}, SchemaError, "ordered, which takes sensitive"),
        ({"quasi": ["age"], "sensitive": "disease", "ordered": {"disease": ["x"]}}, DomainError, "leaves out 'y'"),
        (
            {"quasi": ["age"], "sensitive": "disease", "ordered": {"disease": ["x", "x", "y"]}},
            DomainError,
            "repeats 'x'",
        ),
        (
            {"quasi": ["age"], "sensitive": "disease", "designated": {"disease": ["z"]}},
            DomainError,
            r"does not contain this designated value \(check its spelling, or leave it out\): 'z'",
        ),
        ({"quasi": ["age"], "sensitive": "disease", "designated_ell": 2}, ParameterError, "designated="),
        (
            {"quasi": ["age"], "sensitive": "disease", "distance": "ordered"},
            ParameterError,
            "one of equal for 'disease'",
        ),
        ({"quasi": ["age"], "k": 0}, ParameterError, "k must be an integer >= 1, got 0"),
        ({"quasi": ["age"], "k": 2.0}, ParameterError, "k must be an integer >= 1, got 2.0"),
        ({"quasi": ["age"], "sensitive": "disease", "t": -0.1}, ParameterError, "t must be a number >= 0"),
        ({"quasi": ["age"], "sensitive": "disease", "t": float("nan")}, ParameterError, "t must be a number >= 0"),
        ({"quasi": ["age"], "sensitive": "disease", "recursive": 3}, ParameterError, "a pair"),
        ({"quasi": ["age"], "population": 1}, ParameterError, "population must be an integer >= 2"),
        ({"quasi": ["age"], "missing": "ignore"}, ParameterError, "'category', 'error' or 'drop'"),
        ({"quasi": ["age"], "kk": 2}, TypeError, "unexpected keyword argument 'kk'"),
    ],
)
def test_wrong_input_is_refused_with_what_to_do(options: dict[str, Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        verify(TABLE, **options)


def test_an_empty_table_is_refused() -> None:
    with pytest.raises(InputError, match="rows"):
        verify_table(pa.table({"q": pa.array([], pa.string())}), quasi=["q"])


def test_columns_of_one_name_are_refused() -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["q", "q"])

    with pytest.raises(SchemaError, match="2 columns named 'q'"):
        verify_table(twice, quasi=["q"])


def test_missing_values_are_an_error_where_that_is_asked() -> None:
    with pytest.raises(DomainError, match=r"missing values in age \(2\), disease \(1\)"):
        verify(
            {"age": [1, None, None], "disease": ["x", "y", None]}, quasi=["age"], sensitive="disease", missing="error"
        )


def test_a_taxonomy_that_does_not_cover_is_refused() -> None:
    with pytest.raises(DomainError):
        verify(
            TABLE, quasi=["age"], sensitive="disease", taxonomies={"disease": Taxonomy.from_nested({"any": ["x", "w"]})}
        )


# --- form -------------------------------------------------------------------------------------------------------------


def test_the_report_prints_and_turns_into_json() -> None:
    table = {"age": ["[20-30]", "[20-30]", "*"], "disease": ["flu", None, "*"], "pay": [1, 2, 3]}
    found = verify(table, quasi=["age"], sensitive=["disease", "pay"], k=2, ell=2, t=0.9, population=100)

    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    text = str(found)
    for words in (
        "smallest group, k",
        "age=* (1 record)",
        "FAILS  k = 2",
        "journalist",
        "pay contains amounts",
        "missing values: in disease (1); those of a column count as one value, which differs from every other value",
    ):
        assert words in text
    assert not found.holds


def test_sorted_and_shuffled_rows_of_many_groups_agree() -> None:
    generator = np.random.default_rng(5)
    n = 20_000
    columns = {f"q{i}": generator.integers(0, 12, n) for i in range(4)} | {"d": generator.integers(0, 200, n)}
    order = np.lexsort([columns[f"q{i}"] for i in range(4)])
    options = {"quasi": [f"q{i}" for i in range(4)], "sensitive": "d", "k": 3, "t": 0.9}

    expected = verify(columns, **options).to_dict()
    assert verify({name: values[order] for name, values in columns.items()}, **options).to_dict() == expected
    assert expected["groups"] == len(set(zip(*(columns[f"q{i}"].tolist() for i in range(4)), strict=True)))


def test_histograms_are_equal_counted_densely_or_by_sorting() -> None:
    generator = np.random.default_rng(6)
    labels, codes = generator.integers(0, 40, 500), generator.integers(0, 300, 500)
    division = divide([encode("q", pa.chunked_array([pa.array(labels)]))])
    sparse = histograms(division, encode("d", pa.chunked_array([pa.array(codes)])))
    counted: dict[tuple[int, int], int] = {}
    for label, code in zip(labels.tolist(), codes.tolist(), strict=True):
        counted[label, code] = counted.get((label, code), 0) + 1

    assert sorted(sparse.counts.tolist()) == sorted(counted.values())
    assert len(sparse.counts) == len(counted)
    assert (sparse.sizes == np.add.reduceat(sparse.counts, sparse.offsets[:-1])).all()
