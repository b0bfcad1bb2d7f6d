# SPDX-License-Identifier: Apache-2.0
"""Moments: when clocks go back an hour comes twice, and the two are different values wherever a table goes."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.adversary.cell_codes import CellReader
from glasshouse.cells import Interval, interval, parse
from glasshouse.microdata.domains import code
from glasshouse.supports.supports import CellSupports, Span, number_of

BERLIN = ZoneInfo("Europe/Berlin")
FIRST = dt.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN)  # +02:00
SECOND = FIRST.replace(fold=1)  # +01:00, an hour later
BOTH = "[2024-10-27T02:30:00+02:00, 2024-10-27T02:30:00+01:00]"
LATER = dt.datetime(2024, 10, 28, 2, 30, tzinfo=BERLIN)


def moments(values: list[dt.datetime], zone: str = "Europe/Berlin") -> pa.Array:
    return pa.array([value.astimezone(dt.UTC) for value in values], pa.timestamp("us", zone))


def table(zone: str = "Europe/Berlin") -> gh.Microdata:
    seen = moments([FIRST, SECOND, LATER, LATER], zone)
    return gh.read(pa.table({"seen": seen, "ill": ["a", "b", "a", "b"]}), quasi=["seen"], sensitive="ill")


def published(recoding: gh.Recoding | None = None, zone: str = "Europe/Berlin") -> gh.Release:
    return gh.publish(
        table(zone), principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=recoding or gh.Boxes()
    )


def test_an_hour_that_comes_twice_is_an_interval_and_not_a_value() -> None:
    assert interval(FIRST, SECOND) == BOTH
    assert interval(FIRST, FIRST) == "2024-10-27T02:30:00+02:00"
    read = parse(BOTH, kind="timestamp")
    assert isinstance(read, Interval)
    assert read.high - read.low == dt.timedelta(hours=1)
    assert BOTH in published().data["seen"].to_pylist()


def test_the_same_moment_in_two_zones_is_one_value() -> None:
    domain = code(moments([FIRST, SECOND], "America/New_York"), name="seen").domain
    reader = CellReader(domain)

    assert len(domain.values) == 2
    assert reader.codes("2024-10-27T02:30:00+02:00").tolist() == [0]
    assert reader.codes("2024-10-27T02:30:00+01:00").tolist() == [1]
    assert reader.codes(BOTH).tolist() == [0, 1]


def test_an_attacker_in_another_zone_believes_the_same() -> None:
    knowledge = [gh.Knowledge(external=table(zone)) for zone in ("Europe/Berlin", "UTC", "Asia/Kathmandu")]
    found = [gh.attack(published(), knowledge=known).to_table()["belief"].to_pylist() for known in knowledge]

    assert found[0] == found[1] == found[2]
    assert max(found[0]) == pytest.approx(0.5)


def test_times_without_offsets_are_not_matched_with_times_that_have_them() -> None:
    clocks = gh.read({"seen": [dt.datetime(2024, 10, 27, 2, 30)]}, quasi=["seen"])

    with pytest.raises(gh.InputError, match="time zone"):
        gh.attack(published(), knowledge=gh.Knowledge(external=clocks))


def test_moments_lie_where_the_clock_of_offset_0_has_them() -> None:
    assert number_of(SECOND, "timestamp") - number_of(FIRST, "timestamp") == 3_600_000_000
    support = CellSupports(name="seen", kind="timestamp").of(BOTH)
    assert isinstance(support, Span)
    assert support.high - support.low == 3_600_000_000


def asked(release: gh.Release, condition: str) -> float:
    return float(gh.query(release, f"SELECT COUNT(*) WHERE {condition}"))


@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Anatomy(), gh.Permutation()], ids=lambda recoding: recoding.name)
def test_a_question_says_which_of_the_two_hours_it_means(recoding: gh.Recoding) -> None:
    release = published(recoding)

    assert asked(release, "seen < TIMESTAMP '2024-10-27 03:30:00+01:00'") == pytest.approx(2)
    between = "seen BETWEEN TIMESTAMP '2024-10-27 02:30:00+02:00' AND TIMESTAMP '2024-10-27 02:45:00+02:00'"
    assert asked(release, between) == pytest.approx(1 if recoding.name != "boxes" else 0.5)
    with pytest.raises(gh.InputError, match="2 different offsets from UTC"):
        asked(release, "seen < TIMESTAMP '2024-10-27 02:30:00'")


def test_a_column_with_one_offset_is_asked_by_its_own_clock() -> None:
    release = published(zone="UTC")

    assert asked(release, "seen < TIMESTAMP '2024-10-27 12:00:00'") == pytest.approx(2)
    assert asked(release, "seen < '2024-10-27 13:00:00+01:00'") == pytest.approx(2)


def test_a_column_without_offsets_is_not_asked_with_one() -> None:
    people = {"seen": [dt.datetime(2024, 5, 1, 12), dt.datetime(2024, 5, 2, 12)], "ill": ["a", "b"]}
    release = gh.publish(gh.read(people, quasi=["seen"], sensitive="ill"), principle=gh.LDiversity(ell=2))

    with pytest.raises(gh.InputError, match="contains times without an offset"):
        asked(release, "seen < '2024-05-01 12:00:00+02:00'")


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("recoding", [gh.Boxes(), gh.Anatomy()], ids=lambda recoding: recoding.name)
def test_both_hours_come_back_from_files(recoding: gh.Recoding, format: str, tmp_path: Path) -> None:
    release = published(recoding)
    release.save(tmp_path / "release", format=format)
    loaded = gh.load(tmp_path / "release")

    assert gh.verify(loaded).holds
    assert asked(loaded, "seen < TIMESTAMP '2024-10-27 03:30:00+01:00'") == pytest.approx(2)
    beliefs = gh.attack(loaded, knowledge=gh.Knowledge(external=table()))
    assert beliefs.largest.max() == pytest.approx(0.5)


def test_sensitive_moments_are_two_values() -> None:
    people = pa.table({"age": [1, 2], "seen": moments([FIRST, SECOND])})
    read = gh.read(people, quasi=["age"], sensitive="seen", categorical=["seen"])
    release = gh.publish(read, principle=gh.LDiversity(ell=2), method=gh.Mondrian(), recoding=gh.Boxes())
    beliefs = gh.attack(release, knowledge=gh.Knowledge(external=read))

    assert len(beliefs.of(0)) == 2
    assert gh.verify(release).holds


def test_drawn_moments_are_moments() -> None:
    drawn = gh.sample(published(), 20)["seen"]

    assert drawn.type == pa.timestamp("us", "UTC")
    low, high = (value.astimezone(dt.UTC) for value in (FIRST, LATER))
    assert all(low <= value <= high for value in drawn.to_pylist())


def test_a_month_beside_times_with_several_offsets_is_refused() -> None:
    cells = ["2024-05", "2024-05-01T12:30:00+02:00", "2024-12-01T12:30:00+01:00"]
    with pytest.raises(gh.InputError, match="2 different offsets"):
        CellSupports(name="seen", kind="timestamp", cells=cells).of("2024-05")
    one = CellSupports(name="seen", kind="timestamp", cells=cells[:2]).of("2024-05")
    assert isinstance(one, Span)
    assert one.zoned


def test_months_of_a_zone_begin_by_its_clock() -> None:
    domain = code(
        moments([dt.datetime(2024, 5, 1, 0, 30, tzinfo=BERLIN), dt.datetime(2024, 4, 30, 23, 30, tzinfo=BERLIN)]),
        name="seen",
    ).domain

    assert CellReader(domain).codes("2024-05").tolist() == [1]
    assert CellReader(domain).codes("2024-04-30").tolist() == [0]
