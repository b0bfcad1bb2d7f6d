"""A release that is verified as a stream: the same verdict as in memory, and the order of rows besides."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.journeys.recheck import verify_stream
from glasshouse.release.package.folders import new_folder
from glasshouse.release.package.write import write_release
from glasshouse.verification.limit import Question
from glasshouse.verification.order import CodedColumn, RowOrder
from glasshouse.verification.stream_count import count_stream
from glasshouse.verification.tally import Tally
from tests.rooms.release.kinds import KINDS, of_kind

PEOPLE = 400


def people(seed: int = 1) -> gh.Microdata:
    chance = np.random.default_rng(seed)
    columns = {
        "age": chance.integers(5, 120, PEOPLE),
        "sex": chance.choice(["F", "M"], PEOPLE),
        "city": chance.choice(["Oslo", "Rome", "Faro", "Bonn"], PEOPLE),
        "disease": chance.choice(["flu", "gout", "ulcer", "cold", "acne", "asthma"], PEOPLE),
    }
    return gh.read(pa.table(columns), quasi=["age", "sex", "city"], sensitive="disease", ordered={"city": CITIES})


CITIES = ["Rome", "Bonn", "Oslo", "Faro"]


def released(recoding: Any, method: Any = None, **options: Any) -> gh.Release:
    return gh.publish(people(), principle=gh.LDiversity(ell=3), recoding=recoding, method=method or "sift", **options)


RECODINGS = {"anatomy": gh.Anatomy(), "angel": gh.Angel(k=4), "boxes": gh.Boxes()}


def put(folder: Path, release: gh.Release, rows: int = 37, format: str = "parquet") -> Path:
    borders = {name: list(range(rows, table.num_rows, rows)) for name, table in release.tables.items()}
    with new_folder(folder, force=True) as new:
        write_release(release, new, format, borders)
    return folder


def failing(folder: Path) -> list[str]:
    return [check.asked for check in verify_stream(folder).checks if not check.holds]


# ------------------------------------------------------------------------------------------------------ the same count


@pytest.mark.parametrize("format", ["parquet", "csv"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_counted_as_in_memory(kind: str, format: str, tmp_path: Path) -> None:
    for rows in (1, 4, 1000):
        folder = put(tmp_path / f"r{rows}", of_kind(kind), rows, format)
        one, other = verify_stream(folder), gh.verify(gh.load(folder))
        asked = {(check.asked, check.column): check.holds for check in other.checks}
        ascend = [check for check in other.checks if check.asked.endswith("are in ascending order")]

        assert one.holds
        assert other.holds
        assert (one.n_tuples, one.n_groups, one.k) == (other.n_tuples, other.n_groups, other.k)
        assert asked == {(check.asked, check.column): check.holds for check in one.checks}
        assert len(ascend) == len(of_kind(kind).tables)
        assert one.risk == other.risk


@pytest.mark.parametrize("name", RECODINGS)
def test_a_release_that_breaks_its_promise_is_found_out_as_in_memory(name: str, tmp_path: Path) -> None:
    made = released(RECODINGS[name])
    (ell,) = {made.recipe.principle["ell"]}
    greedy = {**made.recipe.principle, "ell": ell + 2}
    recipe = replace(made.recipe, principle=greedy)
    told = replace(made, recipe=recipe, other_writer="")
    folder = put(tmp_path / "r", told)
    manifest = json.loads((folder / "datapackage.json").read_text())
    manifest["glasshouse"]["software"] = "glasshouse 0.0.9"  # whose words are not compared
    (folder / "datapackage.json").write_text(json.dumps(manifest))

    (one,) = (check for check in verify_stream(folder).checks if check.asked == "ell = 5")
    (other,) = (check for check in gh.verify(gh.load(folder)).checks if check.asked == "ell = 5")
    assert not one.holds
    assert (one.n_failing, one.n_tuples) == (other.n_failing, other.n_tuples)


# -------------------------------------------------------------------------------------------------- broken on purpose


def with_tables(release: gh.Release, **tables: pa.Table) -> gh.Release:
    return replace(release, tables={**release.tables, **tables})


def swapped(table: pa.Table, one: int, two: int) -> pa.Table:
    order = list(range(table.num_rows))
    order[one], order[two] = order[two], order[one]
    return table.take(order)


@pytest.mark.parametrize("name", RECODINGS)
def test_any_two_different_rows_that_changed_places_are_noticed(name: str, tmp_path: Path) -> None:
    made = released(RECODINGS[name])
    chance = np.random.default_rng(3)
    for table in made.tables:
        rows = made.tables[table].to_pylist()
        for _ in range(8):
            one, two = sorted(chance.choice(len(rows), 2, replace=False).tolist())
            if rows[one] == rows[two]:
                continue
            folder = put(tmp_path / "r", with_tables(made, **{table: swapped(made.tables[table], one, two)}))
            assert failing(folder), (table, one, two)
            assert not gh.verify(gh.load(folder)).holds, (table, one, two)


def test_two_parts_that_changed_places_with_their_sums_are_noticed(tmp_path: Path) -> None:
    for name, recoding in RECODINGS.items():
        folder = put(tmp_path / name, released(recoding), 50)
        for table in sorted(path.name for path in folder.iterdir() if path.is_dir()):
            one, two = folder / table / "part-00000.parquet", folder / table / "part-00001.parquet"
            contents = one.read_bytes(), two.read_bytes()
            one.write_bytes(contents[1])
            two.write_bytes(contents[0])
            tell(folder)
            assert gh.load(folder).n_tuples == PEOPLE  # as a table it is what it was, but for its order
            assert not gh.verify(gh.load(folder)).holds
            assert failing(folder), (name, table)
            one.write_bytes(contents[0])
            two.write_bytes(contents[1])
            tell(folder)
            assert not failing(folder)


def tell(folder: Path) -> None:
    """Write true sizes, rows and sums into the manifest."""
    manifest = json.loads((folder / "datapackage.json").read_text())
    for entry in manifest["glasshouse"]["files"]:
        content = (folder / entry["path"]).read_bytes()
        entry["bytes"], entry["hash"] = len(content), f"sha256:{hashlib.sha256(content).hexdigest()}"
        if "rows" in entry:
            entry["rows"] = pq.read_metadata(folder / entry["path"]).num_rows
    (folder / "datapackage.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def test_a_table_in_the_order_of_sensitive_values_is_found_out(tmp_path: Path) -> None:
    """The r-th person of a group would have the group's r-th value: all counts are right, and everybody is exposed."""
    made = released(gh.Anatomy())
    qit = made.tables["qit"]
    chance = np.random.default_rng(5)
    secret = pa.array(chance.permutation(qit.num_rows))  # as if by values that are not in the table
    leaking = qit.append_column("s", secret).sort_by([("Group-ID", "ascending"), ("s", "ascending")]).drop_columns("s")
    folder = put(tmp_path / "r", with_tables(made, qit=leaking))

    (found,) = failing(folder)
    assert found.startswith("the rows of the table 'qit' are in ascending order (row ")
    assert [found] == [check.asked for check in gh.verify(gh.load(folder)).checks if not check.holds]
    assert "the rows of the table 'qit' are not in ascending order (row " in gh.verify(folder).verdict

    only = gh.read(pa.table({"sex": ["F", "M"] * 30, "ill": ["a", "b", "c"] * 20}), quasi=["sex"], sensitive="ill")
    made = gh.publish(only, principle=gh.LDiversity(ell=3), recoding=gh.Anatomy())
    qit = made.tables["qit"]
    secret = pa.array(chance.permutation(qit.num_rows))
    leaking = qit.append_column("s", secret).sort_by([("Group-ID", "ascending"), ("s", "ascending")]).drop_columns("s")
    (found,) = failing(put(tmp_path / "r", with_tables(made, qit=leaking)))
    assert "(no order of the values of sex fits all rows: " in found


def test_tables_that_tell_different_groups_are_found_out(tmp_path: Path) -> None:
    made = released(gh.Angel(k=4))
    gt = made.tables["gt"]
    place = gt.column_names.index("Batch-ID")
    numbers = np.asarray(gt["Batch-ID"]).copy()
    other = next(i for i in range(1, len(numbers)) if numbers[i] != numbers[0])
    numbers[other] = numbers[0]
    wrong = gt.set_column(place, "Batch-ID", pa.array(numbers))

    for table in (wrong, gt.set_column(place, "Batch-ID", pa.array(numbers + 1))):
        with pytest.raises(gh.SourceError):
            gh.load(put(tmp_path / "r", with_tables(made, gt=table)))
        (found,) = failing(tmp_path / "r")
        assert "as many records in every group" in found or "a group that does not exist" in found


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda st: st.slice(1), "numbered|as many"),
        (lambda st: st.set_column(2, "Count", pc.add(st["Count"], 1)), "as many"),
        (lambda st: st.set_column(2, "Count", pc.subtract(st["Count"], 1)), "below 1"),
        (lambda st: pa.concat_tables([st.slice(0, 1), st.slice(0, 1), st.slice(2)]), "twice"),
        (lambda st: st.set_column(0, "Group-ID", pc.add(st["Group-ID"], 1)), "numbered"),
        (lambda st: st.filter(pc.less(st["Group-ID"], 5)), "same groups"),
    ],
)
def test_a_table_of_values_that_does_not_fit_is_found_out(
    change: Callable[[pa.Table], pa.Table], match: str, tmp_path: Path
) -> None:
    made = released(gh.Anatomy())
    folder = put(tmp_path / "r", with_tables(made, st=change(made.tables["st"])))
    (found,) = failing(folder)

    assert any(word in found for word in match.split("|"))


# ----------------------------------------------------------------------------------------------------------- the order


def ordered(columns: Sequence[Sequence[Any]], *, natural: bool, size: int = 2, many: int = 1 << 22) -> str | None:
    coded = [CodedColumn(f"c{i}", natural=natural) for i in range(len(columns))]
    order = RowOrder(coded, 1, many=many)
    table = pa.table({f"c{i}": pa.array(values) for i, values in enumerate(columns)})
    for start in range(0, table.num_rows, size):
        order.see([column.codes(table[column.name].slice(start, size)) for column in coded])
    return order.broken()


def test_an_order_is_found_wherever_there_is_one() -> None:
    """Against all orders of the values, one after the other."""
    chance = np.random.default_rng(7)
    for _ in range(300):
        n, width = int(chance.integers(1, 9)), int(chance.integers(1, 3))
        rows = [tuple(str(v) for v in chance.integers(0, 3, width)) for _ in range(n)]
        if chance.random() < 0.7:
            ranks = [chance.permutation(3) for _ in range(width)]
            rows.sort(key=lambda row: [int(rank[int(v)]) for rank, v in zip(ranks, row, strict=True)])
        orders = itertools.product(itertools.permutations(range(3)), repeat=width)
        keys = ([[rank[int(v)] for rank, v in zip(chosen, row, strict=True)] for row in rows] for chosen in orders)
        exists = any(key == sorted(key) for key in keys)
        columns = list(zip(*rows, strict=True))
        for size in (1, 2, 100):
            assert (ordered(columns, natural=False, size=size) is None) == exists, rows


def test_numbers_and_dates_have_their_own_order() -> None:
    assert ordered([[1, 2, 10]], natural=True) is None
    assert ordered([[1, 10, 2]], natural=True) == "row 3 should come before the row above it, in the order of c0"
    assert ordered([[1, 10, 2]], natural=False) is None  # an order may have been declared
    assert ordered([[-1.5, -0.0, 0.0, 2.5, None]], natural=True) is None
    assert ordered([[-1.5, -2.5]], natural=True) is not None
    assert ordered([[False, True, None]], natural=True) is None
    assert ordered([[None, 1]], natural=True) is not None
    assert ordered([pa.array([1, 2], pa.date32())], natural=True) is None
    assert ordered([pa.array([2, 1], pa.timestamp("us"))], natural=True) is not None
    assert (
        ordered([[1, 1, 2], [5, 4, 4]], natural=True) == "row 2 should come before the row above it, in the order of c1"
    )


def test_very_many_exact_texts_must_ascend_as_texts_do() -> None:
    texts = [f"{i:05}" for i in range(70_000)]

    assert ordered([[*texts, None]], natural=True, size=1000, many=10) is None
    assert ordered([[*texts, "00007x"]], natural=True, size=1000, many=10) == "'69999' comes before '00007x' in c0"
    assert ordered([[*texts, "00007x"]], natural=True, size=1000) is None
    assert ordered([[*texts, "00007"]], natural=True, size=1000) is not None


# ---------------------------------------------------------------------------------------------------------- the tally


def test_groups_are_counted_wherever_batches_end() -> None:
    chance = np.random.default_rng(11)
    for _ in range(200):
        n = int(chance.integers(1, 30))
        keys = np.sort(chance.integers(0, 5, n))
        values = chance.integers(1, 4, n)
        begins = np.append(True, keys[1:] != keys[:-1])
        size = int(chance.integers(1, 8))
        tally = Tally(1)
        steps = [
            tally.see(begins[i : i + size], [keys[i : i + size]], [(values[i : i + size], 4)])
            for i in range(0, n, size)
        ]
        steps.append(tally.finish())
        groups = [values[keys == key] for key in np.unique(keys)]

        assert np.concatenate([s.keys[0] for s in steps]).tolist() == np.unique(keys).tolist()
        assert np.concatenate([s.sizes for s in steps]).tolist() == [len(group) for group in groups]
        assert np.concatenate([s.tops[0] for s in steps]).tolist() == [np.bincount(group).max() for group in groups]
        assert np.concatenate([s.distinct[0] for s in steps]).tolist() == [len(set(group)) for group in groups]


def test_a_value_that_is_listed_twice_is_noticed_across_batches() -> None:
    for cut in (1, 2):
        tally = Tally(1, weighted=True)
        begins, keys, values = np.array([True, False, False]), np.array([1, 1, 1]), np.array([1, 2, 1])
        ones = np.ones(3, np.int64)
        tally.see(begins[:cut], [keys[:cut]], [(values[:cut], 3)], ones[:cut])
        with pytest.raises(gh.GuaranteeBroken, match="twice"):
            tally.see(begins[cut:], [keys[cut:]], [(values[cut:], 3)], ones[cut:])


def test_exact_shares_are_not_rounded() -> None:
    from fractions import Fraction

    table = pa.table({"q": ["a"] * 3, "x": ["u", "u", "v"]})
    for alpha, holds in ((Fraction(2, 3), True), (Fraction(2 * 10**30 - 1, 3 * 10**30), False)):
        question = Question(limits={"alpha": {"x": alpha}, "distinct_ell": {"x": 2}})
        found = count_stream(
            lambda name, columns: iter([table.select(list(columns))]),
            {"data": ["q", "x"]},
            quasi=["q"],
            sensitive=["x"],
            asked=lambda _, own=question: [own],
        )
        assert found.verification.holds is holds
