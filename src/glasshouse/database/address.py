# SPDX-License-Identifier: Apache-2.0
"""Addresses of databases: ``postgresql://user@host:port/database``, and the parameters allowed after the question mark.

An address with a password in it is refused: it would stand in the shell's history, in the list of processes, in code
and in logs. libpq finds passwords by itself, in the environment (``PGPASSWORD``), in a password file (``PGPASSFILE``,
``~/.pgpass``) and in a service file (``PGSERVICE``). Whatever cannot be read without doubt is refused too, and not
shown, for a sign in a password can make a piece of it look like a port or a database.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from glasshouse.errors import InputError
from glasshouse.sql_names import quoted_name

__all__ = ["Address", "is_address", "literal", "masked", "quoted", "split_name"]

SCHEMES = ("postgresql://", "postgres://")
_SECRET = {"password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret"}
_OURS = ("table", "query")
_KEYWORD = re.compile(r"[a-z_]+")
_CONTROL = re.compile(r"[\0-\x1f\x7f]")
_HOST = re.compile(r"(?:\[[0-9a-fA-F:.%]+\]|[^:\[\]@]*)(?::(\d*))?")
# A path has lost one of the two strokes of an address that was taken for one.
_OPENING = re.compile(r"[\w+.-]{2,40}:/{1,2}[^\s:/@]*:")
_NAMED = re.compile(r"((?:ssl)?password=)[^&\s]*", re.IGNORECASE)


def is_address(source: Any) -> bool:
    """Whether this is the address of a PostgreSQL database.

    >>> is_address("postgresql://localhost/clinic"), is_address("people.csv")
    (True, False)
    """
    return isinstance(source, str) and source.startswith(SCHEMES)


def masked(text: str) -> str:
    """Remove what looks like the password of any address; the last safeguard for all messages.

    >>> masked("there is no file mysql:/eve:secret@host/clinic")
    'there is no file mysql:/eve:...@host/clinic'
    """
    return _NAMED.sub(r"\1...", "\n".join(map(_masked_line, text.split("\n"))))


def _masked_line(line: str) -> str:
    """A line without the text between the user of an address and the last at sign, at any length."""
    end = line.rfind("@")
    found = _OPENING.search(line, 0, max(end, 0))
    return line if found is None else f"{line[: found.end()]}...{line[end:]}"


@dataclass(frozen=True, kw_only=True)
class Address:
    """The address of a database, without a secret."""

    # host, database, user: as the address gives them, for messages; empty where the environment or a service file
    # decides
    host: str
    database: str
    user: str
    # table, query: what the address itself asks for, with ``?table=`` or ``?query=``
    table: str | None = None
    query: str | None = None
    # what else stood behind the question mark, in order
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, text: str) -> Address:
        """Read an address; `InputError` where it holds a password or cannot be understood.

        >>> Address.of("postgresql://eve@db.example.org:5433/clinic?table=people")
        Address(host='db.example.org:5433', database='clinic', user='eve', table='people', query=None)
        """
        try:
            parts = urlsplit(text)
        except ValueError:
            raise _not_understood() from None
        user, _, host = parts.netloc.rpartition("@")
        name, _, password = user.partition(":")
        pairs = [pair.partition("=") for pair in parts.query.split("&") if pair]
        given = [(unquote(key), unquote(value)) for key, _, value in pairs]
        if password or any(key.lower() in _SECRET for key, _ in given):
            raise InputError(
                "the address contains a password, which would appear in the shell history, process lists and logs: "
                "leave it out and set PGPASSWORD, or use a password file (~/.pgpass) or a service file "
                "(postgresql://?service=NAME)"
            )
        database = unquote(parts.path.removeprefix("/"))
        hosts = [_HOST.fullmatch(one) for one in host.split(",")]
        settings = "".join(value for key, _, value in pairs if key not in _OURS)
        doubtful = not all(hosts) or "@" in user + parts.path + settings or "/" in database or bool(parts.fragment)
        if doubtful or _CONTROL.search(text) or not all(_KEYWORD.fullmatch(key) for key, _ in given):
            raise _not_understood()
        asked = {key: value for key, value in given if key in _OURS and value}
        return cls(
            host=unquote(host),
            database=database,
            user=unquote(name),
            options=tuple((key, value) for key, value in given if key not in _OURS),
            **asked,
        )

    @property
    def uri(self) -> str:
        """The address for libpq, with what every connection of ours needs."""
        given = dict(self.options)
        ours = {"client_encoding": "UTF8", "fallback_application_name": "glasshouse"}
        if "connect_timeout" not in given and "PGCONNECT_TIMEOUT" not in os.environ:
            ours["connect_timeout"] = "30"
        settings = "&".join(f"{key}={quote(value, safe='')}" for key, value in {**given, **ours}.items())
        user = f"{quote(self.user, safe='')}@" if self.user else ""
        return f"postgresql://{user}{quote(self.host, safe='[]:,.')}/{quote(self.database, safe='')}?{settings}"

    def __str__(self) -> str:
        """The name of the server in messages."""
        given = dict(self.options)
        host = self.host or given.get("host", "")
        if not host and "service" in given:
            return f"the PostgreSQL server of the service {given['service']!r}"
        return f"the PostgreSQL server at {host}" if host else "the default PostgreSQL server (PGHOST, PGPORT)"


def _not_understood() -> InputError:
    return InputError(
        "the address of the database cannot be understood: write it as "
        "postgresql://user@host:port/database?option=value, without a password. Write special characters in codes, "
        "such as %40 for @"
    )


# --- names and texts in SQL: quoted always, so that none of them can be anything but a name or a text -----------------


_MOST_BYTES = 63  # of a name in PostgreSQL: longer ones would be cut, and might then be others
_PART = re.compile(r'"(?:[^"]|"")+"|[^".]+')


def quoted(*names: str) -> str:
    """Quote names, joined by points.

    >>> quoted("clinic", 'odd "name"')
    '"clinic"."odd ""name""\"'
    """
    for name in names:
        if not name or "\0" in name:
            raise InputError("the name of a table, schema or column is empty or contains a NUL character")
        if len(name.encode("utf-8", "surrogatepass")) > _MOST_BYTES:
            raise InputError(
                f"the name {name!r} is longer than the {_MOST_BYTES} bytes that PostgreSQL allows: choose a shorter one"
            )
    return ".".join(map(quoted_name, names))


def literal(text: str) -> str:
    """Quote a text, where SQL takes no parameter; correct for any setting of ``standard_conforming_strings``.

    >>> print(literal("it's"), literal("a\\\\b"))
    'it''s' E'a\\\\b'
    """
    plain = "'" + text.replace("\0", "").replace("'", "''") + "'"
    return plain if "\\" not in plain else "E" + plain.replace("\\", "\\\\")


def split_name(text: str) -> tuple[str, ...]:
    """Split ``schema.table`` at its point; parts in double quotation marks may hold points. Letters keep their case.

    >>> split_name("clinic.people"), split_name('"odd.name"')
    (('clinic', 'people'), ('odd.name',))
    """
    parts = _PART.findall(text)
    if ".".join(parts) != text or not 1 <= len(parts) <= 2:
        raise InputError(f'a table is named as people, clinic.people or "odd.name", got {text!r}')
    return tuple(part[1:-1].replace('""', '"') if part.startswith('"') else part for part in parts)
