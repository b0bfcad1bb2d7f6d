# SPDX-License-Identifier: Apache-2.0
"""Names and texts in SQL: quoted always, so that none of them can be anything but a name or a text."""

from __future__ import annotations

import re

from glasshouse.errors import InputError

__all__ = ["literal", "quoted", "split_name"]

_MOST_BYTES = 63  # of a name in PostgreSQL: longer ones would be cut, and might then be others
_PART = re.compile(r'"(?:[^"]|"")+"|[^".]+')


def quoted(*names: str) -> str:
    """Quote names, joined by points.

    >>> quoted("clinic", 'odd "name"')
    '"clinic"."odd ""name""\"'
    """
    for name in names:
        if not name or "\0" in name:
            raise InputError("the name of a table, schema or column is empty or holds a NUL")
        if len(name.encode("utf-8", "surrogatepass")) > _MOST_BYTES:
            raise InputError(f"the name {name!r} is longer than the {_MOST_BYTES} bytes that PostgreSQL keeps of it")
    return ".".join('"' + name.replace('"', '""') + '"' for name in names)


def literal(text: str) -> str:
    """Quote a text, where SQL takes no parameter; right whatever ``standard_conforming_strings`` says.

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
