"""Same key, same bytes: memory, a file in memory, and a file on disk publish the same folder.

A release is a function of how many people there are of each kind, and of the secret key. So nothing shows of the
engine, the order of rows, the format of the file, the number of threads, or how often something was spilled. Sizes of
parts and pieces are small here, so that every table has several files and every method several pieces. (Spark is held
to the same law where it is installed: `tests/doors/spark`.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
import glasshouse.journeys.publish as journey
from glasshouse.streaming.publish import publish_file
from glasshouse.streaming.spill import Disk, Layout, Spill
from tests.laws.people import GRADES, PLACES, SENSITIVE, People, leaves
from tests.laws.publishing import Published, assert_lawful
from tests.laws.samples import METHODS, PERTURBED, PLAIN_PRINCIPLES, RECODINGS, SMALL_TABLES, TARGETS, RecodingSample

pytestmark = pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")  # some methods promise less

DIVERSE = next(sample for sample in PLAIN_PRINCIPLES if sample.principle == gh.LDiversity(ell=2))
SIZES = [(1 << 22, 1 << 19), (40, 30), (25, 64), (70, 17)]  # rows of a part, people of a piece
DIVIDED = ["sift", "mirror", "anatomize", "mondrian", "snug", "tailor", "hybrid"]
METHODS_HERE = [method for method in METHODS if method.name not in SMALL_TABLES]
COMBINED = [
    (method, recoding, SIZES[(i + j) % 4])
    for i, method in enumerate(METHODS_HERE)
    for j, recoding in enumerate(RECODINGS)
    if method.name in DIVIDED or (i + j) % 5 == 0
]


def hospital(n: int) -> People:
    """Many people of equal kinds, values that are missing, a tree, an order, and rows in no order."""
    places = [*leaves(PLACES), None]
    draw = np.random.default_rng(8)
    columns: dict[str, list[Any]] = {
        "q0": [places[i] for i in draw.integers(0, 10, n)],
        "q1": [None if i == 9 else 30 + i for i in draw.integers(0, 10, n).tolist()],
        "q2": [GRADES[i] for i in draw.integers(0, 5, n)],
        "sensitive": [SENSITIVE[min(i, 5)] for i in draw.integers(0, 8, n)],
        "who": [f"person {i}" for i in draw.permutation(n)],
    }
    return People(
        columns=columns, quasi=("q0", "q1", "q2"), identifier="who", trees={"q0": PLACES}, orders={"q2": GRADES}
    )


PEOPLE = hospital(130)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def as_file(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".csv":
        pa_csv.write_csv(table, path)
    else:
        pq.write_table(table, path, row_group_size=23)
    return path


@contextmanager
def of_size(part_rows: int, piece: int, page: int = 3) -> Iterator[None]:
    """Small parts and pieces for tables in memory too; and a disk that is written to all the time."""

    def spill(self: Disk, layout: Layout, n_partitions: int) -> Spill:
        return Spill(self.folder, layout, n_partitions, page)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journey, "PART_ROWS", part_rows)
        patch.setattr(journey, "PIECE", piece)
        patch.setattr(Disk, "spill", spill)
        yield


def everywhere(
    table: pa.Table, options: Mapping[str, Any], folder: Path, size: tuple[int, int], **choices: Any
) -> Iterator[tuple[str, Path, list[int]]]:
    """Publish a table by every engine; each gives its name, its folder, and the order in which it got the rows."""
    part_rows, piece = size
    choices = {"allow_seed": True, **choices}

    def publish(engine: str, out: Path, file: Path, threads: int) -> None:
        own = {**choices, "source": gh.Source.seeded(11), "threads": threads}
        if engine == "frame":
            with of_size(part_rows, piece):
                gh.publish(gh.read(file, **options), out=out, **own)
        else:
            with of_size(1, 1):  # of which files know nothing
                publish_file(out, file, **options, **own, engine=engine, part_rows=part_rows, piece=piece)

    variants = [
        ("frame", "parquet", 1, 0),
        ("frame", "csv", 3, 1),
        ("memory", "csv", 1, 2),
        ("memory", "parquet", 3, 0),
        ("disk", "parquet", 3, 3),
        ("disk", "csv", 1, 0),
    ]
    for number, (engine, format, threads, seed) in enumerate(variants):
        order = np.random.default_rng(seed).permutation(table.num_rows) if seed else np.arange(table.num_rows)
        file = as_file(table.take(order), folder / f"{number}.{format}")
        out = folder / f"{number}"
        publish(engine, out, file, threads)
        yield f"{engine} {format}", out, order.tolist()


def labels_of(out: Path, table: People, order: Sequence[int]) -> tuple[int, ...]:
    """The group of every row of the table, less 1, from the audit; -1 for those who are not published."""
    partition = pq.read_table(out / "audit" / "partition.parquet")
    numbers = [-1 if number is None else number - 1 for number in partition["group"].to_pylist()]
    if table.identifier is not None:
        known = dict(zip(partition["identifier"].to_pylist(), numbers, strict=True))
        return tuple(known[who] for who in table.columns[table.identifier])
    assert partition["row"].to_pylist() == list(range(table.n))
    found = dict(zip(order, numbers, strict=True))
    return tuple(found[row] for row in range(table.n))


def assert_same(
    table: People, recoding: RecodingSample, folder: Path, size: tuple[int, int], **choices: Any
) -> dict[str, bytes]:
    """All engines give the same files, and everybody's group in every audit agrees with them; the files."""
    expected: dict[str, bytes] | None = None
    for name, out, order in everywhere(
        table.arrow(), table.options, folder, size, recoding=recoding.recoding, **choices
    ):
        found = files_of(out / "release")
        if expected is None:
            expected, release = found, gh.load(out / "release")
        assert expected.keys() == found.keys(), name
        assert [file for file in expected if expected[file] != found[file]] == [], name
        assert_lawful(table, Published(release, found, labels_of(out, table, order)), {"sensitive": DIVERSE}, recoding)
    assert expected is not None
    return expected


@pytest.mark.parametrize(("method", "recoding", "size"), COMBINED, ids=repr)
def test_every_engine_publishes_the_same_bytes(
    method: Any, recoding: RecodingSample, size: tuple[int, int], tmp_path: Path
) -> None:
    files = assert_same(PEOPLE, recoding, tmp_path, size, principle=DIVERSE.principle, method=method)

    if size[0] < 50 and method.name in ("sift", "mirror", "anatomize"):  # others may make few groups
        assert any("part-00001" in name for name in files)


@pytest.mark.parametrize("recoding", PERTURBED, ids=repr)
def test_every_engine_perturbs_alike(recoding: RecodingSample, tmp_path: Path) -> None:
    folders = everywhere(
        PEOPLE.arrow(), PEOPLE.options, tmp_path, (9, 30), principle=TARGETS[0], recoding=recoding.recoding
    )
    expected, *others = [files_of(out / "release") for _, out, _ in folders]

    assert all(expected == found for found in others)
    assert "data/part-00001.parquet" in expected


def two_columns(n: int = 160) -> pa.Table:
    """Amounts for bins, dates, texts with gaps, and two sensitive columns of which one has a value too often."""
    draw = np.random.default_rng(3)
    illness = ["flu"] * (n * 3 // 5) + [f"d{i % 7}" for i in range(n - n * 3 // 5)]
    return pa.table(
        {
            "born": pa.array(np.datetime64("1960-01-01") + draw.integers(0, 40, n) * 300),
            "sex": [["f", "m", None][i] for i in draw.choice(3, n, p=[0.5, 0.4, 0.1])],
            "income": draw.integers(0, 60_000, n),
            "illness": draw.permutation(illness),
            "job": [None if i == 5 else f"job {i}" for i in draw.integers(0, 6, n)],
        }
    )


ROLES: dict[str, Any] = {
    "quasi": ["born", "sex", "income"],
    "sensitive": ["illness", "job"],
    "bins": {"income": gh.Taxonomy.intervals(width=5_000)},
}


@pytest.mark.parametrize("missing", ["category", "drop"])
@pytest.mark.parametrize(
    ("method", "recoding", "format", "size"),
    [
        ("mirror", "boxes", "parquet", (40, 30)),
        ("mirror", "anatomy", "csv", (33, 20)),
        ("snug", "permutation", "csv", (50, 64)),
        ("mondrian", "boxes", "csv", (29, 25)),
        (gh.Mondrian(partitioning="relaxed"), "anatomy", "parquet", (40, 30)),
    ],
)
def test_two_sensitive_columns_bins_and_suppression_are_the_same_everywhere(
    method: Any, recoding: str, format: str, size: tuple[int, int], missing: str, tmp_path: Path
) -> None:
    table = two_columns()
    choices = {"principle": gh.LDiversity(ell=2), "suppress": "1/3", "format": format}
    expected: Mapping[str, bytes] = {}
    for name, out, order in everywhere(
        table, {**ROLES, "missing": missing}, tmp_path, size, method=method, recoding=recoding, **choices
    ):
        found = files_of(out / "release")
        expected = expected or found
        assert expected == found, name
        _assert_recounted(table.take(order), out, missing)


def _assert_recounted(table: pa.Table, out: Path, missing: str) -> None:
    """The sensitive values of every group are those of the people whom the audit puts there."""
    release = gh.load(out / "release")
    if missing == "drop":
        table = table.filter(pa.array([None not in row.values() for row in table.to_pylist()]))
    groups = pq.read_table(out / "audit" / "partition.parquet")["group"].to_pylist()
    assert (release.n_tuples, release.n_suppressed > 0) == (len(groups) - groups.count(None), True)
    for column in ("illness", "job"):
        own = Counter(zip(groups, table[column].to_pylist(), strict=True))
        own = Counter({key: count for key, count in own.items() if key[0] is not None})
        shown = next(data for data in release.tables.values() if column in data.column_names)
        if "Group-ID" not in shown.column_names:  # boxes: the values of all groups together
            values = Counter({value: 0 for _, value in own})
            for (_, value), count in own.items():
                values[value] += count
            assert values == Counter(shown[column].to_pylist())
            continue
        counts = shown["Count"].to_pylist() if "Count" in shown.column_names else [1] * shown.num_rows
        told: Counter[Any] = Counter()
        for number, value, count in zip(shown["Group-ID"].to_pylist(), shown[column].to_pylist(), counts, strict=True):
            told[number, value] += count
        assert told == own


def test_another_key_and_another_size_of_pieces_make_other_choices(tmp_path: Path) -> None:
    """So that the comparisons above compare something."""
    file = as_file(PEOPLE.arrow(), tmp_path / "people.parquet")
    made = {}
    for name, seed, piece in (("a", 1, 30), ("b", 1, 30), ("c", 2, 30), ("d", 1, 64)):
        source = gh.Source.seeded(seed)
        publish_file(
            tmp_path / name, file, **PEOPLE.options, principle="2-diversity", source=source, allow_seed=True,
            piece=piece, part_rows=40,
        )  # fmt: skip
        made[name] = files_of(tmp_path / name / "release")

    assert made["a"] == made["b"]
    assert made["a"] != made["c"]
    assert made["a"] != made["d"]
