# SPDX-License-Identifier: Apache-2.0
"""Offers: every principle of the catalogue as a part of a form, and what is typed there as choices.

A field of an offer is a choice of the command line and of policies. What is typed is checked here as far as it must be
to be a choice; whether the choices can be is for the package to say.

Where a table has several sensitive columns, an offer can be for some of them, and a field can differ from column to
column. The form names columns by their numbers: ``l-diversity.columns`` has those that the offer is for, and
``l-diversity.ell@1`` is what is asked of column 1, if it is not what ``l-diversity.ell`` says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from glasshouse import bounds, catalog
from glasshouse.errors import InputError
from glasshouse.policy.keys import EACH, TABLES
from glasshouse.policy.principle_choices import choices_asking_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from glasshouse.principles.principle import Principle

__all__ = [
    "ASKED",
    "OFFERS",
    "Field",
    "Filled",
    "Offer",
    "asks",
    "choices_for",
    "choices_from",
    "numbers_of",
    "texts_of",
]

ASKED = (*(key.choice for key in TABLES["principle"].values()), "retention", "domain")
"""The choices that say what is asked for, and what goes with a bound on probabilities."""
_OF_VALUES = ("ell", "distinct_ell", "entropy_ell", "recursive", "alpha", "t")
_LINES = 5_000  # values of a declared domain
_LONGEST = 200  # characters of a number


@dataclass(frozen=True, kw_only=True)
class Field:
    """An input field.

    Parameters
    ----------
    choice, parameter
        The choice that it makes, and the parameter of the principle that this is. Fields of the same choice are written
        one after the other, separated by commas.
    label, hint
        What it is called, and what else there is to say.
    kind
        ``whole`` or ``number``; ``distance``, a list to choose from; ``values``, of the sensitive column; ``lines``.
    usual
        What is in it at first; an empty one may be left empty.
    low, high, step
        Of its slider, and of the arrows beside a number.
    least, above, below, most
        What a number must be: at least, above, below, at most.
    """

    choice: str
    parameter: str
    label: str
    hint: str = ""
    kind: str = "whole"
    usual: str = ""
    low: str = "2"
    high: str = "50"
    step: str = "1"
    least: int | None = None
    above: int | None = None
    below: int | None = None
    most: int | None = None

    @property
    def sign(self) -> str:
        """The letter or word with which its label begins, for sentences about it."""
        return re.split(r"[:,]", self.label, maxsplit=1)[0]

    @property
    def allowed(self) -> str:
        """What is taken, in words.

        >>> OFFERS["l-diversity"].fields[0].allowed, OFFERS["alpha-k-anonymity"].fields[0].allowed
        ('a whole number of at least 2', 'a number above 0 and below 1')
        """
        ends = [("of at least", self.least), ("above", self.above), ("below", self.below), ("at most", self.most)]
        said = " and ".join(f"{word} {end}" for word, end in ends if end is not None)
        return f"a {'whole ' if self.kind == 'whole' else ''}number {said}"

    def allows(self, number: Fraction) -> bool:
        """Whether it takes a number."""
        return (
            (self.kind != "whole" or number.denominator == 1)
            and (self.least is None or number >= self.least)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
            and (self.most is None or number <= self.most)
        )

    @property
    def differs(self) -> bool:
        """Whether it can differ from one sensitive column to another."""
        return self.choice in EACH


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A principle by its name in the catalogue, with its fields; ``title`` is what the form calls it."""

    name: str
    title: str
    fields: tuple[Field, ...]

    @property
    def principle(self) -> type[Principle]:
        """The class of the principle."""
        return catalog.TARGETS[self.name] if self.name in catalog.TARGETS else catalog.PRINCIPLES[self.name]

    @property
    def of_columns(self) -> bool:
        """Whether it can be for some of several sensitive columns."""
        return any(field.differs for field in self.fields)

    def place(self, field: Field, number: int | None = None) -> str:
        """What a field of it is called in the form, or its own field for the sensitive column with a number."""
        return f"{self.name}.{field.parameter}" + ("" if number is None else f"@{number}")


_SHARE: dict[str, Any] = {"kind": "number", "low": "0.01", "high": "0.99", "step": "0.01", "below": 1}
_SIZE = Field(choice="k", parameter="k", label="k, the smallest size of a group", usual="6", least=1)
_EVEN = Field(
    choice="lambda_",
    parameter="lambda_",
    label="lambda, the largest probability that the attacker gives to any single value before seeing the release",
    hint="Write 1 if you do not want to assume anything about the attacker.",
    usual="1",
    kind="number",
    low="0.01",
    high="1",
    step="0.01",
    above=0,
    most=1,
)
_DOMAIN = Field(
    choice="domain",
    parameter="domain",
    label="All values that a person may have, one on each line",
    hint=(
        "List them from what you know about the subject, not from this table. Without this list nothing is guaranteed."
    ),
    kind="lines",
)

_LISTED = (
    Offer(
        name="l-diversity",
        title="Limit the probability of every sensitive value to 1 in l (l-diversity)",
        fields=(
            Field(choice="ell", parameter="ell", label="l: the probability is at most 1 in l", usual="5", least=2),
        ),
    ),
    Offer(
        name="designated-l-diversity",
        title="Limit only the probability of values that would harm a person (designated l-diversity)",
        fields=(
            Field(
                choice="ell", parameter="ell", label="l: the attacker's probability is at most 1 in l", usual="5",
                least=2,
            ),
            Field(choice="designated", parameter="values", label="Values to protect", kind="values"),
        ),
    ),
    Offer(
        name="t-closeness",
        title="Keep groups similar to the whole table (t-closeness)",
        fields=(
            Field(choice="t", parameter="t", label="t, the largest difference", usual="0.2", **_SHARE, least=0),
            Field(choice="distance", parameter="distance", label="Distance between two values", kind="distance"),
        ),
    ),
    Offer(
        name="k-anonymity",
        title="Make every person look the same as others (k-anonymity)",
        fields=(Field(choice="k", parameter="k", label="k, how many people look the same", usual="5", least=2),),
    ),
    Offer(
        name="alpha-k-anonymity",
        title="Make every person look the same as others, and limit each value's share ((alpha, k)-anonymity)",
        fields=(
            Field(choice="alpha", parameter="alpha", label="alpha, the largest share", usual="0.5", **_SHARE, above=0),
            Field(choice="k", parameter="k", label="k, how many people look the same", usual="5", low="1", least=1),
        ),
    ),
    Offer(
        name="distinct-l-diversity",
        title="Keep at least l values possible for every person (distinct l-diversity)",
        fields=(Field(choice="distinct_ell", parameter="ell", label="l, how many values", usual="3", least=2),),
    ),
    Offer(
        name="entropy-l-diversity",
        title="Keep the value uncertain on average (entropy l-diversity)",
        fields=(
            Field(
                choice="entropy_ell", parameter="ell", usual="3",
                label="l: as uncertain, on average, as with l equally frequent values",
                kind="number", low="1.1", high="20", step="0.1", above=1,
            ),
        ),
    ),
    Offer(
        name="recursive-l-diversity",
        title="Keep the most frequent value from outweighing the rarer ones (recursive (c, l)-diversity)",
        fields=(
            Field(
                choice="recursive", parameter="c", usual="2",
                label="c: the most frequent value occurs at most c times as often as the rarer values together",
                kind="number", low="0.1", high="10", step="0.1", above=0,
            ),
            Field(
                choice="recursive", parameter="ell", usual="3", least=2,
                label="l: the rarer values are those from the l-th most frequent on",
            ),
        ),
    ),
    Offer(
        name="delta-growth",
        title="Let no probability grow much, even if the attacker knows other people's values (delta-growth)",
        fields=(
            Field(choice="delta", parameter="delta", label="delta, the largest growth", usual="0.3", **_SHARE, above=0),
            _SIZE,
            _EVEN,
            _DOMAIN,
        ),
    ),
    Offer(
        name="rho-breach",
        title="Keep improbable statements improbable, even if the attacker knows other people's values (rho1-to-rho2)",
        fields=(
            Field(
                choice="rho1", parameter="rho1", usual="0.2", **_SHARE, above=0,
                label="rho1: a probability that was at most this before the release",
            ),
            Field(
                choice="rho2", parameter="rho2", usual="0.5", **_SHARE, above=0,
                label="rho2: is at most this after the release",
            ),
            _SIZE,
            _EVEN,
            _DOMAIN,
        ),
    ),
)  # fmt: skip
OFFERS = {offer.name: offer for offer in _LISTED}
"""By the names of the catalogue; several of them may be asked for at once."""


def asks(choices: Mapping[str, Any]) -> bool:
    """Whether some principle is chosen."""
    return any(choices.get(name) is not None for name in ASKED if name not in ("distance", "lambda_", "domain"))


class Filled(NamedTuple):
    """A form as choices fill it in.

    Parameters
    ----------
    asked
        The offers that are asked for, by name.
    texts
        What stands in the fields of all offers.
    columns
        By offer, the numbers of the sensitive columns that it is for.
    """

    asked: list[str]
    texts: dict[str, str]
    columns: dict[str, list[int]]


def texts_of(choices: Mapping[str, Any], sensitive: Sequence[str] = ()) -> Filled:
    """Which offers choices ask for, of which of the sensitive columns, and what stands in the fields of all of them.

    >>> filled = texts_of({"ell": 4, "recursive": "2,3"})
    >>> filled.asked, filled.texts["l-diversity.ell"], filled.texts["recursive-l-diversity.c"]
    (['l-diversity', 'recursive-l-diversity'], '4', '2')
    >>> filled = texts_of({"ell": {"ill": 3}, "t": {"pay": "0.1"}}, ["ill", "pay"])
    >>> filled.asked, filled.columns["t-closeness"], filled.texts["l-diversity.ell@0"]
    (['l-diversity', 't-closeness'], [1], '3')
    """
    texts = {offer.place(field): field.usual for offer in _LISTED for field in offer.fields}
    columns = {offer.name: [*range(len(sensitive))] for offer in _LISTED}
    if len(sensitive) > 1:
        for offer in _LISTED:
            own = [field for field in offer.fields if field.differs]
            texts |= {offer.place(field, number): "" for field in own for number in columns[offer.name]}
    if not any(isinstance(choices.get(name), Mapping) for name in EACH):
        asked = _asked(choices)
        for name in asked:
            texts |= {OFFERS[name].place(field): text for field, text in _written(OFFERS[name], choices)}
        return Filled(asked, texts, columns)
    of_each = [{name: _of(value, column) for name, value in choices.items()} for column in sensitive]
    asked = [name for name in OFFERS if any(name in _asked(own) for own in of_each)]
    for name in asked:
        columns[name] = [number for number, own in enumerate(of_each) if name in _asked(own)]
        for number in columns[name]:
            for field, text in _written(OFFERS[name], of_each[number]):
                texts[OFFERS[name].place(field, number if field.differs else None)] = text
    return Filled(asked, texts, columns)


def _of(value: Any, column: str) -> Any:
    """A choice as it is for one column."""
    return value.get(column) if isinstance(value, Mapping) else value


def _written(offer: Offer, choices: Mapping[str, Any]) -> list[tuple[Field, str]]:
    """What choices, which ask for an offer, say in its fields."""
    found, parts = [], str(choices.get("recursive")).split(",")
    for field in offer.fields:
        value = choices.get(field.choice)
        if field.kind in ("lines", "values"):
            text = "\n".join(map(str, value or ()))
        elif field.choice == "recursive":
            text = parts.pop(0).strip() if parts else ""
        else:
            text = ("" if field.choice in ("delta", "rho2") else field.usual) if value is None else str(value)
        found.append((field, text))
    return found


def _asked(choices: Mapping[str, Any]) -> list[str]:
    given = {name for name, value in choices.items() if value is not None}
    if given & {"rho1", "delta", "s", "retention"}:
        return ["rho-breach" if "rho1" in given else "delta-growth"]
    found = {
        "l-diversity": "ell" in given and "designated" not in given,
        "designated-l-diversity": {"ell", "designated"} <= given,
        "t-closeness": "t" in given,
        "k-anonymity": "k" in given and "alpha" not in given,
        "alpha-k-anonymity": {"alpha", "k"} <= given,
        "distinct-l-diversity": "distinct_ell" in given,
        "entropy-l-diversity": "entropy_ell" in given,
        "recursive-l-diversity": "recursive" in given,
    }
    return [name for name, asked in found.items() if asked]


def choices_for(principle: Principle) -> dict[str, Any]:
    """The choices for a principle alone: those that are None are removed.

    >>> import glasshouse as gh
    >>> found = choices_for(gh.AllOf(gh.KAnonymity(4), gh.RecursiveLDiversity(c="1/2", ell=3)))
    >>> {name: value for name, value in found.items() if value is not None}
    {'k': 4, 'recursive': '0.5,3'}
    """
    return {**dict.fromkeys(ASKED), **choices_asking_for(principle)}


def choices_from(form: Mapping[str, Sequence[str]], values: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The choices that a form makes, with None for those that it takes back.

    Parameters
    ----------
    form
        What was sent: ``ask`` has the names of offers.
    values
        The sensitive columns, each with the values that the form names by their numbers.
    """
    found: dict[str, Any] = dict.fromkeys(ASKED)
    asked = form.get("ask", ())
    for name in asked:
        if name not in OFFERS:
            raise InputError("there is no such guarantee in this form: load the page again")
    if not asked:
        raise InputError("nothing was chosen: choose at least one guarantee")
    columns, for_some = list(values), False
    for offer in (offer for offer in _LISTED if offer.name in asked):
        if len(columns) < 2 or not offer.of_columns:
            listed = next(iter(values.values()), ())
            for field, value in _typed(offer, form, listed):
                _put(found, field, value, None)
            continue
        for number in numbers_of(offer, form, len(columns)):
            for field, value in _typed(offer, form, values[columns[number]], number):
                _put(found, field, value, columns[number] if field.differs else None)
        for_some = True
    everywhere = [{*numbers_of(OFFERS[name], form, len(columns))} for name in _EITHER if name in asked]
    if len(everywhere) > 1 and (len(columns) < 2 or set.intersection(*everywhere)):
        raise InputError(
            "protecting every value also protects the values that you name: choose only one of these two guarantees"
            + " for a column" * (len(columns) > 1)
        )
    for column in columns if for_some else ():
        if all(_of(found[name], column) is None for name in _OF_VALUES):
            raise InputError(f"nothing is guaranteed for the column {column!r}: choose a guarantee for it too")
    return {name: _folded(value, columns) for name, value in found.items()}


_EITHER = ("l-diversity", "designated-l-diversity")


def numbers_of(offer: Offer, form: Mapping[str, Sequence[str]], n_columns: int) -> list[int]:
    """The numbers of the sensitive columns that an offer is for: all, where the form does not ask."""
    if f"{offer.name}.of-columns" not in form:
        return [*range(n_columns)]
    texts = form.get(f"{offer.name}.columns", ())
    if any(not (text.isdecimal() and len(text) <= bounds.MOST_DIGITS and int(text) < n_columns) for text in texts):
        raise InputError("there is no such column in this form: load the page again")
    if not texts:
        raise InputError(f"{offer.title}: choose the columns that this is for")
    return sorted({int(text) for text in texts})


def _typed(
    offer: Offer, form: Mapping[str, Sequence[str]], values: Sequence[str], number: int | None = None
) -> list[tuple[Field, Any]]:
    """What is typed in the fields of an offer; with a number, for the sensitive column that has it and these values."""
    found: list[tuple[Field, Any]] = []
    for field in offer.fields:
        texts = form.get(offer.place(field), ())
        if number is not None and field.differs:
            own = form.get(offer.place(field, number), ())
            texts = own if any(text.strip() for text in own) else texts
        value = _read(field, texts, values)
        if field.choice == "recursive":
            value = str(value)
            if found:  # both of its numbers are one choice
                value = f"{found.pop()[1]},{value}"
        found.append((field, value))
    return found


def _put(found: dict[str, Any], field: Field, value: Any, column: str | None) -> None:
    """Make a choice, for one column or for all; two offers may not say different things."""
    before = found[field.choice] if column is None else (found[field.choice] or {}).get(column)
    if before is not None and before != value:
        raise InputError(
            f"two guarantees give different numbers for {field.sign}: give the same "
            "number, or ask for only one of the two"
        )
    if column is None:
        found[field.choice] = value
    elif value is not None:
        found[field.choice] = {**(found[field.choice] or {}), column: value}


def _folded(value: Any, columns: Sequence[str]) -> Any:
    """A choice that is the same for every column, as one for all."""
    if not isinstance(value, Mapping) or len(value) < len(columns):
        return value
    first = value[columns[0]]
    return first if all(one == first for one in value.values()) else dict(value)


def _read(field: Field, texts: Sequence[str], values: Sequence[str]) -> Any:
    text = texts[0].strip() if texts else ""
    match field.kind:
        case "values":
            numbers = [int(text) for text in texts if text.isdecimal() and len(text) <= bounds.MOST_DIGITS]
            if len(numbers) < len(texts) or any(number >= len(values) for number in numbers):
                raise InputError("there is no such value in this form: load the page again")
            if not numbers:
                raise InputError("choose at least one value to protect")
            return [values[number] for number in dict.fromkeys(numbers)]
        case "lines":
            lines = [line.strip() for line in text.splitlines() if line.strip()]
            if len(lines) > _LINES:
                raise InputError(f"at most {_LINES:,} values can be listed here: list them in a file, and use a policy")
            return list(dict.fromkeys(lines)) or None
        case "distance":
            return None if text in ("", "equal") else text
    return _number(field, text)


def _number(field: Field, text: str) -> int | str | None:
    from glasshouse.principles.parameters import plain

    try:
        if len(text) > _LONGEST:
            raise bounds.OutOfBounds
        exact = bounds.exact(text)
    except bounds.OutOfBounds:
        raise InputError(
            f"the value of {field.sign} must be {field.allowed}, of at most {bounds.MOST_DIGITS} digits"
        ) from None
    except (TypeError, ValueError, ZeroDivisionError):
        raise InputError(f"the value of {field.sign} must be {field.allowed}") from None
    if not field.allows(exact):
        raise InputError(f"the value of {field.sign} must be {field.allowed}")
    if field.kind == "whole" and exact > bounds.MOST_WHOLE:
        raise InputError(f"the value of {field.sign} must be {field.allowed} and at most {bounds.MOST_WHOLE:,}")
    return None if field.choice == "lambda_" and exact == 1 else plain(exact)
