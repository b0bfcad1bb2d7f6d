"""Whatever strangers wrote, the doors take it or refuse it in our own words, soon, and with little memory.

The small tier; the long one is ``python -m tests.doors.fuzz MINUTES``.
"""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.doors.fuzz import confined as limits
from tests.doors.fuzz import corpora
from tests.doors.fuzz.confined import Confined, Finding, findings
from tests.doors.fuzz.doors import DOORS, Case, enter
from tests.doors.fuzz.mutating import ODD_VALUES
from tests.doors.fuzz.toml_text import toml_of
from tests.tiers import LOOK, examples

CASES = {
    "reader": 250, "policy": 200, "sql": 200, "package": 200, "recipe": 150, "attacks": 60, "commands": 80,
    "population": 150,
}  # fmt: skip
REFUSED = {"odd.arrow", "odd.arrows", "bad.arrow", "bad.parquet"}  # for columns that no table should have
few = settings(max_examples=examples(120), suppress_health_check=list(HealthCheck), deadline=None)


@pytest.fixture(scope="module")
def confined() -> Iterator[Confined]:
    with Confined() as process:
        yield process


@pytest.mark.parametrize("door", DOORS)
def test_whatever_comes_is_taken_or_refused_in_our_own_words(door: str, confined: Confined) -> None:
    start = secrets.randbelow(1 << 40) if LOOK else 0
    found = list(findings(((door, start + i) for i in range(CASES[door])), confined))

    assert not found, "\n".join(
        f"python -m tests.doors.fuzz again {f.door} {f.number}: {f.what}\n{f.trace}" for f in found
    )


def test_what_is_damaged_is_often_taken_and_often_refused(confined: Confined) -> None:
    """Cases that are all refused at the threshold would find nothing behind it."""
    for door in DOORS:
        before = confined.n_taken, confined.n_refused
        assert not list(findings(((door, i) for i in range(90)), confined))
        taken, refused = confined.n_taken - before[0], confined.n_refused - before[1]
        assert taken >= 3, door
        assert refused >= 3, door


# ------------------------------------------------------------------------------------------------- what is not damaged


@pytest.mark.parametrize("name", corpora.table_files())
def test_files_that_nobody_damaged_are_read(name: str, tmp_path: Path) -> None:
    assert enter("reader", Case(files={name: corpora.table_files()[name]}), tmp_path / "in") == (name not in REFUSED)


@pytest.mark.parametrize("text", corpora.POLICIES)
def test_policies_that_nobody_damaged_are_read(text: str, tmp_path: Path) -> None:
    for name, content in (("policy.toml", text), ("policy.toml", toml_of(tomllib.loads(text)))):
        assert enter("policy", Case(files={name: content.encode()}), tmp_path / "in")


def test_questions_that_nobody_damaged_are_answered(tmp_path: Path) -> None:
    for text in corpora.QUESTIONS:
        assert enter("sql", Case(text=text, release="boxes"), tmp_path / "in")


def test_packages_that_nobody_damaged_are_loaded(tmp_path: Path) -> None:
    for name, files in corpora.folders().items():
        asked = enter("package", Case(files=files), tmp_path / "in")
        assert asked == (not name.startswith(("angel", "perturbed", "closeness")))  # not every attack is for them


def test_what_was_learned_and_nobody_damaged_is_loaded(tmp_path: Path) -> None:
    for name, (_, content) in corpora.populations().items():
        assert enter("population", Case(files={"learned.json": content}, release=name), tmp_path / "in")


# --------------------------------------------------------------------------------------------------- the watch itself


def test_the_watch_sees_other_exceptions_hangs_memory_and_sudden_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PATIENCE", 120.0)  # on a busy machine a process takes long to start
    with Confined() as process:
        assert process.carry("no such door", 1) == Finding(
            door="no such door", number=1, what="the process ended with 1"
        )
        seen = [process.carry(door, 1) for door in ("surprise", "memory", "end")]
        monkeypatch.setattr(limits, "PATIENCE", 0.5)
        seen.append(process.carry("hang", 1))
    assert all(seen)
    starts = ["ZeroDivisionError", "large: ", "the process ended with -6", "it hangs: "]
    assert [found.what.startswith(start) for found, start in zip(seen, starts, strict=True) if found] == [True] * 4, (
        seen
    )


# ---------------------------------------------------------------------------------------------------------- hypothesis

cells = st.one_of(
    st.integers(), st.floats(), st.text(max_size=9), st.dates(), st.none(), st.sampled_from(["01", "+1", "NA", '"'])
)
rows = st.lists(st.lists(cells, min_size=1, max_size=5), min_size=1, max_size=6)


@few
@given(rows=rows, signs=st.sampled_from([",", ";", "\t", "|", ", "]), end=st.sampled_from(["\n", "\r\n", "\r", ""]))
def test_any_rows_of_text_are_a_table_or_refused(
    rows: list[list[object]], signs: str, end: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = end.join(signs.join(map(str, row)) for row in rows)
    enter("reader", Case(files={"people.csv": text.encode("utf-8", "replace")}), tmp_path_factory.mktemp("in") / "x")


@few
@given(
    start=st.sampled_from([b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b""]),
    rest=st.binary(),
)
def test_any_bytes_are_a_table_or_refused(start: bytes, rest: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    for content in (start + rest, start + rest + start[:4]):
        enter("reader", Case(files={"people": content}), tmp_path_factory.mktemp("in") / "x")


names = st.sampled_from([*corpora.VALUES, "release", "nobody"])
literals = st.one_of(
    st.integers().map(str), st.floats().map(str), st.dates().map("DATE '{}'".format), st.sampled_from(["NULL", "TRUE"]),
    st.text(max_size=6).map(lambda text: "'" + text.replace("'", "''") + "'"),
)  # fmt: skip
tests_ = st.builds(
    lambda name, how, value: f'"{name}" {how} {value}',
    names,
    st.sampled_from(["=", "<>", "<", ">=", "IS", "LIKE"]),
    literals,
)
conditions = st.recursive(
    tests_,
    lambda inner: st.one_of(
        inner.map("NOT ({})".format),
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda parts: "({} {} {})".format(*parts)),
    ),
    max_leaves=8,
)


@few
@given(where=conditions, release=st.sampled_from(["boxes", "anatomy", "perturbed"]))
def test_any_condition_is_answered_or_refused(
    where: str, release: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    case = Case(text=f"SELECT COUNT(*), AVG(age) WHERE {where}", release=release)
    enter("sql", case, tmp_path_factory.mktemp("in") / "x")


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(ODD_VALUES)
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


@few
@given(part=st.sampled_from(["principle", "method", "recoding", "columns", "guarantee"]), value=anything)
def test_any_recipe_is_believed_or_refused(part: str, value: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    import json

    files = dict(corpora.folders()["anatomy.parquet"])
    manifest = json.loads(files["datapackage.json"])
    place = manifest["glasshouse"] if part in ("columns", "guarantee") else manifest["glasshouse"]["recipe"]
    place[part] = {**place[part], **value} if isinstance(value, dict) and isinstance(place[part], dict) else value
    files["datapackage.json"] = json.dumps(manifest).encode()
    enter("package", Case(files=files), tmp_path_factory.mktemp("in") / "x")
