"""Addresses of databases: read without doubt, or refused without being shown; names and texts always quoted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import glasshouse as gh
from glasshouse.database import Address, is_address, literal, quoted, split_name

CANARY = "CANARY77"


def test_an_address_says_where_and_as_whom() -> None:
    address = Address.of("postgresql://eve@db.example.org:5433/clinic?sslmode=require&table=people")

    assert (address.host, address.database, address.user) == ("db.example.org:5433", "clinic", "eve")
    assert address.table == "people"
    assert address.uri.startswith("postgresql://eve@db.example.org:5433/clinic?sslmode=require&client_encoding=UTF8")
    assert "people" not in address.uri, "libpq does not know what a table is"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql:///clinic",
        "postgresql://",
        "postgresql://?service=clinic",
        "postgres://one:5432,two:5433/clinic?target_session_attrs=read-only",
        "postgresql://[2001:db8::1]:5432/clinic",
        "postgresql://%2Fvar%2Frun%2Fpostgresql/clinic",
        "postgresql://eve%40corp@host/a%20b?host=/tmp&options=-c%20statement_timeout%3D5s",
    ],
)
def test_what_libpq_takes_is_passed_on_as_it_means(text: str) -> None:
    address = Address.of(text)

    assert is_address(text)
    again = Address.of(address.uri)
    assert (again.host, again.database, again.user) == (address.host, address.database, address.user)
    assert again.options[: len(address.options)] == address.options


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://eve:{CANARY}@host/clinic",
        f"postgresql://eve:{CANARY}@host:5432/clinic?table=people",
        f"postgresql://:{CANARY}@host/clinic",
        f"postgresql://host/clinic?password={CANARY}",
        f"postgresql://host/clinic?user=eve&pass%77ord={CANARY}",
        f"postgresql://host/clinic?sslpassword={CANARY}",
    ],
)
def test_a_password_in_the_address_is_refused_with_advice_and_never_shown(text: str) -> None:
    with pytest.raises(gh.InputError, match="PGPASSWORD") as refusal:
        gh.read(text, table="people", quasi=["age"])

    assert CANARY not in str(refusal.value) + repr(refusal.value) + str(vars(refusal.value))


@given(
    st.text(st.characters(codec="ascii", exclude_characters="\\"), min_size=1, max_size=6),
    st.text(st.characters(codec="ascii", exclude_characters="\\"), min_size=1, max_size=6),
)
def test_whatever_signs_a_password_has_no_piece_of_it_is_taken_for_something_else(before: str, after: str) -> None:
    text = f"postgresql://eve:{before}{CANARY}{after}@host.example/clinic"
    with pytest.raises(gh.InputError) as refusal:
        Address.of(text)

    assert CANARY not in str(refusal.value)


def test_what_stands_for_a_port_and_is_none_is_not_shown() -> None:
    with pytest.raises(gh.InputError, match="cannot be understood") as refusal:
        Address.of(f"postgresql://eve:{CANARY}/clinic")

    assert CANARY not in str(refusal.value)


def test_other_addresses_are_refused_without_being_shown() -> None:
    with pytest.raises(gh.InputError, match="has a password in it") as refusal:
        gh.read(f"mysql://eve:{CANARY}@host/clinic", quasi=["age"])
    assert CANARY not in str(refusal.value) + str(vars(refusal.value))
    with pytest.raises(gh.SourceError, match="download the file first") as refusal:
        gh.read(f"ftp://eve:{CANARY}@host/clinic", quasi=["age"])

    assert CANARY not in str(refusal.value) + str(vars(refusal.value))


def test_table_and_query_belong_to_a_database_and_exclude_each_other(tmp_path: object) -> None:
    with pytest.raises(gh.InputError, match="table is only for a database"):
        gh.read({"age": [1]}, table="people", quasi=["age"])
    for given_ in ({}, {"table": "people", "query": "SELECT 1"}):
        with pytest.raises(gh.InputError, match="the name of"):
            gh.read("postgresql:///clinic", quasi=["age"], **given_)
    with pytest.raises(gh.InputError, match="the name of"):
        gh.read("postgresql:///clinic?table=people", table="others", quasi=["age"])
    with pytest.raises(gh.InputError, match="the query is empty"):
        gh.read("postgresql:///clinic", query=" ", quasi=["age"])


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12))
def test_a_quoted_name_is_one_name_again(name: str) -> None:
    if len(name.encode()) > 63:
        return
    text = quoted(name)

    assert text[0] == text[-1] == '"'
    assert '"' not in text[1:-1].replace('""', "")
    assert split_name(text) == (name,)


@pytest.mark.parametrize("name", ["", "a.b.c", 'a"b', "a.", ".a", '"a', "x" * 64, "a\0b"])
def test_names_that_are_none_are_refused(name: str) -> None:
    with pytest.raises(gh.InputError):
        quoted(*split_name(name))


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0")))
def test_a_quoted_text_ends_where_it_should(text: str) -> None:
    made = literal(text)
    inner = made.removeprefix("E")[1:-1]

    assert made.endswith("'")
    assert "'" not in inner.replace("''", "")
    assert ("\\" in text) == made.startswith("E")
    assert inner.count("\\") == 2 * text.count("\\")
