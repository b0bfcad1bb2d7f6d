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
    "perturbation_options",
    "principle",
    "principle_options",
    "reading_options",
    "recoding",
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

perturbation_options = _apply(
    [
        click.option("--rho1", metavar="RHO", help="Perturbed: beliefs of at most this stay below --rho2."),
        click.option("--rho2", metavar="RHO", help="With --rho1: what they stay below; without it, what is achieved."),
        click.option("--delta", metavar="DELTA", help="Perturbed: no belief grows or falls by more than this."),
        click.option(
            "--lambda",
            "lambda_",
            metavar="LAMBDA",
            default="1",
            show_default=True,
            help="Perturbed: the most that she believes of a single value beforehand.",
        ),
        click.option("--s", metavar="S", help="Perturbed: the largest share of tuples to publish, in place of --k."),
        click.option("--retention", metavar="P", help="Perturbed: probability that a value is kept; else found."),
        click.option(
            "--domain",
            metavar="VALUES",
            help="Perturbed: every value that the sensitive column may have, by commas, or @FILE with one a line.",
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
    return None if name is None else _made("method", catalog.METHODS, name, _parameters("--with", texts))


def recoding(given: dict[str, Any]) -> Any:
    """Make the recoding that the options ask for; None where none is named.

    With ANGEL ``--k`` is the k of its buckets: what `principle` then asks of the batches is everything else.

    >>> recoding({"recoding": "angel", "k": "5", "marginal": ("age,disease",), "recoding_with": ()})
    Angel(k=5, marginals=(('age', 'disease'),), cells='boxes')
    """
    from glasshouse import catalog

    name = "perturbed" if given["recoding"] is None and asks_of_beliefs(given) else given["recoding"]
    if name != "perturbed" and (given.get("retention") or given.get("domain")):
        raise InputError("--retention and --domain belong to the recoding 'perturbed'")
    if name is None and given["recoding_with"]:
        raise InputError("--recoding-with needs --recoding: it names a parameter of the recoding")
    if given["marginal"] and name not in (None, "angel"):
        raise InputError(f"--marginal needs the recoding 'angel', not {name!r}")
    if name is None and not given["marginal"]:
        return None
    chosen = _parameters("--recoding-with", given["recoding_with"])
    if given["marginal"]:
        chosen["marginals"] = tuple(tuple(names(text)) for text in given["marginal"])
    if name == "angel" and given["k"]:
        chosen["k"] = _whole("--k", given["k"])
    if name == "perturbed":
        chosen |= {"p": given["retention"], "domain": _values(given["domain"])}
    return _made("recoding", catalog.RECODINGS, name or "angel", chosen)


def asks_of_beliefs(given: dict[str, Any]) -> bool:
    """Whether a bound on beliefs is asked for, which only a perturbed sample can keep."""
    return any(given.get(name) for name in ("rho1", "delta", "s", "retention"))


def _values(text: str | None) -> list[str] | None:
    """Read a declared domain: a list, or a file with a value on each line."""
    if text is None or not text.startswith("@"):
        return names(text) or None
    from pathlib import Path

    try:
        lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError(f"--domain: the file {text[1:]} cannot be read as text") from None
    return [line for line in lines if line]


def _target(given: dict[str, Any]) -> Any:
    """Make the bound on beliefs that the options ask for."""
    from glasshouse import principles as p

    if given["rho1"] and given["delta"]:
        raise InputError("--rho1 and --delta are two promises: ask for one")
    if given["rho2"] and not given["rho1"]:
        raise InputError("--rho2 needs --rho1")
    size = {"lambda_": given["lambda_"], "s": given["s"], "k": _whole("--k", given["k"]) if given["k"] else None}
    if not (given["s"] or given["k"]):
        raise InputError("the recoding 'perturbed' needs --k, the smallest size of a group, or --s")
    if given["rho1"]:
        return p.RhoBreach(rho1=given["rho1"], rho2=given["rho2"], **size)
    return p.DeltaGrowth(delta=given["delta"], **size)


def _parameters(option: str, texts: tuple[str, ...]) -> dict[str, Any]:
    words: dict[str, Any] = {"true": True, "false": False}
    return {key: words.get(text, int(text) if text.isdigit() else text) for key, text in pairs(option, texts).items()}


def _made(what: str, classes: dict[str, type[Any]], name: str, parameters: dict[str, Any]) -> Any:
    from glasshouse import catalog

    try:
        return catalog.from_data(classes, {"name": name, **parameters})
    except TypeError:
        known = ", ".join(f.name for f in fields(classes[name])) or "none"
        raise InputError(f"the {what} {name!r} has these parameters: {known}") from None


def _whole(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ParameterError(option, "its value", "an integer", text) from None


def _asks_of_values(given: dict[str, Any]) -> bool:
    """Whether something is asked of the sensitive values, so that ANGEL's k can be that of the buckets alone."""
    return not given["alpha"] and any(given[name] for name in ("ell", "distinct_ell", "entropy_ell", "recursive", "t"))


def principle(given: dict[str, Any]) -> Any:
    """Make the principle that the options ask for: one, or all of several."""
    from glasshouse import principles as p

    def whole(name: str) -> int:
        return _whole(f"--{name.replace('_', '-')}", given[name])

    if asks_of_beliefs(given) or given.get("recoding") == "perturbed":
        if _asks_of_values(given) or given["alpha"]:
            raise InputError("a bound on beliefs cannot be combined with a principle that judges groups")
        return _target(given)
    asked: list[Any] = []
    if given["alpha"] and not given["k"]:
        raise InputError("--alpha needs --k: it asks for (alpha, k)-anonymity")
    if given["designated"] and not given["ell"]:
        raise InputError("--designated needs --ell")
    if given["k"] and not (given.get("recoding") == "angel" and _asks_of_values(given)):
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
