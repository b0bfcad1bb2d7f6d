# SPDX-License-Identifier: Apache-2.0
"""Editions: what was published stays, those who came are divided alone, and nobody is published twice."""

from __future__ import annotations

import json
import shutil
import stat
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import glasshouse as gh
from glasshouse.journeys.ledger import Ledger
from glasshouse.journeys.recheck import verify_parts, verify_stream
from glasshouse.release.edition import check_editions

RECODINGS = ["anatomy", "permutation", "angel"]
VALUES = "abcdefg"


def people(
    ids: Any, *, seed: int = 0, changed: Any = (), moved: Any = (), values: str = VALUES
) -> dict[str, list[Any]]:
    """Rows of some people, the same for the same identifier."""
    found: dict[str, list[Any]] = {"id": [], "age": [], "sex": [], "ill": []}
    for own in ids:
        source = Random(1000 * seed + own)
        age, sex, ill = source.randint(20, 60), source.choice("FM"), source.choice(values)
        found["id"].append(own)
        found["age"].append(age + (own in moved))
        found["sex"].append(sex)
        found["ill"].append(values[(values.index(ill) + (own in changed)) % len(values)])
    return found


def table(ids: Any, **given: Any) -> gh.Microdata:
    return gh.read(people(ids, **given), identifier="id", quasi=["age", "sex"], sensitive="ill")


def publish(ids: Any, out: Path, *, seed: int = 1, **given: Any) -> gh.Release:
    """The first edition if nothing comes before, with people of these identifiers."""
    of_people = {name: given.pop(name) for name in ("changed", "moved", "values") if name in given}
    if "after" not in given:
        given = {"principle": "3-diversity", "recoding": "anatomy", **given}
    source = gh.Source.seeded(seed)
    return gh.publish(table(ids, **of_people), source=source, allow_seed=True, out=out, **given)


def rows(published: pa.Table) -> list[dict[str, Any]]:
    return list(published.to_pylist())


@pytest.fixture(params=RECODINGS)
def three(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, list[gh.Release], Path]:
    """Three editions in which people come and leave."""
    first = publish(range(120), tmp_path / "1", recoding=request.param, edition=2026)
    second = publish(range(10, 200), tmp_path / "2", seed=2, after=tmp_path / "1", edition=2027)
    third = publish(range(30, 260), tmp_path / "3", seed=3, after=tmp_path / "2", edition=2028)
    return request.param, [first, second, third], tmp_path


def test_what_was_published_stays_as_it_is(three: tuple[str, list[gh.Release], Path]) -> None:
    _, releases, folder = three
    for number, later in enumerate(releases):
        loaded = gh.load(folder / str(number + 1) / "release")
        assert loaded.editions == later.editions
        for earlier in releases[:number]:
            for name, old in earlier.tables.items():
                assert rows(loaded.tables[name].slice(0, old.num_rows)) == rows(old)
    for label, alone in (2026, releases[0]), (2027, releases[1]):
        assert {name: rows(t) for name, t in gh.edition_of(releases[2], label).tables.items()} == {
            name: rows(t) for name, t in gh.edition_of(alone, label).tables.items()
        }


def test_an_edition_is_what_its_people_alone_would_be(three: tuple[str, list[gh.Release], Path]) -> None:
    """Nothing of an edition depends on people of others: the same coins give the same tables without them."""
    recoding, releases, _ = three
    source = gh.Source.seeded(2)
    alone = gh.publish(table(range(120, 200)), principle="3-diversity", recoding=recoding, source=source)
    own = gh.edition_of(releases[1], 2027)
    assert {name: rows(t) for name, t in own.tables.items()} == {name: rows(t) for name, t in alone.tables.items()}
    assert own.guarantee == alone.guarantee
    assert own.columns == alone.columns


@pytest.mark.parametrize("method", ["sift", "mirror", "anatomize", "tailor", "ace", "hybrid"])
@pytest.mark.parametrize("recoding", RECODINGS)
def test_domains_of_an_edition_are_those_of_its_own_people(tmp_path: Path, recoding: str, method: str) -> None:
    """Earlier people are old beyond measure and have illnesses of their own: nothing of that decides anything."""
    roles: dict[str, Any] = {"identifier": "id", "quasi": ["age", "height"], "sensitive": "ill"}

    def read(ids: range) -> gh.Microdata:
        own = people(ids)
        ages = [age * 10_000 if i < 60 else age for i, age in zip(own["id"], own["age"], strict=True)]
        heights = [Random(i).randint(150, 190) for i in own["id"]]
        ill = [f"rare {value}" if i < 60 else value for i, value in zip(own["id"], own["ill"], strict=True)]
        return gh.read({"id": own["id"], "age": ages, "height": heights, "ill": ill}, **roles)

    asked: dict[str, Any] = {"principle": "3-diversity", "recoding": recoding, "method": method}
    gh.publish(read(range(60)), out=tmp_path / "1", **asked)
    source = gh.Source.seeded(5)
    both = gh.publish(read(range(200)), after=tmp_path / "1", out=tmp_path / "2", source=source, allow_seed=True)
    alone = gh.publish(read(range(60, 200)), source=gh.Source.seeded(5), **asked)
    own = gh.edition_of(both, 2)
    assert {name: rows(t) for name, t in own.tables.items()} == {name: rows(t) for name, t in alone.tables.items()}


def test_values_of_earlier_people_change_nothing_of_a_later_edition(tmp_path: Path) -> None:
    found = []
    for changed in ((), range(0, 100, 3)):
        own = tmp_path / str(len(found))
        publish(range(100), own / "1", changed=changed)
        release = publish(range(160), own / "2", seed=2, after=own / "1", changed=changed)
        found.append({name: rows(t) for name, t in gh.edition_of(release, 2).tables.items()})
    assert found[0] == found[1]


def test_people_who_left_are_told_on_their_own_side(three: tuple[str, list[gh.Release], Path]) -> None:
    recoding, releases, folder = three
    left = releases[2].left
    assert left is not None
    assert left.column_names == ["edition", "age", "sex", "left"]
    assert Counter(left["left"].to_pylist()) == {2027: 10, 2028: 20}
    if recoding != "angel":
        first = people(range(10))
        told = sorted((row["age"], row["sex"]) for row in rows(left) if row["left"] == 2027)
        assert told == sorted(zip(first["age"], first["sex"], strict=True))
    shown = [tuple(row.values()) for row in rows(left)]
    assert shown == sorted(shown)
    text = (folder / "3" / "release" / "README.md").read_text(encoding="utf-8")
    assert "2027: 80 people" in text
    assert "left.parquet" in text


def test_the_release_is_one_for_verification_and_questions(three: tuple[str, list[gh.Release], Path]) -> None:
    _, _, folder = three
    found = gh.verify(folder / "3")
    assert found.holds
    assert "editions: 2026 (120 people), 2027 (80 people), 2028 (60 people)" in found.counting
    release = gh.load(folder / "3" / "release")
    assert gh.query(release, "SELECT COUNT(*)").value == 260
    assert gh.query(release, "SELECT COUNT(*) WHERE edition = 2027").value == 80
    for label, expected in ((2026, 120), (2027, 190), ("2028", 230)):
        for model in ("learned", "uniform"):
            answer = gh.query(release, "SELECT COUNT(*)", as_of=label, model=model)
            assert (answer.value, answer.error) == (pytest.approx(expected), 0)
    with pytest.raises(gh.InputError, match="no edition 2030"):
        gh.query(release, "SELECT COUNT(*)", as_of=2030)


def test_a_question_names_its_edition_in_sql(three: tuple[str, list[gh.Release], Path]) -> None:
    _, releases, _ = three
    release, words = releases[2], {"model": "uniform"}
    for label in (2026, 2027, 2028):
        expected = gh.query(release, "SELECT COUNT(*) WHERE sex = 'F'", as_of=label, **words)
        asked = f"SELECT COUNT(*) FROM release FOR VERSION AS OF {label} WHERE sex = 'F'"
        found = gh.query(release, asked, **words)
        assert (found.value, found.error, found.notes) == (expected.value, expected.error, expected.notes)
        assert gh.query(release, asked, as_of=label, **words).value == expected.value
    with pytest.raises(gh.InputError, match="give only one of them"):
        gh.query(release, "SELECT COUNT(*) FROM release FOR VERSION AS OF 2026", as_of=2027, **words)
    with pytest.raises(gh.InputError, match="no edition 2030"):
        gh.query(release, "SELECT COUNT(*) FROM release FOR VERSION AS OF 2030", **words)
    with pytest.raises(gh.InputError, match="is not supported"):
        gh.query(release, "SELECT COUNT(*) FROM release FOR VERSION BETWEEN 1 AND 2", **words)


def test_beliefs_after_all_editions_are_one_in_l(three: tuple[str, list[gh.Release], Path]) -> None:
    recoding, releases, _ = three
    own = people(range(260))
    came = [2026 if i < 120 else 2027 if i < 200 else 2028 for i in own["id"]]
    external = gh.read({**own, "edition": came}, identifier="id", quasi=["edition", "age", "sex"])
    knowledge = gh.Knowledge(external=external)
    # of coarse cells Intersection says after long work what is possible, and no more
    attacks = [gh.Linking(), gh.ReverseEngineering(), *([] if recoding == "angel" else [gh.Intersection()])]
    for attack in attacks:
        found = gh.attack(releases[2], attack, knowledge=knowledge)
        assert found.worst().belief == pytest.approx(1 / 3), attack
    with pytest.raises(gh.NotSupported, match="edition_of"):
        gh.attack(releases[2], gh.ReverseEngineering(how="sampled"), knowledge=knowledge)


def test_a_careless_second_release_of_everybody_is_intersected(tmp_path: Path) -> None:
    first, second = (publish(range(60), tmp_path / str(seed), seed=seed) for seed in (1, 2))
    knowledge = gh.Knowledge(external=table(range(60)))
    assert gh.attack(first, gh.Linking(), knowledge=knowledge).worst().belief == pytest.approx(1 / 3)
    careless = gh.attack(first, gh.Intersection(others=(second,)), knowledge=knowledge)
    assert careless.worst().belief == 1


def test_a_release_without_an_edition_is_the_first(tmp_path: Path) -> None:
    plain = publish(range(60), tmp_path / "1")
    assert not plain.editions
    assert "edition" not in plain.recipe.quasi
    with pytest.raises(gh.InputError, match="no editions"):
        gh.query(plain, "SELECT COUNT(*)", as_of=1)
    second = publish(range(90), tmp_path / "2", after=tmp_path / "1")
    assert [edition.label for edition in second.editions] == [1, 2]
    assert second.left is None
    third = publish(range(120), tmp_path / "3", after=tmp_path / "2", edition="spring")
    assert pc.unique(third.tables["qit"]["edition"]).to_pylist() == ["1", "2", "spring"]
    assert gh.load(tmp_path / "3" / "release").editions == third.editions
    assert gh.query(third, "SELECT COUNT(*) WHERE edition = 'spring'").value == 30
    assert gh.query(third, "SELECT COUNT(*)", as_of=2).value == 90


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_an_edition_is_read_back_as_it_was_written(tmp_path: Path, format: str) -> None:
    publish(range(60), tmp_path / "1", format=format)
    release = publish(range(5, 90), tmp_path / "2", after=tmp_path / "1", format=format)
    loaded = gh.load(tmp_path / "2" / "release")
    assert {name: rows(t) for name, t in loaded.packaged.items()} == {n: rows(t) for n, t in release.packaged.items()}
    assert gh.verify(loaded).holds


def test_the_order_of_rows_changes_no_byte(tmp_path: Path) -> None:
    publish(range(60), tmp_path / "1")
    shutil.copytree(tmp_path / "1", tmp_path / "other")
    order = list(range(5, 110))
    Random(1).shuffle(order)
    publish(range(5, 110), tmp_path / "2", after=tmp_path / "1")
    publish(order, tmp_path / "3", after=tmp_path / "other")
    names = sorted(path.name for path in (tmp_path / "2" / "release").iterdir())
    for name in names:
        assert (tmp_path / "2" / "release" / name).read_bytes() == (tmp_path / "3" / "release" / name).read_bytes()


# --- who is never published twice ------------------------------------------------------------------------------------


def test_who_comes_back_stays_left(tmp_path: Path) -> None:
    publish(range(60), tmp_path / "1")
    publish(range(10, 90), tmp_path / "2", after=tmp_path / "1")
    third = publish(range(120), tmp_path / "3", after=tmp_path / "2")
    assert [edition.n_tuples for edition in third.editions] == [60, 30, 30]
    assert third.left is not None
    assert third.left.num_rows == 10
    assert "10 people who had left are in the table again" in (tmp_path / "3" / "audit" / "edition.json").read_text(
        "utf-8"
    )


def test_the_trimmed_stay_out_for_good(tmp_path: Path) -> None:
    """Half of the people have the same value: some are trimmed, and none of them is a candidate again."""
    own = people(range(40), values="aaabcd")
    read = gh.read(own, identifier="id", quasi=["age", "sex"], sensitive="ill")
    first = gh.publish(read, principle="3-diversity", recoding="anatomy", suppress=0.5, out=tmp_path / "1")
    assert first.n_suppressed
    second = publish(range(80), tmp_path / "2", after=tmp_path / "1", values="aaabcd")
    assert second.recipe.suppress == "1/2"
    assert second.editions[1].n_tuples + second.editions[1].n_dropped == 40
    notices = json.loads((tmp_path / "2" / "audit" / "edition.json").read_text(encoding="utf-8"))["notices"]
    assert f"{second.editions[1].n_tuples} new people were published" in notices
    assert f"{second.editions[1].n_dropped} new people were left out of this edition, and will stay out" in notices
    ledger = pq.read_table(tmp_path / "2" / "audit" / "ledger.parquet")
    assert ledger.num_rows == 80
    assert pc.sum(pc.invert(ledger["published"])).as_py() == second.n_dropped
    third = publish(range(80, 120), tmp_path / "3", after=tmp_path / "2", values="aaabcd")
    assert third.left is not None
    assert third.left.num_rows == second.n_tuples  # who was never published does not leave


def test_people_who_cannot_be_published_are_left_out_for_good_or_refused(tmp_path: Path) -> None:
    publish(range(60), tmp_path / "1", edition=1)
    alike = {"after": tmp_path / "1", "edition": 2}
    own = people(range(64))
    own["ill"][60:] = ["a"] * 4
    later = gh.read(own, identifier="id", quasi=["age", "sex"], sensitive="ill")
    with pytest.raises(gh.Infeasible, match=r"at most 1 is allowed\. These people must not wait") as refused:
        gh.publish(later, out=tmp_path / "2", **alike)
    assert "t-closeness" not in str(refused.value)  # every edition has the principle of the first
    assert not refused.value.ways
    assert not (tmp_path / "1" / "audit" / "followed.json").exists()
    closed = gh.publish(later, out=tmp_path / "2", leave_out=True, allow_seed=True, **alike)
    assert closed.editions[1] == gh.Edition(label=2, n_tuples=0, n_dropped=4)
    assert any("edition 2 was not published: its 4 new people" in limit for limit in closed.guarantee.limits)
    assert closed.guarantee.limits[-1].endswith("they were too few, or that too many of them had the same value")
    for file in ("edition.json", "report.json"):
        notices = json.loads((tmp_path / "2" / "audit" / file).read_text(encoding="utf-8"))["notices"]
        assert "4 new people were left out of this edition, and will stay out" in notices
        assert not any("published" in notice for notice in notices)
    assert gh.verify(tmp_path / "2").holds
    third = publish(range(100), tmp_path / "3", after=tmp_path / "2", edition=3)
    assert [edition.n_tuples for edition in third.editions] == [60, 0, 36]


def test_fewer_than_at_least_wait_and_nothing_is_recorded(tmp_path: Path) -> None:
    publish(range(60), tmp_path / "1")
    before = sorted((path.name, path.read_bytes()) for path in (tmp_path / "1" / "audit").iterdir())
    with pytest.raises(gh.InputError, match=r"4 new people were added.*at least 10.*recorded nothing"):
        publish(range(64), tmp_path / "2", after=tmp_path / "1", at_least=10)
    assert sorted((path.name, path.read_bytes()) for path in (tmp_path / "1" / "audit").iterdir()) == before
    assert not (tmp_path / "2").exists()
    assert publish(range(75), tmp_path / "2", after=tmp_path / "1", at_least=10).editions[1].n_tuples == 15


def test_an_answer_about_an_edition_from_coarse_cells_says_that_its_interval_is_too_narrow(tmp_path: Path) -> None:
    publish(range(120), tmp_path / "1", recoding=gh.Angel(k=30))
    second = publish(range(30, 200), tmp_path / "2", seed=2, after=tmp_path / "1")
    found = gh.query(second, "SELECT COUNT(*) WHERE age < 40 AND sex = 'F'", as_of=2)
    assert found.error > 0
    assert any("often too narrow where a condition" in note for note in found.notes)


def test_an_edition_in_which_nobody_came_tells_who_left(tmp_path: Path) -> None:
    publish(range(60), tmp_path / "1")
    second = publish(range(10, 60), tmp_path / "2", after=tmp_path / "1")
    assert second.editions[1] == gh.Edition(label=2, n_tuples=0)
    assert second.left is not None
    assert gh.query(second, "SELECT COUNT(*)", as_of=2).value == pytest.approx(50)
    assert gh.verify(tmp_path / "2").holds


# --- what is refused -------------------------------------------------------------------------------------------------


def test_changed_values_are_refused_by_their_number_or_kept_as_published(tmp_path: Path) -> None:
    first = publish(range(60), tmp_path / "1", edition=1)
    with pytest.raises(
        gh.InputError, match="3 people who were published before now have other sensitive values"
    ) as refused:
        publish(range(90), tmp_path / "2", after=tmp_path / "1", changed=[1, 2, 70, 5])
    assert "'" not in str(refused.value)
    with pytest.warns(gh.DisclosureWarning, match="4 people now have other values"):
        kept = publish(
            range(90), tmp_path / "2", after=tmp_path / "1", changed=[1, 2, 5], moved=[7], keep_published=True
        )
    assert rows(kept.tables["st"].slice(0, first.tables["st"].num_rows)) == rows(first.tables["st"])
    told = json.loads((tmp_path / "2" / "audit" / "edition.json").read_text(encoding="utf-8"))["notices"]
    assert "3 people now have other sensitive values: the published values were not changed" in told
    assert "1 person now has other quasi-identifiers: the published values were not changed" in told


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "principle": ({"principle": "2-diversity"}, "the same principle as the first"),
    "method": ({"method": "anatomize"}, "the same method as the first"),
    "recoding": ({"recoding": "angel"}, "the same recoding as the first"),
    "suppress": ({"suppress": 0.1}, "the same share of records to be left out"),
    "label": ({"edition": 1}, "an edition 1 already"),
    "odd label": ({"edition": "a/b"}, "edition must be"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_was_decided_for_the_first_edition_cannot_be_changed(tmp_path: Path, what: str) -> None:
    publish(range(60), tmp_path / "1")
    given, words = REFUSED[what]
    with pytest.raises(gh.GlasshouseError, match=words):
        publish(range(90), tmp_path / "2", after=tmp_path / "1", **given)
    same = {"principle": gh.LDiversity(3), "recoding": gh.Anatomy(), "method": gh.Sift()}
    assert publish(range(90), tmp_path / "2", after=tmp_path / "1", **same).editions[1].n_tuples == 30


UNFIT: dict[str, tuple[dict[str, Any], str]] = {
    "boxes": ({"recoding": "boxes"}, "'boxes' does not publish them in this way"),
    "marginals": (
        {"recoding": gh.Angel(marginals=[["age", "ill"], ["sex", "ill"]])},
        "'angel' with marginals does not",
    ),
    "linking": ({"recoding": "anatomy", "method": "mondrian"}, "guarantees nothing against an attacker"),
}


@pytest.mark.parametrize("what", UNFIT)
@pytest.mark.filterwarnings("ignore::glasshouse.DisclosureWarning")
def test_what_theorem_e1_does_not_speak_of_is_refused(tmp_path: Path, what: str) -> None:
    given, words = UNFIT[what]
    with pytest.raises(gh.NotSupported, match=words):
        publish(range(60), tmp_path / "1", edition=1, **given)
    publish(range(60), tmp_path / "1", **given)
    with pytest.raises(gh.GlasshouseError, match=words):
        publish(range(90), tmp_path / "2", after=tmp_path / "1")


def test_other_columns_and_identifiers_are_refused(tmp_path: Path) -> None:
    publish(range(60), tmp_path / "1")
    own = people(range(90))
    after: dict[str, Any] = {"after": tmp_path / "1", "out": tmp_path / "2"}
    nameless = gh.read(own, quasi=["age", "sex"], sensitive="ill")
    with pytest.raises(gh.InputError, match="needs an identifier"):
        gh.publish(nameless, **after)
    with pytest.raises(gh.SchemaError, match="first edition has the quasi-identifiers age, sex"):
        gh.publish(gh.read(own, identifier="id", quasi=["age"], sensitive="ill"), **after)
    own["id"] = [str(i) for i in own["id"]]
    with pytest.raises(gh.InputError, match="nobody would be recognised"):
        gh.publish(gh.read(own, identifier="id", quasi=["age", "sex"], sensitive="ill"), **after)
    own = people(range(90)) | {"ill": [f" {ill}" for ill in people(range(90))["ill"]]}
    with pytest.raises(gh.NotSupported, match="most frequent spelling"):
        gh.publish(
            gh.read(own, identifier="id", quasi=["age", "sex"], sensitive="ill", normalise=["ill"]), **after
        )  # fmt: skip


def test_what_is_for_later_editions_is_refused_without_one(tmp_path: Path) -> None:
    for name, value in {"at_least": 3, "keep_published": True, "leave_out": True}.items():
        with pytest.raises(gh.InputError, match=f"{name} is for a later edition"):
            gh.publish(table(range(60)), principle="3-diversity", **{name: value})
    with pytest.raises(gh.InputError, match="no principle is given"):
        gh.publish(table(range(60)))
    with pytest.raises(gh.InputError, match="with out=FOLDER"):
        gh.publish(table(range(60)), after=tmp_path)
    nameless = gh.read(people(range(60)), quasi=["age", "sex"], sensitive="ill")
    with pytest.raises(gh.InputError, match="needs an identifier"):
        gh.publish(nameless, principle="3-diversity", recoding="anatomy", edition=1, out=tmp_path / "1")


def test_an_edition_is_followed_once(tmp_path: Path) -> None:
    publish(range(60), tmp_path / "1")
    publish(range(90), tmp_path / "2", after=tmp_path / "1")
    with pytest.raises(gh.InputError, match="already has a next edition"):
        publish(range(95), tmp_path / "3", after=tmp_path / "1")
    with pytest.raises(gh.InputError, match="choose another folder for out"):
        publish(range(90), tmp_path / "2", after=tmp_path / "2", force=True)
    assert publish(range(95), tmp_path / "2", after=tmp_path / "1", force=True).n_tuples == 95


def test_an_audit_without_a_ledger_says_so(tmp_path: Path) -> None:
    publish(range(60), tmp_path / "1")
    (tmp_path / "1" / "audit" / "ledger.parquet").unlink()
    with pytest.raises(gh.SourceError, match="has no list of the published people"):
        publish(range(90), tmp_path / "2", after=tmp_path / "1")


def test_a_ledger_is_private_and_has_no_sensitive_value(tmp_path: Path) -> None:
    values = ["influenza", "gastritis", "asthma", "diabetes"]
    own = people(range(60)) | {"ill": [values[i % 4] for i in range(60)]}
    read = gh.read(own, identifier="id", quasi=["age", "sex"], sensitive="ill")
    gh.publish(read, principle="3-diversity", recoding="anatomy", out=tmp_path / "1")
    file = tmp_path / "1" / "audit" / "ledger.parquet"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    content = file.read_bytes()
    assert not any(value.encode() in content for value in values)
    digests = pq.read_table(file)["values"].to_pylist()
    assert len(set(digests)) == 60  # equal values of two people look different
    assert Ledger.read(file.parent).compared(read).n_changed == 0


# --- releases that were tampered with --------------------------------------------------------------------------------


def test_editions_that_do_not_fit_the_tables_are_refused(three: tuple[str, list[gh.Release], Path]) -> None:
    _, releases, _ = three
    release = releases[2]
    assert release.left is not None
    check_editions(release)
    broken = [
        replace(release, editions=(*release.editions[:2], replace(release.editions[2], n_tuples=61))),
        replace(release, editions=release.editions[:2]),
        replace(release, left=pa.concat_tables([release.left] * 40)),
        replace(release, left=release.left.set_column(3, "left", release.left["edition"])),
        replace(release, left=release.left.slice(0, 0)),
        replace(release, left=release.left.append_column("Batch-ID", pa.array(np.ones(release.left.num_rows)))),
    ]
    for other in broken:
        with pytest.raises(gh.SourceError):
            check_editions(other)
        if other.editions == release.editions:
            assert gh.verify(other).holds is False


def test_editions_are_checked_alike_in_memory_as_a_stream_and_file_by_file(
    three: tuple[str, list[gh.Release], Path], tmp_path: Path
) -> None:
    _, releases, _ = three
    release = releases[2]
    assert release.left is not None
    fine, *broken = [
        release,
        replace(release, left=release.left.take(np.arange(release.left.num_rows)[::-1])),
        replace(release, left=pa.concat_tables([release.left] * 8)),
        replace(release, left=release.left.set_column(3, "left", release.left["edition"])),
    ]

    def checks(made: gh.Release, folder: Path) -> set[tuple[str, bool]]:
        made.save(folder, allow_seed=True)
        found = [
            gh.verify(made),
            verify_stream(folder),
            verify_parts(folder, lambda work, items: [work(item) for item in items]),
        ]
        first, *others = [{(check.asked, check.holds) for check in one.checks} for one in found]
        assert all(other == first for other in others)
        assert len({one.holds for one in found}) == 1
        return first

    told = checks(fine, tmp_path / "fine")
    assert all(holds for _, holds in told)
    assert {"every group is in one edition, and everybody who left was there before"} < {asked for asked, _ in told}
    for i, made in enumerate(broken):
        assert {holds for _, holds in checks(made, tmp_path / f"broken {i}")} == {True, False}


def test_a_group_in_two_editions_is_refused(tmp_path: Path) -> None:
    publish(range(60), tmp_path / "1")
    release = publish(range(90), tmp_path / "2", after=tmp_path / "1")
    qit = release.tables["qit"]
    labels = qit["edition"].to_pylist()
    labels[0], labels[-1] = labels[-1], labels[0]
    mixed = qit.set_column(0, "edition", pa.array(labels))
    with pytest.raises(gh.SourceError):
        check_editions(replace(release, tables={**release.tables, "qit": mixed}))
