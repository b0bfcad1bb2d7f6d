# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share, and how their text becomes objects."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import click

from glasshouse.errors import InputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from glasshouse.microdata import Taxonomy

__all__ = [
    "builder",
    "limit",
    "method",
    "names",
    "pairs",
    "principle",
    "principle_options",
    "reading_options",
    "source_options",
]


def _apply(options: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


source_options = _apply(
    [
        click.option("--delimiter", help="Delimiter of a CSV file; detected if not given."),
        click.option("--encoding", help="Encoding of a CSV file; detected if not given."),
        click.option("--decimal", default=".", show_default=True, help="Decimal sign of a CSV file."),
    ]
)

reading_options = _apply(
    [
        click.option("--quasi", required=True, metavar="COLUMNS", help="Quasi-identifiers, separated by commas."),
        click.option("--sensitive", metavar="COLUMNS", help="Sensitive column, or several separated by commas."),
        click.option("--identifier", metavar="COLUMN", help="Column that names the person; never published."),
        click.option(
            "--missing",
            type=click.Choice(["error", "category", "drop"]),
            default="error",
            show_default=True,
            help="What a missing value is: an error, a value of its own, or a reason to drop the row.",
        ),
        click.option(
            "--taxonomy", multiple=True, metavar="COLUMN=FILE", help="Taxonomy of a column: CSV, JSON or YAML."
        ),
        click.option("--order", multiple=True, metavar="COLUMN=A,B,C", help="Order of a column's categories."),
        click.option(
            "--bin",
            "bins",
            multiple=True,
            metavar="COLUMN=BUILDER",
            help="Bin a column on the way in: intervals:WIDTH, quantiles:N, prefix:LENGTH or dates:month.",
        ),
        click.option("--categorical", metavar="COLUMNS", help="Columns whose numbers are names, not amounts."),
        click.option("--bottom", multiple=True, metavar="COLUMN=VALUE", help="Bottom code of a quasi-identifier."),
        click.option("--top", multiple=True, metavar="COLUMN=VALUE", help="Top code of a quasi-identifier."),
    ]
)

principle_options = _apply(
    [
        click.option("--k", metavar="K", help="k-anonymity: every group has at least K tuples."),
        click.option("--ell", metavar="L", help="l-diversity: no value has more than 1/L of a group."),
        click.option("--distinct-ell", metavar="L", help="Every group has at least L different values."),
        click.option("--entropy-ell", metavar="L", help="The entropy of every group is at least log L."),
        click.option("--recursive", metavar="C,L", help="Recursive (C, L)-diversity."),
        click.option(
            "--designated", metavar="VALUES", help="With --ell: only these values, separated by commas, count."
        ),
        click.option("--alpha", metavar="ALPHA", help="With --k: (alpha, k)-anonymity."),
        click.option("--t", metavar="T", help="t-closeness to the distribution of the whole table."),
        click.option(
            "--distance",
            type=click.Choice(["equal", "ordered", "hierarchical"]),
            default="equal",
            show_default=True,
            help="Ground distance of t-closeness.",
        ),
    ]
)


def names(text: str | None) -> list[str]:
    """Split a list of names at its commas.

    >>> names("age, sex,zipcode")
    ['age', 'sex', 'zipcode']
    """
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


def pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    """Split ``COLUMN=VALUE`` texts.

    >>> pairs("--top", ("age=90",))
    {'age': '90'}
    """
    split = [text.partition("=") for text in texts]
    for text, (name, sign, value) in zip(texts, split, strict=True):
        if not (name and sign and value):
            raise InputError(f"{option} takes COLUMN=VALUE, got {text!r}")
    return {name.strip(): value for name, _, value in split}


def builder(text: str) -> Taxonomy:
    """Make a taxonomy builder from its text on the command line.

    >>> builder("intervals:10")
    Taxonomy.intervals(width=10)
    """
    from glasshouse.microdata import Taxonomy

    name, _, argument = text.partition(":")
    try:
        if name == "intervals":
            return Taxonomy.intervals(width=number(argument))
        if name == "quantiles":
            return Taxonomy.quantiles(n=int(argument))
        if name == "prefix":
            return Taxonomy.prefix(length=int(argument))
        if name == "dates":
            return Taxonomy.dates(levels=tuple(names(argument)) or ("month", "quarter", "year"))
    except ValueError as error:
        raise InputError(f"--bin {text}: {error}") from None
    raise InputError(f"--bin knows intervals, quantiles, prefix and dates, got {text!r}")


def number(text: str) -> int | float:
    """Read a number, whole if it is written so."""
    try:
        return int(text)
    except ValueError:
        return float(text)


def limit(text: str) -> Any:
    """Read a top or bottom code: a number or a date."""
    from datetime import date

    try:
        return number(text)
    except ValueError:
        pass
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f"a top or bottom code is a number or a date such as 2024-05-31, got {text!r}") from None


def method(name: str | None, texts: tuple[str, ...]) -> Any:
    """Make the method that the options ask for; None where none is named.

    >>> method("mondrian", ("partitioning=relaxed",))
    Mondrian(partitioning='relaxed')
    """
    from glasshouse import catalog

    if name is None and texts:
        raise InputError("--with needs --method: it names a parameter of the method")
    if name is None:
        return None
    words: dict[str, Any] = {"true": True, "false": False}
    given = {
        key: words.get(text, int(text) if text.isdigit() else text) for key, text in pairs("--with", texts).items()
    }
    try:
        return catalog.from_data(catalog.METHODS, {"name": name, **given})
    except TypeError:
        known = ", ".join(f.name for f in fields(catalog.METHODS[name])) or "none"
        raise InputError(f"the method {name!r} has these parameters: {known}") from None


def principle(given: dict[str, Any]) -> Any:
    """Make the principle that the options ask for: one, or all of several."""
    from glasshouse import principles as p

    def whole(name: str) -> int:
        try:
            return int(given[name])
        except ValueError:
            raise ParameterError(f"--{name.replace('_', '-')}", "its value", "an integer", given[name]) from None

    asked: list[Any] = []
    if given["alpha"] and not given["k"]:
        raise InputError("--alpha needs --k: it asks for (alpha, k)-anonymity")
    if given["designated"] and not given["ell"]:
        raise InputError("--designated needs --ell")
    if given["k"]:
        asked.append(
            p.AlphaKAnonymity(alpha=given["alpha"], k=whole("k")) if given["alpha"] else p.KAnonymity(k=whole("k"))
        )
    if given["ell"]:
        designated = tuple(names(given["designated"]))
        asked.append(
            p.DesignatedLDiversity(ell=whole("ell"), values=designated)
            if designated
            else p.LDiversity(ell=whole("ell"))
        )
    if given["distinct_ell"]:
        asked.append(p.DistinctLDiversity(ell=whole("distinct_ell")))
    if given["entropy_ell"]:
        asked.append(p.EntropyLDiversity(ell=given["entropy_ell"]))
    if given["recursive"]:
        c, _, ell = given["recursive"].partition(",")
        if not ell.strip().isdigit():
            raise InputError(f"--recursive takes C,L such as 2,3, got {given['recursive']!r}")
        asked.append(p.RecursiveLDiversity(c=c.strip(), ell=int(ell)))
    if given["t"]:
        asked.append(p.TCloseness(t=given["t"], distance=given["distance"]))
    if not asked:
        raise InputError("say what safe means: --k, --ell, --t or another principle (glasshouse publish --help)")
    return asked[0] if len(asked) == 1 else p.AllOf(principles=tuple(asked))
