# SPDX-License-Identifier: Apache-2.0
"""Ways to publish as choices: from a row of a comparison, and from a form in which parameters are filled in by hand."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import TYPE_CHECKING, Any

from glasshouse import catalog
from glasshouse.errors import GlasshouseError, InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from glasshouse.principles.principle import Requirement

__all__ = ["WAY", "Parameter", "choices_of_row", "efforts", "fitting", "hand_choices", "hand_texts", "parameters_of"]

WAY = ("method", "parameters", "recoding", "recoding_with", "marginal", "retention", "domain")
"""The choices that say how a table is published."""
_LONGEST = 2_000  # characters of a parameter
_MOST_ROWS = 10_000  # of larger tables a sample is compared
_SMALL = 2_000  # up to so many rows everything is measured


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a method or recoding, as an input field.

    ``kind`` is ``columns`` or ``weights``, which name columns by their numbers, ``lists``, of columns, ``lines``,
    ``flag`` or ``text``; ``choice`` is set where the parameter is a choice of its own.
    """

    name: str
    kind: str
    usual: str
    choice: str = ""


def efforts(n_people: int) -> dict[str, Any]:
    """The effort of a comparison for a table with so many people: smaller for a large table.

    >>> efforts(300)["runs"], efforts(1_000_000)["most_rows"]
    (3, 10000)
    """
    small = n_people <= _SMALL
    return {"most_rows": _MOST_ROWS, "runs": 3 if small else 1, "seconds": 5.0 if small else 3.0, "learner": small}


def fitting(requirement: Requirement) -> dict[str, dict[str, Any]]:
    """Every method of the catalogue: the attacker against whom it protects, or why it does not fit."""
    found = {}
    for name, cls in catalog.METHODS.items():
        try:
            claim = cls.usual()[0].claimed(requirement)
            found[name] = {"holds": claim.adversary.value != "linking", "refused": "", "in_words": cls.in_words}
        except GlasshouseError as error:
            found[name] = {"holds": False, "refused": str(error), "in_words": cls.in_words}
    return found


# --- from a row -------------------------------------------------------------------------------------------------------


def choices_of_row(recipe: Mapping[str, Any], requirement: Requirement) -> dict[str, Any]:
    """The choices that publish by the recipe of a row, with None for those that it takes back.

    Parameters that are the usual ones are left out.

    >>> import glasshouse as gh
    >>> from glasshouse.principles.principle import Requirement
    >>> asked = Requirement.in_words(gh.LDiversity(5), ["disease"])
    >>> recipe = {"method": {"name": "mondrian", "partitioning": "relaxed"}, "recoding": {"name": "angel", "k": 5,
    ...           "marginals": [], "cells": "boxes"}}
    >>> {name: value for name, value in choices_of_row(recipe, asked).items() if value}
    {'method': 'mondrian', 'parameters': {'partitioning': 'relaxed'}, 'recoding': 'angel'}
    """
    method, recoding = dict(recipe["method"]), dict(recipe["recoding"])
    cls: Any = catalog.METHODS[method["name"]]
    usual = catalog.to_data(cls.usual()[0])
    needed = {f.name for f in fields(cls) if f.default is MISSING and f.default_factory is MISSING}
    parameters = {
        name: _named(value)
        for name, value in method.items()
        if name != "name" and (name in needed or value != usual[name])
    }
    found: dict[str, Any] = dict.fromkeys(WAY)
    found |= {"method": method["name"], "parameters": parameters or None, "recoding": recoding["name"]}
    if catalog.RECODINGS[recoding["name"]].layout.size is not None:
        return {**found, "retention": recoding["p"], "domain": recoding["domain"]}
    plain = catalog.to_data(catalog.RECODINGS[recoding["name"]]().resolved(requirement))
    other = {name: value for name, value in recoding.items() if value != plain[name]}
    return {**found, "marginal": other.pop("marginals", None), "recoding_with": other or None}


def _named(value: Any) -> Any:
    """A method inside another by its name, as a command can say it, if its parameters are the usual ones."""
    if not (isinstance(value, dict) and value.get("name") in catalog.METHODS):
        return value
    return value["name"] if catalog.to_data(catalog.chosen(catalog.METHODS, value["name"])) == value else value


# --- by hand ----------------------------------------------------------------------------------------------------------

_KINDS = {"tuple[str, ...]": "columns", "Weights": "weights", "bool": "flag", "Sequence[Sequence[str]]": "lists"}
_CHOICES = {"p": "retention", "domain": "domain", "marginals": "marginal"}  # of recodings


def parameters_of(cls: type[Any]) -> list[Parameter]:
    """The parameters of a method or recoding.

    >>> from glasshouse.grouping.cuts.mondrian import Mondrian
    >>> parameters_of(Mondrian)
    [Parameter(name='partitioning', kind='text', usual='strict', choice='')]
    """
    found = []
    usual = cls.usual()[0] if hasattr(cls, "usual") else cls()
    for field in fields(cls):
        choice = "" if hasattr(cls, "usual") else _CHOICES.get(field.name, "")
        kind = "lines" if choice == "domain" else _KINDS.get(str(field.type), "text")
        value = getattr(usual, field.name)
        text = getattr(value, "name", value) if kind == "text" else str(value).lower() if kind == "flag" else ""
        found.append(Parameter(name=field.name, kind=kind, usual="" if text is None else str(text), choice=choice))
    return found


def hand_texts(choices: Mapping[str, Any], columns: Sequence[str]) -> dict[str, str]:
    """The texts in the fields of a form for the chosen way, where it differs from the usual one."""
    texts = {}
    for room, with_, classes in _rooms():
        for name, cls in classes.items():
            given = (choices.get(with_) or {}) if choices.get(room) == name else {}
            for parameter in parameters_of(cls):
                value = choices.get(parameter.choice) if parameter.choice else given.get(parameter.name)
                if value is not None:
                    texts[f"{room}.{name}.{parameter.name}"] = _text(parameter.kind, value, columns)
    return texts


def _text(kind: str, value: Any, columns: Sequence[str]) -> str:
    number = {name: str(i + 1) for i, name in enumerate(columns)}
    if kind == "columns":
        return ", ".join(number.get(name, "?") for name in value)
    if kind == "weights":
        pairs = value.items() if hasattr(value, "items") else value
        return ", ".join(f"{number.get(name, '?')}: {weight}" for name, weight in pairs)
    if kind == "lists":
        return "; ".join(_text("columns", names, columns) for names in value)
    if kind == "lines":
        return "\n".join(map(str, value))
    if kind == "flag":
        return str(value).lower()
    return str(value["name"]) if hasattr(value, "keys") else str(value)


def hand_choices(form: Mapping[str, Sequence[str]], columns: Sequence[str]) -> dict[str, Any]:
    """The choices that a form makes, with None for those that it takes back.

    Parameters
    ----------
    form
        What was sent: ``method`` and ``recoding`` by name, empty for the usual one, and their parameters.
    columns
        The quasi-identifiers and sensitive columns, which the form names by their numbers from 1.

    Examples
    --------
    >>> form = {"method": ["sift"], "method.sift.priority": ["2, 1"], "recoding": [""]}
    >>> {name: value for name, value in hand_choices(form, ["age", "sex"]).items() if value}
    {'method': 'sift', 'parameters': {'priority': ['sex', 'age']}}
    """
    found: dict[str, Any] = dict.fromkeys(WAY)
    for room, with_, classes in _rooms():
        name = form.get(room, [""])[0]
        if not name:
            continue
        if name not in classes:
            raise InputError(f"there is no such {room} in this form: load the page again")
        found[room], given = name, {}
        for parameter in parameters_of(classes[name]):
            text = form.get(f"{room}.{name}.{parameter.name}", [""])[0].strip()
            if len(text) > _LONGEST and parameter.kind != "lines":
                raise InputError(f"{parameter.name}: this value is too long")
            if not text or text == parameter.usual:
                continue
            value = _value(parameter, text, columns)
            if parameter.choice:
                found[parameter.choice] = value
            else:
                given[parameter.name] = value
        found[with_] = given or None
    return found


def _rooms() -> tuple[tuple[str, str, Mapping[str, type[Any]]], ...]:
    return (("method", "parameters", catalog.METHODS), ("recoding", "recoding_with", catalog.RECODINGS))


def _value(parameter: Parameter, text: str, columns: Sequence[str]) -> Any:
    """A parameter as a choice; what is not a number stays text, whose error the parameter's owner reports."""
    match parameter.kind:
        case "columns":
            return _columns(parameter, text, columns)
        case "lists":
            return [_columns(parameter, part, columns) for part in text.split(";") if part.strip()]
        case "weights":
            pairs = [part.partition(":") for part in text.split(",") if part.strip()]
            return {_columns(parameter, head, columns)[0]: weight.strip() for head, _, weight in pairs}
        case "lines":
            return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
        case "flag":
            return text == "true"
    return int(text) if text.isdecimal() and len(text) <= len("1234567890") else text


def _columns(parameter: Parameter, text: str, columns: Sequence[str]) -> list[str]:
    found = []
    for number in filter(None, (part.strip() for part in text.split(","))):
        if not (number.isascii() and number.isdecimal() and len(number) <= len("1234567") and 0 < int(number)):
            raise InputError(f"{parameter.name} takes numbers of columns, from 1 to {len(columns):,}")
        if int(number) > len(columns):
            raise InputError(f"{parameter.name} takes numbers of columns, from 1 to {len(columns):,}")
        found.append(columns[int(number) - 1])
    if not found:
        raise InputError(f"{parameter.name} takes numbers of columns, from 1 to {len(columns):,}")
    return found
