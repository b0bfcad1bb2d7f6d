# SPDX-License-Identifier: Apache-2.0
"""The columns of the table: what a form says of their roles, and what a page shows of each."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from glasshouse.errors import InputError
from glasshouse.policy.choices import limit
from glasshouse.studio.open_table import preset_bins
from glasshouse.studio.steps.data_pictures import picture

if TYPE_CHECKING:
    from collections.abc import Mapping

    from glasshouse.pages.svg import Part
    from glasshouse.studio.desk import Desk

__all__ = ["ROLES", "column_of", "decide", "views"]

ROLES = {
    "identifier": (
        "Identifier",
        "It says who a row is about, such as a patient number. It is never published. With it the studio checks that "
        "nobody has two rows.",
    ),
    "quasi": (
        "Others may know it",
        (
            "Neighbours, employers or registers may know this about a person, such as an age. It is published, but "
            "less exactly, so that nobody has a unique combination of values. (The technical name is "
            "quasi-identifier.)"
        ),
    ),
    "sensitive": (
        "Sensitive",
        (
            "This must be protected, such as a disease. It is published in a way that limits how surely anybody "
            "can infer it for a person."
        ),
    ),
    "none": ("Leave out", "It is not published at all."),
}
"""The roles in the order in which they are offered: what they are called, and what they mean."""
MISSING = {
    "error": "Stop, and publish nothing while values are missing.",
    "category": "Keep the rows: a missing value counts as a value of its own.",
    "drop": "Leave out every row with a missing value.",
}
UNITS = ("day", "month", "quarter", "year", "decade")
_LONGEST = 40  # characters of a number that is typed

Form = dict[str, list[str]]


def column_of(text: str, found: Mapping[str, Any]) -> int:
    """The number of a column that a form or an address names; `InputError` if there is none."""
    n_columns = len(found["columns"])
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) < n_columns):
        raise InputError("the table has no such column: load the page again")
    return int(text)


def role_of(desk: Desk, name: str) -> str:
    """The role of a column, by the names of the form."""
    if desk.choices.get("identifier") == name:
        return "identifier"
    return next((role for role in ("quasi", "sensitive") if name in desk.choices.get(role, ())), "none")


# --- what a form says -------------------------------------------------------------------------------------------------


def decide(desk: Desk, found: Mapping[str, Any], form: Form) -> None:
    """Adopt the roles and other settings of all columns from a form, or refuse all of them with a message."""
    if form.get("of") != [desk.notes["of"]]:
        raise InputError("this form was about another table: load the page again")
    columns = found["columns"]
    roles = {i: _role(desk, form, i, column["name"]) for i, column in enumerate(columns)}
    identifier = _identifier(desk, columns, [i for i, role in roles.items() if role == "identifier"])
    chosen: dict[str, Any] = {name: [] for name in ("quasi", "sensitive", "categorical", "normalise")}
    chosen |= {name: {} for name in ("bins", "bottom", "top")}
    for i, column in enumerate(columns):
        role = roles[i]
        if role in ("quasi", "sensitive"):
            chosen[role].append(column["name"])
            _options(form, i, column, role, chosen)
    missing = _one(form, "missing", desk.choices.get("missing", "error"))
    if missing not in MISSING:
        raise InputError("choose what to do with missing values: stop, keep or leave out the rows")
    published = {*chosen["quasi"], *chosen["sensitive"]}
    trees = {name: tree for name, tree in desk.notes.get("trees", {}).items() if name in published}
    desk.choose(
        **chosen,
        identifier=None if identifier is None else columns[identifier]["name"],
        missing=None if missing == "error" else missing,
        taxonomy=trees,
    )


def _role(desk: Desk, form: Form, i: int, name: str) -> str:
    role = _one(form, f"role-{i}", role_of(desk, name))
    if role not in ROLES:
        raise InputError("choose one role for each column: identifier, known to others, sensitive or left out")
    return role


def _identifier(desk: Desk, columns: list[Any], named: list[int]) -> int | None:
    """Allow one identifier: a new one replaces the previous one, which is then left out."""
    new = [i for i in named if columns[i]["name"] != desk.choices.get("identifier")]
    if len(new) > 1:
        raise InputError(
            "several columns are the identifier: choose the one that is different for each person, and leave the "
            "others out (none of them is published)"
        )
    return next(iter(new or named), None)


def _options(form: Form, i: int, column: Mapping[str, Any], role: str, chosen: dict[str, Any]) -> None:
    """The settings of one published column in a form."""
    name = column["name"]
    if f"merge-{i}" in form and column["kind"] in ("category", "text"):
        chosen["normalise"].append(name)
    if role == "sensitive" and column["is_amount"]:
        text = _bins(form, i, column)
        if text is None:
            chosen["categorical"].append(name)
        else:
            chosen["bins"][name] = text
    elif role == "quasi" and column["is_amount"]:
        if f"names-{i}" in form and column["kind"] in ("integer", "float"):
            chosen["categorical"].append(name)
            return
        for end in ("bottom", "top"):
            typed = _one(form, f"{end}-{i}", "").strip()
            if typed:
                chosen[end][name] = _limit(typed, column, end)


def _bins(form: Form, i: int, column: Mapping[str, Any]) -> str | None:
    """The ranges of a sensitive column of amounts as a text; None if its numbers are names."""
    preset = preset_bins(column)
    how = _one(form, f"cut-{i}", preset.partition(":")[0])
    if how == "names" and column["kind"] in ("integer", "float"):
        return None
    argument = _one(form, f"{how}-{i}", "").strip()
    if not argument:
        return preset if preset.startswith(f"{how}:") else _default_bins(how)
    if how == "intervals":
        return f"intervals:{_number(argument, 'the width of a range')}"
    if how == "quantiles":
        if not (argument.isascii() and argument.isdecimal() and 2 <= int(argument[:9]) <= 10_000):
            raise InputError("the number of ranges must be a whole number from 2 to 10,000")
        return f"quantiles:{int(argument)}"
    if how == "dates" and argument in UNITS:
        return f"dates:{argument}"
    raise InputError("a sensitive column of amounts must be put into ranges: choose which kind of ranges")


def _default_bins(how: str) -> str:
    if how not in ("intervals", "quantiles", "dates"):
        raise InputError("a sensitive column of amounts must be put into ranges: choose which kind of ranges")
    return {"intervals": "intervals:10", "quantiles": "quantiles:10", "dates": "dates:year"}[how]


def _number(text: str, what: str) -> str:
    """The text of a positive number."""
    try:
        value = float(text) if len(text) <= _LONGEST and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{what} must be a number above 0, such as 10 or 0.5")
    return str(int(value)) if value == int(value) and value < 1e15 else repr(value)


def _limit(typed: str, column: Mapping[str, Any], end: str) -> Any:
    try:
        value = limit(typed[:_LONGEST])
    except InputError:
        value = None
    is_date = column["kind"] in ("date", "timestamp")
    if value is None or is_date == isinstance(value, int | float) or value in (math.inf, -math.inf):
        wanted = "a date such as 2024-05-31" if is_date else "a number"
        what = "smallest" if end == "bottom" else "largest"
        raise InputError(f"the {what} value that is published as it is must be {wanted}")
    return value


def _one(form: Form, name: str, otherwise: str) -> str:
    return form.get(name, [otherwise])[-1]


# --- what a page shows ------------------------------------------------------------------------------------------------


def views(desk: Desk, found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a page shows for each column: the findings, a picture, and the decisions."""
    choices = desk.choices
    shown = []
    for i, column in enumerate(found["columns"]):
        name = column["name"]
        bins = choices.get("bins", {}).get(name)
        cut, _, argument = (bins or preset_bins(column)).partition(":")
        drawn: Part | None = picture(column, i)
        shown.append(
            {
                **column,
                "role": role_of(desk, name),
                "suggested": "none" if column["role"] == "leave out" else column["role"],
                "picture": drawn,
                "merge": name in choices.get("normalise", ()),
                "names": name in choices.get("categorical", ()),
                "bottom": choices.get("bottom", {}).get(name, ""),
                "top": choices.get("top", {}).get(name, ""),
                "cut": "names" if name in choices.get("categorical", ()) else cut,
                "argument": argument,
                "tree": tree_words(desk, choices.get("taxonomy", {}).get(name)),
            }
        )
    return shown


def tree_words(desk: Desk, text: str | None) -> str:
    """What a taxonomy is, in words; empty if there is none."""
    if text is None:
        return ""
    kind, _, argument = text.partition(":")
    if text.startswith(str(desk.workspace.folder)):
        return "a taxonomy of your own"
    length = "1 character" if argument == "1" else f"{argument} characters"
    words = {
        "prefix": f"codes of {length}, which are shortened from the end",
        "intervals": f"ranges, the narrowest of width {argument}",
        "dates": f"dates shortened to {argument.replace(',', ', ')}",
        "quantiles": f"{argument} ranges with about equally many people",
    }
    return words.get(kind, "a taxonomy in a file")
