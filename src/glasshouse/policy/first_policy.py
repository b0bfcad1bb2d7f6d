# SPDX-License-Identifier: Apache-2.0
"""A first policy, written from an inspection: roles as guessed, risks as comments, no value of the data."""

from __future__ import annotations

import re
import shlex
from textwrap import wrap
from typing import TYPE_CHECKING

from glasshouse.plural import counted
from glasshouse.policy.option_text import with_keys
from glasshouse.policy.policy_text import bare, quoted
from glasshouse.policy.principle_choices import choices_asking_for
from glasshouse.policy.table_format import spreadsheet_format
from glasshouse.visible import visible

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from glasshouse.microdata.inspection.inspection import ColumnReport, Inspection
    from glasshouse.policy.first_choices import FirstChoices

__all__ = ["policy_from"]

_WIDTH = 100
_OTHER_FORMATS = {"csv": '"xlsx", "parquet"', "xlsx": '"csv", "parquet"', None: '"csv"'}
_WHY = {"free-text": "which is free text", "unique-values": "of which hardly any value repeats"}
_CONSTANT = "of which everybody has the same value, so that no method can hide it"
# Of an address: what stands between a colon and the last at sign, and a parameter that is called so.
_PASSWORD = re.compile(r"(?<=://)(?P<user>[^/@:\s]*):.*@|(?<=[?&])(ssl)?password=[^&]*&?", re.IGNORECASE)


def policy_from(inspection: Inspection, *, file: str | None = None, out: str = "out", **source: str) -> str:
    """Write a commented policy, in TOML, for a table that was inspected.

    It has the names of columns, likely roles, and counts in comments. It has no value of the table.

    Parameters
    ----------
    inspection
        What `glasshouse.inspect` found.
    file
        The table's file, relative to where the policy will lie.
    out
        The folder to publish into, relative to where the policy will lie.
    source
        What else is to stand in the table ``[source]``, such as ``delimiter``.

    Examples
    --------
    >>> import glasshouse as gh
    >>> patients = {"age": [30, 30, 41, 52], "sex": ["F", "M", "F", "F"], "disease": ["flu", "flu", "ulcer", "HIV"]}
    >>> print(policy_from(gh.inspect(patients), file="patients.csv").partition("[principle]")[2])
    <BLANKLINE>
    # disease: l-diversity is possible up to l = 2
    ell = 2
    <BLANKLINE>
    [release]
    out = "out"
    format = "csv"               # or "xlsx", "parquet"
    # flat = false               # to get no flat table beside several tables, remove the first #
    <BLANKLINE>
    """
    return "\n".join(_lines(inspection, file, out, source)) + "\n"


def _lines(inspection: Inspection, file: str | None, out: str, source: Mapping[str, str]) -> Iterator[str]:
    from glasshouse.policy.first_choices import (
        first_choices,
    )  # here, for it loads the journeys, and help must be instant

    roles = inspection.suggested
    named = {*roles["quasi"], roles["sensitive"], roles["identifier"]}
    rows = counted(inspection.n_tuples, "row")
    yield f"# A policy: how to publish a table of {rows} and {counted(len(inspection.columns), 'column')}."
    yield "# The roles are guesses, based on column names and on how often values repeat: check each of them."
    yield from _comment("To publish the table, run: glasshouse publish FILE, where FILE is this policy.")
    yield ""
    yield from _source(inspection, file, source, named)
    yield from ("", "[roles]")
    if roles["identifier"]:
        yield f"identifier = {quoted(roles['identifier'])}".ljust(28) + " # says who a record is about; never published"
    yield from _quasi(inspection, roles["quasi"])
    first = first_choices(inspection)
    if "sensitive" in first.choices:
        yield f"sensitive = {quoted(roles['sensitive'])}"
    elif roles["sensitive"]:
        found = {one.name for one in inspection.cautions if one.column == roles["sensitive"]}
        why = next((why for name, why in _WHY.items() if name in found), _CONSTANT)
        yield from _comment(f"not published: {roles['sensitive']}, {why}")
    else:
        yield ('# sensitive = "..." # the column whose values are protected')
    for column in inspection.columns:
        if column.name not in named:
            yield from _comment(f"not published: {column.name} ({column.reason})")

    if first.reading is not None:
        yield from ("", f"[columns.{bare(roles['sensitive'])}]")
        yield from _comment(first.reading.words)
        if first.reading.bins:
            yield f"bins = {quoted(first.reading.bins)}".ljust(28) + (
                " # or another width; if the numbers are codes: categorical = true"
            )
        else:
            yield "categorical = true".ljust(28) + ' # or bins = "intervals:WIDTH"'
    yield from ("", "[principle]", *_principle(inspection, first))
    yield from ("", "[release]", f"out = {quoted(out)}")
    written = spreadsheet_format(file or "")
    yield f'format = "{written or "parquet"}"'.ljust(28) + f" # or {_OTHER_FORMATS[written]}"
    if written is not None:
        yield ("# flat = false               # to get no flat table beside several tables, remove the first #")


def _source(
    inspection: Inspection, file: str | None, source: Mapping[str, str], named: Container[str | None]
) -> Iterator[str]:
    """The table ``[source]``, with what was noticed."""
    yield "[source]"
    if file is None:
        yield '# file = "table.csv"        # relative to this policy'
    else:
        yield f"file = {quoted(_without_password(file))}"
    yield from (f"{name} = {quoted(value)}" for name, value in source.items())
    gaps = any(column.missing for column in inspection.columns if column.name in named)
    yield 'missing = "category"         # or "drop"' if gaps else 'missing = "error"            # or "category", "drop"'
    if inspection.several is not None:
        yield f"repeated = {quoted(inspection.several.repeated)}".ljust(28) + " # people seem to have several rows"
    for notice in inspection.notices:
        yield from _comment(with_keys(notice))
    for caution in inspection.cautions:
        yield from _comment(f"caution: {caution}: {with_keys(caution.answer)}")
    if inspection.open_cautions:
        listed = ", ".join(quoted(name) for name in dict.fromkeys(one.name for one in inspection.open_cautions))
        yield f"# accept = [{listed}]"


def _quasi(inspection: Inspection, quasi: list[str]) -> Iterator[str]:
    if not quasi:
        yield ('# quasi = ["..."] # the columns whose values others may know about people')
        return
    yield "quasi = ["
    reports: dict[str, ColumnReport] = {column.name: column for column in inspection.columns}
    for name in quasi:
        yield f"    {quoted(name)},".ljust(28) + f" # {visible(reports[name].reason)}"
    yield "]"
    for sentence in inspection.risk:
        yield from _comment(sentence)


def _principle(inspection: Inspection, first: FirstChoices) -> Iterator[str]:
    sensitive = inspection.sensitive if "sensitive" in first.choices else None
    asked = [f"{name} = {value}" for name, value in choices_asking_for(first.principle).items()]
    if sensitive is None:
        yield from _comment("every group has at least this many people; sensitive values are not protected")
        yield from asked
        return
    if first.reading is None:
        yield from _comment(with_keys(str(sensitive)))
    if not first.is_diverse:
        close = first.principle.terms.closeness is not None
        how = (
            "t-closeness is possible: in every group, the shares of the values are close to those in the whole table"
            if close
            else f"Possible is: {first.principle.describe()}"
        )
        yield from _comment(
            f"More than half of the records have the same {sensitive.column}, so l-diversity is not possible. "
            f"{how}. Other guarantees are possible too, such as protecting only the rarer values: glasshouse inspect "
            f"with --sensitive {shlex.quote(sensitive.column)} shows a command for each of them."
        )
    yield from asked


def _without_password(file: str) -> str:
    return _PASSWORD.sub(lambda found: f"{found['user']}@" if found["user"] is not None else "", file)


def _comment(sentence: str) -> list[str]:
    return wrap(
        visible(sentence), _WIDTH, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False
    )  # fmt: skip
