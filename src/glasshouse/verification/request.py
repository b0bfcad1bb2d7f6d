# SPDX-License-Identifier: Apache-2.0
"""What the caller gave: roles, thresholds, numbers; checked, and made exact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, TypeAlias, TypedDict

from glasshouse import bounds
from glasshouse.errors import ParameterError, SchemaError

__all__ = [
    "Distance",
    "Missing",
    "Number",
    "Roles",
    "Thresholds",
    "check_sensitive",
    "fraction",
    "roles",
    "thresholds",
    "whole",
]

Number: TypeAlias = int | float | str | Decimal | Fraction
Distance: TypeAlias = Literal["equal", "ordered", "hierarchical"]
Missing: TypeAlias = Literal["category", "error", "drop"]
Roles: TypeAlias = tuple[list[str], list[str]]


class Thresholds(TypedDict, total=False):
    """What may be asked of every group; all but ``k`` also by column, as a mapping."""

    k: int | None
    ell: int | Mapping[str, int] | None
    distinct_ell: int | Mapping[str, int] | None
    entropy_ell: Number | Mapping[str, Number] | None
    designated_ell: int | Mapping[str, int] | None
    recursive: tuple[Number, int] | Mapping[str, tuple[Number, int]] | None
    alpha: Number | Mapping[str, Number] | None
    t: Number | Mapping[str, Number] | None


def roles(quasi: Sequence[str], sensitive: str | Sequence[str] | None, known: Sequence[str] | None = None) -> Roles:
    """Quasi-identifiers and sensitive columns, each column in one role, and all of them among the known ones."""
    names = [quasi] if isinstance(quasi, str) else list(quasi)
    others = [sensitive] if isinstance(sensitive, str) else list(sensitive or ())
    if not names:
        raise SchemaError("name at least one quasi-identifier: what may an adversary know about everyone?")
    for name in (*names, *others):
        if name in names and name in others:
            raise SchemaError(
                f"column {name!r} is named as quasi-identifier and as sensitive: give it one role", column=name
            )
        if [*names, *others].count(name) > 1:
            raise SchemaError(f"column {name!r} is named twice", column=name)
    for role, wanted in (("a quasi-identifier", names), ("sensitive", others)) if known is not None else ():
        for name in wanted:
            times = list(known or ()).count(name)
            if not times:
                raise SchemaError.unknown(name, list(known or ()), role=role)
            if times > 1:
                raise SchemaError(f"the table has {times} columns named {name!r}", column=name)
    return names, others


def check_sensitive(given: Mapping[str, Any], sensitive: list[str], option: str) -> None:
    """Refuse an option for a column that is not sensitive."""
    for name in given:
        if name not in sensitive:
            raise SchemaError.unknown(name, sensitive, role=f"{option}, which takes sensitive columns")


def thresholds(given: Thresholds, sensitive: list[str]) -> dict[str, dict[Any, Any]]:
    """Every threshold by column (that of k under None), checked and exact."""
    unknown = sorted(set(given) - set(Thresholds.__annotations__))
    if unknown:
        raise TypeError(f"verify() got an unexpected keyword argument {unknown[0]!r}")
    asked: dict[str, dict[Any, Any]] = {}
    for what, limit in given.items():
        if limit is None:
            continue
        if what == "k":
            asked["k"] = {None: whole("k", limit)}
            continue
        if not sensitive:
            raise SchemaError(f"{what} was asked for, and no sensitive column was named")
        by_column = limit if isinstance(limit, Mapping) else dict.fromkeys(sensitive, limit)
        check_sensitive(by_column, sensitive, what)
        asked[what] = {name: _limit(what, value) for name, value in by_column.items()}
    return asked


def fraction(name: str, value: Any, *, least: int = 0) -> Fraction:
    """Read a number exactly; a float means the decimal that it prints.

    >>> fraction("t", 0.2), fraction("t", "1/3")
    (Fraction(1, 5), Fraction(1, 3))
    """
    allowed = f"a number >= {least}"
    try:
        number = bounds.exact(value)
    except bounds.OutOfBounds:
        raise ParameterError("verify", name, f"{allowed}, of at most {bounds.MOST_DIGITS} digits", value) from None
    except (TypeError, ValueError):
        raise ParameterError("verify", name, allowed, value) from None
    if number < least:
        raise ParameterError("verify", name, allowed, value)
    return number


def _limit(what: str, value: Any) -> Any:
    if what == "recursive":
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise ParameterError("verify", what, "a pair (c, ell)", value)
        return fraction("recursive c", value[0]), whole("recursive ell", value[1])
    if what == "entropy_ell":
        return fraction(what, value, least=1)
    if what in ("alpha", "t"):
        return fraction(what, value)
    return whole(what, value)


def whole(name: str, value: Any, *, least: int = 1) -> int:
    """Check a whole number."""
    try:
        number = bounds.whole(value)
    except TypeError:
        number = least - 1
    except bounds.OutOfBounds:
        raise ParameterError("verify", name, f"an integer of at most {bounds.MOST_WHOLE:,}", value) from None
    if number < least:
        raise ParameterError("verify", name, f"an integer >= {least:,}", value)
    return number
