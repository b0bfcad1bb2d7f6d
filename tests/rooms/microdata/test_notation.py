# SPDX-License-Identifier: Apache-2.0
"""Amounts and dates that are read as texts: never published as sensitive values without a word, and told of others."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import glasshouse as gh
from glasshouse.microdata.notation import count_amounts, count_dates
from glasshouse.streaming.publish import publish_file
from tests.rooms.cli.world import run

N = 120
CENTS = [80_000 + 9_973 * i for i in range(N)]
DAYS = [date(1950, 1, 1) + timedelta(days=151 * i) for i in range(N)]


def _euro(cents: int) -> str:
    return f"{cents / 100:,.2f}".translate(str.maketrans(",.", ".,"))


AMOUNTS: dict[str, Callable[[int], str]] = {
    "1.234,50": _euro,
    "12.000,00": lambda cents: _euro(cents // 100 * 100),
    "7,077.72": lambda cents: f"{cents / 100:,.2f}",
    "2,446": lambda cents: f"{cents // 100:,}",
    "$2,446": lambda cents: f"${cents // 100:,}",
    "US$ 2446": lambda cents: f"US$ {cents // 100}",
    "1385,71 \u20ac": lambda cents: f"{cents / 100:.2f} \u20ac".replace(".", ","),
    "\u20ac1385.71": lambda cents: f"\u20ac{cents / 100:.2f}",
    "2 946": lambda cents: f"{cents // 100:,}".replace(",", " "),
    "2\u00a0946": lambda cents: f"{cents // 100:,}".replace(",", "\u00a0"),
    "2\u202f946,50": lambda cents: _euro(cents).replace(".", "\u202f"),
    "CHF 1'234.50": lambda cents: f"CHF {cents / 100:,.2f}".replace(",", "'"),
    "1\u2019234.50": lambda cents: f"{cents / 100:,.2f}".replace(",", "\u2019"),
    "1.200,-": lambda cents: f"{cents // 100:,},-".replace(",", ".", 1),
    "1200 kr": lambda cents: f"{cents // 100} kr",
    "1200 EUR": lambda cents: f"{cents // 100} EUR",
    "12,5 %": lambda cents: f"{cents / 10000:.1f} %".replace(".", ","),
    "(1,234.50)": lambda cents: f"({cents / 100:,.2f})",
    "\u22121,234.50": lambda cents: f"\u2212{cents / 100:,.2f}",
    "2,34,567.00": lambda cents: f"2,{10 + cents % 90},{100 + cents % 900}.{cents % 100:02}",
}
NO_AMOUNTS = {
    "ICD-10": [f"{'ABCDE'[i % 5]}{10 + i % 80}.{i % 10}" for i in range(N)],
    "ICD-10, short": [f"{'EIJ'[i % 3]}{10 + i % 80}" for i in range(N)],
    "ICD-9": [*(f"{250 + i}.{i % 100:02}" for i in range(N)), "V57", "E909.1"],
    "zip codes": [f"0{1000 + 7 * i}" for i in range(N)],
    "Swedish zip codes": [f"{100 + i} {10 + i % 80}" for i in range(N)],
    "telephone numbers": [f"+49 30 {100 + i} {200 + i}" for i in range(N)],
    "telephone numbers at home": [f"030 {100 + i} {200 + i}" for i in range(N)],
    "telephone numbers in groups": [f"612 {100 + i} {200 + i}" for i in range(N)],
    "telephone numbers, American": [f"555-{1000 + i}" for i in range(N)],
    "ranges": [f"{10 * i}-{10 * i + 10}" for i in range(N)],
    "ranges of money": [f"${i},000 - ${i + 1},000" for i in range(N)],
    "intervals": [f"[{i}, {i + 1})" for i in range(N)],
    "versions": [f"1.{i % 12}.{i}" for i in range(N)],
    "lists": [f"{i % 9},{i % 7},{i}" for i in range(N)],
    "variants of genes": [f"rs{7412 + i}" for i in range(N)],
    "plain numbers": [str(i) for i in range(N)],
    "words": [f"illness {i}" for i in range(N)],
    "few amounts": ["$1,000", "$2,000", "$5,000", "$9,000"],
    "hardly amounts": [*(f"${i},000" for i in range(1, 80)), *(f"level {i}" for i in range(20))],
}
DATES = {
    "31.12.1980": "%d.%m.%Y",
    "12/31/1980": "%m/%d/%Y",
    "31-12-1980": "%d-%m-%Y",
    "1980/12/31": "%Y/%m/%d",
    "31.12.80": "%d.%m.%y",
    "31 Dec 1980": "%d %b %Y",
    "31-Dec-1980": "%d-%b-%Y",
    "December 31, 1980": "%B %d, %Y",
    "31. Dezember 1980": "%d. Dezember %Y",
    "31.12.1980 23:59": "%d.%m.%Y 23:59",
    "12/31/1980 11:59 PM": "%m/%d/%Y 11:59 PM",
    "31.12.1980, 23:59:30": "%d.%m.%Y, 23:59:30",
}
NO_DATES = {
    "versions": [f"1.{i % 12}.{i}" for i in range(N)],
    "social security numbers": [f"{100 + i}-{10 + i % 20}-{1980 + i % 20}" for i in range(N)],
    "CAS numbers": [f"{50 + i}-{10 + i % 20}-{i % 10}" for i in range(N)],
    "ICD-10": NO_AMOUNTS["ICD-10"],
    "ranges of years": [f"{1900 + i}-{1910 + i}" for i in range(N)],
    "days of no calendar": [f"{32 + i % 9}.{13 + i % 9}.{1900 + i}" for i in range(N)],
    "words": ["flu of 1980", *NO_AMOUNTS["words"]],
}


def _file(path: Path, name: str, values: list[str]) -> Path:
    rows = [f"{20 + i % 40};{50_667 + i % 9};{value}" for i, value in enumerate(values)]
    path.write_text("\n".join([f"age;zip;{name}", *rows, ""]), encoding="utf-8")
    return path


def _read(values: list[str], **options: Any) -> gh.Microdata:
    people = {"age": [20 + i % 40 for i in range(len(values))], "x": values}
    return gh.read(people, quasi=["age"], sensitive="x", **options)


@pytest.mark.parametrize("written", AMOUNTS)
def test_sensitive_amounts_are_not_published_until_they_are_accepted(tmp_path: Path, written: str) -> None:
    values = [AMOUNTS[written](cents) for cents in CENTS]
    path = _file(tmp_path / "t.csv", "salary", values)
    given = f"publish {path} --quasi age,zip --sensitive salary --ell 3 --no-report --no-flat"
    refused = run(f"{given} --out {tmp_path / 'out'}", code=2).stderr
    assert "amounts-as-text" in refused
    assert "--accept amounts-as-text" in refused
    assert "--bin salary=intervals:WIDTH" in refused
    assert not (tmp_path / "out").exists()
    assert not any(value in refused for value in values)
    with pytest.raises(gh.CautionError, match="amounts-as-text"):
        publish_file("disk", path, quasi=["age", "zip"], sensitive="salary", principle=gh.LDiversity(3))
    found = gh.inspect(path, sensitive="salary")
    assert "amounts-as-text" in [caution.name for caution in found.cautions]
    run(f"{given} --out {tmp_path / 'accepted'} --accept amounts-as-text")


def test_small_amounts_without_a_separator_and_words_for_nothing_hide_no_others() -> None:
    amounts = ["$80", "95", "7.5", "$1,200", "n/a", "unknown", "$2,400", "$7,700", "$900", "1 200 \u20ac"]
    assert count_amounts(pa.array(amounts)) == 6
    assert count_amounts(pa.array(["72,5", "80,25", "1,5", "6,75", "8,5", "n/a"])) == 5


@pytest.mark.parametrize("kind", NO_AMOUNTS)
def test_codes_are_no_amounts(kind: str) -> None:
    assert count_amounts(pa.array(NO_AMOUNTS[kind]).unique()) == 0
    assert not {"amounts-as-text", "dates-as-text"} & {caution.name for caution in _read(NO_AMOUNTS[kind]).cautions}


def test_a_comma_before_three_digits_is_not_offered_as_a_decimal_sign(tmp_path: Path) -> None:
    path = _file(tmp_path / "t.csv", "salary", [f"{cents // 100:,}" for cents in CENTS])
    given = f"publish {path} --quasi age,zip --sensitive salary --ell 3 --no-report --out {tmp_path / 'out'}"
    refused = run(given, code=2).stderr
    assert not [line for line in refused.splitlines() if line.startswith("    glasshouse") and "--decimal" in line]
    assert not [notice for notice in gh.inspect(path).notices if "decimal comma" in notice]


def test_with_a_decimal_comma_alone_the_old_caution_stands() -> None:
    (caution,) = _read([f"{cents / 100:.2f}".replace(".", ",") for cents in CENTS]).cautions
    assert caution.name == "decimal-commas"


def test_amounts_that_are_no_longer_published_exactly_are_not_cautioned() -> None:
    amounts = [f"${cents // 100:,}" for cents in CENTS]
    ranges = gh.Taxonomy.from_nested({"low": amounts[:60], "high": amounts[60:]})
    table = _read(amounts, bins={"x": ranges})
    assert not table.cautions


# -------------------------------------------------------------------------------------------------------------- dates


@pytest.mark.parametrize("written", DATES)
def test_sensitive_dates_are_not_published_until_they_are_accepted(tmp_path: Path, written: str) -> None:
    path = _file(tmp_path / "t.csv", "admitted", [day.strftime(DATES[written]) for day in DAYS])
    given = f"publish {path} --quasi age,zip --sensitive admitted --ell 3 --no-report --no-flat"
    refused = run(f"{given} --out {tmp_path / 'out'}", code=2).stderr
    assert "dates-as-text" in refused
    assert "1980-12-31" in refused
    assert "--bin admitted=dates:month" in refused
    run(f"{given} --out {tmp_path / 'accepted'} --accept dates-as-text")


@pytest.mark.parametrize("kind", NO_DATES)
def test_what_is_no_date_is_not_taken_for_one(kind: str) -> None:
    assert count_dates(pa.array(NO_DATES[kind]).unique()) == 0


@pytest.mark.parametrize("role", ["quasi", "leave out"])
def test_of_other_columns_inspect_tells_it(tmp_path: Path, role: Any) -> None:
    dates = _file(tmp_path / "dates.csv", "seen", [day.strftime("%d.%m.%Y") for day in DAYS])
    found = gh.inspect(dates, roles={"seen": role})
    (told,) = (notice for notice in found.notices if notice.startswith("seen has dates that are read as text"))
    assert "alphabetical" in told
    assert "a group shows a set of dates that may lie far apart" in told
    assert "1980-12-31" in told
    assert "dates-as-text" not in [caution.name for caution in found.cautions]
    amounts = _file(tmp_path / "amounts.csv", "rent", [f"${cents // 100:,}" for cents in CENTS])
    found = gh.inspect(amounts, roles={"rent": role})
    assert [notice for notice in found.notices if notice.startswith("rent has amounts that are read as text")]


def test_a_taxonomy_of_dates_says_that_they_are_read_as_text(tmp_path: Path) -> None:
    path = _file(tmp_path / "t.csv", "born", [day.strftime("%d.%m.%Y") for day in DAYS])
    given = f"publish {path} --quasi age,born --sensitive zip --ell 2 --bin born=dates:year --out {tmp_path / 'out'}"
    refused = run(given, code=2).stderr
    assert "looks like dates that are read as text: write each date as in 1980-12-31" in " ".join(refused.split())
    people = {"age": [1, 2, 3, 4, 5], "pay": ["$1,000", "$2,000", "$3,500", "$4,000", "$5,250"]}
    with pytest.raises(gh.DomainError, match="looks like amounts that are read as text: write plain numbers"):
        gh.read(people, quasi=["age"], sensitive="pay", bins={"pay": "intervals:1000"})
    with pytest.raises(gh.DomainError, match=r"type string$"):
        gh.read({**people, "pay": list("abcde")}, quasi=["age"], sensitive="pay", bins={"pay": "dates:year"})
